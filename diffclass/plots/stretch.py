"""Contrast of pictures: numbers of any range become shades from 0 to 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

STRETCH_PERCENTILES = (2, 98)


def stretched(channels: NDArray[Any]) -> NDArray[Any]:
    """Stretch each channel linearly from its 2nd to its 98th percentile.

        (x - q_2) / (q_98 - q_2), clipped to 0 and 1

    A few bright or dark pixels then do not take the contrast of all others.

    Parameters
    ----------
    channels : ndarray of shape (n,) or (n, n_channels)
        Finite numbers in any unit.

    Returns
    -------
    ndarray of the same shape
        0 to 1; 0.5 in a channel without contrast, which would show blown-up noise otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> stretched(np.arange(101.0))[[0, 2, 50, 98, 100]].tolist()
    [0.0, 0.0, 0.5, 1.0, 1.0]
    """
    if not len(channels):
        return channels
    low, high = np.percentile(channels, STRETCH_PERCENTILES, axis=0)
    has_contrast = high > low
    span = np.where(has_contrast, high - low, 1)
    offset = np.where(has_contrast, 0, 0.5)
    return np.clip((channels - low) / span + offset, 0, 1)
