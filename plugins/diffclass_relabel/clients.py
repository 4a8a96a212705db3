"""A page that is connected: what it is called, and the messages on their way to it."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

from diffclass_relabel.map_frames import labels_frame
from diffclass_relabel.outbox import Outbox
from diffclass_relabel.parts import Parts, TooLongError
from diffclass_relabel.protocol import Refused
from diffclass_relabel.shown import ShownLabels

log = logging.getLogger("diffclass_relabel")


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
