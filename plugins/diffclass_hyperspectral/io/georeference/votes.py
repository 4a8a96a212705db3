"""Votes of labels for the pixels of a scene, and the class that most of them have."""

from __future__ import annotations

import numpy as np

_BITS = 31  # of a class id
_MOST = 2**22  # counts that wait to be added up


class Votes:
    """How often each class is voted for at each of ``n_pixels`` pixels; kept for those that are.

    Examples
    --------
    >>> votes = Votes(4)
    >>> votes.add(np.array([0, 0, 0, 2, 2]), np.array([7, 7, 9, 7, 9]))
    >>> votes.winners()
    (array([7, 0, 0, 0], dtype=int32), 2, 1)
    """

    def __init__(self, n_pixels: int):
        self.n_pixels = n_pixels
        self.reached = np.zeros(n_pixels, dtype=bool)
        self._counted = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))]
        self._n_later = 0

    def reach(self, pixels: np.ndarray) -> None:
        """Note pixels that somebody was asked at, with or without a vote."""
        self.reached[pixels] = True

    def add(self, pixels: np.ndarray, ids: np.ndarray) -> None:
        """Count one vote for each of some pixels."""
        keys = (pixels.astype(np.int64) << _BITS) | ids.astype(np.int64)
        self._counted.append(np.unique(keys, return_counts=True))
        self._n_later += len(self._counted[-1][0])
        if self._n_later > _MOST:
            self._counted, self._n_later = [self._sums()], 0

    def _sums(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the keys of pixel and class that have votes, in their order, and their numbers."""
        keys, counts = (np.concatenate(parts) for parts in zip(*self._counted, strict=True))
        keys, inverse = np.unique(keys, return_inverse=True)
        return keys, np.bincount(inverse, weights=counts, minlength=len(keys)).astype(np.int64)

    def winners(self) -> tuple[np.ndarray, int, int]:
        """Return the most frequent class of each pixel, 0 for none, and how many have several.

        Returns
        -------
        ids : ndarray of shape (n_pixels,), int32
        n_mixed, n_tied : int
            Pixels with votes for several classes, and those of them without a most frequent one.
        """
        keys, counts = self._sums()
        order = np.lexsort((-counts, keys >> _BITS))
        pixels, ids, counts = keys[order] >> _BITS, keys[order] & (2**_BITS - 1), counts[order]
        first = np.append(True, pixels[1:] != pixels[:-1])[: len(pixels)]
        second = np.append(False, first[:-1])[: len(pixels)] & ~first
        tied = np.flatnonzero(second)
        tied = tied[counts[tied] == counts[tied - 1]]
        found = np.zeros(self.n_pixels, dtype=np.int32)
        found[pixels[first]] = ids[first]
        found[pixels[tied]] = 0
        return found, int(np.count_nonzero(second)), len(tied)
