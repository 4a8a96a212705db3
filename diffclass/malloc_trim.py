"""Have malloc return the memory of freed arrays to the system."""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress

__all__ = ["return_large_arrays"]

_M_MMAP_THRESHOLD = -3  # of glibc's malloc.h
_LARGE = 2**20


def return_large_arrays() -> None:
    """Make glibc's malloc return freed arrays of a megabyte and more to the system.

    By default glibc raises this threshold to the size of the largest array that was freed, up to
    32 MB, and then keeps all smaller ones. In a server whose threads diffuse, read and draw, these
    add up to hundreds of megabytes. Other C libraries are left alone.
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE)
