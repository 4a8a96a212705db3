"""Distance graphs: who is near whom.

A *search* finds neighbours and follows scikit-learn's ``KNeighborsTransformer``: ``fit_transform``
gives the CSR matrix of distances between the points, ``transform`` that from new points to them.
`neighbors_graph` makes the search's answer symmetric: CSR of squared distances, in which explicit
zeros (the diagonal, duplicates) are edges.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state

from diffclass import _compiled
from diffclass._validation import check_choice, check_graph, check_points, check_positive
from diffclass.exceptions import DataError
from diffclass.progress import stage

# Below this size, or in so few dimensions that a tree is at its best, exact search is as fast.
_EXACT_POINTS = 8192
_EXACT_FEATURES = 3
_LEAST_RECALL, _AIMED_RECALL = 0.99, 0.993


def neighbors_graph(
    X: Any,
    n_neighbors: int = 12,
    *,
    search: Any = None,
    symmetrize: str = "union",
    random_state: Any = None,
) -> sp.csr_array:
    """Join every point with its nearest neighbours.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points; float32 and float64 are kept as they are. With ``search="precomputed"`` a sparse
        (n, n) matrix of distances, whose stored entries are the edges.
    n_neighbors : int, default=12
        Neighbours of a point, itself not counted; at most n - 1 are used.
    search : transformer or "precomputed", optional
        What finds the neighbours, fitted here: `ExactSearch`, `InvertedFileSearch`,
        `RadiusSearch`, or anything like scikit-learn's ``KNeighborsTransformer`` with
        ``mode="distance"`` (then ``n_neighbors`` is its own). By default exact for up to 8,192
        points or 3 features, otherwise an inverted file.
    symmetrize : {"union", "mutual"}, default="union"
        Whether x and y are joined if either, or only if each, is a neighbour of the other.
    random_state : int, RandomState or None, default=None
        Seeds the inverted file's k-means.

    Returns
    -------
    csr_array of shape (n, n)
        Squared distances, symmetric, indices sorted, the diagonal stored as zeros. The same for
        a given seed, whatever the number of threads.

    Raises
    ------
    ParameterError
        For an ``n_neighbors`` below 1 or an unknown ``symmetrize``.
    DataError
        For points that are not finite or so far apart, or so close, that squared distances
        overflow or vanish, or a search whose graph is not n x n.

    Notes
    -----
    Exact search costs n^2 d; the inverted file about n^1.5 d. Memory is 8 to 12 bytes an edge,
    twice while merging.

    Examples
    --------
    >>> from diffclass import neighbors_graph
    >>> neighbors_graph([[0.0], [1.0], [3.0]], n_neighbors=1).toarray()
    array([[0., 1., 0.],
           [1., 0., 4.],
           [0., 4., 0.]])
    """
    check_choice(symmetrize, "symmetrize", ("union", "mutual"))
    with stage("neighbors"):
        directed = _directed_graph(X, n_neighbors, search, random_state)
        directed.data = directed.data * directed.data
        return _symmetrized(directed, mutual=symmetrize == "mutual")


def _directed_graph(X: Any, n_neighbors: int, search: Any, random_state: Any) -> sp.csr_array:
    if isinstance(search, str):
        check_choice(search, "search", ("precomputed",))
        return check_graph(X, name="the precomputed distance graph")
    X = check_points(X)
    if search is None:
        search = default_search(X, n_neighbors, random_state=random_state)
    return _searched(search, X)


def default_search(X: np.ndarray, n_neighbors: int, *, random_state: Any = None) -> Search:
    """Return the search that suits the size of ``X``, not yet fitted."""
    if len(X) <= _EXACT_POINTS or X.shape[1] <= _EXACT_FEATURES:
        return ExactSearch(n_neighbors)
    return InvertedFileSearch(n_neighbors, random_state=random_state)


def _searched(search: Any, X: np.ndarray) -> sp.csr_array:
    graph = check_graph(search.fit_transform(X), name=f"the graph of {type(search).__name__}")
    if graph.shape[0] != len(X):
        raise DataError(
            f"{type(search).__name__} gave a graph of {graph.shape} for {len(X)} points"
        )
    return graph.astype(X.dtype, copy=False)


def _symmetrized(directed: sp.csr_array, *, mutual: bool) -> sp.csr_array:
    graphs = _compiled.graphs
    n = directed.shape[0]
    indptr, indices, data = _int32(directed)
    t_indptr = np.zeros(n + 1, dtype=indptr.dtype)
    t_indices, t_data = np.empty_like(indices), np.empty_like(data)
    graphs.transpose(indptr, indices, data, t_indptr, t_indices, t_data)
    lengths = np.empty(n, dtype=np.int64)
    graphs.merged_row_lengths(indptr, indices, t_indptr, t_indices, mutual, lengths)
    out_indptr = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(lengths, out=out_indptr[1:])
    out_indptr = out_indptr.astype(_index_dtype(out_indptr[-1]))
    out_indices = np.empty(out_indptr[-1], dtype=out_indptr.dtype)
    out_data = np.empty(out_indptr[-1], dtype=data.dtype)
    graphs.merged_rows(
        indptr, indices, data, t_indptr, t_indices, t_data, mutual,
        out_indptr, out_indices, out_data,
    )  # fmt: skip
    return sp.csr_array((out_data, out_indices, out_indptr), shape=(n, n))


def _index_dtype(n_edges: int) -> type:
    return np.int32 if n_edges < np.iinfo(np.int32).max else np.int64


def _int32(graph: sp.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    dtype = _index_dtype(graph.nnz)
    return graph.indptr.astype(dtype), graph.indices.astype(dtype), graph.data


class Search(TransformerMixin, BaseEstimator):
    """What the searches here share: exact distances, and a way out for crowds of duplicates.

    More than ``n_neighbors`` identical points would be each other's only neighbours and form an
    island (and fill one list of an inverted file). Of such a crowd only one representative is
    searched; the others are joined to it and to its neighbours.
    """

    n_neighbors: int

    def fit(self, X: Any, y: Any = None) -> Search:
        """Index the points ``X`` of shape (n, d)."""
        check_positive(self.n_neighbors, "n_neighbors", integer=True)
        self._X = check_points(X)
        _check_spread(self._X)
        self._representative = _crowd_representatives(self._X, self.n_neighbors)
        self._searched = np.unique(self._representative)
        self._index(self._X[self._searched])
        return self

    def fit_transform(self, X: Any, y: Any = None) -> sp.csr_array:
        """Return the (n, n) distances from each point to its neighbours, itself left out."""
        self.fit(X)
        n_searched = len(self._searched)
        k = min(self.n_neighbors, n_searched - 1)
        found = self._nearest(self._X[self._searched], k + 1)
        found = self._searched[_without_self(found)]
        crowded = self._representative != np.arange(len(self._X))
        place = np.searchsorted(self._searched, self._representative)
        columns = found[place]
        columns[crowded, -1:] = self._representative[crowded, None]
        if k == 0:
            columns = self._representative[:, None]
        return _joined(self._distances(self._X, columns), self._representative)

    def transform(self, X: Any) -> sp.csr_array:
        """Return the (m, n) distances from new points to their neighbours among the indexed."""
        X = check_points(X).astype(self._X.dtype, copy=False)
        k = min(self.n_neighbors, len(self._searched))
        return self._distances(X, self._searched[self._nearest(X, k)])

    def _index(self, X: np.ndarray) -> None:
        raise NotImplementedError

    def _nearest(self, X: np.ndarray, k: int) -> np.ndarray:
        raise NotImplementedError

    def _distances(self, X: np.ndarray, columns: np.ndarray) -> sp.csr_array:
        """Distances recomputed from the differences: searches round them, to below 0 even."""
        n, k = columns.shape
        columns = np.sort(columns, axis=1)
        indptr = np.arange(0, n * k + 1, k, dtype=_index_dtype(n * k))
        indices = columns.ravel().astype(indptr.dtype)
        data = np.empty(n * k, dtype=X.dtype)
        _compiled.edges.squared_distances(indptr, indices, X, self._X, data)
        # farther than the type can tell is as far as it can tell
        np.minimum(data, np.finfo(data.dtype).max / 4, out=data)
        return sp.csr_array((np.sqrt(data), indices, indptr), shape=(n, len(self._X)))


class ExactSearch(Search):
    """The true nearest neighbours, by scikit-learn's trees or blockwise brute force.

    Parameters
    ----------
    n_neighbors : int, default=12
        Neighbours of a point, itself not counted.

    Attributes
    ----------
    recall_ : float
        Share of the true neighbours that were found: 1.
    """

    def __init__(self, n_neighbors: int = 12):
        self.n_neighbors = n_neighbors

    def _index(self, X: np.ndarray) -> None:
        from sklearn.neighbors import NearestNeighbors

        self._center = _exact_center(X)
        self._searcher = NearestNeighbors().fit(X - self._center)
        self.recall_ = 1.0

    def _nearest(self, X: np.ndarray, k: int) -> np.ndarray:
        return self._searcher.kneighbors(X - self._center, n_neighbors=k, return_distance=False)


class InvertedFileSearch(Search):
    """Nearest neighbours by faiss's inverted file: k-means cells, of which the nearest are probed.

    Parameters
    ----------
    n_neighbors : int, default=12
        Neighbours of a point, itself not counted.
    n_lists : int, optional
        Cells; 3 sqrt(n) by default.
    n_probes : int, optional
        Cells probed for a point. By default about the fewest with which 256 sampled points find
        99.3 % of their true neighbours.
    random_state : int, RandomState or None, default=None
        Seeds k-means and the samples.

    Attributes
    ----------
    recall_ : float
        Share of the true neighbours that were found, on 256 points that played no part in the
        choice of ``n_probes_``. With ``n_probes=None`` at least 0.99, by probing more if need be.
    n_lists_, n_probes_ : int
        The values in use.

    References
    ----------
    M. Douze et al., The Faiss library, 2024.
    """

    def __init__(
        self,
        n_neighbors: int = 12,
        *,
        n_lists: int | None = None,
        n_probes: int | None = None,
        random_state: Any = None,
    ):
        self.n_neighbors = n_neighbors
        self.n_lists = n_lists
        self.n_probes = n_probes
        self.random_state = random_state

    def _index(self, X: np.ndarray) -> None:
        import faiss

        random = check_random_state(self.random_state)
        n, d = X.shape
        self.n_lists_ = min(self._given("n_lists") or max(1, int(3 * np.sqrt(n))), n)
        # single precision is spent on differences, not on offsets or units
        self._center = X.mean(axis=0)
        self._unit = max(X.max() - self._center.min(), self._center.max() - X.min()) or 1
        centered = self._single(X)
        quantizer = faiss.IndexFlatL2(d)
        self._faiss = faiss.IndexIVFFlat(quantizer, d, self.n_lists_)
        self._faiss.cp.seed = int(random.randint(2**31 - 1))
        self._faiss.cp.niter = 8
        self._faiss.cp.max_points_per_centroid = 50
        self._faiss.cp.min_points_per_centroid = 1
        self._faiss.train(centered)
        self._faiss.add(centered)
        self._choose_probes(centered, random)

    def _choose_probes(self, points: np.ndarray, random: np.random.RandomState) -> None:
        k = min(self.n_neighbors, len(points) - 1)
        chosen = random.permutation(len(points))[:512]
        choosing, reporting = chosen[: len(chosen) // 2], chosen[len(chosen) // 2 :]
        reporting_reach = _true_reach(points, reporting, k)
        if self._given("n_probes"):
            self.n_probes_ = min(self.n_probes, self.n_lists_)
            self.recall_ = self._recall(points, reporting, reporting_reach, k)
            return
        self.n_probes_ = min(4, self.n_lists_)
        self._probe_until(_AIMED_RECALL, points, choosing, _true_reach(points, choosing, k), k)
        self.recall_ = self._probe_until(_LEAST_RECALL, points, reporting, reporting_reach, k)

    def _given(self, name: str) -> Any:
        value = getattr(self, name)
        return value if value is None else check_positive(value, name, integer=True)

    def _probe_until(
        self, recall: float, points: np.ndarray, sample: np.ndarray, reach: np.ndarray, k: int
    ) -> float:
        """Probe ever more cells until the sample's recall is reached; all of them are exact."""
        reached = self._recall(points, sample, reach, k)
        while reached < recall and self.n_probes_ < self.n_lists_:
            self.n_probes_ = min(self.n_probes_ + max(1, self.n_probes_ // 3), self.n_lists_)
            reached = self._recall(points, sample, reach, k)
        return reached

    def _recall(self, points: np.ndarray, sample: np.ndarray, reach: np.ndarray, k: int) -> float:
        """Share of found neighbours that are no further than the true k-th one."""
        if k == 0 or len(sample) == 0:
            return 1.0
        queries = points[sample]
        _, found = self._probed(queries, k + 1)
        near = _row_distances(queries, points[found]) <= reach * (1 + 1e-5)
        near &= found >= 0
        return float((np.count_nonzero(near) - len(sample)) / (k * len(sample)))

    def _nearest(self, X: np.ndarray, k: int) -> np.ndarray:
        queries = self._single(X)
        _, found = self._probed(queries, k)
        short = np.flatnonzero((found < 0).any(axis=1))
        if len(short):  # the probed cells held fewer than k points: look everywhere
            _, found[short] = self._faiss.search(
                queries[short], k, params=self._probing(self.n_lists_)
            )
        return found

    def _probed(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        return self._faiss.search(queries, k, params=self._probing(self.n_probes_))

    @staticmethod
    def _probing(n_probes: int) -> Any:
        import faiss

        parameters = faiss.SearchParametersIVF()
        parameters.nprobe = n_probes
        return parameters

    def _single(self, X: np.ndarray) -> np.ndarray:
        scaled = (X - self._center) / self._unit
        return np.ascontiguousarray(np.clip(scaled, -1e15, 1e15), dtype=np.float32)

    def __getstate__(self) -> dict[str, Any]:
        import faiss

        state = super().__getstate__()
        if "_faiss" in state:
            state = state | {"_faiss": faiss.serialize_index(state["_faiss"])}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        import faiss

        if "_faiss" in state:
            state = state | {"_faiss": faiss.deserialize_index(state["_faiss"])}
        super().__setstate__(state)


class RadiusSearch(TransformerMixin, BaseEstimator):
    """All points nearer than ``radius`` (the epsilon-ball graph), if asked at most so many.

    Parameters
    ----------
    radius : float
        Largest distance, in the units of the points.
    max_degree : int, optional
        Keep only this many nearest points of a ball. Without it memory grows with the number of
        pairs nearer than ``radius``.
    random_state : int, RandomState or None, default=None
        Seeds the inverted file used for more than 8,192 points when ``max_degree`` is given.
    """

    def __init__(self, radius: float, *, max_degree: int | None = None, random_state: Any = None):
        self.radius = radius
        self.max_degree = max_degree
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> RadiusSearch:
        """Index the points ``X`` of shape (n, d)."""
        from sklearn.neighbors import NearestNeighbors

        check_positive(self.radius, "radius")
        X = check_points(X)
        _check_spread(X)
        if self.max_degree is None:
            self._searcher: Any = NearestNeighbors(radius=self.radius).fit(X)
        else:
            check_positive(self.max_degree, "max_degree", integer=True)
            search = default_search(X, self.max_degree, random_state=self.random_state)
            self._searcher = search.fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> sp.csr_array:
        """Return the (n, n) distances within the balls."""
        self.fit(X)
        if self.max_degree is None:
            return sp.csr_array(self._searcher.radius_neighbors_graph(mode="distance"))
        return self._within(self._searcher.fit_transform(X))

    def transform(self, X: Any) -> sp.csr_array:
        """Return the (m, n) distances from new points to those in their balls."""
        X = check_points(X)
        if self.max_degree is None:
            return sp.csr_array(self._searcher.radius_neighbors_graph(X, mode="distance"))
        return self._within(self._searcher.transform(X))

    def _within(self, graph: sp.csr_array) -> sp.csr_array:
        return kept_edges(graph, graph.data <= self.radius)


def kept_edges(graph: sp.csr_array, keep: np.ndarray) -> sp.csr_array:
    """Return the graph of the edges marked in ``keep``; explicit zeros stay edges."""
    before = np.concatenate([[0], np.cumsum(keep)]).astype(graph.indptr.dtype)
    return sp.csr_array(
        (graph.data[keep], graph.indices[keep], before[graph.indptr]), shape=graph.shape
    )


def _check_spread(X: np.ndarray) -> None:
    """Refuse points whose squared distances would overflow or all be lost below the least float."""
    limits = np.finfo(X.dtype)
    spread = float((X.max(axis=0) / 2 - X.min(axis=0) / 2).max())
    least, largest = np.sqrt(limits.tiny), np.sqrt(limits.max / X.shape[1]) / 4
    if spread != 0 and not least < spread < largest:
        raise DataError(
            f"the points spread over {spread:.3g}; squared distances are then no {X.dtype} numbers:"
            " rescale the points"
        )


def _exact_center(X: np.ndarray) -> np.ndarray:
    """Return the middle of the points' box, rounded so that X minus it is exact.

    Brute force computes |x|^2 - 2 <x, y> + |y|^2 and would drown distances in an offset.
    """
    lowest, highest = X.min(axis=0), X.max(axis=0)
    size = highest - lowest
    unit = np.ldexp(np.ones_like(size), np.frexp(size)[1])
    return np.where(size > 0, np.rint((lowest / 2 + highest / 2) / unit) * unit, lowest)


def _joined(graph: sp.csr_array, representative: np.ndarray) -> sp.csr_array:
    """Add the edges from representatives to their crowds: a mutual graph needs both directions."""
    crowded = np.flatnonzero(representative != np.arange(len(representative)))
    if not len(crowded):
        return graph
    edges = graph.tocoo()
    rows = np.concatenate([edges.row, representative[crowded]])
    columns = np.concatenate([edges.col, crowded])
    data = np.concatenate([edges.data, np.zeros(len(crowded), dtype=graph.dtype)])
    return sp.csr_array((data, (rows, columns)), shape=graph.shape)


def _crowd_representatives(X: np.ndarray, n_neighbors: int) -> np.ndarray:
    """For each point the first point equal to it if more than n_neighbors are, else itself."""
    n = len(X)
    representative = np.arange(n)
    order, starts = _groups_of_equal_rows(X)
    sizes = np.diff(starts)
    for group in np.flatnonzero(sizes > n_neighbors):
        members = order[starts[group] : starts[group + 1]]
        representative[members] = members.min()
    return representative


def _groups_of_equal_rows(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sort the rows by a hash of their bits; a group ends where the rows themselves differ."""
    words = (X + 0.0).view(np.uint32).reshape(len(X), -1)  # + 0.0: -0.0 and 0.0 are equal
    factors = np.random.RandomState(0).randint(1, 2**32, size=words.shape[1], dtype=np.uint64) | 1
    hashes = np.zeros(len(X), dtype=np.uint64)
    for word, factor in zip(words.T, factors, strict=True):
        hashes = (hashes ^ word) * factor
        hashes ^= hashes >> np.uint64(29)
    order = np.argsort(hashes, kind="stable")
    differs = np.ones(len(X) + 1, dtype=bool)
    same_hash = hashes[order[1:]] == hashes[order[:-1]]
    candidates = np.flatnonzero(same_hash) + 1
    differs[candidates] = (X[order[candidates]] != X[order[candidates - 1]]).any(axis=1)
    return order, np.flatnonzero(differs)


def _without_self(found: np.ndarray) -> np.ndarray:
    """Drop from each row its own number, or its last entry where duplicates crowded that out."""
    n, k = found.shape
    drop = found == np.arange(n)[:, None]
    drop[~drop.any(axis=1), -1] = True
    return found[~drop].reshape(n, k - 1)


def _true_reach(points: np.ndarray, sample: np.ndarray, k: int) -> np.ndarray:
    """Squared distance from sampled points to their true k-th neighbours, of shape (m, 1)."""
    import faiss

    queries = points[sample]
    _, true = faiss.knn(queries, points, k + 1)
    return _row_distances(queries, points[true]).max(axis=1, keepdims=True)


def _row_distances(points: np.ndarray, others: np.ndarray) -> np.ndarray:
    difference = others - points[:, None, :]
    return np.einsum("ijk,ijk->ij", difference, difference)
