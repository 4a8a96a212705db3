"""The diffused labels at one time: what the walks in arrays have in common.

There is one file for each way in which labels count: `absorbing_walk`, `free_walk`, `warped_walk`.
`long_walk` takes many steps at once.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from diffclass.label_diffusion.label_walk import LabelWalk, MapSums, hop_coverage
from diffclass.label_diffusion.labels import Labels
from diffclass.label_diffusion.maps import (
    Decision,
    class_sums,
    counted_every,
    crossing_of_sums,
    decide,
    equal_weights,
)
from diffclass.label_diffusion.reach import Reach
from diffclass.operators.absorbing import AbsorbingLabels, AbsorbingSteps
from diffclass.operators.markov import MarkovOperator

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


def counted_points(operator: MarkovOperator) -> np.ndarray:
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
        super().__init__()
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

    def advance(self, time: int) -> None:
        """Walk on to a later time."""
        self._walk_on(time - self.time)
        self.time = time

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
        """Return, for t = 0, 1, ..., the share of what labels can reach within t hops."""
        return hop_coverage(self._hops_to_cover(), self.operator.mass)

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

    def _hops_to_cover(self) -> np.ndarray:
        """Count the edges from each point to the labels; (n, n_groups), -1 if unreachable."""
        return self._hops(self.labels.codes)

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
        points = self.labels.points
        of_label = np.broadcast_to(np.asarray(group_of_label), points.shape)
        rank = np.arange(len(points)) - np.searchsorted(points, points)  # of the labels of a point
        hops = self._hops_from(points[rank == 0], of_label[rank == 0], of_label.max())
        for r in range(1, rank.max() + 1):
            more = self._hops_from(points[rank == r], of_label[rank == r], of_label.max())
            hops = np.where((more >= 0) & ((hops < 0) | (more < hops)), more, hops)
        return hops

    def _hops_from(self, points: np.ndarray, of_point: np.ndarray, last: int) -> np.ndarray:
        groups = np.full(len(self.operator), -1)
        groups[points] = of_point
        hops = self.operator.hops(groups)
        missing = last + 1 - hops.shape[1]
        return np.pad(hops, ((0, 0), (0, missing)), constant_values=-1) if missing else hops

    def _walk_on(self, n_steps: int) -> None:
        raise NotImplementedError
