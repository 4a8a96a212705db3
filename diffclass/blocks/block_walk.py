"""Absorbing labels walk on blocks: a `LabelWalk` whose columns lie on an engine.

Its steps are tasks of their own and not those of `diffclass.label_diffusion.walk`:
several are taken on ever fewer rows of a halo before blocks hear of each other again. States stay
where their blocks are; borders travel, and sums. From time to time the state is kept, and from
there the walk goes on if work is lost.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from operator import add
from typing import TypeVar

import numpy as np

from diffclass.blocks import block_tasks
from diffclass.blocks.block_graph import BlockGraph, Handles, rest_of
from diffclass.blocks.engine import Engine, retry
from diffclass.blocks.halo import save_labels
from diffclass.blocks.label_distance import LabelDistance, fill_unreached
from diffclass.blocks.operator import BlockOperator
from diffclass.label_diffusion import Labels
from diffclass.label_diffusion.maps import counted_every, crossing_of_sums, equal_weights
from diffclass.label_diffusion.walk import (
    HEIGHT,
    LabelWalk,
    MapSums,
    is_late,
    least_arrived,
    values_of,
    walk_by_series,
)

_STEPS_AT_RISK = 8  # a state older than that is kept at the next look
_Found = TypeVar("_Found")


@dataclass(frozen=True, eq=False)
class _Kept:
    """Arrays that no loss of a worker reaches."""

    time: int
    name: str
    get: Callable[[], Handles]


class BlockWalk(LabelWalk[_Kept]):
    """Absorbing labels at one time, in columns on an engine: `HEIGHT` times the probabilities.

    Labels are numbered by place. ``name`` is the folder in scratch for labels, states and values.
    Blocks exchange their borders every ``depth`` steps, by default as seldom as costs little.
    """

    goes_by_cut = True

    def __init__(
        self,
        operator: BlockOperator,
        labels: Labels,
        engine: Engine,
        *,
        name: str,
        depth: int | None = None,
    ):
        save_labels(operator.scratch, name, labels)
        self.graph, self.time = BlockGraph(operator, engine, name=name, depth=depth), 0
        self.labels, self.dtype = labels, operator.dtype
        self.n_points, self.n_classes = operator.n_points, labels.n_classes
        self._row_bytes = self.n_classes * self.dtype.itemsize
        self._last: _Kept | None = None
        self._checkpoints: dict[str, _Kept] = {}
        self._files: list[str] = []
        self.retry(self._start)

    def _start(self) -> None:
        self.label_distance = LabelDistance(self.graph, weighted=False)
        self._volume = float(self.graph.total(self.graph.each(block_tasks.volume)))
        self.state, self._at, self._route = self.graph.each(block_tasks.labels_at_start), 0, [0]
        self._keep_state()

    def advance(self, time: int) -> None:
        """Walk on to a later time."""
        # The route has every time at which the walk stops: going the same way again after a loss
        # takes the same steps and series, and leads to the same bits.
        self._route.append(time)
        self.time = time
        self.retry(self._catch_up)

    def coverage(self) -> np.ndarray:
        """Return, for t = 0, 1, ..., the share of what labels can reach within t hops."""
        return self.retry(self.label_distance.coverage)

    def mean_margin(self) -> float:
        """Return the mean margin over the points, with equal weights of the classes."""
        weights = equal_weights(self.n_classes)[None]

        def margin() -> float:
            maps = self._maps(self.state, weights / HEIGHT)
            return float(self.graph.total(self.graph.apply(rest_of, maps))[0]) / self.n_points

        return self.retry(margin)

    def mass(self) -> np.ndarray:
        """Return the masses <N_i, pi> of the columns, up to a common factor; (n_classes,)."""
        return self.retry(lambda: self.mass_of(self.state))

    def mass_of(self, values: Handles) -> np.ndarray:
        """Return the masses <N_i, pi> of some values, of shape (n_classes,)."""
        return self.graph.total(self.graph.each(block_tasks.mass, values)) / self._volume

    def map_sums(self, weights: np.ndarray, before: _Kept | None) -> tuple[MapSums, _Kept]:
        """Return the sums of the maps with some weights of the classes, and the first of the maps.

        The files of the earlier map are removed.
        """

        def work() -> tuple[MapSums, _Kept]:
            # the state is HEIGHT times N_i
            maps = self._maps(self.state, weights / HEIGHT)
            sums = self._map_sums(maps, None if before is None else before.get())
            name = f"map{self.time}"
            firsts = self.graph.apply(block_tasks.first_map, maps)
            return sums, _Kept(self.time, name, self.graph.keep(firsts, name))

        found = self.retry(work)
        if before is not None:
            self.graph.drop(before.name)
        return found

    def counted(self, values: Handles) -> np.ndarray:
        """Return the values of every `counted_every`-th point."""
        return self.graph.rows_at(values, self._counted_places)

    @property
    def counted_mass(self) -> np.ndarray | None:
        """The number of equal points at each counted one; None where all are 1."""
        return self.graph.operator.mass_at(self._counted_places)

    @property
    def _counted_places(self) -> np.ndarray:
        n = len(self.graph.operator)
        return np.arange(0, n, counted_every(n))

    def map_of(self, values: Handles, class_weight: np.ndarray) -> Handles:
        """Return the map with certain weights of the classes."""
        return self._maps(values, class_weight[None])

    def spread(self, codes: Handles, n_steps: int) -> Handles:
        """Return a map diffused some steps, with labels that absorb the walk."""
        depth, least = self.graph.depth, least_arrived(self.dtype)
        columns = self.graph.each(block_tasks.labels_and_map, codes)
        with self.graph.rounds("diffusion: sizes", n_steps) as round_begun:
            for taken in range(0, n_steps, depth):
                columns = self._walked(columns, min(depth, n_steps - taken))
                round_begun(columns)
        return [self.graph.submit(values_of, own, 1 / HEIGHT, least) for own in columns]

    def crossing(self, codes: Handles) -> float:
        """Return the share of the walk's steps that leave their class in a map."""
        return crossing_of_sums(self._map_sums(codes, None).classes[0])

    def values(self) -> Handles:
        """N_i, at least 0, in double precision."""
        least, scratch = least_arrived(self.dtype), self.graph.operator.scratch
        self.graph.gather(
            [
                self.graph.submit(block_tasks.save_values, state, 1 / HEIGHT, least, scratch, file)
                for state, file in zip(self.state, self.graph.files("values"), strict=True)
            ]
        )
        return self.graph.kept("values")()

    def decide(self, values: Handles, class_weight: np.ndarray, n_steps: int | None) -> None:
        """Fill unreached points, and write the map of each block."""
        graph, distance = self.graph, self.label_distance
        if not self.labels.counted.all():
            distance = LabelDistance(graph, weighted=True)
        values = fill_unreached(
            graph, values, distance.get(), n_steps=n_steps, n_classes=self.n_classes
        )
        self.save_map(values, class_weight)
        graph.drop("values")

    def save_map(self, values: Handles, class_weight: np.ndarray) -> None:
        """Write the map of each block."""
        graph = self.graph
        places = [(graph.operator, graph.name, b) for b in range(graph.operator.n_blocks)]
        weights = [class_weight] * len(places)
        graph.gather(graph.apply(block_tasks.save_map, values, places, weights))

    def _maps(self, values: Handles, weights: np.ndarray) -> Handles:
        return self.graph.each(block_tasks.maps, values, values=(weights,))

    def _map_sums(self, maps: Handles, before: Handles | None) -> MapSums:
        none = [None] * len(maps)
        sums = self.graph.exchanged(
            block_tasks.map_sums,
            maps,
            none if before is None else before,
            values=(self.n_classes,),
            row_bytes=4,
        )
        return functools.reduce(add, self.graph.gather(sums))

    def checkpoint(self, *names: str) -> None:
        """Save the present state under some names, instead of those saved before."""
        if names:
            self._checkpoints.update(dict.fromkeys(names, self.retry(self._keep_state)))
            self._drop_old()

    def restore(self, name: str) -> int:
        """Go back to a checkpoint, drop all and return its time, tau."""
        self._stand_at(self._checkpoints[name])
        self.time, self._checkpoints = self._at, {}
        self._drop_old()
        return self.time

    def retry(self, work: Callable[[], _Found]) -> _Found:
        """Do some work on the present state; where it is lost, go back to the last kept one."""
        return retry(work, self._go_back)

    def _go_back(self) -> None:
        self.graph.load()
        if self._last is not None:
            # back to the last state that is on disk, then forward along the route that was taken
            route = self._route
            self._stand_at(self._last)
            self._route = route
            self._catch_up()

    def _stand_at(self, kept: _Kept) -> None:
        self._last, self._route = kept, [kept.time]
        self.state, self._at = kept.get(), kept.time

    def _catch_up(self) -> None:
        """Walk along the route: its times decide where series are taken."""
        for time in self._route:
            if time > self._at:
                self._walk_on(time - self._at)
                self._at = time
        if self._last is None or self._at - self._last.time >= _STEPS_AT_RISK:
            self._keep_state()

    def _keep_state(self) -> _Kept:
        if self._last is not None and self._last.time == self._at:
            return self._last
        name = f"state{self._at}"
        kept = _Kept(self._at, name, self.graph.keep(self.state, name))
        self._stand_at(kept)
        self._files.append(name)
        self._drop_old()
        return kept

    def _drop_old(self) -> None:
        """Remove the states to which the walk does not go back any more."""
        # a state is needed as the last one, or as a checkpoint
        alive = {kept.name for kept in (self._last, *self._checkpoints.values()) if kept}
        for name in self._files:
            if name not in alive:
                self.graph.drop(name)
        self._files = [name for name in self._files if name in alive]

    def _walk_on(self, n_steps: int) -> None:
        self.by_series = is_late(self, n_steps)
        if self.by_series:
            walk_by_series(self, n_steps, self.dtype)
            return
        depth = self.graph.depth
        with self.graph.rounds("diffusion: steps", n_steps) as round_begun:
            # as many steps as the halo is deep, then an exchange
            for taken in range(0, n_steps, depth):
                self.state = self._walked(self.state, min(depth, n_steps - taken))
                round_begun(self.state)

    def _walked(self, state: Handles, n_steps: int) -> Handles:
        return self.graph.exchanged(
            block_tasks.walked, state, values=(n_steps,), row_bytes=self._row_bytes
        )

    def least_stopped(self) -> float:
        """Return the least probability of having stopped, where the walk can stop."""
        least = self.graph.apply(block_tasks.least_stopped, self.state, self.label_distance.get())
        return min(self.graph.gather(least))

    def step_and_change(self) -> float:
        """Take a step, keep its change, and return the largest change of a probability."""
        before = self.state
        self.state = self._walked(before, 1)
        self._change = self.graph.apply(block_tasks.difference, self.state, before)
        return max(self.graph.gather(self.graph.apply(block_tasks.largest, self._change)))

    def add_series(self, coefficients: np.ndarray) -> None:
        """Add a Chebyshev series of the walk that ends at the labels, applied to the change."""
        first, rest = float(coefficients[0]), coefficients[1:]
        series = self.graph.apply(block_tasks.series_begun, self._change, [first] * len(self.state))
        depth = self.graph.depth
        with self.graph.rounds("diffusion: series", len(rest)) as round_begun:
            for k in range(0, len(rest), depth):
                series = self.graph.exchanged(
                    block_tasks.series_continued,
                    series,
                    values=(rest[k : k + depth],),
                    row_bytes=(1 + (k > 0)) * self._row_bytes,
                )
                round_begun(series)
        self.state = self.graph.apply(block_tasks.series_added, self.state, series)
        del self._change
