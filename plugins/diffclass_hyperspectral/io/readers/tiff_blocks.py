"""What GeoTIFF products have in common: blocks of rows by ``rasterio``, scale and coordinates."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import DataError
from diffclass_hyperspectral.io.georeference import (
    Georeference,
    MapInfo,
    crs_text,
    map_info_of,
)
from diffclass_hyperspectral.io.libraries import quiet, require
from diffclass_hyperspectral.io.rasters import BlockArray
from diffclass_hyperspectral.io.readers.contents import Calibration, Contents
from diffclass_hyperspectral.io.readers.transparency import Transparency


def scaled(
    path: Path,
    raster: Any,
    calibration: Calibration,
    shown: Transparency | None = None,
    **facts: Any,
) -> Contents:
    """Return the raster as stored with one scale factor, or calibrated where bands differ.

    Pixels that an alpha band, a mask or the no-data values of single bands leave out are NaN.
    """
    calibration.check(path)
    shown = Transparency(tuple(range(1, raster.count + 1))) if shown is None else shown
    factor = calibration.scale_factor
    if factor is not None:
        data = _lazy(path, raster, shown)
        return Contents(data, ignore_value=calibration.ignored, scale_factor=factor, **facts)
    return Contents(_lazy(path, raster, shown, calibration), **facts)


@contextmanager
def opened(path: Path, *, driver: str | None = "GTiff") -> Iterator[Any]:
    """Yield rasterio's dataset of a TIFF, without a warning where it has no coordinates.

    With ``driver`` None it may be of any format that GDAL reads.
    """
    rasterio = require("rasterio", extra="maps")
    with quiet(), rasterio.open(os.path.abspath(path), driver=driver) as raster:
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
    path: Path, raster: Any, shown: Transparency, calibration: Calibration | None = None
) -> BlockArray:
    bands = list(shown.bands)
    stored = np.result_type(*{np.dtype(raster.dtypes[band - 1]) for band in bands})
    if calibration is not None:
        wanted = np.dtype(np.float32)
    elif shown.masks:  # NaN needs a float that holds every stored value
        wanted = np.result_type(stored, np.float32)
    else:
        wanted = stored

    def read_rows(start: int, stop: int) -> np.ndarray:
        with opened(path) as source:
            window = ((start, stop), (0, source.width))
            block = source.read(bands, window=window).transpose(1, 2, 0)
            missing = shown.missing(source, window, block) if shown.masks else None
        values = block if calibration is None else calibration.apply(block)
        if missing is not None:
            values = values.astype(wanted)
            values[missing] = np.nan
        return values

    return BlockArray(
        (raster.height, raster.width, len(bands)),
        wanted,
        read_rows=read_rows,
        path=path,
        step=raster.block_shapes[0][0],
    )


def map_info(raster: Any) -> MapInfo | None:
    """Return the coordinates of a raster, or None where it has none."""
    transform = raster.transform
    if transform.is_identity or transform.determinant == 0:
        return None
    return map_info_of(Georeference(tuple(transform)[:6], crs_text(raster.crs)))
