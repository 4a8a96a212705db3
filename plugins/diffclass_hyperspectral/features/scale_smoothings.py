"""The smoothings of all spatial scales together: how far they reach, how high their windows are.

What a window takes in memory follows from both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from diffclass.exceptions import ParameterError
from diffclass_hyperspectral.features.smoothing import GRID_BYTES, GaussianSmoothing, Smoothing
from diffclass_hyperspectral.io.rasters import Raster

_WINDOW_BYTES = 2**28  # at least


def bytes_per_pixel(k: int) -> int:
    """Return what smoothing holds of a pixel of a window: k components, and the walk over it."""
    return 30 * k + GRID_BYTES


def window_rows(
    rows: int, columns: int, k: int, *, reach: int, window_bytes: int | None = None
) -> int:
    """Return how many rows of its own a window has, apart from those that smoothing reaches.

    Parameters
    ----------
    rows, columns : int
        Of the picture.
    k : int
        Components.
    reach : int
        Rows above and below that count.
    window_bytes : int, optional
        Working memory; by default as much as is needed, 256 MiB at least.

    Raises
    ------
    ParameterError
        Where it is too little for one row.
    """
    of_a_row, around = columns * bytes_per_pixel(k), 2 * reach
    if window_bytes is None:  # rows around are worked on twice: there should be fewer of them
        window_bytes = max(_WINDOW_BYTES, 3 * around * of_a_row, of_a_row)
    if window_bytes >= rows * of_a_row:
        return rows
    n_rows = window_bytes // of_a_row - around
    if n_rows < 1:
        raise ParameterError(
            f"window_bytes = {window_bytes}: a window of {columns} columns needs at least "
            f"{min(rows, around + 1) * of_a_row} bytes for these features; give more memory, "
            "or take spectral features"
        )
    return n_rows


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
