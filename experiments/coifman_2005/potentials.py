"""Points drawn from Boltzmann densities exp(-U), and the spectra of their diffusions.

The Langevin equation is that of Coifman et al. (2005), (2.7),

    dx = -U'(x) dt + sqrt(2) dw,

its stationary density is p = exp(-U), up to a factor, and its backward generator (2.9) is

    G f = f'' - U' f'.

Spectra here are those of -G, which has the eigenvalues 0 = mu_0 < mu_1 <= mu_2 ... The generator
of a diffusion map of points drawn from exp(-U) tends to f'' - 2 (1 - alpha) U' f': to G for
alpha = 1/2, to the G of the potential 2 U for alpha = 0, to f'' for alpha = 1 (section 2.3).
Points are drawn independently; the double well's figure is made of paths of the equation, from
`experiments.coifman_2005.langevin`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline
from scipy.linalg import eigh_tridiagonal
from sklearn.utils import check_random_state

from diffclass._validation import RandomState, check_points, check_positive
from diffclass.exceptions import ParameterError
from experiments.datasets.arclength import Floats

Potential = Callable[[Floats], ArrayLike]

QUANTILE_GRID = 20001  # nodes of the table from which a potential's density is inverted


def sample_potential(
    n_points: int,
    *,
    potential: Potential,
    interval: tuple[float, float],
    random_state: RandomState = None,
) -> tuple[Floats, Floats]:
    """Draw independent numbers from the density exp(-U) on an interval.

    Inverts the distribution function, tabulated at 20,001 nodes.

    Parameters
    ----------
    n_points : int
        Number of points, at least 1.
    potential : callable
        U: takes an array of shape (m,) and returns one of the same shape, all finite.
    interval : tuple of two floats
        Ends a < b; outside, the density is 0.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_points, 1), float64
    parameters : ndarray of shape (n_points,), float64
        The same numbers.

    Raises
    ------
    ParameterError
        If ``n_points`` or ``interval`` is out of range, or U is not finite on it.

    References
    ----------
    Coifman et al. (2005), section 2.3.

    Examples
    --------
    >>> from experiments.coifman_2005.potentials import sample_potential
    >>> X, x = sample_potential(
    ...     5000, potential=lambda x: 3 * x, interval=(0.0, 9.0), random_state=0
    ... )
    >>> X.shape, bool(abs(x.mean() - 1 / 3) < 0.02)
    ((5000, 1), True)
    """
    check_positive(n_points, "n_points", integer=True)
    nodes = np.linspace(*_ends(interval), QUANTILE_GRID)
    u = _values(potential, nodes)
    density = np.exp(u.min() - u)
    mass = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]))])
    levels = check_random_state(random_state).random_sample(n_points) * mass[-1]
    x = np.interp(levels, mass, nodes)
    return x[:, None].copy(), x


def double_well(x: ArrayLike, *, barrier: float = 3.0) -> Floats:
    """Return the double well U(x) = barrier (x^2 - 1)^2: minima 0 at -1 and 1.

    Parameters
    ----------
    x : array-like
        Points of the line.
    barrier : float, default=3.0
        U(0), in units of the temperature, above 0.

    Returns
    -------
    ndarray of the shape of ``x``, float64

    Raises
    ------
    ParameterError
        If ``barrier`` is not above 0.

    Examples
    --------
    >>> from experiments.coifman_2005.potentials import double_well
    >>> double_well([-1.0, 0.0, 1.0, 2.0]).tolist()
    [0.0, 3.0, 0.0, 27.0]
    """
    check_positive(barrier, "barrier")
    return barrier * (np.asarray(x, dtype=np.float64) ** 2 - 1.0) ** 2


def sample_double_well(
    n_points: int, *, barrier: float = 3.0, random_state: RandomState = None
) -> tuple[Floats, Floats]:
    """Draw independent numbers from exp(-U) of the double well U(x) = barrier (x^2 - 1)^2.

    The spectrum has no closed form; `fokker_planck_spectrum` computes it. Its first eigenvalue
    that is not 0 is the small rate of crossing the barrier, and its eigenfunction separates the
    wells.

    Parameters
    ----------
    n_points : int
        Number of points, at least 1.
    barrier : float, default=3.0
        U(0), in units of the temperature, above 0.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_points, 1), float64
    parameters : ndarray of shape (n_points,), float64
        The same numbers.

    Raises
    ------
    ParameterError
        If ``n_points`` or ``barrier`` is out of range.

    References
    ----------
    Coifman et al. (2005), sections 2.2, after (2.6), and 2.3.

    Examples
    --------
    >>> from experiments.coifman_2005.potentials import (
    ...     double_well, fokker_planck_spectrum, sample_double_well
    ... )
    >>> X, x = sample_double_well(2000, random_state=0)
    >>> bool(abs((x > 0).mean() - 0.5) < 0.05)
    True
    >>> fokker_planck_spectrum(double_well, (-2.6, 2.6), n_pairs=3).eigenvalues.round(3).tolist()
    [0.0, 0.242, 10.485]
    """
    check_positive(barrier, "barrier")
    # U rises to 60 above its minima: the rest has a probability of 1e-26.
    end = float(np.sqrt(1.0 + np.sqrt(60.0 / barrier)))
    return sample_potential(
        n_points,
        potential=lambda x: double_well(x, barrier=barrier),
        interval=(-end, end),
        random_state=random_state,
    )


def sample_ornstein_uhlenbeck(
    n_points: int, *, theta: float = 1.0, random_state: RandomState = None
) -> tuple[Floats, Floats]:
    """Draw independent numbers from the Ornstein-Uhlenbeck density, exp(-theta x^2 / 2).

    U(x) = theta x^2 / 2, G f = f'' - theta x f'. Eigenpairs of -G: k theta, k = 0, 1, 2, ...,
    simple, with the Hermite polynomials of `ornstein_uhlenbeck_spectrum`.

    Parameters
    ----------
    n_points : int
        Number of points, at least 1.
    theta : float, default=1.0
        Stiffness, above 0; the variance is 1 / theta.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_points, 1), float64
    parameters : ndarray of shape (n_points,), float64
        The same numbers.

    Raises
    ------
    ParameterError
        If ``n_points`` or ``theta`` is out of range.

    References
    ----------
    Coifman et al. (2005), section 2.3, with a quadratic U.

    Examples
    --------
    >>> from experiments.coifman_2005.potentials import sample_ornstein_uhlenbeck
    >>> X, x = sample_ornstein_uhlenbeck(5000, theta=4.0, random_state=0)
    >>> X.shape, bool(abs(x.std() - 0.5) < 0.02)
    ((5000, 1), True)
    """
    check_positive(n_points, "n_points", integer=True)
    check_positive(theta, "theta")
    x = check_random_state(random_state).standard_normal(n_points) / np.sqrt(theta)
    return x[:, None].copy(), x


def ornstein_uhlenbeck_spectrum(
    x: ArrayLike, *, n_pairs: int = 5, theta: float = 1.0
) -> tuple[Floats, Floats]:
    """Return the eigenvalues k theta of -(f'' - theta x f') and its eigenfunctions at x.

    f_k(x) = He_k(sqrt(theta) x) / sqrt(k!), by the recurrence
    sqrt(k + 1) f_{k+1} = z f_k - sqrt(k) f_{k-1}, z = sqrt(theta) x.

    Parameters
    ----------
    x : array-like of shape (n,)
        Points of the line.
    n_pairs : int, default=5
        Number of pairs, the constant one included, at least 1.
    theta : float, default=1.0
        Stiffness, above 0.

    Returns
    -------
    eigenvalues : ndarray of shape (n_pairs,), float64
    eigenfunctions : ndarray of shape (n, n_pairs), float64
        Of mean square 1 under the stationary density, positive at the right end.

    Raises
    ------
    ParameterError
        If ``n_pairs`` or ``theta`` is out of range.
    DataError
        If ``x`` holds NaN or infinity.

    Examples
    --------
    >>> from experiments.coifman_2005.potentials import ornstein_uhlenbeck_spectrum
    >>> eigenvalues, functions = ornstein_uhlenbeck_spectrum([0.0, 2.0], n_pairs=3, theta=0.25)
    >>> eigenvalues.tolist(), functions[1].round(3).tolist()
    ([0.0, 0.25, 0.5], [1.0, 1.0, 0.0])
    """
    check_positive(n_pairs, "n_pairs", integer=True)
    check_positive(theta, "theta")
    z = np.sqrt(theta) * check_points(np.reshape(x, (-1, 1)), name="x")[:, 0]
    functions = np.ones((len(z), n_pairs + 1), dtype=np.float64)
    functions[:, 1] = z
    for k in range(1, n_pairs):
        functions[:, k + 1] = z * functions[:, k] - np.sqrt(k) * functions[:, k - 1]
        functions[:, k + 1] /= np.sqrt(k + 1)
    return theta * np.arange(n_pairs), functions[:, :n_pairs].copy()


@dataclass(frozen=True)
class FokkerPlanckSpectrum:
    """Leading eigenpairs of -(f'' - U' f') on an interval.

    Attributes
    ----------
    eigenvalues : ndarray of shape (n_pairs,), float64
        Increasing from 0, in units of 1 / time.
    eigenfunctions : ndarray of shape (n_grid, n_pairs), float64
        Eigenfunctions on ``grid``, of mean square 1 under ``weights``; each is positive where the
        density ends on the right.
    grid : ndarray of shape (n_grid,), float64
        Middles of the cells that divide the interval.
    weights : ndarray of shape (n_grid,), float64
        Probability of each cell under exp(-U); they sum to 1.
    """

    eigenvalues: Floats
    eigenfunctions: Floats
    grid: Floats
    weights: Floats

    def at(self, x: ArrayLike) -> Floats:
        """Return the eigenfunctions at ``x`` of shape (n,) by spline, of shape (n, n_pairs)."""
        places = np.asarray(x, dtype=np.float64)
        # In the outer halves of the outer cells the functions are taken as constant.
        inside = np.clip(places, self.grid[0], self.grid[-1])
        return CubicSpline(self.grid, self.eigenfunctions)(inside)


def fokker_planck_spectrum(
    potential: Potential,
    interval: tuple[float, float],
    *,
    n_grid: int = 2000,
    n_pairs: int = 5,
) -> FokkerPlanckSpectrum:
    """Compute the leading eigenpairs of -(f'' - U' f') with reflecting ends.

    With p = exp(-U), this solves -(1 / p) (p f')' = mu f with f' = 0 at both ends by finite volumes
    of width h: between the cells i and i + 1, whose common wall is at i + 1/2, the flow is
    p_{i+1/2} (f_{i+1} - f_i) / h. In the unknowns sqrt(p) f the matrix is symmetric and
    tridiagonal. Errors fall as h^2.

    Parameters
    ----------
    potential : callable
        U: takes an array of shape (m,) and returns one of the same shape, all finite.
    interval : tuple of two floats
        Ends a < b. Where U is more than about 60 above its minimum, rounding errors dominate;
        a narrower interval gives the same result.
    n_grid : int, default=2000
        Number of cells, more than ``n_pairs``.
    n_pairs : int, default=5
        Number of pairs, the constant one with eigenvalue 0 included, at least 1.

    Returns
    -------
    FokkerPlanckSpectrum
        Eigenvalues, eigenfunctions, grid and weights.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or U is not finite on the interval.

    References
    ----------
    Coifman et al. (2005), section 2.3, equations (2.7) to (2.9).

    Examples
    --------
    >>> from experiments.coifman_2005.potentials import fokker_planck_spectrum
    >>> spectrum = fokker_planck_spectrum(lambda x: x**2 / 2, (-8.0, 8.0), n_pairs=4)
    >>> abs(spectrum.eigenvalues).round(3).tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    check_positive(n_pairs, "n_pairs", integer=True)
    if check_positive(n_grid, "n_grid", integer=True) <= n_pairs:
        raise ParameterError(f"n_grid = {n_grid}; it has to be above n_pairs = {n_pairs}")
    a, b = _ends(interval)
    h = (b - a) / n_grid
    u = _values(potential, a + 0.5 * h * np.arange(1, 2 * n_grid))
    cells, walls = u[::2], u[1::2]
    # Ratios of p are computed from differences of U: p itself underflows far from the minimum.
    diagonal = np.zeros(n_grid)
    diagonal[:-1] += np.exp(cells[:-1] - walls)
    diagonal[1:] += np.exp(cells[1:] - walls)
    beside = -np.exp(0.5 * (cells[:-1] + cells[1:]) - walls)
    eigenvalues, vectors = eigh_tridiagonal(
        diagonal / h**2, beside / h**2, select="i", select_range=(0, n_pairs - 1)
    )
    weights = np.exp(cells.min() - cells)
    weights /= weights.sum()
    eigenvalues[0], vectors[:, 0] = 0.0, np.sqrt(weights)  # exact for this matrix
    functions = _signed(vectors) * np.exp(0.5 * (cells - cells.min()))[:, None]
    functions /= np.sqrt(weights @ functions**2)
    grid = a + h * (np.arange(n_grid) + 0.5)
    return FokkerPlanckSpectrum(eigenvalues, functions, grid, weights)


def _signed(vectors: Floats) -> Floats:
    """Make the last entry of each column that is not negligible positive."""
    large = np.abs(vectors) > 1e-3 * np.abs(vectors).max(axis=0)
    last = len(vectors) - 1 - np.argmax(large[::-1], axis=0)
    return vectors * np.sign(vectors[last, np.arange(vectors.shape[1])])


def _ends(interval: Any) -> tuple[float, float]:
    """Return the ends of an interval of positive, finite length."""
    try:
        a, b = (float(end) for end in interval)
    except (TypeError, ValueError):
        a = b = np.nan
    if not (np.isfinite(b - a) and a < b):
        raise ParameterError(f"interval = {interval!r}; it has to be two numbers a < b")
    return a, b


def _values(potential: Potential, x: Floats) -> Floats:
    """Return U at x, or raise a `ParameterError` that says where it is not finite."""
    u = np.asarray(potential(x), dtype=np.float64)
    if u.shape != x.shape:
        raise ParameterError(f"potential returned shape {u.shape} for points of shape {x.shape}")
    if not np.isfinite(u).all():
        place = x[np.argmin(np.isfinite(u))]
        raise ParameterError(f"potential is not finite at {place:.6g}; choose a narrower interval")
    return u
