"""From states to maps on one walk: by columns for free and summed labels, else as a whole.

A state has up to two maps. The provisional one is diffused for a time that is known beforehand.
With the rule "auto" a refined one follows, whose time, mode and weights `diffuse_labels` chooses.
Sizes of the classes count in refined maps alone: they take up to 1,920 products more.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from diffclass.label_diffusion import (
    DiffusionRules,
    LabelDiffusion,
    Labels,
    diffuse_joined,
    diffuse_labels,
)
from diffclass.label_diffusion.class_sizes import Prior
from diffclass.label_diffusion.free_walk import sum_end
from diffclass.label_diffusion.label_modes import AUTO, LABEL_MODES
from diffclass.label_diffusion.stopping import StoppingRule, last_time
from diffclass.operators.markov import MarkovOperator
from diffclass.operators.warped import Operator, WarpedOperator, warped_operator
from diffclass.relabel.audit import Contradiction, Share, contradictions, shares_at
from diffclass.relabel.columns import ColumnStore, Horizon
from diffclass.relabel.edits import next_state
from diffclass.relabel.known_sizes import class_prior
from diffclass.relabel.session_maps import ClassMap, ClassSums, RefinedMaps
from diffclass.relabel.state import State
from diffclass.relabel.strokes import new_stroke
from diffclass.relabel.time_sweep import TimeSweep
from diffclass.targets import decode_labels, labels_per_class

Grouping = Callable[[np.ndarray], np.ndarray]


class Diffusions:
    """Expensive results on one walk, computed once for each state that needs them.

    - `operator`: the walk on n points; states are of these points
    - `rule`: its limits are those of every rule
    - `features`: of the n points, to join refined maps; by default the walk decides alone
    - `grouping`: takes class ids, 0 where unlabelled, and returns the ``groups`` of
      `diffuse_labels`
    - `most_refined`: refined maps kept. With two, undo brings the one before back at once.
    """

    def __init__(
        self,
        operator: MarkovOperator,
        *,
        rule: StoppingRule,
        features: np.ndarray | None = None,
        grouping: Grouping | None = None,
        most_refined: int = 2,
    ):
        self.operator = operator
        self.max_time = last_time(len(operator)) if rule.max_time is None else rule.max_time
        self.columns = ColumnStore(operator)
        self.refined = RefinedMaps(most_refined)
        self._rule = rule
        self._features = features
        self._grouping = grouping
        self._sums = ClassSums(operator, self.columns)
        self._taus: WeakKeyDictionary[State, int] = WeakKeyDictionary()
        self._warps: WeakKeyDictionary[State, WarpedOperator] = WeakKeyDictionary()
        self._time_sweep: tuple[object, TimeSweep] | None = None

    def prepare(self, label_mode: str) -> None:
        """Compute what the maps of all states of a mode share, by a map of one label."""
        empty = replace(State.without_labels(len(self.operator)), label_mode=label_mode)
        one = next_state(empty, {"op": "add_class"})
        self.provisional_map_of(next_state(one, {"op": "stroke", "class": 1, "points": [0]}))

    def map_of(self, state: State) -> ClassMap:
        """Return the refined map of a state if it is kept, else the provisional one."""
        refined = self.refined.of(state)
        return self.provisional_map_of(state) if refined is None else refined

    def refined_map_of(self, state: State, operator: Operator, tau: int | None) -> ClassMap:
        """Return a state's map as `diffuse_labels` makes it.

        - `state`: with at least one stroke
        - `operator`: its walk; see `operator_of`
        - `tau`: time in steps; None for the rule "auto", which chooses mode and weights too
        """
        prior = None if state.sizes is None else class_prior(state.sizes, state.labelled_classes)
        if tau is None:
            found = self._by_rule(state, operator, prior)
        else:
            found = self._diffused(
                operator, state, label_mode=state.first_mode, tau=tau, class_prior=prior
            )
        return ClassMap(found, state.n_points, int(found.tau), is_refined=True)

    def _by_rule(
        self, state: State, operator: Operator, prior: Prior | str | None
    ) -> LabelDiffusion:
        how = {
            "label_mode": state.label_mode,
            "tau": replace(self._rule, by="auto"),
            "class_prior": prior,
        }
        groups = None if self._grouping is None else self._grouping(state.label_ids)
        with warnings.catch_warnings():
            # the session's margin curve shows the coverage
            warnings.simplefilter("ignore", ConvergenceWarning)
            if self._joins(state):
                return self._joined(Labels.of(state.targets, groups=groups), how)
            return self._diffused(operator, state, groups=groups, **how)

    def _joins(self, state: State) -> bool:
        """Say whether features join the refined map, as they do that of `DiffusionClassifier`."""
        is_default = state.label_mode == AUTO.name and state.warped_by is None
        return is_default and self._features is not None

    def _joined(self, labels: Labels, how: dict[str, Any]) -> LabelDiffusion:
        nodes, points = self.operator.nodes, cast(np.ndarray, self._features)
        points = points if nodes is None else points[nodes.first]
        labels = labels.at_nodes(nodes)
        rules = DiffusionRules.of(labels, **how)
        return diffuse_joined(self.operator, points, labels, rules).diffusion

    def provisional_map_of(self, state: State) -> ClassMap:
        """Return a state's map at the time of `tau_of`."""
        tau = self.tau_of(state)
        if not state.strokes:
            diffusion = None
        elif self._is_linear(state):
            diffusion = self._sums.diffusion_of(state.pieces(), tau, self.horizon_of(state))
        else:
            diffusion = self._diffused_whole(state)
        return ClassMap(diffusion, state.n_points, tau)

    def _is_linear(self, state: State) -> bool:
        """Say whether a map is a sum of columns, a stroke each."""
        adds_up = LABEL_MODES[state.first_mode].adds_up and state.warped_by is None
        return adds_up and not state.has_contradictions

    def _diffused_whole(self, state: State) -> LabelDiffusion:
        """Return the diffusion of all labels as they count, without columns."""
        return self._diffused(
            self.operator_of(state), state, label_mode=state.first_mode, tau=self.tau_of(state)
        )

    def _diffused(self, operator: Operator, state: State, **how: Any) -> LabelDiffusion:
        """Return what `diffuse_labels` finds of a state's labels, at what the walk is on."""
        found, nodes = diffuse_labels(operator, state.targets, **how), self.operator.nodes
        is_of_points = nodes is not None and len(found.codes) == nodes.n_points
        return found.in_rows(nodes.first) if nodes is not None and is_of_points else found

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
            chosen = self._diffused(
                self.operator_of(source),
                source,
                label_mode=source.first_mode,
                tau=replace(self._rule, by="margin", max_time=self.max_time),
            )
        self._taus[source] = int(chosen.tau)
        return self._taus[source]

    def known_tau(self, state: State) -> int | None:
        """Return that time if it needs no computation, else None."""
        return state.tau if state.chosen_for is None else self._taus.get(state.chosen_for)

    def horizon_of(self, state: State) -> Horizon:
        """Return how far the columns of a state's strokes walk."""
        tau = self.tau_of(state)
        if not LABEL_MODES[state.first_mode].is_sum or not state.strokes:
            return Horizon(tau, is_sum=False)
        # labels per class as they are, and not those of the state that chose the time: the end of
        # the sum depends on whether a class has more than one
        held_ids = state.held_ids
        codes = np.unique(held_ids[held_ids > 0], return_inverse=True)[1]
        return Horizon(sum_end(tau, labels_per_class(codes)), is_sum=True)

    def operator_of(self, state: State) -> Operator:
        """Return the walk of a state; if warped, one walk for each of its classes."""
        source = state.warped_by
        if source is None or not state.strokes:  # without labels there is no class to walk in
            return self.operator
        # The warp goes by the posteriors when it was made; a class added since walks unwarped, one
        # that is gone is left out.
        known, wanted = source.labelled_classes, state.labelled_classes
        if source not in self._warps:
            # never by a refined map: whether there was one depends on how fast somebody painted
            scores = self.provisional_map_of(source).posteriors
            if known != source.mapped_classes:  # the map has one that counts nowhere
                scores = self._diffused_whole(source).posteriors
            labels = Labels.of(source.targets).at_nodes(self.operator.nodes)
            y = decode_labels(labels.classes, labels.codes_of_points)
            self._warps[source] = warped_operator(self.operator, scores, y=y)
        if wanted == known:
            return self._warps[source]
        return self._warps[source].with_classes(
            [known.index(c) if c in known else -1 for c in wanted]
        )

    def time_sweep_of(self, state: State) -> TimeSweep:
        """Return the maps of a state at other times; kept until labels or walk change."""
        key = state.labels_and_walk
        if self._time_sweep is None or self._time_sweep[0] != key:
            sweep = TimeSweep(
                self.operator_of(state),
                state.targets,
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
