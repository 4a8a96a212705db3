"""EMIT L2A reflectance (NetCDF4), by ``h5py``.

``reflectance`` has the axes (downtrack, crosstrack, bands) of the sensor, which are no map grid:
the scene has no map coordinates, and maps made of it are in the sensor's grid.
`diffclass_hyperspectral.io.orthorectification` carries them to the map with the product's lookup
table. Fill values are -9999; bands that ``good_wavelengths`` calls 0 are bad.

Source: EMIT L2A Algorithm and Product User Guide (LP DAAC, EMITL2ARFL.001).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import DataError
from diffclass_hyperspectral.io.readers.contents import Contents
from diffclass_hyperspectral.io.readers.hdf5_blocks import numbers, require_cube, stored_blocks
from diffclass_hyperspectral.io.readers.wavelengths import in_nanometres

_CUBE = "reflectance"
_BANDS = "sensor_band_parameters"
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
    stored = file[_CUBE]
    require_cube(path, stored)
    n_bands = stored.shape[2]
    if "wavelengths" not in file[_BANDS]:
        raise DataError(f"{path}: {_BANDS} lacks wavelengths; fetch the file again")
    centres = numbers(path, file[_BANDS]["wavelengths"][()], "wavelengths", length=n_bands)
    return Contents(
        stored_blocks(path, stored),
        "EMIT",
        wavelengths=in_nanometres(centres, None),
        band_mask=_good(path, file[_BANDS], n_bands),
        ignore_value=_fill_value(path, stored),
    )


def _good(path: Path, group: Any, n_bands: int) -> np.ndarray | None:
    if "good_wavelengths" not in group:
        return None
    return numbers(path, group["good_wavelengths"][()], "good_wavelengths", length=n_bands) != 0


def _fill_value(path: Path, stored: Any) -> float:
    values = stored.attrs.get("_FillValue")
    return _FILL if values is None else float(numbers(path, values, "_FillValue", length=1)[0])
