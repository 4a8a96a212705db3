"""PACE OCI L2 surface reflectance (NetCDF4), by ``h5py``.

``geophysical_data/rhos`` has the axes (lines, pixels, bands) of the sensor; band centres in
nanometres are ``sensor_band_parameters/wavelength_3d``. Values that are ``_FillValue`` are missing,
``scale_factor`` and ``add_offset`` count where they are given. Pixels have a latitude and longitude
each, but the product holds no map grid: the scene has no map coordinates. Flags
(``l2_flags``: clouds, glint) are not applied; give a mask.

Source: NASA Ocean Biology Processing Group, "File Structure at Three Processing Levels for the
Ocean Color Instrument" and "Reprojecting and Formatting PACE OCI Data" (oceandata-notebooks), for
version 3.1 of PACE_OCI_L2_SFREFL; attributes by the CF conventions. That fill values stand for
single bands was not checked on a product.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import DataError
from diffclass_hyperspectral.io.rasters import BlockArray
from diffclass_hyperspectral.io.readers.contents import Contents
from diffclass_hyperspectral.io.readers.hdf5_blocks import (
    centres_of,
    cube_of,
    number_of,
    stored_blocks,
    without_fill,
)
from diffclass_hyperspectral.io.readers.wavelengths import in_nanometres

_CUBE = "geophysical_data/rhos"
_CENTRES = "sensor_band_parameters/wavelength_3d"


def is_pace(file: Any) -> bool:
    """Tell whether an HDF5 file is laid out as PACE's surface reflectances."""
    return _CUBE in file


def read(path: Path, file: Any) -> Contents:
    """Open the surface reflectances of a PACE file.

    Raises
    ------
    DataError
        Where a part of the product is missing or has the wrong size.
    """
    stored = cube_of(path, file, _CUBE)
    centres = centres_of(path, file, _CENTRES, length=stored.shape[2])
    fill = number_of(path, stored.attrs, "_FillValue", None)
    gain = number_of(path, stored.attrs, "scale_factor", 1.0)
    offset = number_of(path, stored.attrs, "add_offset", 0.0)
    data = without_fill(path, stored_blocks(path, stored), fill)
    if not gain:
        raise DataError(f"{path}: scale_factor of {_CUBE} is 0; fetch the file again")
    if (gain, offset) != (1.0, 0.0):
        data = _scaled(path, data, np.float32(gain), np.float32(offset or 0))
    return Contents(data, "PACE", wavelengths=in_nanometres(centres, "nm"))


def _scaled(path: Path, data: BlockArray, gain: np.float32, offset: np.float32) -> BlockArray:
    def read_rows(start: int, stop: int) -> np.ndarray:
        values = data[start:stop] * gain + offset
        data.release()
        return values

    return BlockArray(data.shape, np.float32, read_rows=read_rows, path=path, step=data.step)
