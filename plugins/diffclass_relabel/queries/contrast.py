"""From numbers to colours: how red, green and blue are stretched, by rule or by hand.

By rule each runs from its 2nd to its 98th percentile (`diffclass.plots.stretch`). Bands that have
little to do with each other, each stretched by itself, would make a lurid picture: unless that is
wanted, its colours are calmed to those of an ordinary photograph.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from diffclass.exceptions import ParameterError
from diffclass.plots.stretch import stretched
from diffclass_relabel.protocol import ChannelHistogram

_COLORFUL = 33.0  # on the scale of Hasler and Suesstrunk: "moderately colourful"
_LUMA = np.array([0.299, 0.587, 0.114])  # ITU-R BT.601
_N_BINS = 64
_DRAWN = (0.2, 99.8)  # percentiles that a histogram reaches from and to

Limits = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Contrast:
    """How three channels become colours.

    Attributes
    ----------
    limits : tuple of three (float, float), optional
        Values that become 0 and 1 in red, green and blue, in the unit of the scene; by default
        those that are more than 2 % and 98 % of the others.
    is_calm : bool
        Whether colours are calmed, see `calmed`.
    """

    limits: Limits | None = None
    is_calm: bool = True

    @classmethod
    def parsed(cls, limits: str | None, calm: str | None) -> Contrast:
        """Return the contrast of the query "limits=0.1:0.4,0:1,-2:3&calm=0".

        Raises
        ------
        ParameterError
            Where the limits are not three such pairs, the lower one first.
        """
        is_calm = calm != "0"
        if limits is None:
            return cls(None, is_calm)
        try:
            pairs = [tuple(map(float, pair.split(":"))) for pair in limits.split(",")]
            red, green, blue = ((low, high) for low, high in pairs)
        except ValueError:
            raise ParameterError(
                f"limits = {limits[:60]!r}; give three pairs, as in limits=0.1:0.4,0:1,-2:3"
            ) from None
        for low, high in (red, green, blue):
            if not (math.isfinite(low) and math.isfinite(high) and low < high):
                raise ParameterError(
                    f"limits {low:g} to {high:g}; the upper one has to lie above the lower one"
                )
        return cls((red, green, blue), is_calm)

    def colors(self, channels: np.ndarray) -> np.ndarray:
        """Return the colours of pixels.

        Parameters
        ----------
        channels : ndarray of shape (n, 3)
            Finite numbers.

        Returns
        -------
        ndarray of shape (n, 3)
            Red, green and blue, 0 to 1.
        """
        if self.limits is None:
            shades = stretched(channels)
        else:
            low, high = np.array(self.limits).T
            shades = np.clip((channels - low) / (high - low), 0, 1)
        return calmed(shades) if self.is_calm else shades


def calmed(colors: np.ndarray) -> np.ndarray:
    """Return colours drawn towards grey until they are at most moderately colourful.

    The measure is M = |sigma| + 0.3 |mu| of the opponent axes (R - G, (R + G) / 2 - B), which
    shrinks in step with every colour's distance from the grey of the same luma.

    Parameters
    ----------
    colors : ndarray of shape (n, 3)
        Red, green and blue, 0 to 1.

    Returns
    -------
    ndarray of the same shape
        The same where M is at most 33 of 255.

    References
    ----------
    D. Hasler and S. Suesstrunk, Measuring colourfulness in natural images, Proc. SPIE 5007 (2003).
    """
    if not len(colors):
        return colors
    red, green, blue = colors.T
    axes = np.stack([red - green, (red + green) / 2 - blue])
    colorful = 255 * (np.linalg.norm(axes.std(axis=1)) + 0.3 * np.linalg.norm(axes.mean(axis=1)))
    if colorful <= _COLORFUL:
        return colors
    gray = (colors @ _LUMA)[:, None]
    return gray + (colors - gray) * (_COLORFUL / colorful)


def channel_histogram(values: np.ndarray) -> ChannelHistogram:
    """Return the histogram of a channel and its percentiles.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Finite numbers.
    """
    if not len(values):
        values = np.zeros(1)
    low, high = (float(end) for end in np.percentile(values, _DRAWN))
    if low == high:
        low, high = low - 0.5, high + 0.5
    counts, _ = np.histogram(values, bins=_N_BINS, range=(low, high))
    percentiles = np.percentile(values, np.arange(101))
    return {
        "low": low,
        "high": high,
        "counts": counts.tolist(),
        "percentiles": [float(value) for value in percentiles],
    }
