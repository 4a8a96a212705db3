"""Zarr stores, versions 2 and 3: datasets of xarray, or arrays without names of their dimensions.

A store is a folder, or an address that ends in ``.zarr``, which needs what fsspec opens it with.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from diffclass.system.libraries import reading, require
from diffclass.system.remote_paths import RemotePath
from diffclass_hyperspectral.io.file_names import in_natural_order
from diffclass_hyperspectral.io.rasters import BlockArray
from diffclass_hyperspectral.io.readers import xarray_cubes
from diffclass_hyperspectral.io.readers.addresses import filesystem
from diffclass_hyperspectral.io.readers.contents import Contents
from diffclass_hyperspectral.io.readers.matlab import ArrayListing, contents_of

_MARKS = ("zarr.json", ".zgroup", ".zarray", ".zmetadata")


def is_store(place: Path) -> bool:
    """Tell whether a folder is a Zarr store."""
    return place.is_dir() and any((place / mark).is_file() for mark in _MARKS)


def read(path: Path, *, variable: str | None = None, n_axes: int = 3) -> Contents:
    """Open the named or only array with ``n_axes`` axes; values are read when needed."""
    zarr = require("zarr", extra="xarray")
    if isinstance(path, RemotePath):
        filesystem(path)  # or says what it needs
    with reading(path, "a Zarr store"):
        store = zarr.open(os.fspath(path), mode="r")
        arrays = {"array": store} if isinstance(store, zarr.Array) else dict(store.arrays())
        if _names_dimensions(arrays) and not isinstance(store, zarr.Array):
            xarray = require("xarray", extra="xarray")
            consolidated = getattr(store.metadata, "consolidated_metadata", None) is not None
            dataset = xarray.open_zarr(
                os.fspath(path),
                consolidated=consolidated,
                mask_and_scale=False,
                decode_times=False,
            )
            # a folder has no order; pictures may become bands in theirs
            names = [one.name for one in in_natural_order(map(Path, map(str, dataset.data_vars)))]
            dataset = dataset[names]
            return xarray_cubes.read(dataset, variable=variable, n_axes=n_axes)
        shapes = {name: one.shape for name, one in arrays.items() if one.dtype.kind in "biuf"}
        listing = ArrayListing(
            path,
            shapes,
            lambda name: _blocks(path, arrays[name]),
            lambda name: arrays[name].attrs,
        )
        return contents_of(listing, "Zarr", variable, n_axes=n_axes)


def _names_dimensions(arrays: dict[str, Any]) -> bool:
    """Tell whether arrays name their dimensions, which xarray needs."""
    named = [
        "_ARRAY_DIMENSIONS" in one.attrs or getattr(one.metadata, "dimension_names", None)
        for one in arrays.values()
        if one.ndim  # a number, as a grid mapping is, has none to name
    ]
    return bool(named) and all(named)


def _blocks(path: Path, array: Any) -> Any:
    if array.ndim != 3:
        return array[...]
    return BlockArray(
        array.shape,
        array.dtype,
        read_rows=lambda start, stop: array[start:stop],
        path=path,
        step=array.chunks[0],
    )
