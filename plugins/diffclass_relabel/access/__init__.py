"""Access: who may connect, at which address, and how messages of connected pages pass."""

from __future__ import annotations

from diffclass_relabel.access.clients import PART_LENGTH, Client, parsed_message
from diffclass_relabel.access.page_service import MOST_BYTES, Guarded, PageService
from diffclass_relabel.access.security import BaseUrl, Gate, checked_host, is_loopback

__all__ = [
    "MOST_BYTES",
    "PART_LENGTH",
    "BaseUrl",
    "Client",
    "Gate",
    "Guarded",
    "PageService",
    "checked_host",
    "is_loopback",
    "parsed_message",
]
