"""Isotropic kernels k(x, y) = h(|x - y|^2 / epsilon).

The scale is one global epsilon or *self-tuning*: epsilon(x, y) = s(x) s(y), s(x) the distance from
x to its j-th neighbour. Self-tuning evens out the density, so the density exponent alpha of the
operator acts only with a global epsilon.

Sources: Coifman et al. 2005, section 2.2 (isotropic kernels) and section 2 (quantised
correlation); L. Zelnik-Manor and P. Perona, Self-tuning spectral clustering, 2004.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Real

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from diffclass import _compiled
from diffclass._validation import RandomState, check_choice, check_positive
from diffclass.exceptions import ParameterError
from diffclass.kernels._kernel import FittedKernel, Kernel, Placing
from diffclass.neighbors import RadiusSearch, kept_edges

Profile = Callable[[np.ndarray], np.ndarray]

# exp(-60) = 9e-27 is nothing beside a neighbour's weight, yet keeps an outlier's few edges from
# vanishing in single precision: its class is then still decided by them.
_LARGEST_EXPONENT = 60


class Isotropic(Kernel):
    """k(x, y) = h(|x - y|^2 / epsilon) for any decreasing profile h.

    Parameters
    ----------
    profile : callable
        h, from an array of values u >= 0 to one of values >= 0. Not a lambda if the estimator is
        to be pickled.
    bandwidth : {"self-tuning", "global", "graph"} or float, default="self-tuning"
        A number is epsilon itself, in squared units of the points; "global" takes the median of
        s(x)^2 for it; "graph" the widest that the graph carries, the squared third of the median
        distance to a point's farthest neighbour; "self-tuning" takes s(x) s(y).
    neighbor : int, default=7
        Which neighbour's distance s(x) is.
    """

    def __init__(
        self,
        profile: Profile,
        *,
        bandwidth: str | float = "self-tuning",
        neighbor: int = 7,
    ):
        self.profile = profile
        self.bandwidth = bandwidth
        self.neighbor = neighbor

    def fit(
        self,
        graph: sp.csr_array,
        X: np.ndarray,
        *,
        y: ArrayLike | None = None,
        scores: ArrayLike | None = None,
    ) -> tuple[sp.csr_array, FittedIsotropic]:
        """Return h(|x - y|^2 / epsilon(x, y)) on the edges of the graph; see `Kernel.fit`.

        Raises
        ------
        ParameterError
            For a bandwidth that is neither positive nor one of the names.
        """
        scales = self._scales(graph)
        own = self.neighbor if self.bandwidth == "self-tuning" else None
        fitted = FittedIsotropic(self._h, scales, own)
        return fitted.profiled(graph, scales), fitted

    @property
    def _h(self) -> Profile:
        return partial(_checked_values, self.profile)

    def _scales(self, graph: sp.csr_array) -> np.ndarray:
        if not isinstance(self.bandwidth, str):
            epsilon = float(check_positive(self.bandwidth, "bandwidth"))
            scale = max(np.sqrt(epsilon), np.sqrt(np.finfo(graph.dtype).tiny))  # 1 / scale^2 exists
            return np.full(graph.shape[0], scale, dtype=graph.dtype)
        check_choice(self.bandwidth, "bandwidth", ("self-tuning", "global", "graph"))
        check_positive(self.neighbor, "neighbor", integer=True)
        if self.bandwidth == "graph":
            return np.full(graph.shape[0], _median_reach(graph) / 3, dtype=graph.dtype)
        own = neighbor_distances(graph, self.neighbor, without_diagonal=True)
        if self.bandwidth == "global":
            own[:] = np.sqrt(np.median(own * own))
        return own


class Gaussian(Isotropic):
    """k(x, y) = exp(-|x - y|^2 / epsilon).

    Parameters
    ----------
    bandwidth : {"self-tuning", "global", "graph"} or float, default="self-tuning"
        A number is epsilon itself, in squared units of the points; "global" takes the median of
        s(x)^2 for it, s the distance to the j-th neighbour; "graph" the widest that the graph
        carries, the squared third of the median distance to a point's farthest neighbour, beyond
        which nothing weighs more than exp(-9); "self-tuning" takes s(x) s(y).
    neighbor : int, default=7
        That j.

    Notes
    -----
    With this form the generator (I - A) / epsilon tends to -Delta / 4.

    Examples
    --------
    >>> from diffclass import neighbors_graph
    >>> from diffclass.kernels import Gaussian
    >>> X = [[0.0], [1.0], [3.0]]
    >>> graph = neighbors_graph(X, n_neighbors=1)
    >>> Gaussian(bandwidth=2.0).affinity(graph, X).toarray().round(3)
    array([[1.   , 0.607, 0.   ],
           [0.607, 1.   , 0.135],
           [0.   , 0.135, 1.   ]])
    """

    def __init__(self, *, bandwidth: str | float = "self-tuning", neighbor: int = 7):
        self.bandwidth = bandwidth
        self.neighbor = neighbor

    @property
    def _h(self) -> Profile:
        return exponentials


@dataclass(frozen=True, eq=False)
class FittedIsotropic(FittedKernel):
    """An isotropic kernel that knows its points' scales.

    Parameters
    ----------
    profile : callable
        h; may overwrite what it gets.
    scales : ndarray of shape (n,)
        The square roots of each point's own epsilon: s(x), or sqrt(epsilon) everywhere.
    neighbor : int or None
        Which neighbour's distance the scale of a new point is; None where all have one scale.
    """

    profile: Profile
    scales: np.ndarray
    neighbor: int | None

    @property
    def epsilon(self) -> float | None:
        """The one bandwidth of all points, in their squared units; None where each has its own."""
        return float(self.scales[0]) ** 2 if self.neighbor is None else None

    def extend(self, graph: sp.csr_array, X_new: np.ndarray) -> sp.csr_array:
        """Return the affinities of new points, each with its own scale."""
        if self.neighbor is None:
            own = np.full(graph.shape[0], self.scales[0], dtype=self.scales.dtype)
        else:
            own = neighbor_distances(graph, self.neighbor, without_diagonal=False)
        return self.profiled(graph, own)

    def profiled(self, graph: sp.csr_array, row_scales: np.ndarray) -> sp.csr_array:
        """Return h of the squared distances over the scales of both ends."""
        scaled = np.empty_like(graph.data)
        _compiled.edges.scaled_by_ends(
            graph.indptr, graph.indices, graph.data, 1 / row_scales, 1 / self.scales, scaled
        )
        values = self.profile(scaled).astype(graph.dtype, copy=False)
        return sp.csr_array((values, graph.indices, graph.indptr), shape=graph.shape)


class Correlation(Kernel):
    """The quantised correlation: k(x, y) = 1 where <x, y> / (|x| |y|) > threshold, else 0.

    Its neighbours are all points within that angle, found by a range search, not the nearest k.

    Parameters
    ----------
    threshold : float, default=0.95
        Between -1 and 1.
    max_degree : int, default=64
        At most so many (the nearest) of a point's correlated points are kept, which bounds
        memory; the graph is then their union.

    References
    ----------
    Coifman et al. 2005, section 2.
    """

    def __init__(self, *, threshold: float = 0.95, max_degree: int = 64):
        self.threshold = threshold
        self.max_degree = max_degree

    def place(
        self, X: np.ndarray, *, y: ArrayLike | None = None, scores: ArrayLike | None = None
    ) -> tuple[np.ndarray, Placing]:
        """Return the points scaled to unit length; the point 0 stays where it is."""
        return _of_unit_length(X), _of_unit_length

    def search(
        self, features: np.ndarray, n_neighbors: int, *, random_state: RandomState = None
    ) -> RadiusSearch:
        """Return the range search within the angle, whatever ``n_neighbors`` is."""
        radius = np.sqrt(self._squared_radius())
        return RadiusSearch(radius, max_degree=self.max_degree, random_state=random_state)

    def fit(
        self,
        graph: sp.csr_array,
        X: np.ndarray,
        *,
        y: ArrayLike | None = None,
        scores: ArrayLike | None = None,
    ) -> tuple[sp.csr_array, FittedCorrelation]:
        """Return the graph of the correlated pairs, all weights 1; see `Kernel.fit`.

        Raises
        ------
        ParameterError
            For a threshold out of its range.
        """
        fitted = FittedCorrelation(self._squared_radius())
        return fitted.extend(graph, X), fitted

    def _squared_radius(self) -> float:
        # unit vectors: |x - y|^2 = 2 - 2 <x, y>
        if not (isinstance(self.threshold, Real) and -1 <= self.threshold < 1):
            raise ParameterError(f"threshold = {self.threshold!r}; it has to be in [-1, 1)")
        return 2 - 2 * self.threshold


@dataclass(frozen=True)
class FittedCorrelation(FittedKernel):
    """The quantised correlation, as a bound on squared distances of points of unit length."""

    squared_radius: float

    def extend(self, graph: sp.csr_array, X_new: np.ndarray) -> sp.csr_array:
        """Return 1 for each neighbour that is correlated."""
        kept = kept_edges(graph, graph.data < self.squared_radius)
        kept.data = np.ones_like(kept.data)
        return kept


def neighbor_distances(graph: sp.csr_array, neighbor: int, *, without_diagonal: bool) -> np.ndarray:
    """Return the distance to the j-th neighbour of each row of a graph.

    Parameters
    ----------
    graph : csr_array of shape (m, n)
        Squared distances, or energies in their place.
    neighbor : int
        j.
    without_diagonal : bool
        Whether a row's own entry is not counted.

    Returns
    -------
    ndarray of shape (m,)
        Above 0: where duplicates make it 0, the distance to the farthest neighbour, or else the
        median of the other rows.
    """
    squared = np.empty(graph.shape[0], dtype=graph.dtype)
    _compiled.edges.kth_smallest(
        graph.indptr, graph.indices, graph.data, neighbor, without_diagonal, squared
    )
    if not squared.all():
        farthest = graph.max(axis=1).toarray().ravel()
        squared = np.where(squared > 0, squared, farthest)
        positive = squared[squared > 0]
        squared[squared == 0] = np.median(positive) if len(positive) else 1
    return np.sqrt(squared)


def exponentials(exponents: np.ndarray) -> np.ndarray:
    """Return exp(-u), at least exp(-60), in the memory of the exponents u."""
    np.minimum(exponents, _LARGEST_EXPONENT, out=exponents)
    np.negative(exponents, out=exponents)
    return np.exp(exponents, out=exponents)


def _checked_values(profile: Profile, scaled: np.ndarray) -> np.ndarray:
    values = np.asarray(profile(scaled))
    if values.shape != scaled.shape or not (np.isfinite(values) & (values >= 0)).all():
        raise ParameterError("profile has to give one value >= 0 for each value it gets")
    return values


def _of_unit_length(X: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(lengths > 0, lengths, 1)


def _median_reach(graph: sp.csr_array) -> float:
    """Median distance to the farthest neighbour, of points that have any apart from themselves."""
    farthest = graph.max(axis=1).toarray().ravel()
    farthest = farthest[farthest > 0]
    return float(np.sqrt(np.median(farthest))) if len(farthest) else 1.0
