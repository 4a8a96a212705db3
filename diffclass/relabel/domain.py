"""Where a session diffuses: on the points themselves, or on aggregates of them.

Sessions speak of points. A domain has results on one walk (`diffusions`), restricts states and
points to what that walk is on, and lifts what was found there back to the points. On the points
themselves both are the identity.

On aggregates a state has the same strokes, of the aggregates they touch. An aggregate with points
of several strokes belongs to all of them, and counts as labelled by the newest. Where aggregates
are the nodes of equal points, all labels of the points count, as they do for the classifier.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from diffclass.acquisition import Suggestions
from diffclass.label_diffusion import LabelDiffusion
from diffclass.relabel.audit import Contradiction
from diffclass.relabel.coarsening import CoarseGraph
from diffclass.relabel.diffusions import Diffusions
from diffclass.relabel.session_maps import ClassMap
from diffclass.relabel.state import PersistentArray, State
from diffclass.relabel.strokes import Stroke, StrokeMapping, new_stroke

_KEPT = 4  # newest states


class CoarseStates:
    """States of aggregates by states of points.

    Costs a pass over the points per state; of the strokes only those that are new.
    """

    def __init__(self, coarse: CoarseGraph, *, are_nodes: bool):
        self._coarse, self._are_nodes = coarse, are_nodes
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
        found = replace(
            state,
            n_points=len(self._coarse),
            owners=PersistentArray.of(self._owners(state)),
            strokes=self._strokes.of(state.strokes),
            chosen_for=self._source(state.chosen_for),
            warped_by=self._source(state.warped_by),
        )
        if not self._are_nodes:
            return found
        ids = state.label_ids
        # Equal points with labels of two classes: the node has the newest of them, but both have to
        # count.
        differs = (ids > 0) & (ids != self._coarse.lift(found.held_ids))
        return replace(found, of_points=state, has_contradictions=bool(differs.any()))

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
        # numbers of strokes rise: of several strokes on one aggregate the newest has it
        np.maximum.at(owners, self._coarse.aggregates[held], of_points[held])
        return owners

    def _restricted(self, stroke: Stroke) -> Stroke:
        return new_stroke(stroke.number, stroke.class_id, self._coarse.restrict(stroke.points))


# takes what is labelled; features, candidates and coordinates of all by name, or None
Suggest = Callable[..., Suggestions]
_OF_POINTS = "values", "codes", "probability", "margin"  # what a diffusion says of each point


class Points:
    """The points themselves.

    - `diffusions`: on the walk on n points
    """

    def __init__(self, diffusions: Diffusions):
        self.diffusions = diffusions

    def restrict(self, state: State) -> State:
        """Return the state of a session."""
        return state

    def restrict_points(self, points: np.ndarray) -> np.ndarray:
        """Return the points, int of shape (k,)."""
        return points

    def restrict_labels(self, y: np.ndarray) -> np.ndarray:
        """Return the labels, int of shape (n,)."""
        return y

    def lift(self, values: np.ndarray) -> np.ndarray:
        """Return the values, of shape (n, ...)."""
        return values

    def lift_map(self, found: ClassMap) -> ClassMap:
        """Return the map of the points."""
        return found

    def lift_contradictions(self, found: list[Contradiction], state: State) -> list[Contradiction]:
        """Return the contradicted labels of the state's points."""
        return found

    def diffusion_of(self, shown: ClassMap) -> LabelDiffusion | None:
        """Return a map's diffusion; of a coarse map, what it says of each point."""
        found, aggregates = shown.diffusion, shown.aggregates
        if found is None or aggregates is None:
            return found
        return replace(found, **{name: getattr(found, name)[aggregates] for name in _OF_POINTS})

    def suggest(
        self,
        suggest: Suggest,
        *,
        labelled: np.ndarray,
        **of_points: ArrayLike | None,
    ) -> Suggestions:
        """Return the points that ``suggest`` chooses to label next."""
        return suggest(labelled, **of_points)


class Aggregates:
    """Aggregates of the points: each point takes what was found for its aggregate.

    - `coarse`: m aggregates of n points
    - `diffusions`: on the walk on the aggregates
    - `are_nodes`: whether they are the nodes of equal points
    """

    def __init__(self, coarse: CoarseGraph, diffusions: Diffusions, *, are_nodes: bool = False):
        self.diffusions = diffusions
        self._coarse = coarse
        self._states = CoarseStates(coarse, are_nodes=are_nodes)

    def restrict(self, state: State) -> State:
        """Return the state of the aggregates."""
        return self._states.of(state)

    def restrict_points(self, points: np.ndarray) -> np.ndarray:
        """Return the aggregates of k points, ascending, int of shape (at most k,)."""
        return self._coarse.restrict(points)

    def restrict_labels(self, y: np.ndarray) -> np.ndarray:
        """Return the labels of the m aggregates, -1 where unlabelled; int of shape (m,)."""
        return self._coarse.restrict_labels(y)

    def lift(self, values: np.ndarray) -> np.ndarray:
        """Return values of the m aggregates as those of the n points, of shape (n, ...)."""
        return self._coarse.lift(values)

    def lift_map(self, found: ClassMap) -> ClassMap:
        """Return a map of the aggregates as one of the points."""
        aggregates = self._coarse.aggregates
        return replace(found, n_points=len(aggregates), aggregates=aggregates)

    def lift_contradictions(self, found: list[Contradiction], state: State) -> list[Contradiction]:
        """Return the labelled points of each contradicted aggregate, stroke by stroke."""
        points = {one.stroke: state.stroke_of(one.stroke).points for one in found}
        aggregates = {number: self._coarse.aggregates[own] for number, own in points.items()}
        return [
            replace(one, point=int(point))
            for one in found
            for point in points[one.stroke][aggregates[one.stroke] == one.point]
        ]

    def diffusion_of(self, shown: ClassMap) -> LabelDiffusion | None:
        """Return the diffusion of a coarse map; None for a map of the points."""
        return None if shown.aggregates is None else shown.diffusion

    def suggest(
        self,
        suggest: Suggest,
        *,
        labelled: np.ndarray,
        candidates: ArrayLike | None,
        **of_points: ArrayLike | None,
    ) -> Suggestions:
        """Return the first candidate of each aggregate that ``suggest`` chooses."""
        coarse = self._coarse
        points = np.array(coarse.first_points)
        candidate_aggregates = None
        if candidates is not None:
            wanted = np.flatnonzero(candidates)
            # An aggregate stands for its first candidate; one without any is no candidate.
            own, first = np.unique(coarse.aggregates[wanted], return_index=True)
            points[own] = wanted[first]
            candidate_aggregates = np.isin(np.arange(len(coarse)), own)
        of_aggregates = {
            name: None if values is None else np.asarray(values)[points]
            for name, values in of_points.items()
        }
        found = suggest(coarse.restrict(labelled), candidates=candidate_aggregates, **of_aggregates)
        return replace(found, points=points[found.points])


Domain = Points | Aggregates
