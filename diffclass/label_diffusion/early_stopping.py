"""Early stopping: walk, look at the map, and go back to the best time.

It works for every walk, in memory or in blocks, since margin, cut and coverage are sums over the
points.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from diffclass.label_diffusion.class_weights import balanced_weights, equal_weights
from diffclass.label_diffusion.cut import Cut, cut_of_sums
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
_Map = TypeVar("_Map")
_Found = TypeVar("_Found")


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
        Share of the points that have another class than in an earlier map; 1 if there is no map
        to compare with.
    """

    margin: dict[str, float]
    cut: dict[str, Cut]
    changed: float


@dataclass(frozen=True, eq=False)
class MapSums:
    """Sums over points of one map per weighting. Those of a graph are the sums over its blocks.

    Attributes
    ----------
    margin : ndarray of shape (n_weightings,)
        Sums of the margins.
    classes : ndarray of shape (n_weightings, 3, n_classes)
        As of `diffclass.label_diffusion.cut.class_sums`.
    changed : int
        Points that the first map and an earlier one give different classes.
    """

    margin: np.ndarray
    classes: np.ndarray
    changed: int

    def __add__(self, other: MapSums) -> MapSums:
        changed = self.changed + other.changed
        return MapSums(self.margin + other.margin, self.classes + other.classes, changed)


class LabelWalk(ABC, Generic[_Map]):
    """Labels diffused to one time, in columns that lie somewhere: in arrays, or in blocks.

    Subclasses say how columns advance, and reduce maps to sums; what the sums mean is said here.

    Attributes
    ----------
    n_points, n_classes : int
    time : int
        Steps taken so far.
    goes_by_cut : bool
        Whether the cut of its maps says anything: free columns all have the same mass.
    """

    n_points: int
    n_classes: int
    time: int
    goes_by_cut = False

    def __init__(self) -> None:
        self._past_maps: list[_Map] = []

    @abstractmethod
    def advance(self, time: int) -> None:
        """Walk on to a later time."""

    @abstractmethod
    def coverage(self) -> np.ndarray:
        """Return, for t = 0, 1, ..., the share of what labels can reach within t edges."""

    @abstractmethod
    def mean_margin(self) -> float:
        """Return the mean margin over the points, with equal weights of the classes."""

    @abstractmethod
    def mass(self) -> np.ndarray:
        """Return the masses <N_i, pi> of the columns, up to a common factor; (n_classes,)."""

    @abstractmethod
    def map_sums(self, weights: np.ndarray, before: _Map | None) -> tuple[MapSums, _Map]:
        """Return the sums of the maps with some weights of the classes, and the first of the maps.

        Parameters
        ----------
        weights : ndarray of shape (n_weightings, n_classes)
        before : map or None
            An earlier map, to be compared with the first one. It is not needed any more afterwards.
        """

    @abstractmethod
    def checkpoint(self, *names: str) -> None:
        """Save the present state under some names, instead of those saved before."""

    @abstractmethod
    def restore(self, name: str) -> int:
        """Go back to a checkpoint, drop all and return its time, tau."""

    def retry(self, work: Callable[[], _Found]) -> _Found:
        """Do some work on the present state; where a worker loses it, do it again."""
        return work()

    def criteria(self, weightings: Sequence[str], *, is_covered: bool) -> Criteria:
        """Return what early stopping goes by.

        Parameters
        ----------
        weightings : sequence of str
            "equal", which comes first, and "balanced".
        is_covered : bool
            Whether the labels cover the graph. The map is then compared with the one two looks
            before; until then there are at most two maps to keep.
        """
        weights = {"equal": equal_weights(self.n_classes)}
        if "balanced" in weightings:
            weights["balanced"] = balanced_weights(self.mass())
        stacked = np.stack([weights[weighting] for weighting in weightings])
        is_compared = is_covered and len(self._past_maps) >= 2
        before = self._past_maps[0] if is_compared else None
        sums, first = self.map_sums(stacked, before)
        self._past_maps = [*self._past_maps[int(is_compared) :], first]
        return Criteria(
            dict(zip(weightings, (sums.margin / self.n_points).tolist(), strict=True)),
            dict(zip(weightings, map(cut_of_sums, sums.classes), strict=True)),
            sums.changed / self.n_points if is_compared else 1.0,
        )


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


def walk_to(walk: LabelWalk, tau: int) -> None:
    """Walk to a given time, with stops only where the walk may find a faster way on.

    Parameters
    ----------
    walk : LabelWalk
    tau : int
        Steps from time 0.
    """
    for time in cut_times(tau).tolist():
        if time > walk.time:
            walk.advance(time)


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
