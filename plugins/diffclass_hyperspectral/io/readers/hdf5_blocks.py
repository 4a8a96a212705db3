"""What HDF5 products have in common: blocks of rows and checked attributes, by ``h5py``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import DataError
from diffclass_hyperspectral.io.optional import require
from diffclass_hyperspectral.io.readers.blocks import BlockArray


def stored_blocks(path: Path, stored: Any) -> BlockArray:
    """Return a dataset (rows, columns, bands) as an array that reads its rows when asked."""
    name = stored.name
    step = 1 if stored.chunks is None else stored.chunks[0]

    def read_rows(start: int, stop: int) -> np.ndarray:
        h5py = require("h5py")
        with h5py.File(path, "r") as file:
            return file[name][start:stop]

    return BlockArray(stored.shape, stored.dtype, read_rows=read_rows, path=path, step=step)


def require_cube(path: Path, stored: Any) -> None:
    """Raise `DataError` unless a dataset has three axes of real numbers."""
    if stored.ndim != 3 or stored.dtype.kind not in "iuf" or stored.size == 0:
        raise DataError(
            f"{path}: {stored.name} has shape {stored.shape} and type {stored.dtype}, which is not "
            "a cube of numbers; the file is damaged or of another kind"
        )


def numbers(path: Path, values: Any, name: str, *, length: int) -> np.ndarray:
    """Return an attribute or dataset of one axis as finite float64 of a known length."""
    array = np.atleast_1d(np.asarray(values))
    if array.dtype.kind not in "biuf" or array.shape != (length,) or not np.isfinite(array).all():
        raise DataError(
            f"{path}: {name} has shape {array.shape} and type {array.dtype}; {length} finite "
            "numbers are needed; the file is damaged, fetch it again"
        )
    return array.astype(np.float64)
