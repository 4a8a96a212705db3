"""Absorbing labels: the walk stops at a label, with the label's weight as probability."""

from __future__ import annotations

import numpy as np

from diffclass.label_diffusion.labels import Labels
from diffclass.label_diffusion.long_walk import LongWalk, Product, is_late, is_long, walk_by_series
from diffclass.label_diffusion.walk import HEIGHT, Walk
from diffclass.operators.absorbing import AbsorbingLabels, AbsorbingSteps
from diffclass.operators.markov import MarkovOperator

_FEW = 256  # steps that are not worth a `LongWalk`


class AbsorbingWalk(Walk):
    """The walk stops at a label."""

    goes_by_cut = True

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

    def _hops_to_cover(self) -> np.ndarray:
        """Count the edges to the nearest label of any class, since labels shield one another."""
        return self._hops(0)

    def _walk_on(self, n_steps: int) -> None:
        if is_late(self, n_steps):
            walk_by_series(self, n_steps, self.state.dtype)
        elif takes_long_walk(self.time, n_steps):
            product = self.operator.in_double_precision().backward
            self.state = long_steps(
                self.state, n_steps, product, self._stops, self._hops(self.labels.codes)
            )
        else:
            self._take_steps(n_steps)

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
    return is_long(time + n_steps) and n_steps > _FEW


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
