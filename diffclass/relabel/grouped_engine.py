"""An engine for many points: not first maps alone, answers too go by groups of points.

The walk by groups alone is warped, and chooses the time of the rule "margin".
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from diffclass.label_diffusion import LabelDiffusion, MarginCurve
from diffclass.operators.markov import MarkovOperator
from diffclass.operators.warped import WarpedOperator
from diffclass.relabel.audit import Contradiction, Share
from diffclass.relabel.columns import ColumnStore, Horizon
from diffclass.relabel.first_by_groups import FirstByGroups
from diffclass.relabel.session_maps import ClassMap
from diffclass.relabel.state import State
from diffclass.relabel.time_sweep import Frame, Sweep


class GroupedEngine(FirstByGroups):
    """An engine of points that answers by their groups; parameters as for `FirstByGroups`."""

    _most_settled = 1  # they are large

    @property
    def columns(self) -> ColumnStore:
        """Columns of strokes, of the groups."""
        return self._by_groups.columns

    def settled(self, state: State) -> ClassMap | None:
        """Return the map of the points; of a warped walk that of the groups."""
        if state.warped_by is None:
            return super().settled(state)
        found = self._by_groups.settled(self._states.of(state))
        return None if found is None else self._lifted(found)

    def is_settled(self, state: State) -> bool:
        """Return whether no map of the state is left to compute."""
        if state.warped_by is not None:
            return self._by_groups.is_settled(self._states.of(state))
        return super().is_settled(state)

    def settle(self, state: State, operator: MarkovOperator | WarpedOperator) -> None:
        """Compute the map of the points, as `diffuse_labels` does with these labels."""
        if state.warped_by is None:
            super().settle(state, operator)
        else:
            self._by_groups.settle(self._states.of(state), operator)

    def whole_map_of(self, state: State, operator: MarkovOperator | WarpedOperator) -> ClassMap:
        """Return the map of the points; of a warped walk that of the groups."""
        if state.warped_by is None:
            return super().whole_map_of(state, operator)
        return self._lifted(self._by_groups.whole_map_of(self._states.of(state), operator))

    def tau_of(self, state: State) -> int:
        """Return the time of a state's map; the rule "margin" chooses it on the groups."""
        return self._by_groups.tau_of(self._states.of(state))

    def known_tau(self, state: State) -> int | None:
        """Return the same if it needs no computation, else None."""
        if state.chosen_for is None:
            return state.tau
        return self._by_groups.known_tau(self._states.of(state))

    def operator_of(self, state: State) -> MarkovOperator | WarpedOperator:
        """Return the walk that `settle` takes: that of the points, or the warped one of groups."""
        if state.warped_by is None:
            return self.operator
        return self._by_groups.operator_of(self._states.of(state))

    def time_sweep_of(self, state: State) -> GroupedSweep:
        """Return the maps of a state at other times."""
        return GroupedSweep(
            self._by_groups.time_sweep_of(self._states.of(state)), self.groups.of_point
        )

    def shares_at(self, state: State, horizon: Horizon, point: int) -> list[Share]:
        """Return the share of each stroke in the group of a point."""
        group = int(self.groups.of_point[point])
        return self._by_groups.shares_at(self._states.of(state), horizon, group)

    def contradictions(self, state: State, horizon: Horizon) -> list[Contradiction]:
        """Return the labels whose groups all other strokes contradict."""
        found = self._by_groups.contradictions(self._states.of(state), horizon)
        strokes = {one.stroke: state.stroke_of(one.stroke).points for one in found}
        groups = {number: self.groups.of_point[points] for number, points in strokes.items()}
        return [
            replace(one, point=int(point))
            for one in found
            for point in strokes[one.stroke][groups[one.stroke] == one.point]
        ]

    def horizon_of(self, state: State) -> Horizon:
        """Return how far the columns of the groups walk."""
        return self._by_groups.horizon_of(self._states.of(state))

    def walk_for_suggestions(self, state: State) -> MarkovOperator | WarpedOperator:
        """Return the walk of the groups."""
        return self._by_groups.operator_of(self._states.of(state))

    def diffusion_for_suggestions(self, state: State, shown: ClassMap) -> LabelDiffusion | None:
        """Return the first map's diffusion, on the groups."""
        return self._by_groups.map_of(self._states.of(state)).diffusion


class GroupedSweep:
    """A `TimeSweep` of groups that tells of points.

    Parameters
    ----------
    sweep : Sweep
        Of m groups.
    of_point : ndarray of int of shape (n,)
        Group of each point.
    """

    def __init__(self, sweep: Sweep, of_point: np.ndarray):
        self._sweep, self._of_point = sweep, of_point

    @property
    def curve(self) -> MarginCurve:
        """Mean margin and coverage of the groups at every time of the curve."""
        return self._sweep.curve

    def at(self, tau: int) -> Frame:
        """Return class ids and margins of the points at any time."""
        ids, margin = self._sweep.at(tau)
        return ids[self._of_point], margin[self._of_point]
