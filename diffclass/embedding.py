"""Diffusion maps: coordinates in which Euclidean distance is diffusion distance.

The coordinates are by their kind ::

    weighted      lambda_l^t psi_l(x),    l = 1, 2, ...       A psi_l = lambda_l psi_l
    symmetric     lambda_l^t phi_l(x),    l = 0, 1, 2, ...    phi_l = sqrt(pi) psi_l

alpha = 0 and t = 0 give Laplacian eigenmaps, alpha = 1 coordinates that depend on the points'
geometry and not on their density, if one global epsilon is used; self-tuned bandwidths hide it.

*Geometric harmonics* extend functions from points as far as their smoothness allows. With the
eigenpairs K v_l = mu_l v_l of a Gaussian kernel of bandwidth epsilon, ::

    f(x) = sum_{l : mu_l >= mu_0 / condition} <f, v_l> / mu_l sum_y k(x, y) v_l(y)

is an analytic function within sqrt(epsilon) of the points. Dividing by mu_l amplifies errors; the
condition bounds by how much.

Sources: Coifman et al. 2005, section 2.1 (symmetric, t = m / 2, as its eigenvalues are written
lambda^2); the encyclopedia's article (weighted); R. Coifman and S. Lafon, Geometric harmonics,
2006, section 3.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from diffclass._validation import (
    RandomState,
    check_choice,
    check_kind,
    check_positive,
    check_seed,
    check_unmasked,
    check_values,
    validate_points,
)
from diffclass.exceptions import DataError, ParameterError, warn_user
from diffclass.graph import PointGraph
from diffclass.kernels import FittedIsotropic, Kernel
from diffclass.neighbors import NeighborSearch
from diffclass.operators.markov import scaled_at_ends
from diffclass.spectral.bandwidth import BandwidthCurve, check_spread, wide_gaussian
from diffclass.spectral.distances import diffusion_coordinates
from diffclass.spectral.eigenpairs import Eigenpairs, leading_eigenpairs, nystrom
from diffclass.spectral.eigensolver import leading_pairs
from diffclass.spectral.gap import MOST_COMPONENTS, significant_coordinates, spectral_gap

__all__ = ["DiffusionMap", "GeometricHarmonics"]

_TIME_ACCURACY = 0.1
_LATEST_TIME = 10**6


class DiffusionMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Embed points by the leading eigenfunctions of their diffusion.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Coordinates, fewer than points; one more if symmetric, where phi_0 is one. "auto" takes up
        to 32: with a given time those that count at it, else those before the widest gap of the
        spectrum (see `diffclass.spectral.gap`), one less than there are clusters.
    n_neighbors : int, default=64
        Neighbours of a point in the graph, at most n - 1. With an epsilon given or chosen there are
        as many as reach 3 sqrt(epsilon), up to 30 million edges.
    kernel : Kernel, optional
        By default a `Gaussian` with the global ``bandwidth``.
    bandwidth : str or float, default="attached"
        epsilon, if no kernel is given: a number in squared units of the points; "attached", the
        widest that the graph carries, but for points far from all others; "graph", without that
        exception (see `Gaussian` for both); "semigroup" or "slope" (see
        `diffclass.spectral.bandwidth`); "self-tuning", one for each point, for densities that
        differ by orders of magnitude, as in scenes.
    alpha : float, default=1.0
        Density exponent: 0 gives the graph Laplacian, 1/2 Fokker-Planck, 1 Laplace-Beltrami.
    time : float, "auto" or "relaxation", default=1
        t, at least 0. "auto" takes the smallest whole t at which the coordinates left out are below
        a tenth of the first: |lambda_(n_components + 1)|^t <= 0.1 |lambda_1|^t. "relaxation" takes
        t = 1 / (1 - |lambda_l|) of the last one kept, which has then fallen to about 1/e.
    kind : {"weighted", "symmetric"}, default="weighted"
        Which diffusion distance is the Euclidean one; see `diffclass.spectral.distances`.
        ``kind="symmetric", time=m / 2`` is the Phi_m of Coifman et al. 2005.
    affinity : "precomputed", optional
        ``X`` in `fit` is then a symmetric (n, n) affinity, sparse or dense, and in `transform` the
        (m, n) affinities of new points to the fitted ones.
    search : NeighborSearch, optional
        As in `neighbors_graph`.
    random_state : int, RandomState or None, default=0
        Seeds neighbour search, eigensolver and bandwidth.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, n_components)
        lambda_l^t psi_l(x), or lambda_l^t phi_l(x).
    eigenvalues_ : ndarray of shape (n_components,)
        lambda_l of the coordinates, largest modulus first.
    time_, n_components_ : float, int
        What is in use.
    reason_ : str
        Why so many coordinates and this time, in words.
    epsilon_ : float or None
        Bandwidth in use; None if self-tuning, or for a given kernel or affinity.
    bandwidth_curve_ : BandwidthCurve or None
        How "semigroup" or "slope" chose it.
    eigenpairs_ : Eigenpairs
        From l = 0 to the last coordinate, and more where a time or a number was chosen.
    n_neighbors_ : int
        Neighbours searched per point; does not exist for an affinity.
    graph_, operator_ : PointGraph, MarkovOperator
        The walk, with the fitted kernel and search, and the walk alone.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    leading_eigenpairs : For an operator that there is.
    GeometricHarmonics : Extends any function of the points to new ones.

    Notes
    -----
    The first c - 1 coordinates of a graph of c connected components only distinguish these; a
    warning says so. Eigenvalues within 1e-6 of 1 mean that some parts are almost isolated.

    Examples
    --------
    An unevenly sampled circle becomes a circle:

    >>> import numpy as np
    >>> from diffclass import DiffusionMap
    >>> angles = np.linspace(0, 2 * np.pi, 400, endpoint=False)
    >>> angles = angles + 0.6 * np.sin(angles)
    >>> circle = np.column_stack([np.cos(angles), np.sin(angles)])
    >>> radii = np.linalg.norm(DiffusionMap(n_neighbors=40).fit_transform(circle), axis=1)
    >>> print(radii.min().round(1), radii.max().round(1))
    1.4 1.4
    """

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        n_neighbors: int = 64,
        kernel: Kernel | None = None,
        bandwidth: str | float = "attached",
        alpha: float = 1.0,
        time: float | str = 1,
        kind: str = "weighted",
        affinity: str | None = None,
        search: NeighborSearch | None = None,
        random_state: RandomState = 0,
    ):
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.alpha = alpha
        self.time = time
        self.kind = kind
        self.affinity = affinity
        self.search = search
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike | None = None) -> DiffusionMap:
        """Build the graph, its walk and the walk's leading eigenpairs.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points; float32 and float64 are kept as they are.
        y : array-like of shape (n,), optional
            Labels, passed on to the kernel.

        Raises
        ------
        DataError
            If X is not finite, or all points are equal.
        ParameterError
            If a parameter is out of range, or the time so late that every coordinate is 0.

        Warns
        -----
        UserWarning
            If the graph is not connected, or "auto" finds no time.
        """
        self._check_parameters()
        X = self._checked(X, reset=True)
        self._check_number(X.shape[0], f"points (n_samples = {X.shape[0]})")
        self.graph_ = self._graph(X, y)
        self.operator_ = self.graph_.operator
        self._check_number(len(self.operator_), "distinct points")
        self.eigenpairs_ = leading_eigenpairs(
            self.operator_, self._n_pairs(len(self.operator_)), random_state=self.random_state
        )
        n_parts = self.operator_.n_connected_components
        if n_parts > 1:
            warn_user(
                f"the graph has {n_parts} components, which the first "
                "coordinates tell apart; raise n_neighbors, or embed each by itself",
                UserWarning,
            )
        self.n_components_, why = self._chosen_components(self.eigenpairs_)
        self.time_, why_then = self._chosen_time(self.eigenpairs_)
        counting = "" if self.kind == "weighted" else ", not counting phi_0"
        self.reason_ = f"{why}; {why_then}{counting}"
        pairs = self.eigenpairs_.first(pairs_in_use(self))
        self.eigenvalues_ = pairs.eigenvalues[-self.n_components_ :]  # l = 0 only if symmetric
        self.embedding_ = self.operator_.at_points(
            diffusion_coordinates(pairs, self.time_, kind=self.kind)
        )
        return self

    def fit_transform(self, X: Any, y: ArrayLike | None = None) -> np.ndarray:
        """Fit and return ``embedding_``, of shape (n, n_components); see `fit`."""
        return self.fit(X, y).embedding_

    def transform(self, X: Any) -> np.ndarray:
        """Return the diffusion coordinates of new points (m, d) by Nystrom's extension.

        Returns
        -------
        ndarray of shape (m, n_components)
            Close to ``embedding_`` for fitted points, but not equal: a new point has edges only to
            its own neighbours. Symmetric coordinates are therefore some percent smaller.
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        weights = self.graph_.step_weights(X)
        pairs = self.eigenpairs_.first(pairs_in_use(self))
        coordinates = nystrom(weights, pairs, time=self.time_)
        if self.kind == "weighted":
            return coordinates
        # phi_l = sqrt(pi) psi_l, where psi_0 = 1
        root = np.sqrt(self.graph_.stationary_distribution_at(weights))[:, None]
        return root * np.hstack([np.ones_like(root), coordinates])

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.affinity == "precomputed"
        tags.input_tags.sparse = self.affinity == "precomputed"
        return tags

    def _check_parameters(self) -> None:
        if isinstance(self.n_components, str):
            check_choice(self.n_components, "n_components", ("auto",), other="a number")
        else:
            check_positive(self.n_components, "n_components", integer=True)
        check_positive(self.n_neighbors, "n_neighbors", integer=True)
        if self.affinity is not None:
            check_choice(self.affinity, "affinity", ("precomputed",), other="None")
        if isinstance(self.time, str):
            check_choice(self.time, "time", ("auto", "relaxation"), other="a number")
        else:
            check_positive(self.time, "time", zero=True)
        check_choice(self.kind, "kind", ("weighted", "symmetric"))
        if self.kind == "symmetric" and self.n_components == 1 and isinstance(self.time, str):
            raise ParameterError(
                f"time = {self.time!r}; the one symmetric coordinate, phi_0, never decays: give a "
                "number, or ask for more coordinates"
            )

    def _checked(self, X: Any, *, reset: bool) -> Any:
        precomputed = self.affinity == "precomputed"
        return validate_points(
            self,
            X,
            reset=reset,
            dtype=[np.float64, np.float32],
            accept_sparse="csr" if precomputed else False,
        )

    def _graph(self, X: Any, y: Any) -> PointGraph:
        self.epsilon_: float | None = None
        self.bandwidth_curve_: BandwidthCurve | None = None
        if self.affinity == "precomputed":
            return PointGraph.from_affinity(X, alpha=self.alpha)
        kernel, self.n_neighbors_ = self._kernel(X)
        graph = PointGraph.from_points(
            X,
            n_neighbors=self.n_neighbors_,
            kernel=kernel,
            alpha=self.alpha,
            search=self.search,
            y=y,
            random_state=self.random_state,
        )
        if self.kernel is None and isinstance(graph.kernel, FittedIsotropic):
            self.epsilon_ = graph.kernel.epsilon
        return graph

    def _kernel(self, X: np.ndarray) -> tuple[Kernel, int]:
        """Return the kernel and how many neighbours it needs."""
        if self.kernel is not None:
            check_spread(X)
            return self.kernel, self.n_neighbors
        kernel, n_neighbors, self.bandwidth_curve_ = wide_gaussian(
            X,
            self.bandwidth,
            n_neighbors=self.n_neighbors,
            alpha=self.alpha,
            random_state=self.random_state,
        )
        return kernel, n_neighbors

    def _check_number(self, n: int, points: str) -> None:
        most = n - _first(self.kind)
        if not isinstance(self.n_components, str) and self.n_components > most:
            raise ParameterError(
                f"n_components = {self.n_components}; {n} {points} have at most {most} coordinates"
            )

    def _n_pairs(self, n: int) -> int:
        # one more than kept, to see what is left out at a chosen time or beyond a gap
        if isinstance(self.n_components, str):
            return min(MOST_COMPONENTS + 2, n)
        return min(self.n_components + _first(self.kind) + isinstance(self.time, str), n)

    def _chosen_components(self, eigenpairs: Eigenpairs) -> tuple[int, str]:
        if not isinstance(self.n_components, str):
            return self.n_components, f"{self.n_components} coordinates were asked for"
        if len(eigenpairs) < 2:
            raise ParameterError("n_components = 'auto'; one point (n_samples = 1) has none")
        count, why = (
            spectral_gap(eigenpairs.eigenvalues)
            if isinstance(self.time, str)
            else significant_coordinates(eigenpairs.eigenvalues, self.time)
        )
        return count + 1 - _first(self.kind), why

    def _chosen_time(self, eigenpairs: Eigenpairs) -> tuple[float, str]:
        if not isinstance(self.time, str):
            if self.kind == "weighted":
                _check_not_forgotten(self.time, eigenpairs)
            return self.time, f"t = {self.time:g} was asked for"
        m, moduli = pairs_in_use(self) - 1, np.abs(eigenpairs.eigenvalues)
        if self.time == "relaxation":
            return relaxation_time(moduli[m]), f"relaxation time of coordinate {m}"
        # the first coordinate left out, m + 1, has to fall to a tenth of the first
        if len(moduli) < m + 2 or moduli[1] == 0 or moduli[m + 1] == 0:
            return 1, "nothing is left out at any time"
        ratio = moduli[m + 1] / moduli[1]
        if ratio > _TIME_ACCURACY ** (1 / _LATEST_TIME):
            warn_user(
                "time='auto': no time separates the coordinates kept from others; 1 is used",
                UserWarning,
            )
            return 1, "no time separates the coordinates kept from others"
        time = max(int(np.ceil(np.log(_TIME_ACCURACY) / np.log(ratio))), 1)
        return time, f"from t = {time} on coordinate {m + 1} is below a tenth of the first"


def _first(kind: str) -> int:
    """Return the l of the first coordinate."""
    return 0 if kind == "symmetric" else 1


def pairs_in_use(fitted: DiffusionMap) -> int:
    """Return how many eigenpairs the coordinates are made of, with the trivial one."""
    return _first(fitted.kind) + fitted.n_components_


def _check_not_forgotten(time: float, eigenpairs: Eigenpairs) -> None:
    """Raise `ParameterError` for a time at which all coordinates are 0 in single precision."""
    largest = float(np.abs(eigenpairs.eigenvalues[1:]).max(initial=0.0))
    if time == 0 or largest == 0:
        return
    latest = np.log(np.finfo(np.float32).tiny) / np.log(min(largest, 1 - 1e-15))
    if time > latest:
        raise ParameterError(
            f"time = {time:g}: the walk has long forgotten where it began, and all coordinates are "
            f"0; the largest eigenvalue is {largest:.6g}: take at most {latest:.3g}"
        )


def check_embedding(embedding: DiffusionMap) -> DiffusionMap:
    """Return an embedding; raise `ParameterError` if it is something else."""
    kind: DiffusionMap = check_kind(embedding, "embedding", DiffusionMap, example="DiffusionMap(2)")
    return kind


def relaxation_time(eigenvalue: float) -> float:
    """Return 1 / (1 - |lambda|), at which |lambda|^t is about 1/e; at most a million."""
    return float(min(1 / max(1 - abs(eigenvalue), 1e-15), _LATEST_TIME))


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
    n_neighbors, search, random_state
        As in `DiffusionMap`.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_harmonics,)
        mu_l in use, decreasing.
    condition_ : float
        mu_0 / mu_l of the last one, at most ``condition``.
    unexplained_ : float or ndarray of shape (n_outputs,)
        Share of |f|^2 that is left out, 0 to 1.
    epsilon_ : float
        Bandwidth in use.
    graph_ : PointGraph
        Of the points, with the fitted kernel and search.

    See Also
    --------
    EigenfunctionRegressor : For values known at some of the points, or with noise.

    Examples
    --------
    A sine known from 0 to 6, between its points and far beyond them:

    >>> import numpy as np
    >>> from diffclass.embedding import GeometricHarmonics
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
        DataError, ParameterError
            If all points are equal, or a parameter is out of range.
        """
        check_unmasked(y, name="y")
        X = validate_points(self, X, dtype=np.float64)
        y = check_values(y, len(X), to=self)
        if np.isnan(y).any():
            raise DataError(
                "y holds NaN or no value at some points; leave those out, or take "
                "EigenfunctionRegressor"
            )
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
        coefficients = vectors.T @ y  # <f, v_l>
        total = np.maximum(total, np.finfo(np.float64).tiny)
        left = np.clip(1 - (coefficients**2).sum(axis=0) / total, 0, 1)
        self.unexplained_ = float(left) if y.ndim == 1 else left
        # sum_l <f, v_l> / mu_l v_l(y), by which k(x, y) counts at a new x
        self._weights = vectors @ (coefficients.T / self.eigenvalues_).T
        if nodes is not None:
            self._weights = self._weights * _columns(root, y)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the extended functions, (m,) or (m, n_outputs), at new points (m, d).

        They tend to 0 beyond sqrt(epsilon) from the fitted points.
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
