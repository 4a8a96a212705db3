"""Search within a radius, for all points or for the nearest of them.

Where only the nearest are kept, pairs within the radius may be joined from neither side. A warning
says how many: counted for up to 2,048 points with full lists, else estimated from a sample.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin

from diffclass._validation import RandomState, check_points, check_positive, check_seed
from diffclass.exceptions import warn_user
from diffclass.neighbors.graph import default_search, kept_edges, symmetrized
from diffclass.neighbors.number_range import check_spread

_COUNTED, _LEAST_ROWS = 2**22, 64  # pairs looked at, and points of a sample, to count what is cut
_AT_ONCE = 2**20  # pairs held in memory


class RadiusSearch(TransformerMixin, BaseEstimator):
    """All points within ``radius`` (the epsilon-ball graph), or at most a given number of them.

    Parameters
    ----------
    radius : float
        Largest distance, in the units of the points.
    max_degree : int, optional
        Number of points kept per ball, the nearest ones, and those as far as the last of them, up
        to twice as many; a warning says how many pairs that leaves out. Without it, memory grows
        with the number of pairs within ``radius``.
    random_state : int, RandomState or None, default=None
        Seeds the search for more than 4,096 points if ``max_degree`` is given.

    See Also
    --------
    ExactSearch : As many neighbours for each point, however far.
    NNDescentSearch : The same, for many points.

    Examples
    --------
    >>> from diffclass import neighbors_graph
    >>> from diffclass.neighbors import RadiusSearch
    >>> X = [[0.0], [1.0], [1.5], [4.0]]
    >>> neighbors_graph(X, search=RadiusSearch(1.2)).toarray()
    array([[0.  , 1.  , 0.  , 0.  ],
           [1.  , 0.  , 0.25, 0.  ],
           [0.  , 0.25, 0.  , 0.  ],
           [0.  , 0.  , 0.  , 0.  ]])
    """

    def __init__(
        self, radius: float, *, max_degree: int | None = None, random_state: RandomState = None
    ):
        self.radius = radius
        self.max_degree = max_degree
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> RadiusSearch:
        """Index the points ``X`` of shape (n, d)."""
        self._searcher: Any = self._unfitted(X).fit(X)
        return self

    def fit_transform(self, X: ArrayLike, y: ArrayLike | None = None) -> sp.csr_array:
        """Return the (n, n) distances from each point to those in its ball."""
        if self.max_degree is None:
            return sp.csr_array(self.fit(X)._searcher.radius_neighbors_graph(mode="distance"))
        self._searcher = self._unfitted(X)
        found = self._searcher.fit_transform(X)
        graph = kept_edges(found, found.data <= self.radius)
        # only a row that took as many as it may can lack points of its ball
        may_lack = _full_rows(graph, found, graph.shape[0] - 1) | self._searcher.are_joined
        rows = np.flatnonzero(may_lack)  # a pair is lacking where it lacks in both rows
        if len(rows):
            joined = symmetrized(graph)
            n_left, is_counted = self._left_out(self._searcher.points, rows, rows, joined)
            self._tell(n_left // 2, (joined.nnz - len(may_lack)) // 2, is_counted)
        return graph

    def transform(self, X: ArrayLike) -> sp.csr_array:
        """Return the (m, n) distances from new points to the indexed ones in their balls."""
        X = check_points(X)
        if self.max_degree is None:
            return sp.csr_array(self._searcher.radius_neighbors_graph(X, mode="distance"))
        found = self._searcher.transform(X)
        graph = kept_edges(found, found.data <= self.radius)
        n, joined = graph.shape[1], self._searcher.are_joined.any()
        rows = np.flatnonzero(_full_rows(graph, found, n) | joined)
        if len(rows):
            points = self._searcher.of_its_type(X)
            n_left, is_counted = self._left_out(points, rows, np.arange(n), graph)
            self._tell(n_left, graph.nnz, is_counted)
        return graph

    def _unfitted(self, X: ArrayLike) -> Any:
        from sklearn.neighbors import NearestNeighbors

        check_positive(self.radius, "radius")
        check_seed(self.random_state)
        X = check_points(X)
        check_spread(X)
        if self.max_degree is None:
            return NearestNeighbors(radius=self.radius)
        check_positive(self.max_degree, "max_degree", integer=True)
        return default_search(X, self.max_degree, random_state=self.random_state)

    def _left_out(
        self, X: np.ndarray, rows: np.ndarray, among: np.ndarray, joined: sp.csr_array
    ) -> tuple[int, bool]:
        """Count the points within the radius of X[rows] that are not joined to them.

        Only the indexed points ``among`` are looked at, from a sample of the rows if these are
        many; also returned is whether all were.
        """
        # what is joined is taken off; what is in the ball, itself among it, is added
        n_rows = max(_COUNTED // len(among), _LEAST_ROWS)
        some = rows[:: -(-len(rows) // n_rows)]
        is_among = np.isin(np.arange(joined.shape[1]), among)
        n_left = -int(np.count_nonzero(is_among[joined[some].indices]))
        for part in np.array_split(some, len(some) * len(among) // _AT_ONCE + 1):
            columns = np.broadcast_to(among, (len(part), len(among)))
            near = self._searcher.distances(X[part], columns).data <= self.radius
            n_left += int(np.count_nonzero(near))
        return round(n_left * len(rows) / len(some)), len(some) == len(rows)

    def _tell(self, n_left: int, n_joined: int, is_counted: bool) -> None:
        if n_left:
            n_left, n_all = (
                n if is_counted else int(float(f"{n:.3g}")) for n in (n_left, n_left + n_joined)
            )
            warn_user(
                f"max_degree = {self.max_degree} leaves out {'' if is_counted else 'about '}"
                f"{n_left:,} of {n_all:,} pairs within the radius or threshold; a "
                "larger max_degree joins more of them, a smaller radius or a larger threshold "
                "looks at fewer"
            )


def _full_rows(graph: sp.csr_array, found: sp.csr_array, n_others: int) -> np.ndarray:
    """Return the rows in which all that was found stays, and which have not all others."""
    degrees = np.diff(found.indptr)
    return (np.diff(graph.indptr) == degrees) & (degrees < n_others)
