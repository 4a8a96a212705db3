"""How loops are compiled, and shared out among threads.

A loop over many rows is cut into shares. The calling thread begins with the first share; only if
shares are left after half a millisecond do other threads help, and they stop when none is left.
Small work is thus done where it is asked for, which on a busy machine is much faster than waiting
for a thread that has no core.

All threads inside loops larger than a share are counted. Callers always run, but helpers only join
while fewer threads are at work than are allowed: loops called from many threads at once (joblib,
dask, a server) get no helpers and do not oversubscribe the cores.
"""

from __future__ import annotations

import functools
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import copy_context
from typing import Any

import numba
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
from threadpoolctl import ThreadpoolController

from diffclass._compiled._numba_internals import LoopFiles, NothingOverlaps, keep_compiled

__all__ = [
    "allowed_threads",
    "fused",
    "in_shares",
    "in_threads",
    "inlined",
    "openmp_for",
    "parallel",
    "parallel_over_results",
    "serial",
    "share",
    "threads",
]

SHARE_BYTES = 2**19  # arguments of a share: tens of microseconds at the least, a call takes one
SHARES_PER_THREAD = 16  # rows differ in length; a thread that is done early takes another share
PATIENCE = 5e-4  # seconds of work after which help pays: waking a thread takes about 1e-4
SMALL_SEARCH = 2**27  # multiplications that one thread does in some 50 milliseconds
_PAUSE_HARD = 2  # OpenMP's own number for "free all that can be freed"

# 0 compiles all loops again, as the test of a first start does.
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


def serial(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Compile a loop that runs on one thread."""
    compiled = numba.njit(**_OPTIONS, **options)(function)
    if _cached_on_disk and not numba.config.DISABLE_JIT:
        keep_compiled(compiled, LoopFiles(function))
    return compiled


def fused(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop on one thread whose products are fused with the sums they enter.

    The last digits then depend on the processor, which must not matter; not on the neighbours of a
    value in memory, if there are as many as a register holds.
    """
    return serial(function, fastmath={"contract"})


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop into the loops that call it, as if it were written there."""
    return numba.njit(inline="always", **_OPTIONS)(function)


def parallel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop over `share`, whose shares run on several threads if there is enough work.

    The loop takes ``part`` first, and callers leave it out. It is compiled as a serial one, in a
    third of the time that Numba's ``parallel=True`` needs.
    """
    return in_shares(serial(function))


def parallel_over_results(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop over `share` each share of which reads all of the input: one for a thread."""
    return in_shares(serial(function), shares_per_thread=1)


@serial
def share(part, n):
    """Return the range of the i-th of k equal shares of n rows; part = (i, k)."""
    i, k = part
    return range(n * i // k, n * (i + 1) // k)


def in_shares(
    loop: Callable[..., Any], *, shares_per_thread: int = SHARES_PER_THREAD
) -> Callable[..., None]:
    """Return what runs ``loop((i, k), *arguments)`` for each share i of k, in any order.

    The size of the arrays among the arguments says how many shares there are.
    """

    @functools.wraps(loop)
    def shared_out(*arguments: Any) -> None:
        n = sum([getattr(argument, "nbytes", 0) for argument in arguments]) // SHARE_BYTES
        if n <= 1:
            loop((0, 1), *arguments)
            return
        n_threads = allowed_threads()
        n = min(n, shares_per_thread * n_threads) if n_threads > 1 else 1
        in_threads(loop, [(i, n) for i in range(n)], arguments, patience=PATIENCE)

    return shared_out


def in_threads(
    do: Callable[..., Any],
    items: Iterable[Any],
    arguments: tuple[Any, ...] = (),
    *,
    patience: float = 0.0,
) -> None:
    """Call ``do(item, *arguments)`` for each item, in any order.

    This thread begins; after ``patience`` seconds as many others as are allowed help, in the
    context of the caller.
    """
    waiting, team = deque(items), _team
    helpers: list[Future[None]] = []
    call_at = time.perf_counter() + patience
    with team.lock:
        team.n_working += 1
    try:
        for item in _taken(waiting):
            if waiting and not helpers and time.perf_counter() >= call_at:
                helpers = _called(team, do, waiting, arguments)
            do(item, *arguments)
    finally:
        waiting.clear()  # all are taken, or one has failed
        if begun := [helper for helper in helpers if not helper.cancel()]:
            wait(begun)
        with team.lock:
            team.n_working -= 1 + len(helpers)
        for helper in begun:
            helper.result()  # raises what it has raised


def _taken(waiting: deque[Any]) -> Iterator[Any]:
    """Take items until none is left, beside other threads that do the same."""
    while waiting:
        try:
            item = waiting.popleft()
        except IndexError:  # another thread was faster
            return
        yield item


def _called(
    team: _Team, do: Callable[..., Any], waiting: deque[Any], arguments: tuple[Any, ...]
) -> list[Future[None]]:
    """Call as many helpers as there is work for and the limit leaves."""
    number = allowed_threads()
    helpers: list[Future[None]] = []

    def help_out() -> None:
        with threads(number):  # the caller's limit, should an item run loops itself
            try:
                for item in _taken(waiting):
                    do(item, *arguments)
            finally:
                waiting.clear()

    with team.lock, suppress(RuntimeError):  # at its end the interpreter starts no thread
        for _ in range(min(len(waiting), number - team.n_working)):
            helpers.append(team.helpers.submit(copy_context().run, help_out))
            team.n_working += 1
    return helpers


class _Team:
    """The threads that are at work in loops, and helpers that sleep until they are called."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.n_working = 0
        self.helpers = ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="diffclass")


_team = _Team()
_limit = threading.local()  # number: what `threads` has set for this thread


def allowed_threads() -> int:
    """Return the largest number of threads that loops may use at a time.

    The smaller of NUMBA_NUM_THREADS (by default all cores of the process) and of the number that
    scikit-learn's OpenMP may use: as set by OMP_NUM_THREADS, threadpoolctl, joblib and dask.
    """
    set_here: int | None = getattr(_limit, "number", None)
    if set_here is not None:
        return set_here
    return min(numba.config.NUMBA_NUM_THREADS, _openmp_effective_n_threads())


@contextmanager
def threads(number: int) -> Iterator[None]:
    """Allow so many threads to the loops that the calling thread runs inside a ``with`` block.

    The environment then has no say.
    """
    before, _limit.number = getattr(_limit, "number", None), number
    try:
        yield
    finally:
        _limit.number = before


def openmp_for(n_multiplications: float) -> AbstractContextManager[Any]:
    """Keep the searches of scikit-learn to one thread where there is little to do.

    OpenMP's threads wait for each other at the end, which on a busy machine takes longer than such
    a search. Only the calling thread is kept to one.
    """
    if n_multiplications >= SMALL_SEARCH:
        return nullcontext()
    return _openmp().limit(limits=1)


@functools.cache
def _openmp() -> Any:
    return ThreadpoolController().select(user_api="openmp")


def _gnu_openmp() -> list[Any]:
    """Return the loaded GNU OpenMP libraries; others begin anew in a forked process themselves."""
    openmp = _openmp().lib_controllers
    return [library for library in openmp if library.prefix == "libgomp"]


def _let_openmp_go() -> None:
    """End the threads that GNU's OpenMP keeps for this one.

    It would wait for them in the new process too, where they are not, for ever. Both processes
    start new ones when they need some.
    """
    for library in _gnu_openmp():
        if hasattr(library.dynlib, "omp_pause_resource_all"):
            library.dynlib.omp_pause_resource_all(_PAUSE_HARD)


def _start_anew() -> None:
    """Forget the helpers of the process that was forked."""
    global _team
    _team = _Team()
    for library in _gnu_openmp():
        if not hasattr(library.dynlib, "omp_pause_resource_all"):  # before GCC 9
            library.set_num_threads(1)  # which waits for nobody


if hasattr(os, "register_at_fork"):  # only the thread that forks lives on in the new process
    os.register_at_fork(before=_let_openmp_go, after_in_child=_start_anew)
