"""Paths of the Langevin equation, whose points are drawn from exp(-U) in the long run.

    dx = -grad U(x) dt + sqrt(2) dw

A step of length h proposes x' = x - h grad U(x) + sqrt(2 h) z, z standard normal, and takes it with
probability min(1, p(x') g(x | x') / (p(x) g(x' | x))), g the density of the proposal: so exp(-U)
is stationary exactly, for every h, and the path follows the equation up to an error of order h.

Sources: Coifman et al. 2005, section 2.3 (equation 2.7); G. Roberts and R. Tweedie, Exponential
convergence of Langevin distributions and their discrete approximations, 1996 (the test).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from diffclass._validation import RandomState, check_points, check_positive
from diffclass.exceptions import ParameterError
from experiments.coifman_2005.potentials import double_well
from experiments.datasets.arclength import Floats


def langevin_path(
    n_points: int,
    *,
    potential: Callable[[Floats], ArrayLike],
    gradient: Callable[[Floats], ArrayLike],
    start: ArrayLike,
    step: float,
    thinning: int = 1,
    random_state: RandomState = None,
) -> tuple[Floats, Floats]:
    """Simulate a path of dx = -grad U dt + sqrt(2) dw in any number of dimensions.

    Parameters
    ----------
    n_points : int
        Number of points kept, at least 1; the start is not among them.
    potential : callable
        U: takes a point of shape (d,) and returns a number.
    gradient : callable
        grad U: takes a point of shape (d,) and returns an array of shape (d,).
    start : array-like of shape (d,)
        Where the path begins.
    step : float
        Length h of a step, in units of time; small against the inverse of U's curvature.
    thinning : int, default=1
        Steps from one point kept to the next.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_points, d), float64
        The path. Points that follow each other are alike: it takes the relaxation time of U until
        they are independent.
    times : ndarray of shape (n_points,), float64
        When it was there.

    Raises
    ------
    ParameterError
        If a number is out of range, or if U or its gradient is not finite on the path.

    Examples
    --------
    >>> from experiments.coifman_2005.langevin import langevin_path
    >>> X, times = langevin_path(
    ...     4000, potential=lambda x: x @ x / 2, gradient=lambda x: x, start=[0.0],
    ...     step=0.1, thinning=5, random_state=0,
    ... )
    >>> X.shape, bool(abs(X.std() - 1) < 0.1)
    ((4000, 1), True)
    """
    check_positive(n_points, "n_points", integer=True)
    check_positive(step, "step")
    check_positive(thinning, "thinning", integer=True)
    random = check_random_state(random_state)
    x = check_points(np.reshape(start, (1, -1)), name="start")[0].astype(np.float64)
    u, drift = _at(potential, gradient, x)
    path = np.empty((n_points, len(x)))
    for point in range(n_points):
        noise = random.standard_normal((thinning, len(x))) * np.sqrt(2 * step)
        levels = np.log1p(-random.random_sample(thinning))
        for z, level in zip(noise, levels, strict=True):
            new = x + step * drift + z
            new_u, new_drift = _at(potential, gradient, new)
            back = x - new - step * new_drift
            if level < u - new_u + (z @ z - back @ back) / (4 * step):
                x, u, drift = new, new_u, new_drift
        path[point] = x
    return path, step * thinning * np.arange(1, n_points + 1)


def double_well_path(
    n_points: int,
    *,
    barrier: float = 3.0,
    step: float = 0.01,
    thinning: int = 10,
    random_state: RandomState = None,
) -> tuple[Floats, Floats]:
    """Simulate a path in the double well U(x) = barrier (x^2 - 1)^2, from the well at -1.

    Its stationary density is that of `sample_double_well`; the wells are visited in turn, for about
    twice the relaxation time 1 / mu_1 of `fokker_planck_spectrum` each.

    Parameters
    ----------
    n_points : int
        Number of points kept, at least 1.
    barrier : float, default=3.0
        U(0), in units of the temperature, above 0.
    step, thinning, random_state
        As in `langevin_path`.

    Returns
    -------
    X : ndarray of shape (n_points, 1), float64
    times : ndarray of shape (n_points,), float64

    Raises
    ------
    ParameterError
        If a number is out of range.

    Examples
    --------
    >>> from experiments.coifman_2005.langevin import double_well_path
    >>> X, times = double_well_path(500, random_state=0)
    >>> X.shape, float(times[-1].round(6))
    ((500, 1), 50.0)
    """
    check_positive(barrier, "barrier")
    return langevin_path(
        n_points,
        potential=lambda x: double_well(x, barrier=barrier)[0],
        gradient=lambda x: 4 * barrier * x * (x**2 - 1),
        start=[-1.0],
        step=step,
        thinning=thinning,
        random_state=random_state,
    )


def _at(
    potential: Callable[[Floats], ArrayLike], gradient: Callable[[Floats], ArrayLike], x: Floats
) -> tuple[float, Floats]:
    """Return U and -grad U at a point."""
    u, slope = np.asarray(potential(x), dtype=np.float64), np.asarray(gradient(x), dtype=np.float64)
    if u.shape or slope.shape != x.shape:
        raise ParameterError(
            f"at a point of shape {x.shape} the potential has shape {u.shape} and the gradient "
            f"{slope.shape}; they have to be () and {x.shape}"
        )
    if not (np.isfinite(u) and np.isfinite(slope).all()):
        raise ParameterError(
            f"the potential or its gradient is not finite at {x}; take shorter steps"
        )
    return float(u), -slope
