"""What readers by ``rasterio`` share: blocks, scale, coordinates, missing pixels.

Files are read by four drivers of GDAL, as other readers here know more of other formats; addresses
and GDAL's virtual file systems by any.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import DataError
from diffclass.system.libraries import require
from diffclass.system.remote_paths import RemotePath
from diffclass_hyperspectral.io.formats import DRIVERS
from diffclass_hyperspectral.io.gdal_messages import quiet
from diffclass_hyperspectral.io.georeference import (
    Georeference,
    MapInfo,
    crs_text,
    map_info_of,
)
from diffclass_hyperspectral.io.rasters import BlockArray
from diffclass_hyperspectral.io.readers.contents import BandScales, Contents, is_ignored
from diffclass_hyperspectral.io.readers.fetched import FetchedRows


def scaled(
    path: Path,
    raster: Any,
    scales: BandScales,
    shown: Transparency | None = None,
    **facts: Any,
) -> Contents:
    """Return the raster as stored with one scale factor, or calibrated where bands differ.

    Pixels that an alpha band, a mask or the no-data values of single bands leave out are NaN.
    """
    scales.check(path)
    shown = Transparency(tuple(range(1, raster.count + 1))) if shown is None else shown
    factor = scales.scale_factor
    if factor is not None:
        data = _lazy(path, raster, shown)
        return Contents(data, ignore_value=scales.ignored, scale_factor=factor, **facts)
    return Contents(_lazy(path, raster, shown, scales), **facts)


# Of GDAL, where the environment says nothing else: folders of servers are not listed, and a server
# that is silent, or fails three times, is given up.
_REMOTE = {
    "GDAL_DISABLE_READDIR_ON_OPEN": "TRUE",
    "GDAL_HTTP_CONNECTTIMEOUT": "10",
    "GDAL_HTTP_LOW_SPEED_LIMIT": "1",
    "GDAL_HTTP_LOW_SPEED_TIME": "20",
    "GDAL_HTTP_MAX_RETRY": "2",
    "GDAL_HTTP_RETRY_DELAY": "1",
}


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """Yield rasterio's dataset of a file or an address, without its warnings."""
    rasterio = require("rasterio", extra="maps")
    is_remote = isinstance(path, RemotePath)
    settings = {name: text for name, text in _REMOTE.items() if name not in os.environ}
    with quiet(), rasterio.Env(**settings if is_remote else {}):
        source = str(path) if is_remote else os.path.abspath(path)
        with rasterio.open(source, driver=None if is_remote else _driver_of(path)) as raster:
            yield raster


def _driver_of(path: Path) -> str:
    with path.open("rb") as stream:
        head = stream.read(16)
    found = (name for name, starts in DRIVERS.items() if head.startswith(starts))
    return next(found, "VRT" if path.suffix.lower() == ".vrt" else "GTiff")


def check_raster(path: Path, raster: Any) -> None:
    """Raise `DataError` for complex values, and where the last blocks lie beyond the file's end."""
    if any("complex" in kind for kind in raster.dtypes):
        raise DataError(f"{path}: complex numbers; a scene or label image needs real ones")
    if isinstance(path, RemotePath):
        return
    there = path.stat().st_size
    sizes = zip(raster.shape, raster.block_shapes[0], strict=True)
    row, column = ((size - 1) // block for size, block in sizes)
    for band in (1, raster.count):
        name = f"{column}_{row}"
        offset = raster.get_tag_item(f"BLOCK_OFFSET_{name}", "TIFF", bidx=band)
        length = raster.get_tag_item(f"BLOCK_SIZE_{name}", "TIFF", bidx=band)
        if offset and length and int(offset) + int(length) > there:
            raise DataError(f"{path}: {there} bytes, cut short; fetch the file again")


def _lazy(
    path: Path, raster: Any, shown: Transparency, scales: BandScales | None = None
) -> BlockArray:
    bands = list(shown.bands)
    stored = np.result_type(*{np.dtype(raster.dtypes[band - 1]) for band in bands})
    if scales is not None:
        wanted = np.dtype(np.float32)
    elif shown.masks:  # NaN needs a float that holds every stored value
        wanted = np.result_type(stored, np.float32)
    else:
        wanted = stored

    def read_rows(start: int, stop: int) -> np.ndarray:
        with opened(path) as source:
            window = ((start, stop), (0, source.width))
            block = _read(source, bands, window)
            hidden = shown.hidden(source, window) if shown.masks else None
        values = block if scales is None else scales.apply(block)
        if hidden is not None:
            values = values.astype(wanted)
            values[hidden] = np.nan
        if shown.nodata is not None:
            values[is_ignored(block, shown.nodata)] = np.nan
        return values

    shape = raster.height, raster.width, len(bands)
    return BlockArray(
        shape,
        wanted,
        read_rows=FetchedRows(read_rows, shape, wanted, path)
        if isinstance(path, RemotePath)
        else read_rows,
        path=path,
        step=raster.block_shapes[0][0],
    )


def _read(source: Any, bands: list[int], window: Any) -> np.ndarray:
    """Return bands of a window, in a type that holds them; a virtual raster may mix types."""
    if len({source.dtypes[band - 1] for band in bands}) == 1:
        return np.asarray(source.read(bands, window=window).transpose(1, 2, 0))
    return np.stack([source.read(band, window=window) for band in bands], axis=-1)


def map_info(raster: Any) -> MapInfo | None:
    """Return the coordinates of a raster, or None where it has none."""
    transform = raster.transform
    if transform.is_identity or transform.determinant == 0:
        return None
    return map_info_of(Georeference(tuple(transform)[:6], crs_text(raster.crs)))


_SAMPLED_ROWS = 32
_MOST_BETWEEN = 0.1  # of an alpha band's values: edges are feathered, measurements are all between


@dataclass(frozen=True)
class Transparency:
    """Which bands, from 1, are measurements, and what else tells where there are none."""

    bands: tuple[int, ...]
    alpha: int | None = None  # the band that is 0 where a pixel is transparent
    has_mask: bool = False  # a mask of its own, in the file or as .msk next to it
    # (bands,), NaN for none, where they differ or something else masks pixels too
    nodata: np.ndarray | None = None
    common: float | None = None  # of all bands, where nothing else masks pixels

    @classmethod
    def of_raster(
        cls, raster: Any, bands: tuple[int, ...], ignored: float | np.ndarray | None = None
    ) -> Transparency:
        """Return what rasterio's dataset says; ``ignored`` is for bands without a no-data value."""
        enums = require("rasterio.enums", extra="maps")
        others = [band for band in range(1, raster.count + 1) if band not in bands]
        flags = raster.mask_flag_enums[bands[0] - 1]
        has_mask = enums.MaskFlags.per_dataset in flags and enums.MaskFlags.alpha not in flags
        stated = [raster.nodatavals[band - 1] for band in bands]
        usable = ignored is not None and np.size(ignored) in (1, len(bands))
        given = np.broadcast_to(np.asarray(ignored if usable else np.nan, float), len(bands))
        values = [
            (None if np.isnan(other) else other) if value is None else value
            for value, other in zip(stated, given.tolist(), strict=True)
        ]
        kinds = [np.dtype(raster.dtypes[band - 1]) for band in bands]
        if len(set(kinds)) > 1:  # each in the precision of its band, as the values are
            values = [value if value is None or kind.kind != "f" else float(kind.type(value))
                      for value, kind in zip(values, kinds, strict=True)]  # fmt: skip
        differ = len({repr(value) for value in values}) > 1
        beside = (others or has_mask) and any(value is not None for value in values)
        nodata = np.array(values, dtype=float) if differ or beside else None
        return cls(bands, others[0] if others else None, has_mask, nodata, values[0])

    @property
    def masks(self) -> bool:
        """Whether anything but one common no-data value masks pixels."""
        return self.alpha is not None or self.has_mask or self.nodata is not None

    def hidden(self, source: Any, window: Any) -> np.ndarray:
        """Return which pixels of a window, bool (rows, columns), alpha or mask leave out."""
        alpha = 1 if self.alpha is None else source.read(self.alpha, window=window)
        mask = source.read_masks(self.bands[0], window=window) if self.has_mask else 1
        (top, bottom), (left, right) = window
        return np.broadcast_to((alpha == 0) | (mask == 0), (bottom - top, right - left))


def measured_bands(raster: Any) -> tuple[int, ...]:
    """Return the bands of rasterio's dataset, from 1, without the one that is transparency."""
    enums = require("rasterio.enums", extra="maps")
    named = [i for i, kind in enumerate(raster.colorinterp, 1)
             if kind == enums.ColorInterp.alpha and raster.count > 1]  # fmt: skip
    alpha = next((band for band in named if _is_transparency(raster, band)), None)
    return tuple(band for band in range(1, raster.count + 1) if band != alpha)


def _is_transparency(raster: Any, band: int) -> bool:
    """Tell whether a band that is called alpha is one.

    GDAL calls the fourth band of any four of bytes alpha, also where it is the near infrared.
    """
    dtype = np.dtype(raster.dtypes[band - 1])
    full = np.iinfo(dtype).max if dtype.kind in "iu" else 1
    step = max(1, raster.height // _SAMPLED_ROWS)
    rows = [
        raster.read(band, window=((row, row + 1), (0, raster.width)))
        for row in range(0, raster.height, step)
    ]
    sample = np.concatenate(rows)
    return float(((sample != 0) & (sample != full)).mean()) <= _MOST_BETWEEN
