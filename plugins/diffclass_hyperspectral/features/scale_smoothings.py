"""The smoothings of all spatial scales together: how far they reach, how high their windows are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from diffclass.exceptions import ParameterError
from diffclass_hyperspectral.features.smoothing import GaussianSmoothing, Smoothing
from diffclass_hyperspectral.features.window_sizes import window_rows
from diffclass_hyperspectral.io.rasters import Raster


@dataclass(frozen=True)
class ScaleSmoothings:
    """One smoothing for each spatial scale.

    Attributes
    ----------
    smoothings : tuple of Smoothing
    """

    smoothings: tuple[Smoothing, ...]

    @classmethod
    def of(cls, scales: Sequence[float | Smoothing]) -> ScaleSmoothings:
        """Take numbers as standard deviations of Gaussians in pixels.

        Raises
        ------
        ParameterError
            Where there is no scale, or one below 0.
        """
        if not len(scales):
            raise ParameterError("scales is empty; give one or more, 0 for the picture as it is")
        return cls(tuple(s if isinstance(s, Smoothing) else GaussianSmoothing(s) for s in scales))

    def __iter__(self) -> Iterator[Smoothing]:
        return iter(self.smoothings)

    @property
    def reach(self) -> int:
        """Rows and columns beyond which a pixel counts at no scale."""
        return max(s.reach for s in self.smoothings)

    def window_rows(
        self, shape: tuple[int, ...], k: int, *, window_bytes: int | None = None
    ) -> int:
        """Return how many rows of its own a window of k components has; see `window_rows`.

        Parameters
        ----------
        shape : tuple of int
            Of the picture, which begins with rows and columns.
        k : int
        window_bytes : int, optional
        """
        rows, columns, *_ = shape
        return window_rows(rows, columns, k, reach=self.reach, window_bytes=window_bytes)

    def weight_beyond(self, image: Raster, valid: np.ndarray) -> np.ndarray:
        """Return how much comes from farther than 0, 1, ... pixels, at the scale where it is most.

        Parameters
        ----------
        image : Raster of shape (rows, columns, k)
        valid : ndarray of bool of shape (rows, columns)

        Returns
        -------
        ndarray of shape (n,)
        """
        found = [s.weight_beyond(image, valid) for s in self.smoothings]
        largest = np.zeros(max(map(len, found)))
        for shares in found:
            largest[: len(shares)] = np.maximum(largest[: len(shares)], shares)
        return largest
