"""A walk of labels in columns that lie somewhere: one interface for arrays and for blocks.

Early stopping, the reading of a map and held-out labels work on any such walk, since margin, cut,
mass and coverage are sums over the points. `diffclass.label_diffusion.walk` has the walks in
arrays, `diffclass.blocks.walk` that in blocks on an engine.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from diffclass.label_diffusion.maps import (
    Cut,
    Decision,
    balanced_weights,
    class_sums,
    cut_of_sums,
    equal_weights,
)

_Map = TypeVar("_Map")
_Found = TypeVar("_Found")


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
        changed = 0 if before is None else count_of(own != before, mass)
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
    goes_by_cut = False

    def __init__(self) -> None:
        self._past_maps: list[_Map] = []

    @abstractmethod
    def advance(self, time: int) -> None:
        """Walk on to a later time."""

    def advance_map(self, tau: int) -> None:
        """Walk on to the time at which the map of tau is formed.

        It stops only where the walk may find a faster way on.
        """
        for time in cut_times(tau).tolist():
            if time > self.time:
                self.advance(time)

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

    def retry(self, work: Callable[[], _Found]) -> _Found:
        """Do some work on the present state; where a worker loses it, do it again."""
        return work()

    def criteria(self, weightings: Sequence[str], *, is_covered: bool) -> Criteria:
        """Return what early stopping goes by, for "equal" and perhaps "balanced" weights.

        Once the labels cover the graph, the map is compared with the one two looks before; until
        then there are at most two maps to keep.
        """
        weights = {"equal": equal_weights(self.n_classes)}
        if "balanced" in weightings:
            weights["balanced"] = balanced_weights(self.mass())
        stacked = np.stack([weights[weighting] for weighting in weightings])
        is_compared = is_covered and len(self._past_maps) >= 2
        before = self._past_maps[0] if is_compared else None
        sums, first = self.map_sums(stacked, before)
        self._past_maps = [*self._past_maps[int(is_compared) :], first]
        return Criteria(
            dict(zip(weightings, (sums.margin / self.n_points).tolist(), strict=True)),
            dict(zip(weightings, map(cut_of_sums, sums.classes), strict=True)),
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


def count_of(which: np.ndarray, mass: np.ndarray | None) -> int:
    """Return how many points are marked, with the number of equal points at each; both (n,)."""
    return int(np.count_nonzero(which) if mass is None else mass[which].sum())


def hop_coverage(hops: np.ndarray, mass: np.ndarray | None = None) -> np.ndarray:
    """Return, for t = 0, 1, ..., the share of the reachable entries that lie within t hops.

    Hops are negative where unreachable; at least one has to be 0. The last share is 1. A row counts
    as many times as there are equal points.
    """
    reachable = hops >= 0
    if mass is None:
        return coverage_of(np.bincount(hops[reachable]))
    times = np.broadcast_to(mass[:, None], hops.shape)[reachable]
    return coverage_of(np.bincount(hops[reachable], times))


def coverage_of(counts: np.ndarray) -> np.ndarray:
    """Return `hop_coverage` from the number of entries at 0, 1, ... hops."""
    return np.cumsum(counts) / counts.sum()
