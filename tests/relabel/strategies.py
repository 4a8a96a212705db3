"""Operations of a session, drawn by hypothesis or from a seed, and a twin of what they do."""

from __future__ import annotations

import copy

import numpy as np


class NaiveSession:
    """Who painted each point, in plain lists: the slow twin of strokes, classes, undo and redo."""

    def __init__(self, n_points):
        self.n_points = n_points
        self.owner = [0] * n_points  # stroke numbers
        self.class_of = {}  # of each stroke
        self.locked = {}  # of each class
        self.number = 0
        self.tau = 12
        self.past, self.future = [], []

    def can(self, operation):
        """Whether an operation is allowed, by the rules in words."""
        name = operation["op"]
        if name in ("undo", "redo"):
            return bool(self.past if name == "undo" else self.future)
        strokes = set(self.owner) - {0}
        for field in ("class", "into", "source"):
            if field in operation and operation[field] not in self.locked:
                return False
        if "stroke" in operation:
            return operation["stroke"] in strokes and not self.is_locked(operation["stroke"])
        if name == "stroke":
            return any(not self.is_locked(self.owner[x]) for x in operation["points"])
        if name == "erase":
            held = [self.owner[x] for x in operation["points"] if self.owner[x]]
            return any(not self.is_locked(stroke) for stroke in held)
        if name == "merge_classes":
            source = operation["source"]
            return source != operation["into"] and not self.locked[source]
        if name == "add_class":
            return operation["id"] not in self.locked
        if name == "lock_class":
            return operation["id"] in self.locked
        if name == "remove_class":
            used = {self.class_of[stroke] for stroke in strokes}
            return self.locked.get(operation["id"]) is False and operation["id"] not in used
        return True

    def is_locked(self, stroke):
        return stroke > 0 and self.locked[self.class_of[stroke]]

    def apply(self, operation):
        name = operation["op"]
        kept = ("owner", "class_of", "locked", "number", "tau")
        here = copy.deepcopy({field: getattr(self, field) for field in kept})
        if name == "undo":
            self.future.append(here)
            vars(self).update(self.past.pop())
        elif name == "redo":
            self.past.append(here)
            vars(self).update(self.future.pop())
        else:
            self.past.append(here)
            self.future = []
            getattr(self, f"_{name}")(operation)

    def _stroke(self, operation):
        self.number += 1
        self.class_of[self.number] = operation["class"]
        for x in operation["points"]:
            if not self.is_locked(self.owner[x]) or self.owner[x] == self.number:
                self.owner[x] = self.number

    def _erase(self, operation):
        for x in operation["points"]:
            self.owner[x] = self.owner[x] if self.is_locked(self.owner[x]) else 0

    def _move(self, operation):
        self.class_of[operation["stroke"]] = operation["class"]

    def _remove(self, operation):
        self.owner = [0 if stroke == operation["stroke"] else stroke for stroke in self.owner]

    def _add_class(self, operation):
        self.locked[operation["id"]] = False

    def _lock_class(self, operation):
        self.locked[operation["id"]] = operation["locked"]

    def _remove_class(self, operation):
        del self.locked[operation["id"]]

    def _merge_classes(self, operation):
        for stroke, class_id in self.class_of.items():
            if class_id == operation["source"]:
                self.class_of[stroke] = operation["into"]
        del self.locked[operation["source"]]

    def _tau(self, operation):
        self.tau = operation["tau"]

    @property
    def label_ids(self):
        return np.array([self.class_of[stroke] if stroke else 0 for stroke in self.owner])


def random_operation(rng, n_points, n_strokes, taus=(1, 5, 20)):
    """Draw an operation; it may be one that has to be refused."""
    class_id, other = (int(i) for i in rng.integers(1, 6, size=2))
    stroke = int(rng.integers(1, max(n_strokes, 1) + 1))
    start = int(rng.integers(n_points))
    points = sorted({int(x) % n_points for x in range(start, start + rng.integers(1, 6))})
    return [
        {"op": "stroke", "class": class_id, "points": points},
        {"op": "stroke", "class": other, "points": points[::-1]},
        {"op": "erase", "points": points},
        {"op": "move", "stroke": stroke, "class": class_id},
        {"op": "remove", "stroke": stroke},
        {"op": "add_class", "id": class_id},
        {"op": "lock_class", "id": class_id, "locked": bool(rng.random() < 0.4)},
        {"op": "merge_classes", "source": class_id, "into": other},
        {"op": "remove_class", "id": class_id},
        {"op": "tau", "tau": taus[int(rng.integers(len(taus)))]},
        {"op": "undo"},
        {"op": "redo"},
    ][rng.choice(12, p=[0.25, 0.1, 0.08, 0.08, 0.05, 0.12, 0.08, 0.04, 0.03, 0.03, 0.1, 0.04])]
