"""A persistent array: a change returns a new version, and all versions share what they can.

The entries lie in chunks. A change copies the chunks that hold the changed entries and no others,
so that each of a session's thousands of states can say which stroke holds each point.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

_LENGTH = 1024  # entries of a chunk


class PersistentArray:
    """A frozen array of n int32.

    Parameters
    ----------
    chunks : tuple of ndarray of int32
        All of one length but the last.
    """

    def __init__(self, chunks: tuple[np.ndarray, ...]):
        self._chunks = chunks

    @classmethod
    def zeros(cls, n: int) -> PersistentArray:
        """Return n zeros."""
        empty = np.zeros(_LENGTH, dtype=np.int32)
        rest = n % _LENGTH
        return cls((empty,) * (n // _LENGTH) + ((empty[:rest],) if rest else ()))

    @classmethod
    def of(cls, values: np.ndarray) -> PersistentArray:
        """Return an array of given entries, int32 of shape (n,)."""
        starts = range(0, len(values), _LENGTH)
        return cls(tuple(values[start : start + _LENGTH] for start in starts))

    def whole(self) -> np.ndarray:
        """Return all entries, int32 of shape (n,); costs one pass."""
        return np.concatenate(self._chunks) if self._chunks else np.zeros(0, dtype=np.int32)

    def at(self, places: np.ndarray) -> np.ndarray:
        """Return some entries; ``places`` ascend. Costs nothing for the others."""
        found = np.empty(len(places), dtype=np.int32)
        for chunk, some in _by_chunk(places):
            found[some] = self._chunks[chunk][places[some] - chunk * _LENGTH]
        return found

    def with_value(self, places: np.ndarray, value: int) -> PersistentArray:
        """Return the array with one value at some places, which ascend."""
        chunks = list(self._chunks)
        for chunk, some in _by_chunk(places):
            chunks[chunk] = chunks[chunk].copy()
            chunks[chunk][places[some] - chunk * _LENGTH] = value
        return PersistentArray(tuple(chunks))


def _by_chunk(places: np.ndarray) -> Iterator[tuple[int, slice]]:
    """Yield the chunks of some places, and which of the places are on each."""
    if not len(places):
        return
    chunk = places // _LENGTH
    starts = np.concatenate([[0], np.flatnonzero(np.diff(chunk)) + 1, [len(places)]]).tolist()
    for start, stop in pairwise(starts):
        yield int(chunk[start]), slice(start, stop)
