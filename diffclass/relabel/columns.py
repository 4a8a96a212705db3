"""Columns: the diffused indicator of each stroke. Class maps are made of their sums.

Free and summed labels diffuse linearly. With the strokes S of class i,

    N_i = sum over S of A^t chi_S / sum over S of pi(S),

or the same with the sum over the walk in place of A^t chi_S. A stroke is therefore diffused once;
adding, moving or removing it later only changes sums. A stroke that is partly painted over is
diffused again. (Subtracting the column of the points it lost would cost as much, and leave mostly
rounding if few points are left.) Old strokes of a class are diffused as one, see
`diffclass.relabel.state.State.pieces`. See also `diffclass.label_diffusion.free_walk.FreeColumns`.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from diffclass.label_diffusion.calibration import DIFFUSING_BYTES
from diffclass.label_diffusion.free_walk import FreeColumns
from diffclass.operators.markov import MarkovOperator
from diffclass.relabel.strokes import Stroke
from diffclass.system.costs import Cost, Size

_WIDTH = 32
_MOST_BYTES = 200_000_000  # of columns that are kept
_SECONDS = 1e-6  # of a point of a map


@dataclass(frozen=True)
class Horizon:
    """How far columns are diffused, and whether they are summed."""

    n_steps: int  # last step of the walk
    is_sum: bool  # whether a column is the sum over the walk, and not the walk at its last step


@dataclass(frozen=True, eq=False)
class Column:
    """A diffused indicator, times HEIGHT: limits[component] + values."""

    values: np.ndarray  # (n,); in the operator's dtype; in double precision if it is a sum
    # float64 (n_components,); all 0 while the column is young; see `FreeColumns`
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
    """Columns of strokes, diffused on request and kept while there is room.

    - `max_bytes`: above this the least recently used columns are dropped, but never columns that
      are requested together

    Several threads may ask at once. Memory: 8 n bytes per column if it is a sum, else 4 n in single
    precision, and one more copy of K. A new column costs one product per step; up to 32 are
    diffused together, each for about a seventh of that.
    """

    def __init__(self, operator: MarkovOperator, *, max_bytes: int = _MOST_BYTES):
        self.operator = operator
        self.max_bytes = max_bytes
        self._columns: OrderedDict[tuple[Horizon, bytes], Column] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def n_bytes(self) -> int:
        """Memory of the columns, in bytes."""
        return sum(column.values.nbytes for column in self._columns.values())

    def of(self, strokes: Sequence[Stroke], horizon: Horizon) -> list[Column]:
        """Return the columns of some strokes."""
        wanted = {(horizon, stroke.fingerprint): stroke for stroke in strokes}
        with self._lock:
            found = {key: self._columns[key] for key in wanted if key in self._columns}
        missing = [key for key in wanted if key not in found]
        for start in range(0, len(missing), _WIDTH):
            keys = missing[start : start + _WIDTH]
            points = [wanted[key].points for key in keys]
            new = diffused_columns(self._padded, points, horizon)
            found.update(zip(keys, new, strict=True))
        # all that were asked for, the old ones too: they are the most recently used now
        self._keep({key: found[key] for key in wanted})
        return [found[horizon, stroke.fingerprint] for stroke in strokes]

    @cached_property
    def _padded(self) -> MarkovOperator:
        return with_padded_rows(self.operator)

    def _keep(self, found: Mapping[tuple[Horizon, bytes], Column]) -> None:
        with self._lock:
            for key, column in found.items():
                self._columns.setdefault(key, column)
                self._columns.move_to_end(key)
            self._make_room(len(found))

    def _make_room(self, n_in_use: int) -> None:
        while len(self._columns) > n_in_use and self.n_bytes > self.max_bytes:
            self._columns.popitem(last=False)


def painting_cost(size: Size) -> Cost:
    """Return what a session's maps cost, without its operator.

    A copy of K with padded rows, a diffusion of all classes for the time, each class's sum, and the
    columns of a few strokes per class, of which no more than a `ColumnStore` keeps.

    Examples
    --------
    >>> from diffclass.system.costs import Size
    >>> from diffclass.relabel import painting_cost
    >>> cost = painting_cost(Size(points=1_000_000, neighbors=12, classes=10))
    >>> f"{cost.working / 1e9:.1f} GB"
    '0.9 GB'
    """
    values = size.points * size.classes
    columns = min(32 * values, _MOST_BYTES) + 16 * values
    return Cost(9 * size.edges + columns + DIFFUSING_BYTES * values, 0, _SECONDS * size.points)


def with_padded_rows(operator: MarkovOperator) -> MarkovOperator:
    """Return the operator with rows of K padded to four edges, by loops of weight 0.

    Products with a single column then take a sixth less time.
    """
    K = operator.affinity
    lengths = np.diff(K.indptr)
    filled = -(-lengths // 4) * 4
    indptr = np.concatenate([[0], np.cumsum(filled, dtype=np.int64)]).astype(K.indptr.dtype)
    indices = np.repeat(np.arange(len(lengths), dtype=K.indices.dtype), filled)
    data = np.zeros(len(indices), dtype=K.dtype)
    # Row x begins indptr(x) - K.indptr(x) entries later; what is left of it is padding.
    place = np.arange(K.nnz) + np.repeat(indptr[:-1] - K.indptr[:-1], lengths)
    indices[place], data[place] = K.indices, K.data
    padded = sp.csr_array((data, indices, indptr), shape=K.shape)
    return MarkovOperator(padded, operator.degrees, operator.density, operator.alpha)


def diffused_columns(
    operator: MarkovOperator, groups: list[np.ndarray], horizon: Horizon
) -> list[Column]:
    """Diffuse the indicators of groups of points, each to the same bits as if it were alone.

    - `groups` int: indices of points, each once per group
    """
    group = np.repeat(np.arange(len(groups)), [len(points) for points in groups])
    walk = FreeColumns(
        operator,
        np.concatenate(groups),
        group,
        len(groups),
        summed=horizon.is_sum,
        independent=True,
    )
    walk.advance_along_curve(horizon.n_steps)
    values, limits = walk.visited if horizon.is_sum else (walk.state, walk.limits)
    # a copy of each column: a slice would keep the array of all of them alive
    by_column = np.ascontiguousarray(values.T)
    return [Column(by_column[g].copy(), limits[:, g].copy()) for g in range(len(groups))]
