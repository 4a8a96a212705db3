"""Early stopping: walk, look at the map, and go back to the best time.

One way for every walk, in memory or in blocks: a walk gives its criteria in a few numbers, margin,
cut and coverage, which are sums over the points.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from diffclass.label_diffusion.cut import Cut
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
_Map = TypeVar("_Map")


@dataclass(frozen=True)
class Criteria:
    """What early stopping goes by at one time.

    Attributes
    ----------
    margin : dict of str to float
        Mean margin over the points, 0 to 1, by the weighting of the classes.
    cut : dict of str to Cut
        Cut of the map, by the weighting of the classes.
    changed : float
        Share of the points that have another class than in the `PastMaps`; 1 if there is no map
        to compare with.
    """

    margin: dict[str, float]
    cut: dict[str, Cut]
    changed: float


class StoppableWalk(Protocol):
    """A walk of labels as early stopping sees it.

    Attributes
    ----------
    n_points, n_classes : int
    time : int
        Steps taken so far.
    goes_by_cut : bool
        Whether the cut of its maps says anything: free columns all have the same mass.
    """

    time: int
    goes_by_cut: bool

    @property
    def n_points(self) -> int:
        """Number of points."""

    @property
    def n_classes(self) -> int:
        """Number of classes."""

    def advance(self, time: int) -> None:
        """Walk on to a later time."""

    def coverage(self) -> np.ndarray:
        """Return, for t = 0, 1, ..., the share of what labels can reach within t hops."""

    def mean_margin(self) -> float:
        """Return the mean margin over the points, with equal weights of the classes."""

    def criteria(self, weightings: Sequence[str], *, is_covered: bool) -> Criteria:
        """Return what early stopping goes by, with "equal" and other weights of the classes."""

    def checkpoint(self, *names: str) -> None:
        """Save the present state under some names, instead of those saved before."""

    def restore(self, name: str) -> int:
        """Go back to a checkpoint, drop all and return its time, tau."""


class PastMaps(Generic[_Map]):
    """The maps with which later ones are compared: those two looks before, or the first ones."""

    def __init__(self) -> None:
        self._maps: list[_Map] = []

    def compared(self, *, is_covered: bool) -> _Map | None:
        """Return the map to compare the next one with, if there is any."""
        return self._maps[0] if is_covered and len(self._maps) >= 2 else None

    def add(self, codes: _Map, *, is_covered: bool) -> _Map | None:
        """Add the next map, and return the one it is compared with: later ones do not need it."""
        before = self.compared(is_covered=is_covered)
        self._maps.append(codes)
        if before is not None:
            self._maps.pop(0)
        return before


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


def stop_early(
    walk: StoppableWalk,
    tau: int | StoppingRule,
    *,
    usual_share: float,
    balancing: bool,
    is_large: bool,
) -> EarlyStop:
    """Walk until tau is known, and go back to it.

    Parameters
    ----------
    walk : StoppableWalk
        At time 0.
    tau : int or StoppingRule
        As `diffclass.label_diffusion.parameters.checked_tau` returns it.
    usual_share : float
        Share of the largest margin that tau has to keep, unless the rule states another.
    balancing : bool
        Whether weights may be balanced.
    is_large : bool
        Whether steps take long, so that the walk ends where the margin has fallen below the share
        it has to keep, and is looked at only once the labels cover the graph.

    Warns
    -----
    ConvergenceWarning
        If the labels do not cover the graph by the rule's last time.
    """
    if not isinstance(tau, StoppingRule):
        curve = walk_along_curve(walk, tau, usual_share)
        return EarlyStop(walk.restore("kept"), curve, n_steps=walk.time)
    by_cut = tau.by == "auto" and walk.goes_by_cut
    max_time, kept_share = tau.limits(walk.n_points, usual_share=usual_share, goes_by_cut=by_cut)
    if by_cut:
        curve, weighting, best = _walk_to_best(
            walk, max_time, kept_share, balancing=balancing, is_large=is_large
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


def walk_to(walk: StoppableWalk, tau: int) -> None:
    """Walk to a given time, with stops only where the walk may find a faster way on.

    Parameters
    ----------
    walk : StoppableWalk
    tau : int
        Steps from time 0.
    """
    for time in cut_times(tau).tolist():
        if time > walk.time:
            walk.advance(time)


def walk_along_curve(walk: StoppableWalk, tau: int, kept_share: float) -> MarginCurve:
    """Walk to a given time and return the margin curve up to it.

    Parameters
    ----------
    walk : StoppableWalk
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


def _walk_to_best_margin(walk: StoppableWalk, max_time: int, kept_share: float) -> MarginCurve:
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
    walk: StoppableWalk, max_time: int, kept_share: float, *, balancing: bool, is_large: bool
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


def _covered_times(walk: StoppableWalk, times: np.ndarray) -> list[tuple[int, float]]:
    """Return each time with the coverage of the labels at that time."""
    coverage = walk.coverage()
    farthest = len(coverage) - 1
    return [(int(time), float(coverage[min(time, farthest)])) for time in times]
