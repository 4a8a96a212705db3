"""The browser tool of diffclass: paint a few strokes, see the map follow, keep every step.

A local server, or a widget for notebooks, around `diffclass.relabel.RelabelSession`; names load on
first use, so that importing the plugin costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diffclass_relabel.editor import SessionEditor, open_editor
    from diffclass_relabel.notebook import RelabelWidget
    from diffclass_relabel.server import build_app
    from diffclass_relabel.session_log import SessionLog
    from diffclass_relabel.workspace import SessionSettings, Workspace

__all__ = [
    "RelabelWidget",
    "SessionEditor",
    "SessionLog",
    "SessionSettings",
    "Workspace",
    "build_app",
    "open_editor",
]

_HOMES = {
    "RelabelWidget": "notebook",
    "SessionEditor": "editor",
    "SessionLog": "session_log",
    "SessionSettings": "workspace",
    "Workspace": "workspace",
    "build_app": "server",
    "open_editor": "editor",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
