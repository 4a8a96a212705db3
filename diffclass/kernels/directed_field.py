"""Neighbours along a vector field: the search of the kernel `Directed` with a field.

Between points x and y of directions v(x) and v(y), with delta = x - y,

    D^2 = |delta|^2 / epsilon + |delta - (u . delta) u|^2 / epsilon^2,
    u along v(x) + v(y), or v(x) - v(y) where v(x) . v(y) < 0.

The diffusion is reversible: it runs along the integral curves both ways and does not know the sign
of v, hence a sign is none of D either, and fields of axes (eigenvectors) are as good. Between near
points of a smooth field the sum is taken, as in the paper; across a singularity, where that sum
would be rounding, the difference. On a linear field u is the direction midway, exactly. Where u is
0, at a pair of points at rest, a curve is a point and every direction leads across.

D is no distance between vectors; so neighbours are found in Euclidean distance, more than needed,
and the nearest by D kept.

Source: Coifman et al. 2005, section 3 (a differential equation integrated by diffusion).
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin

from diffclass import _compiled
from diffclass._validation import RandomState, check_points, check_positive
from diffclass.neighbors import NeighborSearch, default_search, kept_edges


class FieldSearch(TransformerMixin, BaseEstimator):
    """The nearest neighbours by D, of points given as rows (x, v).

    Parameters
    ----------
    n_neighbors : int, default=12
        Neighbours of a point, itself not counted; duplicates and ties come on top.
    epsilon : float, default=0.1
        Above 0.
    candidates : int, default=8
        Euclidean neighbours found for each that is kept.
    random_state : int, RandomState or None, default=None
        Seeds the Euclidean search.

    Notes
    -----
    Holds ``candidates * n_neighbors`` edges per point while it searches.
    """

    def __init__(
        self,
        n_neighbors: int = 12,
        *,
        epsilon: float = 0.1,
        candidates: int = 8,
        random_state: RandomState = None,
    ):
        self.n_neighbors = n_neighbors
        self.epsilon = epsilon
        self.candidates = candidates
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> FieldSearch:
        """Index the rows (x, v) of shape (n, 2 d)."""
        self._points, self._field = self._split(X)
        self._searcher = self._wide_search().fit(self._points)
        return self

    def fit_transform(self, X: ArrayLike, y: ArrayLike | None = None) -> sp.csr_array:
        """Return the (n, n) distances D from each point to its neighbours, itself left out."""
        self._points, self._field = self._split(X)
        self._searcher = self._wide_search()
        graph = self._searcher.fit_transform(self._points)
        return self._nearest(graph, self._points, self._field)

    def transform(self, X: ArrayLike) -> sp.csr_array:
        """Return the (m, n) distances D from new rows to their neighbours among the indexed."""
        points, field = self._split(X)
        return self._nearest(self._searcher.transform(points), points, field)

    def _split(self, X: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        points, field = np.hsplit(check_points(X), 2)
        return np.ascontiguousarray(points), np.ascontiguousarray(field)

    def _wide_search(self) -> NeighborSearch:
        check_positive(self.n_neighbors, "n_neighbors", integer=True)
        check_positive(self.epsilon, "epsilon")
        n_candidates = self.n_neighbors * check_positive(
            self.candidates, "candidates", integer=True
        )
        return default_search(self._points, n_candidates, random_state=self.random_state)

    def _nearest(self, graph: sp.csr_array, points: np.ndarray, field: np.ndarray) -> sp.csr_array:
        """Keep of each row the edges up to its k-th least D above 0: duplicates are no island."""
        kind = points.dtype.type
        squared = np.empty(graph.nnz, dtype=kind)
        _compiled.edges.field_distances(
            graph.indptr, graph.indices, points, self._points, field, self._field,
            kind(1 / self.epsilon), kind(1 / self.epsilon**2), squared,
        )  # fmt: skip
        apart = np.where(squared > 0, squared, kind(np.inf))
        farthest = np.empty(graph.shape[0], dtype=kind)
        _compiled.edges.kth_smallest(
            graph.indptr, graph.indices, apart, self.n_neighbors, False, farthest
        )
        keep = squared <= np.repeat(farthest, np.diff(graph.indptr))
        distances = sp.csr_array((np.sqrt(squared), graph.indices, graph.indptr), graph.shape)
        return kept_edges(distances, keep)


def aligned_mean(weights: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return weighted means of vectors, each turned to the side of the first of its row.

    Parameters
    ----------
    weights : ndarray of shape (m, k)
        At least 0; rows sum to 1.
    vectors : ndarray of shape (m, k, d)
        Directions, whose signs do not matter.

    Returns
    -------
    ndarray of shape (m, d)
        On the side of the first.
    """
    sides = np.where(np.einsum("mkd,md->mk", vectors, vectors[:, 0]) < 0, -1, 1)
    return np.einsum("mk,mkd->md", weights * sides, vectors)
