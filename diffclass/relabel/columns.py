"""Columns: each stroke's indicator, diffused, chi_S -> A^t chi_S.

Free labels diffuse linearly: with the strokes S of a class i,

    N_i = sum over S of A^t chi_S / sum over S of pi(S),

so that a stroke is diffused once, and adding, moving or removing it afterwards is a matter of
sums. A stroke that is painted over in part is diffused again. (To subtract the column of what was
taken costs as much, and where little is left it leaves nothing but rounding.)

A column is kept whole while it is young. Once every point of every component has half of its
limit pi(S in C) / pi(C), the limit is taken out, so that single precision holds what differs from
point to point, and the Chebyshev series takes over from single steps: nothing is small beside the
rest any more. See `label_diffusion.walks.FreeWalk`, which does the same for all classes at once;
here every column decides by itself.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from diffclass import _compiled
from diffclass.label_diffusion.stopping_time import curve_times
from diffclass.operators.chebyshev import TOLERANCE, chebyshev_series, power_coefficients
from diffclass.operators.markov import MarkovOperator
from diffclass.relabel.strokes import Stroke

# What an indicator is high: a power of two, so that rounding stays what it is and what arrives
# after long ways does not underflow in single precision.
HEIGHT = 2.0**64
_FIRST_CHECK = 16
_WIDTH = 32


@dataclass(frozen=True, eq=False)
class Column:
    """A stroke's indicator, diffused and HEIGHT high: limits[component] + values.

    Attributes
    ----------
    values : ndarray of shape (n,)
        In the operator's dtype.
    limits : ndarray of float64 of shape (n_components,), or None
        None while the column is kept whole.
    """

    values: np.ndarray
    limits: np.ndarray | None

    def add_to(self, total: np.ndarray, components: np.ndarray) -> None:
        """Add the column to a sum in double precision."""
        if self.limits is not None:
            total += self.limits[components]
        total += self.values

    def at(self, points: np.ndarray, components: np.ndarray) -> np.ndarray:
        """Return the column at some points, in double precision and at least 0."""
        values = self.values[points].astype(np.float64)
        if self.limits is not None:
            values += self.limits[components[points]]
        return np.maximum(values, 0)


class ColumnStore:
    """Columns of strokes, diffused when they are asked for and kept while there is room.

    Parameters
    ----------
    operator : MarkovOperator
        Of n points.
    max_bytes : int, default=400,000,000
        Beyond it the columns that were not asked for for the longest time go, but never those
        that are asked for together.

    Notes
    -----
    Memory: 4 n bytes a column in single precision, and K once more. A new column costs t products
    with one column; many at once are diffused 32 together, at about a seventh of that each.
    """

    def __init__(self, operator: MarkovOperator, *, max_bytes: int = 400_000_000):
        self.operator = operator
        self.max_bytes = max_bytes
        self._columns: OrderedDict[tuple[int, bytes], Column] = OrderedDict()

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def n_bytes(self) -> int:
        """Memory that the columns take."""
        return sum(column.values.nbytes for column in self._columns.values())

    def of(self, strokes: Sequence[Stroke], tau: int) -> list[Column]:
        """Return the columns of some strokes at the time tau."""
        wanted = {(tau, stroke.fingerprint): stroke for stroke in strokes}
        missing = [key for key in wanted if key not in self._columns]
        for start in range(0, len(missing), _WIDTH):
            keys = missing[start : start + _WIDTH]
            found = diffused_columns(self._steps, [wanted[key].points for key in keys], tau)
            self._columns.update(zip(keys, found, strict=True))
        for key in wanted:
            self._columns.move_to_end(key)
        self._make_room(len(wanted))
        return [self._columns[tau, stroke.fingerprint] for stroke in strokes]

    @cached_property
    def _steps(self) -> Steps:
        return Steps(self.operator)

    def _make_room(self, n_in_use: int) -> None:
        bytes_each = len(self.operator) * self.operator.dtype.itemsize
        n_kept = max(n_in_use, self.max_bytes // bytes_each)
        while len(self._columns) > n_kept:
            self._columns.popitem(last=False)


class Steps:
    """Steps of a walk, in the form in which they are quickest.

    The rows of K are filled up with zeros to whole fours of edges: a loop that ends after another
    number of edges in every row costs a fifth more.

    Parameters
    ----------
    operator : MarkovOperator
        Of n points.

    Attributes
    ----------
    components : ndarray of int of shape (n,)
    pi : ndarray of shape (n,)
        The stationary distribution.
    mass : ndarray of shape (n_components,)
        That of each component.
    dtype : dtype
    """

    def __init__(self, operator: MarkovOperator):
        self.components = operator.components
        self.pi = operator.stationary_distribution
        self.mass = np.bincount(self.components, self.pi)
        self.dtype = operator.dtype
        row_scale = (1 / operator.degrees).astype(operator.dtype)
        self._arrays = *_in_fours(operator.affinity), row_scale

    def __len__(self) -> int:
        return len(self.pi)

    def take(self, block: np.ndarray, out: np.ndarray) -> None:
        """Take one step: out = A block."""
        if block.shape[1] == 1:
            _compiled.strokes.column_product(*self._arrays, block[:, 0], out[:, 0])
        else:
            _compiled.strokes.block_product(*self._arrays, block, out)


def _in_fours(K: sp.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (indptr, indices, data) of K, each row filled up by edges of weight 0 to itself."""
    lengths = np.diff(K.indptr)
    filled = -(-lengths // 4) * 4
    indptr = np.concatenate([[0], np.cumsum(filled, dtype=np.int64)])
    indices = np.repeat(np.arange(len(lengths), dtype=K.indices.dtype), filled)
    data = np.zeros(len(indices), dtype=K.dtype)
    place = np.arange(K.nnz) + np.repeat(indptr[:-1] - K.indptr[:-1], lengths)
    indices[place], data[place] = K.indices, K.data
    return indptr, indices, data


def diffused_columns(steps: Steps, groups: list[np.ndarray], tau: int) -> list[Column]:
    """Diffuse the indicators of groups of points, each to the same bits as it would be alone.

    Parameters
    ----------
    steps : Steps
        Of n points.
    groups : list of ndarray of int
        Numbers of points, each once in its group.
    tau : int
        Steps.

    Returns
    -------
    list of Column
        In the order of the groups.
    """
    # the compiler takes four columns at a time, or one: empty groups make up the number
    n_idle = -len(groups) % 4 if len(groups) > 1 else 0
    walk = _ColumnWalk(steps, groups + n_idle * [np.zeros(0, dtype=np.int32)])
    for time in curve_times(tau):
        if time >= _FIRST_CHECK or time == tau:
            walk.advance(int(time))
    return walk.columns()[: len(groups)]


class _ColumnWalk:
    """A block of columns at one time; which of them have their limit taken out."""

    def __init__(self, steps: Steps, groups: list[np.ndarray]):
        self._steps = steps
        self._state = np.zeros((len(steps), len(groups)), dtype=steps.dtype)
        self._limits = np.zeros((len(groups), len(steps.mass)))
        self._is_late = np.zeros(len(groups), dtype=bool)
        self._time = 0
        for c, points in enumerate(groups):
            self._state[points, c] = HEIGHT
            here = np.bincount(steps.components[points], steps.pi[points], len(steps.mass))
            self._limits[c] = HEIGHT * here / steps.mass

    def advance(self, time: int) -> None:
        """Walk on to a later time."""
        n_steps, self._time = time - self._time, time
        series = power_coefficients([n_steps], TOLERANCE[self._state.dtype.char])
        if series.shape[1] - 1 >= n_steps or not self._is_late.any():
            self._state = self._step(self._state, n_steps)
        elif self._is_late.all():
            self._state = chebyshev_series(self._steps.take, self._state, series)[0]
        else:
            late = np.ascontiguousarray(self._state[:, self._is_late])
            young = np.ascontiguousarray(self._state[:, ~self._is_late])
            self._state[:, self._is_late] = chebyshev_series(self._steps.take, late, series)[0]
            self._state[:, ~self._is_late] = self._step(young, n_steps)
        if time >= _FIRST_CHECK:
            self._take_limits_out()

    def columns(self) -> list[Column]:
        """Return each column by itself."""
        by_column = np.ascontiguousarray(self._state.T)
        return [
            Column(values.copy(), limits if late else None)
            for values, limits, late in zip(by_column, self._limits, self._is_late, strict=True)
        ]

    def _take_limits_out(self) -> None:
        components, pi, mass = self._steps.components, self._steps.pi, self._steps.mass
        for c in np.flatnonzero(self._is_late | self._may_be_late()):
            column = self._state[:, c]
            if not self._is_late[c]:
                limit = self._limits[c].astype(column.dtype)[components]
                if not (column >= limit / 2).all():
                    continue
                column -= limit
                self._is_late[c] = True
            # what is left has no mass on any component: the rest of it is rounding
            drift = np.bincount(components, pi * column) / mass
            column -= drift[components].astype(column.dtype)

    def _may_be_late(self) -> np.ndarray:
        """Look at some points only: most columns that are still young are so at many points."""
        some = np.arange(0, len(self._state), 1 + len(self._state) // 512)
        half = self._limits[:, self._steps.components[some]].T / 2
        arrived = self._state[some] >= half.astype(self._state.dtype)
        return np.logical_and.reduce(arrived, axis=0) & self._limits.any(axis=1)

    def _step(self, block: np.ndarray, n_steps: int) -> np.ndarray:
        block, spare = block.copy(), np.empty_like(block)
        for _ in range(n_steps):
            self._steps.take(block, spare)
            block, spare = spare, block
        return block
