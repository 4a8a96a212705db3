"""One global bandwidth epsilon of exp(-|x - y|^2 / epsilon), chosen from the points.

*Semigroup error.* `semigroup_bandwidth` takes the scale at which two steps of the kernel are most
like one step of twice the time; see `diffclass.spectral.semigroup`.

*Slope.* On a manifold of m dimensions the sum of exp(-|x - y|^2 / epsilon) over pairs x != y grows
like epsilon^(m/2). Its logarithmic slope is m / 2, a plateau, until the kernel reaches from one
sheet of the manifold to the next or over the whole set. `slope_bandwidth` takes half the scale at
which the plateau ends: half, since two steps of a walk are one step of the double scale.

The semigroup error has a second minimum at scales at which sheets merge. A minimum therefore counts
only up to the scale at which the slope differs by a tenth from that of the plateau; where there is
none, half the end of the plateau is taken, and ``is_found`` is False.

Sources: Shan and Daubechies 2022, section 3.2 (error); R. Coifman, Y. Shkolnisky, F. Sigworth and
A. Singer, Graph Laplacian tomography from unknown random projections, 2008 (slope); P. Grassberger
and I. Procaccia, Measuring the strangeness of strange attractors, 1983 (plateau).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from diffclass._validation import (
    RandomState,
    check_choice,
    check_points,
    check_positive,
    check_seed,
)
from diffclass.exceptions import ParameterError, warn_user
from diffclass.kernels import Gaussian
from diffclass.neighbors import NeighborSearch, RadiusSearch, neighbors_graph
from diffclass.spectral.sampled_distances import REACH, SampledDistances, check_spread
from diffclass.spectral.semigroup import (
    LEAST_USEFUL,
    first_minimum_after_maximum,
    semigroup_error,
)
from diffclass.system.progress import stage

_BANDWIDTHS = ("attached", "graph", "semigroup", "slope", "self-tuning")
_MOST_EDGES = 30_000_000
_BALL_FEATURES = 8  # up to this many features trees find balls fast
_SEMIGROUP_SCALES, _SLOPE_SCALES = 20, 60
_FLAT = 1.06  # the largest slope on a plateau, relative to the least
_NEAR = 0.1  # of the slope on the plateau, by which a neighbouring slope may differ
_LEAST_WIDTH = 4.0  # of a plateau: its last scale relative to its first
_FIRST_SEEN, _LEAST_SEEN = 2.5, 4.0  # kernel sums of the median point, itself included: where a
# plateau may begin, below which chance makes the slope ripple, and at half the scale where it ends


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
        Neighbours that count for the median point, measured by its kernel sum.
    in_reach : ndarray of bool of shape (m,)
        Whether the graph reaches 3 sqrt(2 epsilon), beyond which points weigh less than exp(-9).
    epsilon : float
        The chosen scale.
    is_found : bool
        Whether a scale satisfies the rule; otherwise epsilon is the closest to it.
    limit : float
        The widest scale admitted, infinite where the slope has no plateau.
    criterion : {"semigroup", "slope"}
        Name of the criterion.
    n_neighbors : int
        Neighbours with which a graph reaches 3 sqrt(epsilon) from 95 % of the points.
    dimension : float or None
        Dimension of the manifold, by the slope; None where there is no plateau, and for the
        semigroup error.

    Examples
    --------
    Points of a circle; the plateau of the slope gives the dimension:

    >>> import numpy as np
    >>> from diffclass import slope_bandwidth
    >>> angles = 2 * np.pi * np.arange(1000) / 1000
    >>> curve = slope_bandwidth(np.column_stack([np.cos(angles), np.sin(angles)]))
    >>> curve.is_found, round(curve.dimension, 1), round(curve.epsilon, 1)
    (True, 1.0, 0.2)
    """

    epsilons: np.ndarray
    values: np.ndarray
    n_useful: np.ndarray
    in_reach: np.ndarray
    epsilon: float
    is_found: bool
    criterion: str
    n_neighbors: int
    limit: float = np.inf
    dimension: float | None = None


def semigroup_bandwidth(
    X: ArrayLike,
    epsilons: ArrayLike | None = None,
    *,
    alpha: float = 1.0,
    max_edges: int = _MOST_EDGES,
    search: NeighborSearch | None = None,
    random_state: RandomState = 0,
) -> BandwidthCurve:
    """Choose epsilon by the semigroup error, up to the scale at which points are a manifold.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points.
    epsilons : array-like of shape (m,), optional
        Scales to try, in squared units of the points; by default 20 from the median squared
        distance of nearest neighbours to the largest distance.
    alpha : float, default=1.0
        Density exponent.
    max_edges : int, default=30_000_000
        Largest number of edges of the graph, 16 bytes each in single precision and 24 in double, at
        the peak three times that. Scales that need a wider graph are out of reach.
    search : NeighborSearch, optional
        Its own number of neighbours then sets the reach.
    random_state : int, RandomState or None, default=0
        Draws the sample of points and the starts of iterations.

    Raises
    ------
    DataError
        If all points are equal, or some are not finite.
    ParameterError
        If a scale is not positive, or all are out of reach.

    See Also
    --------
    slope_bandwidth : Needs no graph, and gives the dimension too.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import semigroup_bandwidth
    >>> angles = 2 * np.pi * np.arange(300) / 300
    >>> noise = np.random.default_rng(0).normal(scale=0.02, size=(300, 2))
    >>> X = np.column_stack([np.cos(angles), np.sin(angles)]) + noise
    >>> curve = semigroup_bandwidth(X)
    >>> curve.is_found, round(curve.epsilon, 2), curve.n_neighbors
    (True, 0.14, 118)
    """
    X = check_points(X)
    sample = SampledDistances(X, check_seed(random_state))
    scales = _checked_scales(epsilons, sample)
    check_positive(max_edges, "max_edges", integer=True)
    with stage("graph for bandwidth"):
        graph, reach = _wide_graph(X, scales, sample, max_edges, search, random_state)
    in_reach = REACH * np.sqrt(2 * scales) <= reach
    if not in_reach.any():
        raise ParameterError(
            f"no scale is in reach: with {graph.nnz / len(X):.0f} neighbours the graph reaches "
            f"{reach:.3g}, the least scale needs {REACH * np.sqrt(2 * scales[0]):.3g}"
            " (in many dimensions all points are about equally far apart); use a self-tuned "
            "bandwidth, fewer features, smaller epsilons or more max_edges"
        )
    values = np.full(len(scales), np.nan)
    with stage("semigroup errors"):
        for i in np.flatnonzero(in_reach):
            values[i] = semigroup_error(graph, scales[i], alpha=alpha, random_state=random_state)
    # beyond the limit sheets merge; without a plateau, a tenth of the points is no longer local
    n_useful, (narrow, limit) = sample.kernel_sums(scales), _limits(sample)
    is_local = scales <= limit if np.isfinite(limit) else n_useful <= len(X) / 10
    choice, is_found = first_minimum_after_maximum(values, n_useful, in_reach, is_local)
    if not is_found and np.isfinite(limit):
        choice = int(np.flatnonzero(in_reach & (scales <= max(narrow, scales[in_reach][0])))[-1])
    return BandwidthCurve(
        epsilons=scales,
        values=values,
        n_useful=n_useful,
        in_reach=in_reach,
        epsilon=float(scales[choice]),
        is_found=is_found,
        criterion="semigroup",
        n_neighbors=sample.neighbors_needed(scales[choice]),
        limit=limit,
    )


def slope_bandwidth(
    X: ArrayLike, epsilons: ArrayLike | None = None, *, random_state: RandomState = 0
) -> BandwidthCurve:
    """Choose half the epsilon at which the plateau of the kernel sum's logarithmic slope ends.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points.
    epsilons : array-like of shape (m,), optional
        As in `semigroup_bandwidth`, 60 by default.
    random_state : int, RandomState or None, default=0
        Draws the 128 to 512 points whose distances to all points are computed.

    Returns
    -------
    BandwidthCurve
        Its values are d log sum K / d log epsilon; its dimension is twice their median on the
        plateau.

    Raises
    ------
    DataError, ParameterError
        As `semigroup_bandwidth`.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.spectral.bandwidth import slope_bandwidth
    >>> segment = np.linspace(0, 1, 2000)[:, None] * [1.0, 2.0, 0.5]
    >>> round(slope_bandwidth(segment).dimension, 1)
    1.0
    """
    X = check_points(X)
    sample = SampledDistances(X, check_seed(random_state))
    scales = _checked_scales(epsilons, sample, n_scales=_SLOPE_SCALES)
    slopes, n_useful = sample.slopes(scales), sample.kernel_sums(scales)
    flat = plateau(scales, slopes, n_useful)
    limit = scales[flat[-1]] / 2 if len(flat) else np.inf
    if len(flat):
        choice = int(np.argmin(np.abs(np.log(scales / limit))))
    else:  # the least scale at which enough neighbours count
        choice = int(np.argmax(n_useful >= LEAST_USEFUL))
    return BandwidthCurve(
        epsilons=scales,
        values=slopes,
        n_useful=n_useful,
        in_reach=np.ones(len(scales), dtype=bool),
        epsilon=float(scales[choice]),
        is_found=len(flat) > 0,
        criterion="slope",
        n_neighbors=sample.neighbors_needed(scales[choice]),
        limit=float(limit),
        dimension=2 * float(np.median(slopes[flat])) if len(flat) else None,
    )


def plateau(scales: np.ndarray, slopes: np.ndarray, n_useful: np.ndarray) -> np.ndarray:
    """Return the indices of the widest range of scales over which the slope is flat; maybe none."""
    # flat: the largest slope of the range is at most 1.06 times the least
    best, widest = np.arange(0), _LEAST_WIDTH
    halfway = np.interp(np.log(scales / 2), np.log(scales), n_useful)
    for first in np.flatnonzero(n_useful >= _FIRST_SEEN):
        low = np.minimum.accumulate(slopes[first:])
        high = np.maximum.accumulate(slopes[first:])
        last = first + int(np.count_nonzero(high <= _FLAT * low)) - 1
        width = scales[last] / scales[first]
        if width >= widest and halfway[last] >= _LEAST_SEEN:
            best, widest = np.arange(first, last + 1), width
    return best


def wide_gaussian(
    X: np.ndarray,
    bandwidth: str | float,
    *,
    n_neighbors: int,
    alpha: float = 1.0,
    random_state: RandomState = 0,
) -> tuple[Gaussian, int, BandwidthCurve | None]:
    """Return an unfitted Gaussian of a bandwidth, the neighbours it needs, and how it was chosen.

    Bandwidths are those of `DiffusionMap`. The neighbours are as many as given, or as reach 3
    sqrt(epsilon), up to 30 million edges. The curve is None if none was needed.

    Raises `DataError` if all points are equal, `ParameterError` for a bandwidth that is out of
    range or reaches no neighbour of most points. Warns if no scale satisfies the rule, or the scale
    needs a wider graph than is affordable.
    """
    check_spread(X)
    if isinstance(bandwidth, str):
        check_choice(bandwidth, "bandwidth", _BANDWIDTHS, other="a number, epsilon")
    else:
        check_positive(bandwidth, "bandwidth")
    if bandwidth in ("graph", "attached", "self-tuning"):
        return Gaussian(bandwidth=bandwidth), n_neighbors, None
    curve = _chosen_curve(X, bandwidth, alpha, random_state)
    if curve is None:
        epsilon = float(bandwidth)
        sample = SampledDistances(X, check_seed(random_state))
        sample.check_reached(epsilon, X.dtype)
        needed = sample.neighbors_needed(epsilon)
    else:
        epsilon, needed = curve.epsilon, curve.n_neighbors
    affordable = max(_MOST_EDGES // len(X), n_neighbors)
    if needed > affordable:
        warn_user(
            f"epsilon = {epsilon:.3g} needs {needed} neighbours, more than fit into "
            f"{_MOST_EDGES:,} edges; the graph has {affordable}: use a smaller epsilon or "
            "raise n_neighbors",
            UserWarning,
        )
    return Gaussian(bandwidth=epsilon), max(n_neighbors, min(needed, affordable)), curve


def _chosen_curve(
    X: np.ndarray, bandwidth: str | float, alpha: float, random_state: RandomState
) -> BandwidthCurve | None:
    if bandwidth == "semigroup":
        curve = semigroup_bandwidth(X, alpha=alpha, random_state=random_state)
    elif bandwidth == "slope":
        curve = slope_bandwidth(X, random_state=random_state)
    else:
        return None
    if not curve.is_found:
        warn_user(
            f"no scale in reach satisfies the rule of {bandwidth!r}; epsilon = "
            f"{curve.epsilon:.3g} comes closest to it, see bandwidth_curve_",
            UserWarning,
        )
    return curve


def _limits(sample: SampledDistances) -> tuple[float, float]:
    """Return half the end of the plateau, and where the slope has left it; infinite without one."""
    scales = sample.default_scales(_SLOPE_SCALES)
    slopes = sample.slopes(scales)
    flat = plateau(scales, slopes, sample.kernel_sums(scales))
    if not len(flat):
        return np.inf, np.inf
    away = np.abs(slopes / np.median(slopes[flat]) - 1) > _NEAR
    beyond = np.flatnonzero(away & (np.arange(len(scales)) > flat[-1]))
    return float(scales[flat[-1]] / 2), float(scales[beyond[0]] if len(beyond) else scales[-1])


def _wide_graph(
    X: np.ndarray,
    scales: np.ndarray,
    sample: SampledDistances,
    max_edges: int,
    search: NeighborSearch | None,
    random_state: RandomState,
) -> tuple[sp.csr_array, float]:
    """Return a graph as wide as the widest scale needs or ``max_edges`` allows, and its reach."""
    if search is None and X.shape[1] <= _BALL_FEATURES:
        # in few dimensions: balls, so that edges are spent where points are dense
        radii = [REACH * np.sqrt(2 * scale) for scale in scales]
        affordable = [r for r in radii if sample.mean_degree(r * r) * len(X) <= max_edges]
        radius = max(affordable, default=radii[0] / 2)
        return neighbors_graph(X, search=RadiusSearch(radius)), radius * (1 + 1e-9)
    # in many dimensions balls cannot be searched fast: as many neighbours as 95 % of the balls hold
    needed = [sample.neighbors_needed(2 * scale) for scale in scales]
    affordable_degrees = [k for k in needed if k * len(X) <= max_edges]
    widest = min(max(affordable_degrees, default=2 * LEAST_USEFUL), len(X) - 1)
    graph = neighbors_graph(X, widest, search=search, random_state=random_state)
    return graph, sample.reach_of(graph)


def _checked_scales(
    epsilons: ArrayLike | None, sample: SampledDistances, *, n_scales: int = _SEMIGROUP_SCALES
) -> np.ndarray:
    if epsilons is None:
        return sample.default_scales(n_scales)
    scales = np.unique(np.asarray(epsilons, dtype=np.float64))
    if not len(scales) or not (np.isfinite(scales) & (scales > 0)).all():
        raise ParameterError(f"epsilons = {epsilons!r}; they have to be positive numbers")
    return scales
