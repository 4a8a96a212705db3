"""All strokes of a state, by number: states share the blocks that they have in common."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from diffclass.relabel.strokes import Stroke

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

    Parameters
    ----------
    blocks : tuple of _Block, default=()

    Notes
    -----
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
        """Return the table with other strokes under some numbers; None and empty ones are left out.

        Parameters
        ----------
        changes : mapping of int to Stroke or None
        """
        blocks, n_strokes = list(self._blocks), self._n_strokes
        by_block: dict[int, dict[int, Stroke | None]] = {}
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

    Parameters
    ----------
    function : callable
        Takes a stroke and returns another one, of the same number.
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
