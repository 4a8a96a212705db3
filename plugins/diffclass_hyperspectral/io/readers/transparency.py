"""What a GeoTIFF says of its pixels besides values: alpha bands, masks, no-data by band."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from diffclass_hyperspectral.io.libraries import require

_SAMPLED_ROWS = 32
_MOST_BETWEEN = 0.1  # of an alpha band's values: edges are feathered, measurements are all between


@dataclass(frozen=True)
class Transparency:
    """Which bands are measurements, and what else tells where there are none.

    Attributes
    ----------
    bands : tuple of int
        Those with measurements, from 1.
    alpha : int or None
        The band that is 0 where a pixel is transparent.
    has_mask : bool
        Whether the file has a mask of its own, in it or as ``.msk`` next to it.
    nodata : tuple of float or None
        Of each band in ``bands``, where they differ or something else masks pixels too: a pixel
        that has all of them has no data.
    """

    bands: tuple[int, ...]
    alpha: int | None = None
    has_mask: bool = False
    nodata: tuple[float | None, ...] | None = None

    @classmethod
    def of_raster(cls, raster: Any) -> Transparency:
        """Return what rasterio's dataset says."""
        enums = require("rasterio.enums", extra="maps")
        named = [i for i, kind in enumerate(raster.colorinterp, 1)
                 if kind == enums.ColorInterp.alpha and raster.count > 1]  # fmt: skip
        alpha = next((band for band in named if _is_transparency(raster, band)), None)
        bands = tuple(band for band in range(1, raster.count + 1) if band != alpha)
        flags = raster.mask_flag_enums[bands[0] - 1]
        has_mask = enums.MaskFlags.per_dataset in flags and enums.MaskFlags.alpha not in flags
        values = tuple(raster.nodatavals[band - 1] for band in bands)
        differ = len({repr(value) for value in values}) > 1
        beside = (alpha is not None or has_mask) and any(value is not None for value in values)
        return cls(bands, alpha, has_mask, values if differ or beside else None)

    @property
    def masks(self) -> bool:
        """Whether anything but one common no-data value masks pixels."""
        return self.alpha is not None or self.has_mask or self.nodata is not None

    def missing(self, source: Any, window: Any, block: np.ndarray) -> np.ndarray:
        """Return which pixels of a block (rows, columns, bands) have no data, bool."""
        missing = np.zeros(block.shape[:2], dtype=bool)
        if self.alpha is not None:
            missing |= source.read(self.alpha, window=window) == 0
        if self.has_mask:
            missing |= source.read_masks(self.bands[0], window=window) == 0
        if self.nodata is not None:
            pairs = zip(np.moveaxis(block, 2, 0), self.nodata, strict=True)
            missing |= np.all([_is_nodata(plane, value) for plane, value in pairs], axis=0)
        return missing


def _is_nodata(plane: np.ndarray, value: float | None) -> np.ndarray:
    if value is None:
        return np.zeros(plane.shape, dtype=bool)
    return np.isnan(plane) if np.isnan(value) else plane == np.asarray(value).astype(plane.dtype)


def _is_transparency(raster: Any, band: int) -> bool:
    """Tell whether a band that is called alpha is one.

    GDAL calls the fourth band of any four of bytes alpha unless it is told otherwise, also where
    it is the near infrared.
    """
    dtype = np.dtype(raster.dtypes[band - 1])
    full = np.iinfo(dtype).max if dtype.kind in "iu" else 1
    step = max(1, raster.height // _SAMPLED_ROWS)
    rows = [raster.read(band, window=((row, row + 1), (0, raster.width)))
            for row in range(0, raster.height, step)]  # fmt: skip
    sample = np.concatenate(rows)
    return float(((sample != 0) & (sample != full)).mean()) <= _MOST_BETWEEN
