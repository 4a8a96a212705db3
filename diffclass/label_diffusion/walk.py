"""A walk of labels in columns that lie somewhere: one interface for arrays and for blocks.

Early stopping, the reading of a map and held-out labels work on any `LabelWalk`, since margin, cut,
mass and coverage are sums over the points. `Walk` has its columns in arrays,
`diffclass.blocks.block_walk` in blocks on an engine. `AbsorbingWalk`, the default, stops at a label
with the label's weight as probability; the other ways in which labels count have files of their
own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from diffclass.label_diffusion import long_walk
from diffclass.label_diffusion.labels import Labels
from diffclass.label_diffusion.long_walk import (
    LongWalk,
    Product,
)
from diffclass.label_diffusion.maps import (
    Cut,
    Decision,
    balanced_weights,
    class_sums,
    counted_every,
    crossing_of_sums,
    cut_of_sums,
    decide,
    equal_weights,
)
from diffclass.label_diffusion.reach import Reach
from diffclass.operators.absorbing import AbsorbingLabels, AbsorbingSteps
from diffclass.operators.chebyshev import sum_coefficients
from diffclass.operators.markov import MarkovOperator

_Map = TypeVar("_Map")
WEIGHTINGS = "equal", "balanced"  # of the classes, among which the cut chooses


@dataclass(frozen=True)
class Criteria:
    """What early stopping goes by at one time, by the weighting of the classes."""

    margin: dict[str, float]  # mean over the points, 0 to 1
    cut: dict[str, Cut]
    changed: float  # share of the points with another class than in an earlier map; 1 without one


@dataclass(frozen=True, eq=False)
class MapSums:
    """Sums over points of one map per weighting. Those of a graph are the sums over its blocks."""

    margin: np.ndarray  # (n_weightings,)
    classes: np.ndarray  # (n_weightings, 3, n_classes), as of `class_sums`
    changed: int  # points that the first map and an earlier one give different classes

    @classmethod
    def of(
        cls,
        affinity: sp.csr_array,
        degrees: np.ndarray,
        maps: Sequence[np.ndarray],
        margin: ArrayLike,
        before: np.ndarray | None,
        n_classes: int,
        *,
        mass: np.ndarray | None = None,
    ) -> MapSums:
        """Return the sums over some points.

        ``affinity`` and ``degrees`` are their rows, as of `class_sums`, ``maps`` the classes of all
        columns by each weighting, ``margin`` (n_weightings,) the sums, ``before`` the classes of an
        earlier map, ``mass`` the number of equal points at each.
        """
        classes = [class_sums(affinity, degrees, codes, n_classes, mass=mass) for codes in maps]
        own = maps[0][: len(degrees)]
        changed = 0
        if before is not None:
            differs = own != before
            changed = int(np.count_nonzero(differs) if mass is None else mass[differs].sum())
        return cls(np.asarray(margin), np.array(classes), changed)

    def __add__(self, other: MapSums) -> MapSums:
        changed = self.changed + other.changed
        return MapSums(self.margin + other.margin, self.classes + other.classes, changed)


class LabelWalk(ABC, Generic[_Map]):
    """Labels diffused to one time, in columns that lie somewhere: in arrays, or in blocks.

    Values are what `values` returns: an array, or handles of the arrays of all blocks.
    """

    n_points: int
    n_classes: int
    time: int
    goes_by_cut = False  # whether tau and the weights of the classes may be chosen by the cut
    labels_shield = False  # whether the walk stops at labels, so that those behind are not seen
    by_series = False  # whether the last steps were taken by a series, which reaches any time
    _past_maps: Sequence[_Map] = ()  # the last two that `criteria` has looked at

    @abstractmethod
    def advance(self, time: int) -> None:
        """Walk on to a later time."""

    def advance_map(self, tau: int) -> None:
        """Walk on to the time at which the map of tau is formed.

        It stops only where the walk may find a faster way on.
        """
        for time in cut_times(tau).tolist():
            if time > self.time:
                self.advance(tau if self.by_series else time)

    @abstractmethod
    def coverage(self) -> np.ndarray:
        """Return, for t = 0, 1, ..., the share of what labels can reach within t edges."""

    @abstractmethod
    def mean_margin(self) -> float:
        """Return the mean margin over the points, with equal weights of the classes."""

    @abstractmethod
    def mass(self) -> np.ndarray:
        """Return the masses <N_i, pi> of the columns, up to a common factor; (n_classes,)."""

    @abstractmethod
    def map_sums(self, weights: np.ndarray, before: _Map | None) -> tuple[MapSums, _Map]:
        """Return the sums of the maps with some weights of the classes, and the first of the maps.

        ``weights`` are (n_weightings, n_classes). The first map is compared with ``before``, an
        earlier one, which is not needed any more afterwards.
        """

    @abstractmethod
    def values(self) -> Any:
        """Return N_i, at least 0, in double precision."""

    @abstractmethod
    def mass_of(self, values: Any) -> np.ndarray:
        """Return the masses <N_i, pi> of some values, of shape (n_classes,)."""

    @abstractmethod
    def counted(self, values: Any) -> np.ndarray:
        """Return the values of every `counted_every`-th point."""

    @property
    def counted_mass(self) -> np.ndarray | None:
        """The number of equal points at each of `counted`; None where all are 1."""
        return None

    @abstractmethod
    def map_of(self, values: Any, class_weight: np.ndarray) -> Any:
        """Return the map with certain weights of the classes."""

    @abstractmethod
    def spread(self, codes: Any, n_steps: int) -> Any:
        """Return values: a map diffused some steps, with labels that absorb the walk.

        The state of the walk stays as it is.
        """

    @abstractmethod
    def crossing(self, codes: Any) -> float:
        """Return the share of the walk's steps that leave their class in a map."""

    @abstractmethod
    def decide(self, values: Any, class_weight: np.ndarray, n_steps: int | None) -> Decision | None:
        """Fill unreached points, and find the class of each point; None if it is on files.

        With ``n_steps`` only points within so many edges of a label are filled, else all that can
        be.
        """

    @abstractmethod
    def checkpoint(self, *names: str) -> None:
        """Save the present state under some names, instead of those saved before."""

    @abstractmethod
    def restore(self, name: str) -> int:
        """Go back to a checkpoint, drop all and return its time, tau."""

    def criteria(self, *, is_covered: bool) -> Criteria:
        """Return what early stopping goes by.

        Once the labels cover the graph, the map is compared with the one two looks before; until
        then there are at most two maps to keep.
        """
        weights = np.stack([equal_weights(self.n_classes), balanced_weights(self.mass())])
        is_compared = is_covered and len(self._past_maps) >= 2
        sums, first = self.map_sums(weights, self._past_maps[0] if is_compared else None)
        self._past_maps = [*self._past_maps[int(is_compared) :], first]
        return Criteria(
            dict(zip(WEIGHTINGS, (sums.margin / self.n_points).tolist(), strict=True)),
            dict(zip(WEIGHTINGS, map(cut_of_sums, sums.classes), strict=True)),
            sums.changed / self.n_points if is_compared else 1.0,
        )


def curve_times(max_time: int) -> np.ndarray:
    """Return the times of the curve: all up to 16, then four per octave, and ``max_time``."""
    octaves = np.arange(0, 4 * max(0, np.log2(max_time / 16)) + 1)
    late = np.rint(16 * 2 ** (octaves / 4)).astype(int)
    times = np.concatenate([np.arange(1, 17), late, [max_time]])
    return np.unique(times[times <= max_time])


def cut_times(max_time: int) -> np.ndarray:
    """Return the times of the cut: two per octave, one from 256 on, and ``max_time``."""
    early = np.rint(2 ** (np.arange(17) / 2)).astype(int)
    late = 2 ** np.arange(8, max(9, int(max_time).bit_length()))
    times = np.unique(np.concatenate([early, late, [max_time]]))
    return times[times <= max_time]


def coverage_of(counts: np.ndarray) -> np.ndarray:
    """Return, for t = 0, 1, ..., the share of entries within t hops, by the number at each."""
    return np.cumsum(counts) / counts.sum()


# Height of a label's indicator. It is large, so that what arrives after a long way does not
# underflow in single precision, and a power of two, so that rounding stays the same.
HEIGHT = 2.0**64


def least_arrived(dtype: np.dtype) -> float:
    """Return the smallest value of a column of `HEIGHT` that counts as arrived.

    Below it floating-point numbers lose digits, in double precision once they are divided by
    `HEIGHT`. A class diffused as a whole and the sum of its strokes would then disagree about which
    points are reached. The points below are filled in at the end; see
    `diffclass.label_diffusion.reach`.
    """
    return 2.0**24 * max(float(np.finfo(dtype).tiny), HEIGHT * float(np.finfo(np.float64).tiny))


def map_columns(codes: np.ndarray, n_classes: int, dtype: np.dtype) -> np.ndarray:
    """Return columns of `HEIGHT` where a map has their class; (n, n_classes)."""
    columns = np.zeros((len(codes), n_classes), dtype=dtype)
    mapped = np.flatnonzero(codes >= 0)
    columns[mapped, codes[mapped]] = HEIGHT
    return columns


def values_of(state: np.ndarray, scale: float, least: float) -> np.ndarray:
    """Return N_i in double precision; what is below the least that counts is 0."""
    values = state.astype(np.float64)
    values[values < least] = 0
    values *= scale
    return values


def mass_of_nodes(operator: MarkovOperator) -> np.ndarray:
    """Return the number of equal points at each that the walk is on, as floats; (n,)."""
    mass = operator.mass
    return np.ones(len(operator)) if mass is None else mass.astype(np.float64)


class Walk(LabelWalk[np.ndarray]):
    """One column per class at one time: N = scale (limits[component] + state).

    The state (n, n_classes) has the columns without their limits, limits (n_components, n_classes)
    what was subtracted, scale (n_classes,) the factors, and ``least`` is the smallest value of a
    column that counts as arrived. Weights may be chosen by the cut (``goes_by_cut``) for
    absorbing labels only: all others are scaled once, by their labels. The state is 0 at
    first, unless one is given.
    """

    def __init__(self, operator: MarkovOperator, labels: Labels, *, state: Any = None):
        self.n_points, self.n_classes = operator.n_points, labels.n_classes
        self.operator, self.labels = operator, labels
        self.least = least_arrived(operator.dtype)
        self.time = 0
        if state is None:
            state = np.zeros((len(operator), labels.n_classes), dtype=operator.dtype)
        self.state = state
        self.limits = np.zeros((operator.n_connected_components, labels.n_classes))
        self.scale = np.ones(labels.n_classes)
        self._checkpoints: dict[str, Any] = {}

    def values(self) -> np.ndarray:
        """N_i, at least 0, of shape (n, n_classes), in double precision."""
        values = self.limits[self.operator.components]
        values += self.state
        values[values < self.least] = 0
        values *= self.scale
        return values

    def decision(self, class_weight: np.ndarray) -> Decision:
        """Return the class of each point at the present time, -1 where nothing has arrived."""
        return decide(
            self.state,
            class_weight * self.scale,
            limits=self.limits,
            components=self.operator.components,
        )

    def coverage(self) -> np.ndarray:
        """Return, for t = 0, 1, ..., the share of what labels can reach within t hops.

        Each free label counts for its class; labels that stop the walk shield one another, so that
        for them the nearest of any class counts. Equal points count one by one.
        """
        hops = self._hops(0 if self.labels_shield else self.labels.codes)
        reachable, mass = hops >= 0, self.operator.mass
        if mass is not None:
            mass = np.broadcast_to(mass[:, None], hops.shape)[reachable]
        return coverage_of(np.bincount(hops[reachable], mass))

    def mean_margin(self) -> float:
        """Return the mean margin over the points, with equal weights of the classes."""
        margin = self.decision(equal_weights(self.n_classes)).margin
        return float(np.average(margin, weights=self.operator.mass))

    def mass(self) -> np.ndarray:
        """Return the masses <N_i, pi> of the columns, up to a common factor; (n_classes,)."""
        return self.mass_of(self.state)

    def mass_of(self, values: np.ndarray) -> np.ndarray:
        """Return the masses <N_i, pi> of some values, of shape (n_classes,)."""
        # not by BLAS, whose sums depend on the number of threads
        return np.einsum("x,xi->i", self.operator.stationary_distribution, values)

    def counted(self, values: np.ndarray) -> np.ndarray:
        """Return the values of every `counted_every`-th point."""
        return values[:: counted_every(len(values))]

    @property
    def counted_mass(self) -> np.ndarray | None:
        """The number of points at each counted node; None where all are 1."""
        mass = self.operator.mass
        return None if mass is None else mass[:: counted_every(len(mass))]

    def map_of(self, values: np.ndarray, class_weight: np.ndarray) -> np.ndarray:
        """Return the map with certain weights of the classes; (n,), -1 for none."""
        return decide(values, class_weight).codes

    def spread(self, codes: np.ndarray, n_steps: int) -> np.ndarray:
        """Return a map diffused some steps, with labels that absorb the walk."""
        steps = self._absorbing_steps
        columns = map_columns(codes, self.n_classes, self.operator.dtype)
        steps.labels.start(columns)
        columns, _ = steps.steps(columns, np.empty_like(columns), n_steps)
        return values_of(columns, 1 / HEIGHT, self.least)

    @cached_property
    def _absorbing_steps(self) -> AbsorbingSteps:
        labels = self.labels
        stops = AbsorbingLabels.at(
            labels.points,
            labels.codes,
            labels.weight,
            n_classes=labels.n_classes,
            dtype=self.operator.dtype,
            heights=HEIGHT,
        )
        return AbsorbingSteps(self.operator, stops)

    def crossing(self, codes: np.ndarray) -> float:
        """Return the share of the walk's steps that leave their class in a map."""
        K, degrees = self.operator.affinity, self.operator.degrees
        return crossing_of_sums(class_sums(K, degrees, codes, self.n_classes))

    def decide(self, values: np.ndarray, class_weight: np.ndarray, n_steps: int | None) -> Decision:
        """Fill unreached points in place, and find the class of each point; see `Reach`."""
        reach = Reach(self.operator, self.labels.points[self.labels.counted])
        return reach.decide(values, class_weight, n_steps=n_steps, dtype=self.operator.dtype)

    def map_sums(
        self, weights: np.ndarray, before: np.ndarray | None
    ) -> tuple[MapSums, np.ndarray]:
        """Return the sums of the maps with some weights, and the first of the maps."""
        maps, margins, mass = [], [], self.operator.mass
        for weight in weights:
            decision = self.decision(weight)
            maps.append(decision.codes)
            margins.append(decision.margin.sum() if mass is None else mass @ decision.margin)
        K, degrees = self.operator.affinity, self.operator.degrees
        sums = MapSums.of(K, degrees, maps, margins, before, self.n_classes, mass=mass)
        return sums, maps[0]

    def checkpoint(self, *names: str) -> None:
        """Save the present state under some names, instead of those saved before."""
        if names:
            saved = self.time, self.state.copy(), self.limits.copy()
            self._checkpoints.update(dict.fromkeys(names, saved))

    def restore(self, name: str) -> int:
        """Go back to a checkpoint, drop all and return its time, tau."""
        self.time, self.state, self.limits = self._checkpoints[name]
        self._checkpoints = {}
        return self.time

    def _hops(self, group_of_label: ArrayLike) -> np.ndarray:
        """Return the edges from each point to each group of labels; -1 if unreachable."""
        points = self.labels.points
        of_label = np.broadcast_to(np.asarray(group_of_label), points.shape)
        hops = np.full((len(self.operator), int(of_label.max()) + 1), -1, dtype=np.int32)
        rank = np.arange(len(points)) - np.searchsorted(points, points)  # of the labels of a point
        for r in range(rank.max() + 1):  # a search starts from one group at each point
            groups = np.full(len(hops), -1)
            groups[points[rank == r]] = of_label[rank == r]
            more = self.operator.hops(groups)
            known = hops[:, : more.shape[1]]
            np.copyto(known, more, where=(more >= 0) & ((known < 0) | (more < known)))
        return hops


_FEW = 256  # steps that are not worth a `LongWalk`
_LEAST_SERIES = 32  # steps that are worth a series
_LATE = 1e-3  # probability of having stopped
_NO_CHANGE = {"f": 1e-6, "d": 1e-14}  # of a probability, by precision


class AbsorbingWalk(Walk):
    """The walk stops at a label."""

    goes_by_cut = True
    labels_shield = True

    def __init__(self, operator: MarkovOperator, labels: Labels):
        super().__init__(operator, labels)
        self.scale /= HEIGHT
        self._stops = AbsorbingLabels.at(
            labels.points,
            labels.codes,
            labels.weight,
            n_classes=labels.n_classes,
            dtype=self.state.dtype,
            heights=HEIGHT,
        )
        self._stops.start(self.state)
        self._steps = AbsorbingSteps(operator, self._stops)
        self._spare = self.state[:0]  # where the next step is written, once it has the same shape

    def advance(self, time: int) -> None:
        """Walk on to a later time."""
        n_steps = time - self.time
        self.by_series = is_late(self, n_steps)
        if self.by_series:
            walk_by_series(self, n_steps, self.state.dtype)
        elif takes_long_walk(self.time, n_steps):
            product = self.operator.in_double_precision().backward
            self.state = long_steps(
                self.state, n_steps, product, self._stops, self._hops(self.labels.codes)
            )
        else:
            self._take_steps(n_steps)
        self.time = time

    def _take_steps(self, n_steps: int) -> None:
        state = np.ascontiguousarray(self.state, dtype=self.operator.dtype)
        if self._spare.shape != state.shape or self._spare.dtype != state.dtype:
            self._spare = np.empty_like(state)
        self.state, self._spare = self._steps.steps(state, self._spare, n_steps)

    def least_stopped(self) -> float:
        """Return the least probability of having stopped, where the walk can stop."""
        arrived = self.state.sum(axis=1)
        components = self.operator.components
        can_stop = np.isin(components, components[self.labels.points])
        return float(arrived[can_stop].min()) / HEIGHT

    def step_and_change(self) -> float:
        """Take a step, keep its change, and return the largest change of a probability."""
        before = self.state.copy()
        self._take_steps(1)
        self._change = self.state - before
        return float(np.abs(self._change).max()) / HEIGHT

    def add_series(self, coefficients: np.ndarray) -> None:
        """Add a Chebyshev series of the walk that ends at the labels, applied to the change."""
        self.state += self._steps.series(self._change, coefficients)
        np.maximum(self.state, 0, out=self.state)


def takes_long_walk(time: int, n_steps: int) -> bool:
    """Say whether to take steps by a `LongWalk`, which ends where nothing changes any more."""
    return time + n_steps > long_walk.LONGEST_SERIES and n_steps > _FEW


def long_steps(
    state: np.ndarray, n_steps: int, product: Product, labels: AbsorbingLabels, hops: np.ndarray
) -> np.ndarray:
    """Take many steps of a walk that stops at labels, in double precision; see `LongWalk`.

    ``state`` and ``hops`` are (n, n_classes); ``product`` is that of the walk without labels.
    """

    def killed(f: np.ndarray, out: np.ndarray) -> None:
        product(f, out)
        labels.end_walks(out)

    stopped = np.zeros(state.shape)
    labels.start(stopped)
    return LongWalk(killed, hops).absorbing(state.astype(np.float64), stopped, n_steps)


class SeriesWalk(Protocol):
    """What a walk of absorbing labels has to do for a series, wherever its columns lie."""

    def least_stopped(self) -> float:
        """Return the least probability of having stopped, over the points whose walk can stop."""

    def step_and_change(self) -> float:
        """Take a step, keep its change r, and return the largest change of a probability."""

    def add_series(self, coefficients: np.ndarray) -> None:
        """Add the sum of c_k T_k(B) r to the values; what comes out below 0 is 0."""


def is_late(walk: SeriesWalk, n_steps: int) -> bool:
    """Say whether so many steps are worth a series, and the walk is late enough for one."""
    return n_steps > _LEAST_SERIES and walk.least_stopped() >= _LATE


def walk_by_series(walk: SeriesWalk, n_steps: int, dtype: np.dtype) -> None:
    """Take late steps, of values of some type, by Chebyshev series.

    With r the change of a step and B the walk that ends at the labels,

        N(t + s) = N(t) + r + B r + ... + B^(s - 1) r.

    The series blurs small values, so it waits until every walk that can stop has stopped with a
    probability that is far above its error. It ends where no probability changes any more.
    """
    tolerance = _NO_CHANGE[dtype.char]
    while n_steps:
        largest = walk.step_and_change()
        if n_steps * largest <= tolerance:
            return
        piece = min(n_steps, long_walk.LONGEST_SERIES)
        walk.add_series(
            sum_coefficients(piece - 1, tolerance / largest) if piece > 1 else np.zeros(1)
        )
        n_steps -= piece
