"""Scores from elsewhere as hints: what is known of the classes before any label.

Another source has a score for each point and class: the similarity of a picture to the names of the
classes, an older classifier, a map of last year. The class of a point's highest score is its
*hint*, a label at which the walk stops with a small probability eta only: it enters the walk of
absorbing labels beside the hard ones (an "external classifier", X. Zhu, Z. Ghahramani and
J. Lafferty 2003, section 5, without what its scores say besides their order, so that their scale is
of no matter). Hints of one class count as one observation where the time is chosen.

*Without labels* eta is 0.05: a point takes the hint that is most frequent around it, and clusters
whose hints contradict each other take one class.

*With labels* the hints of a class count together as much as kappa of its labels,

    eta = kappa n_classes / n,    kappa = (a / (1 - a))^2 / (20 sqrt(L)), at most 10,

where L is the median number of labels per class, and a the share of the labels that the map of the
hints alone gets right (with one more right and one more wrong, so that few labels say little). Eta
is at most 0.1. A weight that does not fall with n would drown the labels of a large graph. Hints
whose map is wrong more often than right (a < 1/2) are left out, unless a class has no label.
Measured in experiments/few_labels/scores.py.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from diffclass.exceptions import DataError, ParameterError
from diffclass.label_diffusion.diffusion import diffuse
from diffclass.label_diffusion.labels import Labels
from diffclass.label_diffusion.parameters import DiffusionRules
from diffclass.operators.markov import MarkovOperator
from diffclass.targets import UNLABELLED, encode_labels

ALONE, MOST = 0.05, 0.1  # eta without labels, and at most
_SQUARE = 20  # of the odds of a, at which kappa is 1 with one label per class
_LEAST_RIGHT, _MOST_LABELS = 0.5, 10.0  # a, kappa


class ScorePrior:
    """The hints of some scores, and the classes of labels and scores together.

    Parameters
    ----------
    scores : array-like of shape (n, n_scored)
        The higher, the more likely; rows with NaN, and with equal highest scores, are no hint. The
        columns of a data frame name the classes; those of an array are the classes of y in their
        order or, without any label, 0, 1, ...
    y : array-like of shape (n,)
        Labels, marked as in `Labels.of`.

    Attributes
    ----------
    classes : ndarray
        Sorted.
    y_codes, hints : ndarray of int of shape (n,)
        Index of the class of each label and of each hint, -1 for none.

    Raises
    ------
    DataError
        For scores of another number of points, without a finite row, of labelled points only, or
        not of one kind with y.
    ParameterError
        For an array whose columns are not the classes of y.
    """

    def __init__(self, scores: Any, y: Any):
        values = np.asarray(scores, dtype=np.float64)
        labelled, codes = encode_labels(y)
        if values.ndim != 2 or len(values) != len(codes):
            raise DataError(
                f"score_prior has shape {values.shape}; it is a score for each of {len(codes)} "
                "points and each class"
            )
        names = _names(scores, values.shape[1], labelled)
        try:
            self.classes = np.unique(np.concatenate([names, labelled]))
        except TypeError:
            raise DataError(
                f"y has classes such as {labelled.tolist()[0]!r}, score_prior columns such as "
                f"{names.tolist()[0]!r}; name them alike"
            ) from None
        self.y_codes = np.full(len(codes), UNLABELLED)
        self.y_codes[codes >= 0] = np.searchsorted(self.classes, labelled)[codes[codes >= 0]]
        self.hints = np.searchsorted(self.classes, names)[_highest(values)]
        self.hints[_is_no_hint(values)] = UNLABELLED
        if not (self.hints >= 0).any():
            raise DataError("score_prior has no row with one highest score; leave it out")
        if not ((self.hints >= 0) & (self.y_codes < 0)).any():
            raise DataError("score_prior says nothing of an unlabelled point; leave it out")

    @property
    def is_alone(self) -> bool:
        """Whether there is no label."""
        return not (self.y_codes >= 0).any()

    def labels(self, labels: Labels | None, eta: float) -> Labels:
        """Return hints of a weight beside labels; where both are, the label counts."""
        hinted = np.flatnonzero((self.hints >= 0) & (self.y_codes < 0))
        codes = self.hints[hinted]
        if labels is None:
            points, weight, groups = (np.zeros(0, dtype=np.intp), np.zeros(0), np.zeros(0, int))
            own = np.zeros(0, dtype=np.intp)
        else:
            points, weight, groups = labels.points, labels.weight, labels.groups
            own = np.searchsorted(self.classes, labels.classes)[labels.codes]
        first = int(groups.max(initial=-1)) + 1
        joined = Labels(
            n_points=len(self.hints),
            classes=self.classes,
            points=np.concatenate([points, hinted]),
            codes=np.concatenate([own, codes]),
            weight=np.concatenate([weight, np.full(len(hinted), eta)]),
            groups=np.concatenate([groups, first + codes]),
            hints=np.concatenate([np.zeros(len(points), bool), np.ones(len(hinted), bool)]),
        )
        return joined.only(np.argsort(joined.points, kind="stable"))

    def weighted(
        self, operator: MarkovOperator, labels: Labels | None, rules: DiffusionRules
    ) -> tuple[Labels, float]:
        """Return labels and hints with the weight eta that the labels choose, and eta."""
        if labels is None:
            return self.labels(None, ALONE), ALONE
        alone = self.labels(None, ALONE)
        codes = diffuse(operator, alone, replace(rules, sizes=None, per_class=1.0)).codes
        own = np.searchsorted(self.classes, labels.classes)[labels.codes]
        n_right = int(np.count_nonzero(codes[labels.points] == own))
        a = (n_right + 1) / (len(labels.points) + 2)
        if a < _LEAST_RIGHT and len(labels.classes) == len(self.classes):
            return labels, 0.0
        eta = min(_labels_worth(a, labels.per_class) * len(self.classes) / len(self.hints), MOST)
        return self.labels(labels, eta), eta


def _labels_worth(a: float, per_class: float) -> float:
    """Return kappa."""
    return min((a / (1 - a)) ** 2 / (_SQUARE * np.sqrt(per_class)), _MOST_LABELS)


def _names(scores: Any, n_columns: int, labelled: np.ndarray) -> np.ndarray:
    columns = getattr(scores, "columns", None)
    if columns is not None:
        names = np.asarray(list(columns))
        if len(np.unique(names)) < len(names):
            raise DataError("score_prior has two columns of one class; keep one")
        return names.astype(object) if names.dtype.kind in "US" else names
    if not len(labelled):
        return np.arange(n_columns)
    if len(labelled) != n_columns:
        raise ParameterError(
            f"score_prior has {n_columns} columns, y {len(labelled)} classes; name the columns, as "
            "pandas.DataFrame(scores, columns=classes) does"
        )
    return labelled


def _highest(values: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(values), -np.inf, values).argmax(axis=1)


def _is_no_hint(values: np.ndarray) -> np.ndarray:
    missing = np.isnan(values).any(axis=1)
    if values.shape[1] == 1:
        return missing
    two = np.partition(np.where(missing[:, None], 0, values), -2, axis=1)[:, -2:]
    return missing | (two[:, 0] == two[:, 1])
