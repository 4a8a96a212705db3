"""Which threads run a compiled loop: one where the work is small, never more than are allowed.

A loop over many rows is cut into shares. The calling thread begins with the first share; only if
shares are left after half a millisecond do other threads help, and they stop when none is left.
Small work is thus done where it is asked for, which on a busy machine is much faster than waiting
for a thread that has no core. Nobody ever spins.

All threads inside loops are counted. Callers always run, but helpers only join while fewer threads
are at work than are allowed: loops called from many threads at once (joblib, dask, a server) get
no helpers and do not oversubscribe the cores.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import copy_context
from typing import Any

from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
from threadpoolctl import ThreadpoolController

__all__ = ["allowed_threads", "in_threads", "openmp_for", "share_out", "threads"]

SHARE_BYTES = 2**19  # arguments of a share: tens of microseconds at the least, a call takes one
PATIENCE = 5e-4  # seconds of work after which help pays: waking a thread takes about 1e-4
SMALL_SEARCH = 2**27  # multiplications that one thread does in some 50 milliseconds
_PAUSE_HARD = 2  # OpenMP's own number for "free all that can be freed"
SHARES_PER_THREAD = 16  # rows differ in length; a thread that is done early takes another share


class _Team:
    """The threads that are at work in loops, and helpers that sleep until they are called."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.n_working = 0
        self.helpers = ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="diffclass")

    def join(self, n_threads: int) -> None:
        with self.lock:
            self.n_working += n_threads

    def join_if_allowed(self, n_threads: int) -> int:
        """Count in as many of the threads as the limit leaves; return how many."""
        with self.lock:
            n_joined = max(0, min(n_threads, allowed_threads() - self.n_working))
            self.n_working += n_joined
        return n_joined


_team = _Team()
_limit = threading.local()  # number: what `threads` has set for this thread


def _let_openmp_go() -> None:
    """End the threads that GNU's OpenMP keeps for this one.

    It would wait for them in the new process too, where they are not, for ever. Both processes
    start new ones when they need some.
    """
    for library in _gnu_openmp():
        if hasattr(library.dynlib, "omp_pause_resource_all"):
            library.dynlib.omp_pause_resource_all(_PAUSE_HARD)


def _start_anew() -> None:
    global _team
    _team = _Team()
    for library in _gnu_openmp():
        if not hasattr(library.dynlib, "omp_pause_resource_all"):  # before GCC 9
            library.set_num_threads(1)  # which waits for nobody


if hasattr(os, "register_at_fork"):  # only the thread that forks lives on in the new process
    os.register_at_fork(before=_let_openmp_go, after_in_child=_start_anew)


def allowed_threads() -> int:
    """Return the largest number of threads that loops may use at a time.

    The smaller of NUMBA_NUM_THREADS (by default all cores of the process) and of the number that
    scikit-learn's OpenMP may use: as set by OMP_NUM_THREADS, threadpoolctl, joblib and dask.
    """
    set_here: int | None = getattr(_limit, "number", None)
    if set_here is not None:
        return set_here
    import numba  # this module is also used by searches, which do without Numba

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
    """Keep the searches of scikit-learn and faiss to one thread where there is little to do.

    OpenMP's threads wait for each other at the end, which on a busy machine takes longer than such
    a search. Only the calling thread is kept to one.
    """
    if n_multiplications >= SMALL_SEARCH:
        return nullcontext()
    return _openmp("faiss" in sys.modules).limit(limits=1)


def _gnu_openmp() -> list[Any]:
    """Return the loaded GNU OpenMP libraries; others begin anew in a forked process themselves."""
    openmp = _openmp("faiss" in sys.modules).lib_controllers
    return [library for library in openmp if library.prefix == "libgomp"]


@functools.cache
def _openmp(with_faiss: bool) -> Any:  # looked for again once faiss has brought its own
    return ThreadpoolController().select(user_api="openmp")


def in_threads(do: Callable[[Any], None], items: Iterable[Any]) -> None:
    """Do something for each item, in this thread and in as many others as are allowed.

    For work of many loops that are too short to be shared out. Items are done in any order; the
    other threads run in the context of the caller.
    """
    waiting, context, number = deque(items), copy_context(), allowed_threads()

    def work() -> None:
        try:
            with threads(number):
                while _take_share(do, (), waiting):
                    pass
        finally:
            waiting.clear()  # all are done, or one has failed

    _team.join(1)
    try:
        helpers = _called(lambda: context.copy().run(work), len(waiting) - 1)
        try:
            work()
        finally:
            _dismiss(helpers)
    finally:
        _team.join(-1)


def share_out(loop: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """Run a loop in one thread, or in shares that several threads take.

    ``loop((i, k), *arguments)`` does the i-th of k shares; the order changes nothing. The size of
    the arrays among the arguments says into how many shares to cut.
    """
    _team.join(1)
    try:
        n_shares = _number_of_shares(arguments)
        if n_shares == 1:
            loop((0, 1), *arguments)
        else:
            _share_out(loop, arguments, n_shares)
    finally:
        _team.join(-1)


def _number_of_shares(arguments: tuple[Any, ...]) -> int:
    size = sum(getattr(argument, "nbytes", 0) for argument in arguments)
    if size < 2 * SHARE_BYTES or (n_threads := allowed_threads()) == 1:
        return 1
    return min(size // SHARE_BYTES, SHARES_PER_THREAD * n_threads)


def _share_out(loop: Callable[..., Any], arguments: tuple[Any, ...], n_shares: int) -> None:
    shares = deque((i, n_shares) for i in range(n_shares))
    helpers: list[Future[None]] = []
    patient_until = time.perf_counter() + PATIENCE

    def work() -> None:
        while _take_share(loop, arguments, shares):
            pass

    try:
        while _take_share(loop, arguments, shares) and not helpers:
            if shares and time.perf_counter() >= patient_until:
                helpers = _called(work, len(shares) - 1)
        work()
    finally:
        shares.clear()
        _dismiss(helpers)


def _take_share(
    loop: Callable[..., Any], arguments: tuple[Any, ...], shares: deque[tuple[int, int]]
) -> bool:
    try:
        share = shares.popleft()
    except IndexError:
        return False
    loop(share, *arguments)
    return True


def _called(work: Callable[[], None], n_wanted: int) -> list[Future[None]]:
    helpers: list[Future[None]] = []
    n_allowed = _team.join_if_allowed(n_wanted)
    with suppress(RuntimeError):  # the interpreter is ending, and takes no work but the caller's
        for _ in range(n_allowed):
            helpers.append(_team.helpers.submit(work))
    _team.join(len(helpers) - n_allowed)
    return helpers


def _dismiss(helpers: list[Future[None]]) -> None:
    """Wait for the helpers that have begun; the others need not come any more."""
    try:
        for begun in [helper for helper in helpers if not helper.cancel()]:
            begun.result()
    finally:
        _team.join(-len(helpers))
