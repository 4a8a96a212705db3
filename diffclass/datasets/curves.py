"""Curves, closed and open, sampled evenly or not: the same geometry with different densities.

-Delta on a closed curve of length L has the eigenvalues (2 pi k / L)^2, double for k > 0, with
cos and sin of 2 pi k s / L; on an open curve with Neumann ends (pi k / L)^2, simple, with
cos(pi k s / L); s is the arclength. The embedding of the curve in space does not matter.
"""

from __future__ import annotations

import numpy as np

from diffclass._validation import RandomState, check_choice, check_positive
from diffclass.datasets._arclength import (
    Floats,
    along_curve,
    generator,
    length_shares,
    with_noise,
)

ROLL = (1.5 * np.pi, 4.5 * np.pi)  # angles between which the planar roll winds, radians
HELIX_WINDINGS = 8


def make_circle(
    n_points: int,
    *,
    density: float = 0.0,
    noise: float = 0.0,
    regular: bool = False,
    random_state: RandomState = None,
) -> tuple[Floats, Floats]:
    """Sample the unit circle, with density 1 + density * cos(theta).

    Eigenpairs of -Delta: k^2, k = 0, 1, 2, ..., double for k > 0, with cos(k theta) and
    sin(k theta).

    Parameters
    ----------
    n_points : int
        Number of points, at least 1.
    density : float, default=0.0
        Contrast of the density, from 0 (uniform) to below 1: at theta = 0 it is
        (1 + density) / (1 - density) times that at theta = pi.
    noise : float, default=0.0
        Standard deviation of the radius about 1, at least 0.
    regular : bool, default=False
        Take theta at the quantiles i / n_points of the density instead of drawing it; with the
        uniform density these are n_points equal steps from 0.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_points, 2), float64
    parameters : ndarray of shape (n_points,), float64
        The angle theta in [0, 2 pi), radians.

    Raises
    ------
    ParameterError
        If ``n_points``, ``density`` or ``noise`` is out of range.

    References
    ----------
    Shan and Daubechies (2022), section 3, figures 7 and 8: 512 points on a circle, not
    uniform, without and with noise. The paper gives neither the density nor the noise;
    ``make_circle(512, density=0.6)`` and ``make_circle(512, density=0.6, noise=0.05)`` match
    its description.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.datasets import make_circle
    >>> X, theta = make_circle(512, density=0.6, random_state=0)
    >>> X.shape, bool(np.allclose(X[:, 0], np.cos(theta)))
    ((512, 2), True)
    >>> bool((X[:, 0] > 0).mean() > 0.6)  # 0.5 + density / pi is expected
    True
    """
    rng = generator(random_state)
    check_positive(noise, "noise", zero=True)
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
    random_state: RandomState = None,
) -> tuple[Floats, Floats]:
    """Sample the interval [0, length], with density 1 + density * cos(pi s / length).

    Eigenpairs of -Delta with Neumann ends: (k pi / length)^2, k = 0, 1, 2, ..., simple, with
    cos(k pi s / length); for the default length (k / 2)^2.

    Parameters
    ----------
    n_points : int
        Number of points, at least 1.
    length : float, default=2 pi
        Length, above 0.
    density : float, default=0.0
        Contrast of the density, from 0 (uniform) to below 1; most points lie near 0.
    regular : bool, default=False
        Take the quantiles (i + 1/2) / n_points of the density instead of drawing.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_points, 1), float64
    parameters : ndarray of shape (n_points,), float64
        The same numbers: the arclength s from 0 to ``length``.

    Raises
    ------
    ParameterError
        If a parameter is out of range.

    References
    ----------
    Coifman et al. (2005), section 2.2: domains with a boundary have Neumann conditions.

    Examples
    --------
    >>> from diffclass.datasets import make_interval
    >>> X, s = make_interval(4, length=8.0, regular=True)
    >>> s.tolist()
    [1.0, 3.0, 5.0, 7.0]
    """
    check_positive(length, "length")
    rng = generator(random_state)
    s = length * length_shares(n_points, density=density, regular=regular, closed=False, rng=rng)
    return s[:, None].copy(), s


def make_spiral(
    n_points: int,
    *,
    density: float = 0.8,
    noise: float = 0.0,
    regular: bool = False,
    random_state: RandomState = None,
) -> tuple[Floats, Floats]:
    """Sample the open planar spiral (t cos t, t sin t) unevenly along its arclength.

    t runs from 3 pi / 2 to 9 pi / 2, over a length of L = 89.3733; the density is
    1 + density * cos(pi s / L), highest at the inner end. Eigenpairs of -Delta with Neumann ends:
    (k pi / L)^2, simple, with cos(k pi s / L): the first two eigenfunctions draw a parabola.

    Parameters
    ----------
    n_points : int
        Number of points, at least 1.
    density : float, default=0.8
        Contrast of the density, from 0 (uniform) to below 1.
    noise : float, default=0.0
        Standard deviation of Gaussian noise on both coordinates; the turns lie 2 pi apart.
    regular : bool, default=False
        Take the quantiles (i + 1/2) / n_points of the density instead of drawing.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_points, 2), float64
    parameters : ndarray of shape (n_points,), float64
        Arclength s from the inner end, 0 to L.

    Raises
    ------
    ParameterError
        If a parameter is out of range.

    See Also
    --------
    make_torus_helix : a closed spiral, which embeds as a circle.
    make_planar_roll : the same curve, uniform in the angle.

    References
    ----------
    Coifman et al. (2005), section 2.2, figure 3 (a spiral curve of uneven density; by the text
    before it a *closed* curve, for which see `make_torus_helix`).

    Examples
    --------
    >>> from diffclass.datasets import make_spiral
    >>> X, s = make_spiral(1000, random_state=0)
    >>> X.shape, bool((s < 44.69).mean() > 0.7)
    ((1000, 2), True)
    """
    rng = generator(random_state)
    shares = length_shares(n_points, density=density, regular=regular, closed=False, rng=rng)
    X, s = along_curve(planar_roll, *ROLL, shares)
    return with_noise(X, noise, rng), s


def make_planar_roll(n_points: int, *, random_state: RandomState = None) -> tuple[Floats, Floats]:
    """Sample the spiral (t cos t, t sin t) at t = (3 pi / 2) (1 + 2 u), u uniform.

    Uniform in the angle, hence not in the arclength: the density along the curve falls as
    1 / sqrt(1 + t^2) from the inner to the outer end.

    Parameters
    ----------
    n_points : int
        Number of points, at least 1.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_points, 2), float64
    parameters : ndarray of shape (n_points,), float64
        The angle t, 3 pi / 2 to 9 pi / 2, radians (the figure's colour).

    Raises
    ------
    ParameterError
        If ``n_points`` is not a positive whole number.

    References
    ----------
    Socher (2008), section 1.1, figure 2 and appendix A ("Roll").

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.datasets import make_planar_roll
    >>> X, t = make_planar_roll(300, random_state=0)
    >>> bool(np.allclose(np.hypot(X[:, 0], X[:, 1]), t))
    True
    """
    check_positive(n_points, "n_points", integer=True)
    t = ROLL[0] + (ROLL[1] - ROLL[0]) * generator(random_state).random_sample(n_points)
    return planar_roll(t), t


def make_torus_helix(
    n_points: int,
    *,
    density: float = 0.0,
    noise: float = 0.05,
    regular: bool = False,
    random_state: RandomState = None,
) -> tuple[Floats, Floats]:
    """Sample a closed helix that winds eight times around a torus.

    x(t) = ((2 + cos 8t) cos t, (2 + cos 8t) sin t, sin 8t), 0 <= t < 2 pi; its length is
    L = 51.9914. Density along the arclength: 1 + density * cos(2 pi s / L). Eigenpairs of -Delta:
    (2 pi k / L)^2, double for k > 0: the first two eigenfunctions draw a circle.

    Parameters
    ----------
    n_points : int
        Number of points, at least 1.
    density : float, default=0.0
        Contrast of the density, from 0 (uniform) to below 1; highest at s = 0.
    noise : float, default=0.05
        Standard deviation of Gaussian noise on each of the three coordinates.
    regular : bool, default=False
        Take the quantiles i / n_points of the density instead of drawing.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_points, 3), float64
    parameters : ndarray of shape (n_points,), float64
        Arclength s from (3, 0, 0), 0 to L.

    Raises
    ------
    ParameterError
        If a parameter is out of range.

    References
    ----------
    Shan and Daubechies (2022), section 2, figures 1, 3 and 6: uniform, some noise. The paper
    gives no formula; this one is known as "toroidal helix by Coifman and Lafon", with noise 0.05.
    With ``density=0.8, noise=0`` for Coifman et al. (2005), section 2.2, figure 3: a spiral curve
    that embeds as a circle once the density is divided out.

    Examples
    --------
    >>> from diffclass.datasets import make_torus_helix
    >>> X, s = make_torus_helix(500, noise=0.0, regular=True)
    >>> X.shape, X[0].tolist(), float(s[1].round(4))
    ((500, 3), [3.0, 0.0, 0.0], 0.104)
    """
    rng = generator(random_state)
    shares = length_shares(n_points, density=density, regular=regular, closed=True, rng=rng)
    X, s = along_curve(_helix, 0.0, 2.0 * np.pi, shares)
    return with_noise(X, noise, rng), s


def make_closed_curve(
    n_points: int,
    *,
    shape: str = "flower",
    density: float = 0.8,
    regular: bool = False,
    random_state: RandomState = None,
) -> tuple[Floats, Floats]:
    """Sample a closed curve unevenly: a flower in the plane or a trefoil knot in space.

    flower   r(t) = 1 + 0.4 cos 5t in polar coordinates, L = 10.6056
    trefoil  (sin t + 2 sin 2t, cos t - 2 cos 2t, -sin 3t), L = 28.8263

    for 0 <= t < 2 pi. Density along the arclength: 1 + density * cos(2 pi s / L). Eigenpairs of
    -Delta: (2 pi k / L)^2, double for k > 0, for both shapes.

    Parameters
    ----------
    n_points : int
        Number of points, at least 1.
    shape : {"flower", "trefoil"}, default="flower"
        The curve.
    density : float, default=0.8
        Contrast of the density, from 0 (uniform) to below 1.
    regular : bool, default=False
        Take the quantiles i / n_points of the density instead of drawing.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_points, 2) or (n_points, 3), float64
    parameters : ndarray of shape (n_points,), float64
        Arclength s from t = 0, 0 to L.

    Raises
    ------
    ParameterError
        If a parameter is out of range.

    References
    ----------
    Socher (2008), section 3.3, figure 10: two such curves, their densities and their
    embeddings with alpha = 0 and alpha = 1, where each becomes a circle with its arclength as
    the angle. The report gives no formulas; these are ours.

    Examples
    --------
    >>> from diffclass.datasets import make_closed_curve
    >>> X, s = make_closed_curve(600, shape="trefoil", random_state=0)
    >>> X.shape, bool(s.max() < 28.8264)
    ((600, 3), True)
    """
    check_choice(shape, "shape", tuple(SHAPES))
    rng = generator(random_state)
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
