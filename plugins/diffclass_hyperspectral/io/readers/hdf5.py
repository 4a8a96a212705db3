"""HDF5 and NetCDF files: products known by their layout, or an array that is named.

HDF5 and NetCDF-4 are read by ``h5py``. Files that name their dimensions, as xarray writes them, are
read by xarray with names, flags and coordinates. NetCDF-3 is what xarray writes where only SciPy is
installed; it has no unsigned types, for which the attribute ``_Unsigned`` stands.

Source: NetCDF Users Guide, "Best practices: unsigned data".
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from diffclass_hyperspectral.io.libraries import reading, require
from diffclass_hyperspectral.io.readers import xarray_cubes
from diffclass_hyperspectral.io.readers.contents import Contents
from diffclass_hyperspectral.io.readers.hdf5_blocks import stored_blocks
from diffclass_hyperspectral.io.readers.matlab import Listing, pick
from diffclass_hyperspectral.io.readers.products import aviris3, emit, neon, pace, prisma, tanager


def read(path: Path, *, variable: str | None = None, n_axes: int = 3) -> Contents:
    """Open a product that is known by its layout, else the named or only array.

    Arrays of three axes are (rows, columns, bands) as stored and are read in blocks of rows, unless
    the file names its dimensions, as NetCDF-4 does.

    Raises
    ------
    DataError
        Where the file is damaged, or no array or several arrays fit.
    """
    h5py = require("h5py")
    with reading(path, "an HDF5 or NetCDF4 file"), h5py.File(path, "r") as file:
        product = _product_of(file) if variable is None and n_axes == 3 else None
        if product is not None:
            return product(path, file)
        if "/" not in (variable or "") and _names_its_dimensions(file):
            return read_netcdf(path, variable=variable, n_axes=n_axes)
        listing = Listing(path, _shapes(file, h5py), lambda name: _load(path, file, name))
        return Contents(pick(listing, variable, n_axes=n_axes), "HDF5")


def read_netcdf(path: Path, *, variable: str | None = None, n_axes: int = 3) -> Contents:
    """Open a variable of a NetCDF file's root; its values are asked for when they are needed.

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


def _names_its_dimensions(file: Any) -> bool:
    """Tell whether it is NetCDF-4, whose dimensions say what is a row, a column and a band."""
    return any("DIMENSION_LIST" in item.attrs for item in file.values())


def _product_of(file: Any) -> Callable[[Path, Any], Contents] | None:
    """Return what reads the product that a file is laid out as."""
    known: tuple[tuple[Callable[[Any], Any], Callable[[Path, Any], Contents]], ...] = (
        (emit.is_emit, emit.read),
        (prisma.is_prisma, prisma.read),
        (tanager.is_tanager, tanager.read),
        (pace.is_pace, pace.read),
        (aviris3.is_aviris3, aviris3.read),
        (neon.site_of, neon.read),
    )
    return next((read for is_one, read in known if is_one(file)), None)


def _shapes(file: Any, h5py: Any) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {}

    def note(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and item.dtype.kind in "biuf":
            shapes[name] = item.shape

    file.visititems(note)
    return shapes


def _load(path: Path, file: Any, name: str) -> Any:
    stored = file[name]
    return stored_blocks(path, stored) if stored.ndim == 3 else np.asarray(stored[()])
