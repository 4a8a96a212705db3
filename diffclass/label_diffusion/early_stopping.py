"""Early stopping: walk, look at the map, and go back to the best time.

It works for every `LabelWalk`, wherever its columns lie.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from diffclass.label_diffusion.label_walk import LabelWalk
from diffclass.label_diffusion.parameters import DiffusionRules
from diffclass.label_diffusion.stopping_time import (
    AutoChoice,
    CurveRecord,
    MarginChoice,
    MarginCurve,
    StoppingRule,
    curve_times,
    cut_times,
    is_covered,
    is_settled,
)

# Balanced weights are taken if they cut the graph less by half the error of the difference: they
# assume more than equal ones.
_BALANCING_ERRORS = 0.5


@dataclass(frozen=True)
class EarlyStop:
    """Where a walk was stopped: it now holds the state at tau.

    Attributes
    ----------
    tau : int
        Steps.
    curve : MarginCurve
    weighting : {"equal", "balanced"}
    n_steps : int or None
        Length of the walk, if it was given.
    is_by_cut : bool
        Whether the time was chosen by the cut.
    """

    tau: int
    curve: MarginCurve
    weighting: str = "equal"
    n_steps: int | None = None
    is_by_cut: bool = False


def stop_early(walk: LabelWalk, rules: DiffusionRules) -> EarlyStop:
    """Walk until tau is known, and go back to it.

    Parameters
    ----------
    walk : LabelWalk
        At time 0.
    rules : DiffusionRules

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
    max_time, kept_share = tau.limits(walk.n_points, usual_share=usual_share, goes_by_cut=by_cut)
    if by_cut:
        curve, weighting, best = _walk_to_best(
            walk, max_time, kept_share, balancing=rules.prior is None, is_large=rules.is_large
        )
        stopped = EarlyStop(walk.restore(weighting + best), curve, weighting, is_by_cut=True)
    else:
        curve = _walk_to_best_margin(walk, max_time, kept_share)
        stopped = EarlyStop(walk.restore("kept"), curve)
    if not curve.is_covered:
        warnings.warn(
            f"by max_time = {max_time} the labels reach {curve.coverage[-1]:.1%} of what they "
            "could; the rest, more edges away than that, takes the class of its neighbours; raise "
            "max_time or n_neighbors",
            ConvergenceWarning,
            stacklevel=4,
        )
    return stopped


def walk_along_curve(walk: LabelWalk, tau: int, kept_share: float) -> MarginCurve:
    """Walk to a given time and return the margin curve up to it.

    Parameters
    ----------
    walk : LabelWalk
        At time 0; its last state is saved as "kept".
    tau : int
        Steps.
    kept_share : float
        For the record.
    """
    record = CurveRecord(kept_share)
    for time, coverage in _covered_times(walk, curve_times(tau)):
        walk.advance(time)
        record.add(time, walk.mean_margin(), coverage)
    walk.checkpoint("kept")
    return record.curve


def _walk_to_best_margin(walk: LabelWalk, max_time: int, kept_share: float) -> MarginCurve:
    choice, record = MarginChoice(kept_share), CurveRecord(kept_share)
    for time, coverage in _covered_times(walk, curve_times(max_time)):
        walk.advance(time)
        record.add(time, margin := walk.mean_margin(), coverage)
        if choice.see(margin, coverage):
            walk.checkpoint("kept")
        if choice.is_over:
            break
    return record.curve


def _walk_to_best(
    walk: LabelWalk, max_time: int, kept_share: float, *, balancing: bool, is_large: bool
) -> tuple[MarginCurve, str, str]:
    """Walk until the map settles; checkpoint the best times of each weighting and choose."""
    weightings = ("equal", "balanced") if balancing else ("equal",)
    choices = {weighting: AutoChoice(kept_share) for weighting in weightings}
    record = CurveRecord(kept_share)
    times = _covered_times(walk, cut_times(max_time))
    if is_large:  # until the labels cover the graph, no time is better than the next
        times = [look for look in times if is_covered(look[1])] or times[-1:]
    for time, coverage in times:
        walk.advance(time)
        seen = walk.criteria(weightings, is_covered=is_covered(coverage))
        best: list[str] = []
        for weighting, choice in choices.items():
            names = choice.see(seen.margin[weighting], seen.cut[weighting], coverage)
            best += [weighting + name for name in names]
        record.add(time, seen.margin["equal"], coverage, seen.cut["equal"].mean)
        walk.checkpoint(*best)
        is_over = all(choice.is_over for choice in choices.values())
        if (is_large and is_over) or is_settled(seen.changed):
            break
    weighting, equal = "equal", choices["equal"]
    if balancing and choices["balanced"].cut.is_below(equal.cut, n_errors=_BALANCING_ERRORS):
        weighting = "balanced"
    return record.curve, weighting, choices[weighting].best


def _covered_times(walk: LabelWalk, times: np.ndarray) -> list[tuple[int, float]]:
    """Return each time with the coverage of the labels at that time."""
    coverage = walk.coverage()
    farthest = len(coverage) - 1
    return [(int(time), float(coverage[min(time, farthest)])) for time in times]
