"""A labelling session: from strokes to maps.

Source: Coifman et al. 2005, end of section 3, where a user corrects the map and diffuses again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from diffclass import _compiled
from diffclass._validation import (
    RandomState,
    check_choice,
    check_points,
    check_positive,
    check_seed,
)
from diffclass.acquisition import Suggestions, suggest
from diffclass.exceptions import CancelledError, DataError, ParameterError
from diffclass.label_diffusion.stopping import MarginCurve, StoppingRule, checked_rule
from diffclass.operators.markov import MarkovOperator
from diffclass.relabel.audit import Contradiction, Share
from diffclass.relabel.coarsening import CoarseGraph
from diffclass.relabel.columns import Horizon
from diffclass.relabel.diffusions import Grouping
from diffclass.relabel.edits import next_state, with_classes
from diffclass.relabel.known_sizes import KnownSizes, class_prior
from diffclass.relabel.messages import decoded, name_of
from diffclass.relabel.operations import (
    OPERATIONS,
    SESSION_MODES,
    AddClass,
    Operation,
    Redo,
    Undo,
)
from diffclass.relabel.session_maps import Change, ClassMap, ProvisionalMaps
from diffclass.relabel.state import History, State
from diffclass.relabel.state_maps import SessionGraph, StateMaps
from diffclass.relabel.strokes import ClassInfo, Stroke
from diffclass.relabel.time_sweep import TimeSweep
from diffclass.system.progress import cancellable, checkpoint, stage

SizesMet = Literal["met", "unused", "waiting"]


class RelabelSession:
    """Labels that change step by step, and the map they diffuse to.

    `apply` changes labels at once and computes nothing; `update` brings the map up to date. Up to
    rounding, the map is that of ::

        diffuse_labels(operator, labels, label_mode=label_mode, tau=tau, groups=groups)

    and with ``features``, ``label_mode`` and time "auto", that of `DiffusionClassifier`.

    With the rule "auto" that takes as long as a classification: `refine` computes it, in another
    thread if need be, and the next `update` shows it. Until then the map is provisional: of summed
    labels (or those that ``label_mode`` names) at the time 12, and where `refine` has made a map
    before, unchanged where the labels since have changed nothing. Sizes of the classes count in
    refined maps alone. With ``coarse`` each point first takes the class of its aggregate.

    A state has one map to the last bit, and with "auto" a refined one: undo brings back the map
    before, and the same operations give the same map, however often it was updated in between.

    Parameters
    ----------
    operator : MarkovOperator or Future
        The walk on n points, or a future of a pair, (MarkovOperator, CoarseGraph or None), for
        which maps and answers wait, but no operations.
    classes : iterable of ClassInfo or str, default=()
        Classes to begin with. A name alone gets the next id and colour.
    label_mode : {"auto", "summed", "free", "absorbing"}, default="auto"
        See `diffclass.diffuse_labels`; strokes add up by their mass, so there is no "free-l1". With
        "auto", labels are summed while the time is given or goes by the margin.
    tau : int, optional
        Time in steps, at most 16,384; without one ``rule`` chooses it.
    rule : StoppingRule or {"auto", "margin"}, default="auto"
        How the time is chosen where none is given: by "auto" whenever labels change, by "margin"
        once two classes have labels, until the next operation "tau". If the labels do not cover the
        graph by its ``max_time``, it is the time of greatest coverage. Its limits hold for the
        margin curve too.
    features : array-like of shape (n, d), optional
        Of the points. They join the refined maps of ``label_mode="auto"``, as they do those of
        `DiffusionClassifier`.
    grouping : callable, optional
        Takes the class id of each point, 0 where unlabelled, and returns the ``groups`` of
        `diffuse_labels`, for the rule "auto".
    coarse : CoarseGraph, optional
        Of points that are too many to diffuse over at each stroke; see
        `diffclass.relabel.coarsening.coarsen`.
    coarse_answers : bool, default=True
        Whether all answers come from the aggregates too, and walks are warped there; warped maps
        are then not refined on the points. Otherwise aggregates only make provisional maps.
    n_points : int, optional
        n, where the operator is a future.
    random_state : int, RandomState or None, default=0
        Draws the points that suggestions look at.

    See Also
    --------
    diffuse_labels : For labels that do not change.
    DiffusionClassifier : Takes new points, and calibrates.
    diffclass_relabel.RelabelWidget : The session as a page, in a notebook.

    Notes
    -----
    Cost of a stroke: one product with one column per step of the walk (3 or 6 tau steps for summed
    labels) and two passes over n x n_classes numbers, however many strokes there are; absorbing
    labels and warped walks are diffused as a whole again. Memory: 8 n bytes for each of the newest
    64 strokes and each class, 16 n bytes per class, and up to 200 MB of older columns.

    `apply` and all questions may be called while another thread updates. A question waits for an
    update that runs, but no update waits for the answer to a question.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import markov_operator
    >>> from diffclass.relabel import RelabelSession
    >>> X = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0, 0], [6, 0]], 30, axis=0)
    >>> session = RelabelSession(markov_operator(X, n_neighbors=30), ["corn", "soy"])
    >>> session.apply({"op": "stroke", "class": 1, "points": [0, 1]})
    >>> session.apply({"op": "stroke", "class": 2, "points": [30]})
    >>> session.update().n_changed
    60
    >>> session.map_ids[[5, 40]].tolist()
    [1, 2]
    >>> session.apply({"op": "undo"})
    >>> session.update().n_changed
    30
    """

    def __init__(
        self,
        operator: MarkovOperator | Future[SessionGraph],
        classes: Iterable[ClassInfo | str] = (),
        *,
        label_mode: str = "auto",
        tau: int | None = None,
        rule: StoppingRule | str = "auto",
        features: ArrayLike | None = None,
        grouping: Grouping | None = None,
        coarse: CoarseGraph | None = None,
        coarse_answers: bool = True,
        n_points: int | None = None,
        random_state: RandomState = 0,
    ):
        check_choice(label_mode, "label_mode", SESSION_MODES)
        check_seed(random_state)
        rule = checked_rule(rule)
        graph: Future[SessionGraph] = Future()
        if isinstance(operator, Future):
            check_positive(n_points, "n_points", integer=True)
            graph, size = operator, int(n_points or 0)
        else:
            graph.set_result((operator, coarse))
            size = operator.n_points
        self._maps = StateMaps(
            graph,
            size,
            rule=rule,
            features=_checked_features(features, size),
            grouping=grouping,
            coarse_answers=coarse_answers,
        )
        self._random_state = random_state
        first = next_state(
            State.without_labels(size),
            {"op": "tau", "tau": rule.by if tau is None else tau},
        )
        first = replace(first, label_mode=label_mode)
        self._history = History(with_classes(first, classes))
        # name and class of an operation that would be one step with the last one
        self._joining: tuple[str | None, int] | None = None
        self._computing = threading.RLock()  # maps, and what they are made of
        self._sweeping = threading.Lock()
        self._version = 0
        self._map = ClassMap(None, size, first.tau)
        self._mapped = self._history.present
        self._provisional_maps = ProvisionalMaps()

    # --- operations

    def apply(self, operation: Operation | Mapping[str, Any]) -> None:
        """Change labels, classes or the walk; `update` then renews the map.

        Parameters
        ----------
        operation : Operation or mapping
            A type of `diffclass.relabel.operations`, or {"op": name} and the fields in parentheses:

            - ``stroke`` (class, points, spare (optional)): label points, taken from older strokes
              where they were labelled before; points of locked classes, or with ``spare`` of all
              other classes, are left out
            - ``erase`` (points): unlabel points, except those of locked classes
            - ``move`` (stroke, class): give a whole stroke to a class
            - ``remove`` (stroke): unlabel a whole stroke
            - ``add_class`` (id (optional), name (optional), color (optional), joins (optional)):
              add a class; what is left out gets the next id, a name and a colour. If the next
              operation is on this class and the one that it ``joins``, both are undone as one
            - ``rename_class`` (id, name): name a class anew
            - ``recolor_class`` (id, color): give a class another colour
            - ``hide_class`` (id, hidden): leave a class out when maps are drawn, or show it again;
              it diffuses all the same
            - ``lock_class`` (id, locked): protect what is labelled in a class, or free it again
            - ``merge_classes`` (source, into): move all strokes of one class to another and remove
              the first
            - ``remove_class`` (id, with_labels (optional)): remove a class; its labels too, or only
              if it has none
            - ``tau`` (tau): set the time in steps, or the rule "auto" or "margin" that chooses it
            - ``label_mode`` (mode): set how labels count; "auto" leaves that to the rule of the
              time "auto"
            - ``class_sizes`` (sizes (optional)): set what is known of the classes' sizes; without
              any, forget it
            - ``warp``: walk separately in each class, by the present posteriors, until ``unwarp``
              or the next ``warp``
            - ``unwarp``: walk alike in all classes again
            - ``batch`` (operations, name (optional)): do several of the operations above as one,
              all of them or none; the name says what they are together
            - ``undo`` (steps (optional)): take the last of these operations back, or the last few
            - ``redo`` (steps (optional)): do what was undone last again, or the next few

        Raises
        ------
        ParameterError
            If it cannot be done; the message says why, and nothing has changed.
        """
        if not isinstance(operation, Operation):
            operation = decoded(operation, OPERATIONS)
        if isinstance(operation, Undo):
            self._history.undo(operation.steps)
        elif isinstance(operation, Redo):
            self._history.redo(operation.steps)
        else:
            class_id = getattr(operation, "class_id", getattr(operation, "id", None))
            joined = self._joining == (name_of(operation), class_id)
            self._history.go_on(next_state(self._state, operation), joined=joined)
        # only here: one that is refused, and so not repeated with the others, changes nothing
        self._joining = None
        if isinstance(operation, AddClass):
            self._joining = operation.joins, self._state.classes[-1].id

    def update(self) -> Change:
        """Bring the map up to date.

        Returns
        -------
        Change
            The difference from the map before; nothing changed if the map was up to date.
        """
        with self._computing, stage("map"):
            start, state = time.perf_counter(), self._state
            if self._shows(state):
                self._mapped = state
                none = np.zeros(state.n_points, dtype=bool)
                return Change(self._version, 0, none, time.perf_counter() - start)
            # operations do not wait for a map: the state may change while it is computed
            state, new = self._newest_map()
            new = self._provisional_maps.shown(state, new)
            changed = new.ids != self._map.ids
            self._map, self._mapped, self._version = new, state, self._version + 1
            n_changed = int(np.count_nonzero(changed))
            return Change(self._version, n_changed, changed, time.perf_counter() - start)

    def refine(self) -> None:
        """Compute the refined map of the present labels, which the next `update` shows.

        It may run in another thread and be cancelled (see `diffclass.relabel.background`). Nothing
        is done where there is no other map than the present one.
        """
        state = self._state
        if self._maps.is_refined(state):
            return
        # The lock is held for what is shared alone, so that provisional maps do not wait for the
        # refined one.
        with self._computing:
            operator = self._maps.operator_of(state)
        with stage("time"):
            self._maps.refine(state, operator)

    def prepare(self) -> None:
        """Compute what the maps of all labels share, so that the first takes no longer than later.

        Costs about as much as one stroke. The session does not change.
        """
        with self._computing:
            self._maps.prepare(self._state.label_mode)

    def _newest_map(self) -> tuple[State, ClassMap]:
        """Return a state and its map; those of a time or walk left meanwhile are cancelled."""
        while True:
            state = self._state
            with suppress(CancelledError), cancellable(partial(self._walks_as, state)):
                return state, self._maps.map_of(state)
            # the time or the walk has changed meanwhile: begin again with the newest state
            checkpoint()  # was it cancelled from outside?

    def _walks_as(self, state: State) -> bool:
        return self._state.walk_key == state.walk_key

    # --- questions

    def audit(self) -> list[Contradiction]:
        """Return the painted points that the diffusion from all other strokes contradicts.

        Labels diffuse as in the map (with "auto": as in the provisional one), except that absorbing
        labels and warped walks count as free ones. A stroke that is the only one of its class is
        left out.

        Returns
        -------
        list of Contradiction
            Largest margin first.
        """
        return self._maps.contradictions(*self._with_horizon())

    def explain(self, point: int) -> list[Share]:
        """Return the share of each stroke in what has diffused to a point.

        Labels diffuse as in `audit`.

        Parameters
        ----------
        point : int
            0 to n - 1.

        Returns
        -------
        list of Share
            Largest first, of sum 1; empty if nothing has arrived at the point.

        Raises
        ------
        ParameterError
            If there is no such point.
        """
        state, horizon = self._with_horizon()
        return self._maps.shares_at(state, horizon, self._checked_point(point))

    def visits_to(self, point: int, n_steps: int) -> np.ndarray:
        """Return how often the walk from each point is expected to visit one, in some steps.

        By the walk that is not warped, whatever is labelled; of the aggregates, if answers come
        from them. See `diffclass.MarkovOperator.expected_visits`.

        Parameters
        ----------
        point : int
            0 to n - 1.
        n_steps : int

        Returns
        -------
        ndarray of float64 of shape (n,)

        Raises
        ------
        ParameterError
            If there is no such point.
        """
        return self._maps.visits_to(self._checked_point(point), n_steps)

    def _checked_point(self, point: int) -> int:
        check_positive(point, "point", integer=True, zero=True)
        if point >= self._state.n_points:
            raise ParameterError(f"point = {point}; there are 0 to {self._state.n_points - 1}")
        return int(point)

    def map_at(self, step: int) -> np.ndarray:
        """Return the map of an earlier state, or of one that was undone.

        Parameters
        ----------
        step : int
            Number of operations that lead to the state, 0 to `n_steps`.

        Returns
        -------
        ndarray of uint8 of shape (n,)
            Class ids as in `map_ids`: of the refined map, with the rule "auto".

        Raises
        ------
        ParameterError
            If there is no such state.

        Notes
        -----
        Costs a classification of its labels, unless its map was refined lately or is the present
        one.
        """
        check_positive(step, "step", integer=True, zero=True)
        if step > self.n_steps:
            raise ParameterError(f"step = {step}; there are states 0 to {self.n_steps}")
        state = self._history[step]
        with self._computing:
            known = self._known_ids(state)
            if known is not None:
                return known
            operator = self._maps.operator_of(state)
            self._maps.tau_of(state)  # of the rule "margin": kept
        return self._maps.refined_map_of(state, operator).ids

    def _known_ids(self, state: State) -> np.ndarray | None:
        """Return the classes of a state's map if they cost nothing."""
        if not state.strokes:
            return np.zeros(state.n_points, dtype=np.uint8)
        is_final = self._map.is_refined or self._maps.is_refined(state)
        return self.map_ids if is_final and self._shows(state) else self._maps.refined_ids(state)

    def suggest(
        self,
        n_points: int = 10,
        *,
        rule: str = "coverage",
        asked: ArrayLike = (),
        features: ArrayLike | None = None,
        candidates: ArrayLike | None = None,
        coordinates: ArrayLike | None = None,
        min_distance: float = 0.0,
    ) -> Suggestions:
        """Choose points to label next, from the map of the last update, or first.

        Parameters
        ----------
        n_points : int, default=10
            Number of points.
        asked : array-like of int, default=()
            Points not to suggest, besides the labelled ones: asked about, and passed over.
        rule, features, candidates, coordinates, min_distance
            As in `diffclass.suggest`.

        Returns
        -------
        Suggestions
            Best first.

        Raises
        ------
        ParameterError
            As `diffclass.suggest`.
        DataError
            By margin, if nothing is labelled or there is no map yet.
        """
        with self._computing:
            diffusion = self._maps.diffusion_for_suggestions(self._mapped, self._map)
            operator = self._maps.walk_for_suggestions(self._mapped)

        def suggested(labelled: np.ndarray, **of_points: ArrayLike | None) -> Suggestions:
            return suggest(
                operator,
                diffusion,
                labelled,
                n_points,
                rule=rule,
                min_distance=min_distance,
                random_state=self._random_state,
                **of_points,
            )

        return self._maps.answers.suggest(
            suggested,
            labelled=np.union1d(np.flatnonzero(self.label_ids), np.asarray(asked, dtype=np.intp)),
            features=features,
            candidates=candidates,
            coordinates=coordinates,
        )

    def margin_curve(self) -> MarginCurve:
        """Return mean margin and coverage of the present labels at times up to ``max_time``.

        Raises
        ------
        DataError
            If nothing is labelled.
        """
        return self._time_sweep().curve

    def tau_preview(self, tau: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the map of the present labels at another time; the session does not change.

        Parameters
        ----------
        tau : int
            Time in steps. Maps at the times of `margin_curve` are kept, others are computed anew.

        Returns
        -------
        map_ids : ndarray of uint8 of shape (n,)
        margin : ndarray of float32 of shape (n,)

        Raises
        ------
        ParameterError
            If the time is below 1.
        DataError
            If nothing is labelled.
        """
        check_positive(tau, "tau", integer=True)
        sweep, lift = self._time_sweep(), self._maps.answers.lift
        with self._sweeping:
            ids, margin = sweep.at(int(tau))
        return lift(ids), lift(margin)

    def classes_by(self, y: np.ndarray, *, label_mode: str, tau: int) -> np.ndarray:
        """Return the classes to which other labels diffuse, by the walk that is not warped.

        Parameters
        ----------
        y : ndarray of int of shape (n,)
            Class ids, -1 where unlabelled.
        label_mode : {"summed", "free", "absorbing"}
        tau : int

        Returns
        -------
        ndarray of int of shape (n,)
            Class ids, 0 where nothing arrives; of the aggregates, if answers come from them.

        Notes
        -----
        Costs a diffusion of all labels.
        """
        return self._maps.classes_by(y, label_mode=label_mode, tau=tau)

    def _time_sweep(self) -> TimeSweep:
        state = self._state
        if not state.strokes:
            raise DataError("nothing is labelled; paint a stroke first")
        with self._computing:
            return self._maps.time_sweep_of(state)

    def _with_horizon(self) -> tuple[State, Horizon]:
        """Return the present state, and how far its columns walk."""
        with self._computing:
            state = self._state
            return state, self._maps.horizon_of(state)

    # --- the present state

    @property
    def map(self) -> ClassMap:
        """The map of the last update."""
        return self._map

    @property
    def map_ids(self) -> np.ndarray:
        """Class id of each point, 0 where nothing has arrived; uint8 of shape (n,)."""
        return self._map.ids

    @property
    def margin(self) -> np.ndarray:
        """p_(1) - p_(2) of each point, 0 where nothing has arrived; float32 of shape (n,)."""
        return self._map.margin

    @property
    def probability(self) -> np.ndarray:
        """p_(1) of each point, 0 where nothing has arrived; float32 of shape (n,)."""
        return self._map.probability

    @property
    def posteriors(self) -> np.ndarray:
        """p_i of each point, one column per class of `mapped_classes`; float32."""
        return self._map.posteriors

    @property
    def mapped_classes(self) -> tuple[int, ...]:
        """Ids of the classes of the map, ascending."""
        return self._map.class_ids

    @property
    def is_stale(self) -> bool:
        """Whether labels, time or walk differ from those of the map."""
        return not self._shows(self._state)

    @property
    def is_refined(self) -> bool:
        """Whether the next map is not a provisional one; see `refine`."""
        return self._maps.is_refined(self._state)

    @property
    def label_ids(self) -> np.ndarray:
        """Class id of each labelled point, 0 elsewhere; uint8 of shape (n,), not writable."""
        return self._state.label_ids

    @property
    def strokes(self) -> tuple[Stroke, ...]:
        """The strokes in the order of painting, without points that later ones have taken."""
        return tuple(self._state.strokes)

    @property
    def newest_stroke(self) -> int:
        """Number of the stroke that was painted last; 0 before the first."""
        return self._state.next_number - 1

    @property
    def classes(self) -> tuple[ClassInfo, ...]:
        """The classes in the order they were added."""
        return self._state.classes

    @property
    def tau(self) -> int:
        """Time of the next map; that of the present map until the margin rule has chosen."""
        refined = self._maps.refined(self._state)
        if refined is not None:
            return refined.tau
        known = self._maps.known_tau(self._state)
        return self._map.tau if known is None else known

    @property
    def max_time(self) -> int:
        """Last time of the rule "margin" and of the margin curve, in steps."""
        return self._maps.max_time

    @property
    def label_mode(self) -> str:
        """How labels count in the next map: "summed", "free" or "absorbing"."""
        refined = self._maps.refined(self._state)
        if refined is None or refined.diffusion is None:
            return self._state.first_mode
        return refined.diffusion.label_mode

    @property
    def asked_label_mode(self) -> str:
        """How labels count as it was asked for: a mode, or "auto"."""
        return self._state.label_mode

    @property
    def class_sizes(self) -> KnownSizes | None:
        """What is known of the classes' sizes."""
        return self._state.sizes

    @property
    def counted_sizes(self) -> KnownSizes | None:
        """Known sizes that can count: of classes with labels, if all points can be theirs."""
        return self._state.counted_sizes

    @property
    def sizes_met(self) -> SizesMet | None:
        """Whether the refined map meets sizes.

        "met", "unused" (the graph disagrees), "waiting" (for labels of other classes); None if none
        are known, or the map is not refined yet.
        """
        if self.class_sizes is None:
            return None
        if self.counted_sizes is None:
            return "waiting"
        refined = self._maps.refined(self._state)
        if refined is None or refined.diffusion is None:
            return None
        prior = class_prior(self.counted_sizes, self._state.labelled_classes)
        return "met" if refined.diffusion.meets(prior) else "unused"

    @property
    def tau_mode(self) -> Literal["auto", "margin", "fixed"]:
        """How the time is set: "fixed", "auto" or "margin"."""
        return self._state.rule or "fixed"

    @property
    def is_warped(self) -> bool:
        """Whether each class has its own walk."""
        return self._state.warped_by is not None

    @property
    def can_undo(self) -> bool:
        """Whether there is something to undo."""
        return self._history.can_undo

    @property
    def can_redo(self) -> bool:
        """Whether something was undone and nothing done since."""
        return self._history.can_redo

    @property
    def step(self) -> int:
        """Number of operations that lead to the present state; undone ones do not count."""
        return self._history.place

    @property
    def n_steps(self) -> int:
        """Number of operations, with those that were undone and can be done again."""
        return len(self._history) - 1

    @property
    def column_bytes(self) -> int:
        """Memory of the diffused columns of present and past strokes, in bytes."""
        return self._maps.column_bytes

    def _shows(self, state: State) -> bool:
        """Return whether the map is the newest there is for a state."""
        is_newest = self._map.is_refined or self._maps.refined(state) is None
        return is_newest and state.map_key == self._mapped.map_key

    @property
    def _state(self) -> State:
        return self._history.present


def _checked_features(features: ArrayLike | None, n_points: int) -> np.ndarray | None:
    if features is None:
        return None
    found = check_points(features, name="features")
    if len(found) != n_points:
        raise DataError(
            f"features have the shape {found.shape}; give one row for each of {n_points} points"
        )
    return found


@contextmanager
def background(is_wanted: Callable[[], bool]) -> Iterator[None]:
    """Compute on one thread within the block, so that the other cores are the map's.

    Parameters
    ----------
    is_wanted : callable
        As for `diffclass.system.progress.cancellable`.

    Raises
    ------
    CancelledError
        Once the result is not wanted.

    Examples
    --------
    >>> from diffclass.relabel import background
    >>> with background(lambda: True):
    ...     print("computed on one thread")
    computed on one thread
    """
    with _compiled.loops.threads(1), cancellable(is_wanted):
        yield
