"""What a user paints: strokes and classes as frozen objects, and tables of strokes.

Tables share the blocks that they have in common, so that a session can keep one for each of its
thousands of states.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np


@dataclass(frozen=True)
class ClassInfo:
    """A class that can be painted.

    Attributes
    ----------
    id : int
        1 to 254; 0 is unlabelled.
    name : str
    color : str
        As "#rrggbb".
    hidden : bool
        Whether drawn maps leave it out; its labels diffuse all the same.
    locked : bool
        Whether its labels are protected from being painted over, erased, moved or removed.

    Examples
    --------
    >>> from diffclass import MarkovOperator
    >>> from diffclass.relabel import ClassInfo, RelabelSession
    >>> corn = ClassInfo(3, "corn", "#e69f00", locked=True)
    >>> session = RelabelSession(MarkovOperator.from_affinity([[1.0]]), [corn, "soy"])
    >>> session.classes[1]
    ClassInfo(id=4, name='soy', color='#f0e442', hidden=False, locked=False)
    """

    id: int
    name: str
    color: str
    hidden: bool = False
    locked: bool = False


@dataclass(frozen=True, eq=False)
class Stroke:
    """Points of one class, painted together.

    Attributes
    ----------
    number : int
        From 1, in the order of painting.
    class_id : int
    points : ndarray of int32
        Indices of its points that later strokes have left, ascending. Never empty.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import MarkovOperator
    >>> from diffclass.relabel import Paint, RelabelSession
    >>> session = RelabelSession(MarkovOperator.from_affinity(np.ones((4, 4))), ["corn", "soy"])
    >>> session.apply(Paint(1, np.array([0, 1])))
    >>> session.apply(Paint(2, np.array([1, 2])))
    >>> [(one.number, one.class_id, one.points.tolist()) for one in session.strokes]
    [(1, 1, [0]), (2, 2, [1, 2])]
    """

    number: int
    class_id: int
    points: np.ndarray

    def without(self, points: np.ndarray) -> Stroke:
        """Return the stroke without some points; it may be empty."""
        taken = np.isin(self.points, points, assume_unique=True)
        return replace(self, points=_frozen(self.points[~taken])) if taken.any() else self

    def __len__(self) -> int:
        return len(self.points)

    @cached_property
    def fingerprint(self) -> bytes:
        """Hash of the points alone: strokes with the same points share a diffused column."""
        return hashlib.blake2b(self.points.tobytes(), digest_size=16).digest()


def new_stroke(number: int, class_id: int, points: np.ndarray) -> Stroke:
    """Return a stroke of points, given as ascending int32."""
    return Stroke(number, class_id, _frozen(points))


def _frozen(points: np.ndarray) -> np.ndarray:
    points.setflags(write=False)
    return points


_LENGTH = 64  # numbers of a block


def first_of_block(number: int) -> int:
    """Return the first number of the block that a number is in."""
    return number - (number - 1) % _LENGTH


@dataclass(frozen=True, eq=False)
class _Block:
    """The strokes of 64 numbers that are there, in order."""

    strokes: tuple[Stroke, ...] = ()

    @cached_property
    def class_ids(self) -> frozenset[int]:
        return frozenset(stroke.class_id for stroke in self.strokes)

    @cached_property
    def fingerprint(self) -> bytes:
        """Hash of classes and points, in order."""
        digest = hashlib.blake2b(digest_size=16)
        for stroke in self.strokes:
            digest.update(bytes([stroke.class_id]) + stroke.fingerprint)
        return digest.digest()

    @cached_property
    def classes(self) -> np.ndarray:
        """Class of each of the 64 numbers, 0 where there is no stroke."""
        found = np.zeros(_LENGTH, dtype=np.uint8)
        for stroke in self.strokes:
            found[(stroke.number - 1) % _LENGTH] = stroke.class_id
        return found


class StrokeTable:
    """Strokes in the order of painting, which is that of their numbers.

    A change costs as much as the strokes of the blocks concerned, and a pointer per block.
    """

    def __init__(self, blocks: tuple[_Block, ...] = (), n_strokes: int = 0):
        self._blocks = blocks
        self._n_strokes = n_strokes

    def __len__(self) -> int:
        return self._n_strokes

    def __iter__(self) -> Iterator[Stroke]:
        for block in self._blocks:
            yield from block.strokes

    def get(self, number: int) -> Stroke | None:
        """Return the stroke of a number, if there is one."""
        at = (number - 1) // _LENGTH
        if not 0 <= at < len(self._blocks):
            return None
        return next((s for s in self._blocks[at].strokes if s.number == number), None)

    def since(self, first: int) -> Iterator[Stroke]:
        """Yield the strokes from the first number of a block on, in order."""
        for block in self._blocks[(first - 1) // _LENGTH :]:
            yield from block.strokes

    def with_changes(self, changes: Mapping[int, Stroke | None]) -> StrokeTable:
        """Return the table with other strokes under some numbers; None and empty ones go."""
        blocks, n_strokes = list(self._blocks), self._n_strokes
        by_block: dict[int, dict[int, Stroke | None]] = {}
        # Only the blocks with a change are made anew: their hashes and classes are cached, so that
        # a change costs as much as 64 strokes.
        for number, stroke in changes.items():
            by_block.setdefault((number - 1) // _LENGTH, {})[number] = stroke
        for at, inside in by_block.items():
            blocks.extend(_Block() for _ in range(at + 1 - len(blocks)))
            strokes = {stroke.number: stroke for stroke in blocks[at].strokes}
            n_strokes -= len(strokes)
            for number, stroke in inside.items():
                strokes.pop(number, None)
                if stroke is not None and len(stroke):
                    strokes[number] = stroke
            n_strokes += len(strokes)
            blocks[at] = _Block(tuple(strokes[number] for number in sorted(strokes)))
        return StrokeTable(tuple(blocks), n_strokes)

    @property
    def class_ids(self) -> tuple[int, ...]:
        """Ids of the classes that have strokes, ascending."""
        return tuple(sorted(frozenset().union(*(block.class_ids for block in self._blocks))))

    @property
    def fingerprints(self) -> tuple[bytes, ...]:
        """Hashes of classes and points of all strokes, block by block."""
        return tuple(block.fingerprint for block in self._blocks)

    def classes(self) -> np.ndarray:
        """Return the class of each number, 0 for none; uint8 of shape (largest number + 1,)."""
        return np.concatenate([np.zeros(1, dtype=np.uint8), *(b.classes for b in self._blocks)])


class StrokeMapping:
    """Applies a function to every stroke of a table; what the table before shares is kept.

    - `function`: takes a stroke and returns another one, of the same number
    """

    def __init__(self, function: Callable[[Stroke], Stroke]):
        self._function = function
        self._known: dict[_Block, _Block] = {}

    def of(self, table: StrokeTable) -> StrokeTable:
        """Return the table of the other strokes."""
        known = self._known
        # replaced as a whole: other threads read it meanwhile
        self._known = mapped = {
            block: known.get(block) or _Block(tuple(map(self._function, block.strokes)))
            for block in table._blocks
        }
        return StrokeTable(tuple(mapped.values()), len(table))
