"""One global bandwidth epsilon of exp(-|x - y|^2 / epsilon), chosen from the points.

*Semigroup error.* Diffusion for 2t is diffusion for t, twice. With S_t the symmetric conjugate of
the alpha-normalised kernel exp(-|x - y|^2 / 4t), epsilon = 4t,

    SGE(t) = || S_t^2 - S_2t ||_2

is 0 at t = 0, where S is the identity, and small again once everything is one blob. In between it
has a maximum, where points begin to see each other, then a minimum, where the discrete walk is most
like a diffusion: the first local minimum after the first maximum is taken, among scales that the
graph carries and at which the median point has at least ten neighbours that count.

*Slope.* sum_xy exp(-|x - y|^2 / epsilon) grows like epsilon^(m/2) on a manifold of m dimensions.
Its logarithmic slope is largest where that holds best; the dimension is twice the slope.

Sources: Shan and Daubechies 2022, section 3.2 (the error); R. Coifman, Y. Shkolnisky, F. Sigworth
and A. Singer, Graph Laplacian tomography from unknown random projections, 2008 (the slope).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from diffclass._validation import check_choice, check_points, check_positive
from diffclass.exceptions import DataError, ParameterError
from diffclass.kernels import Gaussian
from diffclass.neighbors import NeighborSearch, RadiusSearch, kept_edges, neighbors_graph
from diffclass.operators.markov import MarkovOperator
from diffclass.progress import stage

_LEAST_USEFUL = 10
_MOST_EDGES = 30_000_000
_LEAST_RISE = 1.25
_SAMPLED_DISTANCES = 2**24
_BALL_FEATURES = 8  # up to which trees find balls fast
_REACH = 3.0  # in units of sqrt(epsilon): what lies beyond weighs exp(-9)


@dataclass(frozen=True, eq=False)
class BandwidthCurve:
    """A criterion by scale, and the bandwidth it chooses.

    Parameters
    ----------
    epsilons : ndarray of shape (m,)
        Increasing, in squared units of the points.
    values : ndarray of shape (m,)
        The criterion; NaN where it was not computed.
    n_useful : ndarray of shape (m,)
        Neighbours that count for the median point: its kernel sum.
    in_reach : ndarray of bool of shape (m,)
        Whether the graph reaches 3 sqrt(epsilon), beyond which nothing counts.
    epsilon : float
        The choice.
    is_found : bool
        Whether the rule found it; else it is the admissible scale nearest to the rule.
    criterion : {"semigroup", "slope"}
        What the values are.
    n_neighbors : int
        Neighbours that a graph needs to reach 3 sqrt(epsilon) from nearly all points.
    dimension : float or None
        Of the points' manifold, for the slope.
    """

    epsilons: np.ndarray
    values: np.ndarray
    n_useful: np.ndarray
    in_reach: np.ndarray
    epsilon: float
    is_found: bool
    criterion: str
    n_neighbors: int
    dimension: float | None = None


def semigroup_error(
    graph: sp.csr_array, epsilon: float, *, alpha: float = 1.0, random_state: Any = 0
) -> float:
    """Return || S_t^2 - S_2t ||_2 at epsilon = 4t, by Lanczos on sparse products.

    Parameters
    ----------
    graph : csr_array of shape (n, n)
        Squared distances as of `neighbors_graph`, wide enough for the scale.
    epsilon : float
        4t, in squared units of the points.
    alpha : float, default=1.0
        Density exponent.
    random_state : int, RandomState or None, default=0
        Draws the start.

    Returns
    -------
    float
        0 to 2, to about three digits.
    """
    # what is left out weighs below exp(-18) at 2t
    graph = kept_edges(graph, graph.data <= (2 * _REACH) ** 2 * epsilon)
    S_t, S_2t = (_conjugate(graph, factor * epsilon, alpha) for factor in (1, 2))

    def product(f: np.ndarray) -> np.ndarray:
        f = f.ravel()
        return S_t.matvec(S_t.matvec(f)) - S_2t.matvec(f)

    n = graph.shape[0]
    if n < 32:
        dense = np.column_stack([product(column) for column in np.eye(n)])
        return float(np.linalg.norm(dense, 2))
    start = check_random_state(random_state).normal(size=n)
    if not product(start).any():  # at a scale so small that both are the identity
        return 0.0
    difference = LinearOperator(graph.shape, matvec=product, dtype=np.float64)
    with threadpool_limits(1, user_api="blas"):
        values = eigsh(difference, k=1, v0=start, tol=1e-4, return_eigenvectors=False)
    return float(abs(values[0]))


def semigroup_bandwidth(
    X: Any,
    epsilons: Any = None,
    *,
    alpha: float = 1.0,
    max_edges: int = _MOST_EDGES,
    search: NeighborSearch | None = None,
    random_state: Any = 0,
) -> BandwidthCurve:
    """Choose epsilon by the semigroup error.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points.
    epsilons : array-like of shape (m,), optional
        Scales to try, in squared units of the points; by default 20 from the distance of nearest
        neighbours to the largest.
    alpha : float, default=1.0
        Density exponent.
    max_edges : int, default=30_000_000
        Of the graph, which is made as wide as the widest scale needs, or as this allows: 16 bytes
        an edge in single precision, 24 in double, at the peak three times. Wider scales are out of
        reach.
    search : NeighborSearch, optional
        Neighbour search with its own number of neighbours, which then sets the reach.
    random_state : int, RandomState or None, default=0
        Draws sampled points and starts.

    Returns
    -------
    BandwidthCurve
        Of the scales in reach.

    Raises
    ------
    DataError
        For points that are all equal, or not finite.
    ParameterError
        For scales that are not positive, or all out of reach.

    Notes
    -----
    Each scale costs about 30 to 60 products of one column. A scale counts as in reach if the
    farthest neighbours of 95 % of the sampled points are at 3 sqrt(epsilon) or beyond.
    """
    X = check_points(X)
    sample = _Sample(X, check_random_state(random_state))
    scales = _checked_scales(epsilons, sample)
    check_positive(max_edges, "max_edges", integer=True)
    with stage("graph for bandwidth"):
        graph, reach = _wide_graph(X, scales, sample, max_edges, search, random_state)
    in_reach = _REACH * np.sqrt(scales) <= reach
    if not in_reach.any():
        raise ParameterError(
            f"no scale is in reach: with {graph.nnz / len(X):.0f} neighbours the graph reaches "
            f"{reach:.3g}, the least scale needs {_REACH * np.sqrt(scales[0]):.3g}"
            " (in many dimensions all points are about equally far); take a self-tuned bandwidth, "
            "fewer features, smaller epsilons or more max_edges"
        )
    values = np.full(len(scales), np.nan)
    with stage("semigroup errors"):
        for i in np.flatnonzero(in_reach):
            values[i] = semigroup_error(graph, scales[i], alpha=alpha, random_state=random_state)
    n_useful = sample.kernel_sums(scales)
    choice, is_found = _first_minimum_after_maximum(values, n_useful, in_reach, len(X))
    return BandwidthCurve(
        scales, values, n_useful, in_reach, float(scales[choice]), is_found, "semigroup",
        sample.neighbors_needed(scales[choice]),
    )  # fmt: skip


def slope_bandwidth(X: Any, epsilons: Any = None, *, random_state: Any = 0) -> BandwidthCurve:
    """Choose epsilon where the kernel sum's logarithmic slope is largest, and tell the dimension.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points.
    epsilons : array-like of shape (m,), optional
        As in `semigroup_bandwidth`, 60 by default.
    random_state : int, RandomState or None, default=0
        Draws the points from which the sum is estimated, 128 to 512.

    Returns
    -------
    BandwidthCurve
        Its values are d log sum K / d log epsilon; its dimension is twice the largest.

    Raises
    ------
    DataError
        For points that are all equal, or not finite.
    ParameterError
        For scales that are not positive.

    Notes
    -----
    Needs no graph: the distances of the drawn points to all are computed.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.spectral.bandwidth import slope_bandwidth
    >>> segment = np.linspace(0, 1, 2000)[:, None] * [1.0, 2.0, 0.5]
    >>> round(slope_bandwidth(segment).dimension, 1)
    1.0
    """
    X = check_points(X)
    sample = _Sample(X, check_random_state(random_state))
    scales = _checked_scales(epsilons, sample, n_scales=60)
    slopes, n_useful = sample.slopes(scales), sample.kernel_sums(scales)
    admissible = n_useful >= _LEAST_USEFUL
    choice = int(np.argmax(np.where(admissible, slopes, -np.inf)))
    return BandwidthCurve(
        scales, slopes, n_useful, np.ones(len(scales), dtype=bool), float(scales[choice]),
        bool(admissible.any() and 0 < choice < len(scales) - 1), "slope",
        sample.neighbors_needed(scales[choice]),
        2 * float(slopes[choice]),
    )  # fmt: skip


def neighbors_needed(X: Any, epsilon: float, *, random_state: Any = 0) -> int:
    """Count the neighbours that a graph needs to reach 3 sqrt(epsilon) from nearly all points.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points.
    epsilon : float
        In squared units of the points.
    random_state : int, RandomState or None, default=0
        Draws 128 to 512 points whose distances to all are computed.

    Returns
    -------
    int
        1 to n - 1; enough for 95 % of the points.
    """
    X = check_points(X)
    check_positive(epsilon, "epsilon")
    sample = _Sample(X, check_random_state(random_state))
    return sample.neighbors_needed(epsilon)


def wide_gaussian(
    X: np.ndarray,
    bandwidth: str | float,
    *,
    n_neighbors: int,
    alpha: float = 1.0,
    random_state: Any = 0,
) -> tuple[Gaussian, int, BandwidthCurve | None]:
    """Return a Gaussian of the bandwidth asked for, and neighbours enough for it.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Points.
    bandwidth : {"graph", "semigroup", "slope", "self-tuning"} or float
        The widest that ``n_neighbors`` carry; as chosen by this module; each point's own; or
        epsilon.
    n_neighbors : int
        Fewest neighbours.
    alpha : float, default=1.0
        Density exponent, for the semigroup error.
    random_state : int, RandomState or None, default=0
        Draws samples and starts.

    Returns
    -------
    kernel : Gaussian
        Not yet fitted.
    n_neighbors : int
        As given, or as many as reach 3 sqrt(epsilon), up to 30 million edges.
    curve : BandwidthCurve or None
        How it was chosen.

    Raises
    ------
    DataError
        For points that are all equal.
    ParameterError
        For a bandwidth that is neither positive nor one of the names.

    Warns
    -----
    UserWarning
        Where the rule finds no scale, or the scale needs a wider graph.
    """
    check_spread(X)
    if isinstance(bandwidth, str):
        check_choice(bandwidth, "bandwidth", ("graph", "semigroup", "slope", "self-tuning"))
    if bandwidth in ("graph", "self-tuning"):
        return Gaussian(bandwidth=bandwidth), n_neighbors, None
    curve = _chosen_curve(X, bandwidth, alpha, random_state)
    if curve is None:
        epsilon = float(check_positive(bandwidth, "bandwidth"))
        needed = neighbors_needed(X, epsilon, random_state=random_state)
    else:
        epsilon, needed = curve.epsilon, curve.n_neighbors
    affordable = max(_MOST_EDGES // len(X), n_neighbors)
    if needed > affordable:
        warnings.warn(
            f"epsilon = {epsilon:.3g} needs {needed} neighbours, more than fit into "
            f"{_MOST_EDGES:,} edges; the graph has {affordable}: take a smaller epsilon or "
            "raise n_neighbors",
            UserWarning,
            stacklevel=5,
        )
    return Gaussian(bandwidth=epsilon), max(n_neighbors, min(needed, affordable)), curve


def check_spread(X: np.ndarray) -> None:
    """Raise a `DataError` for points that are all equal."""
    if len(X) > 1 and (X[0] == X).all():
        raise DataError(f"all {len(X)} points are equal: there is no geometry and no scale")


def _chosen_curve(
    X: np.ndarray, bandwidth: str | float, alpha: float, random_state: Any
) -> BandwidthCurve | None:
    if bandwidth == "semigroup":
        curve = semigroup_bandwidth(X, alpha=alpha, random_state=random_state)
    elif bandwidth == "slope":
        curve = slope_bandwidth(X, random_state=random_state)
    else:
        return None
    if not curve.is_found:
        warnings.warn(
            f"no scale in reach satisfies the rule of {bandwidth!r}; epsilon = "
            f"{curve.epsilon:.3g} is the nearest to it, see bandwidth_curve_",
            UserWarning,
            stacklevel=6,
        )
    return curve


class _Sample:
    """Squared distances from some points to all, which no graph has cut."""

    def __init__(self, X: np.ndarray, random: np.random.RandomState):
        check_spread(X)
        n_sampled = int(np.clip(_SAMPLED_DISTANCES // len(X), 128, 512))
        self.points = np.sort(random.permutation(len(X))[:n_sampled])
        centered = (X - X.mean(axis=0)).astype(np.float64)
        squares = np.einsum("ij,ij->i", centered, centered)
        self.squared = np.empty((len(self.points), len(X)), dtype=np.float32)
        for block in np.array_split(np.arange(len(self.points)), 8):
            rows = self.points[block]
            products = centered[rows] @ centered.T
            self.squared[block] = squares[rows, None] - 2 * products + squares
        # what is left of a difference of nearly equal squares is rounding
        floor = 1e-12 * squares.max(initial=0)
        self.squared[self.squared < floor] = 0
        if not self.squared.any():
            raise DataError("the points differ by rounding only: there is no scale to choose")

    def default_scales(self, n_scales: int) -> np.ndarray:
        nearest = np.where(self.squared > 0, self.squared, np.inf).min(axis=1)
        low = np.median(nearest[np.isfinite(nearest)])
        return np.geomspace(low, max(self.squared.max(), 4 * low), n_scales)

    def kernel_sums(self, scales: np.ndarray) -> np.ndarray:
        """Kernel sum of the median point at each scale."""
        return np.array([np.median(np.exp(-self.squared / s).sum(axis=1)) for s in scales])

    def slopes(self, scales: np.ndarray) -> np.ndarray:
        """D log sum K / d log epsilon = sum K u / sum K with u = |x - y|^2 / epsilon."""
        slopes = np.empty(len(scales))
        for i, scale in enumerate(scales):
            u = self.squared / np.float32(scale)
            K = np.exp(-u)
            slopes[i] = np.vdot(K, u) / K.sum(dtype=np.float64)
        return slopes

    def neighbors_needed(self, epsilon: float) -> int:
        """Neighbours within 3 sqrt(epsilon), for all but 5 % of the points."""
        counts = np.count_nonzero(self.squared <= _REACH**2 * epsilon, axis=1) - 1
        return max(int(np.quantile(counts, 0.95)), 1)

    def mean_degree(self, squared_radius: float) -> float:
        """Mean number of points within a ball."""
        return np.count_nonzero(self.squared <= squared_radius) / len(self.points)

    def reach_of(self, graph: sp.csr_array) -> float:
        """Distance to which the graph has all neighbours of all but 5 % of the points."""
        directed = graph[self.points]
        complete = np.diff(directed.indptr) == graph.shape[1]
        farthest = np.sqrt(directed.max(axis=1).toarray().ravel())
        farthest[complete] = np.inf
        return float(np.quantile(farthest, 0.05, method="lower"))


def _wide_graph(
    X: np.ndarray,
    scales: np.ndarray,
    sample: _Sample,
    max_edges: int,
    search: NeighborSearch | None,
    random_state: Any,
) -> tuple[sp.csr_array, float]:
    """Return a graph as wide as the widest scale needs, or as it may be, and how far it reaches.

    In few dimensions it is the epsilon-ball graph, whose edges are where the points are dense; in
    many, where balls cannot be searched fast, nearest neighbours enough for nearly all balls.
    """
    if search is None and X.shape[1] <= _BALL_FEATURES:
        radii = [_REACH * np.sqrt(scale) for scale in scales]
        affordable = [r for r in radii if sample.mean_degree(r * r) * len(X) <= max_edges]
        radius = max(affordable, default=radii[0] / 2)
        return neighbors_graph(X, search=RadiusSearch(radius)), radius * (1 + 1e-9)
    needed = [sample.neighbors_needed(scale) for scale in scales]
    affordable_degrees = [k for k in needed if k * len(X) <= max_edges]
    widest = min(max(affordable_degrees, default=2 * _LEAST_USEFUL), len(X) - 1)
    graph = neighbors_graph(X, widest, search=search, random_state=random_state)
    return graph, sample.reach_of(graph)


def _checked_scales(epsilons: Any, sample: _Sample, *, n_scales: int = 20) -> np.ndarray:
    if epsilons is None:
        return sample.default_scales(n_scales)
    scales = np.unique(np.asarray(epsilons, dtype=np.float64))
    if scales.ndim != 1 or not len(scales) or not (np.isfinite(scales) & (scales > 0)).all():
        raise ParameterError(f"epsilons = {epsilons!r}; they have to be positive numbers")
    return scales


def _conjugate(graph: sp.csr_array, epsilon: float, alpha: float) -> LinearOperator:
    affinity = Gaussian(bandwidth=float(epsilon)).affinity(graph, np.empty(0))
    return MarkovOperator.from_affinity(affinity, alpha=alpha, check=False).symmetric_conjugate


def _first_minimum_after_maximum(
    values: np.ndarray, n_useful: np.ndarray, in_reach: np.ndarray, n_points: int
) -> tuple[int, bool]:
    """Return the place of the rule's choice, or the scale nearest to it, and which of both it is.

    A minimum where too few neighbours count yields to the least scale at which enough do; without
    any, the least error stands in, among scales that are not yet one blob.
    """
    last = np.flatnonzero(in_reach)[-1]
    v, enough = values[: last + 1], n_useful[: last + 1] >= _LEAST_USEFUL
    rises = np.diff(v) > 0
    top = int(np.argmin(rises)) if not rises.all() else last
    minima = [i for i in range(top + 1, last) if v[i] < v[top:i].min() and _rises_after(v[i:])]
    admissible = [i for i in minima if enough[i]]
    if admissible:
        return admissible[0], True
    if minima and enough.any():
        return int(np.argmax(enough)), False
    largest = max(n_points / 10, 3 * _LEAST_USEFUL)
    after = [i for i in range(top, last + 1) if enough[i] and n_useful[i] <= largest]
    return min(after or [last], key=lambda i: v[i]), False


def _rises_after(v: np.ndarray) -> bool:
    """Whether a curve rises by a quarter of its first value before it falls below that."""
    below = np.flatnonzero(v < v[0])
    until = v[: below[0]] if len(below) else v
    return bool(until.max() >= _LEAST_RISE * v[0])
