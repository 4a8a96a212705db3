"""A session's maps and answers, by what is diffused where.

Two domains share the work: the points, and if there are many, aggregates of them. Each of three
tasks is given to one of the two:

    ==================  ===========  =====================  ==================
    task                points only  coarse maps            coarse answers
    ==================  ===========  =====================  ==================
    provisional maps    points       aggregates             aggregates
    answers and warps   points       points                 aggregates
    refined maps        points       points                 points, or if warped
                                                            aggregates
    ==================  ===========  =====================  ==================
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from diffclass.coarsening import CoarseGraph
from diffclass.label_diffusion import LabelDiffusion, StoppingRule, diffuse_labels
from diffclass.operators.markov import MarkovOperator
from diffclass.operators.warped import Operator
from diffclass.relabel.audit import Contradiction, Share
from diffclass.relabel.columns import Horizon
from diffclass.relabel.diffusions import Diffusions, Grouping
from diffclass.relabel.domain import Aggregates, Domain, Points
from diffclass.relabel.session_maps import ClassMap
from diffclass.relabel.state import State
from diffclass.relabel.time_sweep import TimeSweep


class Engine:
    """Maps of a session's states, and answers about them; all states and results are of points.

    - `rule`: its limits are those of every rule
    - `grouping`: takes class ids, 0 where unlabelled, and returns the ``groups`` of
      `diffuse_labels`
    - `coarse`: of these points. Provisional maps are then those of its aggregates.
    - `coarse_answers`: whether answers and warped walks are those of the aggregates too, if there
      are any
    - `answers`: where answers come from, walks are warped and the rule "margin" chooses the time
    """

    def __init__(
        self,
        operator: MarkovOperator,
        *,
        rule: StoppingRule,
        grouping: Grouping | None = None,
        coarse: CoarseGraph | None = None,
        coarse_answers: bool = True,
    ):
        is_large = coarse is not None and coarse_answers
        diffusions = Diffusions(
            operator,
            rule=rule,
            grouping=grouping,
            most_refined=1 if is_large else 2,  # such maps take much memory
        )
        self.max_time = diffusions.max_time
        points: Domain = Points(diffusions)
        aggregates: Domain = points
        if coarse is not None:
            aggregates = Aggregates(
                coarse, Diffusions(coarse.operator, rule=replace(rule, max_time=self.max_time))
            )
        self._points = points
        self._provisional = aggregates
        self.answers = aggregates if coarse_answers else points

    @property
    def column_bytes(self) -> int:
        """Memory of all columns, in bytes."""
        domains = {self._points, self._provisional}
        return sum(domain.diffusions.columns.n_bytes for domain in domains)

    def prepare(self, label_mode: str) -> None:
        """Compute what the provisional maps of all states of a mode share."""
        self._provisional.diffusions.prepare(label_mode)

    # --- maps

    def map_of(self, state: State) -> ClassMap:
        """Return the map of a state's labels, provisional until it is refined."""
        refined = self.refined(state)
        if refined is not None:
            return refined
        domain = self._provisional
        return domain.lift_map(domain.diffusions.provisional_map_of(domain.restrict(state)))

    def refined(self, state: State) -> ClassMap | None:
        """Return the map that `refine` has made for a state, if it has."""
        domain = self._refining(state)
        found = domain.diffusions.refined.of(domain.restrict(state))
        return None if found is None else domain.lift_map(found)

    def refined_ids(self, state: State) -> np.ndarray | None:
        """Return the classes of `refined`, which are kept for longer; uint8 of shape (n,)."""
        domain = self._refining(state)
        found = domain.diffusions.refined.ids_of(domain.restrict(state))
        return None if found is None else domain.lift(found)

    def is_refined(self, state: State) -> bool:
        """Return whether no map of the state is left to compute; without labels there is none."""
        if not state.strokes or self.refined(state) is not None:
            return True
        # for a given time on the same domain, the provisional map is all there is without sizes
        is_all = state.rule != "auto" and state.counted_sizes is None
        return is_all and self._refining(state) is self._provisional

    def refine(self, state: State, operator: Operator) -> None:
        """Compute a state's refined map and keep it; see `refined_map_of`."""
        domain = self._refining(state)
        domain.diffusions.refined.add(domain.restrict(state), self._refined_map(state, operator))

    def refined_map_of(self, state: State, operator: Operator) -> ClassMap:
        """Return a state's map as `diffuse_labels` makes it, with the time of "auto".

        - `state`: with at least one stroke
        - `operator`: its walk; see `operator_of`
        """
        return self._refining(state).lift_map(self._refined_map(state, operator))

    def _refined_map(self, state: State, operator: Operator) -> ClassMap:
        domain = self._refining(state)
        tau = None if state.rule == "auto" else self.tau_of(state)
        return domain.diffusions.refined_map_of(domain.restrict(state), operator, tau)

    def _refining(self, state: State) -> Domain:
        """Return the domain of a state's refined map."""
        return self._points if state.warped_by is None else self.answers

    # --- times and walks

    def tau_of(self, state: State) -> int:
        """Return the time of a state's map; what the rule "margin" has chosen is kept."""
        if state.chosen_for is None:
            return state.tau  # without a pass over the points
        return self.answers.diffusions.tau_of(self.answers.restrict(state))

    def known_tau(self, state: State) -> int | None:
        """Return the same if it needs no computation, else None."""
        if state.chosen_for is None:
            return state.tau
        return self.answers.diffusions.known_tau(self.answers.restrict(state))

    def operator_of(self, state: State) -> Operator:
        """Return the walk that `refine` takes; if warped, one walk for each class."""
        domain = self._refining(state)
        return domain.diffusions.operator_of(domain.restrict(state))

    def horizon_of(self, state: State) -> Horizon:
        """Return how far the columns that answers are made of walk."""
        return self.answers.diffusions.horizon_of(self.answers.restrict(state))

    # --- answers

    def time_sweep_of(self, state: State) -> TimeSweep:
        """Return the maps of `answers` at other times; kept until labels or walk change."""
        return self.answers.diffusions.time_sweep_of(self.answers.restrict(state))

    def classes_by(self, y: np.ndarray, *, label_mode: str, tau: int) -> np.ndarray:
        """Return the classes to which labels diffuse by the walk that is not warped, 0 for none."""
        domain = self.answers
        found = diffuse_labels(
            domain.diffusions.operator, domain.restrict_labels(y), label_mode=label_mode, tau=tau
        )
        return domain.lift(np.append(found.classes, 0)[found.codes])

    def shares_at(self, state: State, horizon: Horizon, point: int) -> list[Share]:
        """Return the share of each stroke at a point, by free walks that are not warped."""
        (place,) = self.answers.restrict_points(np.array([point])).tolist()
        return self.answers.diffusions.shares_at(self.answers.restrict(state), horizon, place)

    def contradictions(self, state: State, horizon: Horizon) -> list[Contradiction]:
        """Return the labels that all other strokes contradict, by the walks of `shares_at`."""
        found = self.answers.diffusions.contradictions(self.answers.restrict(state), horizon)
        return self.answers.lift_contradictions(found, state)

    def walk_for_suggestions(self, state: State) -> Operator:
        """Return the walk by which points to label next are chosen."""
        return self.answers.diffusions.operator_of(self.answers.restrict(state))

    def diffusion_for_suggestions(self, state: State, shown: ClassMap) -> LabelDiffusion | None:
        """Return the diffusion by which they are chosen, if anything is labelled.

        It is that of the map that is shown, or where this was made elsewhere, of the state's map.
        """
        found = self.answers.diffusion_of(shown)
        if found is None:
            found = self.answers.diffusions.map_of(self.answers.restrict(state)).diffusion
        return found
