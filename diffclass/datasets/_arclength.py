"""Points on a curve with a given density along its arclength.

With u in [0, 1) the arclength divided by the length of the curve, the density is

    p(u) = 1 + density * cos(w u),   w = 2 pi on closed curves, pi on open ones,

so that its slope is zero at the ends of an open curve, as that of Neumann eigenfunctions.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from sklearn.utils import check_random_state

from diffclass._validation import RandomState, check_positive
from diffclass.exceptions import ParameterError

Floats = NDArray[np.floating]

GRID = 8193  # nodes of a curve's arclength table: errors of 1e-9 of the length and less


def length_shares(
    n_points: int, *, density: float, regular: bool, closed: bool, rng: np.random.RandomState
) -> Floats:
    """Draw (or, if ``regular``, space evenly in probability) arclengths over the length, 0 to 1."""
    check_positive(n_points, "n_points", integer=True)
    check_contrast(density)
    if regular:
        # Half a step from open ends: discrete cosines are the eigenvectors on this grid.
        levels = (np.arange(n_points) + (0.0 if closed else 0.5)) / n_points
    else:
        levels = rng.random_sample(n_points)
    return _quantiles(levels, density, w=2.0 * np.pi if closed else np.pi)


def check_contrast(density: float) -> None:
    """Refuse a contrast at which the density would be zero or negative somewhere."""
    if check_positive(density, "density", zero=True) >= 1:
        raise ParameterError(
            f"density = {density!r}; it has to be below 1 (the density is 1 + density * cos)"
        )


def _quantiles(levels: Floats, density: float, *, w: float) -> Floats:
    """Solve u + density * sin(w u) / w = level, Kepler's equation."""
    grid = np.linspace(0.0, 1.0, 2049)
    u = np.interp(levels, grid + density * np.sin(w * grid) / w, grid)
    for _ in range(3):  # Newton from an interpolated start
        u -= (u + density * np.sin(w * u) / w - levels) / (1.0 + density * np.cos(w * u))
    return np.clip(u, 0.0, 1.0)


def along_curve(
    position: Callable[[Floats], Floats], start: float, stop: float, shares: Floats
) -> tuple[Floats, Floats]:
    """Return the points (n, d) and arclengths (n,) at shares of the length of position(t)."""
    t = np.linspace(start, stop, GRID)
    speed = np.linalg.norm(CubicSpline(t, position(t)).derivative()(t), axis=1)
    arclength = CubicSpline(t, speed).antiderivative()(t)
    s = shares * arclength[-1]
    return position(CubicSpline(arclength, t)(s)), s


def with_noise(X: Floats, noise: float, rng: np.random.RandomState) -> Floats:
    """Add Gaussian noise of standard deviation ``noise`` to every coordinate."""
    check_positive(noise, "noise", zero=True)
    return X + noise * rng.standard_normal(X.shape) if noise else X


def generator(random_state: RandomState) -> np.random.RandomState:
    """Return the RandomState of a seed, as scikit-learn understands seeds.

    Raises
    ------
    ParameterError
        If it is not a seed.
    """
    try:
        return check_random_state(random_state)
    except ValueError as error:
        raise ParameterError(f"random_state: {error}") from None
