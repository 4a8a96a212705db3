"""Accuracy against certainty, and what leaving uncertain points "unknown" costs.

A *reliability curve* sorts points by a certainty, cuts them into bins of equal counts and compares
the mean certainty of each bin with the share of its points that are right. Where the certainty is a
probability, the two should be equal; the expected calibration error is their mean distance,
sum_b n_b/n |right_b - certainty_b|. A margin is not a probability: its curve should rise, and how
well it orders the points is measured by the area under the ROC curve, the probability that a right
point is more certain than a wrong one (ties count half).

A *threshold* turns points below it into "unknown": fewer points keep a class, and more of them
should be right.

Sources: A. Niculescu-Mizil and R. Caruana, Predicting good probabilities with supervised learning,
2005 (reliability); C. Guo et al., On calibration of modern neural networks, 2017 (the error);
C. K. Chow, On optimum recognition error and reject tradeoff, 1970 (thresholds).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from diffclass._validation import check_positive, check_unmasked
from diffclass.evaluation.intervals import (
    flags,
    or_none,
    pair_or_none,
    same_points,
    wilson_interval,
)
from diffclass.exceptions import DataError

# Percent of the points that lose their class at the default thresholds of a table, after the first.
_PERCENT_LOST = (1, 5, 10, 20, 30, 40, 50, 75)


@dataclass(frozen=True)
class ReliabilityCurve:
    """Share of right points by certainty.

    Attributes
    ----------
    certainty : ndarray of shape (n_bins,)
        Mean certainty of each bin, rising.
    accuracy, lower, upper : ndarray of shape (n_bins,)
        Share of right points in each bin, with Wilson's interval.
    counts : ndarray of int of shape (n_bins,)
        Number of points in each bin.
    edges : ndarray of shape (n_bins, 2)
        Least and greatest certainty of each bin.
    auc : float
        Probability that a right point is more certain than a wrong one; NaN without either.
    level : float
        Confidence of the intervals.
    """

    certainty: np.ndarray
    accuracy: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    counts: np.ndarray
    edges: np.ndarray
    auc: float
    level: float

    @property
    def expected_calibration_error(self) -> float:
        """Mean distance of accuracy and certainty; meaningful if the certainty is a probability."""
        return float(np.average(np.abs(self.accuracy - self.certainty), weights=self.counts))

    def to_dict(self) -> dict[str, Any]:
        """Return everything except the calibration error as values that JSON can hold."""
        parts = self.edges, self.certainty, self.counts, self.accuracy, self.lower, self.upper
        return {
            "auc": or_none(self.auc),
            "level": self.level,
            "bins": [
                {
                    "from": float(edge[0]),
                    "to": float(edge[1]),
                    "mean": float(mean),
                    "n_points": int(n),
                    "accuracy": float(share),
                    "interval": [float(low), float(high)],
                }
                for edge, mean, n, share, low, high in zip(*parts, strict=True)
            ],
        }


def reliability_curve(
    right: ArrayLike, certainty: ArrayLike, *, n_bins: int = 10, level: float = 0.95
) -> ReliabilityCurve:
    """Compare the certainty of points with the share of them that is right.

    Parameters
    ----------
    right : array-like of bool of shape (n,)
        Whether each point was given its class.
    certainty : array-like of shape (n,)
        Margin, or probability of the class given; finite.
    n_bins : int, default=10
        Number of bins, of equal counts as far as ties allow: equally certain points share a bin.
    level : float, default=0.95
        Confidence of the intervals.

    Raises
    ------
    DataError
        If the arrays differ in length or are empty, or a certainty is not finite.
    ParameterError
        If there is less than one bin, or the level is not in (0, 1).

    See Also
    --------
    threshold_table : How many points are left, and right, above a certainty.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.evaluation import reliability_curve
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(4000)
    >>> curve = reliability_curve(rng.random(4000) < p, p, n_bins=4)
    >>> curve.accuracy.round(2), round(curve.expected_calibration_error, 2)
    (array([0.14, 0.38, 0.63, 0.86]), 0.01)
    """
    check_positive(n_bins, "n_bins", integer=True)
    right, certainty = _checked(right, certainty)
    # equal values share the middle of their places
    _, value, n_equal = np.unique(certainty, return_inverse=True, return_counts=True)
    places = (n_equal.cumsum() - n_equal / 2)[value]
    _, bins = np.unique((places * n_bins / len(places)).astype(np.intp), return_inverse=True)
    counts = np.bincount(bins)
    n_right = np.bincount(bins, weights=right)
    lower, upper = wilson_interval(n_right, counts, level=level)
    least, greatest = np.full(len(counts), np.inf), np.full(len(counts), -np.inf)
    np.minimum.at(least, bins, certainty)
    np.maximum.at(greatest, bins, certainty)
    return ReliabilityCurve(
        certainty=np.bincount(bins, weights=certainty) / counts,
        accuracy=n_right / counts,
        lower=lower,
        upper=upper,
        counts=counts,
        edges=np.column_stack([least, greatest]),
        auc=_area_under_curve(right, places),
        level=level,
    )


def default_thresholds(population: ArrayLike) -> np.ndarray:
    """Return thresholds at which 100, 99, 95, 90, 80, 70, 60, 50 and 25 percent keep a class.

    Parameters
    ----------
    population : array-like of shape (n,)
        Certainty of the points; infinite ones are left out.

    Returns
    -------
    ndarray
        Rising, the first at most 0; fewer where points are equally certain.

    See Also
    --------
    threshold_table : Counts what they keep.

    Examples
    --------
    >>> from diffclass.evaluation import default_thresholds
    >>> default_thresholds([0.2, 0.9, 0.4, 0.7])
    array([0. , 0.2, 0.4, 0.7, 0.9])
    """
    check_unmasked(population, name="population")
    values = np.asarray(population, dtype=float)
    classed = np.sort(values[np.isfinite(values)])
    if not len(classed):
        return np.zeros(1)
    first = np.array(_PERCENT_LOST) * len(classed) // 100
    return np.unique(np.append(min(0.0, classed[0]), classed[first]))


@dataclass(frozen=True)
class ThresholdTable:
    """How many points keep a class, and how many are right, where the others are "unknown".

    Attributes
    ----------
    thresholds : ndarray of shape (m,)
        Rising; points at least as certain keep their class.
    share : ndarray of shape (m,)
        Share of all pixels or points that keep a class.
    n_kept : ndarray of int of shape (m,)
        Points of known truth that keep a class.
    accuracy, lower, upper : ndarray of shape (m,)
        Share of right points among these, with Wilson's interval; NaN where none is left.
    overall_accuracy : ndarray of shape (m,)
        Share of all points of known truth that keep their right class.
    level : float
        Confidence of the intervals.
    """

    thresholds: np.ndarray
    share: np.ndarray
    n_kept: np.ndarray
    accuracy: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    overall_accuracy: np.ndarray
    level: float

    def to_dict(self) -> dict[str, Any]:
        """Return the table row by row, as values that JSON can hold."""
        return {
            "level": self.level,
            "rows": [
                {
                    "threshold": float(self.thresholds[i]),
                    "share": float(self.share[i]),
                    "n_points": int(self.n_kept[i]),
                    "accuracy": or_none(self.accuracy[i]),
                    "interval": pair_or_none(self.lower[i], self.upper[i]),
                    "overall_accuracy": float(self.overall_accuracy[i]),
                }
                for i in range(len(self.thresholds))
            ],
        }


def threshold_table(
    right: ArrayLike,
    certainty: ArrayLike,
    *,
    thresholds: ArrayLike | None = None,
    population: ArrayLike | None = None,
    level: float = 0.95,
) -> ThresholdTable:
    """Count the points that each threshold keeps and how many of them are right.

    Parameters
    ----------
    right : array-like of bool of shape (n,)
        Whether each point of known truth was given its class.
    certainty : array-like of shape (n,)
        Its margin or probability; -inf for a point without a class at any threshold.
    thresholds : array-like, optional
        By default the `default_thresholds` of the population.
    population : array-like, optional
        Certainty of all points, for their share; -inf for those without a class. By default that
        of the points of known truth.
    level : float, default=0.95
        Confidence of the intervals.

    Raises
    ------
    DataError
        If the arrays differ in length or are empty, or hold NaN.

    See Also
    --------
    reliability_curve : Whether probabilities are true.

    Examples
    --------
    >>> from diffclass.evaluation import threshold_table
    >>> table = threshold_table([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9], thresholds=[0, 0.3, 0.8])
    >>> table.share, table.accuracy.round(2)
    (array([1.  , 0.75, 0.25]), array([0.5 , 0.67, 1.  ]))
    """
    right, certainty = _checked(right, certainty, finite=False)
    if population is not None:
        check_unmasked(population, name="population")
    everyone = np.sort(certainty if population is None else np.asarray(population, dtype=float))
    if everyone.ndim != 1 or not len(everyone) or np.isnan(everyone[-1]):
        raise DataError("population is no list, or holds NaN; give the certainty of every point")
    limits = default_thresholds(everyone) if thresholds is None else np.unique(thresholds)
    if np.isnan(limits).any():
        raise DataError("thresholds hold NaN")
    order = np.argsort(certainty)
    first = np.searchsorted(certainty[order], limits)
    n_kept = len(right) - first
    n_right = np.append(np.cumsum(right[order][::-1])[::-1], 0)[first]
    lower, upper = wilson_interval(n_right, n_kept, level=level)
    with np.errstate(invalid="ignore"):
        accuracy = n_right / n_kept
    share = 1 - np.searchsorted(everyone, limits) / len(everyone)
    return ThresholdTable(
        thresholds=limits,
        share=share,
        n_kept=n_kept,
        accuracy=accuracy,
        lower=lower,
        upper=upper,
        overall_accuracy=n_right / len(right),
        level=level,
    )


def _area_under_curve(right: np.ndarray, places: np.ndarray) -> float:
    """Return the probability that a right point is surer than a wrong one; a tie counts half.

    ``places`` are those of the points by certainty, from 1/2 on. Source: J. A. Hanley and
    B. J. McNeil, The meaning and use of the area under a ROC curve, Radiology 1982.
    """
    n_right = np.count_nonzero(right)
    n_pairs = n_right * (len(right) - n_right)
    return float((places[right].sum() - n_right**2 / 2) / n_pairs) if n_pairs else float("nan")


def _checked(
    right: ArrayLike, certainty: ArrayLike, *, finite: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    right, certainty = same_points(right=right, certainty=certainty)
    certainty = certainty.astype(float)
    if np.isnan(certainty).any() or (finite and not np.isfinite(certainty).all()):
        raise DataError("certainty holds NaN or infinity; leave out points without one")
    return flags(right, "right"), certainty
