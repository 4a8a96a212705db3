"""Columns: each stroke's indicator, diffused, and the sums that class maps are made of.

Free and summed labels diffuse linearly: with the strokes S of a class i,

    N_i = sum over S of A^t chi_S / sum over S of pi(S),

or with the sum over the walk in place of A^t chi_S, so that a stroke is diffused once, and adding,
moving or removing it afterwards is a matter of sums. A stroke that is painted over in part is
diffused again. (To subtract the column of what was taken costs as much, and where little is left
it leaves nothing but rounding.) See `diffclass.label_diffusion.walks.FreeColumns`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from diffclass.label_diffusion.walks import FreeColumns
from diffclass.operators.markov import MarkovOperator
from diffclass.relabel.strokes import Stroke

_WIDTH = 32


@dataclass(frozen=True)
class Horizon:
    """How far columns are diffused, and what is read off them.

    Attributes
    ----------
    n_steps : int
        The last step of the walk.
    is_sum : bool
        Whether the sum over the walk is read off, and not its end.
    """

    n_steps: int
    is_sum: bool


@dataclass(frozen=True, eq=False)
class Column:
    """A stroke's indicator, diffused and HEIGHT high: limits[component] + values.

    Attributes
    ----------
    values : ndarray of shape (n,)
        In the operator's dtype, of a sum in double precision.
    limits : ndarray of float64 of shape (n_components,)
        All 0 while the column is kept whole.
    """

    values: np.ndarray
    limits: np.ndarray

    def add_to(self, total: np.ndarray, components: np.ndarray) -> None:
        """Add the column to a sum in double precision."""
        if self.limits.any():
            total += self.limits[components]
        total += self.values

    def at(self, points: np.ndarray, components: np.ndarray) -> np.ndarray:
        """Return the column at some points, in double precision and at least 0."""
        values = self.values[points] + self.limits[components[points]]
        return np.maximum(values, 0)


class ColumnStore:
    """Columns of strokes, diffused when they are asked for and kept while there is room.

    Parameters
    ----------
    operator : MarkovOperator
        Of n points.
    max_bytes : int, default=400,000,000
        Beyond it, the columns that have not been asked for longest are dropped, but never those
        that are asked for together.

    Notes
    -----
    Memory: 8 n bytes per column of a sum, else 4 n in single precision, and K once more. A new
    column costs one product per step; many at once are diffused 32 together, at about a seventh
    of that each.
    """

    def __init__(self, operator: MarkovOperator, *, max_bytes: int = 400_000_000):
        self.operator = operator
        self.max_bytes = max_bytes
        self._columns: OrderedDict[tuple[Horizon, bytes], Column] = OrderedDict()

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def n_bytes(self) -> int:
        """Memory that the columns take."""
        return sum(column.values.nbytes for column in self._columns.values())

    def of(self, strokes: Sequence[Stroke], horizon: Horizon) -> list[Column]:
        """Return the columns of some strokes."""
        wanted = {(horizon, stroke.fingerprint): stroke for stroke in strokes}
        missing = [key for key in wanted if key not in self._columns]
        for start in range(0, len(missing), _WIDTH):
            keys = missing[start : start + _WIDTH]
            points = [wanted[key].points for key in keys]
            found = diffused_columns(self._padded, points, horizon)
            self._columns.update(zip(keys, found, strict=True))
        for key in wanted:
            self._columns.move_to_end(key)
        self._make_room(len(wanted))
        return [self._columns[horizon, stroke.fingerprint] for stroke in strokes]

    @cached_property
    def _padded(self) -> MarkovOperator:
        return with_padded_rows(self.operator)

    def _make_room(self, n_in_use: int) -> None:
        while len(self._columns) > n_in_use and self.n_bytes > self.max_bytes:
            self._columns.popitem(last=False)


def with_padded_rows(operator: MarkovOperator) -> MarkovOperator:
    """Return the same operator with each row of K filled up to whole fours of edges.

    A loop that ends after another number of edges in every row costs a fifth more with a single
    column. The rows are filled up by edges of weight 0 from the point to itself.
    """
    K = operator.affinity
    lengths = np.diff(K.indptr)
    filled = -(-lengths // 4) * 4
    indptr = np.concatenate([[0], np.cumsum(filled, dtype=np.int64)]).astype(K.indptr.dtype)
    indices = np.repeat(np.arange(len(lengths), dtype=K.indices.dtype), filled)
    data = np.zeros(len(indices), dtype=K.dtype)
    place = np.arange(K.nnz) + np.repeat(indptr[:-1] - K.indptr[:-1], lengths)
    indices[place], data[place] = K.indices, K.data
    padded = sp.csr_array((data, indices, indptr), shape=K.shape)
    return MarkovOperator(padded, operator.degrees, operator.density, operator.alpha)


def diffused_columns(
    operator: MarkovOperator, groups: list[np.ndarray], horizon: Horizon
) -> list[Column]:
    """Diffuse the indicators of groups of points, each to the same bits as it would be alone.

    Parameters
    ----------
    operator : MarkovOperator
        Of n points.
    groups : list of ndarray of int
        Numbers of points, each once in its group.
    horizon : Horizon

    Returns
    -------
    list of Column
        In the order of the groups.
    """
    # the compiler takes four columns at a time, or one: empty groups make up the number
    n_idle = -len(groups) % 4 if len(groups) > 1 else 0
    group = np.repeat(np.arange(len(groups)), [len(points) for points in groups])
    walk = FreeColumns(
        operator,
        np.concatenate(groups),
        group,
        len(groups) + n_idle,
        summed=horizon.is_sum,
        independent=True,
    )
    walk.advance_along_curve(horizon.n_steps)
    values, limits = walk.visited if horizon.is_sum else (walk.state, walk.limits)
    by_column = np.ascontiguousarray(values.T)
    return [Column(by_column[g].copy(), limits[:, g].copy()) for g in range(len(groups))]
