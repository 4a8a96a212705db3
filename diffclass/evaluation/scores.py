"""Agreement of a classification with the truth: accuracies, kappa and the confusion matrix.

With n_ij points of class i that were given class j,

    overall accuracy                    p = sum n_ii / n
    recall (producer's accuracy)        n_ii / n_i+
    precision (user's accuracy)         n_ii / n_+i
    average accuracy                    the mean recall
    Cohen's kappa                       (p - c) / (1 - c)

where c = sum n_i+ n_+i / n^2 is the agreement by chance.

Sources: J. Cohen, A coefficient of agreement for nominal scales, 1960; J. L. Fleiss, J. Cohen and
B. S. Everitt, Large sample standard errors of kappa and weighted kappa, 1969.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from diffclass.evaluation.intervals import mean_interval, normal_quantile, wilson_interval
from diffclass.exceptions import DataError


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
        average accuracy, kappa -+ z standard errors for kappa. See `diffclass.evaluation.intervals`
        for what they assume.

        Parameters
        ----------
        level : float, default=0.95
            Confidence, between 0 and 1.

        Returns
        -------
        dict
            ``level``; ``overall_accuracy``, ``average_accuracy``, ``kappa`` and, for each class in
            ``per_class``, ``precision`` and ``recall``: [lower, upper], or None without points.
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
        """Return everything as values that JSON can hold; NaN becomes None.

        Parameters
        ----------
        level : float, default=0.95
            Confidence of the intervals.
        """
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
        Class of each point. A predicted value that does not occur in the truth, such as
        "unknown", counts as wrong.

    Returns
    -------
    Scores
        Overall and average accuracy, kappa and the confusion matrix.

    Raises
    ------
    DataError
        If the arrays differ in length or are empty.

    Examples
    --------
    >>> from diffclass.evaluation import classification_scores
    >>> scores = classification_scores([1, 1, 1, 2], [1, 1, 2, 2])
    >>> scores.overall_accuracy, round(scores.average_accuracy, 3), scores.kappa
    (0.75, 0.833, 0.5)
    """
    from sklearn.metrics import cohen_kappa_score, confusion_matrix

    truth, predicted = same_points(truth, predicted)
    classes = np.union1d(truth, predicted)
    codes = np.searchsorted(classes, truth), np.searchsorted(classes, predicted)
    labels = np.arange(len(classes))
    if len(classes) > 1:
        confusion = confusion_matrix(*codes, labels=labels)
        kappa = cohen_kappa_score(*codes, labels=labels)
    else:  # chance alone gives full agreement; scikit-learn warns of a single class
        confusion, kappa = np.array([[len(truth)]]), np.nan
    n_true = confusion.sum(axis=1)
    occurs = n_true > 0
    return Scores(
        overall_accuracy=float(confusion.trace() / len(truth)),
        average_accuracy=float((confusion.diagonal()[occurs] / n_true[occurs]).mean()),
        kappa=float(kappa),
        classes=classes,
        confusion=confusion,
    )


def kappa_standard_error(confusion: np.ndarray) -> float:
    """Return the large-sample standard error of Cohen's kappa.

    The delta method on the multinomial shares p_ij of the confusion matrix: with
    g_ij = d kappa / d p_ij, the variance is (sum p g^2 - (sum p g)^2) / n.

    Parameters
    ----------
    confusion : ndarray of int of shape (n_classes, n_classes)
        At least one point.

    Returns
    -------
    float
        NaN where kappa is NaN.

    References
    ----------
    Fleiss, Cohen and Everitt 1969.
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


def same_points(truth: ArrayLike, predicted: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return both as arrays, or raise `DataError` unless they have one shape (n,), n >= 1."""
    truth, predicted = np.asarray(truth), np.asarray(predicted)
    if truth.shape != predicted.shape or truth.ndim != 1 or not len(truth):
        raise DataError(
            f"truth has shape {truth.shape}, predictions {predicted.shape}; "
            "give both for the same points, at least one"
        )
    return truth, predicted


def or_none(value: float) -> float | None:
    """Return a float, or None for NaN, which JSON cannot hold."""
    return None if np.isnan(value) else float(value)


def pair_or_none(lower: float | np.ndarray, upper: float | np.ndarray) -> list[float] | None:
    """Return an interval as a list, or None where it is NaN."""
    return None if np.isnan(lower) else [float(lower), float(upper)]
