"""Neighbours along a vector field: the neighbour search of the kernel `Directed` with a field.

Between points x and y of directions v(x) and v(y), with delta = x - y,

    D^2 = |delta|^2 / epsilon + |delta - (u . delta) u|^2 / epsilon^2,
    u along v(x) + v(y), or v(x) - v(y) where v(x) . v(y) < 0.

The diffusion is reversible: it runs both ways along the integral curves and does not depend on the
sign of v. D does not depend on it either, so fields of axes (eigenvectors) work as well. Between
near points of a smooth field the sum is taken, as in the paper; across a singularity, where the sum
would be rounding, the difference is taken. On a linear field u is exactly the direction at the
midpoint. If v is 0 at both points, so is u; the curve is then a point and every direction leads
across.

D is not a distance between vectors. The search therefore finds more neighbours than needed in
Euclidean distance and keeps those nearest by D.

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
    """Search for the nearest neighbours by D; points are given as rows (x, v).

    Parameters
    ----------
    n_neighbors : int, default=12
        Neighbours of a point, itself not counted. Duplicates and ties come on top.
    epsilon : float, default=0.1
        Above 0.
    candidates : int, default=8
        Euclidean neighbours found for each one that is kept.
    random_state : int, RandomState or None, default=None
        Seeds the Euclidean search.

    Notes
    -----
    Memory: ``candidates * n_neighbors`` edges per point during the search.
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
        """Return the (n, n) distances D from each point to its neighbours, without itself."""
        self._points, self._field = self._split(X)
        self._searcher = self._wide_search()
        graph = self._searcher.fit_transform(self._points)
        return self._nearest(graph, self._points, self._field)

    def transform(self, X: ArrayLike) -> sp.csr_array:
        """Return the (m, n) distances D from new rows to their neighbours among those indexed."""
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
        """Keep the edges of each row up to its k-th smallest D above 0.

        Zeros do not count, so that duplicates do not become an island.
        """
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
    """Return weighted means of vectors, each on the side of the first vector of its row.

    Parameters
    ----------
    weights : ndarray of shape (m, k)
        At least 0; rows sum to 1.
    vectors : ndarray of shape (m, k, d)
        Directions, whose signs do not matter.

    Returns
    -------
    ndarray of shape (m, d)
        Means, on the side of the first vector.
    """
    sides = np.where(np.einsum("mkd,md->mk", vectors, vectors[:, 0]) < 0, -1, 1)
    return np.einsum("mk,mkd->md", weights * sides, vectors)
