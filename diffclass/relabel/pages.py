"""An array of whole numbers of which every version is kept; they share what they have in common.

A change of a few entries copies the pages that hold them, and no others. Thousands of states of a
session thus have each their own picture of who painted what, in little memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

_LENGTH = 1024


class Pages:
    """A frozen array of n int32, 0 at first.

    Parameters
    ----------
    pages : tuple of ndarray of int32
        All of one length but the last.
    """

    def __init__(self, pages: tuple[np.ndarray, ...]):
        self._pages = pages

    @classmethod
    def zeros(cls, n: int) -> Pages:
        """Return n zeros."""
        empty = np.zeros(_LENGTH, dtype=np.int32)
        rest = n % _LENGTH
        return cls((empty,) * (n // _LENGTH) + ((empty[:rest],) if rest else ()))

    @classmethod
    def of(cls, values: np.ndarray) -> Pages:
        """Return an array of given entries, int32 of shape (n,)."""
        starts = range(0, len(values), _LENGTH)
        return cls(tuple(values[start : start + _LENGTH] for start in starts))

    def whole(self) -> np.ndarray:
        """Return all entries, int32 of shape (n,); costs one pass."""
        return np.concatenate(self._pages) if self._pages else np.zeros(0, dtype=np.int32)

    def at(self, places: np.ndarray) -> np.ndarray:
        """Return some entries; ``places`` ascend. Costs nothing for the others."""
        found = np.empty(len(places), dtype=np.int32)
        for page, some in _by_page(places):
            found[some] = self._pages[page][places[some] - page * _LENGTH]
        return found

    def with_value(self, places: np.ndarray, value: int) -> Pages:
        """Return the array with one value at some places, which ascend."""
        pages = list(self._pages)
        for page, some in _by_page(places):
            pages[page] = pages[page].copy()
            pages[page][places[some] - page * _LENGTH] = value
        return Pages(tuple(pages))


def _by_page(places: np.ndarray) -> Iterator[tuple[int, slice]]:
    """Yield the pages of some places, and which of the places are on each."""
    if not len(places):
        return
    page = places // _LENGTH
    starts = np.concatenate([[0], np.flatnonzero(np.diff(page)) + 1, [len(places)]]).tolist()
    for start, stop in pairwise(starts):
        yield int(page[start]), slice(start, stop)
