"""A session's states restricted to aggregates: the same strokes, of the aggregates they touch.

An aggregate with points of several strokes belongs to all of them, and counts as labelled by the
newest.
"""

from __future__ import annotations

from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np

from diffclass.coarsening import CoarseGraph
from diffclass.relabel.persistent_array import PersistentArray
from diffclass.relabel.state import State
from diffclass.relabel.stroke_table import StrokeMapping
from diffclass.relabel.strokes import Stroke, new_stroke

_KEPT = 4  # newest states


class CoarseStates:
    """States of aggregates by states of points.

    Parameters
    ----------
    coarse : CoarseGraph

    Notes
    -----
    Costs a pass over the points per state; of the strokes only those that are new.
    """

    def __init__(self, coarse: CoarseGraph):
        self._coarse = coarse
        self._strokes = StrokeMapping(self._restricted)
        self._newest: dict[State, State] = {}
        # one object for each state whose labels chose the time or warped the walk: results on the
        # aggregates are kept by it
        self._sources: WeakKeyDictionary[State, State] = WeakKeyDictionary()

    def of(self, state: State) -> State:
        """Return the state of the aggregates."""
        known = self._newest.get(state)
        if known is None:
            known = self._made(state)
            # replaced as a whole: other threads read it meanwhile
            self._newest = {**dict(list(self._newest.items())[1 - _KEPT :]), state: known}
        return known

    def _made(self, state: State) -> State:
        return replace(
            state,
            n_points=len(self._coarse),
            owners=PersistentArray.of(self._owners(state)),
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
        """Return the newest stroke of each aggregate, 0 for none."""
        of_points = state.owners.whole()
        held = np.flatnonzero(of_points)
        owners = np.zeros(len(self._coarse), dtype=np.int32)
        np.maximum.at(owners, self._coarse.aggregates[held], of_points[held])
        return owners

    def _restricted(self, stroke: Stroke) -> Stroke:
        return new_stroke(stroke.number, stroke.class_id, self._coarse.restrict(stroke.points))
