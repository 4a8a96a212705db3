"""A kernel along a vector field: the walk runs along the integral curves of v.

k(x, y) = exp(-D^2) with, for points x and y of directions v(x) and v(y), and delta = x - y,

    D^2 = |delta|^2 / epsilon + |delta - (u . delta) u|^2 / epsilon^2,
    u along v(x) + v(y), or v(x) - v(y) where v(x) . v(y) < 0.

The first eigenfunctions become constant along the curves. The sign of v does not matter, so fields
of axes (eigenvectors) work as well. On a linear field u is exactly the direction at the midpoint.
If v is 0 at both points, so is u, and every direction leads across.

D is not a distance between vectors: the search finds more neighbours than needed in Euclidean
distance and keeps those nearest by D.

Source: Coifman et al. 2005, section 3. The paper has no formula: D^2 is its directed distance with
the step across the field in the place of F(x) - F(y).
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin

from diffclass import _compiled
from diffclass._validation import RandomState, check_points, check_positive
from diffclass.exceptions import DataError
from diffclass.kernels._kernel import Placing
from diffclass.kernels.directed import Joint, JointPlacing, checked_values, length_of, values_at
from diffclass.kernels.isotropic import Gaussian
from diffclass.neighbors import NeighborSearch, default_search, kept_edges


class AlongField(Gaussian):
    """k(x, y) = exp(-D^2), D^2 = |delta|^2 / epsilon + |delta across v|^2 / epsilon^2.

    The points are divided by the root of their mean square distance from their mean, so epsilon has
    no unit.

    Parameters
    ----------
    field : callable or array-like of shape (n, d)
        Directions v at the points, or a function that gives them for points of shape (m, d); not a
        lambda if the estimator is to be pickled. If the field is an array, its value at a new point
        is the mean over the ``neighbor`` nearest points. A common factor of all v, or its sign,
        does not matter.
    epsilon : float, default=0.1
        Above 0. Steps across are about sqrt(epsilon) times as long as steps along.
    bandwidth : {"self-tuning", "global", "graph"} or float, default="self-tuning"
        As for `Gaussian`, in units of D^2; 1 gives exp(-D^2) itself.
    neighbor : int, default=7
        As for `Gaussian`.
    candidates : int, default=8
        Euclidean neighbours found for each one that is kept; those nearest by D are kept. In the
        plane, sqrt(1 + 1 / epsilon) are needed.

    See Also
    --------
    Directed : Along the level sets of a function.

    Notes
    -----
    Cost: ``candidates`` times as many edges while neighbours are searched. The graph passed to
    `fit` has to be made in the features that `place` returns, by the search of the kernel.

    References
    ----------
    Coifman et al. 2005, section 3.

    Examples
    --------
    The first eigenfunction of a rectangle varies along the longer side; across the field, if there
    is one:

    >>> import numpy as np
    >>> from diffclass import DiffusionMap
    >>> from diffclass.kernels import AlongField
    >>> X = np.random.default_rng(0).random((500, 2)) * [1.0, 0.9]
    >>> kernel = AlongField(np.tile([1.0, 0.0], (500, 1)), epsilon=0.02, bandwidth="graph")
    >>> psi = DiffusionMap(1, n_neighbors=20, kernel=kernel).fit_transform(X)[:, 0]
    >>> bool(abs(np.corrcoef(psi, X[:, 1])[0, 1]) > 0.95)
    True
    """

    def __init__(
        self,
        field: ArrayLike | Placing,
        *,
        epsilon: float = 0.1,
        bandwidth: str | float = "self-tuning",
        neighbor: int = 7,
        candidates: int = 8,
    ):
        self.field = field
        self.epsilon = epsilon
        self.bandwidth = bandwidth
        self.neighbor = neighbor
        self.candidates = candidates

    def place(
        self, X: np.ndarray, *, y: ArrayLike | None = None, scores: ArrayLike | None = None
    ) -> tuple[np.ndarray, Placing]:
        """Return (x, v), scaled, of shape (n, 2 d) in the dtype of X; see `Kernel.place`.

        Raises
        ------
        ParameterError
            If epsilon is not positive.
        DataError
            If the field does not have the shape of the points, is not finite, or is 0 everywhere.
        """
        check_positive(self.epsilon, "epsilon")
        check_positive(self.neighbor, "neighbor", integer=True)
        given = self.field(X) if callable(self.field) else self.field
        v = checked_values(given, X, name="field")
        if v.shape != X.shape:
            raise DataError(f"field has shape {v.shape}; that of the points is {X.shape}")
        fastest = np.abs(v).max()  # dividing by it keeps squares from vanishing
        if fastest == 0:
            raise DataError("the field is 0 at every point and gives no direction")
        zeros, unit = np.zeros(v.shape[1]), np.full(v.shape[1], fastest)
        joint = Joint(X.mean(axis=0), length_of(X), zeros, unit, 1.0)  # epsilon is the search's
        at = values_at(self.field, X, v, neighbor=self.neighbor, mean=aligned_mean, name="field")
        return joint(X, v), JointPlacing(joint, at)

    def search(
        self, features: np.ndarray, n_neighbors: int, *, random_state: RandomState = None
    ) -> NeighborSearch:
        """Return the search of the points nearest by D."""
        check_positive(self.candidates, "candidates", integer=True)
        return FieldSearch(
            n_neighbors,
            epsilon=self.epsilon,
            candidates=self.candidates,
            random_state=random_state,
        )

    @property
    def takes_any_search(self) -> bool:
        """False: no other search knows the field."""
        return False


class FieldSearch(TransformerMixin, BaseEstimator):
    """Search for the nearest neighbours by D, of points given as rows (x, v).

    Duplicates and ties come on top of ``n_neighbors``.
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
        _compiled.graphs.field_distances(
            graph.indptr, graph.indices, points, self._points, field, self._field,
            kind(1 / self.epsilon), kind(1 / self.epsilon**2), squared,
        )  # fmt: skip
        apart = np.where(squared > 0, squared, kind(np.inf))
        farthest = np.empty(graph.shape[0], dtype=kind)
        _compiled.graphs.kth_smallest(
            graph.indptr, graph.indices, apart, self.n_neighbors, False, farthest
        )
        keep = squared <= np.repeat(farthest, np.diff(graph.indptr))
        distances = sp.csr_array((np.sqrt(squared), graph.indices, graph.indptr), graph.shape)
        return kept_edges(distances, keep)


def aligned_mean(weights: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return weighted means (m, d) of vectors (m, k, d) whose signs do not matter; weights (m, k).

    Each vector is turned to the side of the first one of its row.
    """
    sides = np.where(np.einsum("mkd,md->mk", vectors, vectors[:, 0]) < 0, -1, 1)
    return np.einsum("mk,mkd->md", weights * sides, vectors)
