"""A matrix by panels: the rows of a cell of functions, dense over the few columns they touch.

    T = [T(B_1, :); T(B_2, :); ...],    T(B, :) stored on the columns where it is not nearly zero

Functions of a cell are close together and touch the same columns, so a dense product of two panels
does what a sparse product does entry by entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from diffclass.exceptions import ParameterError


@dataclass(frozen=True, eq=False)
class Panel:
    """Some rows (b, w) of a matrix, in the columns that are stored, in increasing order."""

    columns: np.ndarray
    values: np.ndarray

    def without_small(self, threshold: float) -> Panel:
        """Leave out the columns whose norm is at most the threshold."""
        kept = np.linalg.norm(self.values, axis=0) > threshold
        return self if kept.all() else Panel(self.columns[kept], self.values[:, kept])


class Panels:
    """A square matrix whose consecutive rows are grouped into panels; it multiplies by ``@``."""

    def __init__(self, panels: Sequence[Panel]):
        self.panels = tuple(panels)
        sizes = [len(panel.values) for panel in self.panels]
        self._starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        self._cell_of = np.repeat(np.arange(len(sizes)), sizes)

    def __len__(self) -> int:
        return int(self._starts[-1])

    @property
    def n_entries(self) -> int:
        """Number of stored entries."""
        return sum(panel.values.size for panel in self.panels)

    def __matmul__(self, f: np.ndarray) -> np.ndarray:
        return np.concatenate([panel.values @ f[panel.columns] for panel in self.panels])

    def rows(self, functions: np.ndarray) -> Panel:
        """Return any rows of the matrix as one panel."""
        groups = list(self._groups(functions))
        touched = np.concatenate([self.panels[cell].columns for cell, _, _ in groups])
        columns = np.unique(touched)
        values = np.zeros((len(functions), len(columns)))
        for cell, among, inside in groups:
            panel = self.panels[cell]
            places = np.searchsorted(columns, panel.columns)
            values[np.ix_(among, places)] = panel.values[inside]
        return Panel(columns, values)

    def squared(self, threshold: float, max_entries: int) -> Panels:
        """Return the square without small columns; `ParameterError` if it has too many entries."""
        panels, n_entries = [], 0
        for panel in self.panels:
            panels.append(self._times(panel).without_small(threshold))
            n_entries += panels[-1].values.size
            check_entries(n_entries, max_entries)
        return Panels(panels)

    def _times(self, left: Panel) -> Panel:
        groups = list(self._groups(left.columns))
        columns = np.unique(np.concatenate([self.panels[cell].columns for cell, _, _ in groups]))
        values = np.zeros((len(left.values), len(columns)))
        for cell, among, inside in groups:
            right = self.panels[cell]
            places = np.searchsorted(columns, right.columns)
            values[:, places] += left.values[:, among] @ right.values[inside]
        return Panel(columns, values)

    def _groups(self, functions: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Yield each cell, the places of its functions among those given, and in its panel."""
        for cell, among in grouped(self._cell_of[functions]):
            yield cell, among, functions[among] - self._starts[cell]


def grouped(cells: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yield each number that occurs, in order, and where it occurs."""
    order = np.argsort(cells, kind="stable")
    bounds = np.flatnonzero(np.diff(cells[order], prepend=-1))
    for start, places in zip(bounds, np.split(order, bounds[1:]), strict=True):
        yield int(cells[order[start]]), places


def rows_of(matrix: sp.csr_array | Panels, functions: np.ndarray) -> Panel:
    """Return rows of a sparse matrix, or of panels, as one panel."""
    if isinstance(matrix, Panels):
        return matrix.rows(functions)
    rows = sp.csr_array(matrix[functions])
    columns = np.unique(rows.indices)
    return Panel(columns, rows[:, columns].toarray())


def check_entries(n_entries: int, max_entries: int) -> None:
    """Raise a `ParameterError` for a matrix that has too many entries."""
    if n_entries > max_entries:
        raise ParameterError(
            f"a power has more than {max_entries:,} entries before its rank is small; loosen "
            "accuracy, raise max_entries (8 bytes each), or take operator.apply: on a graph of "
            "many dimensions compression does not pay"
        )
