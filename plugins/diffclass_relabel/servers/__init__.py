"""What serves the page from a process: web servers of a session and of the scene chooser."""

from __future__ import annotations

from diffclass_relabel.servers.process import Serving
from diffclass_relabel.servers.web_servers import build_app

__all__ = ["Serving", "build_app"]
