"""The threads that work for a session, so that the event loop only passes messages on.

The map waits for nothing else: it has a thread of its own, and what runs beside it keeps to one
core and is given up when it is not wanted any more.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from diffclass.progress import cancellable, checkpoint
from diffclass.relabel import background

_T = TypeVar("_T")

_LOWER = 10  # of 39 steps of priority


class Workers:
    """Six threads, each with one thing to do at a time.

    The pen applies operations and waits until they are on disk; the desk computes maps; the reader
    reads the scene. Beside them the clerk answers what takes a moment, the scholar what may take
    many seconds, and the timekeeper chooses the time of the map.
    """

    def __init__(self) -> None:
        self._pen = ThreadPoolExecutor(1, thread_name_prefix="pen")
        self._desk = ThreadPoolExecutor(1, thread_name_prefix="desk")
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="reader")
        self._clerk = ThreadPoolExecutor(1, thread_name_prefix="clerk")
        self._scholar = ThreadPoolExecutor(1, "scholar", _give_way)
        self._timekeeper = ThreadPoolExecutor(1, "timekeeper", _give_way)
        self._newest: dict[Hashable, object] = {}
        self._is_closed = False

    async def with_pen(self, function: Callable[..., _T], *arguments: Any) -> _T:
        """Run what changes the session and its file."""
        return await _run(self._pen, function, *arguments)

    async def at_desk(self, function: Callable[..., _T], *arguments: Any) -> _T:
        """Run what computes the map; it is given up only where the server ends."""

        def run() -> _T:
            with cancellable(lambda: not self._is_closed):
                return function(*arguments)

        return await _run(self._desk, run)

    async def read(self, function: Callable[..., _T], *arguments: Any) -> _T:
        """Run what reads the scene."""
        return await _run(self._reader, function, *arguments)

    async def aside(self, key: Hashable, function: Callable[..., _T], *arguments: Any) -> _T:
        """Run what takes a moment, beside the map; see `study`."""
        return await self._in_background(self._clerk, key, function, *arguments)

    async def study(self, key: Hashable, function: Callable[..., _T], *arguments: Any) -> _T:
        """Run what takes long, beside the map.

        Parameters
        ----------
        key : hashable
            Work of the same key that runs or waits is given up.
        function : callable
        *arguments

        Raises
        ------
        CancelledError
            Where it was given up itself: for newer work, or because the server ends.
        """
        return await self._in_background(self._scholar, key, function, *arguments)

    async def choose(self, key: Hashable, function: Callable[..., _T], *arguments: Any) -> _T:
        """Run what the map of the present labels still lacks, beside the first; see `study`."""
        return await self._in_background(self._timekeeper, key, function, *arguments)

    def give_up(self, key: Hashable) -> None:
        """Give up the work of a key."""
        self._newest.pop(key, None)

    async def close(self) -> None:
        """Finish what is being written or drawn; all that is being computed is given up."""
        self._is_closed = True
        beside = self._clerk, self._scholar, self._timekeeper
        for pool in (self._pen, self._desk, self._reader, *beside):
            await asyncio.to_thread(pool.shutdown, cancel_futures=True)

    async def _in_background(
        self,
        pool: ThreadPoolExecutor,
        key: Hashable,
        function: Callable[..., _T],
        *arguments: Any,
    ) -> _T:
        mine = self._newest[key] = object()

        def is_wanted() -> bool:
            return self._newest.get(key) is mine and not self._is_closed

        def run() -> _T:
            with background(is_wanted):
                checkpoint()
                return function(*arguments)

        try:
            return await _run(pool, run)
        finally:
            if self._newest.get(key) is mine:
                del self._newest[key]


def _give_way() -> None:
    """Let the system run everything else first: the map, and the browser that draws it."""
    if sys.platform == "linux":  # where each thread has a priority of its own
        me = os.PRIO_PROCESS, threading.get_native_id()
        # from where it is: nobody may raise it where the whole server has a lower one
        os.setpriority(*me, os.getpriority(*me) + _LOWER)


async def _run(pool: ThreadPoolExecutor, function: Callable[..., _T], *arguments: Any) -> _T:
    return await asyncio.get_running_loop().run_in_executor(pool, function, *arguments)
