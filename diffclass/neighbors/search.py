"""The interface of neighbour searches, their base, and exact search, also on a device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin

from diffclass import _compiled
from diffclass._cuda import device
from diffclass._validation import check_points, check_positive
from diffclass.exceptions import DataError
from diffclass.neighbors.nodes import Nodes
from diffclass.neighbors.number_range import check_spread, exact_center
from diffclass.system.progress import checkpoint

TIED = 1 + 1e-12  # ratio of distances that are equal but for rounding in double precision
_QUERIES, _POINTS = 524_288, 524_288  # of one launch, so that none takes long


@runtime_checkable
class NeighborSearch(Protocol):
    """A search that works like scikit-learn's ``KNeighborsTransformer`` with ``mode="distance"``.

    Its graphs are CSR matrices of distances. It is an estimator, so that it can be cloned. A fitted
    search that does not find all neighbours holds the share it finds in ``recall_``.
    """

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Any:
        """Index the points ``X`` of shape (n, p), and return the search."""

    def fit_transform(self, X: ArrayLike, y: ArrayLike | None = None) -> sp.csr_array:
        """Index the points; return the (n, n) distances from each to its neighbours."""

    def transform(self, X: ArrayLike) -> sp.csr_array:
        """Return the (m, n) distances from new points to their neighbours among the indexed."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the constructor."""


class Search(TransformerMixin, BaseEstimator):
    """Base of the searches: it computes exact distances, and treats duplicates and ties.

    More than ``n_neighbors`` duplicates would have only each other as neighbours. One
    representative of them is searched; the others are joined to it and to its neighbours.

    Points as far as the n_neighbors-th are neighbours too, whatever their order. Where there would
    be more than twice ``n_neighbors`` (or than a search has looked for), none of them is, unless no
    point is nearer.
    """

    n_neighbors: int

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Search:
        """Index the points ``X`` of shape (n, d)."""
        check_positive(self.n_neighbors, "n_neighbors", integer=True)
        self._X = check_points(X)
        check_spread(self._X)  # squares of the distances neither vanish nor overflow
        self._representative = _duplicate_representatives(self._X, self.n_neighbors)
        self._searched = np.flatnonzero(self._representative == np.arange(len(self._X)))
        self._index(self._X[self._searched])
        return self

    def fit_transform(self, X: ArrayLike, y: ArrayLike | None = None) -> sp.csr_array:
        """Return the (n, n) distances from each point to its neighbours, without itself."""
        self.fit(X)
        n_searched = len(self._searched)
        k = min(self.n_neighbors, n_searched - 1)
        if k and n_searched == len(self._X):  # no point stands for others
            graph, self.left_out_ = self._with_ties(self._X, k, n_searched - 1, self._others)
            return graph
        # duplicates have the neighbours of their representative, and itself for the last of them
        self.left_out_ = np.full(len(self._X), np.inf)
        found = self._searched[self._others(self._X[self._searched], None, k)]
        is_joined = self._representative != np.arange(len(self._X))
        place = np.searchsorted(self._searched, self._representative)
        columns = found[place]
        columns[is_joined, -1:] = self._representative[is_joined, None]
        if k == 0:
            columns = self._representative[:, None]
        return _joined(self.distances(self._X, columns), self._representative)

    def transform(self, X: ArrayLike) -> sp.csr_array:
        """Return the (m, n) distances from new points to their neighbours among the indexed."""
        X = self.of_its_type(check_points(X))
        if X.shape[1] != self._X.shape[1]:
            raise DataError(
                f"the new points have {X.shape[1]} features; "
                f"the search was fitted to {self._X.shape[1]}"
            )
        k = min(self.n_neighbors, len(self._searched))
        if len(self._searched) == len(self._X):
            return self._with_ties(
                X, k, len(self._X), lambda X, rows, k: self._nearest(_some(X, rows), k)
            )[0]
        return self.distances(X, self._searched[self._nearest(X, k)])

    def nearest(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the nearest indexed points of new ones (m, d), and their distances; both (m, k).

        The nearest come first, of equally near ones the first; ties with the last one are left out.
        """
        X = self.of_its_type(check_points(X))
        found = self._searched[self._nearest(X, min(self.n_neighbors, len(self._searched)))]
        lengths = self._lengths(X, found)
        order = np.lexsort((found, lengths))
        return np.take_along_axis(found, order, 1), np.take_along_axis(lengths, order, 1)

    def of_its_type(self, X: np.ndarray) -> np.ndarray:
        """Return points (m, d) in the type of the indexed ones."""
        return of_type(X, self._X.dtype)

    @property
    def points(self) -> np.ndarray:
        """The indexed points, of shape (n, d)."""
        return self._X

    @property
    def order(self) -> np.ndarray | None:
        """The indexed points, near ones together, (n,); None where no such order is known."""
        return None

    @property
    def are_joined(self) -> np.ndarray:
        """Which indexed points are joined to equal ones by a representative; (n,)."""
        return np.bincount(self._representative, minlength=len(self._X))[self._representative] > 1

    def distances(self, X: np.ndarray, columns: np.ndarray) -> sp.csr_array:
        """Return the (m, n) distances of points (m, d) to those indexed points, of shape (m, k).

        From differences: the distances of searches are rounded, even below 0.
        """
        n, k = columns.shape
        columns = np.sort(columns, axis=1)
        indptr = np.arange(0, n * k + 1, k, dtype=np.int32 if n * k < 2**31 - 1 else np.int64)
        indices = columns.ravel().astype(indptr.dtype)
        data = np.empty(n * k, dtype=X.dtype)
        _compiled.graphs.squared_distances(indptr, indices, X, self._X, data)
        # distances beyond the range of the type become the largest it can hold
        np.minimum(data, np.finfo(data.dtype).max / 4, out=data)
        return sp.csr_array((np.sqrt(data), indices, indptr), shape=(n, len(self._X)))

    def _index(self, X: np.ndarray) -> None:
        raise NotImplementedError

    def _nearest(self, X: np.ndarray, k: int) -> np.ndarray:
        raise NotImplementedError

    def _others(self, X: np.ndarray, rows: np.ndarray | None, k: int) -> np.ndarray:
        """Find the k nearest others of all indexed points, or of some, as many as are known."""
        found = self._nearest(_some(X, rows), k + 1)
        own = np.arange(len(X)) if rows is None else rows
        drop = found == own[:, None]
        drop[~drop.any(axis=1), -1] = True  # duplicates took the place of the point itself
        return found[~drop].reshape(len(own), found.shape[1] - 1)

    def _with_ties(
        self,
        X: np.ndarray,
        k: int,
        most: int,
        find: Callable[[np.ndarray, np.ndarray | None, int], np.ndarray],
    ) -> tuple[sp.csr_array, np.ndarray]:
        """Return the distances to the k nearest points and those as far as the k-th; see above.

        Also, for each row, the distance of those that were left out since there are too many;
        infinite for none. ``find`` finds the nearest of all points X (m, d), or of some rows;
        there are at most ``most``.
        """
        # the (k+1)-th tells whether there is a tie; only tied rows are searched once more
        found, left_out = find(X, None, min(k + 1, most)), np.full(len(X), np.inf)
        graph = self.distances(X, found[:, :k])
        if found.shape[1] == k or k == 0:
            return graph, left_out
        is_tied = self._lengths(X, found[:, k:]) <= self._lengths(X, found[:, k - 1 : k]) * TIED
        tied = np.flatnonzero(is_tied[:, 0])
        if not len(tied):
            return graph, left_out
        columns = find(X, tied, min(2 * k + 1, most))
        lengths = self._lengths(X[tied], columns)
        kth = np.partition(lengths, k - 1, axis=1)[:, k - 1 : k]
        as_near, nearer = lengths <= kth * TIED, lengths * TIED < kth
        n_near = as_near.sum(axis=1)
        # a row that ends among equally near points may lack some: then none of them is taken
        are_all = (n_near < columns.shape[1]) | (columns.shape[1] == most)
        are_in = are_all & (n_near <= 2 * k)
        left_out[tied[~are_in]] = kth[~are_in, 0]
        keep = np.where(are_in[:, None], as_near, nearer)
        some = keep.any(axis=1)  # else the k that were found stay
        graph = _with_rows(graph, tied[some], columns[some], lengths[some], keep[some])
        return graph, left_out

    def _lengths(self, X: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the distances (m, k) of points (m, d) to indexed ones, in the order of these."""
        order = np.argsort(columns, axis=1)
        lengths = np.empty(columns.shape, dtype=X.dtype)
        sorted_lengths = self.distances(X, columns).data.reshape(columns.shape)
        np.put_along_axis(lengths, order, sorted_lengths, axis=1)
        return lengths


_TREE_FEATURES = 15  # with more of them, all distances are computed faster
_FARTHEST = 1e150  # in double precision its square is finite


class ExactSearch(Search):
    """Exact nearest neighbours, by a tree, or with many features by all distances, in blocks.

    Parameters
    ----------
    n_neighbors : int, default=12
        Neighbours of a point, itself not counted.

    Attributes
    ----------
    recall_ : float
        Share of the true neighbours that were found; always 1.

    See Also
    --------
    NNDescentSearch : Far faster from some thousand points on; it finds some 96 % or more of them.
    CudaSearch : As exact, on an NVIDIA device.
    RadiusSearch : All points within a distance.

    Examples
    --------
    >>> from diffclass.neighbors import ExactSearch
    >>> search = ExactSearch(1)
    >>> search.fit_transform([[0.0], [1.0], [3.0]]).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 2., 0.]])
    >>> search.transform([[2.5]]).toarray()
    array([[0. , 0. , 0.5]])
    """

    def __init__(self, n_neighbors: int = 12):
        self.n_neighbors = n_neighbors

    def _index(self, X: np.ndarray) -> None:
        self._center = exact_center(X)  # all distances are |x|^2 - 2 <x, y> + |y|^2
        self._searcher: Any
        if X.shape[1] <= _TREE_FEATURES:
            from scipy.spatial import KDTree

            self._searcher = KDTree(X - self._center)
        else:
            from sklearn.neighbors import NearestNeighbors

            self._searcher = NearestNeighbors(algorithm="brute").fit(X - self._center)
        self.recall_ = 1.0

    def _nearest(self, X: np.ndarray, k: int) -> np.ndarray:
        X = X - self._center
        if X.shape[1] <= _TREE_FEATURES:  # which takes points at an infinite distance for none
            near = np.clip(X.astype(np.float64), -_FARTHEST, _FARTHEST)
            return self._searcher.query(near, np.arange(1, k + 1))[1]
        with _compiled.loops.openmp_for(X.size * self._searcher.n_samples_fit_):
            return self._searcher.kneighbors(X, n_neighbors=k, return_distance=False)


def of_type(X: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Convert points; those beyond the range of the type become the farthest it can hold."""
    if np.can_cast(X.dtype, dtype):
        return X.astype(dtype, copy=False)
    limits = np.finfo(dtype)
    return np.clip(X, float(limits.min), float(limits.max)).astype(dtype)


def _joined(graph: sp.csr_array, representative: np.ndarray) -> sp.csr_array:
    """Add edges from representatives to duplicates, so that either has the other."""
    joined = np.flatnonzero(representative != np.arange(len(representative)))
    if not len(joined):
        return graph
    edges = graph.tocoo()
    rows = np.concatenate([edges.row, representative[joined]])
    columns = np.concatenate([edges.col, joined])
    data = np.concatenate([edges.data, np.zeros(len(joined), dtype=graph.dtype)])
    return sp.csr_array((data, (rows, columns)), shape=graph.shape)


def _duplicate_representatives(X: np.ndarray, n_neighbors: int) -> np.ndarray:
    """For each point, the first one equal to it if more than n_neighbors are, else itself."""
    numbers, nodes = np.arange(len(X)), Nodes.of(X)
    if nodes is None:
        return numbers
    is_joined = nodes.mass[nodes.of_points] > n_neighbors
    return np.where(is_joined, nodes.first[nodes.of_points], numbers)


def _with_rows(
    graph: sp.csr_array,
    rows: np.ndarray,
    columns: np.ndarray,
    lengths: np.ndarray,
    keep: np.ndarray,
) -> sp.csr_array:
    """Replace some rows of a graph, ascending, by the kept ones of other edges (n_rows, k)."""
    stays = np.ones(graph.shape[0], dtype=bool)
    stays[rows] = False
    counts = np.diff(graph.indptr)
    stay = np.repeat(stays, counts)
    counts[rows] = keep.sum(axis=1)
    stay_there = np.repeat(stays, counts)
    starts = np.broadcast_to(rows[:, None], columns.shape)[keep]
    order = np.lexsort([columns[keep], starts])  # equal entries are not added up, as in a matrix
    made = []
    for old, new in ((graph.data, lengths), (graph.indices, columns)):
        both = np.empty(len(stay_there), dtype=old.dtype)
        both[stay_there], both[~stay_there] = old[stay], new[keep][order]
        made.append(both)
    indptr = np.concatenate([[0], np.cumsum(counts, dtype=graph.indptr.dtype)])
    return sp.csr_array((*made, indptr), shape=graph.shape)


def _some(X: np.ndarray, rows: np.ndarray | None) -> np.ndarray:
    return X if rows is None else X[rows]


class SinglePrecision:
    """Points in single precision, centred and scaled so that their differences keep their digits.

    The centre is the mean of the given ones (n, p) or, where their sum overflows, the middle of
    their range; the unit is the largest distance to it in any feature.
    """

    def __init__(self, X: np.ndarray):
        lowest, highest = X.min(axis=0), X.max(axis=0)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = X.mean(axis=0, dtype=np.float64)
        self._center = np.where(np.isfinite(mean), mean, lowest / 2 + highest / 2).astype(X.dtype)
        self._unit = np.maximum(highest - self._center, self._center - lowest).max() or 1

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Return the points ``X`` of shape (n, p) in single precision."""
        scaled = (X - self._center) / self._unit
        return np.ascontiguousarray(np.clip(scaled, -1e15, 1e15), dtype=np.float32)


def row_distances(points: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the squared distances from points (m, p) to others (m, k, p), of shape (m, k)."""
    difference = others - points[:, None, :]
    return np.einsum("ijk,ijk->ij", difference, difference)


class CudaSearch(Search):
    """Nearest neighbours by brute force on an NVIDIA device, exact but for rounding.

    Distances are compared in single precision, after points are centred and scaled.

    Parameters
    ----------
    n_neighbors : int, default=12
        Neighbours of a point, itself not counted.

    Attributes
    ----------
    recall_ : float
        Share of the true neighbours that were found; always 1.

    See Also
    --------
    ExactSearch : As exact, on the processor.
    NNDescentSearch : On the processor, for many points.
    diffclass.operators.Cuda : Takes the steps of the walk on the device too.

    Notes
    -----
    Costs n^2 distances, a million points of ten features take seconds. The device holds the points
    and half a million lists.

    Examples
    --------
    On a machine with a device:

    >>> from diffclass.neighbors import CudaSearch
    >>> CudaSearch(1).fit_transform([[0.0], [1.0], [3.0]]).toarray()  # doctest: +SKIP
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 2., 0.]])
    """

    def __init__(self, n_neighbors: int = 12):
        self.n_neighbors = n_neighbors

    def _index(self, X: np.ndarray) -> None:
        device.check_device()
        self._scaled = SinglePrecision(X)
        self._indexed = self._scaled(X)
        self.recall_ = 1.0

    def _nearest(self, X: np.ndarray, k: int) -> np.ndarray:
        from diffclass._cuda.kernels import (
            THREADS,
            empty_lists,
            nearest_kernel,
            points_per_thread,
        )

        points, queries = device.to_device(self._indexed), self._scaled(X)
        kernel, n = nearest_kernel(queries.shape[1], k), len(self._indexed)
        per_block = THREADS * points_per_thread(queries.shape[1])
        out = np.empty((len(X), k), dtype=np.int32)
        for first in range(0, len(X), _QUERIES):
            some = device.to_device(queries[first : first + _QUERIES])
            n_some = some.shape[0]
            distances, found = map(device.to_device, empty_lists(n_some, k))
            for start in range(0, n, _POINTS):
                checkpoint()
                stop = min(start + _POINTS, n)
                blocks = -(-n_some // per_block)
                kernel[blocks, THREADS](points, some, start, stop, distances, found)
            device.to_host(found, out[first : first + n_some])
        if out.min(initial=0) < 0:
            raise DataError(
                f"{np.count_nonzero((out < 0).any(axis=1))} points have distances that are no "
                "numbers in single precision; rescale the points, or search on the processor"
            )
        return out
