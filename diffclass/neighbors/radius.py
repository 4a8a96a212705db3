"""Neighbour search within a radius."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin

from diffclass._validation import RandomState, check_points, check_positive
from diffclass.neighbors.graph import default_search, kept_edges
from diffclass.neighbors.search import check_spread


class RadiusSearch(TransformerMixin, BaseEstimator):
    """All points within ``radius`` (the epsilon-ball graph), or at most a given number of them.

    Parameters
    ----------
    radius : float
        Largest distance, in the units of the points.
    max_degree : int, optional
        Largest number of points kept per ball, the nearest ones. Without it, memory grows with the
        number of pairs within ``radius``.
    random_state : int, RandomState or None, default=None
        Seeds the search for more than 8,192 points if ``max_degree`` is given.
    """

    def __init__(
        self, radius: float, *, max_degree: int | None = None, random_state: RandomState = None
    ):
        self.radius = radius
        self.max_degree = max_degree
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> RadiusSearch:
        """Index the points ``X`` of shape (n, d)."""
        from sklearn.neighbors import NearestNeighbors

        check_positive(self.radius, "radius")
        X = check_points(X)
        check_spread(X)
        if self.max_degree is None:
            self._searcher: Any = NearestNeighbors(radius=self.radius).fit(X)
        else:
            check_positive(self.max_degree, "max_degree", integer=True)
            search = default_search(X, self.max_degree, random_state=self.random_state)
            self._searcher = search.fit(X)
        return self

    def fit_transform(self, X: ArrayLike, y: ArrayLike | None = None) -> sp.csr_array:
        """Return the (n, n) distances from each point to those in its ball."""
        self.fit(X)
        if self.max_degree is None:
            return sp.csr_array(self._searcher.radius_neighbors_graph(mode="distance"))
        return self._within(self._searcher.fit_transform(X))

    def transform(self, X: ArrayLike) -> sp.csr_array:
        """Return the (m, n) distances from new points to the indexed ones in their balls."""
        X = check_points(X)
        if self.max_degree is None:
            return sp.csr_array(self._searcher.radius_neighbors_graph(X, mode="distance"))
        return self._within(self._searcher.transform(X))

    def _within(self, graph: sp.csr_array) -> sp.csr_array:
        return kept_edges(graph, graph.data <= self.radius)
