"""How every loop of this package is compiled: the flags and the cache on disk."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

import numba

from diffclass._compiled._cache import LoopFiles
from diffclass._compiled._numba_internals import NothingOverlaps, keep_compiled
from diffclass._compiled._threads import share_out

__all__ = ["inlined", "parallel", "serial", "share"]

# Tests set this to 0, so that they never run a stale binary.
_cached_on_disk = os.environ.get("DIFFCLASS_NUMBA_CACHE", "1") != "0"


# Multiplications are not fused with additions and sums keep their order: a column gets the same
# bits alone and in a block, and what is symmetric on paper is so to the last bit. A row is summed
# by one thread, so the number of threads changes nothing.
_OPTIONS = {
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "pipeline_class": NothingOverlaps,
}


def serial(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop that runs on one thread."""
    compiled = numba.njit(**_OPTIONS)(function)
    if _cached_on_disk and not numba.config.DISABLE_JIT:
        keep_compiled(compiled, LoopFiles(function))
    return compiled


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop into the loops that call it, as if it were written there."""
    return numba.njit(inline="always", **_OPTIONS)(function)


def parallel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop over `share`, whose shares run on several threads if there is enough work.

    The loop takes ``part`` first, and callers leave it out. It is compiled as a serial one, in a
    third of the time that Numba's ``parallel=True`` needs.
    """
    compiled = serial(function)

    @functools.wraps(compiled)
    def shared_out(*arguments: Any) -> None:
        share_out(compiled, arguments)

    return shared_out


@serial
def share(part, n):
    """Return the range of the i-th of k equal shares of n rows.

    Parameters
    ----------
    part : tuple of int
        i and k.
    n : int
    """
    i, k = part
    return range(n * i // k, n * (i + 1) // k)
