"""Curves, closed and open, sampled evenly or not: the same geometry with different densities.

-Delta on a closed curve of length L has the eigenvalues (2 pi k / L)^2, double for k > 0, with
cos and sin of 2 pi k s / L; on an open curve with Neumann ends (pi k / L)^2, simple, with
cos(pi k s / L); s is the arclength. The embedding of the curve in space does not matter.

``density`` is the contrast of the density, from 0 (uniform) to below 1: it is
1 + density * cos(2 pi s / L) on closed curves and 1 + density * cos(pi s / L) on open ones.
``regular`` takes the quantiles of the density instead of drawing from it.
"""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from experiments.datasets.arclength import Floats, Seed, along_curve, length_shares, with_noise

ROLL = (1.5 * np.pi, 4.5 * np.pi)  # angles between which the planar roll winds, radians
HELIX_WINDINGS = 8


def make_circle(
    n_points: int,
    *,
    density: float = 0.0,
    noise: float = 0.0,
    regular: bool = False,
    random_state: Seed = None,
) -> tuple[Floats, Floats]:
    """Sample the unit circle; the parameter is the angle theta in [0, 2 pi).

    ``noise`` is the standard deviation of the radius about 1. Shan and Daubechies (2022), section
    3, figures 7 and 8, give neither the density nor the noise of their 512 points; density 0.6,
    without noise and with 0.05, matches their description.
    """
    rng = check_random_state(random_state)
    theta = (2.0 * np.pi) * length_shares(
        n_points, density=density, regular=regular, closed=True, rng=rng
    )
    radius = 1.0 + noise * rng.standard_normal(n_points) if noise else np.ones(n_points)
    return radius[:, None] * np.column_stack([np.cos(theta), np.sin(theta)]), theta


def make_interval(
    n_points: int,
    *,
    length: float = 2.0 * np.pi,
    density: float = 0.0,
    regular: bool = False,
    random_state: Seed = None,
) -> tuple[Floats, Floats]:
    """Sample the interval [0, length]; the parameter is the arclength."""
    rng = check_random_state(random_state)
    s = length * length_shares(n_points, density=density, regular=regular, closed=False, rng=rng)
    return s[:, None].copy(), s


def make_planar_roll(n_points: int, *, random_state: Seed = None) -> tuple[Floats, Floats]:
    """Sample the spiral (t cos t, t sin t) at t = (3 pi / 2) (1 + 2 u), u uniform.

    The parameter is t. The points are uniform in the angle, hence not in the arclength: the
    density along the curve falls as 1 / sqrt(1 + t^2) from the inner to the outer end. Socher
    (2008), section 1.1, figure 2 and appendix A ("Roll").
    """
    t = ROLL[0] + (ROLL[1] - ROLL[0]) * check_random_state(random_state).random_sample(n_points)
    return planar_roll(t), t


def make_torus_helix(
    n_points: int,
    *,
    density: float = 0.0,
    noise: float = 0.05,
    regular: bool = False,
    random_state: Seed = None,
) -> tuple[Floats, Floats]:
    """Sample a closed helix that winds eight times around a torus; the parameter is s.

    x(t) = ((2 + cos 8t) cos t, (2 + cos 8t) sin t, sin 8t), 0 <= t < 2 pi; its length is
    L = 51.9914. The first two eigenfunctions draw a circle.

    Shan and Daubechies (2022), section 2, figures 1, 3 and 6, give no formula; this one is known
    as "toroidal helix by Coifman and Lafon", with noise 0.05. With ``density=0.8, noise=0`` it is
    the curve of Coifman et al. (2005), section 2.2, figure 3.
    """
    rng = check_random_state(random_state)
    shares = length_shares(n_points, density=density, regular=regular, closed=True, rng=rng)
    X, s = along_curve(_helix, 0.0, 2.0 * np.pi, shares)
    return with_noise(X, noise, rng), s


def make_closed_curve(
    n_points: int,
    *,
    shape: str = "flower",
    density: float = 0.8,
    regular: bool = False,
    random_state: Seed = None,
) -> tuple[Floats, Floats]:
    """Sample a flower in the plane or a trefoil knot in space; the parameter is s.

    flower   r(t) = 1 + 0.4 cos 5t in polar coordinates, L = 10.6056
    trefoil  (sin t + 2 sin 2t, cos t - 2 cos 2t, -sin 3t), L = 28.8263

    for 0 <= t < 2 pi. Socher (2008), section 3.3, figure 10, gives no formulas; these are ours.
    """
    rng = check_random_state(random_state)
    shares = length_shares(n_points, density=density, regular=regular, closed=True, rng=rng)
    return along_curve(SHAPES[shape], 0.0, 2.0 * np.pi, shares)


def planar_roll(t: Floats) -> Floats:
    """Return the Archimedean spiral's points (n, 2) at the angles t."""
    return np.column_stack([t * np.cos(t), t * np.sin(t)])


def _helix(t: Floats) -> Floats:
    ring = 2.0 + np.cos(HELIX_WINDINGS * t)
    return np.column_stack([ring * np.cos(t), ring * np.sin(t), np.sin(HELIX_WINDINGS * t)])


def _flower(t: Floats) -> Floats:
    r = 1.0 + 0.4 * np.cos(5.0 * t)
    return np.column_stack([r * np.cos(t), r * np.sin(t)])


def _trefoil(t: Floats) -> Floats:
    x, y = np.sin(t) + 2.0 * np.sin(2.0 * t), np.cos(t) - 2.0 * np.cos(2.0 * t)
    return np.column_stack([x, y, -np.sin(3.0 * t)])


SHAPES = {"flower": _flower, "trefoil": _trefoil}
