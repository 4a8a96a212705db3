"""A page that is connected: what it is called, and the messages on their way to it and from it.

Long messages come in parts, one after the other: a part begins with ``+`` where more follow and
with ``=`` where it is the last; a message in one piece begins with a brace.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from diffclass.exceptions import ParameterError
from diffclass_relabel.protocol import Refused

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

    - `name`: what it calls itself, to be recognized after a lost connection
    - `session`: id of the session that it was greeted by before
    - `seen`: top, left, bottom and right of what it shows of the raster, once it has said so
    - `is_foreign`: whether it belongs to another session than the one that is open here
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
        """Queue the labels, all of them at first, then what has changed."""
        # loads NumPy, which pages that wait for a session do without
        from diffclass_relabel.maps import labels_frame

        if not self.outbox.holds("labels"):
            self._labels_there = self._labels
        self._labels = labels
        self.outbox.put(labels_frame(labels, self._labels_there), kind="labels")

    def tell(self, message: Mapping[str, Any], *, kind: str | None = None) -> None:
        """Queue a JSON message; one of the same ``kind`` that waits is dropped."""
        self.outbox.put(json.dumps(message, allow_nan=False), kind=kind)

    def joined(self, text: str) -> str | None:
        """Return the message that a piece completes, if any; refuse one that is too long."""
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


MORE, LAST = "+", "="
PART_LENGTH = 2**19  # characters; a page sends no longer piece
MOST_LENGTH = 2**26  # characters of a whole message: a chequered scene of 3,000 x 3,000 pixels

_NUMBER = re.compile(r'\{"seq":(\d{1,15}),')


def parsed_message(text: str) -> Any:
    """Return the JSON value of a whole message."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ParameterError(f"a message has to be JSON ({str(error)[:80]})") from error


class TooLongError(ParameterError):
    """A message is too long; ``number`` is its own, if its beginning tells."""

    def __init__(self, beginning: str):
        found = _NUMBER.match(beginning)
        self.number = int(found.group(1)) if found else None
        super().__init__(
            f"a change of more than {MOST_LENGTH >> 20} million characters is too much at once; "
            "paint it in several pieces"
        )


class Parts:
    """Puts the messages of one page together."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._is_refused = False

    def joined(self, text: str) -> str | None:
        """Return the message that a piece completes, if any.

        - `TooLongError` once for a message that is too long; its other parts are dropped
        """
        mark = text[:1]
        if mark not in (MORE, LAST):
            return text
        error = self._taken(text[1:])
        whole = None
        if mark == LAST:
            whole = None if self._is_refused else "".join(self._parts)
            self._parts, self._length, self._is_refused = [], 0, False
        if error is not None:
            raise error
        return whole

    def _taken(self, piece: str) -> TooLongError | None:
        """Keep a piece, unless it makes the message too long."""
        if self._is_refused:
            return None
        self._parts.append(piece)
        self._length += len(piece)
        if self._length <= MOST_LENGTH:
            return None
        error = TooLongError(self._parts[0][:40])
        self._parts, self._is_refused = [], True
        return error
