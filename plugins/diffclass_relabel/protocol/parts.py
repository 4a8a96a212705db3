"""The text of a page's messages: put together where it comes in parts, and read as JSON.

Messages that are too long for one piece come in parts.

A part begins with ``+`` where more follow and with ``=`` where it is the last; a message in one
piece begins with a brace. The parts of a message come one after the other.
"""

from __future__ import annotations

import json
import re
from typing import Any

from diffclass.exceptions import ParameterError

MORE, LAST = "+", "="
PART_LENGTH = 2**19  # characters; a page sends no longer piece
MOST_LENGTH = 2**26  # characters of a whole message: a chequered scene of 3,000 x 3,000 pixels

_NUMBER = re.compile(r'\{"seq":(\d{1,15}),')


def parsed_message(text: str) -> Any:
    """Return the JSON value of a whole message.

    Raises
    ------
    ParameterError
        If the text is not JSON.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ParameterError(f"a message has to be JSON ({str(error)[:80]})") from error


class TooLongError(ParameterError):
    """A message is too long.

    Attributes
    ----------
    number : int or None
        Of the message, to answer it.
    """

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
        self._begin()

    def _begin(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._is_refused = False

    def joined(self, text: str) -> str | None:
        """Take a piece in; return the message that it completes, None if more is to come.

        Raises
        ------
        TooLongError
            Once for a message that is too long; its other parts are dropped.
        """
        mark = text[:1]
        if mark not in (MORE, LAST):
            return text
        error = self._taken(text[1:])
        whole = None
        if mark == LAST:
            whole = None if self._is_refused else "".join(self._parts)
            self._begin()
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
