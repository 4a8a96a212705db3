"""Many steps of a walk at once, by Chebyshev series.

A series of degree d takes f to A^s f with d = sqrt(2 s log(2 / tolerance)) products in place of s.
Its error at a point is some 1e-16 of the largest value *within d edges*, because no term of the
series looks farther. So a series of a `LongWalk` is as long as values within that many edges of
each other allow, and no longer: a wave of labels that has just reached the end of a long strip,
there 1e-100 of what it is at the labels, advances by single steps; once values are of similar size
everywhere, one series takes all steps that are left. Values are compared by their number of edges
to the labels: points within d edges of each other differ by at most d in that number. All is in
double precision.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy  # loads scipy.ndimage on first use: few walks are long

from diffclass.operators.chebyshev import chebyshev_series, power_coefficients, sum_coefficients

Product = Callable[[np.ndarray, np.ndarray], None]

# More steps than this at once are taken by a `LongWalk`. In single precision the rounding of a
# series would be too large from here on.
LONGEST_SERIES = 4096
_LEAST_STEPS = 64  # a shorter series is not worth looking for
_SETTLED = 1e-15  # of a value: a step that changes no more is lost in rounding
_ACCURACY = 1e-7  # of a value, relative to itself, by one series


class LongWalk:
    """Many steps of a walk B, which multiplies columns of non-negative values.

    ``product(f, out)`` writes B f to ``out``, in double precision. B is symmetric in some measure,
    column by column, and its spectrum lies in [-1, 1]. ``hops`` (n, m) are the edges between each
    point and the labels of each column, -1 if unreachable.
    """

    def __init__(self, product: Product, hops: np.ndarray):
        self._product = product
        self._hops = hops

    def free(self, f: np.ndarray, n_steps: int, visits: np.ndarray | None = None) -> np.ndarray:
        """Return B^t f, (n, m), after t = n_steps, and add B f + ... + B^t f to ``visits``.

        f is 0 where no path leads.
        """
        levels = _Levels(self._hops, self._hops >= 0)
        while n_steps:
            piece, degree_factor = levels.longest_series(f, f, n_steps)
            f = self._walked(f, piece, degree_factor, visits)
            n_steps -= piece
        return f

    def absorbing(self, values: np.ndarray, stopped: np.ndarray, n_steps: int) -> np.ndarray:
        """Return N after t steps N <- stopped + B N; all are (n, m).

        With r = stopped + B N - N, these are N + r + B r + ... + B^(t-1) r. The walk ends early
        once a step changes the last digit at most.
        """
        values, step = values.copy(), np.empty_like(values)
        while n_steps:
            self._product(values, step)
            step += stopped
            step -= values
            arrived = values > 0
            if (np.abs(step) <= _SETTLED * values).all():
                break
            piece, ratio = 1, 0.0
            if not step[~arrived].any():  # else labels are still on the way
                levels = _Levels(self._hops, arrived)
                piece, ratio = levels.longest_series(n_steps * step, values, n_steps)
            values += step
            if piece > 1:
                self._walked(step, piece - 1, ratio, values)
                values[~arrived] = 0
            np.maximum(values, 0, out=values)
            n_steps -= piece
        return values

    def _walked(
        self, f: np.ndarray, n_steps: int, ratio: float, visits: np.ndarray | None
    ) -> np.ndarray:
        """Take steps, by one series if the ratio that `_Levels` found is above 0."""
        if not ratio:
            for _ in range(n_steps):
                spare = np.empty_like(f)
                self._product(f, spare)
                f = spare
                if visits is not None:
                    visits += f
            return f
        tolerance = _ACCURACY / ratio
        series = power_coefficients([n_steps], tolerance)
        if visits is not None:
            sums = sum_coefficients(n_steps, tolerance * n_steps)
            degree = max(series.shape[1], len(sums))
            series = np.stack([np.pad(c, (0, degree - len(c))) for c in (series[0], sums)])
        found = chebyshev_series(self._product, f, series)
        if visits is not None:
            visits += found[1]
        return found[0]


class _Levels:
    """The counted points of each column by their number of edges to its labels; both (n, m)."""

    def __init__(self, hops: np.ndarray, counted: np.ndarray):
        self._columns = []
        for c in range(hops.shape[1]):
            points = np.flatnonzero(counted[:, c])
            points = points[np.argsort(hops[points, c], kind="stable")]
            starts = np.flatnonzero(np.diff(hops[points, c], prepend=-2))
            self._columns.append((points, starts))

    def longest_series(self, f: np.ndarray, goal: np.ndarray, n_steps: int) -> tuple[int, float]:
        """Return how many steps one series may take, and the ratio that bounds its error.

        The series is applied to f; the relative accuracy of ``goal`` counts. The ratio is that of
        the largest f within as many edges as the series has terms, to goal. It is 0 if no series is
        accurate enough; the number is then that of the single steps to take.
        """
        extremes = [
            (
                np.maximum.reduceat(np.abs(f[points, c]), starts),
                np.minimum.reduceat(goal[points, c], starts),
            )
            for c, (points, starts) in enumerate(self._columns)
            if len(points)
        ]
        piece = n_steps
        while piece > _LEAST_STEPS:
            ratio = _largest_ratio(extremes, _degree(piece, 1.0))
            degree = _degree(piece, ratio)
            ratio = max(_largest_ratio(extremes, degree), 1.0)
            rounding = np.finfo(np.float64).eps * degree**1.5
            if 2 * degree < piece and rounding * ratio < _ACCURACY:
                return piece, ratio
            piece //= 2
        return min(n_steps, 4 * _LEAST_STEPS), 0.0


def _degree(n_steps: int, ratio: float) -> int:
    """Return about how many terms a series takes if its error may be _ACCURACY / ratio."""
    logarithm = np.log(2 * n_steps / _ACCURACY) + np.log(np.clip(ratio, 1, 1e30))
    return int(np.sqrt(2 * n_steps * logarithm)) + 1


def _largest_ratio(extremes: list[tuple[np.ndarray, np.ndarray]], degree: int) -> float:
    """Return the largest ratio of some f to a goal, at most so many levels apart."""
    largest = 0.0
    for most, least in extremes:
        if least.min() <= 0:
            return np.inf
        size = 2 * min(degree, len(most)) + 1
        nearby = scipy.ndimage.maximum_filter1d(most, size, mode="constant")
        with np.errstate(over="ignore"):  # infinite is what it is
            largest = max(largest, float((nearby / least).max()))
    return largest
