"""Confidence intervals of proportions, and of means of proportions.

Wilson's interval of k right points among n holds the proportions p with
|k/n - p| <= z sqrt(p (1 - p) / n), z the normal quantile. Unlike k/n -+ z sqrt(k/n (1 - k/n) / n)
it lies within 0 and 1 and does not shrink to a point where all points are right. The limits of
several independent proportions are combined for their mean by the square-and-add rule.

Both count points as if drawn independently. Neighbouring pixels are alike: where all pixels of
some fields are labelled, only the fields, or squares of the picture, are independent. With k_b
right of n_b points in cluster b of B, and p = sum k_b / n,

    V(p) = B / (B - 1) sum_b (k_b - p n_b)^2 / n^2,

and the interval is p -+ t sqrt(V), with t the quantile of Student's distribution with B - 1 degrees
of freedom.

Sources: E. B. Wilson, Probable inference, the law of succession, and statistical inference, 1927;
G. Y. Zou and A. Donner, Construction of confidence limits about effect measures, 2008; W. G.
Cochran, Sampling Techniques, 1977, section 9A (clusters of unequal sizes).
"""

from __future__ import annotations

from numbers import Real

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri, stdtrit

from diffclass.exceptions import DataError, ParameterError


def normal_quantile(level: float) -> float:
    """Return z such that a standard normal lies within -z and z with probability ``level``.

    Raises
    ------
    ParameterError
        If the level is not in (0, 1).
    """
    if not (isinstance(level, Real) and 0 < level < 1):
        raise ParameterError(f"level = {level!r}; a confidence level is between 0 and 1")
    return float(ndtri((1 + level) / 2))


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


def clustered_interval(
    right: ArrayLike, clusters: ArrayLike, *, level: float = 0.95
) -> tuple[float, float, int]:
    """Return the interval of the share of right points where only clusters are independent.

    Parameters
    ----------
    right : array-like of bool of shape (n,)
        Whether each point was given its class.
    clusters : array-like of shape (n,)
        Cluster of each point: field, tile, square of the picture.
    level : float, default=0.95
        Confidence, between 0 and 1.

    Returns
    -------
    lower, upper : float
        0 to 1; NaN for a single cluster.
    n_clusters : int

    Raises
    ------
    DataError
        If the arrays differ in length or are empty.
    ParameterError
        If the level is not in (0, 1).

    Examples
    --------
    >>> from diffclass.evaluation import clustered_interval
    >>> lower, upper, _ = clustered_interval([1, 1, 1, 0, 0, 0, 1, 1], [1, 1, 1, 2, 2, 2, 3, 3])
    >>> round(lower, 2), round(upper, 2)
    (0.0, 1.0)
    """
    normal_quantile(level)  # checks it
    right, clusters = np.asarray(right, dtype=float), np.asarray(clusters)
    if right.shape != clusters.shape or right.ndim != 1 or not len(right):
        raise DataError(
            f"right has shape {right.shape}, clusters {clusters.shape}; give both for the same "
            "points, at least one"
        )
    _, numbers, counts = np.unique(clusters, return_inverse=True, return_counts=True)
    n_clusters, p = len(counts), right.mean()
    if n_clusters < 2:
        return float("nan"), float("nan"), n_clusters
    surplus = np.bincount(numbers, weights=right) - p * counts
    error = np.sqrt(n_clusters / (n_clusters - 1)) * np.linalg.norm(surplus) / len(right)
    half = stdtrit(n_clusters - 1, (1 + level) / 2) * error
    return max(float(p - half), 0.0), min(float(p + half), 1.0), n_clusters


def mean_interval(p: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> tuple[float, float]:
    """Return the interval of the mean of independent proportions from the interval of each.

    m - sqrt(sum (p - lower)^2) / K and m + sqrt(sum (upper - p)^2) / K, m the mean of K.

    Parameters
    ----------
    p, lower, upper : ndarray of shape (K,)
        Estimates and their limits.

    Returns
    -------
    lower, upper : float
    """
    mean = float(np.mean(p))
    below, above = np.linalg.norm(p - lower) / len(p), np.linalg.norm(upper - p) / len(p)
    return mean - float(below), mean + float(above)
