"""Held-out labels: what the walk says of a labelled point without its own label.

For absorbing labels there is nearly a closed form. Let G be the labels held out together: one, or
a group such as a stroke. From l in G the walk takes a step to a neighbour, and from there it stops
at a label of class i with probability (A N_i)(l); r(l, l') is that of stopping at l' in G. Had G
not been labelled, it would go on from there, and stop in class i with probability

    F_i = (1 - R)^-1 B_i,    B_i(l) = (A N_i)(l) - [i is the class of G] sum of r(l, l') over G.

With time without end this is exact. It takes one column per label, so only some labels are held
out, and only small groups; their weights stay as they are. Summed and free labels are
cross-validated in five folds, by new diffusions to the same time, and so are large groups: the
whole group is held out and one of its labels is tested. So are the labels of a map whose borders
have moved to sizes of the classes: those of each fold move again, to the shares of the map. Nothing
is held out of a warped walk, whose scores know all labels, nor the only group of a class.

*The returns r.* The walk stops at the label l with probability s(l), its weight, and goes on with
P = 1 - s; P = 1 at other points. Within t + 1 steps from the label l it next stops at l' with
probability

    r(l, l') = s(l') e_l . (A + A P A + ... + A (P A)^t) e_l'.

M = P A is symmetric in the measure d / P, which leaves out labels that always stop the walk. With
v_l = P A e_l and products of columns in that measure,

    r(l, l') = s(l') (A(l, l') + <v_l, (1 + M + ... + M^(t - 1)) v_l'> / d(l)).

The sum is a Chebyshev series of M. Its moments <v_l, T_k(M) v_l'> up to k = 2 j are read off j
steps of the recurrence, since

    2 <T_i(M) v, T_j(M) v'> = <v, T_(i + j)(M) v'> + <v, T_|i - j|(M) v'>.

So the returns of t steps cost sqrt(t log(2 t / tolerance) / 2) products in place of t.

Source: G. Golub and G. Meurant, Matrices, moments and quadrature with applications, 2010, chapters
3 and 5 (bilinear forms by modified moments).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy.sparse as sp

from diffclass import _compiled
from diffclass.label_diffusion import long_walk
from diffclass.label_diffusion.class_sizes import weighed_again
from diffclass.label_diffusion.diffusion import LabelDiffusion, in_local_order, start_walk
from diffclass.label_diffusion.label_modes import LABEL_MODES
from diffclass.label_diffusion.labels import Labels
from diffclass.label_diffusion.maps import posteriors_of
from diffclass.operators.chebyshev import SERIES_TOLERANCE, sum_coefficients
from diffclass.operators.markov import MarkovOperator
from diffclass.operators.warped import Operator
from diffclass.system.sizes import HELD_OUT_POINTS

_MOST_OF_FEW, MOST_HELD_OUT = 100, 32  # held-out labels, with few points and with more
FOLDS = 5
# For each held-out label: groups that have more labels together, or more pairs of one group, are
# held out in folds, which are then quicker.
_MOST_COLUMNS, _MOST_PAIRS = 4, 10
_LEAST_COLUMNS, _MOST_VALUES = 8, 44_000_000  # of a walk, for the sake of memory
_SMALLEST = 1e-6  # share of what stops at a class: less than that is rounding
_NOT_SINGULAR = 1 + 1e-12  # in place of 1, where walks always return


@dataclass(frozen=True, eq=False)
class HeldOutLabels:
    """Labels and the posteriors of their points without them."""

    points: np.ndarray  # (m,)
    codes: np.ndarray  # (m,), index of the class of each label
    # (m, n_classes), without the label; uniform where no other label arrives
    posteriors: np.ndarray

    @classmethod
    def of(cls, chosen: ChosenLabels, values: np.ndarray) -> HeldOutLabels:
        """Return chosen labels with the weighted values (m, n_classes) of the others there."""
        return cls(chosen.points, chosen.codes, posteriors_of(values, np.ones(values.shape[1])))

    @classmethod
    def none(cls, n_classes: int) -> HeldOutLabels:
        """Return no labels, where all that is known of the points knows them too."""
        none = np.zeros(0, dtype=np.intp)
        return cls(none, none, np.zeros((0, n_classes)))


def hold_out_labels(
    operator: Operator,
    labels: Labels,
    diffusion: LabelDiffusion,
) -> HeldOutLabels:
    """Hold labels out, one by one or by folds, and return what the others say of their points.

    Labels of one group are held out together; mode, time and weights of the diffusion are kept.
    These are at most 100 labels, with more than 10,000 points at most 32, in equal numbers per
    class as far as there are. Costs about 4 sqrt(tau) products with one column for each and the
    others of its group, or the steps of five diffusions.
    """
    chosen = ChosenLabels.of(labels)
    if operator.knows_labels or not len(chosen.points):
        return HeldOutLabels.none(labels.n_classes)
    batches = chosen.batches(_n_columns(len(operator)))
    if LABEL_MODES[diffusion.label_mode].absorbs and diffusion.weighting != "moved" and batches:
        values = _without_returns(operator.unwarped, diffusion, chosen, batches)
        values *= diffusion.class_weight
    else:
        # with few points, steps are too short to be shared out: a thread takes a whole fold
        run = _compiled.loops.in_threads if labels.n_points <= HELD_OUT_POINTS else _one_by_one
        values = chosen.values_by_folds(partial(_values, operator.unwarped, diffusion), run)
    return HeldOutLabels.of(chosen, values)


def _one_by_one(work: Callable[[int], None], folds: list[int]) -> None:
    for f in folds:
        work(f)


@dataclass(frozen=True, eq=False)
class ChosenLabels:
    """The labels that are held out, one of each group, drawn at random."""

    labels: Labels  # all of them
    chosen: np.ndarray  # (m,), which of them are held out, ascending
    rank: np.ndarray  # (m,), position of each within its class

    @classmethod
    def of(cls, labels: Labels) -> ChosenLabels:
        """Choose among labels with a weight above 0, of classes that have more than one group.

        A class with hints keeps these.
        """
        eligible = np.flatnonzero(labels.counted & labels.given)
        drawn = np.random.default_rng(0).permutation(eligible)
        drawn = drawn[np.sort(np.unique(labels.groups[drawn], return_index=True)[1])]
        of_class = labels.codes[drawn]
        counts = np.bincount(of_class)
        order = np.argsort(of_class, kind="stable")
        rank = np.empty(len(drawn), dtype=np.intp)
        rank[order] = np.arange(len(drawn)) - np.repeat(np.cumsum(counts) - counts, counts)
        hinted = np.isin(of_class, labels.codes[~labels.given])
        candidates = np.flatnonzero((counts[of_class] > 1) | hinted)
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

    def batches(self, n_columns: int) -> list[np.ndarray]:
        """Return all labels of their groups, in batches of at most so many and of whole groups.

        There is no batch if a group is larger, or all of them are too many to have a column each or
        to be multiplied in pairs, or if a point has labels of several classes.
        """
        if (self.labels.points[1:] == self.labels.points[:-1]).any():
            return []
        groups = self.labels.groups
        held = np.flatnonzero(self.labels.counted & np.isin(groups, groups[self.chosen]))
        held = held[np.argsort(groups[held], kind="stable")]
        of_group = np.split(held, np.flatnonzero(np.diff(groups[held])) + 1)
        sizes = np.array(list(map(len, of_group)))
        n_pairs, most = int((sizes * (sizes + 1) // 2).sum()), most_held_out(self.labels.n_points)
        too_many = len(held) > _MOST_COLUMNS * most or n_pairs > _MOST_PAIRS * most
        if too_many or sizes.max() > n_columns:
            return []
        batches = [of_group[0]]
        for group in of_group[1:]:
            if len(batches[-1]) + len(group) <= n_columns:
                batches[-1] = np.concatenate([batches[-1], group])
            else:
                batches.append(group)
        return batches

    def values_by_folds(
        self,
        walk: Callable[[Labels, np.ndarray], np.ndarray],
        run: Callable[[Callable[[int], None], list[int]], object],
    ) -> np.ndarray:
        """Return what a walk says of the points, each time without the groups of one fold.

        The result is (m, n_classes). ``walk`` returns w_i N_i of some points from the remaining
        labels and these points; ``run`` calls a function with each fold.
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
    """Return w_i N_i of some points from fewer labels at the same time, of shape (m, n_classes)."""
    local, labels, places = in_local_order(operator, labels)
    walk = start_walk(
        local, labels, label_mode=diffusion.label_mode, kept_classes=diffusion.kept_classes
    )
    walk.advance_map(diffusion.tau)
    found = diffusion.weighting, diffusion.class_weight, diffusion.codes
    values, weight = weighed_again(walk, *found)
    values = values[points if places is None else places[points]]
    return (values.toarray() if isinstance(values, sp.csr_array) else values) * weight


def _without_returns(
    operator: MarkovOperator,
    diffusion: LabelDiffusion,
    chosen: ChosenLabels,
    batches: list[np.ndarray],
) -> np.ndarray:
    """Return F_i at the chosen labels, of shape (m, n_classes)."""
    labels = chosen.labels
    values = np.zeros((len(labels.codes), labels.n_classes))
    for held in batches:
        points, own = labels.points[held], (np.arange(len(held)), labels.codes[held])
        R = return_probabilities(operator, labels, held, diffusion.tau)
        into = operator.affinity[points] @ diffusion.values
        stops = into.toarray() if isinstance(into, sp.csr_array) else into
        stops = stops / operator.degrees[points, None]
        others = stops[own] - R.sum(axis=1)
        stops[own] = np.where(others < _SMALLEST * stops[own], 0, others)
        values[held] = np.linalg.solve(_NOT_SINGULAR * np.eye(len(held)) - R, stops)
    return np.maximum(values[chosen.chosen], 0)


def _n_columns(n_points: int) -> int:
    """Return how many labels are held out at once."""
    return max(_LEAST_COLUMNS, _MOST_VALUES // n_points)


def most_held_out(n_points: int) -> int:
    """Return how many labels are held out at most; see `diffclass.system.sizes`."""
    return _MOST_OF_FEW if n_points <= HELD_OUT_POINTS else MOST_HELD_OUT


def most_columns(n_points: int) -> int:
    """Return how many columns of a walk that holds labels out takes at most at once."""
    return min(_MOST_COLUMNS * most_held_out(n_points), _n_columns(n_points))


_CHUNK = 4096  # points whose products are summed together, whatever the number of threads


def return_probabilities(
    operator: MarkovOperator, labels: Labels, chosen: np.ndarray, time: int
) -> np.ndarray:
    """Return r(l, l') for pairs of labels of one group; (m, m), 0 where their groups differ.

    ``chosen`` (m,) are places in ``labels``; ``time``, t, is at least 1. Costs 4 sqrt(t) products
    of m columns, or t / 2, and three arrays of n x m.
    """
    groups = labels.groups[chosen]
    local, _, places = in_local_order(operator, labels)
    operator = local.unwarped
    # Returns are nearly 1 where labels are few: what is left of 1 is lost in single precision.
    if time > long_walk.LONGEST_SERIES or len(operator) <= HELD_OUT_POINTS:
        operator = operator.in_double_precision()
    labels = labels if places is None else replace(labels, points=places[labels.points])
    points = labels.points[chosen]
    pairs = np.nonzero(np.triu(groups[:, None] == groups))
    coefficients = sum_coefficients(time - 1, SERIES_TOLERANCE[operator.dtype.char])
    coefficients[0] += 1
    products = np.zeros((len(points), len(points)))
    products[pairs] = products.T[pairs] = coefficients @ _moments(
        operator, labels, points, pairs, len(coefficients)
    )
    at_once = np.where(groups[:, None] == groups, operator.affinity[points][:, points].toarray(), 0)
    return (at_once + products) / operator.degrees[points, None] * labels.weight[chosen]


def _moments(
    operator: MarkovOperator,
    labels: Labels,
    points: np.ndarray,
    pairs: tuple[np.ndarray, ...],
    n_moments: int,
) -> np.ndarray:
    """Return <v_l, T_k(M) v_l'> for k = 0, 1, ..., n_moments - 1; (n_moments, n_pairs)."""
    going_on = 1 - labels.weight
    stops = going_on == 0
    measure = operator.degrees.astype(np.float64)
    measure[labels.points] *= np.where(stops, 0, 1 / np.where(stops, 1, going_on))
    passing = going_on.astype(operator.dtype)[:, None]

    def product(f: np.ndarray, out: np.ndarray) -> None:
        operator.backward(f, out)
        out[labels.points] *= passing

    def inner(f: np.ndarray, g: np.ndarray) -> np.ndarray:
        sums = np.empty((1 + len(f) // _CHUNK, 2, len(pairs[0])))
        _compiled.columns.moment_products(measure, f, g, *pairs, sums)
        return sums.sum(axis=0)

    spare = np.zeros((len(operator), len(points)), operator.dtype)
    spare[points, np.arange(len(points))] = 1
    before, now = np.empty_like(spare), np.empty_like(spare)
    product(spare, before)
    product(before, now)
    no_series = np.empty(0, spare.dtype), np.empty((0, *spare.shape), spare.dtype)
    zeroth, (first, _) = inner(before, before)[0], inner(before, now)
    moments = [zeroth]
    while len(moments) < n_moments:
        odd, even = inner(before, now)
        moments += [2 * odd - first, 2 * even - zeroth]
        product(now, spare)
        _compiled.columns.chebyshev_step(spare, before, *no_series)
        before, now = now, before
    return np.array(moments[:n_moments])
