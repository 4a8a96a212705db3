"""Pages of a memory map that have been read count as the process's memory until they are let go."""

from __future__ import annotations

import mmap

import numpy as np


def release_pages(array: object) -> None:
    """Let go of what was read of a memory map, so that a scene may be larger than memory.

    Later reads fetch the pages again, from the system's cache as long as it holds them. Only maps
    opened read-only are touched (another kind could lose changes); all else is left as it is.

    Parameters
    ----------
    array : array-like
        A view of a `numpy.memmap`, or anything else.
    """
    while array is not None and not isinstance(array, np.memmap):
        array = getattr(array, "base", None)
    if array is None or getattr(array, "mode", None) != "r":
        return
    pages = getattr(array, "_mmap", None)
    if pages is not None and hasattr(mmap, "MADV_DONTNEED"):
        pages.madvise(mmap.MADV_DONTNEED)
