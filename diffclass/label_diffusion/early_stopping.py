"""Early stopping: walk, look at margin and cut, go back to the best time, and read the map there.

It works for every `LabelWalk`, wherever its columns lie. The rules are those of
`diffclass.label_diffusion.parameters`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from diffclass.exceptions import warn_user
from diffclass.label_diffusion.class_sizes import with_sizes
from diffclass.label_diffusion.label_walk import LabelWalk, curve_times, cut_times
from diffclass.label_diffusion.maps import Cut, balanced_weights, equal_weights
from diffclass.label_diffusion.parameters import DiffusionRules, StoppingRule

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


def map_at_tau(walk: LabelWalk, rules: DiffusionRules) -> MapAtTau:
    """Walk from time 0 until tau is known, go back to it, and read the map; see `stop_early`."""
    return read_map(walk, stop_early(walk, rules), rules)


def read_map(walk: LabelWalk, stopped: EarlyStop, rules: DiffusionRules) -> MapAtTau:
    """Choose the weights of the classes and find the class of each point, wherever columns lie."""

    def work() -> MapAtTau:
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

    return walk.retry(work)
