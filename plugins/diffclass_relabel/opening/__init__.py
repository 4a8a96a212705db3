"""Opening a session, and what pages are told until it is open."""

from __future__ import annotations

from diffclass_relabel.opening.opening_page import OpeningPage
from diffclass_relabel.opening.preparation import Preparation
from diffclass_relabel.opening.session_opening import default_session, prepared_editor

__all__ = [
    "OpeningPage",
    "Preparation",
    "default_session",
    "prepared_editor",
]
