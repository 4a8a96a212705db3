"""An engine whose first maps are made of groups of points, in an eighth of the time.

Every map has a first one here, whatever chooses its time: that of the groups
(`diffclass.relabel.point_groups`), which each point takes over from its own. `settle` then makes
the map of the points.
"""

from __future__ import annotations

from dataclasses import replace

from diffclass.label_diffusion import LabelDiffusion
from diffclass.operators.markov import MarkovOperator
from diffclass.relabel.engine import Engine, Grouping
from diffclass.relabel.grouped_states import GroupedStates
from diffclass.relabel.point_groups import PointGroups
from diffclass.relabel.session_maps import ClassMap
from diffclass.relabel.state import State


class FirstByGroups(Engine):
    """An `Engine` whose first maps are those of groups.

    Parameters
    ----------
    operator : MarkovOperator
        The walk on n points.
    groups : PointGroups
        Of these points.
    max_time, grouping
        As for `Engine`.
    """

    def __init__(
        self,
        operator: MarkovOperator,
        *,
        groups: PointGroups,
        max_time: int | None,
        grouping: Grouping | None = None,
    ):
        super().__init__(operator, max_time=max_time, grouping=grouping)
        self.groups = groups
        self._by_groups = Engine(groups.operator, max_time=self.max_time)
        self._states = GroupedStates(groups)

    @property
    def column_bytes(self) -> int:
        """Memory of all columns, in bytes: of points, for answers, and of groups, for maps."""
        return super().column_bytes + self._by_groups.column_bytes

    def prepare(self, label_mode: str) -> None:
        """Compute what the maps of all states of a mode share, by a map of one label."""
        self._by_groups.prepare(label_mode)

    def is_settled(self, state: State) -> bool:
        """Return whether no map of the state is left to compute."""
        return not state.strokes or self.settled(state) is not None

    def diffusion_for_suggestions(self, state: State, shown: ClassMap) -> LabelDiffusion | None:
        """Return the diffusion of the points; of a first map, what groups tell of them."""
        found, of_point = shown.diffusion, shown.of_point
        if found is None or of_point is None:
            return found
        names = "values", "codes", "probability", "margin"
        return replace(found, **{name: getattr(found, name)[of_point] for name in names})

    def _first_map_of(self, state: State) -> ClassMap:
        return self._lifted(self._by_groups.map_of(self._states.of(state)))

    def _lifted(self, found: ClassMap) -> ClassMap:
        return replace(found, n_points=len(self.operator), of_point=self.groups.of_point)
