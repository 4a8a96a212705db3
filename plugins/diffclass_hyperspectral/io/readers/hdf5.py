"""HDF5, MATLAB 7.3 and NetCDF files: products known by their layout, or an array that is named.

MATLAB 7.3 is HDF5 with the axes in reverse order. Files that name their dimensions are read by
xarray with names, flags and coordinates. NetCDF-3 has no unsigned types, for which the attribute
``_Unsigned`` stands (NetCDF Users Guide, "Best practices: unsigned data").
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from diffclass.system.libraries import reading, require
from diffclass_hyperspectral.io.readers import xarray_cubes
from diffclass_hyperspectral.io.readers.contents import Contents
from diffclass_hyperspectral.io.readers.hdf5_blocks import (
    AS_STORED,
    REVERSED,
    stored_blocks,
    text_of,
)
from diffclass_hyperspectral.io.readers.hdf5_products import read_product
from diffclass_hyperspectral.io.readers.matlab import NUMERIC, ArrayListing, contents_of


def read(path: Path, *, variable: str | None = None, n_axes: int = 3) -> Contents:
    """Open a product that is known by its layout, else the named or only array.

    Arrays of three axes are (rows, columns, bands) as stored, unless the file names its dimensions.
    """
    h5py = require("h5py")
    with reading(path, "an HDF5 or NetCDF4 file"), h5py.File(path, "r") as file:
        product = read_product(path, file) if variable is None and n_axes == 3 else None
        if product is not None:
            return product
        if "/" not in (variable or "") and _names_its_dimensions(file):
            return read_netcdf(path, variable=variable, n_axes=n_axes)
        listing = _listing(path, file, is_reversed=False)
        return contents_of(listing, "HDF5", variable, n_axes=n_axes)


def read_matlab(path: Path, *, variable: str | None = None, n_axes: int = 3) -> Contents:
    """Open the named array of a MATLAB 7.3 file ("scene/data" in a struct), or the only one."""
    h5py = require("h5py")
    with reading(path, "a MATLAB 7.3 (HDF5) file"), h5py.File(path, "r") as file:
        product = read_product(path, file) if variable is None and n_axes == 3 else None
        if product is not None:
            return product
        listing = _listing(path, file, is_reversed=True)
        return contents_of(listing, "MATLAB 7.3", variable, n_axes=n_axes)


def read_netcdf(path: Path, *, variable: str | None = None, n_axes: int = 3) -> Contents:
    """Open a variable of a NetCDF file's root; its values are asked for when they are needed."""
    xarray = require("xarray", extra="xarray")
    with reading(path, "a NetCDF file"):
        dataset = xarray.open_dataset(path, mask_and_scale=False, decode_times=False)
        return xarray_cubes.read(dataset, variable=variable, n_axes=n_axes)


def _names_its_dimensions(file: Any) -> bool:
    """Tell whether it is NetCDF-4, whose dimensions say what is a row, a column and a band."""
    return any("DIMENSION_LIST" in item.attrs for item in file.values())


def _listing(path: Path, file: Any, *, is_reversed: bool) -> ArrayListing:
    """Return the arrays of real numbers; axes of MATLAB's are reversed, types are its own."""
    datasets = require("h5py").Dataset
    shapes: dict[str, tuple[int, ...]] = {}

    def note(name: str, item: Any) -> None:
        if not isinstance(item, datasets) or item.dtype.kind not in "biuf":
            return
        if not is_reversed:
            shapes[name] = item.shape
        elif _is_of_matlab(name, item):
            shapes[name] = item.shape[::-1]

    def load(name: str) -> Any:
        stored = file[name]
        if stored.ndim == 3:
            return stored_blocks(path, stored, REVERSED if is_reversed else AS_STORED)
        return stored[()].T if is_reversed else stored[()]

    file.visititems(note)
    return ArrayListing(path, shapes, load, lambda name: file[name].attrs if name in file else {})


def _is_of_matlab(name: str, item: Any) -> bool:
    kind = text_of(item.attrs.get("MATLAB_class", "double"))
    return not name.startswith("#") and kind in NUMERIC and "MATLAB_empty" not in item.attrs
