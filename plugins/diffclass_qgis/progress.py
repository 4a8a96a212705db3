"""The command's messages, one JSON object a line, and how far it is by them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

BEGINS, ENDS = "begins", "ends"


def parsed(line: str) -> dict[str, Any]:
    """Return a message of the command.

    Parameters
    ----------
    line : str
        Of its standard error.

    Returns
    -------
    dict
        With "type": "stage", "progress", "message", "warning" or "error". What is no such object,
        as the last words of a program that breaks down, is a "message" with its "text".
    """
    try:
        message = json.loads(line)
    except ValueError:
        message = None
    if isinstance(message, dict) and isinstance(message.get("type"), str):
        return message
    return {"type": "message", "text": line}


class Progress:
    """The share of a command's work that is done; it never falls.

    Parameters
    ----------
    stages : sequence of (str, float)
        Main stages in their order and about the share of the time that each takes.

    Attributes
    ----------
    percent : float
        Between 0 and 100.
    """

    def __init__(self, stages: Sequence[tuple[str, float]]):
        self.percent = 0.0
        total = sum(share for _, share in stages)
        self._spans: dict[str, tuple[float, float]] = {}
        done = 0.0
        for name, share in stages:
            self._spans[name] = (100 * done / total, 100 * (done + share) / total)
            done += share

    def hear(self, message: dict[str, Any]) -> str | None:
        """Take a message in, and return what the user may read about the work, if anything."""
        name = str(message.get("name", ""))
        # "features: projection" is a part of features, and its own progress not that of all
        span = self._spans.get(name)
        if message["type"] == "stage":
            begins = message.get("state") == BEGINS
            if span:
                self._reach(span[0] if begins else span[1])
            return f"{name} ..." if begins else None
        if message["type"] == "progress":
            share = message["done"] / max(message["parts"], 1)
            if span:
                self._reach(span[0] + share * (span[1] - span[0]))
            return f"{name}: {share:.0%}, about {message['seconds_left']:.0f} s left"
        return None

    def _reach(self, percent: float) -> None:
        self.percent = max(self.percent, percent)
