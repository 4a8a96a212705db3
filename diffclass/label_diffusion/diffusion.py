"""Labels diffuse over a graph: A^t chi_i, the time tau, posteriors and margins.

Labels can *absorb* the walk: they are set again at every step,

    N_i(t + 1) = A N_i(t) off the labels,    N_i = 1[y = i] on them,

so that N_i(x, t) is the probability that by time t the walk from x has met a label of class i
before any other label (M. Szummer and T. Jaakkola 2001; its limit is the harmonic function
of X. Zhu et al. 2003). The time is the last that keeps a share of the largest margin
(`diffclass.label_diffusion.stopping`), and the classes weigh alike, unless the map of weights
that give all of them the same mass cuts the graph less.

They can also count in two other ways.

*Free* labels follow Coifman et al. 2005, section 3: the indicator chi_i of the labelled points of
class i is diffused. Here it is scaled so that <chi_i, pi> = 1: on a connected graph every class
then tends to the same constant 1, so a class with few labels is at no disadvantage. The paper
normalises it in L1, sum_x chi_i(x) = 1 ("free-l1"). A^t chi_i then tends to the mean of pi over the
labels of class i: late in the walk the class whose labels have the largest degrees takes all
points. The two differ by one factor per class (experiments/coifman_2005/chi.py).

*Summed* labels are free labels summed over the walk,

    N_i(tau) = sum over s = 0, ..., h tau of A^s chi_i,   h = 3, or 6 with one label per class:

the expected number of visits of the walk from x to the labels of class i. They too are linear in
the labels, and they depend little on tau. As tau grows they tend, up to a constant, to a solution
of Poisson's equation (J. Calder et al., Poisson learning, 2020, where labels are weighted in
another way).

By default labels absorb the walk. With one label per class, what absorbs is nearly a single point,
which most walks miss for long; a long sum is then taken if its map cuts the graph less. With more
labels the sum is no candidate: where classes overlap it cuts less and is worse.

Posteriors are p_i = w_i N_i / sum_j w_j N_j; see `diffclass.label_diffusion.maps`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from diffclass._validation import check_kind
from diffclass.exceptions import DataError, ParameterError
from diffclass.label_diffusion.class_sizes import NEAR, SIZED, ClassSizes, with_sizes
from diffclass.label_diffusion.label_modes import LABEL_MODES, SUMMED
from diffclass.label_diffusion.labels import Labels
from diffclass.label_diffusion.largest_walk import LargestWalk
from diffclass.label_diffusion.maps import (
    balanced_weights,
    cut_of,
    decide,
    equal_weights,
    posteriors_of,
)
from diffclass.label_diffusion.stopping import (
    SUMMED_TAU,
    DiffusionRules,
    EarlyStop,
    MarginCurve,
    Tau,
    kept_share,
    stop_early,
    walk_along_curve,
)
from diffclass.label_diffusion.walk import LabelWalk, Walk
from diffclass.label_diffusion.warped_walk import WarpedWalk
from diffclass.neighbors import Nodes
from diffclass.operators.local_order import inverse
from diffclass.operators.markov import MarkovOperator
from diffclass.operators.warped import Operator, WarpedOperator
from diffclass.system.progress import stage
from diffclass.system.sizes import LOCAL_ORDER_POINTS


@dataclass(frozen=True, eq=False)
class LabelDiffusion:
    """Labels diffused to the time tau, and every point's class.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The labels' values, sorted.
    values : ndarray or csr_array of float64 of shape (n, n_classes)
        N_i at tau, at least 0; 0 for all classes where no label has arrived. Where borders have
        moved, the map diffused once more; see `diffclass.label_diffusion.class_sizes`.
    class_weight : ndarray of shape (n_classes,)
        The weights w_i; they sum to 1.
    label_mode : {"absorbing", "summed", "free", "free-l1"}
        How the labels counted.
    weighting : {"equal", "balanced", "matched", "moved"}
        How they were chosen; see `diffclass.label_diffusion.maps`. Given sizes of the classes were
        met by weights (matched) or by weights and borders that moved (moved), as far as the graph
        has room for them; or the map without them has them, or the graph disagrees (equal,
        balanced).
    codes : ndarray of int of shape (n,)
        Index of the class of the largest posterior. -1 where no label is within reach: no path
        leads to any, or, by a given tau, none as short as the walk. (With tau chosen by margin,
        points beyond the walk take the values of those before them, and so do points whose values
        have underflowed, always; see `diffclass.label_diffusion.reach`.)
    probability : ndarray of shape (n,)
        p_(1), the largest posterior; 0 where no label has arrived.
    margin : ndarray of shape (n,)
        The margin p_(1) - p_(2), 0 to 1; 0 where no label has arrived.
    tau : int
        The time in steps.
    curve : MarginCurve
        Margin and coverage at the times up to the last one that was looked at; empty if the labels
        were not followed through time.
    kept_classes : int or None
        Number of classes whose values each point keeps; ``values`` and ``posteriors`` are then
        csr_arrays. None: all classes.
    dropped : ndarray of shape (n,) or None
        Share, 0 to 1, of what has arrived at each point by tau that is not among its kept values,
        which are too small by at most that. None with all classes.
    """

    classes: np.ndarray
    values: np.ndarray
    class_weight: np.ndarray
    label_mode: str
    weighting: str
    codes: np.ndarray
    probability: np.ndarray
    margin: np.ndarray
    tau: int
    curve: MarginCurve
    kept_classes: int | None = None
    dropped: np.ndarray | None = None

    @cached_property
    def posteriors(self) -> Any:
        """The posteriors p_i, of shape (n, n_classes); uniform where no label has arrived.

        With ``kept_classes`` they are a csr_array, whose rows are empty there.
        """
        return posteriors_of(self.values, self.class_weight).astype(self.margin.dtype, copy=False)

    @property
    def reached(self) -> np.ndarray:
        """Whether a label has arrived at each point by tau; bool of shape (n,)."""
        return self.codes >= 0

    def meets(self, class_prior: ArrayLike | None) -> bool:
        """Say whether the map was brought to sizes of the classes, or has them within a hundredth.

        ``class_prior`` is that of `diffuse_labels`.
        """
        sizes = ClassSizes.of_classes(class_prior, self.classes)
        counts = np.bincount(self.codes[self.reached], minlength=len(self.classes))
        shares = counts / max(len(self.codes), 1)
        return self.weighting in SIZED or sizes is None or sizes.hold(shares, by=NEAR)

    def in_rows(self, places: np.ndarray) -> LabelDiffusion:
        """Return what was found at some places, of shape (n,), as that of n points."""
        points = ["values", "codes", "probability", "margin"]
        points += [] if self.dropped is None else ["dropped"]
        return replace(self, **{name: getattr(self, name)[places] for name in points})

    def at_points(self, nodes: Nodes | None) -> LabelDiffusion:
        """Return what was found at the nodes as that of all points."""
        return self if nodes is None else self.in_rows(nodes.of_points)

    def with_posteriors(
        self, posteriors: np.ndarray, *, reached: np.ndarray | None = None
    ) -> LabelDiffusion:
        """Return a diffusion whose values are these posteriors, 0 where no label has arrived."""
        reached = self.reached if reached is None else reached
        values = np.where(reached[:, None], posteriors, 0).astype(np.float64)
        return replace(self, values=values).weighed(equal_weights(values.shape[1]), "equal")

    def weighed(self, class_weight: np.ndarray, weighting: str) -> LabelDiffusion:
        """Return the map of the same values with other weights (n_classes,) of the classes."""
        decision = decide(self.values, class_weight, dtype=self.margin.dtype)
        return replace(
            self,
            class_weight=class_weight,
            weighting=weighting,
            codes=decision.codes,
            probability=decision.probability,
            margin=decision.margin,
        )


def diffuse_labels(
    operator: Operator,
    y: Any,
    *,
    label_mode: str = "auto",
    tau: Tau = "auto",
    class_prior: ArrayLike | None = None,
    label_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    kept_classes: int | None = None,
) -> LabelDiffusion:
    """Diffuse labels over a graph and find the class of every point.

    Parameters
    ----------
    operator : MarkovOperator or WarpedOperator
        The walk on n points: one for all classes, or one per class.
    y : array-like of shape (n,)
        Labels of any sortable kind. -1, None, NaN and missing values of pandas mean unlabelled.
    label_mode : {"auto", "absorbing", "summed", "free", "free-l1"}, default="auto"
        How labels count: absorbing labels keep their class, free labels diffuse away, summed labels
        are free ones summed over the walk. "free-l1" are free labels in the measure of the paper,
        where each chi_i sums to 1. "auto" takes absorbing labels or, with one label per class,
        ``tau="auto"`` and up to 65,536 points, summed ones of tau = 256 if their map cuts the graph
        less. With a warped operator, summed labels count as free ones.
    tau : "auto", "margin", StoppingRule or int, default="auto"
        Time in steps, or the rule that chooses it: by margin and cut, by the margin alone, or with
        limits of one's own (see `diffclass.label_diffusion.stopping`). Free, summed and warped
        labels always go by the margin. Summed labels have the tau of free ones; the sum ends at 3
        tau, or at 6 tau with one label per class.
    class_prior : array-like of shape (n_classes,) or (2, n_classes), or "uniform", optional
        Expected sizes of the classes in their order, or by their names in a series of pandas:
        numbers in proportion to them, or a pair of the least and the most share of the points that
        each class may have, 0 to 1. A map that meets them stays as it is; else the nearest shares
        allowed are met, and classes of any size share the rest as before, unless the graph
        disagrees. See `diffclass.label_diffusion.class_sizes`.
    label_weight : array-like of shape (n,), optional
        Weight of each label, 0 to 1: the mass of a free or summed label, or the probability that
        the walk stops at an absorbing one.
    groups : array-like of shape (n,), optional
        Labels of a class with the same value are one observation, like the pixels of a stroke, and
        count as one where tau is chosen; missing values stand for labels of their own. By default
        all are.
    kept_classes : int, optional
        Number of classes, at least 2, whose values each point keeps after every step, the largest
        ones; by default all. For hundreds of classes and absorbing labels: it takes as long, and as
        much memory, as that many. See `diffclass.label_diffusion.largest_walk`.

    Returns
    -------
    LabelDiffusion
        Classes, values, posteriors, margins, tau and the curve.

    Raises
    ------
    ParameterError
        If a name is unknown, a time below 1, sizes cannot all be met, sizes or weights are of the
        wrong shape or out of range, or ``kept_classes`` does not go with the labels or the walk.
    DataError
        If y or groups has another length, or y holds no label.

    Warns
    -----
    ConvergenceWarning
        If the labels do not cover the graph by the rule's last time, that of greatest coverage,
        which is then used.

    See Also
    --------
    DiffusionClassifier : Makes the graph too, calibrates, and classifies new points.
    calibrate : Turns the posteriors into probabilities.
    EigenfunctionRegressor : For values in place of classes.

    Notes
    -----
    Cost: tau products of the operator with n_classes columns, and some more in which the rule sees
    the margin fall; up to 3 or 6 tau for summed labels. From about 20,000 steps on, far fewer: in
    the order of sqrt(tau) once values are of similar size everywhere, none once they are at their
    limits; a million steps take seconds to a minute for thousands of points. Sizes of the classes
    take up to 1,920 more. Memory: four to five arrays of n x n_classes.

    References
    ----------
    Coifman et al. 2005, section 3; Zhu, Ghahramani and Lafferty 2003.

    Examples
    --------
    Two blobs with one label each:

    >>> import numpy as np
    >>> from diffclass import diffuse_labels, markov_operator
    >>> X = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0, 0], [6, 0]], 30, axis=0)
    >>> y = np.full(60, -1); y[0] = 3; y[30] = 7
    >>> result = diffuse_labels(markov_operator(X, n_neighbors=30), y)
    >>> bool((result.classes[result.codes] == np.repeat([3, 7], 30)).all())
    True
    """
    check_kind(operator, "operator", Operator, example="markov_operator(X)")
    labels = Labels.of(y, label_weight, groups)
    nodes = operator.unwarped.nodes
    if nodes is None or labels.n_points == len(nodes):
        nodes = None  # labels and map are of what the operator is on
        labels.check_number(len(operator))
    else:
        labels.check_number(nodes.n_points)
        labels = labels.at_nodes(nodes)
    rules = DiffusionRules.of(
        labels, label_mode=label_mode, tau=tau, class_prior=class_prior, kept_classes=kept_classes
    )
    return diffuse(operator, labels, rules).at_points(nodes)


def diffuse(operator: Operator, labels: Labels, rules: DiffusionRules) -> LabelDiffusion:
    """Diffuse labels that are already checked; see `diffuse_labels`."""
    operator, labels, places = in_local_order(operator, labels)
    label_mode, kept_classes = rules.label_mode, rules.kept_classes
    walk: Walk = start_walk(operator, labels, label_mode=label_mode, kept_classes=kept_classes)
    with stage("diffusion"):
        stopped = stop_early(walk, rules)
        found = read_map(walk, stopped)
        if rules.tries_sum and stopped.is_by_cut:  # whatever the sizes
            longer = start_walk(operator, labels, label_mode=SUMMED.name)
            longer.advance_map(SUMMED_TAU)
            end = EarlyStop(SUMMED_TAU, stopped.curve, n_steps=longer.time)
            summed = read_map(longer, end)
            if _cuts_less(walk.operator, summed, found):
                walk, stopped, found, label_mode = longer, end, summed, SUMMED.name
        if rules.sizes is not None:
            found = read_map(walk, stopped, rules.sizes)
    result = LabelDiffusion(
        classes=labels.classes,
        values=found.values,
        class_weight=found.class_weight,
        label_mode=label_mode,
        weighting=found.weighting,
        codes=found.decision.codes,
        probability=found.decision.probability,
        margin=found.decision.margin,
        tau=stopped.tau,
        curve=stopped.curve,
        kept_classes=kept_classes,
        dropped=walk.dropped() if isinstance(walk, LargestWalk) else None,
    )
    return result if places is None else result.in_rows(places)


def at_sizes(
    operator: MarkovOperator,
    labels: Labels,
    diffusion: LabelDiffusion,
    sizes: ClassSizes,
    *,
    may_move: bool,
) -> LabelDiffusion:
    """Return a map that was joined of several, brought to sizes as far as the graph agrees.

    Borders of a map that knows more than the graph does may not move; see
    `diffclass.label_diffusion.class_sizes`. ``labels`` are those of the map.
    """
    walk = start_walk(operator, labels, label_mode=diffusion.label_mode)
    values, weight = diffusion.values, diffusion.class_weight
    with stage("diffusion"):
        sized = with_sizes(walk, values, weight, sizes, may_move=may_move)
    if sized.weighting is None:
        return diffusion
    return replace(diffusion, values=sized.values).weighed(sized.class_weight, sized.weighting)


def in_local_order(
    operator: Operator, labels: Labels
) -> tuple[Operator, Labels, np.ndarray | None]:
    """Renumber a large graph so that neighbours are close in memory, if that can be done.

    It also returns the new number of each point, or None where they keep theirs.
    """
    found = local_order_of(operator)
    if found is None:
        return operator, labels, None
    order, local = found
    places = inverse(order)
    return local, labels.moved(places), places


def local_order_of(operator: Operator) -> tuple[np.ndarray, MarkovOperator] | None:
    """Return `MarkovOperator.in_local_order` where a graph is large enough to gain by it."""
    return operator.in_local_order if len(operator) >= LOCAL_ORDER_POINTS else None


def margin_curve(
    operator: Operator, labels: Labels, *, label_mode: str, max_time: int
) -> MarginCurve:
    """Return the margin curve of labels at all times up to the last, whatever the margin does."""
    walk = start_walk(operator, labels, label_mode=label_mode)
    return walk_along_curve(walk, max_time, kept_share(label_mode, labels.per_class))


def start_walk(
    operator: Operator, labels: Labels, *, label_mode: str, kept_classes: int | None = None
) -> Walk:
    """Return the walk of labels at time 0; the mode is one of `LABEL_MODES`."""
    mode = LABEL_MODES[label_mode]
    if kept_classes is not None:
        if isinstance(operator, WarpedOperator):
            raise ParameterError("a warped walk keeps all classes; leave out kept_classes or warp")
        assert mode.largest_walk is not None  # as `check_kept_classes` ensures
        return mode.largest_walk(operator, labels, kept_classes)
    if isinstance(operator, WarpedOperator):
        if operator.scores.shape[1] != labels.n_classes:
            raise DataError(
                f"y holds {labels.n_classes} classes; the operator is warped for "
                f"{operator.scores.shape[1]}"
            )
        return WarpedWalk(operator, labels, mode)
    return mode.walk(operator, labels)


@dataclass(frozen=True, eq=False)
class MapAtTau:
    """The map that is read off a walk at the time tau."""

    weighting: str  # how the weights were chosen, as of `LabelDiffusion`
    class_weight: np.ndarray
    values: Any  # as of `LabelWalk.values`
    decision: Any  # a `Decision`; None if it is on files


def read_map(walk: LabelWalk, stopped: EarlyStop, sizes: ClassSizes | None = None) -> MapAtTau:
    """Choose the weights of the classes and find the class of each point, wherever columns lie."""
    values, weighting = walk.values(), stopped.weighting
    weight = equal_weights(walk.n_classes)
    if weighting == "balanced":
        weight = balanced_weights(walk.mass_of(values))
    if sizes is not None:
        sized = with_sizes(walk, values, weight, sizes)
        values, weight = sized.values, sized.class_weight
        weighting = sized.weighting or weighting
    return MapAtTau(weighting, weight, values, walk.decide(values, weight, stopped.n_steps))


def _cuts_less(operator: MarkovOperator, summed: MapAtTau, found: MapAtTau) -> bool:
    """Say whether summed labels reach as many points, and their map clearly cuts the graph less."""
    codes, others = summed.decision.codes, found.decision.codes
    if ((others >= 0) & (codes < 0)).any():
        return False
    cut, other = (cut_of(operator, of, len(found.class_weight)) for of in (codes, others))
    return cut.is_clearly_below(other)
