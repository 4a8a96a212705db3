"""The default search, and symmetric graphs from the results of searches."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from diffclass import _compiled
from diffclass._validation import (
    Graph,
    RandomState,
    check_choice,
    check_graph,
    check_points,
    check_seed,
)
from diffclass.exceptions import DataError
from diffclass.neighbors.nn_descent import NNDescentSearch
from diffclass.neighbors.search import CudaSearch, ExactSearch, NeighborSearch, Search
from diffclass.system.progress import stage
from diffclass.system.sizes import EXACT_SEARCH_POINTS

_EXACT_FEATURES = 3  # with so few features trees work best


def default_search(X: np.ndarray, n_neighbors: int, *, random_state: RandomState = None) -> Search:
    """Return an unfitted search that suits the size of ``X``; see `diffclass.system.sizes`.

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
    mutual: bool = False,
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
    mutual : bool, default=False
        Whether to join only points that are neighbours of each other. Such a graph falls apart
        more easily, and needs about twice as many neighbours.
    random_state : int, RandomState or None, default=None
        Seeds the default search, where it is not exact.

    Returns
    -------
    csr_array of shape (n, n)
        Squared distances: symmetric, indices sorted, zeros stored on the diagonal.

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
    >>> neighbors_graph([[0.0], [1.0], [3.0]], n_neighbors=1, mutual=True).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 0.]])
    """
    with stage("neighbors"):
        if isinstance(search, str):
            check_choice(search, "search", ("precomputed",))
            directed = check_graph(X, name="the precomputed distance graph")
        else:
            X = check_points(X)
            if search is None:
                search = default_search(X, n_neighbors, random_state=random_state)
            directed = search.fit_transform(X)
            if not isinstance(search, Search):  # whose graphs are sorted, finite and of X's type
                directed = _checked_result(directed, X, type(search).__name__)
        directed.data = directed.data * directed.data
        return symmetrized(_mutual(directed) if mutual else directed)


def _checked_result(graph: Graph, X: np.ndarray, kind: str) -> sp.csr_array:
    """Return the graph that a search of some kind has made of points, in their type."""
    directed = check_graph(graph, name=f"the graph of {kind}")
    if directed.shape[0] != len(X):
        raise DataError(f"{kind} gave a graph of {directed.shape} for {len(X)} points")
    return directed.astype(X.dtype, copy=False)


def symmetrized(directed: sp.csr_array) -> sp.csr_array:
    """Return the union of a graph of squared distances and its transpose, with the diagonal.

    Of two distances the smaller one is taken; indices are sorted, as they have to be in the graph.
    """
    # the rows of both are merged like sorted lists: count first, then fill, each row on its own
    graphs = _compiled.graphs
    n = directed.shape[0]
    index = _index_dtype(directed.nnz)
    (indptr, indices, data), (t_indptr, t_indices, t_data) = (
        (one.indptr.astype(index), one.indices.astype(index), one.data)
        for one in (directed, directed.T.tocsr())
    )
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


def _mutual(directed: sp.csr_array) -> sp.csr_array:
    """Return the edges that a graph has in both directions."""
    n, edges = directed.shape[0], directed.tocoo()
    rows, columns = edges.row.astype(np.int64), edges.col.astype(np.int64)
    return kept_edges(directed, np.isin(rows * n + columns, columns * n + rows))


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
    # edges kept before each place; at the starts of rows they are the new starts
    before = np.concatenate([[0], np.cumsum(keep)]).astype(graph.indptr.dtype)
    return sp.csr_array(
        (graph.data[keep], graph.indices[keep], before[graph.indptr]), shape=graph.shape
    )
