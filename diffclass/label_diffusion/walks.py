"""Labels on their way over the graph: what is where at one time, under each boundary condition.

A walk holds one column N_i a class and advances in time. What the columns mean, and when to stop,
is `diffclass.label_diffusion`'s.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from diffclass import _compiled
from diffclass._validation import check_choice
from diffclass.label_diffusion.stopping_time import curve_times
from diffclass.operators.markov import MarkovOperator
from diffclass.operators.warped import WarpedOperator
from diffclass.targets import labels_per_class

_LONGEST_SERIES = 4096  # steps in one; its coefficients then take 13 MB


def summed_taus(codes: np.ndarray) -> int:
    """Return over how many times tau labels are summed: 3, or 6 with one label a class.

    A single label has to reach all clusters of its class, which takes time; with more the late
    steps lose what the early ones told (experiments/few_labels/tau.py).

    Parameters
    ----------
    codes : ndarray of int
        Class number of each label, or of each point, -1 where unlabelled.

    Returns
    -------
    int
        3 or 6.
    """
    return 6 if labels_per_class(codes) == 1 else 3


class Walk:
    """The diffused columns at one time: N = limits[component] + state."""

    def __init__(self, operator: MarkovOperator, codes: np.ndarray, n_classes: int):
        self.operator = operator
        self.time = 0
        self.state = np.zeros((len(operator), n_classes), dtype=operator.dtype)
        self.labelled = np.flatnonzero(codes >= 0)
        self.codes = codes[self.labelled]
        n_components = operator.n_connected_components
        self.limits = np.zeros((n_components, n_classes))
        self.has_label = np.zeros(n_components, dtype=bool)
        self.has_label[operator.components[self.labelled]] = True

    def advance(self, time: int) -> None:
        """Walk on to a later time."""
        self._walk_on(time - self.time)
        self.time = time
        self._remove_drift()

    def values(self) -> np.ndarray:
        """N_i, at least 0, of shape (n, n_classes), in double precision."""
        values = self.limits[self.operator.components]
        values += self.state
        return np.maximum(values, 0, out=values)

    def class_weight(self, prior: np.ndarray | None) -> np.ndarray:
        """Return w_i, sum 1: even, or what the prior asks for by class-mass normalisation."""
        n_classes = self.state.shape[1]
        if prior is None:
            return np.full(n_classes, 1 / n_classes)
        weight = prior / np.maximum(self._class_mass(), np.finfo(float).tiny)
        return weight / weight.sum()

    def margins(self, prior: np.ndarray | None) -> np.ndarray:
        """Return p_(1) - p_(2) of each point, 0 where nothing has arrived."""
        return self._margins(self.state, prior)

    def hops_to_cover(self) -> np.ndarray:
        """Count the edges that the labels have to cross, of shape (n, n_groups), -1 for never."""
        return self._hops(self.codes)

    def keep(self) -> None:
        """Take note of the present time: so far the one to end at."""
        self._kept = self.time, self.state.copy(), self.limits

    def settle(self) -> int:
        """Go back to the time last kept, tau, and hold what is read off there; return tau."""
        self.time, self.state, self.limits = self._kept
        return self.time

    def _hops(self, group_of_label: Any) -> np.ndarray:
        groups = np.full(len(self.operator), -1)
        groups[self.labelled] = group_of_label
        return self.operator.hops(groups)

    def _margins(self, state: np.ndarray, prior: np.ndarray | None) -> np.ndarray:
        out = np.empty(len(self.operator))
        components, weight = self.operator.components, self.class_weight(prior)
        _compiled.posteriors.margins(state, self.limits, components, weight, out)
        return out

    def _walk_on(self, n_steps: int) -> None:
        for _ in range(n_steps):
            self._step()

    def _step(self) -> None:
        self.state = self.operator @ self.state

    def _remove_drift(self) -> None:
        """Undo what rounding added where the exact value is known."""

    def _class_mass(self) -> np.ndarray:
        return self.operator.stationary_distribution @ self.values()


class FreeWalk(Walk):
    """A^t chi_i, late in the walk kept as its limit (constant on a component) and what decays.

    Early it is kept whole: where little or nothing has arrived yet, the sum of the limit and its
    opposite would be nothing but rounding.
    """

    def __init__(
        self,
        operator: MarkovOperator,
        codes: np.ndarray,
        trust: np.ndarray,
        n_classes: int,
        measure: str,
    ):
        super().__init__(operator, codes, n_classes)
        check_choice(measure, "measure", ("operator", "counting"))
        pi = operator.stationary_distribution
        trust = trust[self.labelled]
        size = trust * pi[self.labelled] if measure == "operator" else trust
        height = trust / np.bincount(self.codes, size, n_classes)[self.codes]
        place = operator.components[self.labelled], self.codes
        self._late_limits = np.zeros_like(self.limits)
        np.add.at(self._late_limits, place, height * pi[self.labelled])
        self._late_limits /= np.bincount(operator.components, pi)[:, None]
        self._height = height.astype(operator.dtype)
        self._start()

    def _start(self) -> None:
        self.time, self._is_late = 0, False
        self.limits = np.zeros_like(self._late_limits)
        self.state[:] = 0
        self.state[self.labelled, self.codes] = self._height

    def _walk_on(self, n_steps: int) -> None:
        if self._is_late:  # nothing is small beside the rest: the series' error does no harm
            self.state = self.operator.apply(self.state, n_steps)
        else:
            super()._walk_on(n_steps)

    def _remove_drift(self) -> None:
        if self.time >= 16 and self._taken_apart():
            self._subtract_means(self.state)

    def _subtract_means(self, columns: np.ndarray) -> None:
        """Subtract from each column its mean on each component, in place."""
        component, pi = self.operator.components, self.operator.stationary_distribution
        mass = np.bincount(component, pi)
        if len(mass) == 1:
            columns -= (pi.astype(columns.dtype) @ columns) / mass.astype(columns.dtype)
            return
        for column in columns.T:
            column -= (np.bincount(component, pi * column) / mass)[component].astype(column.dtype)

    def _taken_apart(self) -> bool:
        """Subtract the limit once every point has half of it, and return whether that is done."""
        if not self._is_late:
            limits = self._late_limits.astype(self.state.dtype)[self.operator.components]
            if (self.state >= limits / 2).all():
                self.limits, self._is_late = self._late_limits, True
                self.state -= limits
        return self._is_late


class SummedWalk(FreeWalk):
    """A^t chi_i, of which is kept how much there was at all times; read off is the sum."""

    def keep(self) -> None:
        """Take note of the present time: so far the one to end at."""
        self._tau = self.time

    def settle(self) -> int:
        """Walk to where the sum ends and hold the sum from there on; return tau."""
        end = summed_taus(self.codes) * self._tau
        if self.time > end:  # the choice of tau looked further ahead than the sum goes
            self._start()
        for time in curve_times(end):
            if time > self.time and not self._is_late:
                self.advance(int(time))
        while self.time < end:
            self.advance(min(end, self.time + _LONGEST_SERIES))
        self.state, self.limits = self._total, self._total_limits
        return self._tau

    def _start(self) -> None:
        super()._start()
        self._total = self.state.copy()
        self._total_limits = np.zeros_like(self.limits)

    def _walk_on(self, n_steps: int) -> None:
        self._total_limits += n_steps * self.limits
        # early in plain steps: where little has arrived, a series' error would hide it
        tolerance = None if self._is_late else 0
        total, self.state = self.operator.expected_visits(self.state, n_steps, tolerance=tolerance)
        if self._is_late:
            self._subtract_means(total)  # each of so many steps adds its rounding
        self._total += total


class _Stopping(Walk):
    """What walks share that stop at a label, with the probability that the label is trusted."""

    def hops_to_cover(self) -> np.ndarray:
        """Count the edges to the nearest label of any class: labels screen one another."""
        return self._hops(0)

    def _stop_at_labels(self, trust: np.ndarray, heights: Any = 1) -> None:
        """Put the labels down, each as high as what the state is there where the class is sure."""
        stops = trust.astype(self.state.dtype)
        self.passing = (1 - stops)[:, None]
        self.stopped = np.zeros((len(self.labelled), self.state.shape[1]), self.state.dtype)
        self.stopped[np.arange(len(self.labelled)), self.codes] = stops * heights
        self.state[self.labelled] = self.stopped

    def _stop_again(self) -> None:
        """Put them back after a step."""
        self.state[self.labelled] = self.stopped + self.passing * self.state[self.labelled]


class AbsorbingWalk(_Stopping):
    """The walk stops at a label."""

    def __init__(
        self, operator: MarkovOperator, codes: np.ndarray, trust: np.ndarray, n_classes: int
    ):
        super().__init__(operator, codes, n_classes)
        self._stop_at_labels(trust[self.labelled])

    def _step(self) -> None:
        super()._step()
        self._stop_again()


class WarpedFreeWalk(Walk):
    """Each class by its own operator A_i; the state is h_i = s_i f_i, read off where asked for."""

    def __init__(self, warped: WarpedOperator, codes: np.ndarray, trust: np.ndarray):
        super().__init__(warped.operator, codes, warped.scores.shape[1])
        self.warped = warped
        self._start(trust[self.labelled])

    def values(self) -> np.ndarray:
        """N_i between the forward and the backward reading; see `diffclass.operators.warped`."""
        return self.warped.read(self.state).astype(np.float64)

    def margins(self, prior: np.ndarray | None) -> np.ndarray:
        """Return p_(1) - p_(2) of each point, 0 where nothing has arrived."""
        return self._margins(self.warped.read(self.state), prior)

    def _start(self, trust: np.ndarray) -> None:
        """Let mass 1 of each class start on its labels, in proportion to the walk's own measure."""
        s = self.warped.scores[self.labelled, self.codes]
        total = self.warped.degrees.sum(axis=0, dtype=np.float64)
        share = np.bincount(
            self.codes,
            trust * s * self.warped.smoothed_scores[self.labelled, self.codes],
            len(total),
        )
        height = trust * (total / share)[self.codes]
        self.state[self.labelled, self.codes] = (height * s).astype(self.state.dtype)

    def _walk_on(self, n_steps: int) -> None:
        self.state = self.warped.advance(self.state, n_steps)


class WarpedAbsorbingWalk(WarpedFreeWalk, _Stopping):
    """The walk of each class by its own operator, which stops at a label."""

    def _start(self, trust: np.ndarray) -> None:
        self._stop_at_labels(trust, self.warped.scores[self.labelled, self.codes])

    def _walk_on(self, n_steps: int) -> None:
        for _ in range(n_steps):
            self.state = self.warped.advance(self.state)
            self._stop_again()
