"""Surfaces and a plane domain, most with the known spectrum of their Laplace-Beltrami operator."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from experiments.datasets.arclength import Floats, Seed, along_curve, with_noise
from experiments.datasets.curves import ROLL, planar_roll

GOLDEN = (1.0 + np.sqrt(5.0)) / 2.0


def make_flat_torus(
    n_points: int, *, regular: bool = False, random_state: Seed = None
) -> tuple[Floats, Floats]:
    """Sample the flat torus (cos a, sin a, cos b, sin b) uniformly; the parameters are a and b.

    Eigenpairs of -Delta: k^2 + m^2 for whole k and m, with cos and sin of k a times those of
    m b: 0 once, 1 and 2 four times each, 4 four times, 5 eight times, ... ``regular`` takes the
    lattice a = 2 pi i / n, b = 2 pi i g / n with g the whole number nearest to n over the golden
    ratio, which is evenly spaced and has no seam.
    """
    if regular:
        i = np.arange(n_points)
        turns = np.column_stack([i, i * round(n_points / GOLDEN) % n_points]) / n_points
    else:
        turns = check_random_state(random_state).random_sample((n_points, 2))
    a, b = (angles := 2.0 * np.pi * turns).T
    return np.column_stack([np.cos(a), np.sin(a), np.cos(b), np.sin(b)]), angles


def make_sphere(
    n_points: int, *, regular: bool = False, random_state: Seed = None
) -> tuple[Floats, Floats]:
    """Sample the unit sphere uniformly; the parameters are the polar angle from +z and the azimuth.

    Eigenpairs of -Delta: l (l + 1), l = 0, 1, 2, ..., with multiplicity 2 l + 1, and the
    spherical harmonics; those of l = 1 are x, y and z themselves. ``regular`` takes the Fibonacci
    lattice: z = 1 - (2 i + 1) / n, each point a golden angle further.
    """
    if regular:
        i = np.arange(n_points)
        z, turns = 1.0 - (2.0 * i + 1.0) / n_points, i / GOLDEN % 1.0
    else:
        rng = check_random_state(random_state)
        z, turns = rng.uniform(-1.0, 1.0, n_points), rng.random_sample(n_points)
    azimuth, r = 2.0 * np.pi * turns, np.sqrt((1.0 - z) * (1.0 + z))
    X = np.column_stack([r * np.cos(azimuth), r * np.sin(azimuth), z])
    return X, np.column_stack([np.arccos(z), azimuth])


def make_swiss_roll(
    n_points: int, *, height: float = 21.0, noise: float = 0.0, random_state: Seed = None
) -> tuple[Floats, Floats]:
    """Sample a rolled-up rectangle uniformly by area; the parameters are s and h.

    (t cos t, h, t sin t) with 3 pi / 2 <= t <= 9 pi / 2 and 0 <= h <= height; the unrolled
    rectangle has the sides L = 89.3733 (arclength s of the spiral) and ``height``. Eigenpairs of
    -Delta with Neumann edges: (pi j / L)^2 + (pi k / height)^2, j, k = 0, 1, 2, ..., with
    cos(pi j s / L) cos(pi k h / height). With the default height the first four eigenfunctions
    that are not constant depend on s only; the fifth unrolls the height. scikit-learn's roll is
    uniform in the angle t, so denser at the inner edge.

    Shan and Daubechies (2022), section 2, figures 2, 4 and 5: uniform on the surface, without
    noise. The paper gives neither formula nor sides; these are the customary ones.
    """
    rng = check_random_state(random_state)
    shares, h = rng.random_sample(n_points), height * rng.random_sample(n_points)
    spiral, s = along_curve(planar_roll, *ROLL, shares)
    X = np.column_stack([spiral[:, 0], h, spiral[:, 1]])
    return with_noise(X, noise, rng), np.column_stack([s, h])


def make_dumbbell(
    n_points: int,
    *,
    bridge_length: float = 1.0,
    bridge_width: float = 0.3,
    random_state: Seed = None,
) -> tuple[Floats, NDArray[np.int_]]:
    """Sample two unit discs joined by a bridge, uniformly by area.

    The bridge lies on the x axis, centred at 0; the discs' centres are 2 + bridge_length apart.
    The parameter is the part of each point: 0 the left disc, 1 the bridge, 2 the right disc. No
    spectrum is known in closed form; -Delta with Neumann edges has one small eigenvalue, whose
    function is nearly constant on each disc and linear on the bridge.

    The first three points are the landmarks of Coifman et al. (2005), section 2.1, figure 2 (also
    Socher 2008, section 3.2, figure 8): A, the centre of the left disc; B, the middle of the
    bridge; C, the highest point of the left disc's edge. D_t(A, B) < D_t(C, B) from about the
    relaxation time on, and in most draws also before.
    """
    rng = check_random_state(random_state)
    centre = 1.0 + 0.5 * bridge_length
    found = [np.array([[-centre, 0.0], [0.0, 0.0], [-centre, 1.0]])]
    while sum(map(len, found)) < n_points:
        box = rng.uniform(-1.0, 1.0, (n_points, 2)) * [centre + 1.0, 1.0]
        found.append(box[_parts(box, centre, bridge_width) >= 0])
    X = np.concatenate(found)[:n_points]
    return X, _parts(X, centre, bridge_width)


def _parts(X: Floats, centre: float, bridge_width: float) -> NDArray[np.int_]:
    """Return the part of the dumbbell that holds each point, -1 outside."""
    x, y = X.T
    in_disc = (np.abs(x) - centre) ** 2 + y**2 <= 1.0
    in_bridge = ~in_disc & (np.abs(x) < centre) & (2.0 * np.abs(y) <= bridge_width)
    return np.select([in_disc & (x < 0), in_bridge, in_disc], [0, 1, 2], default=-1)
