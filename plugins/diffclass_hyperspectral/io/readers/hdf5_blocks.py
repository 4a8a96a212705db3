"""What HDF5 readers share: blocks of rows, checked datasets, attributes and text, by ``h5py``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import DataError
from diffclass.system.libraries import require
from diffclass_hyperspectral.io.georeference import (
    Georeference,
    MapInfo,
    crs_text,
    map_info_of,
    parsed_crs,
)
from diffclass_hyperspectral.io.rasters import BlockArray
from diffclass_hyperspectral.io.readers.contents import is_ignored

# Which axes of a dataset are rows, columns and bands.
AS_STORED, BANDS_FIRST, REVERSED = (0, 1, 2), (1, 2, 0), (2, 1, 0)


def stored_blocks(path: Path, stored: Any, axes: tuple[int, int, int] = AS_STORED) -> BlockArray:
    """Return a dataset as an array (rows, columns, bands) that reads its rows when asked."""
    name, row_axis = stored.name, axes[0]

    def read_rows(start: int, stop: int) -> np.ndarray:
        part = [slice(None)] * 3
        part[row_axis] = slice(start, stop)
        with require("h5py").File(path, "r") as file:
            return file[name][tuple(part)].transpose(axes)

    rows, columns, bands = (stored.shape[axis] for axis in axes)
    step = 1 if stored.chunks is None else stored.chunks[row_axis]
    shape = (rows, columns, bands)
    return BlockArray(shape, stored.dtype, read_rows=read_rows, path=path, step=step)


def without_fill(
    path: Path,
    data: BlockArray,
    fill: float | None,
    *,
    missing: str | None = None,
    gain: float = 1.0,
    offset: float = 0.0,
) -> BlockArray:
    """Return gain * stored + offset as float32, with NaN for each value that is the fill value.

    ``missing`` names a dataset (rows, columns) that is not 0 where a pixel has no data.
    """

    def read_rows(start: int, stop: int) -> np.ndarray:
        block = data[start:stop]
        data.release()  # what is read here is kept by the array that is returned
        values = block.astype(np.float32)
        values[is_ignored(block, fill)] = np.nan
        if missing is not None:
            with require("h5py").File(path, "r") as file:
                values[np.asarray(file[missing][start:stop]) != 0] = np.nan
        return (
            values if (gain, offset) == (1, 0) else values * np.float32(gain) + np.float32(offset)
        )

    return BlockArray(data.shape, np.float32, read_rows=read_rows, path=path, step=data.step)


def cube_of(path: Path, file: Any, name: str) -> Any:
    """Return a dataset of three axes of real numbers, or raise `DataError`."""
    stored = member(path, file, name)
    if stored.ndim != 3 or stored.dtype.kind not in "iuf" or stored.size == 0:
        raise DataError(
            f"{path}: {stored.name} has shape {stored.shape} and type {stored.dtype}, which is not "
            "a cube of numbers; the file is damaged or of another kind"
        )
    return stored


def dataset_numbers(path: Path, file: Any, name: str, *, length: int) -> np.ndarray:
    """Return a dataset that the product has to have, as `numbers`."""
    return numbers(path, member(path, file, name)[()], name, length=length)


def good_wavelengths(path: Path, holder: Any, *, length: int) -> np.ndarray | None:
    """Return which bands the ``good_wavelengths`` of a group or of attributes do not call 0."""
    name = "good_wavelengths"
    return numbers(path, holder[name], name, length=length) != 0 if name in holder else None


def attribute_numbers(path: Path, attributes: Any, name: str, *, length: int) -> np.ndarray:
    """Return an attribute that the product has to have, as `numbers`."""
    if name not in attributes:
        raise DataError(f"{path}: lacks the attribute {name}; fetch the file again")
    return numbers(path, attributes[name], name, length=length)


def numbers(path: Path, values: Any, name: str, *, length: int) -> np.ndarray:
    """Return an attribute or dataset of one axis as finite float64 of a known length."""
    array = np.atleast_1d(np.asarray(values))
    if array.dtype.kind not in "biuf" or array.shape != (length,) or not np.isfinite(array).all():
        raise DataError(
            f"{path}: {name} has shape {array.shape} and type {array.dtype}; {length} finite "
            "numbers are needed; the file is damaged, fetch it again"
        )
    return array.astype(np.float64)


def number_of(path: Path, attributes: Any, name: str, default: float | None) -> float | None:
    """Return an attribute that is one finite number, or the default where it is absent."""
    if name not in attributes:
        return default
    return float(numbers(path, np.ravel(attributes[name])[:1], name, length=1)[0])


def member(path: Path, file: Any, name: str) -> Any:
    """Return a dataset or group of a file, or raise `DataError` where it is missing."""
    if name not in file:
        raise DataError(f"{path}: lacks {name}; the file is damaged or of another kind")
    return file[name]


def text_of(value: Any) -> str:
    """Return an attribute or scalar dataset as text, however it is stored."""
    while isinstance(value, np.ndarray) and value.size:
        value = value.ravel()[0]
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def placed_by_gdal(path: Path, values: Any, name: str, crs: str) -> MapInfo:
    """Return coordinates of GDAL's order: left, width, shear, top, shear and height."""
    c, a, b, f, d, e = numbers(path, values, name, length=6).tolist()
    return placed(path, (a, b, c, d, e, f), crs)


def placed(path: Path, transform: tuple[float, ...], crs: str) -> MapInfo:
    """Return coordinates of rasterio's ``Affine`` and any name of a coordinate system."""
    if not np.isfinite(transform).all():
        raise DataError(f"{path}: its coordinates are not six finite numbers; fetch it again")
    a, b, c, d, e, f = transform
    return map_info_of(Georeference((a, b, c, d, e, f), crs_text(parsed_crs(crs))))
