"""The threads that work for a session, so that the event loop only passes messages on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

_T = TypeVar("_T")


class Workers:
    """Three threads, each with one thing to do at a time.

    The pen applies operations and waits until they are on disk; the desk computes maps and answers;
    the reader reads the scene.
    """

    def __init__(self) -> None:
        self._pen = ThreadPoolExecutor(1, thread_name_prefix="pen")
        self._desk = ThreadPoolExecutor(1, thread_name_prefix="desk")
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="reader")

    async def with_pen(self, function: Callable[..., _T], *arguments: Any) -> _T:
        """Run what changes the session and its file."""
        return await _run(self._pen, function, *arguments)

    async def at_desk(self, function: Callable[..., _T], *arguments: Any) -> _T:
        """Run what computes with the session."""
        return await _run(self._desk, function, *arguments)

    async def read(self, function: Callable[..., _T], *arguments: Any) -> _T:
        """Run what reads the scene."""
        return await _run(self._reader, function, *arguments)

    async def close(self) -> None:
        """Finish what the threads are doing; what waits is dropped."""
        for pool in (self._pen, self._desk, self._reader):
            await asyncio.to_thread(pool.shutdown, cancel_futures=True)


async def _run(pool: ThreadPoolExecutor, function: Callable[..., _T], *arguments: Any) -> _T:
    return await asyncio.get_running_loop().run_in_executor(pool, function, *arguments)
