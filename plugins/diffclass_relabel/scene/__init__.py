"""A scene made ready for labelling: features, graph, and which point is which pixel."""

from __future__ import annotations

from diffclass_relabel.scene.pixels import runs_of
from diffclass_relabel.scene.preparing import forecast_session, warm_up
from diffclass_relabel.scene.workspace import SessionSettings, Workspace, sizes_text

__all__ = [
    "SessionSettings",
    "Workspace",
    "forecast_session",
    "runs_of",
    "sizes_text",
    "warm_up",
]
