"""Memory that was freed goes back to the system at once."""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress

_M_MMAP_THRESHOLD = -3  # of glibc's malloc.h
_LARGE = 2**20


def return_large_arrays() -> None:
    """Have freed arrays of a megabyte and more returned to the system, where malloc is glibc's.

    By itself it raises this bound to the largest array that was freed, up to 32 MB, and from then
    on keeps smaller ones: hundreds of megabytes in a server whose threads diffuse, read and draw.
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE)
