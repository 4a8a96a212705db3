"""Access: who may connect, at which address, and how messages of connected pages pass."""

from __future__ import annotations

from diffclass_relabel.door.base_url import BaseUrl, checked_host
from diffclass_relabel.door.browser_opening import BrowserOpening
from diffclass_relabel.door.clients import Client
from diffclass_relabel.door.page_service import MOST_BYTES, Guarded, PageService
from diffclass_relabel.door.security import Gate, is_loopback

__all__ = [
    "MOST_BYTES",
    "BaseUrl",
    "BrowserOpening",
    "Client",
    "Gate",
    "Guarded",
    "PageService",
    "checked_host",
    "is_loopback",
]
