"""The levels of a compressed walk: split the space, keep the bumps, square what is left.

    T_0 = S;    V_j = V_{j+1} + W_{j+1} by the bumps of T_j;    T_{j+1} = (Q_j' T_j Q_j)^2

Until the first split powers are sparse matrices on all points, then panels; the last thousand
functions are one cell, on which the power is dense.

Source: R. Coifman and M. Maggioni, Diffusion wavelets, 2006, section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.linalg import qr
from scipy.sparse.csgraph import dijkstra

from diffclass._validation import RandomState, check_seed
from diffclass.multiscale.panels import Panel, Panels, check_entries, grouped, rows_of
from diffclass.operators.markov import MarkovOperator

MOST_LEVELS = 64
CELL_SIZE = 256
# Of the accuracy: the norm of a column left out of a panel. It counts t times in a mode that hardly
# decays.
_NEGLECTED = 1e-6
_SAMPLED_CELLS = 6
_WORTH_SPLITTING = 0.85  # share of the functions that are left
ROUNDING = 1e-14  # of sqrt(pi), whose norm is 1: a cell of functions of mean 0 has no more


def compressed_levels(
    operator: MarkovOperator,
    accuracy: float,
    *,
    max_levels: int,
    max_entries: int,
    random_state: RandomState,
) -> tuple[Level, ...]:
    """Return S, S^2, S^4, ... until only constants of the components are left; see `Level`."""
    builder = _Builder(operator, accuracy, max_entries, random_state)
    levels = [builder.level()]
    while len(levels) < max_levels and builder.n_functions > operator.n_connected_components:
        builder.square()
        levels.append(builder.level())
    return tuple(levels)


@dataclass(frozen=True, eq=False)
class Level:
    """One power of the walk and the split of the space on which it acts.

    Parameters
    ----------
    time : int
        2^j.
    power : csr_array or Panels of shape (n_functions, n_functions)
        S^(2^j) on V_j.
    split : Split or None
        V_j = V_{j+1} + W_{j+1}; None where nothing was left out.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import diffusion_wavelets, markov_operator
    >>> A = markov_operator(np.linspace(0, 1, 100)[:, None], n_neighbors=4)
    >>> level = diffusion_wavelets(A, accuracy=1e-3).levels[3]
    >>> scaling, wavelets = level.down(np.ones((level.split.n_members, 1)))
    >>> level.time, len(scaling), len(wavelets)
    (8, 33, 12)
    """

    time: int
    power: sp.csr_array | Panels
    split: Split | None

    @property
    def n_entries(self) -> int:
        """Number of stored entries of the power and of the split."""
        power = self.power.n_entries if isinstance(self.power, Panels) else self.power.nnz
        cells = self.split.cells if self.split else ()
        return int(power) + sum(len(cell.members) ** 2 for cell in cells)

    def down(self, coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the coefficients in V_{j+1} and in W_{j+1}."""
        if self.split is None:
            return coefficients, np.empty((0, coefficients.shape[1]))
        return self.split.analyse(coefficients)

    def up(self, scaling: np.ndarray, wavelets: np.ndarray | None = None) -> np.ndarray:
        """Return coefficients in V_j from those in V_{j+1} and W_{j+1}, the latter 0 by default."""
        return scaling if self.split is None else self.split.synthesise(scaling, wavelets)


class _Builder:
    """The power at hand on its space, which each level splits before the power is squared."""

    def __init__(
        self,
        operator: MarkovOperator,
        accuracy: float,
        max_entries: int,
        random_state: RandomState,
    ):
        self._graph = operator.affinity
        self._accuracy = accuracy
        self._threshold = max(_NEGLECTED * accuracy, np.finfo(np.float64).eps)
        self._max_entries = max_entries
        self._random = check_seed(random_state)
        root = sp.diags_array(1 / np.sqrt(operator.degrees))
        self._power: sp.csr_array | Panels = sp.csr_array(
            root @ operator.affinity.astype(np.float64) @ root
        )
        self._next: sp.csr_array | Panels = self._power
        self._time = 1
        # of each function of the space: sqrt(pi), its point, and its component
        self._means = np.sqrt(operator.stationary_distribution)
        self._centers = np.arange(len(operator))
        self._components = operator.components

    @property
    def n_functions(self) -> int:
        """Dimension of the space."""
        return len(self._centers)

    def level(self) -> Level:
        """Split the space, go on to its scaling functions, and return the level left behind."""
        cells = voronoi_cells(
            self._graph,
            self._centers,
            self._components,
            size=CELL_SIZE,
            random=self._random,
        )
        split = None
        if self._is_worth_splitting(cells):
            split = self._split(cells)
        level = Level(self._time, self._power, split)
        if split is not None:
            self._next = restricted(self._power, split, self._threshold, self._max_entries)
            self._components = self._components[split.centers(np.arange(self.n_functions))]
            self._centers = split.centers(self._centers)
            self._means = split.analyse(self._means[:, None])[0][:, 0]
            if len(cells) == 1:
                self._next = _with_exact_means(self._next, self._means)
        else:
            self._next = self._power
        return level

    def square(self) -> None:
        """Go on to twice the time."""
        if isinstance(self._next, Panels):
            self._power = self._next.squared(self._threshold, self._max_entries)
        else:
            self._power = sp.csr_array(self._next @ self._next)
            self._power.data[np.abs(self._power.data) < self._threshold] = 0
            self._power.eliminate_zeros()
            check_entries(self._power.nnz, self._max_entries)
        self._time *= 2

    def _is_worth_splitting(self, cells: Sequence[np.ndarray]) -> bool:
        if isinstance(self._power, Panels) or self._power.nnz > CELL_SIZE * self.n_functions:
            return True
        sample = [cells[c] for c in self._random.permutation(len(cells))[:_SAMPLED_CELLS]]
        # a split makes rows dense: try it on some cells first
        split = self._split(sample)
        return split.n_scaling <= _WORTH_SPLITTING * sum(map(len, sample))

    def _split(self, cells: Sequence[np.ndarray]) -> Split:
        return split_cells(
            lambda members: rows_of(self._power, members).values,
            cells,
            self._means,
            self._components,
            self._accuracy,
        )


def restricted(
    matrix: sp.csr_array | Panels, split: Split, threshold: float, max_entries: int
) -> Panels:
    """Return Q' T Q for the scaling functions Q of a split; `ParameterError` if it is too large."""
    cell_of, place_of, starts = split.numbering()
    panels, n_entries = [], 0
    for cell in split.cells:
        rows = rows_of(matrix, cell.members)
        values = cell.scaling.T @ rows.values  # Q_c' T(B_c, :)
        new_columns, blocks = [], []
        for other, among in grouped(cell_of[rows.columns]):
            scaling = split.cells[other].scaling
            new_columns.append(starts[other] + np.arange(scaling.shape[1]))
            blocks.append(values[:, among] @ scaling[place_of[rows.columns[among]]])
        panel = Panel(np.concatenate(new_columns), np.concatenate(blocks, axis=1))
        panels.append(panel.without_small(threshold))  # columns near 0
        n_entries += panels[-1].values.size
        check_entries(n_entries, max_entries)
    return Panels(panels)


def _with_exact_means(power: Panels, means: np.ndarray) -> Panels:
    """Make the constants exact eigenvectors of a dense power, and the rest no longer than 1."""
    # the constants are the first functions, the only ones with a mean; else rounding could make
    # functions grow from one squaring to the next
    n_constants = int(np.count_nonzero(np.abs(means) > ROUNDING))
    (panel,) = power.panels
    T = np.zeros((len(means), len(means)))
    T[:, panel.columns] = panel.values
    T[:n_constants] = 0
    T[:, :n_constants] = 0
    np.fill_diagonal(T[:n_constants, :n_constants], 1)
    rest = T[n_constants:, n_constants:]
    rest += rest.T.copy()
    rest /= 2
    if rest.size:
        rest /= max(1.0, float(np.linalg.norm(rest, 2)))
    return Panels([Panel(np.arange(len(means)), T)])


def voronoi_cells(
    graph: sp.csr_array,
    centers: np.ndarray,
    components: np.ndarray,
    *,
    size: int,
    random: np.random.RandomState,
) -> list[np.ndarray]:
    """Return groups of functions, each of those nearest to one of some centres drawn at random.

    Functions have a point (m,) and a component (m,) each; distances are in hops. Cells hold
    ``size`` functions on average, of one component; up to four times as many functions are one cell
    together.
    """
    m = len(centers)
    if m <= 4 * size:
        return [np.arange(m)]
    drawn = random.permutation(m)[: m // size]
    first_of_each = np.unique(components, return_index=True)[1]
    missed = first_of_each[~np.isin(components[first_of_each], components[drawn])]
    seeds = np.unique(centers[np.concatenate([drawn, missed])])
    _, _, nearest = dijkstra(
        graph, unweighted=True, indices=seeds, min_only=True, return_predecessors=True
    )
    return [members for _, members in grouped(nearest[centers])]


@dataclass(frozen=True, eq=False)
class Cell:
    """b basis functions and their new basis: scaling (b, r) goes on, wavelets (b, b - r) stay."""

    members: np.ndarray
    scaling: np.ndarray
    wavelets: np.ndarray


@dataclass(frozen=True, eq=False)
class Split:
    """An orthogonal split of a space into scaling functions and wavelets, cell by cell."""

    cells: tuple[Cell, ...]

    @property
    def n_members(self) -> int:
        """Dimension of the space that is split."""
        return sum(len(cell.members) for cell in self.cells)

    @property
    def n_scaling(self) -> int:
        """Number of scaling functions."""
        return sum(cell.scaling.shape[1] for cell in self.cells)

    def analyse(self, coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the coefficients (n_scaling, m) and (n_wavelets, m) of functions (n, m)."""
        parts = [coefficients[cell.members] for cell in self.cells]
        scaling = [cell.scaling.T @ f for cell, f in zip(self.cells, parts, strict=True)]
        wavelets = [cell.wavelets.T @ f for cell, f in zip(self.cells, parts, strict=True)]
        return np.concatenate(scaling), np.concatenate(wavelets)

    def synthesise(self, scaling: np.ndarray, wavelets: np.ndarray | None = None) -> np.ndarray:
        """Return functions (n, m) from their coefficients, those of wavelets 0 by default."""
        out = np.empty((self.n_members, scaling.shape[1]))
        s = w = 0
        for cell in self.cells:
            r, rest = cell.scaling.shape[1], cell.wavelets.shape[1]
            out[cell.members] = cell.scaling @ scaling[s : s + r]
            if wavelets is not None:
                out[cell.members] += cell.wavelets @ wavelets[w : w + rest]
            s, w = s + r, w + rest
        return out

    def centers(self, points: np.ndarray) -> np.ndarray:
        """Return where each scaling function is largest, given the points of the members."""
        return np.concatenate(
            [points[cell.members[np.abs(cell.scaling).argmax(axis=0)]] for cell in self.cells]
        )

    def numbering(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return each member's cell and place in it, and each cell's first scaling function."""
        cell_of = np.empty(self.n_members, dtype=np.int64)
        place_of = np.empty_like(cell_of)
        for number, cell in enumerate(self.cells):
            cell_of[cell.members] = number
            place_of[cell.members] = np.arange(len(cell.members))
        sizes = [cell.scaling.shape[1] for cell in self.cells]
        return cell_of, place_of, np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def split_cells(
    rows: Callable[[np.ndarray], np.ndarray],
    cells: Sequence[np.ndarray],
    means: np.ndarray,
    components: np.ndarray,
    accuracy: float,
) -> Split:
    """Split a space of n functions by the bumps of an operator T on it.

    ``rows(members)`` returns T(B, :) without its columns of zeros, (b, w); means (n,) are the
    coefficients of sqrt(pi). In each cell |T Q_wavelets|_F is at most the accuracy.
    """
    return Split(
        tuple(
            _split_cell(members, rows(members), means[members], components[members], accuracy)
            for members in cells
        )
    )


def _split_cell(
    members: np.ndarray,
    rows: np.ndarray,
    means: np.ndarray,
    components: np.ndarray,
    accuracy: float,
) -> Cell:
    basis, n_constants = _with_constants_first(means, components)
    constants, rest = basis[:, :n_constants], basis[:, n_constants:]
    if not rest.shape[1]:
        return Cell(members, constants, rest)
    bumps = rest.T @ rows
    Q, R, _ = qr(bumps, mode="full" if len(bumps) > rows.shape[1] else "economic", pivoting=True)
    # |T Q|_F of all but the first r columns, for each r
    tails = np.sqrt(np.cumsum(np.sum(R**2, axis=1)[::-1])[::-1])
    rank = int(np.count_nonzero(tails > accuracy))
    scaling = np.concatenate([constants, rest @ Q[:, :rank]], axis=1)
    return Cell(members, scaling, rest @ Q[:, rank:])


def _with_constants_first(means: np.ndarray, components: np.ndarray) -> tuple[np.ndarray, int]:
    """Return an orthogonal matrix (b, b), and how many of its columns span the constants."""
    present, column = np.unique(components, return_inverse=True)
    constants = np.zeros((len(means), len(present)))
    constants[np.arange(len(means)), column] = means
    constants = constants[:, np.linalg.norm(constants, axis=0) > ROUNDING]
    n_constants = constants.shape[1]
    if not n_constants:
        return np.eye(len(means)), 0
    basis, triangle = np.linalg.qr(constants, mode="complete")
    basis[:, :n_constants] *= np.sign(np.diagonal(triangle))
    return basis, n_constants
