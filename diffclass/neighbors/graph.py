"""The default search, search within a radius, and symmetric graphs from the results of searches."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin

from diffclass import _compiled
from diffclass._number_range import check_spread
from diffclass._validation import (
    RandomState,
    check_choice,
    check_graph,
    check_points,
    check_positive,
    check_seed,
)
from diffclass.exceptions import DataError, warn_user
from diffclass.neighbors.nn_descent import NNDescentSearch
from diffclass.neighbors.search import CudaSearch, ExactSearch, NeighborSearch, Search
from diffclass.progress import stage
from diffclass.sizes import EXACT_SEARCH_POINTS

_EXACT_FEATURES = 3  # with so few features trees work best


def default_search(X: np.ndarray, n_neighbors: int, *, random_state: RandomState = None) -> Search:
    """Return an unfitted search that suits the size of ``X``; see `diffclass.sizes`.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.neighbors import default_search
    >>> [default_search(np.zeros((n, 10)), 12) for n in (1000, 10_000)]
    [ExactSearch(), NNDescentSearch()]
    """
    check_seed(random_state)
    if len(X) <= EXACT_SEARCH_POINTS or X.shape[1] <= _EXACT_FEATURES:
        return ExactSearch(n_neighbors)
    return NNDescentSearch(n_neighbors, random_state=random_state)


def on_device(search: NeighborSearch) -> NeighborSearch:
    """Return a search of the nearest points as one on the device; keep any other search.

    Examples
    --------
    >>> from diffclass.neighbors import ExactSearch, RadiusSearch, on_device
    >>> on_device(ExactSearch(6)), on_device(RadiusSearch(0.5))
    (CudaSearch(n_neighbors=6), RadiusSearch(radius=0.5))
    """
    if isinstance(search, ExactSearch | NNDescentSearch):
        return CudaSearch(search.n_neighbors)
    return search


def neighbors_graph(
    X: ArrayLike,
    n_neighbors: int = 12,
    *,
    search: NeighborSearch | str | None = None,
    random_state: RandomState = None,
) -> sp.csr_array:
    """Join every point with its nearest neighbours, and with those whose neighbour it is.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points; float32 and float64 are kept as they are. With ``search="precomputed"``, a sparse
        (n, n) matrix of distances, whose stored entries are the edges.
    n_neighbors : int, default=12
        Neighbours of a point, itself not counted; at most n - 1 are used.
    search : NeighborSearch or "precomputed", optional
        Search for the neighbours, fitted here: `ExactSearch`, `NNDescentSearch`, `RadiusSearch`, or
        anything like scikit-learn's ``KNeighborsTransformer`` with ``mode="distance"``. Such a
        search has its own ``n_neighbors``. By default NN-descent, or exact search up to 4,096
        points or 3 features.
    random_state : int, RandomState or None, default=None
        Seeds the default search, where it is not exact.

    Returns
    -------
    csr_array of shape (n, n)
        Squared distances: symmetric, indices sorted, zeros stored on the diagonal. For a given seed
        it does not depend on the number of threads.

    Raises
    ------
    ParameterError
        If ``n_neighbors`` is below 1.
    DataError
        If points are not finite, if they are so far apart or so close that squared distances
        overflow or vanish, or if the graph of the search is not n x n.

    See Also
    --------
    markov_operator : Goes on to the affinities and the walk.

    Notes
    -----
    Cost: n^2 d for exact search, somewhat more than n log n d for NN-descent. Memory: 8 to 12 bytes
    per edge, and twice that while merging.

    Examples
    --------
    >>> from diffclass import neighbors_graph
    >>> neighbors_graph([[0.0], [1.0], [3.0]], n_neighbors=1).toarray()
    array([[0., 1., 0.],
           [1., 0., 4.],
           [0., 4., 0.]])
    """
    with stage("neighbors"):
        if isinstance(search, str):
            check_choice(search, "search", ("precomputed",))
            directed = check_graph(X, name="the precomputed distance graph")
        else:
            X = check_points(X)
            if search is None:
                search = default_search(X, n_neighbors, random_state=random_state)
            kind = type(search).__name__
            directed = check_graph(search.fit_transform(X), name=f"the graph of {kind}")
            if directed.shape[0] != len(X):
                raise DataError(f"{kind} gave a graph of {directed.shape} for {len(X)} points")
            directed = directed.astype(X.dtype, copy=False)
        directed.data = directed.data * directed.data
        return symmetrized(directed)


def symmetrized(directed: sp.csr_array) -> sp.csr_array:
    """Return the union of a graph of squared distances and its transpose, with the diagonal.

    Of two distances the smaller one is taken; indices are sorted, as they have to be in the graph.
    """
    graphs = _compiled.graphs
    n = directed.shape[0]
    indptr, indices, data = _int32(directed)
    t_indptr, t_indices, t_data = _int32(directed.T.tocsr())
    lengths = np.empty(n, dtype=np.int64)
    graphs.merged_row_lengths(indptr, indices, t_indptr, t_indices, lengths)
    out_indptr = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(lengths, out=out_indptr[1:])
    out_indptr = out_indptr.astype(_index_dtype(out_indptr[-1]))
    out_indices = np.empty(out_indptr[-1], dtype=out_indptr.dtype)
    out_data = np.empty(out_indptr[-1], dtype=data.dtype)
    graphs.merged_rows(
        indptr, indices, data, t_indptr, t_indices, t_data, out_indptr, out_indices, out_data
    )
    return sp.csr_array((out_data, out_indices, out_indptr), shape=(n, n))


def _index_dtype(n_edges: int) -> type:
    return np.int32 if n_edges < np.iinfo(np.int32).max else np.int64


def _int32(graph: sp.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    dtype = _index_dtype(graph.nnz)
    return graph.indptr.astype(dtype), graph.indices.astype(dtype), graph.data


def kept_edges(graph: sp.csr_array, keep: np.ndarray) -> sp.csr_array:
    """Return the graph of the edges marked in ``keep``; explicit zeros stay edges.

    Examples
    --------
    >>> from diffclass import neighbors_graph
    >>> from diffclass.neighbors import kept_edges
    >>> graph = neighbors_graph([[0.0], [1.0], [3.0]], n_neighbors=1)
    >>> near = kept_edges(graph, graph.data < 2)
    >>> near.toarray(), near.nnz
    (array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 0.]]), 5)
    """
    before = np.concatenate([[0], np.cumsum(keep)]).astype(graph.indptr.dtype)
    return sp.csr_array(
        (graph.data[keep], graph.indices[keep], before[graph.indptr]), shape=graph.shape
    )


class RadiusSearch(TransformerMixin, BaseEstimator):
    """All points within ``radius`` (the epsilon-ball graph), or at most a given number of them.

    Parameters
    ----------
    radius : float
        Largest distance, in the units of the points.
    max_degree : int, optional
        Number of points kept per ball, the nearest ones, and those as far as the last of them, up
        to twice as many; a warning says how many balls that may cut. Without it, memory grows with
        the number of pairs within ``radius``.
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
        from sklearn.neighbors import NearestNeighbors

        check_positive(self.radius, "radius")
        check_seed(self.random_state)
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
        found = self._searcher.fit_transform(X)
        return self._within(found, found.shape[1] - 1)

    def transform(self, X: ArrayLike) -> sp.csr_array:
        """Return the (m, n) distances from new points to the indexed ones in their balls."""
        X = check_points(X)
        if self.max_degree is None:
            return sp.csr_array(self._searcher.radius_neighbors_graph(X, mode="distance"))
        found = self._searcher.transform(X)
        return self._within(found, found.shape[1])

    def _within(self, found: sp.csr_array, n_others: int) -> sp.csr_array:
        """Return the edges within the radius, and say where others may be that were not found."""
        graph = kept_edges(found, found.data <= self.radius)
        degrees = np.diff(found.indptr)
        is_cut = (np.diff(graph.indptr) == degrees) & (degrees < n_others)
        if is_cut.any():
            warn_user(
                f"max_degree = {self.max_degree}; {np.count_nonzero(is_cut)} of {len(degrees)} "
                "points have so many within the radius or threshold, where farther ones are left "
                "out; a larger max_degree joins more of them, a smaller radius or a larger "
                "threshold looks at fewer"
            )
        return graph
