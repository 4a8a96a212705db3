"""New ``.npy`` files as memory maps, on a disk that has the room for them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import DataError
from diffclass.full_disk import is_full


def create_mapped(path: str | os.PathLike[str], shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Return a new array on its file, for which the disk has set room aside.

    A map of a file whose blocks are not there yet ends the process that writes to it (SIGBUS) when
    the disk is full.

    Parameters
    ----------
    path : path-like
        The ``.npy`` file; what it holds is lost.
    shape : tuple of int
        None of them 0.
    dtype : dtype

    Returns
    -------
    ndarray
        A memory map, zero everywhere.

    Raises
    ------
    DataError
        If the disk has too little room; nothing is left there then.
    """
    place = Path(path)
    try:
        array = np.lib.format.open_memmap(place, mode="w+", dtype=dtype, shape=shape)
        _reserve(place)
    except OSError as error:
        if not is_full(error):
            raise
        place.unlink(missing_ok=True)
        size = np.dtype(dtype).itemsize * int(np.prod(shape, dtype=np.int64))
        raise DataError(
            f"{place}: no room for {size / 1e9:.3g} GB there ({error.strerror}); free space or "
            "choose another folder"
        ) from error
    return array


def _reserve(path: Path) -> None:
    """Make the disk set aside the room of a file, which has its length but not yet its blocks."""
    if not hasattr(os, "posix_fallocate"):
        return
    with path.open("r+b") as stream:
        try:
            os.posix_fallocate(stream.fileno(), 0, path.stat().st_size)
        except OSError as error:
            if is_full(error):
                raise
            return  # a file system that cannot say
