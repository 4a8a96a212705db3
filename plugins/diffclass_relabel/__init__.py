"""The browser tool of diffclass: paint a few strokes, see the map follow, keep every step.

A local server, or a widget for notebooks, around `diffclass.relabel.RelabelSession`. The chapters,
from the page to the disk:

- `commands`, `notebook`, `servers`: what a user starts, and the web servers behind it
- `opening`: a scene is chosen, and prepared while pages are told how far it is
- `session_hub`: messages of all pages go in, results go to all concerned
- `queries`: what a page can ask, and how each answer is computed
- `access`: who may connect, at which address; connected pages
- `session`: operations are checked, applied, logged and shown
- `workspace`, `maps`: features, graph and pixels; rasters of bytes
- `protocol`, `session_file`: the shapes of messages; a session's log and what lies next to it
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diffclass_relabel.notebook import RelabelWidget
    from diffclass_relabel.servers import build_app
    from diffclass_relabel.session import SessionEditor, open_editor
    from diffclass_relabel.session_file import SessionLog
    from diffclass_relabel.workspace import SceneWorkspace, TableWorkspace

__all__ = [
    "RelabelWidget",
    "SceneWorkspace",
    "SessionEditor",
    "SessionLog",
    "TableWorkspace",
    "build_app",
    "open_editor",
]

# names load on first use, so that importing the plugin costs nothing
_HOMES = {
    "RelabelWidget": "notebook",
    "SessionEditor": "session",
    "SessionLog": "session_file",
    "SceneWorkspace": "workspace",
    "TableWorkspace": "workspace",
    "build_app": "servers",
    "open_editor": "session",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
