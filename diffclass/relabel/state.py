"""The state of a session: everything that a map depends on, in one frozen object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from diffclass.exceptions import ParameterError
from diffclass.relabel.persistent_array import PersistentArray
from diffclass.relabel.stroke_table import StrokeTable, first_of_block
from diffclass.relabel.strokes import ClassInfo, Stroke, new_stroke

# Summed labels then walk 36 steps; a stroke of 30 pixels takes under 100 ms on 111,104 pixels.
DEFAULT_TAU = 12


@dataclass(frozen=True, eq=False)
class State:
    """Strokes, classes, the time, and how the walk is warped.

    Attributes
    ----------
    n_points : int
    classes : tuple of ClassInfo
        In the order they were added.
    strokes : StrokeTable
        Disjoint sets of points, in the order of painting.
    owners : PersistentArray
        Number of the stroke that holds each point, 0 for none.
    tau : int
        Time in steps; with a rule, the one used until the rule has chosen.
    chosen_for : State or None
        The state whose labels the margin rule chooses the time for. It has no such state itself. A
        later stroke does not change the time.
    rule : {"auto", "margin"} or None
        What chooses the time; "auto" chooses for every state anew, see `RelabelSession.refine`.
    label_mode : {"auto", "summed", "free", "absorbing"}
        How labels count, as it was asked for.
    warped_by : State or None
        The state whose posteriors warp the walk.
    next_number : int
        Number of the next stroke.
    """

    n_points: int
    owners: PersistentArray
    strokes: StrokeTable = StrokeTable()  # noqa: RUF009, it is frozen
    classes: tuple[ClassInfo, ...] = ()
    tau: int = DEFAULT_TAU
    rule: Literal["auto", "margin"] | None = None
    chosen_for: State | None = None
    label_mode: str = "auto"
    warped_by: State | None = None
    next_number: int = 1

    @classmethod
    def without_labels(cls, n_points: int) -> State:
        """Return the state that a session begins with."""
        return cls(n_points, PersistentArray.zeros(n_points))

    @property
    def first_mode(self) -> str:
        """How labels count where that is not left to the rule "auto", or not chosen yet."""
        return "summed" if self.label_mode == "auto" else self.label_mode

    @property
    def mapped_classes(self) -> tuple[int, ...]:
        """Ids of the classes with at least one labelled point, ascending."""
        return self.strokes.class_ids

    def strokes_of(self, class_id: int) -> tuple[Stroke, ...]:
        """Return the strokes of a class, in order."""
        return tuple(stroke for stroke in self.strokes if stroke.class_id == class_id)

    def class_of(self, class_id: int) -> ClassInfo:
        """Return a class.

        Raises
        ------
        ParameterError
            If no class has that id; the message lists the ids there are.
        """
        for info in self.classes:
            if info.id == class_id:
                return info
        known = ", ".join(str(info.id) for info in self.classes) or "none yet; add one first"
        raise ParameterError(f"there is no class {class_id!r} (classes: {known})")

    def stroke_of(self, number: int) -> Stroke:
        """Return a stroke.

        Raises
        ------
        ParameterError
            If no stroke has that number: it was removed, painted over, or never painted.
        """
        stroke = self.strokes.get(number)
        if stroke is None:
            raise ParameterError(
                f"there is no stroke {number!r}; it was removed, painted over whole, or never "
                "painted"
            )
        return stroke

    @property
    def label_ids(self) -> np.ndarray:
        """Class id of each labelled point, 0 elsewhere; uint8 of shape (n,), not writable."""
        ids = self.strokes.classes()[self.owners.whole()]
        ids.setflags(write=False)
        return ids

    @property
    def targets(self) -> np.ndarray:
        """Class ids as estimators take them, -1 where unlabelled; int16 of shape (n,)."""
        ids = self.label_ids.astype(np.int16)
        return np.where(ids > 0, ids, -1)

    def pieces(self) -> list[Stroke]:
        """Return the labels as few sets of points, whose columns make the map.

        Strokes of the block of numbers that the next stroke is in stand for themselves, so that one
        more is one more column. All older ones of a class are one piece, of number 0: however many
        there are, the map is made of few columns, and a change of an old stroke changes one.
        """
        first = first_of_block(self.next_number)
        recent = list(self.strokes.since(first))
        classes = self.strokes.classes()
        classes[first:] = 0
        if not classes.any():
            return recent
        ids = classes[self.owners.whole()]
        old = [i for i in np.unique(classes).tolist() if i]
        points = [np.flatnonzero(ids == i).astype(np.int32) for i in old]
        return [new_stroke(0, i, some) for i, some in zip(old, points, strict=True)] + recent

    def label_ids_at(self, points: np.ndarray) -> np.ndarray:
        """Return the same at some points, which ascend; it costs nothing for the others."""
        numbers, where = np.unique(self.owners.at(points), return_inverse=True)
        held = [self.strokes.get(number) for number in numbers.tolist()]
        ids = [0 if stroke is None else stroke.class_id for stroke in held]
        return np.array(ids, dtype=np.uint8)[where]

    @cached_property
    def labels_key(self) -> tuple[bytes, ...]:
        """Classes and points of all strokes, in order, as hashes; class sums depend on these."""
        return self.strokes.fingerprints

    @property
    def labels_and_walk(self) -> tuple[Any, ...]:
        """Everything but the time that a map depends on."""
        return self.labels_key, self.label_mode, self.warped_by

    @property
    def walk_key(self) -> tuple[Any, ...]:
        """Everything but the labels that a map depends on: maps of it build on each other."""
        by_rule = self.rule == "auto"
        return self.tau, by_rule, self.chosen_for, self.label_mode, self.warped_by

    @property
    def map_key(self) -> tuple[Any, ...]:
        """Everything that a map depends on."""
        return self.labels_key, *self.walk_key

    def with_class(self, info: ClassInfo) -> State:
        """Return the state in which a class of the same id is replaced."""
        classes = tuple(info if old.id == info.id else old for old in self.classes)
        return replace(self, classes=classes)

    def with_strokes(self, changes: Mapping[int, Stroke | None]) -> State:
        """Return the state with other strokes of the same points, or none, under some numbers."""
        owners = self.owners
        for number, stroke in changes.items():
            if stroke is None:
                owners = owners.with_value(self.stroke_of(number).points, 0)
        return replace(self, strokes=self.strokes.with_changes(changes), owners=owners)

    def with_new_stroke(self, stroke: Stroke) -> State:
        """Return the state with one stroke more, whose points are not labelled yet."""
        return replace(
            self,
            strokes=self.strokes.with_changes({stroke.number: stroke}),
            owners=self.owners.with_value(stroke.points, stroke.number),
            next_number=stroke.number + 1,
        )

    def without_points(self, points: np.ndarray) -> State:
        """Return the state in which some points, which ascend, are not labelled."""
        numbers = np.unique(self.owners.at(points))
        changes = {i: self.stroke_of(i).without(points) for i in numbers[numbers > 0].tolist()}
        strokes = self.strokes.with_changes(changes)
        return replace(self, strokes=strokes, owners=self.owners.with_value(points, 0))
