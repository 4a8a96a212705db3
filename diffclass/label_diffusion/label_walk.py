"""A walk of labels in columns that lie somewhere: one interface for arrays and for blocks.

Early stopping, the reading of a map and held-out labels work on any such walk, since margin, cut,
mass and coverage are sums over the points. `diffclass.label_diffusion.walks` has the walks in
arrays, `diffclass.blocks.walk` that in blocks on an engine.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from diffclass.label_diffusion.class_weights import balanced_weights, equal_weights
from diffclass.label_diffusion.cut import Cut, cut_of_sums
from diffclass.label_diffusion.posteriors import Decision
from diffclass.label_diffusion.stopping_time import cut_times

_Map = TypeVar("_Map")
_Found = TypeVar("_Found")


@dataclass(frozen=True)
class Criteria:
    """What early stopping goes by at one time.

    Attributes
    ----------
    margin : dict of str to float
        Mean margin over the points, 0 to 1, by the weighting of the classes.
    cut : dict of str to Cut
        Cut of the map, by the weighting of the classes.
    changed : float
        Share of the points that have another class than in an earlier map; 1 if there is no map
        to compare with.
    """

    margin: dict[str, float]
    cut: dict[str, Cut]
    changed: float


@dataclass(frozen=True, eq=False)
class MapSums:
    """Sums over points of one map per weighting. Those of a graph are the sums over its blocks.

    Attributes
    ----------
    margin : ndarray of shape (n_weightings,)
        Sums of the margins.
    classes : ndarray of shape (n_weightings, 3, n_classes)
        As of `diffclass.label_diffusion.cut.class_sums`.
    changed : int
        Points that the first map and an earlier one give different classes.
    """

    margin: np.ndarray
    classes: np.ndarray
    changed: int

    def __add__(self, other: MapSums) -> MapSums:
        changed = self.changed + other.changed
        return MapSums(self.margin + other.margin, self.classes + other.classes, changed)


class LabelWalk(ABC, Generic[_Map]):
    """Labels diffused to one time, in columns that lie somewhere: in arrays, or in blocks.

    Values are what `values` returns: an array, or handles of the arrays of all blocks.

    Attributes
    ----------
    n_points, n_classes : int
    time : int
        Steps taken so far.
    goes_by_cut : bool
        Whether the cut of its maps says anything: free columns all have the same mass.
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

        Parameters
        ----------
        weights : ndarray of shape (n_weightings, n_classes)
        before : map or None
            An earlier map, to be compared with the first one. It is not needed any more afterwards.
        """

    @abstractmethod
    def values(self) -> Any:
        """Return N_i, at least 0, in double precision."""

    @abstractmethod
    def mass_of(self, values: Any) -> np.ndarray:
        """Return the masses <N_i, pi> of some values, of shape (n_classes,)."""

    @abstractmethod
    def counted(self, values: Any) -> np.ndarray:
        """Return the values of every `class_weights.counted_every`-th point."""

    @abstractmethod
    def cut(self, values: Any, class_weight: np.ndarray) -> Cut:
        """Return the cut of the map with certain weights of the classes."""

    @abstractmethod
    def decide(self, values: Any, class_weight: np.ndarray, n_steps: int | None) -> Decision | None:
        """Fill unreached points, and find the class of each point; None if it is on files.

        Parameters
        ----------
        values : array or list of handles
        class_weight : ndarray of shape (n_classes,)
        n_steps : int or None
            Only points within so many edges of a label are filled; with None all that can be.
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
        """Return what early stopping goes by.

        Parameters
        ----------
        weightings : sequence of str
            "equal", which comes first, and "balanced".
        is_covered : bool
            Whether the labels cover the graph. The map is then compared with the one two looks
            before; until then there are at most two maps to keep.
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
