"""A page that is connected: what it is called, and the messages on their way to it.

Pages wait for a session before NumPy is loaded, so that rasters are packed by imports of their own.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from diffclass_relabel.protocol import Parts, Refused, TooLongError

if TYPE_CHECKING:
    from diffclass_relabel.maps import ShownLabels

log = logging.getLogger("diffclass_relabel")


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


class Client:
    """One page.

    Parameters
    ----------
    name : str or None
        What it calls itself, to be recognized after a lost connection.
    session : str or None
        Id of the session that it was greeted by before.

    Attributes
    ----------
    outbox : Outbox
    seen : tuple of int or None
        Top, left, bottom and right of what it shows of the raster, once it has said so.
    is_foreign : bool
        Whether it belongs to another session than the one that is open here.
    """

    def __init__(self, name: str | None = None, session: str | None = None):
        self.name = name
        self.session = session
        self.is_foreign = False
        self.outbox = Outbox()
        self.seen: tuple[int, int, int, int] | None = None
        self._parts = Parts()
        self._labels: ShownLabels | None = None  # queued last
        self._labels_there: ShownLabels | None = None  # those before a message that still waits

    def show_labels(self, labels: ShownLabels) -> None:
        """Queue what is new in the labels: all of them at first, then what has changed."""
        from diffclass_relabel.maps import labels_frame

        if not self.outbox.holds("labels"):
            self._labels_there = self._labels
        self._labels = labels
        self.outbox.put(labels_frame(labels, self._labels_there), kind="labels")

    def tell(self, message: Mapping[str, Any], *, kind: str | None = None) -> None:
        """Queue a JSON message; one of the same ``kind`` that waits is dropped."""
        self.outbox.put(json.dumps(message, allow_nan=False), kind=kind)

    def joined(self, text: str) -> str | None:
        """Return the message that a piece completes, if it does; one too long is refused."""
        try:
            return self._parts.joined(text)
        except TooLongError as error:
            self.refuse(error.number, str(error))
            return None

    def refuse(self, number: int | None, message: str) -> None:
        """Say that a message is refused, and why."""
        log.warning("refused: %s", message)
        refusal: Refused = {"kind": "refused", "seq": number, "message": message}
        self.tell(refusal)
