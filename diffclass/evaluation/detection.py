"""How well scores find what is rare: detections against false alarms (the ROC curve).

At a threshold s, of the m anomalies and n other points

    detected(s) = #{anomalies with score >= s} / m,    false alarms(s) = #{others >= s} / n,

and the area under this curve is the probability that an anomaly scores higher than another point,
ties counting one half.

Source: J. Hanley and B. McNeil, The meaning and use of the area under a receiver operating
characteristic (ROC) curve, 1982.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from diffclass.exceptions import DataError


@dataclass(frozen=True, eq=False)
class DetectionCurve:
    """Detections against false alarms; see `detection_curve`.

    Attributes
    ----------
    false_alarms, detected : ndarray of shape (n_thresholds,), 0 to 1
        Shares of the other points and of the anomalies, from (0, 0) to (1, 1).
    area : float
        Under the curve, 0 to 1; 1/2 for scores that say nothing.
    n_anomalies, n_others : int
    """

    false_alarms: np.ndarray
    detected: np.ndarray
    area: float
    n_anomalies: int
    n_others: int

    def detected_at(self, false_alarms: float) -> float:
        """Return the largest share detected with at most that share of false alarms."""
        return float(self.detected[self.false_alarms <= false_alarms].max(initial=0.0))

    def to_dict(self) -> dict[str, Any]:
        """Return area, counts and two points of the curve in values that JSON can hold."""
        return {
            "area": self.area,
            "n_anomalies": self.n_anomalies,
            "n_others": self.n_others,
            "detected_at": {str(share): self.detected_at(share) for share in (0.001, 0.01)},
        }


def detection_curve(is_anomaly: ArrayLike, scores: ArrayLike) -> DetectionCurve:
    """Compare scores with the truth.

    Parameters
    ----------
    is_anomaly : array-like of bool of shape (n,)
    scores : array-like of shape (n,)
        Finite; the higher, the more likely an anomaly.

    Returns
    -------
    DetectionCurve

    Raises
    ------
    DataError
        If the shapes differ, a score is not finite, or all or none of the points are anomalies.

    Examples
    --------
    >>> from diffclass.evaluation import detection_curve
    >>> curve = detection_curve([True, False, True, False], [4.0, 3.0, 2.0, 1.0])
    >>> curve.area, curve.detected_at(0.1)
    (0.75, 0.5)
    """
    truth, values = np.asarray(is_anomaly, dtype=bool), np.asarray(scores, dtype=np.float64)
    if truth.ndim != 1 or truth.shape != values.shape:
        raise DataError(
            f"is_anomaly has shape {truth.shape}, scores {values.shape}; give one of each per point"
        )
    if not np.isfinite(values).all():
        raise DataError("scores have to be finite; leave points without a score out")
    m = int(truth.sum())
    n = len(truth) - m
    if m == 0 or n == 0:
        raise DataError(f"{m} of {m + n} points are anomalies; some of both kinds are needed")
    from sklearn.metrics import auc, roc_curve

    alarms, hits, _ = roc_curve(truth, values, drop_intermediate=False)
    return DetectionCurve(alarms, hits, float(auc(alarms, hits)), m, n)
