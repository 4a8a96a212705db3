"""Exact search."""

from __future__ import annotations

import numpy as np

from diffclass._compiled._threads import openmp_for
from diffclass.neighbors.search import Search


class ExactSearch(Search):
    """Exact nearest neighbours, by scikit-learn's trees or blockwise brute force.

    Parameters
    ----------
    n_neighbors : int, default=12
        Neighbours of a point, itself not counted.

    Attributes
    ----------
    recall_ : float
        Share of the true neighbours that were found; always 1.
    """

    def __init__(self, n_neighbors: int = 12):
        self.n_neighbors = n_neighbors

    def _index(self, X: np.ndarray) -> None:
        from sklearn.neighbors import NearestNeighbors

        self._center = _exact_center(X)
        self._searcher = NearestNeighbors().fit(X - self._center)
        self.recall_ = 1.0

    def _nearest(self, X: np.ndarray, k: int) -> np.ndarray:
        with openmp_for(X.size * self._searcher.n_samples_fit_):
            return self._searcher.kneighbors(X - self._center, n_neighbors=k, return_distance=False)


def _exact_center(X: np.ndarray) -> np.ndarray:
    """Return the centre of the points' bounding box, rounded so that X minus it is exact.

    Brute force computes |x|^2 - 2 <x, y> + |y|^2, where a large offset would cause rounding errors.
    """
    lowest, highest = X.min(axis=0), X.max(axis=0)
    size = highest - lowest
    unit = np.ldexp(np.ones_like(size), np.frexp(size)[1])
    return np.where(size > 0, np.rint((lowest / 2 + highest / 2) / unit) * unit, lowest)
