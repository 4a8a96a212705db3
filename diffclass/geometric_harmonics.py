"""Geometric harmonics: functions extended from points as far as their smoothness allows.

With the eigenpairs K v_l = mu_l v_l of a Gaussian kernel of bandwidth epsilon,

    f(x) = sum_{l : mu_l >= mu_0 / condition} <f, v_l> / mu_l sum_y k(x, y) v_l(y)

is an analytic function within sqrt(epsilon) of the points. Dividing by mu_l amplifies errors; the
condition bounds by how much. The part of f beyond that bound is left out, and its size reported.

Source: R. Coifman and S. Lafon, Geometric harmonics, 2006, section 3.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from diffclass._validation import (
    RandomState,
    check_positive,
    check_seed,
    check_unmasked,
    validate_points,
)
from diffclass.exceptions import ParameterError
from diffclass.kernels import FittedIsotropic
from diffclass.neighbors import NeighborSearch
from diffclass.operators.markov import scaled_at_ends
from diffclass.point_graph import PointGraph
from diffclass.spectral.bandwidth import wide_gaussian
from diffclass.spectral.eigensolver import leading_pairs

__all__ = ["GeometricHarmonics"]

_TOLERANCE = 1e-10  # of the eigenpairs: extending divides by eigenvalues


class GeometricHarmonics(RegressorMixin, BaseEstimator):
    """Extend functions from points to their surroundings by eigenvectors of a Gaussian kernel.

    Parameters
    ----------
    bandwidth : {"graph", "semigroup", "slope"} or float, default="graph"
        epsilon, in squared units of the points; see `DiffusionMap`. Functions are extended about
        sqrt(epsilon) far.
    condition : float, default=1000.0
        Largest mu_0 / mu_l in use, above 1. An error of f can grow by this factor.
    max_components : int, default=256
        Largest number of harmonics in use.
    n_neighbors : int, default=64
        Neighbours of a point in the graph.
    search : NeighborSearch, optional
        Neighbour search; see `neighbors_graph`.
    random_state : int, RandomState or None, default=0
        Seeds neighbour search and eigensolver.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_harmonics,)
        mu_l in use, decreasing.
    condition_ : float
        mu_0 / mu_l of the last harmonic in use, at most ``condition``.
    unexplained_ : float or ndarray of shape (n_outputs,)
        Share of |f|^2 that is left out, 0 to 1.
    epsilon_ : float
        Bandwidth in use.
    graph_ : PointGraph
        Graph of the points, with the fitted kernel and neighbour search.

    See Also
    --------
    EigenfunctionRegressor : For values known at some of the points, or with noise.
    DiffusionMap.transform : For diffusion coordinates near the points.

    Examples
    --------
    A sine known from 0 to 6, between its points and far beyond them:

    >>> import numpy as np
    >>> from diffclass.geometric_harmonics import GeometricHarmonics
    >>> x = np.linspace(0, 6, 300)[:, None]
    >>> extended = GeometricHarmonics(bandwidth=0.5).fit(x, np.sin(x[:, 0]))
    >>> extended.predict([[1.234], [9.0]]).round(2), np.sin([1.234, 9.0]).round(2)
    (array([0.95, 0.  ]), array([0.94, 0.41]))
    """

    def __init__(
        self,
        *,
        bandwidth: str | float = "graph",
        condition: float = 1000.0,
        max_components: int = 256,
        n_neighbors: int = 64,
        search: NeighborSearch | None = None,
        random_state: RandomState = 0,
    ):
        self.bandwidth = bandwidth
        self.condition = condition
        self.max_components = max_components
        self.n_neighbors = n_neighbors
        self.search = search
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> GeometricHarmonics:
        """Expand functions of the points in harmonics.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points.
        y : array-like of shape (n,) or (n, n_outputs)
            Values of the functions.

        Raises
        ------
        DataError
            If all points are equal.
        ParameterError
            If the condition is not above 1, or another parameter is out of range.
        """
        check_unmasked(y, name="y")
        X, y = validate_points(self, X, y, multi_output=True, y_numeric=True, dtype=np.float64)
        check_positive(self.max_components, "max_components", integer=True)
        check_positive(self.n_neighbors, "n_neighbors", integer=True)
        if check_positive(self.condition, "condition") <= 1:
            raise ParameterError(f"condition = {self.condition!r}; it has to be above 1")
        if isinstance(self.bandwidth, str) and self.bandwidth == "self-tuning":
            raise ParameterError("bandwidth = 'self-tuning'; harmonics need one global epsilon")
        self.graph_ = self._graph(X)
        total = (y * y).sum(axis=0)
        K, nodes = self.graph_.operator.affinity, self.graph_.operator.nodes
        if nodes is not None:  # K m of the nodes, made symmetric; see `diffclass.operators.markov`
            root = np.sqrt(nodes.mass)
            K, y = scaled_at_ends(K, 1 / root), nodes.means(y) * _columns(root, y)
        self.eigenvalues_, vectors = self._harmonics(K)
        self.condition_ = float(self.eigenvalues_[0] / self.eigenvalues_[-1])
        coefficients = vectors.T @ y
        total = np.maximum(total, np.finfo(np.float64).tiny)
        left = np.clip(1 - (coefficients**2).sum(axis=0) / total, 0, 1)
        self.unexplained_ = float(left) if y.ndim == 1 else left
        self._weights = vectors @ (coefficients.T / self.eigenvalues_).T
        if nodes is not None:
            self._weights = self._weights * _columns(root, y)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the extended functions at new points.

        Parameters
        ----------
        X : array-like of shape (m, d)
            New points.

        Returns
        -------
        ndarray of shape (m,) or (m, n_outputs)
            Tends to 0 beyond sqrt(epsilon) from the fitted points.
        """
        check_is_fitted(self)
        X = validate_points(self, X, reset=False, dtype=np.float64)
        return self.graph_.affinities_to(X) @ self._weights

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _graph(self, X: np.ndarray) -> PointGraph:
        kernel, n_neighbors, _ = wide_gaussian(
            X, self.bandwidth, n_neighbors=self.n_neighbors, random_state=self.random_state
        )
        graph = PointGraph.from_points(
            X,
            n_neighbors=n_neighbors,
            kernel=kernel,
            search=self.search,
            random_state=self.random_state,
        )
        if isinstance(graph.kernel, FittedIsotropic):
            self.epsilon_ = graph.kernel.epsilon
        return graph

    def _harmonics(self, K: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
        """Eigenpairs within the condition; their number doubles until some are beyond it."""
        n = K.shape[0]
        n_pairs = min(16, self.max_components, n)
        while True:
            values, vectors = self._leading(K, n_pairs)
            good = values >= values[0] / self.condition
            n_good = int(good.argmin()) if not good.all() else n_pairs
            if n_good < n_pairs or n_pairs >= min(self.max_components, n):
                return values[:n_good], vectors[:, :n_good]
            n_pairs = min(2 * n_pairs, self.max_components, n)

    def _leading(self, K: sp.csr_array, n_pairs: int) -> tuple[np.ndarray, np.ndarray]:
        values, vectors, _ = leading_pairs(
            sp.csr_array(K.astype(np.float64)),
            n_pairs,
            known=np.empty((K.shape[0], 0)),
            which="algebraic",
            tolerance=_TOLERANCE,
            random_state=check_seed(self.random_state),
        )
        return values, vectors


def _columns(of_rows: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Return a factor (n,) of each row of values (n,) or (n, m)."""
    return of_rows if like.ndim == 1 else of_rows[:, None]
