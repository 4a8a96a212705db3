"""How good a classification is, and splitters for partly labelled data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from diffclass._validation import check_positive
from diffclass.exceptions import DataError, ParameterError
from diffclass.labels import encode_labels


@dataclass(frozen=True)
class ClassScore:
    """How well one class was found.

    Attributes
    ----------
    precision : float
        Share of the points given this class that have it (user's accuracy), NaN if none was.
    recall : float
        Share of the points of this class that were given it (producer's accuracy), NaN if there
        are none.
    n_true, n_predicted : int
        Points of the class, points given the class.
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
        Share of points given their class.
    average_accuracy : float
        Mean recall of the classes that occur in the truth.
    kappa : float
        Cohen's kappa: agreement beyond chance; NaN where chance alone would agree fully.
    classes : ndarray of shape (n_classes,)
        Those of truth and prediction together, sorted.
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

    def to_dict(self) -> dict[str, Any]:
        """Return everything as what JSON can hold; NaN becomes None."""
        return {
            "overall_accuracy": self.overall_accuracy,
            "average_accuracy": self.average_accuracy,
            "kappa": _or_none(self.kappa),
            "n_points": int(self.confusion.sum()),
            "per_class": {
                str(value): {
                    "precision": _or_none(score.precision),
                    "recall": _or_none(score.recall),
                    "n_true": score.n_true,
                    "n_predicted": score.n_predicted,
                }
                for value, score in self.per_class.items()
            },
            "classes": self.classes.tolist(),
            "confusion": self.confusion.tolist(),
        }


def classification_scores(truth: Any, predicted: Any) -> Scores:
    """Compare predictions with the truth.

    Parameters
    ----------
    truth, predicted : array-like of shape (n,)
        Class of each point; a predicted value that is no class of the truth, such as "unknown",
        counts as wrong.

    Returns
    -------
    Scores
        Overall and average accuracy, kappa and the confusion matrix.

    Raises
    ------
    DataError
        For arrays of different length or none at all.

    Examples
    --------
    >>> from diffclass.evaluation import classification_scores
    >>> scores = classification_scores([1, 1, 1, 2], [1, 1, 2, 2])
    >>> scores.overall_accuracy, round(scores.average_accuracy, 3), scores.kappa
    (0.75, 0.833, 0.5)
    """
    truth, predicted = np.asarray(truth), np.asarray(predicted)
    if truth.shape != predicted.shape or truth.ndim != 1 or not len(truth):
        raise DataError(
            f"truth has shape {truth.shape}, predictions {predicted.shape}; "
            "give one class each for the same points, at least one"
        )
    classes = np.union1d(truth, predicted)
    places = np.searchsorted(classes, truth) * len(classes) + np.searchsorted(classes, predicted)
    confusion = np.bincount(places, minlength=len(classes) ** 2).reshape(len(classes), -1)
    n_true, n_predicted = confusion.sum(axis=1), confusion.sum(axis=0)
    n = len(truth)
    overall = confusion.trace() / n
    by_chance = float(n_true @ n_predicted) / n**2
    kappa = (overall - by_chance) / (1 - by_chance) if by_chance < 1 else np.nan
    occurs = n_true > 0
    average = (confusion.diagonal()[occurs] / n_true[occurs]).mean()
    return Scores(float(overall), float(average), float(kappa), classes, confusion)


class PartlyLabelledKFold:
    """Stratified folds of the labelled points; the unlabelled are in every training set.

    Hand it to scikit-learn as ``cv=``: unlabelled points take part in the diffusion and are never
    scored.

    Parameters
    ----------
    n_splits : int, default=5
        Folds, at least 2; a class with fewer labels is missing from some test sets.
    shuffle : bool, default=True
        Whether the labelled points are shuffled first.
    random_state : int, RandomState or None, default=None
        Seeds the shuffle.

    Examples
    --------
    >>> from diffclass.evaluation import PartlyLabelledKFold
    >>> y = [0, 1, 0, 1, -1, -1]
    >>> for train, test in PartlyLabelledKFold(2, shuffle=False).split(y, y):
    ...     print(train, test)
    [2 3 4 5] [0 1]
    [0 1 4 5] [2 3]
    """

    def __init__(self, n_splits: int = 5, *, shuffle: bool = True, random_state: Any = None):
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds."""
        return self.n_splits

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the training and test indices of each fold.

        Parameters
        ----------
        X : array-like of n rows
            Not looked at.
        y : array-like of shape (n,)
            Labels; -1, None, NaN and pandas' missing values are unlabelled.
        groups : object
            Ignored.

        Yields
        ------
        train, test : ndarray of int
            All unlabelled points are in ``train``; ``test`` holds labelled points only.

        Raises
        ------
        ParameterError
            For fewer than 2 folds.
        DataError
            For fewer labelled points than folds.
        """
        if check_positive(self.n_splits, "n_splits", integer=True) < 2:
            raise ParameterError(f"n_splits = {self.n_splits}; at least 2 are needed")
        _, codes = encode_labels(y)
        labelled = np.flatnonzero(codes >= 0)
        if len(labelled) < self.n_splits:
            raise DataError(f"{len(labelled)} labelled points cannot fill {self.n_splits} folds")
        if self.shuffle:
            labelled = check_random_state(self.random_state).permutation(labelled)
        fold = np.full(len(codes), -1)
        by_class = labelled[np.argsort(codes[labelled], kind="stable")]
        fold[by_class] = np.arange(len(by_class)) % self.n_splits
        for k in range(self.n_splits):
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)


def draw_per_class(codes: np.ndarray, n_per_class: int, *, random_state: Any = None) -> np.ndarray:
    """Draw some labelled points of each class.

    Parameters
    ----------
    codes : array-like of int of shape (n,)
        Class of each point, negative where unlabelled.
    n_per_class : int
        Points drawn; of a class with fewer than twice as many, half of them (at least one), so
        that some are left to be held out.
    random_state : int, RandomState or None, default=None
        Seeds the draw.

    Returns
    -------
    ndarray of int
        Indices, sorted.

    Raises
    ------
    ParameterError
        For fewer than one point per class.
    """
    check_positive(n_per_class, "n_per_class", integer=True)
    random = check_random_state(random_state)
    codes = np.asarray(codes)
    drawn = []
    for code in np.unique(codes[codes >= 0]):
        members = np.flatnonzero(codes == code)
        size = min(n_per_class, max(1, len(members) // 2))
        drawn.append(random.choice(members, size, replace=False))
    return np.sort(np.concatenate(drawn)) if drawn else np.empty(0, dtype=np.intp)


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else value
