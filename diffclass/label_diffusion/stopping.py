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

from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from diffclass._validation import check_choice, check_kind, check_positive, check_share
from diffclass.exceptions import ParameterError, warn_user
from diffclass.label_diffusion.class_sizes import ClassSizes, with_sizes
from diffclass.label_diffusion.label_modes import AUTO, LABEL_MODES
from diffclass.label_diffusion.labels import Labels
from diffclass.label_diffusion.maps import Cut, balanced_weights, equal_weights
from diffclass.label_diffusion.walk import LabelWalk, curve_times, cut_times
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

    def limits(
        self, n_points: int, n_classes: int, *, usual_share: float, goes_by_cut: bool
    ) -> tuple[int, float]:
        """Return the last time and the share to keep: those given, or the usual ones."""
        rule, size = ("auto", n_points * n_classes) if goes_by_cut else ("margin", n_points)
        usual_time = last_time(size, rule)
        return (
            usual_time if self.max_time is None else self.max_time,
            usual_share if self.kept_share is None else float(self.kept_share),
        )


Tau: TypeAlias = str | int | StoppingRule


def last_time(size: int, rule: str = "margin") -> int:
    """Return the last time that a rule looks at by default, in steps.

    With "auto", where ``size`` is the number of points times that of classes, it is 16,384 up to a
    size of 32,768; few labels in large clusters need so many steps, elsewhere the walk ends with
    the margin. By the margin alone, where ``size`` is the number of points, it is 1,024 up to
    65,536. From there on it falls as 1 / size, so that the walk takes no longer, until it is 256.
    """
    longest = {"auto": 16_384, "margin": 1024}[rule]
    return int(np.clip(_LONGEST_WALK[rule] // size, 256, longest))


def kept_share(label_mode: str, n_labels: float) -> float:
    """Return the share of the largest margin, 0 to 1, that tau has to keep.

    With n labels per class it is 1 - 0.35 / sqrt(n) for free and summed labels, at most 0.8: one or
    two labels find their class only by the shape of its cluster, which takes time. (More than 0.8
    would suit many labels at random places, but not strokes, which are many labels in few places.)
    The margin of absorbing labels falls far more slowly: 1 - 0.6 / sqrt(n), at most 0.65. See
    experiments/few_labels/tau.py.
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


# tau of the summed labels that are tried with one label per class. Their sum is long, as in Poisson
# learning, which was made for so few. On large graphs it would take longer than all the rest.
SUMMED_TAU = 256


def check_kept_classes(kept_classes: int | None, label_mode: str) -> None:
    """Raise `ParameterError` for less than two classes, and labels that do not absorb the walk."""
    if kept_classes is None:
        return
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

    They are the same wherever the columns lie.

    Attributes
    ----------
    label_mode : {"auto", "absorbing", "summed", "free", "free-l1"}
    tau : int or StoppingRule
    sizes : ClassSizes or None
        Least and most shares of the classes.
    per_class : float
        Median number of observations per class.
    is_large : bool
        Whether looks take long, so that they begin once the labels cover the graph.
    kept_classes : int or None
        Number of classes whose values each point keeps, the largest; None: of all.

    Examples
    --------
    With one label per class, a long sum is tried after the labels absorbed:

    >>> from diffclass.label_diffusion import DiffusionRules, Labels
    >>> rules = DiffusionRules.of(Labels.of(["soy", -1, -1, "corn"]))
    >>> rules.first_mode, rules.may_sum, rules.tau
    ('absorbing', True, StoppingRule(by='auto', max_time=None, kept_share=None, covered=True))
    """

    label_mode: str
    tau: int | StoppingRule
    sizes: ClassSizes | None
    per_class: float
    is_large: bool
    kept_classes: int | None = None

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
        """Check the parameters of a diffusion; see `diffclass.diffuse_labels`.

        Raises
        ------
        ParameterError
            If a name is unknown, a time below 1, sizes are of the wrong number or out of range, or
            labels that do not absorb the walk are to keep some classes only.
        """
        check_choice(label_mode, "label_mode", tuple(LABEL_MODES))
        check_kept_classes(kept_classes, label_mode)
        return cls(
            label_mode,
            checked_tau(tau),
            ClassSizes.of(class_prior, labels.n_classes),
            labels.per_class,
            labels.n_points > LONG_WALK_POINTS,
            kept_classes if kept_classes is None else int(kept_classes),
        )

    @property
    def first_mode(self) -> str:
        """How labels count in the first walk: with "auto" they absorb."""
        return LABEL_MODES[self.label_mode].first.name

    @property
    def may_sum(self) -> bool:
        """Whether summed labels are tried after absorbing ones, at a time that is allowed."""
        last = self.tau.max_time if isinstance(self.tau, StoppingRule) else None
        is_allowed = last is None or last >= SUMMED_TAU
        is_short = self.is_large or self.kept_classes is not None
        return is_allowed and self.label_mode == AUTO.name and self.per_class < 2 and not is_short

    @property
    def usual_share(self) -> float:
        """Share of the largest margin that tau has to keep, unless the rule states another."""
        return kept_share(self.first_mode, self.per_class)


COVERED = 0.999
_SETTLED_SHARE = 0.001  # of the points


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
        none = np.zeros(0)
        return cls(np.zeros(0, int), none, none, none, kept_share=0.0)

    @property
    def is_covered(self) -> bool:
        """Whether the labels covered the graph by the last time."""
        return bool(len(self.coverage) and is_covered(self.coverage[-1]))


class MarginChoice:
    """Choice of tau by the margin while the diffusion runs, so that one pass is enough.

    tau has to keep the share ``kept_share`` of the largest margin, of times at which the labels
    cover the graph if it has to be ``covered``. Once the margin is below
    the share ``over_below`` of that, it is not expected to rise again: no later time is worth
    walking to, and the choice ``is_over``. It ``is_about_over`` also if the margin would be too
    small once it fell as far again.
    """

    def __init__(self, kept_share: float, *, covered: bool = True, over_below: float = 0.85):
        self._kept_share, self._needs_coverage = kept_share, covered
        self._over_below = over_below
        self._largest, self._last = 0.0, -np.inf
        self.is_over = self.is_about_over = False

    def see(self, margin: float, coverage: float) -> bool:
        """Look at the next time and return whether it is the best choice so far.

        Until the graph is covered, if it has to be, the latest time is best, because its coverage
        is greatest.
        """
        if self._needs_coverage and coverage < COVERED:
            return True
        self._largest = max(self._largest, margin)
        least = self._kept_share * self._largest
        foreseen = margin - max(self._last - margin, 0.0)
        self._last = margin
        self.is_over = margin < self._over_below * least
        self.is_about_over = self.is_over or foreseen < least
        return not margin < least


class AutoChoice:
    """Choice of tau by the margin, with the cut of the map at that time; see `MarginChoice`."""

    def __init__(self, kept_share: float, *, covered: bool = True):
        self._by_margin = MarginChoice(kept_share, covered=covered, over_below=1)
        self.cut = Cut(np.inf, 0.0)

    def see(self, margin: float, cut: Cut, coverage: float) -> bool:
        """Look at the next time and return whether it is the best choice so far."""
        is_best = self._by_margin.see(margin, coverage)
        self.cut = cut if is_best else self.cut
        return is_best

    @property
    def is_over(self) -> bool:
        """Whether the margin is below the share it has to keep, or will be at the next time."""
        return self._by_margin.is_about_over


def is_covered(coverage: float) -> bool:
    """Say whether labels cover the graph, all points of it or nearly all."""
    return coverage >= COVERED


def is_settled(changed: float) -> bool:
    """Say whether maps hardly change any more, by the share of points that did."""
    return changed < _SETTLED_SHARE


class CurveRecord:
    """The rows of a margin curve while the diffusion runs."""

    def __init__(self, kept_share: float):
        self._kept_share = kept_share
        self._rows: list[tuple[float, ...]] = []

    def add(self, time: int, margin: float, coverage: float, cut: float = np.nan) -> None:
        """Add the next time."""
        self._rows.append((time, margin, coverage, cut))

    @property
    def curve(self) -> MarginCurve:
        """The curve so far."""
        times, margin, coverage, cut = np.array(self._rows, dtype=float).reshape(-1, 4).T
        return MarginCurve(times.astype(int), margin, coverage, cut, self._kept_share)


# Balanced weights are taken if they cut the graph less by half the error of the difference: they
# assume more than equal ones.
_BALANCING_ERRORS = 0.5


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
    tau, usual_share = rules.tau, rules.usual_share
    if not isinstance(tau, StoppingRule):
        curve = walk_along_curve(walk, tau, usual_share)
        return EarlyStop(walk.restore("kept"), curve, n_steps=walk.time)
    by_cut = tau.by == "auto" and walk.goes_by_cut
    max_time, kept_share = tau.limits(
        walk.n_points, walk.n_classes, usual_share=usual_share, goes_by_cut=by_cut
    )
    if by_cut:
        curve, weighting = _walk_to_best(
            walk, max_time, kept_share, covered=tau.covered, is_large=rules.is_large
        )
        stopped = EarlyStop(walk.restore(weighting), curve, weighting, is_by_cut=True)
    else:
        curve = _walk_to_best_margin(walk, max_time, kept_share, covered=tau.covered)
        stopped = EarlyStop(walk.restore("kept"), curve)
    if tau.covered and not curve.is_covered:
        warn_user(
            f"by max_time = {max_time} the labels reach {curve.coverage[-1]:.1%} of what they "
            "could; the rest, more edges away than that, takes the class of its neighbours; raise "
            "max_time or n_neighbors",
            ConvergenceWarning,
        )
    return stopped


def walk_along_curve(walk: LabelWalk, tau: int, kept_share: float) -> MarginCurve:
    """Walk from time 0 to tau, save that state as "kept", and return the margin curve up to it."""
    record = CurveRecord(kept_share)
    for time, coverage in _covered_times(walk, curve_times(tau)):
        walk.advance(time)
        record.add(time, walk.mean_margin(), coverage)
    walk.checkpoint("kept")
    return record.curve


def _walk_to_best_margin(
    walk: LabelWalk, max_time: int, kept_share: float, *, covered: bool
) -> MarginCurve:
    choice, record = MarginChoice(kept_share, covered=covered), CurveRecord(kept_share)
    for time, coverage in _covered_times(walk, curve_times(max_time)):
        walk.advance(time)
        record.add(time, margin := walk.mean_margin(), coverage)
        if choice.see(margin, coverage):
            walk.checkpoint("kept")
        if choice.is_over:
            break
    return record.curve


def _walk_to_best(
    walk: LabelWalk, max_time: int, kept_share: float, *, covered: bool, is_large: bool
) -> tuple[MarginCurve, str]:
    """Walk until no weighting has a better time to come; checkpoint the best ones, and choose."""
    weightings = "equal", "balanced"
    choices = {weighting: AutoChoice(kept_share, covered=covered) for weighting in weightings}
    record = CurveRecord(kept_share)
    times = _covered_times(walk, cut_times(max_time))
    if is_large and covered:  # until the labels cover the graph, no time is better than the next
        times = [look for look in times if is_covered(look[1])] or times[-1:]
    for time, coverage in times:
        walk.advance(time)
        seen = walk.criteria(weightings, is_covered=is_covered(coverage))
        record.add(time, seen.margin["equal"], coverage, seen.cut["equal"].mean)
        walk.checkpoint(*(
            weighting for weighting, choice in choices.items()
            if choice.see(seen.margin[weighting], seen.cut[weighting], coverage)
        ))  # fmt: skip
        is_over = all(choice.is_over for choice in choices.values())
        if is_over or is_settled(seen.changed):
            break
    is_balanced = choices["balanced"].cut.is_below(choices["equal"].cut, n_errors=_BALANCING_ERRORS)
    return record.curve, "balanced" if is_balanced else "equal"


def _covered_times(walk: LabelWalk, times: np.ndarray) -> list[tuple[int, float]]:
    """Return each time with the coverage of the labels at that time."""
    coverage = walk.coverage()
    farthest = len(coverage) - 1
    return [(int(time), float(coverage[min(time, farthest)])) for time in times]


@dataclass(frozen=True, eq=False)
class MapAtTau:
    """What is read off a walk at the time tau."""

    tau: int
    curve: MarginCurve
    is_by_cut: bool  # as of `EarlyStop`
    weighting: str  # how the weights were chosen, as of `LabelDiffusion`
    class_weight: np.ndarray
    values: Any  # as of `LabelWalk.values`
    decision: Any  # a `Decision`; None if it is on files


def read_map(walk: LabelWalk, stopped: EarlyStop, rules: DiffusionRules) -> MapAtTau:
    """Choose the weights of the classes and find the class of each point, wherever columns lie."""
    values, weighting = walk.values(), stopped.weighting
    if weighting == "balanced":
        weight = balanced_weights(walk.mass_of(values))
    else:
        weight = equal_weights(walk.n_classes)
    if rules.sizes is not None:
        sized = with_sizes(walk, values, weight, rules.sizes)
        values, weight = sized.values, sized.class_weight
        weighting = sized.weighting or weighting
    decision = walk.decide(values, weight, stopped.n_steps)
    return MapAtTau(
        stopped.tau, stopped.curve, stopped.is_by_cut, weighting, weight, values, decision
    )
