"""What GeoTIFF products have in common: blocks of rows by ``rasterio``, scale and coordinates."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import DataError
from diffclass_hyperspectral.io.georeference import Georeference, MapInfo, crs_text, map_info_of
from diffclass_hyperspectral.io.optional import require
from diffclass_hyperspectral.io.rasterio_warnings import quiet
from diffclass_hyperspectral.io.readers.blocks import BlockArray
from diffclass_hyperspectral.io.readers.contents import Contents


def scaled(
    path: Path,
    raster: Any,
    gains: np.ndarray,
    offsets: np.ndarray,
    ignored: float | None,
    **facts: Any,
) -> Contents:
    """Return the raster as stored with one scale factor, or calibrated where bands differ.

    Reflectance is gain * stored + offset, band by band.
    """
    usable = np.isfinite(gains).all() and np.isfinite(offsets).all() and gains.all()
    if not usable:
        raise DataError(f"{path}: the gains or offsets of its bands are not usable numbers")
    if not offsets.any() and (gains == gains[0]).all() and gains[0] > 0:
        return Contents(
            _lazy(path, raster), ignore_value=ignored, scale_factor=float(1 / gains[0]), **facts
        )
    return Contents(_lazy(path, raster, calibration=(gains, offsets, ignored)), **facts)


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """Yield rasterio's dataset of a TIFF, without a warning where it has no coordinates."""
    rasterio = require("rasterio", extra="maps")
    with quiet(), rasterio.open(os.path.abspath(path), driver="GTiff") as raster:
        yield raster


def check_raster(path: Path, raster: Any) -> None:
    """Raise `DataError` for complex values, and where the last blocks lie beyond the file's end."""
    if any("complex" in kind for kind in raster.dtypes):
        raise DataError(f"{path}: complex numbers; a scene or label image needs real ones")
    there = path.stat().st_size
    last = [(size - 1) // block for size, block in zip(raster.shape, raster.block_shapes[0],
                                                       strict=True)]  # fmt: skip
    for band in (1, raster.count):
        name = f"{last[1]}_{last[0]}"
        offset = raster.get_tag_item(f"BLOCK_OFFSET_{name}", "TIFF", bidx=band)
        length = raster.get_tag_item(f"BLOCK_SIZE_{name}", "TIFF", bidx=band)
        if offset and length and int(offset) + int(length) > there:
            raise DataError(f"{path}: {there} bytes, cut short; fetch the file again")


def _lazy(
    path: Path,
    raster: Any,
    calibration: tuple[np.ndarray, np.ndarray, float | None] | None = None,
) -> BlockArray:
    stored = np.result_type(*{np.dtype(kind) for kind in raster.dtypes})

    def read_rows(start: int, stop: int) -> np.ndarray:
        with opened(path) as source:
            block = source.read(window=((start, stop), (0, source.width))).transpose(1, 2, 0)
        return block if calibration is None else _calibrated(block, *calibration)

    return BlockArray(
        (raster.height, raster.width, raster.count),
        stored if calibration is None else np.float32,
        read_rows=read_rows,
        path=path,
        step=raster.block_shapes[0][0],
    )


def _calibrated(
    block: np.ndarray, gains: np.ndarray, offsets: np.ndarray, ignored: float | None
) -> np.ndarray:
    values = block.astype(np.float32) * gains.astype(np.float32) + offsets.astype(np.float32)
    if ignored is not None:
        values[block == ignored] = np.nan
    return values


def map_info(raster: Any) -> MapInfo | None:
    """Return the coordinates of a raster, or None where it has none."""
    transform = raster.transform
    if transform.is_identity or transform.determinant == 0:
        return None
    return map_info_of(Georeference(tuple(transform)[:6], crs_text(raster.crs)))
