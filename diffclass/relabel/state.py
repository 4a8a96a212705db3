"""The state of a session: everything that a map depends on, in one frozen object."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from diffclass.exceptions import ParameterError
from diffclass.relabel.strokes import ClassInfo, Stroke

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
    strokes : tuple of Stroke
        Disjoint sets of points, in the order of painting.
    tau : int
        Time in steps. If the margin chooses the time, this one is used until two classes have
        labels.
    chosen_for : State or None
        The state whose labels the margin rule chooses the time for. It has no such state itself. A
        later stroke does not change the time.
    by_margin : bool
        Whether the margin chooses the time.
    warped_by : State or None
        The state whose posteriors warp the walk.
    next_number : int
        Number of the next stroke.
    """

    n_points: int
    classes: tuple[ClassInfo, ...] = ()
    strokes: tuple[Stroke, ...] = ()
    tau: int = DEFAULT_TAU
    by_margin: bool = False
    chosen_for: State | None = None
    warped_by: State | None = None
    next_number: int = 1

    @property
    def mapped_classes(self) -> tuple[int, ...]:
        """Ids of the classes with at least one labelled point, ascending."""
        return tuple(sorted({stroke.class_id for stroke in self.strokes}))

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
        for stroke in self.strokes:
            if stroke.number == number:
                return stroke
        raise ParameterError(
            f"there is no stroke {number!r}; it was removed, painted over whole, or never painted"
        )

    @cached_property
    def label_ids(self) -> np.ndarray:
        """Class id of each labelled point, 0 elsewhere; uint8 of shape (n,), not writable."""
        ids = np.zeros(self.n_points, dtype=np.uint8)
        for stroke in self.strokes:
            ids[stroke.points] = stroke.class_id
        ids.setflags(write=False)
        return ids

    @cached_property
    def labels_key(self) -> tuple[tuple[int, bytes], ...]:
        """Class and fingerprint of each stroke, in order; class sums depend on these."""
        return tuple((stroke.class_id, stroke.fingerprint) for stroke in self.strokes)

    def with_class(self, info: ClassInfo) -> State:
        """Return the state in which a class of the same id is replaced."""
        classes = tuple(info if old.id == info.id else old for old in self.classes)
        return replace(self, classes=classes)

    def with_strokes(self, strokes: tuple[Stroke, ...]) -> State:
        """Return the state with other strokes; empty ones are left out."""
        return replace(self, strokes=tuple(stroke for stroke in strokes if len(stroke)))

    def without_points(self, points: np.ndarray) -> State:
        """Return the state in which some points are not labelled."""
        is_taken = np.zeros(self.n_points, dtype=bool)
        is_taken[points] = True
        return self.with_strokes(tuple(stroke.without(is_taken) for stroke in self.strokes))
