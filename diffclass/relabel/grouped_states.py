"""A session's states as states of groups: the same strokes, of the groups that their points are in.

A group with points of several strokes belongs to all of them, and counts as labelled by the newest.
"""

from __future__ import annotations

from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np

from diffclass.relabel.pages import Pages
from diffclass.relabel.point_groups import PointGroups
from diffclass.relabel.state import State
from diffclass.relabel.stroke_table import StrokeMapping
from diffclass.relabel.strokes import Stroke, new_stroke

_KEPT = 4  # newest states


class GroupedStates:
    """States of groups by states of points.

    Parameters
    ----------
    groups : PointGroups

    Notes
    -----
    Costs a pass over the points per state; of the strokes only those that are new.
    """

    def __init__(self, groups: PointGroups):
        self._groups = groups
        self._strokes = StrokeMapping(self._grouped)
        self._newest: dict[State, State] = {}
        # one object for each state whose labels chose the time or warped the walk: results of the
        # groups are kept by it
        self._sources: WeakKeyDictionary[State, State] = WeakKeyDictionary()

    def of(self, state: State) -> State:
        """Return the state of the groups."""
        known = self._newest.get(state)
        if known is None:
            known = self._made(state)
            # replaced as a whole: other threads read it meanwhile
            self._newest = {**dict(list(self._newest.items())[1 - _KEPT :]), state: known}
        return known

    def _made(self, state: State) -> State:
        return replace(
            state,
            n_points=len(self._groups),
            owners=Pages.of(self._owners(state)),
            strokes=self._strokes.of(state.strokes),
            chosen_for=self._source(state.chosen_for),
            warped_by=self._source(state.warped_by),
        )

    def _source(self, state: State | None) -> State | None:
        if state is None:
            return None
        if state not in self._sources:
            self._sources[state] = self._made(state)
        return self._sources[state]

    def _owners(self, state: State) -> np.ndarray:
        """Return the newest stroke of each group, 0 for none."""
        of_points = state.owners.whole()
        held = np.flatnonzero(of_points)
        owners = np.zeros(len(self._groups), dtype=np.int32)
        np.maximum.at(owners, self._groups.of_point[held], of_points[held])
        return owners

    def _grouped(self, stroke: Stroke) -> Stroke:
        return new_stroke(stroke.number, stroke.class_id, self._groups.of(stroke.points))
