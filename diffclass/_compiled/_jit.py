"""How every loop of this package is compiled: the flags, the cache on disk and the one lock."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from typing import Any

import numba
from numba import prange

__all__ = ["inlined", "parallel", "prange", "serial"]

# Numba's portable threading layer aborts the process when two threads enter parallel code at
# once, and its OpenMP layer oversubscribes the cores: one parallel loop runs at a time.
_one_parallel_loop = threading.RLock()

# Tests set this to 0, so that they never run a stale binary.
_cached_on_disk = os.environ.get("DIFFCLASS_NUMBA_CACHE", "1") != "0"

# Multiplications are not fused with additions and sums keep their order: a column gets the same
# bits alone and in a block, and what is symmetric on paper is so to the last bit. A row is summed
# by one thread, so the number of threads changes nothing.


def serial(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop that runs on one thread."""
    return _compile(function, parallel=False)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop into the loops that call it, as if it were written there."""
    return numba.njit(inline="always", nogil=True)(function)


def parallel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop over `prange`; calls from several threads wait for each other."""
    return _locked(_compile(function, parallel=True))


def _locked(compiled: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(compiled)
    def locked(*arguments: Any) -> Any:
        with _one_parallel_loop:
            return compiled(*arguments)

    return locked


def _compile(function: Callable[..., Any], *, parallel: bool) -> Callable[..., Any]:
    options: dict[str, Any] = {"parallel": parallel, "nogil": True}
    if _cached_on_disk:
        try:
            return numba.njit(cache=True, **options)(function)
        except RuntimeError:  # there is no writable folder for the cache
            pass
    return numba.njit(**options)(function)
