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
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from diffclass._compiled._threads import in_threads
from diffclass.label_diffusion.diffusion import LabelDiffusion, start_walk
from diffclass.label_diffusion.posteriors import posteriors_of
from diffclass.operators.local_order import inverse
from diffclass.operators.markov import MarkovOperator
from diffclass.operators.warped import Operator
from diffclass.sizes import HELD_OUT_POINTS, LOCAL_ORDER_POINTS
from diffclass.targets import encode_groups

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
    codes: np.ndarray,
    diffusion: LabelDiffusion,
    *,
    label_weight: np.ndarray | None = None,
    groups: ArrayLike | None = None,
) -> HeldOutLabels:
    """Hold labels out, one by one or by folds, and return what the others say of their points.

    Parameters
    ----------
    operator : MarkovOperator or WarpedOperator
        The walk on n points.
    codes : ndarray of int of shape (n,)
        Index of each point's class, -1 where unlabelled.
    diffusion : LabelDiffusion
        Of these labels; their mode, time and weights of the classes are kept.
    label_weight : ndarray of shape (n,), optional
        0 to 1; 1 by default.
    groups : array-like of shape (n,), optional
        Labels of a class with the same value are held out together.

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
    >>> from diffclass.label_diffusion.held_out_labels import hold_out_labels
    >>> K = np.diag([1.0, 1, 1], 1)
    >>> operator, codes = MarkovOperator.from_affinity(K + K.T), np.array([0, 0, 1, 1])
    >>> hold_out_labels(operator, codes, diffuse_labels(operator, codes)).posteriors
    array([[1. , 0. ],
           [0.5, 0.5],
           [0.5, 0.5],
           [0. , 1. ]])
    """
    weight = np.ones(len(codes)) if label_weight is None else label_weight
    chosen = ChosenLabels.of(codes, label_weight, groups)
    n_classes, points, group = len(diffusion.classes), chosen.points, chosen.group
    if operator.knows_labels or not len(points):
        none = np.zeros(0, dtype=np.intp)
        return HeldOutLabels(none, none, np.zeros((0, n_classes)))
    walk = operator.unwarped
    if diffusion.label_mode == "absorbing" and group.max() + 1 == np.count_nonzero(group >= 0):
        values = _without_returns(walk, codes, diffusion, weight, points)
    else:
        fold = partial(_values, walk, diffusion, weight)
        # with few points, steps are too short to be shared out: a thread takes a whole fold
        run = in_threads if len(codes) <= HELD_OUT_POINTS else _one_by_one
        values = chosen.values_by_folds(codes, n_classes, fold, run)
    return HeldOutLabels(points, codes[points], posteriors_of(values, diffusion.class_weight))


def _one_by_one(work: Callable[[int], None], folds: list[int]) -> None:
    for f in folds:
        work(f)


@dataclass(frozen=True, eq=False)
class ChosenLabels:
    """The labels that are held out, one of each group, drawn at random.

    Attributes
    ----------
    points : ndarray of int of shape (m,)
        Their points, ascending.
    rank : ndarray of int of shape (m,)
        Position of each within its class.
    group : ndarray of int of shape (n,)
        Group of each label that counts, -1 elsewhere.
    """

    points: np.ndarray
    rank: np.ndarray
    group: np.ndarray

    @classmethod
    def of(
        cls, codes: np.ndarray, label_weight: ArrayLike | None, groups: ArrayLike | None
    ) -> ChosenLabels:
        """Choose among labels with a weight above 0, of classes with more than one group."""
        weight = np.ones(len(codes)) if label_weight is None else np.asarray(label_weight)
        counted = np.where(weight > 0, codes, -1)
        group = encode_groups(groups, counted)
        return cls(*_chosen_labels(counted, group), group)

    def values_by_folds(
        self,
        codes: np.ndarray,
        n_classes: int,
        walk: Callable[[np.ndarray, np.ndarray], np.ndarray],
        run: Callable[[Callable[[int], None], list[int]], object],
    ) -> np.ndarray:
        """Return what the walk says of the points, each time without the groups of one fold.

        Parameters
        ----------
        codes : ndarray of int of shape (n,)
        n_classes : int
        walk : callable
            Returns N_i of some points, (k, n_classes), from the remaining codes and these points.
        run : callable
            Calls a function with each fold.

        Returns
        -------
        ndarray of shape (m, n_classes)
        """
        values, fold = np.zeros((len(self.points), n_classes)), self.rank % FOLDS

        def hold_out(f: int) -> None:
            tested = self.points[fold == f]
            rest = np.where(np.isin(self.group, self.group[tested]), -1, codes)
            values[fold == f] = walk(rest, tested)

        run(hold_out, np.unique(fold).tolist())
        return values


def _values(
    operator: MarkovOperator,
    diffusion: LabelDiffusion,
    weight: np.ndarray,
    codes: np.ndarray,
    points: np.ndarray,
) -> np.ndarray:
    """Return what fewer labels say of some points at the same time, of shape (m, n_classes)."""
    operator, codes, weight, points = _in_local_order(operator, codes, weight, points)
    walk = start_walk(
        operator, codes, weight, len(diffusion.classes), label_mode=diffusion.label_mode
    )
    walk.advance_map(diffusion.tau)
    return walk.values()[points]


def _in_local_order(
    operator: MarkovOperator, codes: np.ndarray, weight: np.ndarray, points: np.ndarray
) -> tuple[MarkovOperator, np.ndarray, np.ndarray, np.ndarray]:
    if len(operator) < LOCAL_ORDER_POINTS:
        return operator, codes, weight, points
    order, local = operator.in_local_order
    return local, codes[order], weight[order], inverse(order)[points]


def _without_returns(
    operator: MarkovOperator,
    codes: np.ndarray,
    diffusion: LabelDiffusion,
    weight: np.ndarray,
    points: np.ndarray,
) -> np.ndarray:
    """Return (A N_i)(l) without r(l), of shape (m, n_classes)."""
    n_columns = _n_columns(len(codes))
    blocks = np.split(points, range(n_columns, len(points), n_columns))
    returns = [_returns(operator, codes, diffusion.tau, weight, block) for block in blocks]
    values = operator.affinity[points] @ diffusion.values / operator.degrees[points, None]
    values[np.arange(len(points)), codes[points]] -= np.concatenate(returns)
    return np.maximum(values, 0)


def _n_columns(n_points: int) -> int:
    """Return how many labels are held out at once."""
    return max(_LEAST_COLUMNS, _MOST_VALUES // n_points)


def most_columns(n_points: int) -> int:
    """Return how many columns of a walk that holds labels out takes at most at once."""
    most = _MOST_OF_FEW if n_points <= HELD_OUT_POINTS else MOST_HELD_OUT
    return 1 + min(most, _n_columns(n_points))


def _returns(
    operator: MarkovOperator, codes: np.ndarray, tau: int, weight: np.ndarray, points: np.ndarray
) -> np.ndarray:
    """Return r(l), the probability that a walk from the label l next stops at l, of shape (m,)."""
    operator, codes, weight, points = _in_local_order(operator, codes, weight, points)
    column = np.where(codes >= 0, len(points), -1)  # the other labels share one
    column[points] = np.arange(len(points))
    walk = start_walk(operator, column, weight, len(points) + 1, label_mode="absorbing")
    walk.advance_map(tau)
    arriving = (operator.affinity[points] @ walk.state[:, :-1]).diagonal()
    return arriving * walk.scale[:-1] / operator.degrees[points]


def _chosen_labels(codes: np.ndarray, group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return points and ranks; see `ChosenLabels`."""
    labelled = np.random.default_rng(0).permutation(np.flatnonzero(codes >= 0))
    labelled = labelled[np.sort(np.unique(group[labelled], return_index=True)[1])]
    of_class = codes[labelled]
    counts = np.bincount(of_class)
    order = np.argsort(of_class, kind="stable")
    rank = np.empty(len(labelled), dtype=np.intp)
    rank[order] = np.arange(len(labelled)) - np.repeat(np.cumsum(counts) - counts, counts)
    candidates = np.flatnonzero(counts[of_class] > 1)
    candidates = candidates[np.argsort(rank[candidates], kind="stable")]
    most = _MOST_OF_FEW if len(codes) <= HELD_OUT_POINTS else MOST_HELD_OUT
    chosen = candidates[:most]
    chosen = chosen[np.argsort(labelled[chosen])]
    return labelled[chosen], rank[chosen]
