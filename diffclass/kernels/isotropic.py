"""Isotropic kernels k(x, y) = h(|x - y|^2 / epsilon).

The scale is one global epsilon, or *self-tuning*: epsilon(x, y) = s(x) s(y), where s(x) is the
distance from x to its j-th neighbour. Self-tuning evens out the density, so the density exponent
alpha of the operator has an effect only with a global epsilon.

Sources: Coifman et al. 2005, section 2.2; L. Zelnik-Manor and P. Perona, Self-tuning spectral
clustering, 2004.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from diffclass import _compiled
from diffclass._validation import check_choice, check_positive
from diffclass.exceptions import ParameterError
from diffclass.kernels._kernel import (
    NEIGHBOR,
    OF_EACH_POINT,
    FittedKernel,
    Kernel,
)
from diffclass.system.forms import Choice, Number, OneOf, Record

Profile = Callable[[np.ndarray], np.ndarray]

# exp(-60) = 9e-27 is negligible compared with a neighbour's weight, but it keeps the few edges of
# an outlier from vanishing in single precision, so that they can still decide its class.
_LARGEST_EXPONENT = 60

# With the bandwidth "attached", the largest |x - y|^2 / epsilon at the j-th neighbour y of x: for
# the median point, and for every point.
_MEDIAN_EXPONENT, _POINT_EXPONENT = 2.0, 3.0


class Isotropic(Kernel):
    """k(x, y) = h(|x - y|^2 / epsilon) for any decreasing profile h.

    Parameters
    ----------
    profile : callable
        h: maps an array of values u >= 0 to an array of values >= 0. Not a lambda if the estimator
        is to be pickled.
    bandwidth : {"self-tuning", "global", "graph", "attached"} or float, default="self-tuning"
        A number is epsilon itself, in squared units of the points. "global" takes the median of
        s(x)^2. "self-tuning" takes s(x) s(y). For "graph" and "attached" see `Gaussian`.
    neighbor : int, default=7
        The number j of the neighbour whose distance is s(x).

    See Also
    --------
    Gaussian : The usual profile, exp(-u).

    Examples
    --------
    A profile that ends at a distance of 2:

    >>> import numpy as np
    >>> from diffclass import neighbors_graph
    >>> from diffclass.kernels import Isotropic
    >>> def cone(u):
    ...     return np.maximum(1 - np.sqrt(u), 0)
    >>> X = [[0.0], [1.0], [3.0]]
    >>> graph = neighbors_graph(X, n_neighbors=2)
    >>> Isotropic(cone, bandwidth=4.0).affinity(graph, X).toarray()
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0. ],
           [0. , 0. , 1. ]])
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

    @property
    def has_unit(self) -> bool:
        """Whether the bandwidth is a number."""
        return not isinstance(self.bandwidth, str)

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
            If bandwidth is neither a positive number nor one of the names.
        """
        rule = self._rule(graph)
        scales = rule.scales(graph, without_diagonal=True)
        fitted = FittedIsotropic(self._h, scales, rule)
        return fitted.profiled(graph, scales), fitted

    @property
    def _h(self) -> Profile:
        return partial(_checked_values, self.profile)

    def _rule(self, graph: sp.csr_array) -> ScaleRule:
        if not isinstance(self.bandwidth, str):
            epsilon = float(check_positive(self.bandwidth, "bandwidth"))
            # 1 / scale^2 exists
            return OneScale(max(np.sqrt(epsilon), float(np.sqrt(np.finfo(graph.dtype).tiny))))
        names = ("self-tuning", "global", "graph", "attached")
        check_choice(self.bandwidth, "bandwidth", names, other="a number, epsilon")
        check_positive(self.neighbor, "neighbor", integer=True)
        if self.bandwidth == "self-tuning":
            return OwnScale(self.neighbor)
        own = neighbor_distances(graph, self.neighbor, without_diagonal=True)
        if self.bandwidth == "global":
            return OneScale(float(np.sqrt(np.median(own * own))))
        # at three bandwidths weights are exp(-9): the graph carries no wider Gaussian
        reach = _median_reach(graph) / 3
        if self.bandwidth == "graph":
            return OneScale(reach)
        least = float(np.median(own)) / np.sqrt(_MEDIAN_EXPONENT)
        return AttachedScale(max(reach, least), self.neighbor)


class Gaussian(Isotropic):
    """k(x, y) = exp(-|x - y|^2 / epsilon).

    Parameters
    ----------
    bandwidth : {"self-tuning", "global", "graph", "attached"} or float, default="self-tuning"
        A number is epsilon itself, in squared units of the points. "global" takes the median of
        s(x)^2, where s is the distance to the j-th neighbour. "self-tuning" takes s(x) s(y).
        "graph" takes the widest epsilon that the graph carries: a third of the median distance to
        the farthest neighbour, squared. Points beyond that distance would weigh at most exp(-9).
        "attached" does the same, but keeps every point attached to the others: see Notes.
    neighbor : int, default=7
        The number j.

    See Also
    --------
    SharedNeighbors : Better where classes are clusters: the classifier's default.
    DensityWeighted : Keeps the walk in dense regions, to find clusters.
    Isotropic : Any other profile of the distance.

    Notes
    -----
    With this form of the kernel the generator (I - A) / epsilon tends to -Delta / 4.

    With one global epsilon the walk stays at a point far from all others, and the first
    eigenfunctions are those of single outliers. With bandwidth="attached" each point keeps its j-th
    neighbour: epsilon is at least the median of s(x)^2 / 2, and where the j-th neighbour would
    still weigh less than exp(-3), epsilon(x, y) = t(x) t(y) with
    t(x) = s(x)^2 / (3 sqrt(epsilon)), elsewhere t = sqrt(epsilon).

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

    kept_fields: ClassVar = {"neighbor": NEIGHBOR}

    def __init__(self, *, bandwidth: str | float = "self-tuning", neighbor: int = 7):
        self.bandwidth = bandwidth
        self.neighbor = neighbor

    @property
    def _h(self) -> Profile:
        return exponentials


def exponentials(exponents: np.ndarray) -> np.ndarray:
    """Return exp(-u), at least exp(-60), computed in place."""
    np.minimum(exponents, _LARGEST_EXPONENT, out=exponents)
    np.negative(exponents, out=exponents)
    return np.exp(exponents, out=exponents)


class ScaleRule(Protocol):
    """How the scales of points follow from their distances, for fitted points and for new ones."""

    @property
    def epsilon(self) -> float | None:
        """The global bandwidth; None if each point has its own."""

    def scales(self, graph: sp.csr_array, *, without_diagonal: bool) -> np.ndarray:
        """Return the scale of each row of a graph of squared distances; above 0."""


@dataclass(frozen=True)
class OneScale:
    """The same scale for all points."""

    scale: float

    @property
    def epsilon(self) -> float:
        """The scale, squared."""
        return self.scale**2

    def scales(self, graph: sp.csr_array, *, without_diagonal: bool) -> np.ndarray:
        """Return the scale, once per row."""
        return np.full(graph.shape[0], self.scale, dtype=graph.dtype)


@dataclass(frozen=True)
class OwnScale:
    """The distance to the j-th neighbour."""

    neighbor: int
    epsilon: None = None

    def scales(self, graph: sp.csr_array, *, without_diagonal: bool) -> np.ndarray:
        """Return s(x)."""
        return neighbor_distances(graph, self.neighbor, without_diagonal=without_diagonal)


@dataclass(frozen=True)
class AttachedScale(OneScale):
    """One scale, but a larger one where the j-th neighbour would else weigh next to nothing."""

    neighbor: int

    def scales(self, graph: sp.csr_array, *, without_diagonal: bool) -> np.ndarray:
        """Return max(scale, s(x)^2 / (3 scale))."""
        squared = np.empty(graph.shape[0], dtype=graph.dtype)  # 0 for duplicates, which are near
        _compiled.graphs.kth_smallest(
            graph.indptr, graph.indices, graph.data, self.neighbor, without_diagonal, squared
        )
        attached = squared / squared.dtype.type(_POINT_EXPONENT * self.scale)
        return np.maximum(attached, squared.dtype.type(self.scale))


@dataclass(frozen=True, eq=False)
class FittedIsotropic(FittedKernel):
    """An isotropic kernel with the scales of its points.

    Parameters
    ----------
    profile : callable
        h. It may overwrite its argument.
    scales : ndarray of shape (n,)
        Scale of each point.
    rule : ScaleRule
        Gives the scales of new points.

    Examples
    --------
    >>> from diffclass import neighbors_graph
    >>> from diffclass.kernels import Gaussian
    >>> X = [[0.0], [1.0], [3.0]]
    >>> K, fitted = Gaussian(bandwidth="self-tuning", neighbor=1).fit(neighbors_graph(X, 2), X)
    >>> fitted.scales, fitted.epsilon
    (array([1., 1., 2.]), None)
    """

    profile: Profile
    scales: np.ndarray
    rule: ScaleRule

    kept_as = "isotropic"
    kept_fields: ClassVar = {
        "profile": Choice({"exponentials": exponentials}),
        "scales": OF_EACH_POINT,
        "rule": OneOf(
            {
                "one": Record(OneScale, {"scale": Number()}),
                "own": Record(OwnScale, {"neighbor": NEIGHBOR}),
                "attached": Record(AttachedScale, {"scale": Number(), "neighbor": NEIGHBOR}),
            }
        ),
    }

    @property
    def epsilon(self) -> float | None:
        """The global bandwidth, in squared units of the points; None if each point has its own."""
        return self.rule.epsilon

    def neighbor_distances(self, neighbor: int) -> np.ndarray | None:
        """Return the scales, if they are the distances to the j-th neighbours."""
        return self.scales if self.rule == OwnScale(neighbor) else None

    def extend(self, graph: sp.csr_array, X_new: np.ndarray) -> sp.csr_array:
        """Return the affinities of new points, each with its own scale."""
        return self.profiled(graph, self.rule.scales(graph, without_diagonal=False))

    def profiled(self, graph: sp.csr_array, row_scales: np.ndarray) -> sp.csr_array:
        """Return h of the squared distances divided by the scales of both ends."""
        scaled = np.empty_like(graph.data)
        _compiled.graphs.scaled_by_ends(
            graph.indptr, graph.indices, graph.data, 1 / row_scales, 1 / self.scales, scaled
        )
        values = self.profile(scaled).astype(graph.dtype, copy=False)
        return sp.csr_array((values, graph.indices, graph.indptr), shape=graph.shape)


def neighbor_distances(graph: sp.csr_array, neighbor: int, *, without_diagonal: bool) -> np.ndarray:
    """Return the distance to the j-th neighbour of each row of a graph of squared distances.

    It is above 0: if duplicates make it 0, it is the distance to the farthest neighbour, or if that
    is 0 too, the median of the other rows. The graph may hold energies instead.
    """
    squared = squared_neighbor_distances(graph, neighbor, without_diagonal=without_diagonal)
    if not squared.all():
        squared[squared == 0] = median_above_0(squared)
    return np.sqrt(squared)


def squared_neighbor_distances(
    graph: sp.csr_array, neighbor: int, *, without_diagonal: bool
) -> np.ndarray:
    """Return the squares of `neighbor_distances`; still 0 where all neighbours are duplicates."""
    squared = np.empty(graph.shape[0], dtype=graph.dtype)
    _compiled.graphs.kth_smallest(
        graph.indptr, graph.indices, graph.data, neighbor, without_diagonal, squared
    )
    if not squared.all():
        farthest = graph.max(axis=1).toarray().ravel()
        squared = np.where(squared > 0, squared, farthest)
    return squared


def median_above_0(values: np.ndarray) -> float:
    """Return the median of the values above 0, or 1 if there are none."""
    positive = values[values > 0]
    return np.median(positive) if len(positive) else 1.0


def _checked_values(profile: Profile, scaled: np.ndarray) -> np.ndarray:
    if not callable(profile):
        raise ParameterError(f"profile = {profile!r}; it has to be a function, such as numpy.exp")
    values = np.asarray(profile(scaled))
    if values.shape != scaled.shape or not (np.isfinite(values) & (values >= 0)).all():
        raise ParameterError("profile has to give one value >= 0 for each value it gets")
    return values


def _median_reach(graph: sp.csr_array) -> float:
    """Median distance to the farthest neighbour, over points with a distance above 0."""
    farthest = graph.max(axis=1).toarray().ravel()
    farthest = farthest[farthest > 0]
    return float(np.sqrt(np.median(farthest))) if len(farthest) else 1.0
