"""How every loop of this package is compiled: the flags, the cache on disk and the one lock."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from typing import Any

import numba
from numba import prange

__all__ = ["exact_parallel", "inlined", "parallel", "prange", "serial"]

# Numba's portable threading layer aborts the process when two threads enter parallel code at
# once, and its OpenMP layer oversubscribes the cores: one parallel loop runs at a time.
_one_parallel_loop = threading.RLock()

# Tests set this to 0, so that they never run a stale binary.
_cached_on_disk = os.environ.get("DIFFCLASS_NUMBA_CACHE", "1") != "0"

# Multiplications may be fused with additions. Sums keep their order, so that what is symmetric on
# paper is symmetric to the last bit, and each row is summed by one thread, so that results do not
# depend on the number of threads.
_FLOATING_POINT = {"contract"}


def serial(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop that runs on one thread."""
    return _compile(function, parallel=False)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop into the loops that call it, as if it were written there."""
    return numba.njit(inline="always", nogil=True, fastmath=_FLOATING_POINT)(function)


def parallel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop over `prange`; calls from several threads wait for each other."""
    return _locked(_compile(function, parallel=True))


def exact_parallel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile as `parallel` does, but fuse nothing: a column is the same alone and in a block.

    Where multiplications may be fused with additions, a compiler that takes eight columns at a time
    may round differently than with one.
    """
    return _locked(_compile(function, parallel=True, floating_point=False))


def _locked(compiled: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(compiled)
    def locked(*arguments: Any) -> Any:
        with _one_parallel_loop:
            return compiled(*arguments)

    return locked


def _compile(
    function: Callable[..., Any],
    *,
    parallel: bool,
    floating_point: set[str] | bool = _FLOATING_POINT,
) -> Callable[..., Any]:
    options: dict[str, Any] = {"parallel": parallel, "nogil": True, "fastmath": floating_point}
    if _cached_on_disk:
        try:
            return numba.njit(cache=True, **options)(function)
        except RuntimeError:  # there is no writable folder for the cache
            pass
    return numba.njit(**options)(function)
