"""Weights of smoothed components: directions in which pixels differ within fields count less.

What smoothing takes away, R = c - smooth(c), is how pixels differ from their surroundings: noise,
and all that varies inside a field, such as the light on a slope or the soil between the rows. With
its covariance W = V diag(l) V', the smoothed components are multiplied by V diag(l)^-p. At p = 1/2
the variation within fields becomes equal in all directions, as in Fisher's discriminant with fields
as classes; it needs no labels.

Source: A. Bar-Hillel et al., Learning distance functions using equivalence relations, 2003
(relevant component analysis; p = 1/2, small groups of like points for fields). p = 1 was measured,
see experiments/few_labels/spatial.py.
"""

from __future__ import annotations

import numpy as np

# Share of the largest variance: otherwise directions in which hardly anything varies could be all
# that counts.
_LEAST_VARIANCE = 1e-3


def field_weights(
    image: np.ndarray, smooth: np.ndarray, valid: np.ndarray, power: float
) -> np.ndarray:
    """Return V diag(l)^-p, or the identity where smoothing took nothing away.

    Parameters
    ----------
    image, smooth : ndarray of float32 of shape (rows, columns, k)
        Components before and after smoothing.
    valid : ndarray of bool of shape (rows, columns)
        Where there is data.
    power : float
        p, at least 0; 0 gives the identity.

    Returns
    -------
    ndarray of float64 of shape (k, k)
        Its columns are the directions, by rising variance within fields.

    Examples
    --------
    Two fields whose pixels differ in the first component only:

    >>> import numpy as np
    >>> from diffclass_hyperspectral.features.field_weights import field_weights
    >>> fields = np.zeros((4, 4, 2)); fields[:, 2:] = 1
    >>> image = fields + np.eye(4)[..., None] * [1, 0]
    >>> weights = field_weights(image, fields, np.ones((4, 4), dtype=bool), 1.0)
    >>> np.linalg.norm(weights, axis=1).round().astype(int).tolist()
    [1, 1000]
    """
    identity = np.eye(image.shape[2])
    if power == 0 or smooth is image:
        return identity
    variances, directions = np.linalg.eigh(_covariance_within(image, smooth, valid))
    if not variances[-1] > 0:
        return identity
    return directions * np.maximum(variances / variances[-1], _LEAST_VARIANCE) ** -power


def _covariance_within(image: np.ndarray, smooth: np.ndarray, valid: np.ndarray) -> np.ndarray:
    """Return the covariance of what smoothing took away, one row of the picture at a time."""
    k = image.shape[2]
    total, products, n_pixels = np.zeros(k), np.zeros((k, k)), 0
    for row, smooth_row, has_data in zip(image, smooth, valid, strict=True):
        taken = row[has_data].astype(np.float64) - smooth_row[has_data]
        total += taken.sum(axis=0)
        products += taken.T @ taken
        n_pixels += len(taken)
    mean = total / max(n_pixels, 1)
    return products / max(n_pixels, 1) - np.outer(mean, mean)
