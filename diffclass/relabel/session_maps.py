"""The maps of a session: how they are made of strokes, and which of them are kept.

Maps are sums of columns per class, in the order of the strokes, then classes. A changed sum is
formed anew, piece by piece, and never updated by adding or subtracting. A state therefore has one
map to the last bit, whatever was done and undone before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from diffclass.label_diffusion import LabelDiffusion, MarginCurve, Reach
from diffclass.label_diffusion.label_modes import FREE, SUMMED
from diffclass.label_diffusion.walk import HEIGHT, least_arrived
from diffclass.operators.markov import MarkovOperator
from diffclass.relabel.columns import Column, ColumnStore, Horizon
from diffclass.relabel.state import State
from diffclass.relabel.strokes import Stroke

MUCH_SURER = 0.1  # more margin than before: a label nearby speaks for the class


@dataclass(frozen=True, eq=False)
class ClassMap:
    """The class of every point, as ids.

    Attributes
    ----------
    diffusion : LabelDiffusion or None
        Its ``classes`` are class ids; None if nothing is labelled.
    n_points : int
    tau : int
        Time in steps.
    is_refined : bool
        Whether it was made by refining, and no other map is to follow.
    aggregates : ndarray of int of shape (n_points,), optional
        Row of the diffusion that each point takes; by default its own.
    kept : Replaced, optional
        Where this provisional map says nothing new, classes, probabilities and margins are those
        of the refined map before, unless the class has no labels any more.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import markov_operator
    >>> from diffclass.relabel import Paint, RelabelSession
    >>> A = markov_operator(np.arange(8.0)[:, None], n_neighbors=2)
    >>> session = RelabelSession(A, ["corn", "soy"], tau=8)
    >>> session.apply(Paint(1, np.array([0])))
    >>> session.apply(Paint(2, np.array([7])))
    >>> change = session.update()
    >>> session.map.ids.tolist(), session.map.tau
    ([1, 1, 1, 1, 2, 2, 2, 2], 8)
    """

    diffusion: LabelDiffusion | None
    n_points: int
    tau: int
    is_refined: bool = False
    aggregates: np.ndarray | None = None
    kept: Replaced | None = None

    @property
    def class_ids(self) -> tuple[int, ...]:
        """Ids of the classes with labels, ascending."""
        return () if self.diffusion is None else tuple(self.diffusion.classes.tolist())

    @cached_property
    def ids(self) -> np.ndarray:
        """Class ids, 0 where nothing has arrived; uint8 of shape (n,)."""
        return self._with_kept(self.own_ids, "ids")

    @cached_property
    def probability(self) -> np.ndarray:
        """The largest posterior, 0 where nothing has arrived; float32 of shape (n,)."""
        if self.diffusion is None:
            return np.zeros(self.n_points, dtype=np.float32)
        own = self._of_points(self.diffusion.probability.astype(np.float32))
        return self._with_kept(own, "probability")

    @cached_property
    def margin(self) -> np.ndarray:
        """Difference of the two largest posteriors; float32 of shape (n,)."""
        return self._with_kept(self.own_margin, "margin")

    @cached_property
    def own_ids(self) -> np.ndarray:
        """Class ids by this diffusion alone; uint8 of shape (n,)."""
        if self.diffusion is None:
            return np.zeros(self.n_points, dtype=np.uint8)
        ids = np.array([*self.class_ids, 0], dtype=np.uint8)[self.diffusion.codes]
        return self._of_points(ids)

    @cached_property
    def own_margin(self) -> np.ndarray:
        """Margins by this diffusion alone; float32 of shape (n,)."""
        if self.diffusion is None:
            return np.zeros(self.n_points, dtype=np.float32)
        return self._of_points(self.diffusion.margin.astype(np.float32))

    @cached_property
    def posteriors(self) -> np.ndarray:
        """p_i by this diffusion alone, uniform where nothing has arrived; float32 of (n, c)."""
        if self.diffusion is None:
            return np.zeros((self.n_points, 0), dtype=np.float32)
        return self._of_points(self.diffusion.posteriors.astype(np.float32))

    def _of_points(self, values: np.ndarray) -> np.ndarray:
        return values if self.aggregates is None else values[self.aggregates]

    def _with_kept(self, own: np.ndarray, name: str) -> np.ndarray:
        if self.kept is None:
            return own
        return np.where(self._keeps, getattr(self.kept.refined, name), own)

    @cached_property
    def _keeps(self) -> np.ndarray:
        assert self.kept is not None
        before = self.kept.provisional
        # The new map says something new of a point where its class differs from that of the
        # provisional map of the same labels as the refined one, or where it is much surer of it: a
        # stroke nearby.
        is_surer = self.own_margin > before.own_margin + MUCH_SURER
        has_labels = np.zeros(256, dtype=bool)  # or is 0
        has_labels[[0, *self.class_ids]] = True
        return (self.own_ids == before.own_ids) & ~is_surer & has_labels[self.kept.refined.ids]


@dataclass(frozen=True, eq=False)
class Replaced:
    """A provisional map and the refined one of the same labels that has replaced it.

    The next provisional maps by the same walk say something new only where they differ from this
    one. Elsewhere the refined map is kept, so that the picture does not flicker.
    """

    provisional: ClassMap
    refined: ClassMap


class ClassSums:
    """Maps of free or summed labels, made of the columns of their pieces; see `State.pieces`.

    - `columns`: columns of the same operator

    Cost of a map: the new columns, the sums of classes whose strokes differ from the map before,
    and two passes over n x n_classes numbers.
    """

    def __init__(self, operator: MarkovOperator, columns: ColumnStore):
        self._operator = operator
        self._columns = columns
        self._pi = operator.stationary_distribution
        self._kept: dict[tuple[Horizon, tuple[bytes, ...]], np.ndarray] = {}

    def diffusion_of(self, strokes: Sequence[Stroke], tau: int, horizon: Horizon) -> LabelDiffusion:
        """Return the diffusion of at least one stroke at the time tau."""
        columns = self._columns.of(strokes, horizon)
        by_class: dict[int, list[int]] = {}
        for place, stroke in enumerate(strokes):
            by_class.setdefault(stroke.class_id, []).append(place)
        values = np.empty((len(by_class), len(self._operator)))
        kept = {}
        for row, class_id in zip(values, sorted(by_class), strict=True):
            mine = [strokes[place] for place in by_class[class_id]]
            key = horizon, tuple(stroke.fingerprint for stroke in mine)
            kept[key] = self._sum(key, [columns[place] for place in by_class[class_id]])
            np.multiply(kept[key], 1 / (HEIGHT * self._mass(mine)), out=row)
        # the sums of this map alone: the next one differs in few classes
        self._kept = kept
        classes, weight = np.array(sorted(by_class)), np.full(len(values), 1 / len(values))
        reach = Reach(self._operator, np.concatenate([stroke.points for stroke in strokes]))
        decision = reach.decide(values.T, weight, n_steps=horizon.n_steps, dtype=np.float32)
        return LabelDiffusion(
            classes=classes,
            values=values.T,
            class_weight=weight,
            label_mode=(SUMMED if horizon.is_sum else FREE).name,
            weighting="equal",
            codes=decision.codes,
            probability=decision.probability,
            margin=decision.margin,
            tau=tau,
            curve=MarginCurve.empty(),
        )

    def _sum(self, key: tuple[Horizon, tuple[bytes, ...]], columns: list[Column]) -> np.ndarray:
        """Return the sum of a class's columns; that of the map before if it is the same."""
        if key in self._kept:
            return self._kept[key]
        total = np.zeros(len(self._operator))
        for column in columns:
            column.add_to(total, self._operator.components)
        total[total < least_arrived(self._operator.dtype)] = 0
        return total

    def _mass(self, strokes: list[Stroke]) -> float:
        """Return pi(L_i), summed stroke by stroke."""
        return sum(float(self._pi[stroke.points].sum()) for stroke in strokes)


@dataclass(frozen=True, eq=False)
class Change:
    """What an update changed.

    Attributes
    ----------
    version : int
        Number of the map; every new map has a higher one.
    n_changed : int
        Number of points whose class differs from the map before.
    changed : ndarray of bool of shape (n,)
        Which points these are.
    seconds : float
        Time that the update took.
    """

    version: int
    n_changed: int
    changed: np.ndarray
    seconds: float


_T = TypeVar("_T")

# classes of refined maps that are kept, to compare with
_MOST_IDS = 32
_MOST_ID_BYTES = 2**26


class RefinedMaps:
    """The newest refined maps, by the labels, walk, time and sizes of their states.

    - `most`: maps to keep whole

    Several threads may ask while one adds.
    """

    def __init__(self, most: int):
        self._most = most
        self._maps: dict[object, ClassMap] = {}
        self._ids: dict[object, np.ndarray] = {}

    def add(self, state: State, refined: ClassMap) -> None:
        """Keep the map of a state; the oldest goes."""
        key = _all_that_counts(state)
        n_ids = max(min(_MOST_IDS, _MOST_ID_BYTES // state.n_points), 1)
        # replaced as a whole: other threads read them meanwhile
        self._maps = _newest(self._maps, self._most - 1) | {key: refined}
        self._ids = _newest(self._ids, n_ids - 1) | {key: refined.ids}

    def of(self, state: State) -> ClassMap | None:
        """Return the map of a state, if it is kept."""
        return self._maps.get(_all_that_counts(state))

    def ids_of(self, state: State) -> np.ndarray | None:
        """Return the classes of a state's map, which are kept for longer than the map."""
        return self._ids.get(_all_that_counts(state))


def _newest(kept: dict[object, _T], number: int) -> dict[object, _T]:
    """Return the entries that were added last."""
    return dict(list(kept.items())[max(len(kept) - number, 0) :])


def _all_that_counts(state: State) -> tuple[object, ...]:
    given = state.chosen_for or state.tau
    time = "auto" if state.rule == "auto" else given
    return *state.labels_and_walk, time, state.counted_sizes


class ProvisionalMaps:
    """Remembers the last refined map, of which the next provisional maps keep what stays."""

    def __init__(self) -> None:
        self._newest: tuple[object, ClassMap] | None = None  # provisional map, and of what
        self._replaced: tuple[object, Replaced] | None = None  # and by which walk

    def shown(self, state: State, found: ClassMap) -> ClassMap:
        """Return a state's map as it is shown: refined ones as they are.

        - `found`: of the state, newer than all before
        """
        if found.is_refined:
            # Both maps have to be of the same labels: only then do their differences come from the
            # refining.
            if self._newest is not None and self._newest[0] == state.map_key:
                self._replaced = state.walk_key, Replaced(self._newest[1], found)
            return found
        self._newest = state.map_key, found
        # by another walk or time all points may differ
        if self._replaced is None or self._replaced[0] != state.walk_key:
            return found
        return replace(found, kept=self._replaced[1])
