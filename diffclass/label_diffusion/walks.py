"""Walks: the diffused labels at one time, for each way in which labels count.

A walk holds one column per class, or per group of labels, and advances in time. `diffusion` decides
what the columns mean, `stopping_time` when to stop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from diffclass.label_diffusion.class_weights import balanced_weights, equal_weights
from diffclass.label_diffusion.cut import cut_of
from diffclass.label_diffusion.far_walk import LONGEST_SERIES, FarWalk, Product
from diffclass.label_diffusion.late_steps import is_late, walk_late
from diffclass.label_diffusion.posteriors import Decision, decide
from diffclass.label_diffusion.stopping_time import curve_times, hop_coverage, sum_end
from diffclass.label_diffusion.walking import Look, PastMaps, walk_straight
from diffclass.operators.markov import MarkovOperator
from diffclass.operators.stopped import StoppedWalk
from diffclass.operators.stops import Stops
from diffclass.operators.warped import WarpedOperator
from diffclass.targets import labels_per_class

# Height of a label's indicator. It is large, so that what arrives after a long way does not
# underflow in single precision, and a power of two, so that rounding stays the same.
HEIGHT = 2.0**64
_FIRST_CHECK = 16
_FEW = 256  # steps that are not worth a series
_CONVERGED = 1e-15  # of the limit: what is left decides nothing
_BlockWalk = Callable[[np.ndarray, int, np.ndarray | None], np.ndarray]


def least_arrived(dtype: np.dtype) -> float:
    """Return the smallest value of a column of `HEIGHT` that counts as arrived.

    Below it floating-point numbers lose digits, in double precision once they are divided by
    `HEIGHT`. A class diffused as a whole and the sum of its strokes would then disagree about which
    points are reached. The points below are filled in at the end; see
    `diffclass.label_diffusion.reach`.
    """
    return 2.0**24 * max(float(np.finfo(dtype).tiny), HEIGHT * float(np.finfo(np.float64).tiny))


def mass_of(operator: MarkovOperator, values: np.ndarray) -> np.ndarray:
    """Return the masses <N_i, pi> of columns, of shape (n_classes,)."""
    # not by BLAS, whose sums depend on the number of threads
    return np.einsum("x,xi->i", operator.stationary_distribution, values)


class Walk:
    """One column per class at one time: N = scale (limits[component] + state).

    Attributes
    ----------
    operator : MarkovOperator
        The operator of n points.
    time : int
        Steps taken so far.
    state : ndarray of shape (n, n_classes)
        The columns without their limits.
    limits : ndarray of float64 of shape (n_components, n_classes)
        The limits that have been subtracted from the columns.
    scale : ndarray of float64 of shape (n_classes,)
        Factor of each class.
    least : float
        Smallest value of a column that counts as arrived.
    goes_by_cut : bool
        Whether the time may be chosen by the cut: free and warped columns always have the same
        mass, and the margin says all.
    """

    goes_by_cut = False

    def __init__(self, operator: MarkovOperator, codes: np.ndarray, n_classes: int):
        self.operator = operator
        self.least = least_arrived(operator.dtype)
        self.time = 0
        self.labelled = np.flatnonzero(codes >= 0)
        self.codes = codes[self.labelled]
        self.state = np.zeros((len(operator), n_classes), dtype=operator.dtype)
        self.limits = np.zeros((operator.n_connected_components, n_classes))
        self.scale = np.ones(n_classes)
        self._checkpoints: dict[str, Any] = {}
        self._past_maps: PastMaps[np.ndarray] = PastMaps()

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self.operator)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.scale)

    def advance(self, time: int) -> None:
        """Walk on to a later time."""
        self._walk_on(time - self.time)
        self.time = time

    def advance_map(self, tau: int) -> None:
        """Walk on to the time at which the map of tau is formed."""
        walk_straight(self, tau)

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
        return hop_coverage(self._hops_to_cover())

    def mean_margin(self) -> float:
        """Return the mean margin over the points, with equal weights of the classes."""
        return float(self.decision(equal_weights(self.n_classes)).margin.mean())

    def look(self, weightings: Sequence[str], *, is_covered: bool) -> Look:
        """Return what the walk sees; see `diffclass.label_diffusion.walking.Look`."""
        margin, cut, changed = {}, {}, 1.0
        for weighting in weightings:
            decision = self.decision(self._weights(weighting))
            margin[weighting] = float(decision.margin.mean())
            cut[weighting] = cut_of(self.operator, decision.codes, self.n_classes)
            if weighting == "equal":
                before = self._past_maps.add(decision.codes, is_covered=is_covered)
                changed = 1.0 if before is None else float(np.mean(decision.codes != before))
        return Look(margin, cut, changed)

    def _weights(self, weighting: str) -> np.ndarray:
        if weighting == "equal":
            return equal_weights(self.n_classes)
        return balanced_weights(mass_of(self.operator, self.state))

    def _hops_to_cover(self) -> np.ndarray:
        """Count the edges from each point to the labels; (n, n_groups), -1 if unreachable."""
        return self._hops(self.codes)

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
        groups = np.full(len(self.operator), -1)
        groups[self.labelled] = group_of_label
        return self.operator.hops(groups)

    def _walk_on(self, n_steps: int) -> None:
        raise NotImplementedError


class FreeColumns:
    """Diffused indicators of groups of labels: A^t chi_g, and on request their sum over t.

    Each column starts as HEIGHT times its indicator. Its limit on a component C is
    <chi_g, pi>_C / pi(C). While a column is young, it is kept whole and advances by single steps. A
    column turns late once it is at least half its limit at every point. The limit is then
    subtracted, so that single precision holds the differences between points, and the Chebyshev
    series replaces single steps, because no value is small compared with the others any more.
    (Earlier, the column minus its limit would be mostly rounding where little has arrived, and the
    error of a series would hide small values.)

    A column that is its limit to the last digit takes no more steps. More than 4,096 steps at once,
    and all after them, are taken in double precision; see `diffclass.label_diffusion.far_walk`.

    With ``independent``, each column turns late by itself. It then takes the same steps alone and
    together with others, so its bits do not depend on them. Otherwise the columns wait until all
    can turn late, which saves passes over the graph.

    Parameters
    ----------
    operator : MarkovOperator
        The walk on n points.
    points : ndarray of int of shape (m,)
        The labelled points of all groups, each point once per group.
    group : ndarray of int of shape (m,)
        Group of each label, 0 to n_groups - 1.
    n_groups : int
    label_weight : ndarray of shape (m,), optional
        0 to 1; 1 by default.
    summed : bool, default=False
        Whether to keep the sum over the walk, start included.
    independent : bool, default=False
        Whether each column turns late by itself.

    Attributes
    ----------
    time : int
        Steps taken so far.
    state, limits : ndarray of shape (n, n_groups) and (n_components, n_groups)
        A^t chi_g = limits[component] + state.
    visits, visit_limits : ndarray of float64 of the same shapes, or None
        The same for the sum over the walk.
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
        is_far = n_steps > LONGEST_SERIES
        if is_far:
            self._walker = self._walker.in_double_precision()
            self.state = self.state.astype(np.float64, copy=False)
        young = walking & ~self._is_late
        self._walk_block(n_steps, walking & self._is_late, self._late)
        if is_far and self._independent:
            for g in np.flatnonzero(young).tolist():
                self._walk_block(n_steps, np.arange(len(young)) == g, self._young_and_far([g]))
        elif is_far and young.any():
            self._walk_block(n_steps, young, self._young_and_far(np.flatnonzero(young).tolist()))
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

    def _young_and_far(self, which: Iterable[int]) -> _BlockWalk:
        hops = np.column_stack([self._hops_to(g) for g in which])
        return FarWalk(self._walker.backward, hops).free

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
        """Find the columns of which nothing is left beside the limit, and take out the rest."""
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

    def __init__(
        self,
        operator: MarkovOperator,
        codes: np.ndarray,
        label_weight: np.ndarray,
        n_classes: int,
    ):
        super().__init__(operator, codes, n_classes)
        weight = label_weight[self.labelled]
        pi = operator.stationary_distribution[self.labelled]
        self.scale = 1 / (HEIGHT * np.bincount(self.codes, weight * pi, n_classes))
        self._columns = FreeColumns(
            operator,
            self.labelled,
            self.codes,
            n_classes,
            label_weight=weight,
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
        columns, end = self._columns, sum_end(tau, labels_per_class(self.codes))
        if columns.time > end:
            columns.start()
        columns.advance_along_curve(end)
        self.time, (self.state, self.limits) = end, columns.visited


class _Stopping(Walk):
    """Walks that stop at a label, with the label's weight as probability."""

    def _hops_to_cover(self) -> np.ndarray:
        """Count the edges to the nearest label of any class, since labels shield one another."""
        return self._hops(0)

    def _stop_at_labels(self, label_weight: np.ndarray, heights: ArrayLike = 1) -> None:
        """Set the labels; heights are the values of the state at points of a certain class."""
        self._stops = Stops.at(
            self.labelled,
            self.codes,
            label_weight,
            n_classes=self.state.shape[1],
            dtype=self.state.dtype,
            heights=heights,
        )
        self._stops.start(self.state)

    def _is_far(self, n_steps: int) -> bool:
        """Whether to take steps by a `FarWalk`, which ends where nothing changes any more."""
        return self.time + n_steps > LONGEST_SERIES and n_steps > _FEW

    def _walk_far(self, product: Product, n_steps: int) -> None:
        """Take many steps of a walk in double precision."""
        stopped = np.zeros(self.state.shape)
        self._stops.start(stopped)
        walk = FarWalk(self._killed(product), self._hops(self.codes))
        self.state = walk.absorbing(self.state.astype(np.float64), stopped, n_steps)

    def _killed(self, product: Product) -> Product:
        """Return the product of the walk that ends at the labels: what arrives there is lost."""

        def killed(f: np.ndarray, out: np.ndarray) -> None:
            product(f, out)
            self._stops.end_walks(out)

        return killed


class AbsorbingWalk(_Stopping):
    """The walk stops at a label."""

    goes_by_cut = True

    def __init__(
        self, operator: MarkovOperator, codes: np.ndarray, label_weight: np.ndarray, n_classes: int
    ):
        super().__init__(operator, codes, n_classes)
        self.scale /= HEIGHT
        self._stop_at_labels(label_weight[self.labelled], HEIGHT)
        self._stopped = StoppedWalk(operator, self._stops)
        self._spare = self.state[:0]  # where the next step is written, once it has the same shape

    def _walk_on(self, n_steps: int) -> None:
        if is_late(self, n_steps):
            walk_late(self, n_steps, self.state.dtype)
        elif self._is_far(n_steps):
            self._walk_far(self.operator.in_double_precision().backward, n_steps)
        else:
            self._take_steps(n_steps)

    def _take_steps(self, n_steps: int) -> None:
        state = np.ascontiguousarray(self.state, dtype=self.operator.dtype)
        if self._spare.shape != state.shape or self._spare.dtype != state.dtype:
            self._spare = np.empty_like(state)
        self.state, self._spare = self._stopped.steps(state, self._spare, n_steps)

    def least_stopped(self) -> float:
        """Return the least probability of having stopped, where the walk can stop."""
        arrived = self.state.sum(axis=1)
        components = self.operator.components
        can_stop = np.isin(components, components[self.labelled])
        return float(arrived[can_stop].min()) / HEIGHT

    def step_and_change(self) -> float:
        """Take a step, keep its change, and return the largest change of a probability."""
        before = self.state.copy()
        self._take_steps(1)
        self._change = self.state - before
        return float(np.abs(self._change).max()) / HEIGHT

    def add_series(self, coefficients: np.ndarray) -> None:
        """Add a Chebyshev series of the walk that ends at the labels, applied to the change."""
        self.state += self._stopped.series(self._change, coefficients)
        np.maximum(self.state, 0, out=self.state)


class WarpedFreeWalk(Walk):
    """Each class walks by its own operator A_i. The state is h_i = s_i f_i."""

    def __init__(self, warped: WarpedOperator, codes: np.ndarray, label_weight: np.ndarray):
        super().__init__(warped.operator, codes, warped.scores.shape[1])
        self.warped = warped
        self._start(label_weight[self.labelled])

    def values(self) -> np.ndarray:
        """N_i, between forward and backward values; see `diffclass.operators.warped`."""
        values = self.warped.read(self.state).astype(np.float64)
        values[values < self.least] = 0
        return values

    def decision(self, class_weight: np.ndarray) -> Decision:
        """Return the class of each point at the present time, -1 where nothing has arrived."""
        return decide(self.warped.read(self.state), class_weight)

    def _start(self, label_weight: np.ndarray) -> None:
        """Start with mass 1 of each class on its labels, in proportion to its walk's measure."""
        scores = self.warped.scores[self.labelled, self.codes]
        smoothed = self.warped.smoothed_scores[self.labelled, self.codes]
        total = self.warped.degrees.sum(axis=0, dtype=np.float64)
        share = np.bincount(self.codes, label_weight * scores * smoothed, len(total))
        height = label_weight * (total / share)[self.codes]
        self.state[self.labelled, self.codes] = (height * scores).astype(self.state.dtype)

    def _walk_on(self, n_steps: int) -> None:
        if n_steps > LONGEST_SERIES:
            self._walk_far(self.warped.in_double_precision().product, n_steps)
        else:
            self.state = self.warped.advance(self.state, n_steps)

    def _walk_far(self, product: Product, n_steps: int) -> None:
        walk = FarWalk(product, self._hops(self.codes))
        self.state = walk.free(self.state.astype(np.float64), n_steps)


class WarpedAbsorbingWalk(WarpedFreeWalk, _Stopping):
    """Each class walks by its own operator and stops at a label."""

    def _start(self, label_weight: np.ndarray) -> None:
        self._stop_at_labels(label_weight, self.warped.scores[self.labelled, self.codes])

    def _walk_on(self, n_steps: int) -> None:
        if self._is_far(n_steps):
            product = self.warped.in_double_precision().product
            _Stopping._walk_far(self, product, n_steps)
            return
        for _ in range(n_steps):
            super()._walk_on(1)
            self._stops.set_again(self.state)
