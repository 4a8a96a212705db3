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

import threading
from concurrent.futures import Future, wait
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from diffclass.label_diffusion import LabelDiffusion, StoppingRule, diffuse_labels
from diffclass.label_diffusion.stopping import last_time
from diffclass.operators.markov import MarkovOperator
from diffclass.operators.warped import Operator
from diffclass.relabel.audit import Contradiction, Share
from diffclass.relabel.coarsening import CoarseGraph
from diffclass.relabel.columns import Horizon
from diffclass.relabel.diffusions import Diffusions, Grouping
from diffclass.relabel.domain import Aggregates, Domain, Points
from diffclass.relabel.session_maps import ClassMap
from diffclass.relabel.state import State
from diffclass.relabel.time_sweep import TimeSweep
from diffclass.system.progress import checkpoint

_BETWEEN = 0.1  # seconds between two looks whether a computation is still wanted
SessionGraph = tuple[MarkovOperator, CoarseGraph | None]


class _Domains(NamedTuple):
    points: Domain
    provisional: Domain
    answers: Domain


def awaited(graph: Future[SessionGraph]) -> SessionGraph:
    """Return a graph, waiting for it; a computation that is cancelled does not wait on."""
    while not wait([graph], timeout=_BETWEEN).done:
        checkpoint()
    return graph.result()


class StateMaps:
    """Maps of a session's states, and answers about them; all states and results are of points.

    What needs the graph waits for it. What is known of a state without it (`refined`, `is_refined`,
    `known_tau`) does not: nothing is refined yet.

    - `graph`: the operator on the points, and maybe the coarse graph of these points; provisional
      maps are then those of its aggregates
    - `rule`: its limits are those of every rule
    - `features`: of the n points, to join refined maps
    - `grouping`: takes class ids, 0 where unlabelled, and returns the ``groups`` of
      `diffuse_labels`
    - `coarse_answers`: whether answers and warped walks are those of the aggregates too, if there
      are any
    """

    def __init__(
        self,
        graph: Future[SessionGraph],
        n_points: int,
        *,
        rule: StoppingRule,
        features: np.ndarray | None = None,
        grouping: Grouping | None = None,
        coarse_answers: bool = True,
    ):
        self.max_time = last_time(n_points) if rule.max_time is None else rule.max_time
        self._graph = graph
        self._rule = rule
        self._features = features
        self._grouping = grouping
        self._coarse_answers = coarse_answers
        self._making = threading.Lock()
        self._made: _Domains | None = None

    @property
    def answers(self) -> Domain:
        """Where answers come from, walks are warped and the rule "margin" chooses the time."""
        return self._domains.answers

    @property
    def _points(self) -> Domain:
        return self._domains.points

    @property
    def _provisional(self) -> Domain:
        return self._domains.provisional

    @property
    def _domains(self) -> _Domains:
        """The domains, made once the graph is there."""
        if self._made is None:
            operator, coarse = awaited(self._graph)
            with self._making:
                self._made = self._made or self._domains_of(operator, coarse)
        return self._made

    def _domains_of(self, operator: MarkovOperator, coarse: CoarseGraph | None) -> _Domains:
        is_large = coarse is not None and self._coarse_answers
        rule = replace(self._rule, max_time=self.max_time)
        diffusions = Diffusions(
            operator,
            rule=self._rule,
            features=self._features,
            grouping=self._grouping,
            most_refined=1 if is_large else 2,  # such maps take much memory
        )
        points: Domain = Points(diffusions)
        if operator.nodes is not None:
            nodes = CoarseGraph(operator, operator.nodes.of_points)
            points = Aggregates(nodes, diffusions, are_nodes=True)
        aggregates: Domain = points
        if coarse is not None:
            aggregates = Aggregates(coarse, Diffusions(coarse.operator, rule=rule))
        return _Domains(points, aggregates, aggregates if self._coarse_answers else points)

    @property
    def is_ready(self) -> bool:
        """Whether the graph is there."""
        return self._made is not None or (self._graph.done() and self._graph.exception() is None)

    @property
    def column_bytes(self) -> int:
        """Memory of all columns, in bytes."""
        if not self.is_ready:
            return 0
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
        if not self.is_ready:
            return None
        domain = self._refining(state)
        found = domain.diffusions.refined.of(domain.restrict(state))
        return None if found is None else domain.lift_map(found)

    def refined_ids(self, state: State) -> np.ndarray | None:
        """Return the classes of `refined`, which are kept for longer; uint8 of shape (n,)."""
        if not self.is_ready:
            return None
        domain = self._refining(state)
        found = domain.diffusions.refined.ids_of(domain.restrict(state))
        return None if found is None else domain.lift(found)

    def is_refined(self, state: State) -> bool:
        """Return whether no map of the state is left to compute; without labels there is none."""
        if not state.strokes or self.refined(state) is not None:
            return True
        if not self.is_ready:
            return False
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
        if not self.is_ready:
            return None
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

    def visits_to(self, point: int, n_steps: int) -> np.ndarray:
        """Return the expected visits of the walk from each point to one; float64 of shape (n,)."""
        operator = self.answers.diffusions.operator
        target = np.zeros(len(operator))
        target[self.answers.restrict_points(np.array([point]))] = 1
        return self.answers.lift(operator.expected_visits(target, n_steps)[0])

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
