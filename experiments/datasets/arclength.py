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

Floats = NDArray[np.floating]
Seed = int | np.random.RandomState | None

GRID = 8193  # nodes of a curve's arclength table: errors of 1e-9 of the length and less


def length_shares(
    n_points: int, *, density: float, regular: bool, closed: bool, rng: np.random.RandomState
) -> Floats:
    """Draw arclengths over the length, or space them evenly in probability, from 0 to 1."""
    if regular:
        # Half a step from open ends: discrete cosines are the eigenvectors on this grid.
        levels = (np.arange(n_points) + (0.0 if closed else 0.5)) / n_points
    else:
        levels = rng.random_sample(n_points)
    return _quantiles(levels, density, w=2.0 * np.pi if closed else np.pi)


def _quantiles(levels: Floats, density: float, *, w: float) -> Floats:
    """Solve u + density * sin(w u) / w = level, Kepler's equation, for 0 <= density < 1."""
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
    return X + noise * rng.standard_normal(X.shape) if noise else X
