"""The time tau: the rules that choose it, with their parameters, and the walk until it is known.

Rules look only at times at which the labels cover the graph, unless ``covered`` is false; until
then the latest time is best.

*Largest margin*: the margin of a point is the difference of its two largest posteriors, 0 where
nothing has arrived; M(t) is its mean over the points. M is largest while the walk has hardly moved;
the rule takes the *last* time that keeps a certain share of the largest margin. With the share 1
and without coverage, ``StoppingRule("margin", kept_share=1, covered=False)``, it is the rule of
Coifman et al. 2005, section 3: the time of the largest margin. On the tissue of their figure 5 that
time is a few steps, before the labels have come far (experiments/coifman_2005/figure_5.py).

*Auto* (the default) takes that time too, once for equal and once for balanced weights of the
classes, and the balanced map if its cut is clearly smaller (`diffclass.label_diffusion.maps`).
Where classes are mixed the margin falls soon, and the walk is short; where few labels have to fill
large clusters it holds for thousands of steps, and these are needed. The walk does not take its
last steps, a third of all, only to see that the margin has fallen too far: where another fall as
deep as the last would be too far, it ends (experiments/scaling/ends.py). Measured in
experiments/few_labels/tau.py.

`stop_early` walks, looks at margin and cut, and goes back to the best time; it works for every
`LabelWalk`, wherever its columns lie.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from diffclass._validation import check_choice, check_kind, check_positive, check_share
from diffclass.exceptions import ParameterError, warn_user
from diffclass.label_diffusion.class_sizes import ClassSizes
from diffclass.label_diffusion.label_modes import AUTO, LABEL_MODES
from diffclass.label_diffusion.labels import Labels
from diffclass.label_diffusion.maps import Cut
from diffclass.label_diffusion.walk import WEIGHTINGS, LabelWalk, curve_times, cut_times
from diffclass.system.sizes import LONG_WALK_POINTS

RULES = ("auto", "margin")
# Size times steps of the longest walk: 16,384 steps of 32,768 values, 1,024 of 65,536 points.
_LONGEST_WALK = {"auto": 2**29, "margin": 2**26}
_MOST_STEPS = 10**6  # labels have settled long before, and each step is one over all edges


@dataclass(frozen=True)
class StoppingRule:
    """How the time is chosen while labels diffuse, with limits of one's own.

    Parameters
    ----------
    by : {"auto", "margin"}, default="auto"
        By margin and cut, or by the margin alone; ``tau="auto"`` and ``tau="margin"`` are these
        rules with their own limits.
    max_time : int, optional
        Last time that the rule looks at. By default it is 16,384 for the absorbing labels of "auto"
        and 1,024 by the margin alone; on large graphs it falls to 256, see `last_time`.
    kept_share : float, optional
        Share of the largest margin, 0 to 1, that the time has to keep. By default see `kept_share`.
    covered : bool, default=True
        Whether the labels have to cover the graph by then. False, with the share 1 by the margin
        alone, is the rule of Coifman et al. 2005, section 3.

    Examples
    --------
    >>> from diffclass import DiffusionClassifier, StoppingRule
    >>> DiffusionClassifier(tau=StoppingRule("margin", kept_share=1)).tau.kept_share
    1
    """

    by: str = "auto"
    max_time: int | None = None
    kept_share: float | None = None
    covered: bool = True


Tau: TypeAlias = str | int | StoppingRule


def last_time(size: int, rule: str = "margin") -> int:
    """Return the last time that a rule looks at by default, in steps.

    It is 16,384 with "auto", where few labels in large clusters need so many and elsewhere the walk
    ends with the margin, and 1,024 by the margin alone. From a size on (of n_points n_classes, or
    of n_points) it falls as 1 / size, down to 256, so that the walk takes no longer.
    """
    longest = {"auto": 16_384, "margin": 1024}[rule]
    return int(np.clip(_LONGEST_WALK[rule] // size, 256, longest))


def kept_share(label_mode: str, n_labels: float) -> float:
    """Return the share of the largest margin, 0 to 1, that tau has to keep.

    With n labels per class it is 1 - 0.35 / sqrt(n) for free and summed labels, at most 0.8: one or
    two labels find their class only by the shape of its cluster, which takes time; strokes, which
    are many labels in few places, too. The margin of absorbing labels falls far more slowly: 1 -
    0.6 / sqrt(n), at most 0.65 (experiments/few_labels/tau.py).
    """
    if LABEL_MODES[label_mode].absorbs:
        return min(0.65, float(1 - 0.6 / np.sqrt(n_labels)))
    return min(0.8, float(1 - 0.35 / np.sqrt(n_labels)))


def checked_rule(rule: str | StoppingRule) -> StoppingRule:
    """Return a rule whose limits are in range; raise `ParameterError` for anything else."""
    if not isinstance(rule, StoppingRule):
        return StoppingRule(check_choice(rule, "rule", RULES))
    return cast(StoppingRule, checked_tau(rule))


def checked_tau(tau: Tau) -> int | StoppingRule:
    """Return a number of steps, or a rule; that which a name stands for."""
    if isinstance(tau, str):
        return StoppingRule(check_choice(tau, "tau", RULES, other="a number of steps"))
    if not isinstance(tau, StoppingRule):
        check_positive(tau, "tau", integer=True)
        if tau > _MOST_STEPS:
            raise ParameterError(
                f"tau = {tau}; labels settle long before so many steps: take at most "
                f"{_MOST_STEPS}, or let a rule choose"
            )
        return int(tau)
    check_choice(tau.by, "tau.by", RULES)
    if tau.max_time is not None:
        check_positive(tau.max_time, "tau.max_time", integer=True)
    if tau.kept_share is not None:
        check_share(tau.kept_share, "tau.kept_share", zero=False)
    check_kind(tau.covered, "tau.covered", (bool, np.bool_), example="False")
    return tau


def is_automatic(label_mode: str, tau: Tau) -> bool:
    """Whether mode and time are both left to the rule "auto"."""
    rule = checked_tau(tau)
    return label_mode == AUTO.name and isinstance(rule, StoppingRule) and rule.by == "auto"


# tau of the summed labels that are tried with one label per class. Their sum is long, as in Poisson
# learning, which was made for so few. On large graphs it would take longer than all the rest.
SUMMED_TAU = 256


def check_kept_classes(kept_classes: int, label_mode: str) -> None:
    """Raise `ParameterError` for less than two classes, and labels that do not absorb the walk."""
    check_positive(kept_classes, "kept_classes", integer=True)
    if kept_classes < 2:
        raise ParameterError("kept_classes = 1 leaves no margin; keep at least 2")
    if LABEL_MODES[label_mode].largest_walk is None:
        raise ParameterError(
            f"kept_classes with label_mode={label_mode!r}, whose values are all about equal in the "
            "end; leave one of them out"
        )


@dataclass(frozen=True, eq=False)
class DiffusionRules:
    """How labels count, and how the time and the weights of the classes are chosen.

    Examples
    --------
    With one label per class, a long sum is tried after the labels absorbed:

    >>> from diffclass.label_diffusion import DiffusionRules, Labels
    >>> rules = DiffusionRules.of(Labels.of(["soy", -1, -1, "corn"]))
    >>> rules.label_mode, rules.tries_sum, rules.kept_share
    ('absorbing', True, 0.4)
    """

    label_mode: str  # of the first walk, so never "auto"
    tries_sum: bool  # whether the map of a long sum is tried after it
    tau: int | StoppingRule
    kept_share: float  # of the largest margin, unless the rule states another
    sizes: ClassSizes | None
    is_large: bool  # whether looks take long, so that they begin once the labels cover the graph
    kept_classes: int | None = None  # whose values each point keeps, the largest; None: of all

    @classmethod
    def of(
        cls,
        labels: Labels,
        *,
        label_mode: str = "auto",
        tau: Tau = "auto",
        class_prior: ArrayLike | None = None,
        kept_classes: int | None = None,
    ) -> DiffusionRules:
        """Check the parameters of a diffusion, with the errors of `diffclass.diffuse_labels`."""
        check_choice(label_mode, "label_mode", tuple(LABEL_MODES))
        if kept_classes is not None:
            check_kept_classes(kept_classes, label_mode)
        tau, per_class = checked_tau(tau), labels.per_class
        is_large = labels.n_points > LONG_WALK_POINTS
        first_mode = LABEL_MODES[label_mode].first.name
        last = tau.max_time if isinstance(tau, StoppingRule) else None
        is_short = is_large or kept_classes is not None
        may_sum = label_mode == AUTO.name and per_class < 2 and not is_short
        return cls(
            label_mode=first_mode,
            tries_sum=may_sum and (last is None or last >= SUMMED_TAU),
            tau=tau,
            kept_share=kept_share(first_mode, per_class),
            sizes=ClassSizes.of_classes(class_prior, labels.classes),
            is_large=is_large,
            kept_classes=None if kept_classes is None else int(kept_classes),
        )


COVERED = 0.999  # share of what the labels can reach
_SETTLED_SHARE = 0.001  # of the points: fewer that change their class do not change the map
_OVER = 0.85  # of the margin that has to be kept


@dataclass(frozen=True)
class MarginCurve:
    """Mean margin, coverage and cut at each time of a diffusion.

    Attributes
    ----------
    times : ndarray of int of shape (n_times,)
        Times in steps, ascending from 1.
    margin : ndarray of shape (n_times,)
        Mean margin over all points, 0 to 1.
    coverage : ndarray of shape (n_times,)
        Share, 0 to 1, of what the labels can reach that lies within so many hops. Free labels
        count pairs of point and class, absorbing labels count points.
    cut : ndarray of shape (n_times,)
        Cut of the map with equal weights of the classes, 0 to 1; NaN where it was not needed.
    kept_share : float
        By the margin, tau is the last covered time whose margin is at least this share of the
        maximum.

    Examples
    --------
    A label at each end of a line: once they cover it, the margin falls slowly:

    >>> import numpy as np
    >>> from diffclass import diffuse_labels, markov_operator
    >>> A = markov_operator(np.arange(30.0)[:, None], n_neighbors=2)
    >>> y = np.full(30, -1); y[[0, -1]] = 0, 1
    >>> curve = diffuse_labels(A, y, label_mode="absorbing").curve
    >>> curve.times[3:9]
    array([ 4,  6,  8, 11, 16, 23])
    >>> curve.coverage[3:9].round(2)
    array([0.4 , 0.53, 0.67, 0.87, 1.  , 1.  ])
    >>> curve.margin[3:9].round(2)
    array([0.4 , 0.53, 0.67, 0.87, 0.99, 0.98])
    """

    times: np.ndarray
    margin: np.ndarray
    coverage: np.ndarray
    cut: np.ndarray
    kept_share: float

    @classmethod
    def empty(cls) -> MarginCurve:
        """Return the curve of a diffusion that was not followed through time."""
        return cls.of([], 0.0)

    @classmethod
    def of(cls, rows: Sequence[tuple[float, ...]], kept_share: float) -> MarginCurve:
        """Return the curve of rows of time, margin, coverage and cut."""
        times, margin, coverage, cut = np.array(rows, dtype=float).reshape(-1, 4).T
        return cls(times.astype(int), margin, coverage, cut, kept_share)

    @property
    def is_covered(self) -> bool:
        """Whether the labels covered the graph by the last time."""
        return bool(len(self.coverage) and self.coverage[-1] >= COVERED)


class BestTime:
    """The best time so far, chosen while the labels diffuse, so that one pass is enough.

    tau has to keep the share ``kept_share`` of the largest margin, of times at which the labels
    cover the graph if it has to be ``covered``; until then the latest time is best, since its
    coverage is greatest. The choice ``is_over`` once no later time is worth walking to: the margin
    is below a share of what it has to keep, from which it is not expected to rise again or, with
    ``foresees``, would be too small once it fell as far again. ``cut`` is that of the best time.
    """

    def __init__(self, kept_share: float, *, covered: bool = True, foresees: bool = False):
        self._kept_share, self._covered, self._foresees = kept_share, covered, foresees
        self._largest, self._last = 0.0, -np.inf
        self.cut = Cut(np.inf, 0.0)
        self.is_over = False

    def see(self, margin: float, coverage: float, cut: Cut | None = None) -> bool:
        """Look at the next time and return whether it is the best so far."""
        is_best = True
        if not self._covered or coverage >= COVERED:
            self._largest = max(self._largest, margin)
            least = self._kept_share * self._largest
            fall, self._last = max(self._last - margin, 0.0), margin
            is_best = not margin < least
            self.is_over = margin - fall < least if self._foresees else margin < _OVER * least
        if is_best and cut is not None:
            self.cut = cut
        return is_best


@dataclass(frozen=True)
class EarlyStop:
    """Where a walk was stopped: it now holds the state at tau."""

    tau: int
    curve: MarginCurve
    weighting: str = "equal"  # "equal" or "balanced"
    n_steps: int | None = None  # length of the walk, if it was given
    is_by_cut: bool = False  # whether the weighting was chosen by the cut


def stop_early(walk: LabelWalk, rules: DiffusionRules) -> EarlyStop:
    """Walk from time 0 until tau is known, and go back to it.

    Warns
    -----
    ConvergenceWarning
        If the labels do not cover the graph by the rule's last time.
    """
    rule = rules.tau
    if not isinstance(rule, StoppingRule):
        curve = walk_along_curve(walk, rule, rules.kept_share)
        return EarlyStop(walk.restore("kept"), curve, n_steps=walk.time)
    share = rules.kept_share if rule.kept_share is None else float(rule.kept_share)
    by_cut = rule.by == "auto" and walk.goes_by_cut
    size = walk.n_points * walk.n_classes if by_cut else walk.n_points
    max_time = rule.max_time or last_time(size, "auto" if by_cut else "margin")
    if by_cut:
        curve, weighting = _walk_by_cut(walk, max_time, share, rule.covered, rules.is_large)
        stopped = EarlyStop(walk.restore(weighting), curve, weighting, is_by_cut=True)
    else:
        curve = _walk_by_margin(walk, max_time, share, rule.covered)
        stopped = EarlyStop(walk.restore("kept"), curve)
    if rule.covered and curve.coverage[-1] < COVERED:
        warn_user(
            f"by max_time = {max_time} the labels reach {curve.coverage[-1]:.1%} of what they "
            "could; the rest, more edges away than that, takes the class of its neighbours; raise "
            "max_time or n_neighbors",
            ConvergenceWarning,
        )
    return stopped


def walk_along_curve(walk: LabelWalk, tau: int, kept_share: float) -> MarginCurve:
    """Walk from time 0 to tau, save that state as "kept", and return the margin curve up to it."""
    rows = []
    for time, coverage in _looks(walk, curve_times(tau)):
        walk.advance(time)
        rows.append((time, walk.mean_margin(), coverage, np.nan))
    walk.checkpoint("kept")
    return MarginCurve.of(rows, kept_share)


def _walk_by_margin(
    walk: LabelWalk, max_time: int, kept_share: float, covered: bool
) -> MarginCurve:
    """Walk until no better time is to come, and save the state at the best one as "kept"."""
    best, rows = BestTime(kept_share, covered=covered), []
    for time, coverage in _looks(walk, curve_times(max_time)):
        walk.advance(time)
        rows.append((time, margin := walk.mean_margin(), coverage, np.nan))
        if best.see(margin, coverage):
            walk.checkpoint("kept")
        if best.is_over:
            break
    return MarginCurve.of(rows, kept_share)


def _walk_by_cut(
    walk: LabelWalk, max_time: int, kept_share: float, covered: bool, is_large: bool
) -> tuple[MarginCurve, str]:
    """Walk until no weighting has a better time to come; checkpoint the best ones, and choose.

    Each weighting has a best time of its own, and is saved under its own name: which of the two
    counts is known at the end only, when the cuts at these times are.
    """
    best = {name: BestTime(kept_share, covered=covered, foresees=True) for name in WEIGHTINGS}
    rows, looks = [], _looks(walk, cut_times(max_time))
    if is_large and covered:  # until the labels cover the graph, no time is better than the next
        looks = [look for look in looks if look[1] >= COVERED] or looks[-1:]
    for time, coverage in looks:
        walk.advance(time)
        seen = walk.criteria(is_covered=coverage >= COVERED)
        rows.append((time, seen.margin["equal"], coverage, seen.cut["equal"].mean))
        better = [
            name
            for name, choice in best.items()
            if choice.see(seen.margin[name], coverage, seen.cut[name])
        ]
        walk.checkpoint(*better)
        if all(choice.is_over for choice in best.values()) or seen.changed < _SETTLED_SHARE:
            break
    is_balanced = best["balanced"].cut.is_clearly_below(best["equal"].cut)
    return MarginCurve.of(rows, kept_share), "balanced" if is_balanced else "equal"


def _looks(walk: LabelWalk, times: np.ndarray) -> list[tuple[int, float]]:
    """Return each time with the coverage of the labels at that time."""
    coverage = walk.coverage()
    farthest = len(coverage) - 1
    return [(int(time), float(coverage[min(time, farthest)])) for time in times]
