"""Confidence intervals of proportions, and of means of proportions.

Wilson's interval of k right points among n holds the proportions p with |k/n - p| <= z sqrt(p (1 -
p) / n), z the normal quantile; it stays within 0 and 1 and does not shrink to a point where all
points are right. The limits of several independent proportions are combined for their mean by the
square-and-add rule.

Both count points as if drawn independently. Neighbouring pixels are alike: where all pixels of some
fields are labelled, only the fields, or squares of the picture, are independent. Wilson's interval
is then that of k / d among n / d points. With k_b right of n_b points in cluster b of B, p = sum
k_b / n, and the variances

    V(p) = B / (B - 1) sum_b (k_b - p n_b)^2 / n^2    by the clusters,
    V_0(p) = p (1 - p) / n                            by independent points,

the design effect is V / V_0, at least 1, and (t / z)^2 times that as V is only known with B - 1
degrees of freedom, t being the quantile of Student's distribution. Where (nearly) all points are
right, few clusters show how alike the points of one are. If the rarer outcome occurs in m
clusters, the estimate therefore counts m times and once the worst case, in which all points of a
cluster agree:

    d = (m (t / z)^2 max(1, V / V_0) + sum_b n_b^2 / n) / (m + 1).

Sources: E. B. Wilson, Probable inference, the law of succession, and statistical inference, 1927;
G. Y. Zou and A. Donner, Construction of confidence limits about effect measures, 2008; W. G.
Cochran, Sampling Techniques, 1977, section 9A (V, clusters of unequal sizes); L. Kish, Survey
Sampling, 1965 (the design effect); E. L. Korn and B. I. Graubard, Confidence intervals for
proportions with small expected number of positive counts estimated from survey data, 1998 (its use
with t).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri, stdtrit

from diffclass._validation import check_level, check_unmasked
from diffclass.exceptions import DataError


def normal_quantile(level: float) -> float:
    """Return z: a standard normal lies within -z and z with probability ``level``."""
    return float(ndtri((1 + check_level(level)) / 2))


def wilson_interval(
    n_right: ArrayLike, n: ArrayLike, *, level: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    """Return Wilson's interval of each proportion n_right / n.

    Parameters
    ----------
    n_right, n : array-like of int, of one shape
        Number of right points and of all points; 0 <= n_right <= n.
    level : float, default=0.95
        Confidence, between 0 and 1.

    Returns
    -------
    lower, upper : ndarray
        Of that shape, 0 to 1; NaN where n is 0.

    Raises
    ------
    DataError
        If ``n_right`` is below 0 or above ``n``.
    ParameterError
        If the level is not in (0, 1).

    See Also
    --------
    clustered_interval : For points next to one another, such as the pixels of fields.

    Examples
    --------
    >>> from diffclass.evaluation import wilson_interval
    >>> lower, upper = wilson_interval([9, 10], [10, 10])
    >>> lower.round(3), upper.round(3)
    (array([0.596, 0.722]), array([0.982, 1.   ]))
    """
    z = normal_quantile(level)
    right, total = np.asarray(n_right, dtype=float), np.asarray(n, dtype=float)
    if ((right < 0) | (right > total)).any():
        raise DataError("n_right has to be at least 0 and at most n")
    with np.errstate(invalid="ignore", divide="ignore"):
        p = right / total
        middle = (p + z * z / (2 * total)) / (1 + z * z / total)
        half = z / (1 + z * z / total) * np.sqrt(p * (1 - p) / total + (z / total) ** 2 / 4)
    # exactly 0 and 1 at the ends, also after rounding
    lower = np.where(right == 0, 0.0, np.clip(middle - half, 0, 1))
    upper = np.where(right == total, 1.0, np.clip(middle + half, 0, 1))
    counted = total > 0
    return np.where(counted, lower, np.nan), np.where(counted, upper, np.nan)


@dataclass(frozen=True)
class ClusteredInterval:
    """Interval of a share of right points of which only clusters are independent.

    Attributes
    ----------
    lower, upper : float
        0 to 1; NaN for a single cluster.
    n_clusters : int
    effective_n : float
        Number of independent points with the same information, n / d; NaN for a single cluster.
    """

    lower: float
    upper: float
    n_clusters: int
    effective_n: float


def clustered_interval(
    right: ArrayLike, clusters: ArrayLike, *, level: float = 0.95
) -> ClusteredInterval:
    """Return Wilson's interval of the share of right points where only clusters are independent.

    Parameters
    ----------
    right : array-like of bool of shape (n,)
        Whether each point was given its class.
    clusters : array-like of shape (n,)
        Cluster of each point: field, tile, square of the picture.
    level : float, default=0.95
        Confidence, between 0 and 1.

    Raises
    ------
    DataError
        If the arrays differ in length or are empty.
    ParameterError
        If the level is not in (0, 1).

    See Also
    --------
    wilson_interval : For points drawn one by one.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.evaluation import clustered_interval
    >>> found = clustered_interval(np.ones(1000), np.repeat(np.arange(20), 50))
    >>> round(found.lower, 3), found.upper, found.effective_n
    (0.839, 1.0, 20.0)
    """
    z = normal_quantile(level)
    right, clusters = same_points(right=right, clusters=clusters)
    right = flags(right, "right").astype(float)
    _, numbers, sizes = np.unique(clusters, return_inverse=True, return_counts=True)
    n_right, n_clusters = np.bincount(numbers, weights=right), len(sizes)
    if n_clusters < 2:
        return ClusteredInterval(float("nan"), float("nan"), n_clusters, float("nan"))
    t = stdtrit(n_clusters - 1, (1 + level) / 2)
    effective_n = len(right) / _design_effect(n_right, sizes, (t / z) ** 2)
    lower, upper = wilson_interval(right.mean() * effective_n, effective_n, level=level)
    return ClusteredInterval(float(lower), float(upper), n_clusters, effective_n)


def _design_effect(n_right: np.ndarray, sizes: np.ndarray, widening: float) -> float:
    """Return d of the module's docstring, with ``widening`` for (t / z)^2."""
    n, n_clusters = sizes.sum(), len(sizes)
    p = n_right.sum() / n
    worst = np.square(sizes, dtype=float).sum() / n
    m = min(np.count_nonzero(n_right < sizes), np.count_nonzero(n_right))
    if m == 0:
        return float(worst)
    by_clusters = n_clusters / (n_clusters - 1) * np.square(n_right - p * sizes).sum() / n**2
    estimate = widening * max(1.0, by_clusters / (p * (1 - p) / n))
    return float((m * estimate + worst) / (m + 1))


def mean_interval(p: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> tuple[float, float]:
    """Return the interval of the mean of independent proportions, by square and add."""
    mean = float(np.mean(p))
    below, above = np.linalg.norm(p - lower) / len(p), np.linalg.norm(upper - p) / len(p)
    return mean - float(below), mean + float(above)


def same_points(**given: ArrayLike) -> list[np.ndarray]:
    """Return arrays, or raise a `DataError` with their names unless all have one shape (n,)."""
    for name, values in given.items():
        check_unmasked(values, name=name)
    arrays = {name: np.asarray(values) for name, values in given.items()}
    shapes = {array.shape for array in arrays.values()}
    if len(shapes) > 1 or any(array.ndim != 1 or not len(array) for array in arrays.values()):
        said = ", ".join(f"{name} has shape {array.shape}" for name, array in arrays.items())
        raise DataError(f"{said}; give one value of each for the same points, at least one")
    return [*arrays.values()]


def flags(values: np.ndarray, name: str) -> np.ndarray:
    """Return an array as bool if it holds nothing but true and false, 1 and 0.

    Others would be true: the text "False", NaN, classes, shares.
    """
    if values.dtype.kind not in "biuf" or not np.isin(values, (0, 1)).all():
        raise DataError(f"{name} has to hold true and false, or 1 and 0, alone")
    return values.astype(bool)


def or_none(value: float) -> float | None:
    """Return a float, or None for NaN, which JSON cannot hold."""
    return None if np.isnan(value) else float(value)


def pair_or_none(lower: float | np.ndarray, upper: float | np.ndarray) -> list[float] | None:
    """Return an interval as a list, or None where it is NaN."""
    return None if np.isnan(lower) else [float(lower), float(upper)]
