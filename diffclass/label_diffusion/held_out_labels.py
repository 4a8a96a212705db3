"""Held-out labels: what the walk says of a labelled point without its own label.

For absorbing labels there is nearly a closed form, leave-one-out. From the label l the walk takes a
step to a neighbour, and from there it stops at a label of class i with probability (A N_i)(l). With
probability r(l) it returns to l; if l does not count, it starts again. So the walk without l stops
in class i in proportion to

    (A N_i)(l)  for the other classes,    (A N_i)(l) - r(l)  for the class of l.

r(l) takes one column per label, so only some labels are held out; their weights stay as they are.
Summed and free labels are cross-validated in five folds, by new diffusions to the same time. So are
groups of labels, such as strokes: the whole group is held out and one of its labels is tested.
Nothing is held out of a warped walk, whose scores know all labels, nor the only group of a class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from diffclass._compiled._threads import in_threads
from diffclass.label_diffusion.diffusion import LabelDiffusion, start_walk
from diffclass.label_diffusion.labels import Labels
from diffclass.label_diffusion.posteriors import posteriors_of
from diffclass.operators.local_order import inverse
from diffclass.operators.markov import MarkovOperator
from diffclass.operators.warped import Operator
from diffclass.sizes import HELD_OUT_POINTS, LOCAL_ORDER_POINTS

_MOST_OF_FEW, MOST_HELD_OUT = 100, 32  # held-out labels, with few points and with more
FOLDS = 5
_LEAST_COLUMNS, _MOST_VALUES = 8, 66_000_000  # of a walk, for the sake of memory


@dataclass(frozen=True, eq=False)
class HeldOutLabels:
    """Labels and the posteriors of their points without them.

    Attributes
    ----------
    points : ndarray of int of shape (m,)
        Numbers of the points whose labels were held out.
    codes : ndarray of int of shape (m,)
        Index of the class of each of these labels.
    posteriors : ndarray of float64 of shape (m, n_classes)
        Without the label; uniform where no other label arrives.
    """

    points: np.ndarray
    codes: np.ndarray
    posteriors: np.ndarray


def hold_out_labels(
    operator: Operator,
    labels: Labels,
    diffusion: LabelDiffusion,
) -> HeldOutLabels:
    """Hold labels out, one by one or by folds, and return what the others say of their points.

    Parameters
    ----------
    operator : MarkovOperator or WarpedOperator
        The walk on n points.
    labels : Labels
        Those of one group are held out together.
    diffusion : LabelDiffusion
        Of these labels; their mode, time and weights of the classes are kept.

    Returns
    -------
    HeldOutLabels
        Of at most 100 labels, with more than 10,000 points at most 32, in equal numbers per class
        as far as there are. Costs tau steps with one column for each, or those of five diffusions.

    Examples
    --------
    Four points in a row; the two at each end are labelled:

    >>> import numpy as np
    >>> from diffclass import MarkovOperator, diffuse_labels
    >>> from diffclass.label_diffusion import Labels
    >>> from diffclass.label_diffusion.held_out_labels import hold_out_labels
    >>> K = np.diag([1.0, 1, 1], 1)
    >>> operator, codes = MarkovOperator.from_affinity(K + K.T), np.array([0, 0, 1, 1])
    >>> found = diffuse_labels(operator, codes)
    >>> hold_out_labels(operator, Labels.of(codes), found).posteriors
    array([[1. , 0. ],
           [0.5, 0.5],
           [0.5, 0.5],
           [0. , 1. ]])
    """
    chosen = ChosenLabels.of(labels)
    if operator.knows_labels or not len(chosen.points):
        none = np.zeros(0, dtype=np.intp)
        return HeldOutLabels(none, none, np.zeros((0, labels.n_classes)))
    if diffusion.label_mode == "absorbing" and chosen.are_alone:
        values = _without_returns(operator.unwarped, diffusion, chosen)
    else:
        # with few points, steps are too short to be shared out: a thread takes a whole fold
        run = in_threads if labels.n_points <= HELD_OUT_POINTS else _one_by_one
        values = chosen.values_by_folds(partial(_values, operator.unwarped, diffusion), run)
    return HeldOutLabels(chosen.points, chosen.codes, posteriors_of(values, diffusion.class_weight))


def _one_by_one(work: Callable[[int], None], folds: list[int]) -> None:
    for f in folds:
        work(f)


@dataclass(frozen=True, eq=False)
class ChosenLabels:
    """The labels that are held out, one of each group, drawn at random.

    Attributes
    ----------
    labels : Labels
        All labels.
    chosen : ndarray of int of shape (m,)
        Which of them are held out, ascending.
    rank : ndarray of int of shape (m,)
        Position of each within its class.
    """

    labels: Labels
    chosen: np.ndarray
    rank: np.ndarray

    @classmethod
    def of(cls, labels: Labels) -> ChosenLabels:
        """Choose among labels with a weight above 0, of classes with more than one group."""
        drawn = np.random.default_rng(0).permutation(np.flatnonzero(labels.counted))
        drawn = drawn[np.sort(np.unique(labels.groups[drawn], return_index=True)[1])]
        of_class = labels.codes[drawn]
        counts = np.bincount(of_class)
        order = np.argsort(of_class, kind="stable")
        rank = np.empty(len(drawn), dtype=np.intp)
        rank[order] = np.arange(len(drawn)) - np.repeat(np.cumsum(counts) - counts, counts)
        candidates = np.flatnonzero(counts[of_class] > 1)
        candidates = candidates[np.argsort(rank[candidates], kind="stable")]
        chosen = candidates[: most_held_out(labels.n_points)]
        chosen = chosen[np.argsort(drawn[chosen])]
        return cls(labels, drawn[chosen], rank[chosen])

    @property
    def points(self) -> np.ndarray:
        """The points of these labels, ascending; of shape (m,)."""
        return self.labels.points[self.chosen]

    @property
    def codes(self) -> np.ndarray:
        """Their classes, of shape (m,)."""
        return self.labels.codes[self.chosen]

    @property
    def are_alone(self) -> bool:
        """Whether each label that counts is a group of its own."""
        groups = self.labels.groups[self.labels.counted]
        return len(np.unique(groups)) == len(groups)

    def values_by_folds(
        self,
        walk: Callable[[Labels, np.ndarray], np.ndarray],
        run: Callable[[Callable[[int], None], list[int]], object],
    ) -> np.ndarray:
        """Return what the walk says of the points, each time without the groups of one fold.

        Parameters
        ----------
        walk : callable
            Returns N_i of some points, (k, n_classes), from the remaining labels and these points.
        run : callable
            Calls a function with each fold.

        Returns
        -------
        ndarray of shape (m, n_classes)
        """
        labels, fold = self.labels, self.rank % FOLDS
        values = np.zeros((len(fold), labels.n_classes))

        def hold_out(f: int) -> None:
            tested = labels.groups[self.chosen[fold == f]]
            left_out = labels.counted & np.isin(labels.groups, tested)
            values[fold == f] = walk(labels.only(~left_out), self.points[fold == f])

        run(hold_out, np.unique(fold).tolist())
        return values


def _values(
    operator: MarkovOperator, diffusion: LabelDiffusion, labels: Labels, points: np.ndarray
) -> np.ndarray:
    """Return what fewer labels say of some points at the same time, of shape (m, n_classes)."""
    operator, labels, points = _in_local_order(operator, labels, points)
    walk = start_walk(operator, labels, label_mode=diffusion.label_mode)
    walk.advance_map(diffusion.tau)
    return walk.values()[points]


def _in_local_order(
    operator: MarkovOperator, labels: Labels, points: np.ndarray
) -> tuple[MarkovOperator, Labels, np.ndarray]:
    if len(operator) < LOCAL_ORDER_POINTS:
        return operator, labels, points
    order, local = operator.in_local_order
    places = inverse(order)
    return local, labels.moved(places), places[points]


def _without_returns(
    operator: MarkovOperator, diffusion: LabelDiffusion, chosen: ChosenLabels
) -> np.ndarray:
    """Return (A N_i)(l) without r(l), of shape (m, n_classes)."""
    points, n_columns = chosen.points, _n_columns(len(operator))
    blocks = np.split(chosen.chosen, range(n_columns, len(points), n_columns))
    returns = [_returns(operator, diffusion.tau, chosen.labels, block) for block in blocks]
    values = operator.affinity[points] @ diffusion.values / operator.degrees[points, None]
    values[np.arange(len(points)), chosen.codes] -= np.concatenate(returns)
    return np.maximum(values, 0)


def _returns(operator: MarkovOperator, tau: int, labels: Labels, chosen: np.ndarray) -> np.ndarray:
    """Return r(l), the probability that a walk from the label l next stops at l, of shape (m,)."""
    m, points = len(chosen), labels.points[chosen]
    column = np.full(len(labels.codes), m)  # the other labels share one
    column[chosen] = np.arange(m)
    labels = replace(labels, codes=column, n_classes=m + 1)
    operator, labels, points = _in_local_order(operator, labels, points)
    walk = start_walk(operator, labels, label_mode="absorbing")
    walk.advance_map(tau)
    arriving = (operator.affinity[points] @ walk.state[:, :-1]).diagonal()
    return arriving * walk.scale[:-1] / operator.degrees[points]


def _n_columns(n_points: int) -> int:
    """Return how many labels are held out at once."""
    return max(_LEAST_COLUMNS, _MOST_VALUES // n_points)


def most_held_out(n_points: int) -> int:
    """Return how many labels are held out at most; see `diffclass.sizes`."""
    return _MOST_OF_FEW if n_points <= HELD_OUT_POINTS else MOST_HELD_OUT


def most_columns(n_points: int) -> int:
    """Return how many columns of a walk that holds labels out takes at most at once."""
    return 1 + min(most_held_out(n_points), _n_columns(n_points))
