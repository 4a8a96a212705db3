"""Pages of a memory map that have been read count as the process's memory until they are let go."""

from __future__ import annotations

import mmap

import numpy as np

_SHARED = ("r", "r+", "w+")


def release_pages(array: object) -> None:
    """Let go of what was read of a memory map, so that a scene may be larger than memory.

    Later reads fetch the pages again, from the system's cache as long as it holds them. What was
    written to a map that is shared with its file stays in that cache, and goes to the disk when the
    system sees fit. Copies on write would lose their changes: they are left as they are, as all
    else is.

    Parameters
    ----------
    array : array-like
        A view of a `numpy.memmap`, what has one as its ``points``, or anything else.
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
