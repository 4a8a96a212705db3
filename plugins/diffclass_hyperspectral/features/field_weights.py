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


def field_weights(within: np.ndarray, power: float) -> np.ndarray:
    """Return V diag(l)^-p, or the identity where smoothing took nothing away.

    Parameters
    ----------
    within : ndarray of float64 of shape (k, k)
        W, the covariance of what smoothing took away.
    power : float
        p, at least 0; 0 gives the identity.

    Returns
    -------
    ndarray of float64 of shape (k, k)
        Its columns are the directions, by rising variance within fields.

    Examples
    --------
    Pixels of a field differ in the first component only:

    >>> import numpy as np
    >>> from diffclass_hyperspectral.features.field_weights import field_weights
    >>> weights = field_weights(np.diag([2.0, 0.0]), 1.0)
    >>> np.linalg.norm(weights, axis=1).round().astype(int).tolist()
    [1, 1000]
    """
    identity = np.eye(len(within))
    if power == 0:
        return identity
    variances, directions = np.linalg.eigh(within)
    if not variances[-1] > 0:
        return identity
    return directions * np.maximum(variances / variances[-1], _LEAST_VARIANCE) ** -power
