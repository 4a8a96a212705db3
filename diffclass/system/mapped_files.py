"""Arrays in ``.npy`` files as memory maps: allocation of new files, release of pages.

Pages of a memory map that have been read count as the process's memory until they are released.
"""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import DataError, is_full

__all__ = ["create_mapped", "map_under", "release_pages", "reserve"]

_SHARED = ("r", "r+", "w+")


def create_mapped(path: str | os.PathLike[str], shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Return a new array of zeros in a ``.npy`` file, whose blocks are allocated.

    Without allocated blocks, a full disk ends the process that writes to the map (SIGBUS). A file
    of that name is overwritten; no length of the shape may be 0.

    Raises
    ------
    DataError
        If the disk has too little room; the file is removed then.
    """
    place = Path(path)
    try:
        array = np.lib.format.open_memmap(place, mode="w+", dtype=dtype, shape=shape)
        reserve(place, place.stat().st_size)
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


def reserve(path: Path, n_bytes: int) -> None:
    """Allocate the blocks of a file up to a length, or raise the system's error of a full disk."""
    if not hasattr(os, "posix_fallocate"):
        return
    with path.open("r+b") as stream:
        try:
            os.posix_fallocate(stream.fileno(), 0, n_bytes)
        except OSError as error:
            if is_full(error):
                raise
            return  # the file system does not support it


def release_pages(array: object) -> None:
    """Release the pages of a memory map from this process, so that a scene may exceed memory.

    The array is a view of a `numpy.memmap`, has one as its ``points``, or is anything else, which
    is left alone. Later reads fetch the pages again. Changes to a map that is shared with its file
    stay in the system's cache until it writes them; a copy-on-write map would lose its changes, so
    it is left alone too.
    """
    found = map_under(getattr(array, "points", array))
    if found is None or getattr(found, "mode", None) not in _SHARED:
        return
    pages = getattr(found, "_mmap", None)
    if pages is not None and hasattr(mmap, "MADV_DONTNEED"):
        pages.madvise(mmap.MADV_DONTNEED)


def map_under(array: object) -> np.memmap | None:
    """Return the memory map that an array is a view of, or None."""
    while array is not None and not isinstance(array, np.memmap):
        array = getattr(array, "base", None)
    return array
