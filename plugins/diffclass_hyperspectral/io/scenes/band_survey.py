"""One pass over a scene: which pixels and bands have data, and the extremes of each band.

A pixel that lacks a band has no data; a band that all pixels lack is empty, and counts as a bad
one. A band counts as empty until a block has a value of it. All pixels before that block then lack
a band that is not empty: what was gathered from them is dropped.

A value beyond the limit is a fill value that the file does not state, as the -3.4e38 and 9.97e36
that GDAL and NetCDF write by default. It counts as missing, and is reported. A usual fill value in
all bands of a pixel, as -9999, counts as what the file says, a measurement, and is reported too.
"""

from __future__ import annotations

import numpy as np

from diffclass_hyperspectral.io.readers import FILLS, is_ignored

# Of a reflectance, radiance or count: squares of larger ones overflow in single precision.
LARGEST = 1e18


def largest_of(dtype: np.dtype) -> float:
    """Return the largest number of a type."""
    return float(np.finfo(dtype).max if dtype.kind == "f" else np.iinfo(dtype).max)


class BandSurvey:
    """What blocks of rows, added from the top down, say of pixels and bands.

    A value is missing where it is not finite, is the ignore value or is farther from 0 than the
    limit. A valid pixel lacks no band that is ``asked``, empty ones aside; ``region`` counts.
    """

    valid: np.ndarray  # (rows, columns)
    filled: np.ndarray  # (bands,), with a value that is not missing
    lacking: np.ndarray  # (bands,), pixels that lack the band, but not all that are asked
    # (bands,) of extremes over valid pixels; None without any. Of use for bands asked and filled.
    lowest: np.ndarray | None
    highest: np.ndarray | None
    n_extreme: int  # pixels with a finite value beyond the limit that is not the ignore value
    first_extreme: tuple[int, int, int, float] | None  # row, column, band from 0, and the value
    unstated: dict[float, int]  # valid pixels by the usual fill value that all asked bands have

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
        self.lacking = np.zeros(shape[2], dtype=np.int64)
        self.lowest = self.highest = None
        self.n_extreme, self.first_extreme = 0, None
        self.unstated = dict.fromkeys(FILLS, 0)
        self._touched = np.zeros(shape[:2], dtype=bool)
        self._asked = asked
        self._ignore_value = ignore_value
        self._region = region
        self._limit = limit

    @property
    def n_partial(self) -> int:
        """Pixels that are not valid, though they have data in some band that is asked."""
        return int(np.count_nonzero(self._touched & ~self.valid))

    def add(self, rows: slice, block: np.ndarray) -> None:
        """Add the stored values (n_rows, columns, bands) of some rows."""
        inside = None if self._region is None else self._region[rows]
        if inside is not None and not inside.any():
            return
        there = self._there(block)
        if there is not None and there.all():
            there = None
        if there is not None:
            self._note_extremes(rows.start, block, there, inside)
            if inside is not None:
                there &= inside[..., None]
        everywhere = np.ones_like(self.filled)
        self._fill(everywhere if there is None else np.asarray(there.any(axis=(0, 1))))
        if not (self._asked & self.filled).any():
            return
        valid = self._has_all(rows, block.shape[:2], there)
        if inside is not None:
            valid &= inside
            self._touched[rows] &= inside
        self.valid[rows] = valid
        if valid.any():
            self._extend(block if valid.all() else block[valid][None])
            self._note_fills(block, valid)

    def _there(self, block: np.ndarray) -> np.ndarray | None:
        """Return which values are not missing; None where none can be."""
        largest, there = largest_of(block.dtype), None
        if block.dtype.kind == "f" or largest > self._limit:
            limit = min(self._limit, largest)
            there = (block <= limit) & (block >= -limit)
        if self._ignore_value is None or np.isnan(self._ignore_value):
            return there
        stated = is_ignored(block, self._ignore_value)
        np.logical_not(stated, out=stated)
        return stated if there is None else np.logical_and(there, stated, out=there)

    def _note_extremes(
        self, first_row: int, block: np.ndarray, there: np.ndarray, inside: np.ndarray | None
    ) -> None:
        if block.dtype.kind != "f" and largest_of(block.dtype) <= self._limit:
            return
        beyond = np.isfinite(block) & ~there & self._asked
        if inside is not None:
            beyond &= inside[..., None]
        if self._ignore_value is not None and beyond.any():
            beyond &= ~is_ignored(block, self._ignore_value)
        if not beyond.any():
            return
        if self.first_extreme is None:
            row, column, band = (int(i) for i in np.argwhere(beyond)[0])
            value = float(block[row, column, band])
            self.first_extreme = (first_row + row, column, band, value)
        self.n_extreme += int(np.count_nonzero(beyond.any(axis=2)))

    def _note_fills(self, block: np.ndarray, valid: np.ndarray) -> None:
        if block.dtype.kind == "u":
            return
        first = np.ascontiguousarray(block[..., np.argmax(self._asked)])
        for fill in FILLS:
            found = valid & is_ignored(first, fill)
            if found.any():
                bands = is_ignored(of_bands(block[found], self._asked), fill)
                self.unstated[fill] += int(np.count_nonzero(bands.all(axis=1)))

    def _fill(self, filled: np.ndarray) -> None:
        new = filled & ~self.filled & self._asked
        if new.any():
            self.lacking[new] += np.count_nonzero(self._touched)
            self.valid[:] = False
            self.lowest = self.highest = None
            self.unstated = dict.fromkeys(FILLS, 0)
        self.filled |= filled

    def _has_all(self, rows: slice, shape: tuple[int, ...], there: np.ndarray | None) -> np.ndarray:
        """Return which pixels of a block lack no band, and note what the others lack."""
        if there is None:
            self._touched[rows] = True
            return np.ones(shape, dtype=bool)
        used = self._asked & self.filled
        of_used = of_bands(there, used)
        valid, touched = np.asarray(of_used.all(axis=2)), np.asarray(of_used.any(axis=2))
        self._touched[rows] = touched
        if (partial := touched & ~valid).any():
            self.lacking[used] += np.count_nonzero(~of_used[partial], axis=0)
        return valid

    def _extend(self, pixels: np.ndarray) -> None:
        with np.errstate(invalid="ignore"):  # bands that are not asked for may hold NaN
            low, high = pixels.min(axis=(0, 1)), pixels.max(axis=(0, 1))
        self.lowest = low if self.lowest is None else np.minimum(self.lowest, low)
        self.highest = high if self.highest is None else np.maximum(self.highest, high)


def of_bands(block: np.ndarray, bands: np.ndarray) -> np.ndarray:
    """Return some bands of a block, itself where they are all."""
    return block if bands.all() else block[..., bands]
