"""Pictures of one object turned by random angles: a circle in the space of all pictures."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from sklearn.utils import check_random_state

from experiments.datasets.arclength import Floats, Seed

OVERSAMPLING = 8  # cells per side of one pixel of the template
BLUR = 0.7  # standard deviation of the template's soft edges, pixels


def make_rotated_images(
    n_points: int, *, size: int = 32, random_state: Seed = None
) -> tuple[Floats, Floats]:
    """Take pictures of one object without symmetry, turned by uniformly random angles.

    The object, a thick letter F with a dot, lies within the picture's inscribed circle and has
    soft edges; it is turned about the middle by cubic splines. The pictures are on a closed curve
    on which, up to the pixel grid, equal angles are equal lengths. Rows of X are pictures of
    size x size pixels, brightness 0 (background) to 1; the parameter is the angle in radians,
    counterclockwise.

    de la Porte et al., "An introduction to diffusion maps", section 6, figures 12 and 13: randomly
    turned versions of one template of 255 x 255 pixels, arranged by their angle.
    """
    angles = 2.0 * np.pi * check_random_state(random_state).random_sample(n_points)
    # The spline's coefficients are the same for every angle.
    coefficients = ndimage.spline_filter(template(size), order=3)
    X = np.empty((n_points, size, size))
    for picture, angle in zip(X, angles, strict=True):
        ndimage.rotate(
            coefficients, np.rad2deg(angle), reshape=False, output=picture, prefilter=False
        )
    return np.clip(X, 0.0, 1.0, out=X).reshape(n_points, -1), angles


def template(size: int) -> Floats:
    """Draw the object upright, finely, and average it down to size x size pixels."""
    axis = (np.arange(size * OVERSAMPLING) + 0.5) * 2.0 / (size * OVERSAMPLING) - 1.0
    x, y = axis, -axis[:, None]  # y upwards

    def bar(left: float, right: float, bottom: float, top: float) -> NDArray[np.bool_]:
        return (x >= left) & (x <= right) & (y >= bottom) & (y <= top)

    drawn = bar(-0.4, -0.12, -0.65, 0.65) | bar(-0.4, 0.5, 0.4, 0.65) | bar(-0.4, 0.28, -0.05, 0.18)
    drawn |= (x - 0.35) ** 2 + (y + 0.45) ** 2 <= 0.15**2
    soft = ndimage.gaussian_filter(drawn.astype(float), BLUR * OVERSAMPLING)
    return soft.reshape(size, OVERSAMPLING, size, OVERSAMPLING).mean(axis=(1, 3))
