"""Messages on their way to one client: what is newer replaces what was not sent yet."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence


class Outbox:
    """A queue in which messages take the place of older ones of the same kind.

    A client on a slow line gets the newest map instead of all of them, and still all its answers.
    """

    def __init__(self) -> None:
        self._messages: dict[tuple[str | None, int], str | bytes] = {}
        self._numbers = itertools.count()
        self._is_filled = asyncio.Event()
        self._is_taken = asyncio.Event()

    def __len__(self) -> int:
        return len(self._messages)

    def put(self, message: str | bytes, *, kind: str | None = None) -> None:
        """Add a message; those of the same ``kind`` that wait are dropped."""
        self.put_all([message], kind=kind)

    def put_all(self, messages: Sequence[str | bytes], *, kind: str | None = None) -> None:
        """Add messages that are one in several pieces; see `put`."""
        if kind is not None:
            self._messages = {key: m for key, m in self._messages.items() if key[0] != kind}
        for message in messages:
            self._messages[kind, next(self._numbers)] = message
        self._is_filled.set()

    def holds(self, kind: str) -> bool:
        """Return whether a message of a kind waits."""
        return any(key[0] == kind for key in self._messages)

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
