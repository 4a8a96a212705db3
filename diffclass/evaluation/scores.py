"""Agreement of classes, clusters and detections with the truth.

**Classes.** With n_ij points of class i that were given class j,

    overall accuracy                    p = sum n_ii / n
    recall (producer's accuracy)        n_ii / n_i+
    precision (user's accuracy)         n_ii / n_+i
    average accuracy                    the mean recall
    Cohen's kappa                       (p - c) / (1 - c)

where c = sum n_i+ n_+i / n^2 is the agreement by chance.

**Clusters** have no names. Each cluster is given the class, and each class the cluster, for which
most points agree (the best assignment, found by the Hungarian method); accuracies and kappa are
those after it. Clusters beyond the number of classes get none, and their points count as wrong. Two
measures need no assignment: normalised mutual information I(T; C) / ((H(T) + H(C)) / 2), and the
adjusted Rand index, the share of pairs on which both agree, less what chance would give.

**Detections** of what is rare. At a threshold s, of the m anomalies and n other points

    detected(s) = #{anomalies with score >= s} / m,    false alarms(s) = #{others >= s} / n,

and the area under this (ROC) curve is the probability that an anomaly scores higher than another
point, ties counting one half.

Sources: J. Cohen, A coefficient of agreement for nominal scales, 1960; J. L. Fleiss, J. Cohen and
B. S. Everitt, Large sample standard errors of kappa and weighted kappa, 1969; H. W. Kuhn, The
Hungarian method for the assignment problem, 1955; L. Hubert and P. Arabie, Comparing partitions,
1985; A. Strehl and J. Ghosh, Cluster ensembles, 2002; J. Hanley and B. McNeil, The meaning and use
of the area under a receiver operating characteristic (ROC) curve, 1982.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from diffclass.evaluation.intervals import (
    flags,
    mean_interval,
    normal_quantile,
    or_none,
    pair_or_none,
    same_points,
    wilson_interval,
)
from diffclass.exceptions import DataError
from diffclass.names import same_names
from diffclass.targets import UNLABELLED, encode_labels

_UNASSIGNED = -1


@dataclass(frozen=True)
class ClassScore:
    """Precision and recall of one class.

    Attributes
    ----------
    precision : float
        Share of the points given this class that have it (user's accuracy); NaN without any.
    recall : float
        Share of the points of this class that were given it (producer's accuracy); NaN without
        any.
    n_true, n_predicted : int
        Number of points of the class, and of points given the class.
    """

    precision: float
    recall: float
    n_true: int
    n_predicted: int


@dataclass(frozen=True)
class Scores:
    """Agreement of predictions with the truth.

    Attributes
    ----------
    overall_accuracy : float
        Share of points that were given their class.
    average_accuracy : float
        Mean recall of the classes that occur in the truth.
    kappa : float
        Cohen's kappa, agreement beyond chance; NaN where chance alone gives full agreement.
    classes : ndarray of shape (n_classes,)
        Classes of truth and prediction together, sorted.
    confusion : ndarray of int of shape (n_classes, n_classes)
        Rows are the truth, columns the prediction.
    """

    overall_accuracy: float
    average_accuracy: float
    kappa: float
    classes: np.ndarray
    confusion: np.ndarray

    @property
    def per_class(self) -> dict[Any, ClassScore]:
        """Score of each class, by its value."""
        correct = self.confusion.diagonal()
        n_true, n_predicted = self.confusion.sum(axis=1), self.confusion.sum(axis=0)
        with np.errstate(invalid="ignore"):
            precision, recall = correct / n_predicted, correct / n_true
        return {
            value.item(): ClassScore(float(p), float(r), int(t), int(m))
            for value, p, r, t, m in zip(
                self.classes, precision, recall, n_true, n_predicted, strict=True
            )
        }

    def intervals(self, *, level: float = 0.95) -> dict[str, Any]:
        """Return confidence intervals of all scores, as values that JSON can hold.

        Wilson's for the overall accuracy, precisions and recalls, the square-and-add rule for the
        average accuracy, kappa -+ z standard errors for kappa: [lower, upper], or None without
        points.
        """
        correct = self.confusion.diagonal()
        overall = wilson_interval(correct.sum(), self.confusion.sum(), level=level)
        precision = wilson_interval(correct, self.confusion.sum(axis=0), level=level)
        recall = wilson_interval(correct, self.confusion.sum(axis=1), level=level)
        return {
            "level": level,
            "overall_accuracy": pair_or_none(*overall),
            "average_accuracy": pair_or_none(*self._average_interval(recall)),
            "kappa": pair_or_none(*self._kappa_interval(level)),
            "per_class": {
                str(value): {
                    "precision": pair_or_none(precision[0][i], precision[1][i]),
                    "recall": pair_or_none(recall[0][i], recall[1][i]),
                }
                for i, value in enumerate(self.classes.tolist())
            },
        }

    def to_dict(self, *, level: float = 0.95) -> dict[str, Any]:
        """Return everything as values that JSON can hold; NaN becomes None."""
        return {
            "overall_accuracy": self.overall_accuracy,
            "average_accuracy": self.average_accuracy,
            "kappa": or_none(self.kappa),
            "n_points": int(self.confusion.sum()),
            "per_class": {
                str(value): {
                    "precision": or_none(score.precision),
                    "recall": or_none(score.recall),
                    "n_true": score.n_true,
                    "n_predicted": score.n_predicted,
                }
                for value, score in self.per_class.items()
            },
            "intervals": self.intervals(level=level),
            "classes": self.classes.tolist(),
            "confusion": self.confusion.tolist(),
        }

    def _average_interval(self, recall: tuple[np.ndarray, np.ndarray]) -> tuple[float, float]:
        n_true = self.confusion.sum(axis=1)
        occurs = n_true > 0
        p = self.confusion.diagonal()[occurs] / n_true[occurs]
        return mean_interval(p, recall[0][occurs], recall[1][occurs])

    def _kappa_interval(self, level: float) -> tuple[float, float]:
        half = normal_quantile(level) * kappa_standard_error(self.confusion)
        return max(self.kappa - half, -1.0), min(self.kappa + half, 1.0)


def classification_scores(truth: ArrayLike, predicted: ArrayLike) -> Scores:
    """Compare predictions with the truth.

    Parameters
    ----------
    truth, predicted : array-like of shape (n,)
        Class of each point. Points whose true class is a mark of `diffclass.names`, such as -1,
        None or a masked entry, are left out. A prediction that is one, or does not occur in the
        truth, such as "unknown", counts as wrong; marks are the class -1, among texts "".

    Raises
    ------
    DataError
        If the arrays differ in length or no true class is known.

    See Also
    --------
    cluster_scores : For clusters, whose numbers mean nothing.
    stratified_areas : For a sample that has more of rare classes than the map.
    detection_curve : For scores of anomalies.

    Examples
    --------
    >>> from diffclass.evaluation import classification_scores
    >>> scores = classification_scores([1, 1, 1, 2], [1, 1, 2, 2])
    >>> scores.overall_accuracy, round(scores.average_accuracy, 3), scores.kappa
    (0.75, 0.833, 0.5)
    """
    classes, (true, found) = common_codes(truth, predicted)
    k, n = len(classes), len(true)
    confusion = np.bincount(true * k + found, minlength=k * k).reshape(k, k)
    n_true = confusion.sum(axis=1)
    occurs, agreed = n_true > 0, float(confusion.trace() / n)
    by_chance = float(n_true @ confusion.sum(axis=0)) / n**2
    return Scores(
        overall_accuracy=agreed,
        average_accuracy=float((confusion.diagonal()[occurs] / n_true[occurs]).mean()),
        kappa=(agreed - by_chance) / (1 - by_chance) if by_chance < 1 else np.nan,
        classes=classes,
        confusion=confusion,
    )


def common_codes(
    truth: ArrayLike, predicted: ArrayLike
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Return the classes of both, and the class numbers of the points whose true one is known."""
    same_points(truth=_uncovered(truth), predicted=_uncovered(predicted))
    (own, true), (others, found) = encode_labels(truth), encode_labels(predicted)
    known = true >= 0
    if not known.any():
        raise DataError("the true class of no point is known; there is nothing to compare")
    is_own = same_names(others.tolist(), own.tolist(), sides=("the predictions", "the truth"))
    names = [*own.tolist(), *(name for name in others.tolist() if name not in is_own)]
    none = UNLABELLED if isinstance(names[0], Real) else ""
    values = np.array([*names, none])
    values = values.astype(str) if values.dtype == object else values  # dates and ""
    classes, place = np.unique(values, return_inverse=True)
    place_of = dict(zip([*names, none], place.tolist(), strict=True))
    of_found = [place_of[is_own.get(name, name)] for name in others.tolist()]
    codes = place[true[known]], np.array([*of_found, place_of[none]])[found[known]]
    if place_of[none] in codes[1]:
        return classes, codes
    before = [code - (code > place_of[none]) for code in codes]
    return np.delete(classes, place_of[none]), (before[0], before[1])


def _uncovered(values: ArrayLike) -> ArrayLike:
    return values.data if isinstance(values, np.ma.MaskedArray) else values


def kappa_standard_error(confusion: np.ndarray) -> float:
    """Return the large-sample standard error of Cohen's kappa, NaN where kappa is NaN.

    The delta method on the shares p_ij (Fleiss et al. 1969): g_ij = d kappa / d p_ij, and the
    variance is (sum p g^2 - (sum p g)^2) / n.
    """
    n = confusion.sum()
    p = confusion / n
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    agreed, by_chance = p.trace(), float(rows @ columns)
    if by_chance >= 1:
        return float("nan")
    change = (agreed - 1) / (1 - by_chance) ** 2 * (columns[:, None] + rows)
    change = change + np.eye(len(p)) / (1 - by_chance)
    variance = (p * change**2).sum() - (p * change).sum() ** 2
    return float(np.sqrt(max(variance, 0.0) / n))


@dataclass(frozen=True)
class ClusterScores:
    """Agreement of clusters with the truth.

    Attributes
    ----------
    scores : Scores
        Accuracies, kappa and confusion after the best assignment; class -1 holds the points whose
        cluster was given none.
    assignment : mapping of int to int
        Class of each cluster that was given one.
    mutual_information : float
        Normalised, 0 to 1.
    adjusted_rand : float
        1 for equal partitions, 0 on average by chance.
    """

    scores: Scores
    assignment: Mapping[int, int]
    mutual_information: float
    adjusted_rand: float

    def to_dict(self) -> dict[str, Any]:
        """Return everything as values that JSON can hold."""
        return {
            "assignment": {str(cluster): value for cluster, value in self.assignment.items()},
            "normalized_mutual_information": self.mutual_information,
            "adjusted_rand_index": self.adjusted_rand,
            **self.scores.to_dict(),
        }


def cluster_scores(truth: ArrayLike, clusters: ArrayLike) -> ClusterScores:
    """Compare clusters with the truth after the best assignment.

    Parameters
    ----------
    truth : array-like of int of shape (n,)
        Class of each point, at least 0.
    clusters : array-like of int of shape (n,)
        Cluster of each point.

    Raises
    ------
    DataError
        If the arrays differ in length, are empty, or hold other values than whole numbers.

    See Also
    --------
    match_classes : For classes that may have names or numbers in common.

    Examples
    --------
    >>> from diffclass.evaluation import cluster_scores
    >>> found = cluster_scores([1, 1, 1, 2, 2, 2], [7, 7, 7, 4, 4, 9])
    >>> found.assignment, round(found.scores.overall_accuracy, 3)
    ({4: 2, 7: 1}, 0.833)
    """
    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
    from sklearn.metrics.cluster import contingency_matrix

    truth, clusters = same_points(truth=truth, clusters=clusters)
    if truth.dtype.kind not in "iu" or clusters.dtype.kind not in "iu" or truth.min() < 0:
        raise DataError("classes are whole numbers, at least 0, and clusters whole numbers")
    classes, (found, places) = np.unique(truth), np.unique(clusters, return_inverse=True)
    pairs = linear_sum_assignment(contingency_matrix(clusters, truth), maximize=True)
    assignment = {int(found[c]): int(classes[k]) for c, k in zip(*pairs, strict=True)}
    given = np.array([assignment.get(cluster, _UNASSIGNED) for cluster in found.tolist()])
    return ClusterScores(
        scores=classification_scores(truth.astype(np.int64), given[places]),
        assignment=assignment,
        mutual_information=float(normalized_mutual_info_score(truth, clusters)),
        adjusted_rand=float(adjusted_rand_score(truth, clusters)),
    )


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

    Raises
    ------
    DataError
        If the shapes differ, a score is not finite, or all or none of the points are anomalies.

    See Also
    --------
    classification_scores : For classes in place of scores.
    threshold_table : For the certainty of a classifier.

    Examples
    --------
    >>> from diffclass.evaluation import detection_curve
    >>> curve = detection_curve([True, False, True, False], [4.0, 3.0, 2.0, 1.0])
    >>> curve.area, curve.detected_at(0.1)
    (0.75, 0.5)
    """
    from sklearn.metrics import auc, roc_curve

    truth, values = same_points(is_anomaly=is_anomaly, scores=scores)
    truth, values = flags(truth, "is_anomaly"), values.astype(np.float64)
    if not np.isfinite(values).all():
        raise DataError("scores have to be finite; leave points without a score out")
    m = int(truth.sum())
    n = len(truth) - m
    if m == 0 or n == 0:
        raise DataError(f"{m} of {m + n} points are anomalies; some of both kinds are needed")
    alarms, hits, _ = roc_curve(truth, values, drop_intermediate=False)
    return DetectionCurve(alarms, hits, float(auc(alarms, hits)), m, n)
