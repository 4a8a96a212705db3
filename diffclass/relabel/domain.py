"""Where a session diffuses: on the points themselves, or on aggregates of them.

Sessions speak of points. A domain restricts states and points to what its walk is on, and lifts
what was found there back to the points; on the points themselves both are the identity.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from diffclass.acquisition import Suggestions
from diffclass.coarsening import CoarseGraph
from diffclass.label_diffusion import LabelDiffusion
from diffclass.relabel.audit import Contradiction
from diffclass.relabel.coarse_states import CoarseStates
from diffclass.relabel.coarse_suggestions import Suggest, suggest_coarsely
from diffclass.relabel.diffusions import Diffusions
from diffclass.relabel.session_maps import ClassMap
from diffclass.relabel.state import State

_OF_POINTS = "values", "codes", "probability", "margin"  # what a diffusion says of each point


class Domain(Protocol):
    """Results on one walk, and the way from points to it and back.

    Attributes
    ----------
    diffusions : Diffusions
        Results for restricted states.
    """

    diffusions: Diffusions

    def restrict(self, state: State) -> State:
        """Return a session's state as one of the domain."""

    def restrict_points(self, points: np.ndarray) -> np.ndarray:
        """Return what some points are in the domain; int of shape (at most k,), ascending."""

    def lift(self, values: np.ndarray) -> np.ndarray:
        """Return values of the domain as values of the n points; of shape (n, ...)."""

    def lift_map(self, found: ClassMap) -> ClassMap:
        """Return a map of the domain as one of the points."""

    def lift_contradictions(self, found: list[Contradiction], state: State) -> list[Contradiction]:
        """Return contradicted labels of the domain as labelled points of a session's state."""

    def diffusion_of(self, shown: ClassMap) -> LabelDiffusion | None:
        """Return what made a session's map as a diffusion of the domain; None if it cannot be."""

    def suggest(
        self,
        suggest: Suggest,
        *,
        labelled: np.ndarray,
        candidates: ArrayLike | None,
        coordinates: ArrayLike | None,
    ) -> Suggestions:
        """Return points to label next; ``suggest`` chooses among the places of the domain."""


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
        """Return the state."""
        return state

    def restrict_points(self, points: np.ndarray) -> np.ndarray:
        """Return the points."""
        return points

    def lift(self, values: np.ndarray) -> np.ndarray:
        """Return the values."""
        return values

    def lift_map(self, found: ClassMap) -> ClassMap:
        """Return the map."""
        return found

    def lift_contradictions(self, found: list[Contradiction], state: State) -> list[Contradiction]:
        """Return what was found."""
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
        """Return points to label next."""
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
        """Return the aggregates of some points."""
        return self._coarse.restrict(points)

    def lift(self, values: np.ndarray) -> np.ndarray:
        """Return the value of each point's aggregate."""
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
        """Return a point of each aggregate to label next."""
        return suggest_coarsely(
            self._coarse,
            suggest,
            labelled=labelled,
            candidates=candidates,
            coordinates=coordinates,
        )
