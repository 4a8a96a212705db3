"""The states of a session: everything that a map depends on, in one frozen object each.

Undo and redo go from one to the other; all are kept, and share what they have in common.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from diffclass.exceptions import ParameterError
from diffclass.label_diffusion.label_modes import AUTO, LABEL_MODES
from diffclass.relabel.known_sizes import KnownSizes, counted_sizes
from diffclass.relabel.strokes import ClassInfo, Stroke, StrokeTable, first_of_block, new_stroke

_CHUNK = 1024  # entries of a chunk


class PersistentArray:
    """A frozen array of n int32, of which a change returns a new version.

    A change copies the chunks that hold the changed entries; all versions share the others. All
    chunks have one length but the last.
    """

    def __init__(self, chunks: tuple[np.ndarray, ...]):
        self._chunks = chunks

    @classmethod
    def zeros(cls, n: int) -> PersistentArray:
        """Return n zeros."""
        empty = np.zeros(_CHUNK, dtype=np.int32)
        rest = n % _CHUNK
        return cls((empty,) * (n // _CHUNK) + ((empty[:rest],) if rest else ()))

    @classmethod
    def of(cls, values: np.ndarray) -> PersistentArray:
        """Return an array of given entries, int32 of shape (n,)."""
        starts = range(0, len(values), _CHUNK)
        return cls(tuple(values[start : start + _CHUNK] for start in starts))

    def whole(self) -> np.ndarray:
        """Return all entries, int32 of shape (n,); costs one pass."""
        return np.concatenate(self._chunks) if self._chunks else np.zeros(0, dtype=np.int32)

    def at(self, places: np.ndarray) -> np.ndarray:
        """Return some entries; ``places`` ascend. Costs nothing for the others."""
        found = np.empty(len(places), dtype=np.int32)
        for chunk, some in _by_chunk(places):
            found[some] = self._chunks[chunk][places[some] - chunk * _CHUNK]
        return found

    def with_value(self, places: np.ndarray, value: int) -> PersistentArray:
        """Return the array with one value at some places, which ascend."""
        chunks = list(self._chunks)
        for chunk, some in _by_chunk(places):
            chunks[chunk] = chunks[chunk].copy()
            chunks[chunk][places[some] - chunk * _CHUNK] = value
        return PersistentArray(tuple(chunks))


def _by_chunk(places: np.ndarray) -> Iterator[tuple[int, slice]]:
    """Yield the chunks of some places, and which of the places are on each."""
    if not len(places):
        return
    chunk = places // _CHUNK
    starts = np.concatenate([[0], np.flatnonzero(np.diff(chunk)) + 1, [len(places)]]).tolist()
    for start, stop in pairwise(starts):
        yield int(chunk[start]), slice(start, stop)


# Summed labels then walk 36 steps; a stroke of 30 pixels takes under 100 ms on 111,104 pixels.
DEFAULT_TAU = 12


@dataclass(frozen=True, eq=False)
class State:
    """Strokes, classes, the time, and how the walk is warped."""

    n_points: int
    owners: PersistentArray  # number of the stroke that holds each point, 0 for none
    # disjoint sets of points, in the order of painting
    strokes: StrokeTable = StrokeTable()  # noqa: RUF009, it is frozen
    classes: tuple[ClassInfo, ...] = ()  # in the order they were added
    tau: int = DEFAULT_TAU  # time in steps; with a rule, the one used until the rule has chosen
    # {"auto", "margin"}; what chooses the time; "auto" chooses for every state anew, see
    # `RelabelSession.refine`
    rule: Literal["auto", "margin"] | None = None
    # the state whose labels the margin rule chooses the time for. It has no such state itself. A
    # later stroke does not change the time.
    chosen_for: State | None = None
    label_mode: str = AUTO.name  # one of `SESSION_MODES`, as it was asked for
    sizes: KnownSizes | None = None  # what is known of the classes' sizes; refined maps go by it
    warped_by: State | None = None  # the state whose posteriors warp the walk
    next_number: int = 1  # number of the next stroke
    # the state of all points, where this is that of the nodes of equal ones
    of_points: State | None = None
    has_contradictions: bool = False  # whether equal points have labels of several classes

    @classmethod
    def without_labels(cls, n_points: int) -> State:
        """Return the state that a session begins with."""
        return cls(n_points, PersistentArray.zeros(n_points))

    @property
    def first_mode(self) -> str:
        """How labels count where that is not left to the rule "auto", or not chosen yet."""
        return LABEL_MODES[self.label_mode].first_of_strokes.name

    @property
    def mapped_classes(self) -> tuple[int, ...]:
        """Ids of the classes with at least one labelled point, ascending."""
        return self.strokes.class_ids

    @property
    def labelled_classes(self) -> tuple[int, ...]:
        """Ids in `label_ids`, ascending; on aggregates newer strokes may hide a class."""
        ids = np.unique(self.label_ids)
        return tuple(ids[ids > 0].tolist())

    @property
    def counted_sizes(self) -> KnownSizes | None:
        """The sizes that classes with labels are to have; None where none count."""
        return counted_sizes(self.sizes, self.mapped_classes)

    def strokes_of(self, class_id: int) -> tuple[Stroke, ...]:
        """Return the strokes of a class, in order."""
        return tuple(stroke for stroke in self.strokes if stroke.class_id == class_id)

    def class_of(self, class_id: int) -> ClassInfo:
        """Return a class."""
        for info in self.classes:
            if info.id == class_id:
                return info
        known = ", ".join(str(info.id) for info in self.classes) or "none yet; add one first"
        raise ParameterError(f"there is no class {class_id!r} (classes: {known})")

    def stroke_of(self, number: int) -> Stroke:
        """Return a stroke."""
        stroke = self.strokes.get(number)
        if stroke is None:
            raise ParameterError(
                f"there is no stroke {number!r}; it was removed, painted over whole, or never "
                "painted"
            )
        return stroke

    @property
    def label_ids(self) -> np.ndarray:
        """Class id of each labelled point, 0 elsewhere; uint8 of shape (n,), not writable.

        Of the state of nodes they are those of all points.
        """
        return self.held_ids if self.of_points is None else self.of_points.label_ids

    @property
    def held_ids(self) -> np.ndarray:
        """Class id at each point or node, 0 for none; of strokes on one node the newest counts."""
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

        Strokes of the block of numbers that the next stroke is in stand for themselves; all older
        ones of a class are one piece, of number 0, so that there are never many columns.
        """
        # The strokes before the present block of numbers never move into another piece while it
        # lasts, so that a new stroke makes one column and not two.
        first = first_of_block(self.next_number)
        recent = list(self.strokes.since(first))
        if self.of_points is not None:  # strokes of one class may share nodes; each counts once
            recent = [self._held_of(stroke) for stroke in recent]
            recent = [stroke for stroke in recent if len(stroke)]
        classes = self.strokes.classes()
        # `classes` is by number of the stroke; the owners of the points turn it into one by point
        classes[first:] = 0
        if not classes.any():
            return recent
        ids = classes[self.owners.whole()]
        old = [i for i in np.unique(classes).tolist() if i]
        points = [np.flatnonzero(ids == i).astype(np.int32) for i in old]
        return [new_stroke(0, i, some) for i, some in zip(old, points, strict=True)] + recent

    def _held_of(self, stroke: Stroke) -> Stroke:
        held = stroke.points[self.owners.at(stroke.points) == stroke.number]
        return new_stroke(stroke.number, stroke.class_id, held)

    def label_ids_at(self, points: np.ndarray) -> np.ndarray:
        """Return the class ids of some points, which ascend; it costs nothing for the others."""
        numbers, where = np.unique(self.owners.at(points), return_inverse=True)
        held = [self.strokes.get(number) for number in numbers.tolist()]
        ids = [0 if stroke is None else stroke.class_id for stroke in held]
        return np.array(ids, dtype=np.uint8)[where]

    @cached_property
    def labels_key(self) -> tuple[bytes, ...]:
        """Classes and points of all strokes, in order, as hashes; class sums depend on these."""
        return (self.of_points or self).strokes.fingerprints

    @property
    def labels_and_walk(self) -> tuple[Any, ...]:
        """Everything but the time that a map depends on."""
        return self.labels_key, self.label_mode, self.warped_by

    @property
    def walk_key(self) -> tuple[Any, ...]:
        """Everything but the labels that a map depends on: maps of it build on each other."""
        # With the rule "margin" the time is that of the state it was chosen for, whichever that
        # will be.
        by_rule = self.rule == "auto"
        return self.tau, by_rule, self.chosen_for, self.label_mode, self.warped_by, self.sizes

    @property
    def map_key(self) -> tuple[Any, ...]:
        """Everything that a map depends on."""
        return self.labels_key, *self.walk_key

    def with_class(self, info: ClassInfo) -> State:
        """Return the state in which a class of the same id is replaced."""
        classes = tuple(info if old.id == info.id else old for old in self.classes)
        return replace(self, classes=classes)

    def without_class(self, class_id: int) -> State:
        """Return the state without a class, which has no strokes any more, and its size."""
        classes = tuple(info for info in self.classes if info.id != class_id)
        return replace(self, classes=classes).without_sizes_of(class_id)

    def without_sizes_of(self, *class_ids: int) -> State:
        """Return the state in which nothing is known of the sizes of some classes."""
        if self.sizes is None or isinstance(self.sizes, str):
            return self
        left = tuple(size for size in self.sizes if size.class_id not in class_ids)
        return replace(self, sizes=left or None)

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


class History:
    """The states of a session. All are kept: they share what they have in common.

    - `first`: the state that the session begins with
    """

    def __init__(self, first: State):
        self._states = [first]
        self._place = 0

    @property
    def present(self) -> State:
        """The state the session is in."""
        return self._states[self._place]

    @property
    def place(self) -> int:
        """Number of states before this one."""
        return self._place

    def __len__(self) -> int:
        return len(self._states)

    def __getitem__(self, place: int) -> State:
        return self._states[place]

    @property
    def can_undo(self) -> bool:
        """Whether there is a state before this one."""
        return self._place > 0

    @property
    def can_redo(self) -> bool:
        """Whether something was undone and nothing done since."""
        return self._place < len(self._states) - 1

    def go_on(self, state: State, *, joined: bool = False) -> None:
        """Append a state and make it present; states that were undone are dropped.

        - `joined`: whether it takes the place of the present one, so that both are undone as one
        """
        self._place += not joined
        # a state that is joined takes the place of the present one; all later ones are dropped
        self._states[self._place :] = [state]

    def undo(self, steps: int = 1) -> None:
        """Go back by so many states; a `ParameterError` if there are not as many."""
        _check_steps(steps, self._place, "undo")
        self._place -= steps

    def redo(self, steps: int = 1) -> None:
        """Go forward again; a `ParameterError` if not as many were undone."""
        _check_steps(steps, len(self._states) - 1 - self._place, "redo")
        self._place += steps


def _check_steps(steps: int, there_are: int, name: str) -> None:
    if not there_are:
        raise ParameterError(f"{name}: there is nothing to {name}")
    if steps > there_are:
        raise ParameterError(f"{name}: steps = {steps}; there are {there_are} to {name}")
