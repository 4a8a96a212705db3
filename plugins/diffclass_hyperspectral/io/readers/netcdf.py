"""Pictures and cubes of NetCDF files as xarray writes them: with names, flags and coordinates.

NetCDF-3 is what xarray writes where only SciPy is beside it; it has no unsigned types, for which
the attribute ``_Unsigned`` stands.

Source: NetCDF Users Guide, "Best practices: unsigned data".
"""

from __future__ import annotations

from pathlib import Path

from diffclass_hyperspectral.io.optional import require
from diffclass_hyperspectral.io.readers import xarray_cubes
from diffclass_hyperspectral.io.readers.contents import Contents
from diffclass_hyperspectral.io.readers.failures import reading


def read(path: Path, *, variable: str | None = None, n_axes: int = 3) -> Contents:
    """Open a variable of the file's root; its values are asked for when they are needed.

    Raises
    ------
    DataError
        Where the file is damaged, or no variable or several fit.
    ParameterError
        Where xarray is missing.
    """
    xarray = require("xarray", extra="xarray")
    with reading(path, "a NetCDF file"):
        dataset = xarray.open_dataset(path, mask_and_scale=False, decode_times=False)
        return xarray_cubes.read(dataset, variable=variable, n_axes=n_axes)
