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
        self.sizes = {}  # least and most share of each class
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
        if name == "class_sizes":
            return {size["class"] for size in operation["sizes"]} <= self.locked.keys()
        if "stroke" in operation:
            return operation["stroke"] in strokes and not self.is_locked(operation["stroke"])
        if name == "stroke":
            return any(self.is_free(self.owner[x], operation) for x in operation["points"])
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
            is_free = operation.get("with_labels") or operation["id"] not in used
            return self.locked.get(operation["id"]) is False and is_free
        return True

    def is_free(self, owner, operation):
        """Whether a stroke may take a point from its owner."""
        if operation.get("spare") and owner and self.class_of[owner] != operation["class"]:
            return False
        return not self.is_locked(owner)

    def is_locked(self, stroke):
        return stroke > 0 and self.locked[self.class_of[stroke]]

    def apply(self, operation):
        name = operation["op"]
        kept = ("owner", "class_of", "locked", "number", "tau", "sizes")
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
            if self.is_free(self.owner[x], operation) or self.owner[x] == self.number:
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
        removed = {s for s, class_id in self.class_of.items() if class_id == operation["id"]}
        self.owner = [0 if stroke in removed else stroke for stroke in self.owner]
        del self.locked[operation["id"]]
        self.sizes.pop(operation["id"], None)

    def _merge_classes(self, operation):
        for stroke, class_id in self.class_of.items():
            if class_id == operation["source"]:
                self.class_of[stroke] = operation["into"]
        del self.locked[operation["source"]]
        for class_id in (operation["source"], operation["into"]):
            self.sizes.pop(class_id, None)

    def _class_sizes(self, operation):
        self.sizes = {size["class"]: (size["least"], size["most"]) for size in operation["sizes"]}

    def _tau(self, operation):
        self.tau = operation["tau"]

    @property
    def label_ids(self):
        return np.array([self.class_of[stroke] if stroke else 0 for stroke in self.owner])


# the operations of `random_operation`, in its order
_OFTEN = [25, 10, 8, 8, 5, 12, 8, 4, 3, 3, 10, 4, 5]


def random_operation(rng, n_points, n_strokes, taus=(1, 5, 20)):
    """Draw an operation; it may be one that has to be refused."""
    class_id, other = (int(i) for i in rng.integers(1, 6, size=2))
    stroke = int(rng.integers(1, max(n_strokes, 1) + 1))
    start = int(rng.integers(n_points))
    points = sorted({int(x) % n_points for x in range(start, start + rng.integers(1, 6))})
    sizes = [{"class": i, "least": 0.1, "most": 0.3} for i in sorted({class_id, other})]
    return [
        {"op": "stroke", "class": class_id, "points": points},
        {"op": "stroke", "class": other, "points": points[::-1], "spare": bool(rng.random() < 0.5)},
        {"op": "erase", "points": points},
        {"op": "move", "stroke": stroke, "class": class_id},
        {"op": "remove", "stroke": stroke},
        {"op": "add_class", "id": class_id},
        {"op": "lock_class", "id": class_id, "locked": bool(rng.random() < 0.4)},
        {"op": "merge_classes", "source": class_id, "into": other},
        {"op": "remove_class", "id": class_id, "with_labels": bool(rng.random() < 0.5)},
        {"op": "tau", "tau": taus[int(rng.integers(len(taus)))]},
        {"op": "undo"},
        {"op": "redo"},
        {"op": "class_sizes", "sizes": sizes},
    ][rng.choice(len(_OFTEN), p=np.array(_OFTEN) / sum(_OFTEN))]


def paint(session, *strokes):
    """Apply strokes, each of a class and its points; return the session."""
    for class_id, points in strokes:
        session.apply({"op": "stroke", "class": class_id, "points": points})
    return session


def refined(session):
    """Return the session with its map refined and shown."""
    session.refine()
    session.update()
    return session


def targets(session):
    """Return the labels as `diffuse_labels` takes them."""
    return np.where(session.label_ids > 0, session.label_ids.astype(int), -1)
