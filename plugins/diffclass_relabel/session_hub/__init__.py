"""The session hub: messages of all pages go in, results go to all concerned."""

from __future__ import annotations

from diffclass_relabel.session_hub.hub import SessionHub

__all__ = ["SessionHub"]
