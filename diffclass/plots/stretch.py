"""The contrast of pictures made of measurements."""

from __future__ import annotations

from typing import Any

import numpy as np

STRETCH = (2, 98)  # percentiles that become black and white


def stretched(values: Any, *, constant: float = 0.0) -> np.ndarray:
    """Stretch each channel from its 2nd to its 98th percentile.

    Parameters
    ----------
    values : array-like of shape (n, channels)
        Finite numbers.
    constant : float, default=0.0
        What a channel becomes that has no contrast, 0 to 1: dark by default.

    Returns
    -------
    ndarray of shape (n, channels)
        From 0 to 1.

    Examples
    --------
    >>> stretched([[0.0, 5.0], [1.0, 5.0], [2.0, 5.0]], constant=0.5).tolist()
    [[0.0, 0.5], [0.5, 0.5], [1.0, 0.5]]
    """
    values = np.asarray(values)
    if not len(values):
        return values
    low, high = np.percentile(values, STRETCH, axis=0)
    varies = high > low
    return ((values - low) / np.where(varies, high - low, 1) + np.where(varies, 0, constant)).clip(
        0, 1
    )
