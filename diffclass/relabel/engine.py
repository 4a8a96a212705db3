"""From states to maps: by columns for free and summed labels, by a new diffusion otherwise.

With the rule "auto" a state has two maps: a first one, at a time that is known beforehand, and the
one that `diffuse_labels` makes when it chooses time, mode and weights itself. The first stands in
until somebody has computed the second.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from diffclass.label_diffusion import LabelDiffusion, diffuse_labels
from diffclass.label_diffusion.stopping_time import StoppingRule, last_time, sum_end
from diffclass.operators.markov import MarkovOperator
from diffclass.operators.warped import WARP_FLOOR, WarpedOperator, warped_operator
from diffclass.relabel.audit import Contradiction, Share, contradictions, shares_at
from diffclass.relabel.columns import ColumnStore, Horizon
from diffclass.relabel.edits import next_state
from diffclass.relabel.session_maps import ClassMap, ClassSums
from diffclass.relabel.state import State
from diffclass.relabel.strokes import new_stroke
from diffclass.relabel.time_sweep import Sweep, TimeSweep
from diffclass.targets import labels_per_class

_T = TypeVar("_T")

Grouping = Callable[[np.ndarray], np.ndarray]
# classes of settled maps that are kept, to compare with
_MOST_IDS = 32
_MOST_ID_BYTES = 2**26


class Engine:
    """Expensive results, computed once for each state that needs them.

    Parameters
    ----------
    operator : MarkovOperator
        The walk on n points.
    max_time : int or None
        Last time that the rules look at; by default as in `diffuse_labels`.
    grouping : callable, optional
        Takes class ids, 0 where unlabelled, and returns the ``groups`` of `diffuse_labels`.
    """

    _most_settled = 2  # maps kept, so that undo brings the one before back at once

    def __init__(
        self,
        operator: MarkovOperator,
        *,
        max_time: int | None,
        grouping: Grouping | None = None,
    ):
        self.operator = operator
        self.max_time = last_time(len(operator)) if max_time is None else max_time
        self._asked_max_time = max_time
        self._grouping = grouping
        self._columns = ColumnStore(operator)
        self._sums = ClassSums(operator, self._columns)
        self._taus: WeakKeyDictionary[State, int] = WeakKeyDictionary()
        self._warps: WeakKeyDictionary[State, _Warp] = WeakKeyDictionary()
        self._time_sweep: tuple[object, TimeSweep] | None = None
        self._settled: dict[object, ClassMap] = {}
        self._settled_ids: dict[object, np.ndarray] = {}

    @property
    def columns(self) -> ColumnStore:
        """Columns of strokes."""
        return self._columns

    @property
    def column_bytes(self) -> int:
        """Memory of all columns, in bytes."""
        return self._columns.n_bytes

    def prepare(self, label_mode: str) -> None:
        """Compute what the maps of all states of a mode share, by a map of one label."""
        empty = replace(State.without_labels(len(self.operator)), label_mode=label_mode)
        one = next_state(empty, {"op": "add_class"})
        self.map_of(next_state(one, {"op": "stroke", "class": 1, "points": [0]}))

    def map_of(self, state: State) -> ClassMap:
        """Return the map of a state's labels; until it is settled, one that stands in for it."""
        settled = self.settled(state)
        return self._first_map_of(state) if settled is None else settled

    def settled(self, state: State) -> ClassMap | None:
        """Return the map that `settle` has made for a state, if it has."""
        return self._settled.get(_labels_walk_and_time(state))

    def is_settled(self, state: State) -> bool:
        """Return whether no map of the state is left to compute; without labels there is none."""
        by_rule = state.rule == "auto" and bool(state.strokes)
        return not by_rule or self.settled(state) is not None

    def settle(self, state: State, operator: MarkovOperator | WarpedOperator) -> None:
        """Compute a state's map and keep it; see `whole_map_of`."""
        settled = self.whole_map_of(state, operator)
        key = _labels_walk_and_time(state)
        n_ids = max(min(_MOST_IDS, _MOST_ID_BYTES // state.n_points), 1)
        # replaced as a whole: other threads read them meanwhile
        self._settled = _newest(self._settled, self._most_settled - 1) | {key: settled}
        self._settled_ids = _newest(self._settled_ids, n_ids - 1) | {key: settled.ids}

    def settled_ids(self, state: State) -> np.ndarray | None:
        """Return the classes of `settled`, which are kept for longer."""
        return self._settled_ids.get(_labels_walk_and_time(state))

    def whole_map_of(self, state: State, operator: MarkovOperator | WarpedOperator) -> ClassMap:
        """Return a state's map as `diffuse_labels` makes it, with the time of "auto".

        Parameters
        ----------
        state : State
            With at least one stroke.
        operator : MarkovOperator or WarpedOperator
            Its walk; see `operator_of`.
        """
        if state.rule == "auto":
            found = self._by_rule(state, operator)
        else:
            tau = self.tau_of(state)
            found = diffuse_labels(operator, targets(state), label_mode=state.first_mode, tau=tau)
        return ClassMap(found, state.n_points, int(found.tau), is_settled=True)

    def _by_rule(self, state: State, operator: MarkovOperator | WarpedOperator) -> LabelDiffusion:
        with warnings.catch_warnings():
            # the session's margin curve shows the coverage
            warnings.simplefilter("ignore", ConvergenceWarning)
            return diffuse_labels(
                operator,
                targets(state),
                label_mode=state.label_mode,
                tau=StoppingRule("auto", max_time=self._asked_max_time),
                groups=None if self._grouping is None else self._grouping(state.label_ids),
            )

    def _first_map_of(self, state: State) -> ClassMap:
        return self._map_at_known_time(state)

    def _map_at_known_time(self, state: State) -> ClassMap:
        tau = self.tau_of(state)
        if not state.strokes:
            diffusion = None
        elif state.first_mode != "absorbing" and state.warped_by is None:
            diffusion = self._sums.diffusion_of(state.pieces(), tau, self.horizon_of(state))
        else:
            diffusion = diffuse_labels(
                self.operator_of(state), targets(state), label_mode=state.first_mode, tau=tau
            )
        return ClassMap(diffusion, state.n_points, tau)

    def tau_of(self, state: State) -> int:
        """Return the time of a state's map: the given one, or that of the margin rule, kept."""
        known = self.known_tau(state)
        if known is not None:
            return known
        source = state.chosen_for
        assert source is not None
        with warnings.catch_warnings():
            # the session's margin curve shows the coverage
            warnings.simplefilter("ignore", ConvergenceWarning)
            chosen = diffuse_labels(
                self.operator_of(source),
                targets(source),
                label_mode=source.first_mode,
                tau=StoppingRule("margin", max_time=self.max_time),
            )
        self._taus[source] = int(chosen.tau)
        return self._taus[source]

    def known_tau(self, state: State) -> int | None:
        """Return the same if it needs no computation, else None."""
        return state.tau if state.chosen_for is None else self._taus.get(state.chosen_for)

    def operator_of(self, state: State) -> MarkovOperator | WarpedOperator:
        """Return the walk of a state; if warped, one walk for each of its classes."""
        source = state.warped_by
        if source is None:
            return self.operator
        if source not in self._warps:
            # never by a settled map: whether there was one depends on how fast somebody painted
            scores = self._map_at_known_time(source).posteriors
            self._warps[source] = _Warp(self.operator, scores, source)
        return self._warps[source].for_classes(state.mapped_classes)

    def time_sweep_of(self, state: State) -> Sweep:
        """Return the maps of a state at other times; kept until labels or walk change."""
        key = _labels_and_walk(state)
        if self._time_sweep is None or self._time_sweep[0] != key:
            sweep = TimeSweep(
                self.operator_of(state),
                targets(state),
                label_mode=state.first_mode,
                max_time=self.max_time,
            )
            self._time_sweep = key, sweep
        return self._time_sweep[1]

    def shares_at(self, state: State, horizon: Horizon, point: int) -> list[Share]:
        """Return the share of each stroke at a point, by free walks that are not warped."""
        here = new_stroke(0, 0, np.array([point], dtype=np.int32))
        (column,) = self.columns.of([here], horizon)
        return shares_at(self.operator, tuple(state.strokes), column, point)

    def contradictions(self, state: State, horizon: Horizon) -> list[Contradiction]:
        """Return the labels that all other strokes contradict, by the walks of `shares_at`."""
        strokes = tuple(state.strokes)
        return contradictions(self.operator, strokes, self.columns.of(strokes, horizon))

    def walk_for_suggestions(self, state: State) -> MarkovOperator | WarpedOperator:
        """Return the walk by which points to label next are chosen."""
        return self.operator_of(state)

    def diffusion_for_suggestions(self, state: State, shown: ClassMap) -> LabelDiffusion | None:
        """Return the diffusion by which they are chosen, if there is one: that of the map."""
        return shown.diffusion

    def horizon_of(self, state: State) -> Horizon:
        """Return how far the columns of a state's strokes walk."""
        tau = self.tau_of(state)
        if state.first_mode != "summed" or not state.strokes:
            return Horizon(tau, is_sum=False)
        label_ids = state.label_ids
        codes = np.unique(label_ids[label_ids > 0], return_inverse=True)[1]
        return Horizon(sum_end(tau, labels_per_class(codes)), is_sum=True)


def _newest(kept: dict[object, _T], number: int) -> dict[object, _T]:
    """Return the entries that were added last."""
    return dict(list(kept.items())[max(len(kept) - number, 0) :])


def _labels_and_walk(state: State) -> tuple[object, ...]:
    return state.labels_key, state.label_mode, state.warped_by


def _labels_walk_and_time(state: State) -> tuple[object, ...]:
    given = state.chosen_for or state.tau
    return *_labels_and_walk(state), "auto" if state.rule == "auto" else given


class _Warp:
    """Scores that warp the walk, by class id. Classes added later have the lowest score."""

    def __init__(self, operator: MarkovOperator, scores: np.ndarray, source: State):
        self._class_ids = source.mapped_classes
        self._warped = warped_operator(operator, scores, y=targets(source))

    def for_classes(self, class_ids: tuple[int, ...]) -> WarpedOperator:
        """Return the walks of some classes."""
        warped = self._warped
        if class_ids == self._class_ids:
            return warped
        shape = len(warped), len(class_ids)
        scores = np.full(shape, WARP_FLOOR, dtype=warped.scores.dtype)
        smoothed_scores = np.empty_like(scores)
        smoothed_scores[:] = (WARP_FLOOR * warped.operator.degrees)[:, None]
        for column, class_id in enumerate(class_ids):
            if class_id in self._class_ids:
                known = self._class_ids.index(class_id)
                scores[:, column] = warped.scores[:, known]
                smoothed_scores[:, column] = warped.smoothed_scores[:, known]
        return WarpedOperator(warped.operator, scores, smoothed_scores, warped.forward_exponent)


def targets(state: State) -> np.ndarray:
    """Return a state's labels as estimators take them: class ids, -1 where unlabelled."""
    ids = state.label_ids.astype(np.int16)
    return np.where(ids > 0, ids, -1)
