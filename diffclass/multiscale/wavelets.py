"""Diffusion wavelets: the powers A, A^2, A^4, ... on ever smaller spaces, and their bases.

With S = D^1/2 A D^-1/2, the symmetric conjugate of the walk, and V_0 all functions,

    V_j = V_{j+1} + W_{j+1},    |S^(2^j) restricted to W_{j+1}| <= accuracy
    T_0 = S,    T_{j+1} = (Q_j' T_j Q_j)^2,    Q_j the scaling functions of V_{j+1} in V_j

T_j is S^(2^j) on V_j. A step of t is the product of the T_j of t's binary digits:

    A^t f  =  limit + pi^-1/2 Q_0 ... Q_{j-1} T_j Q_{j-1}' ... Q_0' pi^1/2 (f - limit),   t = 2^j

where the limit, the mean of f on each component, is exact. Functions phi with the coefficients
pi^1/2 phi are orthonormal in the weights pi. What is neglected: wavelets, at most the accuracy in
each cell of about 256 functions; and columns of a cell's rows below a millionth of it.

Source: R. Coifman and M. Maggioni, Diffusion wavelets, Applied and Computational Harmonic Analysis
21 (2006), section 4; announced in Coifman et al. 2005, sections 2.1 and 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from diffclass._validation import RandomState, check_kind, check_positive, check_unmasked
from diffclass.exceptions import ParameterError
from diffclass.multiscale.levels import MOST_LEVELS, Level, compressed_levels
from diffclass.operators.markov import MarkovOperator
from diffclass.system.progress import stage

MAX_ENTRIES = 400_000_000


def diffusion_wavelets(
    operator: MarkovOperator,
    *,
    accuracy: float = 1e-6,
    max_levels: int | None = None,
    max_entries: int = MAX_ENTRIES,
    random_state: RandomState = 0,
) -> DiffusionWavelets:
    """Compress the powers A, A^2, A^4, ... of a walk, and return their multiscale bases.

    Parameters
    ----------
    operator : MarkovOperator
        Of n distinct points; equal ones have one value.
    accuracy : float, default=1e-6
        1e-12 to 0.1: functions of a cell that a power shrinks to less, of norm 1 in the weights pi,
        are left out. The error of A^t f is of this order.
    max_levels : int, optional
        Largest number of powers, at most 64. By default they end where only constants are left.
    max_entries : int, default=400_000_000
        Largest number of entries of one power, 8 bytes each.
    random_state : int, RandomState or None, default=0
        Draws the cells.

    Raises
    ------
    ParameterError
        If the accuracy is out of range, or if a power has too many entries.

    Notes
    -----
    On a graph of dimension d a power has about n log(1 / accuracy)^d entries before its rank falls:
    it pays in one or two dimensions, for many functions and times. In more, take
    `MarkovOperator.apply` or `leading_eigenpairs`.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import markov_operator
    >>> from diffclass.multiscale import diffusion_wavelets
    >>> A = markov_operator(np.linspace(0, 1, 400)[:, None], n_neighbors=8)
    >>> wavelets = diffusion_wavelets(A)
    >>> bool(wavelets.ranks[7] < 60), wavelets.ranks[[0, -1]]
    (True, array([400,   1]))
    >>> f = np.sin(np.arange(400.0))
    >>> bool(np.allclose(wavelets.apply(f, 10**6), A.apply(f, 10**6), atol=1e-6))
    True
    """
    check_kind(operator, "operator", MarkovOperator, example="markov_operator(X)")
    check_positive(accuracy, "accuracy")
    if not 1e-12 <= accuracy <= 0.1:
        raise ParameterError(f"accuracy = {accuracy:g}; it has to be from 1e-12 to 0.1")
    check_positive(max_entries, "max_entries", integer=True)
    n_levels = MOST_LEVELS if max_levels is None else max_levels
    check_positive(n_levels, "max_levels", integer=True)
    with stage("wavelets"):
        levels = compressed_levels(
            operator,
            accuracy,
            max_levels=min(n_levels, MOST_LEVELS),
            max_entries=max_entries,
            random_state=random_state,
        )
    return DiffusionWavelets(
        levels, operator.stationary_distribution, operator.components, accuracy
    )


@dataclass(frozen=True, eq=False)
class DiffusionWavelets:
    """Compressed powers of a walk and their orthonormal bases. Make one with `diffusion_wavelets`.

    Parameters
    ----------
    levels : tuple of Level
        Level j holds A^(2^j).
    stationary_distribution : ndarray of shape (n,)
        pi.
    components : ndarray of int of shape (n,)
        Component of the graph that holds each point.
    accuracy : float
        The accuracy asked for.

    Examples
    --------
    A step function; the share of its square in the wavelets of each level, and in what is left:

    >>> import numpy as np
    >>> from diffclass import diffusion_wavelets, markov_operator
    >>> A = markov_operator(np.linspace(0, 1, 100)[:, None], n_neighbors=4)
    >>> wavelets = diffusion_wavelets(A, accuracy=1e-3)
    >>> step = np.where(np.arange(100) < 50, -1.0, 1.0)
    >>> coefficients = wavelets.transform(step)
    >>> [round(float(np.sum(part**2)), 2) for part in coefficients]
    [0.0, 0.0, 0.01, 0.0, 0.0, 0.01, 0.01, 0.02, 0.02, 0.03, 0.0, 0.09, 0.0, 0.0, 0.81, 0.0]
    >>> float(abs(wavelets.inverse_transform(coefficients) - step).max().round(9))
    0.0
    """

    levels: tuple[Level, ...]
    stationary_distribution: np.ndarray
    components: np.ndarray
    accuracy: float

    def __len__(self) -> int:
        return len(self.stationary_distribution)

    @property
    def ranks(self) -> np.ndarray:
        """Dimensions of V_0, V_1, ..., int of shape (n_levels + 1,); the first is n."""
        sizes = [len(self)]
        for level in self.levels:
            sizes.append(sizes[-1] if level.split is None else level.split.n_scaling)
        return np.array(sizes)

    @property
    def n_entries(self) -> int:
        """Number of stored entries of all powers and bases; 8 to 12 bytes each."""
        return sum(level.n_entries for level in self.levels)

    def apply(self, f: ArrayLike, n_steps: int | Sequence[int] | np.ndarray = 1) -> np.ndarray:
        """Diffuse functions (n,) or (n, m) backward: A^t f, for any t from 0 on.

        Several times are the first axis of what is returned. Raises `ParameterError` if a time is
        beyond the levels.
        """
        if np.ndim(n_steps):
            times: Sequence[int] = list(np.asarray(n_steps))
            return np.stack([self.apply(f, t) for t in times])
        t = int(check_positive(n_steps, "n_steps", integer=True, zero=True))
        columns = self._columns(f)
        limit = self._component_means(columns)
        fluctuation = self._power(self._root * (columns - limit), t) / self._root
        return (limit + fluctuation).reshape(np.shape(f))

    def transform(self, f: ArrayLike) -> list[np.ndarray]:
        """Return the coefficients of functions (n,) or (n, m) in all wavelets and what is left.

        Returns
        -------
        list of n_levels + 1 ndarrays of shape (n_coefficients,) or (n_coefficients, m)
            Of W_1, W_2, ..., and of the last V. The sum of their squares is sum pi f^2.
        """
        coefficients = self._root * self._columns(f)
        found = []
        for level in self.levels:
            coefficients, wavelets = level.down(coefficients)
            found.append(wavelets)
        return [part.reshape(-1, *np.shape(f)[1:]) for part in (*found, coefficients)]

    def inverse_transform(self, coefficients: Sequence[np.ndarray]) -> np.ndarray:
        """Return the functions that have the coefficients that `transform` returns."""
        sizes = [*(-np.diff(self.ranks)), self.ranks[-1]]
        given = [len(part) for part in coefficients]
        if given != sizes:
            raise ParameterError(f"there are {given} coefficients; the levels have {sizes}")
        n_columns = int(np.prod(np.shape(coefficients[-1])[1:]))
        *wavelets, scaling = [np.reshape(part, (len(part), n_columns)) for part in coefficients]
        shape = (len(self), *np.shape(coefficients[-1])[1:])
        for level, detail in zip(self.levels[::-1], wavelets[::-1], strict=True):
            scaling = level.up(scaling, detail)
        return (scaling / self._root).reshape(shape)

    def scaling_functions(self, level: int, which: ArrayLike | None = None) -> np.ndarray:
        """Return scaling functions: orthogonalised bumps of A^(2^(level - 1)), a basis of V_level.

        Parameters
        ----------
        level : int
            From 0 to the number of levels.
        which : array-like of int of shape (m,), optional
            Numbers of the functions, in each cell the constant first; all by default.

        Returns
        -------
        ndarray of shape (n, m)
            Functions on the points, orthonormal in the weights pi.
        """
        rank = int(self.ranks[self._checked_level(level)])
        return self._raised(_unit_columns(rank, which), level)

    def wavelets(self, level: int, which: ArrayLike | None = None) -> np.ndarray:
        """Return wavelets: a basis of W_level, what V_{level - 1} has beyond V_level.

        The level is from 1; else as `scaling_functions`.
        """
        ranks, level = self.ranks, self._checked_level(level, 1)
        units = _unit_columns(int(ranks[level - 1] - ranks[level]), which)
        nothing = np.zeros((int(ranks[level]), units.shape[1]))
        return self._raised(self.levels[level - 1].up(nothing, units), level - 1)

    def smooth(self, f: ArrayLike, level: int) -> np.ndarray:
        """Project functions on V_level: leave out what A^(2^(level - 1)) would erase.

        Functions are (n,) or (n, m). Level 0 changes nothing; a constant stays as it is at all
        levels.
        """
        coefficients = self._root * self._columns(f)
        for finer in self.levels[: self._checked_level(level)]:
            coefficients = finer.down(coefficients)[0]
        return self._raised(coefficients, level).reshape(np.shape(f))

    @property
    def _root(self) -> np.ndarray:
        return np.sqrt(self.stationary_distribution)[:, None]

    def _power(self, coefficients: np.ndarray, t: int) -> np.ndarray:
        """Return S^t of coefficients of V_0 that have no constant part."""
        passed = 0
        while t and passed < len(self.levels):  # t's binary digits, the lowest first
            level = self.levels[passed]
            if t & 1:
                coefficients = level.power @ coefficients
            t >>= 1
            if t:
                coefficients, passed = level.down(coefficients)[0], passed + 1
        # no level is left for the rest of t: right only if all that is left are constants, which f
        # - limit has none of
        if t and len(coefficients) > self.components.max() + 1:
            raise ParameterError(f"n_steps has to be below 2^{passed}; take more levels")
        if t:
            coefficients = np.zeros_like(coefficients)
        for level in self.levels[:passed][::-1]:
            coefficients = level.up(coefficients)
        return coefficients

    def _raised(self, coefficients: np.ndarray, level: int) -> np.ndarray:
        for finer in self.levels[:level][::-1]:
            coefficients = finer.up(coefficients)
        return coefficients / self._root

    def _component_means(self, columns: np.ndarray) -> np.ndarray:
        weights = self.stationary_distribution
        n_components = int(self.components.max()) + 1
        totals = np.zeros((n_components, columns.shape[1]))
        np.add.at(totals, self.components, weights[:, None] * columns)
        masses = np.bincount(self.components, weights)
        return (totals / masses[:, None])[self.components]

    def _columns(self, f: ArrayLike) -> np.ndarray:
        check_unmasked(f, name="f")
        columns = np.asarray(f, dtype=np.float64)
        if columns.ndim not in (1, 2) or len(columns) != len(self):
            raise ParameterError(
                f"the functions have shape {columns.shape}; there are {len(self)} distinct points "
                "(operator.nodes.means leads to their values, operator.at_points back)"
            )
        return columns.reshape(len(self), -1)

    def _checked_level(self, level: int, first: int = 0) -> int:
        check_positive(level, "level", integer=True, zero=True)
        if not first <= level <= len(self.levels):
            raise ParameterError(f"level = {level}; there are {first} to {len(self.levels)}")
        return level


def _unit_columns(n: int, which: ArrayLike | None) -> np.ndarray:
    numbers = np.arange(n) if which is None else np.atleast_1d(np.asarray(which))
    if numbers.dtype.kind not in "iu" or ((numbers < 0) | (numbers >= n)).any():
        raise ParameterError(f"functions are numbered 0 to {n - 1}; got {which!r}")
    columns = np.zeros((n, len(numbers)))
    columns[numbers, np.arange(len(numbers))] = 1
    return columns
