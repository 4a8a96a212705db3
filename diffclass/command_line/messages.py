"""Messages on standard error: lines to read, or one JSON object a line for programs.

The objects have a "type": "stage" (with "name", "state": begins, ends, "seconds"), "progress" (with
"name", "done", "parts", "seconds_left"), "message", "warning" or "error" (with "text", an error
with the exit "code" too).
"""

from __future__ import annotations

import json
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

import click


class Messages:
    """Writes messages of a command.

    Parameters
    ----------
    as_json : bool
        Whether every line is a JSON object, stages and their progress included.
    quiet : bool
        Whether only errors are written.
    """

    def __init__(self, *, as_json: bool = False, quiet: bool = False):
        self.as_json = as_json
        self.quiet = quiet

    def say(self, text: str) -> None:
        """Write a message."""
        if not self.quiet:
            self._write("message", text, text)

    def warn(self, text: str) -> None:
        """Write a warning."""
        if not self.quiet:
            self._write("warning", text, f"warning: {text}")

    def fail(self, text: str, code: int) -> None:
        """Write the error that ends the command with this exit code."""
        self._write("error", text, f"error: {text}", code=code)

    def event(self, kind: str, **facts: Any) -> None:
        """Write a stage or progress as JSON, for programs; `Console` shows them to people."""
        if self.as_json and not self.quiet:
            self._echo(json.dumps({"type": kind, **facts}, allow_nan=False))

    def _write(self, kind: str, text: str, line: str, **facts: Any) -> None:
        self._echo(json.dumps({"type": kind, "text": text, **facts}) if self.as_json else line)

    def _echo(self, line: str) -> None:
        # a closed standard error must not stop the command
        with suppress(OSError, ValueError):
            click.echo(line, err=True)


_messages: ContextVar[Messages | None] = ContextVar("messages", default=None)


def messages() -> Messages:
    """Return the messages of the running command."""
    current = _messages.get()
    if current is None:
        current = Messages()
        _messages.set(current)
    return current


def use_messages(chosen: Messages) -> None:
    """Set the messages of the running command."""
    _messages.set(chosen)
