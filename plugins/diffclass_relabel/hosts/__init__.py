"""What serves the page from a process: web servers of a session and of the scene chooser."""

from __future__ import annotations

from diffclass_relabel.hosts.process import Reach, Serving
from diffclass_relabel.hosts.session_app import build_app

__all__ = [
    "Reach",
    "Serving",
    "build_app",
]
