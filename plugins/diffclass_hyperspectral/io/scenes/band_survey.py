"""One pass over a scene: which pixels and bands have data, and the extremes of each band.

Whether a pixel is valid depends on which bands are empty, and that is known only at the end. A band
counts as empty until a block has a finite value of it. All pixels before that block lack a band
that is not empty: they are not valid, and what was gathered from them is dropped.

A value beyond the limit is no measurement but a fill value that the file does not state, as the
-3.4e38 and 9.97e36 that GDAL and NetCDF write by default. It counts as missing, and is reported.
"""

from __future__ import annotations

import numpy as np

# Of a reflectance, radiance or count: squares of larger ones overflow in single precision.
LARGEST = 1e18


def largest_of(dtype: np.dtype) -> float:
    """Return the largest number of a type."""
    return float(np.finfo(dtype).max if dtype.kind == "f" else np.iinfo(dtype).max)


class BandSurvey:
    """What blocks of rows, added from the top down, say of pixels and bands.

    A valid pixel has data in all bands ``asked`` (bands,), empty ones aside, and not in all of them
    the ignore value; ``region`` (rows, columns) says which pixels count. Values farther from 0 than
    the limit count as missing.
    """

    valid: np.ndarray  # (rows, columns)
    filled: np.ndarray  # (bands,), with a finite value within the limit
    # (bands,) of extremes over valid pixels; None without any. Of use for bands asked and filled.
    lowest: np.ndarray | None
    highest: np.ndarray | None
    n_extreme: int  # pixels with a finite value beyond the limit that is not the ignore value
    first_extreme: tuple[int, int, int, float] | None  # row, column, band from 0, and the value

    def __init__(
        self,
        shape: tuple[int, int, int],
        asked: np.ndarray,
        ignore_value: float | None,
        region: np.ndarray | None = None,
        *,
        limit: float = LARGEST,
    ):
        self.valid = np.zeros(shape[:2], dtype=bool)
        self.filled = np.zeros(shape[2], dtype=bool)
        self.lowest = self.highest = None
        self.n_extreme, self.first_extreme = 0, None
        self._asked = asked
        self._ignore_value = ignore_value
        self._region = region
        self._limit = limit

    def add(self, rows: slice, block: np.ndarray) -> None:
        """Add the stored values (n_rows, columns, bands) of some rows."""
        inside = None if self._region is None else self._region[rows]
        if inside is not None and not inside.any():
            return
        finite = self._within(block)
        if finite is not None and not finite.all():
            self._note_extremes(rows.start, block, finite, inside)
        if finite is not None and inside is not None:
            finite &= inside[..., None]
        everywhere = np.ones_like(self.filled)
        self._fill(everywhere if finite is None else np.asarray(finite.any(axis=(0, 1))))
        used = self._asked & self.filled
        if not used.any():
            return
        valid = self._has_data(block, finite, used)
        if inside is not None:
            valid &= inside
        self.valid[rows] = valid
        if valid.any():
            self._extend(block if valid.all() else block[valid][None])

    def _within(self, block: np.ndarray) -> np.ndarray | None:
        """Return which values are finite and within the limit; None where all have to be."""
        largest = largest_of(block.dtype)
        if block.dtype.kind != "f" and largest <= self._limit:
            return None
        limit = min(self._limit, largest)
        return np.asarray((block <= limit) & (block >= -limit))

    def _note_extremes(
        self, first_row: int, block: np.ndarray, finite: np.ndarray, inside: np.ndarray | None
    ) -> None:
        beyond = np.isfinite(block) & ~finite & self._asked
        if inside is not None:
            beyond &= inside[..., None]
        if self._ignore_value is not None and beyond.any():
            beyond &= ~_equals(block, self._ignore_value)
        if not beyond.any():
            return
        if self.first_extreme is None:
            row, column, band = (int(i) for i in np.argwhere(beyond)[0])
            value = float(block[row, column, band])
            self.first_extreme = (first_row + row, column, band, value)
        self.n_extreme += int(np.count_nonzero(beyond.any(axis=2)))

    def _fill(self, filled: np.ndarray) -> None:
        if (filled & ~self.filled & self._asked).any():
            self.valid[:] = False
            self.lowest = self.highest = None
        self.filled |= filled

    def _has_data(
        self, block: np.ndarray, finite: np.ndarray | None, used: np.ndarray
    ) -> np.ndarray:
        has = np.ones(block.shape[:2], dtype=bool)
        if finite is not None:
            has &= of_bands(finite, used).all(axis=2)
        if self._ignore_value is None or not np.isfinite(self._ignore_value):
            return has
        ignored = _equals(of_bands(block, used), self._ignore_value).all(axis=2)
        return np.asarray(has & ~ignored)

    def _extend(self, pixels: np.ndarray) -> None:
        with np.errstate(invalid="ignore"):  # bands that are not asked for may hold NaN
            low, high = pixels.min(axis=(0, 1)), pixels.max(axis=(0, 1))
        self.lowest = low if self.lowest is None else np.minimum(self.lowest, low)
        self.highest = high if self.highest is None else np.maximum(self.highest, high)


def of_bands(block: np.ndarray, bands: np.ndarray) -> np.ndarray:
    """Return some bands of a block, itself where they are all."""
    return block if bands.all() else block[..., bands]


def _equals(block: np.ndarray, value: float) -> np.ndarray:
    if block.dtype.kind == "f":
        # The header's decimal stands for a number of the file's own precision.
        with np.errstate(over="ignore"):
            return block == np.asarray(value).astype(block.dtype)
    return block == value
