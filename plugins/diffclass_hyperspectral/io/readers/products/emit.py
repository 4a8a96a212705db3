"""EMIT L2A reflectance (NetCDF4), by ``h5py``.

``reflectance`` has the axes (downtrack, crosstrack, bands) of the sensor, which are no map grid:
the scene has no map coordinates of its own, but a lookup table to a grid that has some. In it
``glt_x`` and ``glt_y`` count crosstrack and downtrack from 1; 0 means none. Fill values are -9999;
bands that ``good_wavelengths`` calls 0 are bad.

Source: EMIT L2A Algorithm and Product User Guide (LP DAAC, EMITL2ARFL.001), also of the group
``location``.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import DataError
from diffclass_hyperspectral.io.georeference import LookupTable
from diffclass_hyperspectral.io.libraries import reading, require, require_file
from diffclass_hyperspectral.io.readers.contents import Contents
from diffclass_hyperspectral.io.readers.hdf5_blocks import (
    centres_of,
    cube_of,
    good_wavelengths,
    number_of,
    placed_by_gdal,
    stored_blocks,
    text_of,
)
from diffclass_hyperspectral.io.readers.wavelengths import in_nanometres

_CUBE = "reflectance"
_BANDS = "sensor_band_parameters"
_CENTRES = f"{_BANDS}/wavelengths"
_TABLE = ("location/glt_x", "location/glt_y")
_GRID = ("geotransform", "spatial_ref")
_FILL = -9999.0


def is_emit(file: Any) -> bool:
    """Tell whether an HDF5 file is laid out as EMIT's reflectances."""
    return _CUBE in file and _BANDS in file


def read(path: Path, file: Any) -> Contents:
    """Open the reflectances of an EMIT file.

    Raises
    ------
    DataError
        Where a part of the product is missing or has the wrong size.
    """
    stored = cube_of(path, file, _CUBE)
    n_bands = stored.shape[2]
    centres = centres_of(path, file, _CENTRES, length=n_bands)
    return Contents(
        stored_blocks(path, stored),
        "EMIT",
        wavelengths=in_nanometres(centres, None),
        band_mask=good_wavelengths(path, file[_BANDS], length=n_bands),
        ignore_value=number_of(path, stored.attrs, "_FillValue", _FILL),
        read_lookup_table=partial(read_lookup_table, path) if _has_table(file) else None,
    )


def read_lookup_table(path: str | os.PathLike[str]) -> LookupTable:
    """Read the lookup table of an EMIT file.

    Raises
    ------
    DataError
        Where the file has none, or it points outside the scene.
    """
    place = Path(path)
    require_file(place)
    h5py = require("h5py")
    with reading(place, "an EMIT file"), h5py.File(place, "r") as file:
        lacking = [name for name in (*_TABLE, _CUBE) if name not in file]
        lacking += [name for name in _GRID if name not in file.attrs]
        if lacking:
            raise DataError(f"{place}: lacks {', '.join(lacking)}; name an EMIT L2A file")
        columns, rows = (np.asarray(file[name][()]) for name in _TABLE)
        shape = file[_CUBE].shape[:2]
        _check_table(place, rows, columns, shape)
        transform, crs = _GRID
        none = (rows <= 0) | (columns <= 0)
        return LookupTable(
            rows=np.where(none, -1, rows - 1),
            columns=np.where(none, -1, columns - 1),
            sensor_shape=shape,
            map_info=placed_by_gdal(
                place, file.attrs[transform], transform, text_of(file.attrs[crs])
            ),
            path=place,
        )


def _has_table(file: Any) -> bool:
    return all(name in file for name in _TABLE) and all(name in file.attrs for name in _GRID)


def _check_table(path: Path, rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> None:
    whole = rows.dtype.kind in "iu" and columns.dtype.kind in "iu"
    if rows.ndim != 2 or rows.shape != columns.shape or rows.size == 0 or not whole:
        raise DataError(
            f"{path}: glt_x and glt_y are not two tables of the same size; fetch it again"
        )
    if rows.max() > shape[0] or columns.max() > shape[1]:
        raise DataError(f"{path}: the lookup table points outside the scene; fetch it again")
