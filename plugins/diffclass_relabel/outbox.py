"""Messages on their way to one client: what is newer replaces what was not sent yet."""

from __future__ import annotations

import asyncio
import itertools


class Outbox:
    """A queue in which a message takes the place of an older one of the same kind.

    A client on a slow line gets the newest map instead of all of them, and still all its answers.
    """

    def __init__(self) -> None:
        self._messages: dict[object, str | bytes] = {}
        self._numbers = itertools.count()
        self._is_filled = asyncio.Event()
        self._is_taken = asyncio.Event()

    def __len__(self) -> int:
        return len(self._messages)

    def put(self, message: str | bytes, *, kind: str | None = None) -> None:
        """Add a message; one of the same ``kind`` that waits is dropped."""
        key: object = next(self._numbers) if kind is None else kind
        self._messages.pop(key, None)
        self._messages[key] = message
        self._is_filled.set()

    async def take(self) -> str | bytes:
        """Return the oldest message, waiting for one."""
        while not self._messages:
            self._is_filled.clear()
            await self._is_filled.wait()
        message = self._messages.pop(next(iter(self._messages)))
        self._is_taken.set()
        return message

    async def shorter_than(self, length: int) -> None:
        """Wait until fewer than ``length`` messages wait."""
        while len(self._messages) >= length:
            self._is_taken.clear()
            await self._is_taken.wait()
