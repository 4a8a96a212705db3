"""Scores from elsewhere as hints: what is known of the classes before any label.

Another source has a score for each point and class: the similarity of a picture to the names of the
classes, an older classifier, a map of last year. The class of a point's highest score is its
*hint*, a label at which the walk stops with a small probability eta only: it enters the walk of
absorbing labels beside the hard ones (an "external classifier", X. Zhu, Z. Ghahramani and J.
Lafferty 2003, section 5, of whose scores only the order counts, so that any scale will do). Hints
of one class count as one observation where the time is chosen.

*Without labels* eta is 0.05: a point takes the hint that is most frequent around it, and clusters
whose hints contradict each other take one class.

*With labels* the hints of a class count together as much as kappa of its labels,

    eta = kappa n_classes / n,    kappa = (a / (1 - a))^2 / (20 sqrt(L)), at most 10,

where L is the median number of labels per class, and a the share of the labels that the map of the
hints alone gets right (with one more right and one more wrong, so that few labels say little). Eta
is at most 0.1. A weight that does not fall with n would drown the labels of a large graph. Hints
whose map is wrong more often than right (a < 1/2) are left out, unless a class has no label.

*With two labels per class or more* labels can be held out. Hints are left out too if their map is
wrong at b of these where that of the labels alone is right, the other way round at c, and

    b - c > sqrt(b + c),

one standard error of the difference (`diffclass.label_diffusion.maps.is_clear_gain`). Else a few
labels do not tell which map is best, and it is the geometric mean of calibrated probabilities that
counts (a logarithmic opinion pool: C. Genest and J. Zidek, Combining probability distributions,
1986): p_L by the labels alone, p_H by the hints alone and p_B by both,

    p ~ (p_L h p_B)^(1/3),    h = a p_H + (1 - a) (1 - p_H) / (n_classes - 1).

However sure the hints' map is, it names the class with probability a and else any other (A. Dawid
and A. Skene, Maximum likelihood estimation of observer error-rates, 1979, with one rate for all
classes). So it is too where no label reaches some points. Where a class has no label, or points
keep few of many classes, the map is that by both. Sizes of the classes are met by the map that is
found without them.

*Where the user says how often hints are right,* s_0, that counts like m = 100 labels: with r of L
labels named right by the hints at their own points, s = (m s_0 + r) / (m + L). Then hints judge
both maps. A map that agrees with a share q of them names the class with probability a, where

    q = a s + (1 - a) (1 - s) / (n_classes - 1)   for that of the labels, whose errors are others,
    s = a q + (1 - a) (1 - q) / (n_classes - 1)   for that of the hints, which errs as they do,

and a is at most 1 - |q - s|. Near chance hints tell nothing, so the first is solved by ridge
regression (0.03) towards the mean of p_L at its class. From two labels per class on, a above is
that of the second line. With one, the mean is by the odds of being right,

    p ~ p_L^w p_H^(1 - w),    w = o_L / (o_L + o_H),    o = (n_classes - 1) a / (1 - a).

Measured in experiments/few_labels/scores.py.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import issparse

from diffclass._validation import check_share
from diffclass.exceptions import DataError, ParameterError, warn_user
from diffclass.label_diffusion.calibration import Calibration, calibrate_by, floored
from diffclass.label_diffusion.diffusion import LabelDiffusion, at_sizes, diffuse
from diffclass.label_diffusion.held_out_labels import HeldOutLabels, hold_out_labels
from diffclass.label_diffusion.labels import Labels
from diffclass.label_diffusion.maps import is_clear_gain, posteriors_of
from diffclass.label_diffusion.stopping import DiffusionRules
from diffclass.names import is_mark, near_name, same_names
from diffclass.neighbors import Nodes
from diffclass.operators.markov import MarkovOperator
from diffclass.targets import UNLABELLED, encode_labels

ALONE, MOST = 0.05, 0.1  # eta without labels, and at most
_STRENGTH, _RIDGE, _MOST_RIGHT = 100.0, 0.03, 0.99  # m, of q = a s + ..., a at most
_SQUARE = 20  # of the odds of a, at which kappa is 1 with one label per class
_LEAST_RIGHT, _MOST_LABELS = 0.5, 10.0  # a, kappa
_LEAST_LABELS = 2  # L, to hold labels out
_SHOWN = 8  # names in a message


@dataclass(frozen=True, eq=False)
class Hinted:
    """Labels, hints among them if they count, and the map that they make."""

    labels: Labels
    diffusion: LabelDiffusion
    eta: float | None = None  # weight of the hints, 0 if they do not count; None without any
    share: float | None = None  # 1 - w, where a mean is by the odds of being right
    calibration: Calibration | None = None  # where it was found on the way


class ScorePrior:
    """The hints of some scores, and the classes of labels and scores together.

    Parameters
    ----------
    scores : array-like of shape (n, n_scored)
        The higher, the more likely; rows with an entry that is missing (NaN, None, masked), and
        with equal highest scores, are no hint. The columns of a data frame name the classes, by
        `diffclass.names.same_names`; those of an array are the classes of y in their order or,
        without any label, 0, 1, ...
    y : array-like of shape (n,)
        Labels, marked as in `Labels.of`.
    accuracy : float, optional
        Share of the hints that are right, 0 to 1, as far as it is known beside the labels.

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
        not of one kind with y; and for columns that are marks of the unlabelled.
    ParameterError
        For an array whose columns are not the classes of y, and an accuracy out of range.

    Warns
    -----
    UserWarning
        Of columns that are no class of y, if it has labels: they become classes.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.label_diffusion import ScorePrior
    >>> prior = ScorePrior([[0.9, 0.1], [0.2, 0.7], [0.5, 0.5]], np.array(["corn", "soy", -1]))
    Traceback (most recent call last):
    diffclass.exceptions.DataError: score_prior says nothing of an unlabelled point; leave it out
    >>> prior = ScorePrior([[0.9, 0.1], [0.2, 0.7], [0.4, 0.6]], np.array(["corn", "soy", -1]))
    >>> prior.classes[prior.hints].tolist()
    ['corn', 'soy', 'soy']
    """

    def __init__(self, scores: Any, y: Any, accuracy: float | None = None):
        self.accuracy = None if accuracy is None else check_share(accuracy, "score_accuracy")
        values = _numbers(scores)
        labelled, codes = encode_labels(y)
        if values.ndim != 2 or len(values) != len(codes):
            raise DataError(
                f"score_prior has shape {values.shape}; it is a score for each of {len(codes)} "
                "points and each class"
            )
        names = _names(scores, values.shape[1], labelled)
        self.classes = np.unique(np.concatenate([names, labelled.astype(names.dtype)]))
        self.y_codes = np.full(len(codes), UNLABELLED)
        self.y_codes[codes >= 0] = np.searchsorted(self.classes, labelled)[codes[codes >= 0]]
        self._values, self._codes = values, np.searchsorted(self.classes, names)
        self.hints = self._hints_of(values)
        if not (self.hints >= 0).any():
            raise DataError("score_prior has no row with one highest score; leave it out")
        if not ((self.hints >= 0) & (self.y_codes < 0)).any():
            raise DataError("score_prior says nothing of an unlabelled point; leave it out")

    def _hints_of(self, values: np.ndarray) -> np.ndarray:
        return np.where(_is_no_hint(values), UNLABELLED, self._codes[_highest(values)])

    def at_nodes(self, nodes: Nodes | None) -> ScorePrior:
        """Return the hints of the nodes of these points, by the mean scores of equal points."""
        if nodes is None:
            return self
        found = copy(self)
        has = np.logical_not(np.isnan(self._values).any(axis=1))
        with np.errstate(invalid="ignore"):  # without scores: NaN
            found._values = (
                nodes.means(np.where(has[:, None], self._values, 0)) / nodes.means(has)[:, None]
            )
        found.hints = found._hints_of(found._values)
        found.y_codes = np.full(len(nodes), UNLABELLED)
        np.maximum.at(found.y_codes, nodes.of_points, self.y_codes)
        return found

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

    def diffused(
        self,
        operator: MarkovOperator,
        labels: Labels | None,
        rules_of: Callable[[Labels], DiffusionRules],
    ) -> Hinted:
        """Return the map of labels and hints; each diffusion has the rules of its labels."""
        maps = _Maps(operator, rules_of)
        hints = self.labels(None, ALONE)
        if labels is None:
            return maps.of_one(hints, ALONE)
        has_all_classes = len(labels.classes) == len(self.classes)
        if not len(hints.points):  # every node has a label
            if has_all_classes:
                return maps.of_one(labels, 0.0)
            return maps.of_one(self.labels(labels, ALONE), ALONE)
        by_hints = maps.unsized(hints)
        can_pool = has_all_classes and rules_of(labels).kept_classes is None
        if self.accuracy is None:
            a = self._share_right(by_hints.codes[labels.points], labels, 0.5, 2)
        else:
            right = self._share_right(self.hints[labels.points], labels, self.accuracy, _STRENGTH)
            agreement = _Agreement(self, right, operator.mass)
            a = agreement.of_hints(by_hints)
            if can_pool and labels.per_class < _LEAST_LABELS:
                return maps.by_odds(self, labels, by_hints, agreement)
        if has_all_classes and a < _LEAST_RIGHT:
            return maps.of_one(labels, 0.0)
        eta = _labels_worth(a, labels.per_class) * len(self.classes) / len(self.hints)
        both, eta = self.labels(labels, min(eta, MOST)), min(eta, MOST)
        if not can_pool or labels.per_class < _LEAST_LABELS:
            return maps.of_one(both, eta)
        by_labels = maps.calibrated(labels)
        if by_labels.is_better(by_hints.codes) and by_labels.diffusion.reached.all():
            return maps.of_one(labels, 0.0, known=by_labels)
        others = maps.calibrated(hints, by_hints), maps.calibrated(both)
        return maps.mixed(both, eta, by_labels, *others, a)

    def _share_right(
        self, found: np.ndarray, labels: Labels, expected: float, strength: float
    ) -> float:
        """Return the share of the labels that classes found there name right.

        What is expected counts like so many labels; without a class (-1) a label says nothing.
        """
        own = np.searchsorted(self.classes, labels.classes)[labels.codes]
        n_right = np.count_nonzero(found == own)
        return float((n_right + strength * expected) / (np.count_nonzero(found >= 0) + strength))


@dataclass(frozen=True, eq=False)
class _Agreement:
    """How often maps are right, by their agreement with hints of which a share s is right."""

    prior: ScorePrior
    right: float  # s
    mass: np.ndarray | None  # number of points at each node

    def of_labels(self, found: LabelDiffusion, probabilities: np.ndarray) -> float:
        """Return a of the labels' map with these probabilities."""
        q, chance = self._with(found), 1 / max(len(self.prior.classes), 2)
        wrong = (1 - self.right) * chance / (1 - chance)
        sure = float(np.average(probabilities.max(axis=1), weights=self.mass))
        slope = self.right - wrong
        a = sure + slope * (q - wrong - slope * sure) / (slope**2 + _RIDGE)
        return self._within(a, q, least=chance)

    def of_hints(self, found: LabelDiffusion) -> float:
        """Return a of the hints' map."""
        q, n_others = self._with(found), max(len(self.prior.classes) - 1, 1)
        wrong = (1 - q) / n_others
        return self._within((self.right - wrong) / max(q - wrong, _RIDGE), q)

    def _with(self, found: LabelDiffusion) -> float:
        """Return q of a map."""
        judged = (self.prior.hints >= 0) & (self.prior.y_codes < 0)
        agrees = found.codes[judged] == self.prior.hints[judged]
        return float(np.average(agrees, weights=None if self.mass is None else self.mass[judged]))

    def _within(self, a: float, q: float, least: float = 1 - _MOST_RIGHT) -> float:
        return float(np.clip(min(a, 1 - abs(q - self.right)), least, _MOST_RIGHT))


@dataclass(frozen=True, eq=False)
class _Maps:
    """The maps of sets of labels over one operator, and their mixture."""

    operator: MarkovOperator
    rules_of: Callable[[Labels], DiffusionRules]

    def unsized(self, labels: Labels) -> LabelDiffusion:
        return diffuse(self.operator, labels, replace(self.rules_of(labels), sizes=None))

    def calibrated(self, labels: Labels, found: LabelDiffusion | None = None) -> _CalibratedMap:
        found = self.unsized(labels) if found is None else found
        left = hold_out_labels(self.operator, labels, found)
        return _CalibratedMap(found, left, calibrate_by(self.operator, found, left))

    def of_one(self, labels: Labels, eta: float, known: _CalibratedMap | None = None) -> Hinted:
        """Return the map of one set of labels, at the sizes of its rules."""
        rules = self.rules_of(labels)
        if known is not None and rules.sizes is None:
            return Hinted(labels, known.diffusion, eta, calibration=known.calibration)
        return Hinted(labels, diffuse(self.operator, labels, rules), eta)

    def mixed(
        self,
        labels: Labels,
        eta: float,
        by_labels: _CalibratedMap,
        by_hints: _CalibratedMap,
        by_both: _CalibratedMap,
        a: float,
    ) -> Hinted:
        """Return the mean of three maps, brought to the sizes; ``labels`` are those of both."""

        def mean(of_labels: np.ndarray, of_hints: np.ndarray, of_both: np.ndarray) -> np.ndarray:
            n_others = max(of_hints.shape[1] - 1, 1)
            hinted = a * of_hints + (1 - a) * (1 - of_hints) / n_others
            return np.cbrt(floored(of_labels) * hinted * floored(of_both))

        # the same mean at each label that was left out, by maps without it
        points = by_both.left.points
        hinted = by_hints.probabilities[points]
        left = mean(by_labels.without(points), hinted, by_both.without(points))
        found = mean(by_labels.probabilities, by_hints.probabilities, by_both.probabilities)
        diffusion = by_both.diffusion.with_posteriors(_divided(found))
        return self._joined(Hinted(labels, diffusion, eta), replace(by_both.left, posteriors=left))

    def by_odds(
        self, prior: ScorePrior, labels: Labels, by_hints: LabelDiffusion, agreement: _Agreement
    ) -> Hinted:
        """Return the mean of the maps of labels and hints by their odds of being right."""
        of_labels = self.calibrated(labels)
        hinted = self.calibrated(prior.labels(None, ALONE), by_hints)
        a = agreement.of_labels(of_labels.diffusion, of_labels.probabilities)
        odds = np.array([a / (1 - a), (b := agreement.of_hints(by_hints)) / (1 - b)])
        w, rest = odds / odds.sum()
        logs = w * np.log(floored(of_labels.probabilities))
        logs += rest * np.log(floored(hinted.probabilities))
        reached = of_labels.diffusion.reached | by_hints.reached
        found = by_hints.with_posteriors(_divided(np.exp(logs)), reached=reached)
        joined = Hinted(prior.labels(labels, ALONE), found, ALONE, float(rest))
        return self._joined(joined, HeldOutLabels.none(len(prior.classes)))

    def _joined(self, found: Hinted, left: HeldOutLabels) -> Hinted:
        """Return what was joined, brought to the sizes and calibrated."""
        labels, diffusion = found.labels, found.diffusion
        sizes = self.rules_of(labels).sizes
        if sizes is not None:
            diffusion = at_sizes(self.operator, labels, diffusion, sizes, may_move=False)
        left = replace(left, posteriors=posteriors_of(left.posteriors, diffusion.class_weight))
        calibration = calibrate_by(self.operator, diffusion, left)
        return replace(found, diffusion=diffusion, calibration=calibration)


@dataclass(frozen=True, eq=False)
class _CalibratedMap:
    """Diffused labels, and the same without some of them."""

    diffusion: LabelDiffusion
    left: HeldOutLabels
    calibration: Calibration

    @cached_property
    def probabilities(self) -> np.ndarray:
        return self.calibration.apply(self.diffusion.posteriors)

    def without(self, points: np.ndarray) -> np.ndarray:
        """Return probabilities at labels left out of it; uniform where one was not left out."""
        n_classes = len(self.diffusion.classes)
        found = np.full((len(points), n_classes), 1 / n_classes)
        _, here, there = np.intersect1d(points, self.left.points, return_indices=True)
        found[here] = self.calibration.apply(self.left.posteriors[there])
        return found

    def is_better(self, others: np.ndarray) -> bool:
        """Whether it is clearly better than a map of codes, at the labels left out of it."""
        is_right = self.left.posteriors.argmax(axis=1) == self.left.codes
        others_right = others[self.left.points] == self.left.codes
        return is_clear_gain(is_right.astype(int) - others_right)


def _divided(values: np.ndarray) -> np.ndarray:
    return np.asarray(values / values.sum(axis=1, keepdims=True))


def _labels_worth(a: float, per_class: float) -> float:
    """Return kappa."""
    return min((a / (1 - a)) ** 2 / (_SQUARE * np.sqrt(per_class)), _MOST_LABELS)


def _numbers(scores: Any) -> np.ndarray:
    """Return scores as float64; entries that are masked or missing are NaN."""
    if issparse(scores):
        raise DataError("score_prior is a sparse matrix; give its .toarray()")
    try:
        if hasattr(scores, "isna"):  # a frame, whose entries may be None or NA
            return np.asarray(scores.to_numpy(dtype=np.float64, na_value=np.nan))
        return np.ma.filled(np.ma.asarray(scores, dtype=np.float64), np.nan)
    except (TypeError, ValueError) as error:
        raise DataError(f"score_prior holds other things than numbers ({error})") from None


def _names(scores: Any, n_columns: int, labelled: np.ndarray) -> np.ndarray:
    """Return the class of each column: as the labels call it, if they have it."""
    columns = getattr(scores, "columns", None)
    if columns is not None:
        return _named_alike(list(columns), labelled)
    if not len(labelled):
        return np.arange(n_columns)
    if len(labelled) != n_columns:
        raise ParameterError(
            f"score_prior has {n_columns} columns, y {len(labelled)} classes; name the columns, as "
            "pandas.DataFrame(scores, columns=classes) does"
        )
    return labelled


def _named_alike(columns: list[Any], labelled: np.ndarray) -> np.ndarray:
    if any(isinstance(name, tuple) for name in columns):
        raise DataError("score_prior has columns of several levels; name each by its class alone")
    wrong = next((name for name in columns if is_mark(name)), None)
    if any(name is wrong for name in columns):
        raise DataError(
            f"score_prior has a column {wrong!r}, which means unlabelled and is no class; leave "
            "it out, or call it by its class"
        )
    if len(set(columns)) < len(columns):
        raise DataError("score_prior has two columns of one class; keep one")
    is_class = same_names(columns, labelled.tolist(), sides=("score_prior", "y"))
    names = [is_class.get(name, name) for name in columns]
    try:
        np.unique(np.array([*names, *labelled.tolist()], dtype=object))
    except TypeError:
        other = next(name for name in columns if name not in is_class)
        raise DataError(
            f"y has classes such as {labelled.tolist()[0]!r}, score_prior columns such as "
            f"{other!r}; name them alike"
        ) from None
    if len(labelled):
        _warn_of_more_classes(
            [name for name in columns if name not in is_class], labelled, is_class
        )
    classes, codes = encode_labels(names)
    return classes[codes]


def _warn_of_more_classes(
    others: list[Any], labelled: np.ndarray, is_class: dict[Any, Any]
) -> None:
    """Warn of columns that no label has: they may be misspelt."""
    if not others:
        return
    without = [name for name in labelled.tolist() if name not in is_class.values()]
    near = [(name, near_name(name, without)) for name in others]
    likely = [f"{name!r} for {class_!r}" for name, class_ in near if class_ is not None]
    shown = ", ".join(map(repr, others[:_SHOWN])) + (", ..." if len(others) > _SHOWN else "")
    warn_user(
        f"score_prior has scores of {shown}, which no label has: "
        f"{'it becomes a class' if len(others) == 1 else 'they become classes'} by scores alone"
        + (f"; misspelt: {', '.join(likely[:_SHOWN])}?" if likely else "")
    )


def _highest(values: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(values), -np.inf, values).argmax(axis=1)


def _is_no_hint(values: np.ndarray) -> np.ndarray:
    missing = np.isnan(values).any(axis=1)
    if values.shape[1] == 1:
        return missing
    two = np.partition(np.where(missing[:, None], 0, values), -2, axis=1)[:, -2:]
    return missing | (two[:, 0] == two[:, 1])
