"""Where a session diffuses: on the points themselves, or on aggregates of them.

Sessions speak of points. A domain has results on one walk (`diffusions`), restricts states and
points to what that walk is on, and lifts what was found there back to the points. On the points
themselves both are the identity.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from diffclass.acquisition import Suggestions
from diffclass.coarsening import CoarseGraph
from diffclass.label_diffusion import LabelDiffusion
from diffclass.relabel.audit import Contradiction
from diffclass.relabel.coarse_states import CoarseStates
from diffclass.relabel.diffusions import Diffusions
from diffclass.relabel.session_maps import ClassMap
from diffclass.relabel.state import State

# takes what is labelled, which are candidates (or None), and coordinates of all (or None)
Suggest = Callable[[np.ndarray, ArrayLike | None, ArrayLike | None], Suggestions]
_OF_POINTS = "values", "codes", "probability", "margin"  # what a diffusion says of each point


class Points:
    """The points themselves.

    Parameters
    ----------
    diffusions : Diffusions
        On the walk on n points.
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
        candidates: ArrayLike | None,
        coordinates: ArrayLike | None,
    ) -> Suggestions:
        """Return the points that ``suggest`` chooses to label next."""
        return suggest(labelled, candidates, coordinates)


class Aggregates:
    """Aggregates of the points: each point takes what was found for its aggregate.

    Parameters
    ----------
    coarse : CoarseGraph
        m aggregates of n points.
    diffusions : Diffusions
        On the walk on the aggregates.
    """

    def __init__(self, coarse: CoarseGraph, diffusions: Diffusions):
        self.diffusions = diffusions
        self._coarse = coarse
        self._states = CoarseStates(coarse)

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
        """Return the diffusion of a coarse map; that of the points is no help."""
        return None if shown.aggregates is None else shown.diffusion

    def suggest(
        self,
        suggest: Suggest,
        *,
        labelled: np.ndarray,
        candidates: ArrayLike | None,
        coordinates: ArrayLike | None,
    ) -> Suggestions:
        """Return the first candidate of each aggregate that ``suggest`` chooses."""
        coarse = self._coarse
        points = np.array(coarse.first_points)
        candidate_aggregates = None
        if candidates is not None:
            wanted = np.flatnonzero(candidates)
            own, first = np.unique(coarse.aggregates[wanted], return_index=True)
            points[own] = wanted[first]
            candidate_aggregates = np.isin(np.arange(len(coarse)), own)
        places = None if coordinates is None else np.asarray(coordinates)[points]
        found = suggest(coarse.restrict(labelled), candidate_aggregates, places)
        return replace(found, points=points[found.points])


Domain = Points | Aggregates
