"""The threads that work for a session, so that the event loop only passes messages on.

The map waits for nothing else: it has a thread of its own. What runs in the background keeps to one
core and is cancelled when its answer is no longer wanted.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from diffclass.relabel import background
from diffclass.system.progress import cancellable, checkpoint

_T = TypeVar("_T")

_LOWER = 10  # of 39 steps of priority


class Workers:
    """Six threads, each with one kind of work and one piece of it at a time."""

    def __init__(self) -> None:
        self._writing = ThreadPoolExecutor(1, thread_name_prefix="writing")
        self._mapping = ThreadPoolExecutor(1, thread_name_prefix="mapping")
        self._reading = ThreadPoolExecutor(1, thread_name_prefix="reading")
        self._quick_answers = ThreadPoolExecutor(1, thread_name_prefix="quick-answers")
        self._slow_answers = ThreadPoolExecutor(1, "slow-answers", _give_way)
        self._refining = ThreadPoolExecutor(1, "refining", _give_way)
        self._newest: dict[Hashable, object] = {}
        self._is_closed = False

    async def write(self, function: Callable[..., _T], *arguments: Any) -> _T:
        """Run what changes the session and its file."""
        return await _run(self._writing, function, *arguments)

    async def compute_map(self, function: Callable[..., _T], *arguments: Any) -> _T:
        """Run what computes the map; it is cancelled only when the server ends."""

        def run() -> _T:
            with cancellable(lambda: not self._is_closed):
                return function(*arguments)

        return await _run(self._mapping, run)

    async def read_scene(self, function: Callable[..., _T], *arguments: Any) -> _T:
        """Run what reads the scene."""
        return await _run(self._reading, function, *arguments)

    async def answer_quick(self, key: Hashable, function: Callable[..., _T], *arguments: Any) -> _T:
        """Run what takes a moment, in the background; see `answer_slow`."""
        return await self._in_background(self._quick_answers, key, function, *arguments)

    async def answer_slow(self, key: Hashable, function: Callable[..., _T], *arguments: Any) -> _T:
        """Run what takes long, in the background; it cancels older work of the same key.

        - `CancelledError` where it is cancelled itself: for newer work, or because the server ends
        """
        return await self._in_background(self._slow_answers, key, function, *arguments)

    async def refine(self, key: Hashable, function: Callable[..., _T], *arguments: Any) -> _T:
        """Run what refines the map, in the background; see `answer_slow`."""
        return await self._in_background(self._refining, key, function, *arguments)

    def give_up(self, key: Hashable) -> None:
        """Give up the work of a key."""
        self._newest.pop(key, None)

    async def close(self) -> None:
        """Finish what is being written or drawn; cancel all computations."""
        self._is_closed = True
        foreground = self._writing, self._mapping, self._reading
        for pool in (*foreground, self._quick_answers, self._slow_answers, self._refining):
            await asyncio.to_thread(pool.shutdown, cancel_futures=True)

    async def _in_background(
        self, pool: ThreadPoolExecutor, key: Hashable, function: Callable[..., _T], *arguments: Any
    ) -> _T:
        mine = self._newest[key] = object()

        def is_wanted() -> bool:
            return self._newest.get(key) is mine and not self._is_closed

        def run() -> _T:
            with background(is_wanted):
                checkpoint()  # it may have waited for long
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
    try:
        future = pool.submit(function, *arguments)
    except RuntimeError as ended:
        # The server ends, or Python does. That is no answer: a page that has none keeps its change
        # and sends it to the next server or kernel, and would drop it if it were refused.
        raise asyncio.CancelledError from ended
    return await asyncio.wrap_future(future)
