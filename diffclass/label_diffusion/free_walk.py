"""Free labels, which diffuse away from where they are, and free labels summed over the walk."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from diffclass.label_diffusion import long_walk
from diffclass.label_diffusion.labels import Labels
from diffclass.label_diffusion.long_walk import LongWalk
from diffclass.label_diffusion.walk import HEIGHT, Walk, curve_times, mass_of_nodes
from diffclass.operators.markov import MarkovOperator
from diffclass.targets import labels_per_class

_FIRST_CHECK = 16
_CONVERGED = 1e-15  # of the limit: what is left decides nothing
_BlockWalk = Callable[[np.ndarray, int, np.ndarray | None], np.ndarray]


class FreeColumns:
    """Diffused indicators of groups of labels: A^t chi_g, and on request their sum over t.

    Each column starts as HEIGHT times its indicator. Its limit on a component C is <chi_g, pi>_C /
    pi(C). While a column is young, it is kept whole and advances by single steps. A column turns
    late once it is at least half its limit at every point. The limit is then subtracted, so that
    single precision holds the differences between points, and the Chebyshev series replaces single
    steps, because no value is small compared with the others any more. (Earlier, the column minus
    its limit would be mostly rounding where little has arrived, and the error of a series would
    hide small values.)

    A column that is its limit to the last digit takes no more steps. More than 4,096 steps at once,
    and all after them, are taken in double precision; see `long_walk`.

    With ``independent``, each column turns late by itself. It then takes the same steps alone and
    together with others, so its bits do not depend on them. Otherwise the columns wait until all
    can turn late, which saves passes over the graph.

    ``points`` (m,) are the labelled points of all groups, each once per group, ``group`` (m,) the
    group of each label, ``label_weight`` (m,) 0 to 1. A^t chi_g is limits[component] + state; with
    ``summed`` the sum over the walk, start included, is visit_limits[component] + visits, in double
    precision.
    """

    def __init__(
        self,
        operator: MarkovOperator,
        points: np.ndarray,
        group: np.ndarray,
        n_groups: int,
        *,
        label_weight: np.ndarray | None = None,
        summed: bool = False,
        independent: bool = False,
    ):
        self.operator = operator
        self._points, self._group = points, group
        self._heights = HEIGHT * (np.ones(len(points)) if label_weight is None else label_weight)
        pi, components = operator.stationary_distribution, operator.components
        self._component_mass = np.bincount(components, pi)
        self._all_limits = np.zeros((len(self._component_mass), n_groups))
        np.add.at(self._all_limits, (components[points], group), self._heights * pi[points])
        self._all_limits /= self._component_mass[:, None]
        self._pi, self._summed, self._independent = pi, summed, independent
        self.start()

    def start(self) -> None:
        """Go back to time 0."""
        shape = len(self.operator), self._all_limits.shape[1]
        self.time = 0
        self._walker = self.operator
        self.state = np.zeros(shape, dtype=self.operator.dtype)
        self.state[self._points, self._group] = self._heights
        self.limits = np.zeros_like(self._all_limits)
        self.visits = self.state.astype(np.float64) if self._summed else None
        self.visit_limits = np.zeros_like(self._all_limits) if self._summed else None
        self._is_late = np.zeros(shape[1], dtype=bool)
        self._is_limit = np.zeros(shape[1], dtype=bool)

    def advance(self, time: int) -> None:
        """Walk on to a later time."""
        self._walk_on(time - self.time, np.ones(len(self._is_late), dtype=bool))
        self.time = time
        if time >= _FIRST_CHECK:
            self._take_limits_out()

    def advance_along_curve(self, time: int) -> None:
        """Walk on to a later time.

        Columns stop at the times of the margin curve, where young ones may turn late. Over the
        last octave late ones go on in one series; a longer one would lose what decays meanwhile.
        """
        walking = np.ones(len(self._is_late), dtype=bool)
        for stop in curve_times(time).tolist():
            if stop <= self.time or (stop < _FIRST_CHECK and stop != time):
                continue
            if time <= 2 * self.time:
                late = walking & self._is_late
                self._walk_on(time - self.time, late)
                walking &= ~late
            self._walk_on(stop - self.time, walking)
            self.time = stop
            if stop >= _FIRST_CHECK:
                self._take_limits_out()
        self.time = time

    @property
    def visited(self) -> tuple[np.ndarray, np.ndarray]:
        """Columns and limits of the sum; only if the sum is kept."""
        assert self.visits is not None
        assert self.visit_limits is not None
        return self.visits, self.visit_limits

    def _walk_on(self, n_steps: int, which: np.ndarray) -> None:
        if self.visit_limits is not None:
            self.visit_limits[:, which] += n_steps * self.limits[:, which]
        walking = which & ~self._is_limit
        if n_steps <= 0 or not walking.any():
            return
        far = n_steps > long_walk.LONGEST_SERIES
        if far:
            self._walker = self._walker.in_double_precision()
            self.state = self.state.astype(np.float64, copy=False)
        young = walking & ~self._is_late
        self._walk_block(n_steps, walking & self._is_late, self._late)
        if far and self._independent:
            for g in np.flatnonzero(young).tolist():
                self._walk_block(n_steps, np.arange(len(young)) == g, self._young_and_long([g]))
        elif far and young.any():
            self._walk_block(n_steps, young, self._young_and_long(np.flatnonzero(young).tolist()))
        else:
            self._walk_block(n_steps, young, self._young)

    def _walk_block(self, n_steps: int, which: np.ndarray, walk: _BlockWalk) -> None:
        if which.all():
            self.state = walk(self.state, n_steps, self.visits)
        elif which.any():
            visits = None if self.visits is None else self.visits[:, which].copy()
            block = np.ascontiguousarray(self.state[:, which])
            self.state[:, which] = walk(block, n_steps, visits)
            if self.visits is not None:
                self.visits[:, which] = visits

    def _young_and_long(self, which: Iterable[int]) -> _BlockWalk:
        hops = np.column_stack([self._hops_to(g) for g in which])
        return LongWalk(self._walker.backward, hops).free

    def _hops_to(self, g: int) -> np.ndarray:
        groups = np.full(len(self._walker), -1)
        groups[self._points[(self._group == g) & (self._heights > 0)]] = 0
        return self._walker.hops(groups)[:, 0]

    def _young(self, block: np.ndarray, n_steps: int, visits: np.ndarray | None) -> np.ndarray:
        if visits is None:
            return self._walker.apply(block, n_steps, tolerance=0)
        return self._walker.add_visits(visits, block, n_steps, tolerance=0)

    def _late(self, block: np.ndarray, n_steps: int, visits: np.ndarray | None) -> np.ndarray:
        if visits is None:
            block = self._walker.apply(block, n_steps)
        else:
            more, block = self._walker.expected_visits(block, n_steps)
            self._subtract_means(more, range(more.shape[1]))
            visits += more
        self._subtract_means(block, range(block.shape[1]))
        return block

    def _take_limits_out(self) -> None:
        turning = self._turning_late()
        for g in turning:
            limit = self._all_limits[:, g].astype(self.state.dtype)
            self.state[:, g] -= limit[self.operator.components]
            self.limits[:, g] = self._all_limits[:, g]
            self._is_late[g] = True
        self._subtract_means(self.state, turning)
        self._find_limits()

    def _find_limits(self) -> None:
        """Find the columns that are their limits to the last digit; set the rest to 0."""
        most = np.zeros_like(self.limits)
        for g in np.flatnonzero(self._is_late & ~self._is_limit):
            np.maximum.at(most[:, g], self.operator.components, np.abs(self.state[:, g]))
            self._is_limit[g] = (most[:, g] <= _CONVERGED * self.limits[:, g]).all()
            if self._is_limit[g]:
                self.state[:, g] = 0

    def _turning_late(self) -> list[int]:
        """Return the young columns that are at least half their limit at every point.

        If columns are not independent, it returns all young columns or none.
        """
        young = ~self._is_late
        may_be = young & self._may_be_late()
        if not self._independent and not may_be[young].all():
            return []
        turning = [g for g in np.flatnonzero(may_be).tolist() if self._has_half(g)]
        return turning if self._independent or len(turning) == young.sum() else []

    def _has_half(self, g: int) -> bool:
        half = self._all_limits[:, g].astype(self.state.dtype) / 2
        return bool((self.state[:, g] >= half[self.operator.components]).all())

    def _may_be_late(self) -> np.ndarray:
        """Check a sample of points: a young column is below half its limit at many of them."""
        some = np.arange(0, len(self.state), 1 + len(self.state) // 512)
        half = self._all_limits[self.operator.components[some]] / 2
        arrived = self.state[some] >= half.astype(self.state.dtype)
        return np.logical_and.reduce(arrived, axis=0) & self._all_limits.any(axis=0)

    def _subtract_means(self, columns: np.ndarray, which: Iterable[int]) -> None:
        """Subtract from some columns, in place, their mean on each component, which is rounding."""
        components = self.operator.components
        for g in which:
            column = columns[:, g]
            mean = np.bincount(components, self._pi * column) / self._component_mass
            column -= mean[components].astype(column.dtype)


class FreeWalk(Walk):
    """The columns A^t chi_i, scaled so that <chi_i, pi> = 1."""

    def __init__(self, operator: MarkovOperator, labels: Labels):
        super().__init__(operator, labels)
        measure = self._measure()[labels.points]
        mass = np.bincount(labels.codes, labels.weight * measure, labels.n_classes)
        self.scale = 1 / (HEIGHT * mass)
        self._columns = FreeColumns(
            operator,
            labels.points,
            labels.codes,
            labels.n_classes,
            label_weight=labels.weight,
            summed=self._is_summed,
        )
        self._look()

    _is_summed = False

    def advance(self, time: int) -> None:
        """Walk on to a later time."""
        self._columns.advance(time)
        self._look()

    def _look(self) -> None:
        columns = self._columns
        self.time, self.state, self.limits = columns.time, columns.state, columns.limits

    def _measure(self) -> np.ndarray:
        """Return the measure by which each chi_i has mass 1; (n,)."""
        return self.operator.stationary_distribution


class CountedWalk(FreeWalk):
    """The columns A^t chi_i, scaled so that chi_i sums to 1 over the points, its L1 norm."""

    def _measure(self) -> np.ndarray:
        return mass_of_nodes(self.operator)


def sum_end(tau: int, n_labels: float) -> int:
    """Return the step at which the sum ends: 3 tau, or 6 tau with one label per class.

    A single label has to reach all clusters of its class, which takes time. With more labels, late
    steps blur what the early ones found (experiments/few_labels/tau.py).
    """
    return tau * (6 if n_labels == 1 else 3)


class SummedWalk(FreeWalk):
    """The sum over the walk. The curve is that of A^t chi_i; `restore` then gives the sum."""

    _is_summed = True

    def checkpoint(self, *names: str) -> None:
        """Save the present time under some names, instead of those saved before."""
        self._checkpoints.update(dict.fromkeys(names, self.time))

    def restore(self, name: str) -> int:
        """Walk to the end of a checkpoint's sum and hold the sum from then on; return tau."""
        tau = self._checkpoints[name]
        self.advance_map(tau)
        return tau

    def advance_map(self, tau: int) -> None:
        """Walk to the end of the sum, from the start if it is past, and hold the sum."""
        columns, end = self._columns, sum_end(tau, labels_per_class(self.labels.codes))
        if columns.time > end:
            columns.start()
        columns.advance_along_curve(end)
        self.time, (self.state, self.limits) = end, columns.visited
