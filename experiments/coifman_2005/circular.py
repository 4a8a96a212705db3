"""Agreement of two sets of angles, and the angles of points on a closed curve in the plane.

The circular correlation is that of Fisher and Lee (1983), which needs no mean direction (points all
around a circle have none):

    r = sum_ij sin(a_i - a_j) sin(b_i - b_j)
        / sqrt(sum_ij sin^2(a_i - a_j) sum_ij sin^2(b_i - b_j))

It is 1 if b is a rotation of a and -1 if b is a reflection of a. It needs three sums of n complex
numbers, because 2 sin x sin y = cos(x - y) - cos(x + y).
"""

from __future__ import annotations

import numpy as np


def circular_correlation(a: np.ndarray, b: np.ndarray) -> float:
    """Return Fisher and Lee's r of two sets of angles of shape (n,), radians."""
    return float(_product(a, b) / np.sqrt(_product(a, a) * _product(b, b)))


def angles_about_middle(embedding: np.ndarray) -> np.ndarray:
    """Return the angles of points (n, 2) as seen from the origin.

    The origin is their mean in the weights pi: eigenfunctions are orthogonal to constants.
    """
    return np.arctan2(embedding[:, 1], embedding[:, 0])


def _product(a: np.ndarray, b: np.ndarray) -> float:
    turned, mirrored = np.exp(1j * (a - b)).sum(), np.exp(1j * (a + b)).sum()
    return (abs(turned) ** 2 - abs(mirrored) ** 2) / 2
