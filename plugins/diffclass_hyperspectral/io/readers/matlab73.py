"""MATLAB 7.3 files, which are HDF5 with the axes in reverse order, by ``h5py``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from diffclass_hyperspectral.io.libraries import reading, require
from diffclass_hyperspectral.io.rasters import BlockArray
from diffclass_hyperspectral.io.readers.contents import Contents
from diffclass_hyperspectral.io.readers.matlab import NUMERIC, Listing, pick
from diffclass_hyperspectral.io.readers.products import emit, prisma


def read(path: Path, *, variable: str | None = None, n_axes: int = 3) -> Contents:
    """Read the named array of a 7.3 file, or the only one with ``n_axes`` axes.

    Arrays inside a struct have names like ``"scene/data"``.
    """
    h5py = require("h5py")
    with reading(path, "a MATLAB 7.3 (HDF5) file"), h5py.File(path, "r") as file:
        if variable is None and n_axes == 3:  # products renamed, with their axes as stored
            if emit.is_emit(file):
                return emit.read(path, file)
            if prisma.is_prisma(file):
                return prisma.read(path, file)
        listing = Listing(path, _shapes(file, h5py), lambda name: _load(path, file, name))
        return Contents(pick(listing, variable, n_axes=n_axes), "MATLAB 7.3")


def _shapes(file: Any, h5py: Any) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {}

    def note(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and not name.startswith("#") and _is_numeric(item):
            shapes[name] = tuple(reversed(item.shape))

    file.visititems(note)
    return shapes


def _is_numeric(dataset: Any) -> bool:
    kind = dataset.attrs.get("MATLAB_class", b"double")
    kind = kind.decode("ascii", "replace") if isinstance(kind, bytes) else str(kind)
    return dataset.dtype.kind in "biuf" and kind in NUMERIC and "MATLAB_empty" not in dataset.attrs


def _load(path: Path, file: Any, name: str) -> Any:
    stored = file[name]
    if stored.ndim != 3:
        return np.asarray(stored[()]).T
    step = 1 if stored.chunks is None else stored.chunks[2]

    def read_rows(start: int, stop: int) -> np.ndarray:
        h5py = require("h5py")
        with h5py.File(path, "r") as opened:
            return opened[name][:, :, start:stop].T

    shape = stored.shape[::-1]
    return BlockArray(shape, stored.dtype, read_rows=read_rows, path=path, step=step)
