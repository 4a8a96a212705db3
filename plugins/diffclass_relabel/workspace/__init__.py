"""A scene or a table made ready for labelling: features, graph, and which point is which pixel."""

from __future__ import annotations

from diffclass_relabel.workspace.pixels import runs_of
from diffclass_relabel.workspace.preparing import forecast_session, warm_up
from diffclass_relabel.workspace.scenes import SceneWorkspace
from diffclass_relabel.workspace.settings import (
    SceneSettings,
    SessionSettings,
    TableSettings,
    sizes_text,
)
from diffclass_relabel.workspace.tables import TableWorkspace
from diffclass_relabel.workspace.workspace import Workspace

__all__ = [
    "SceneSettings",
    "SceneWorkspace",
    "SessionSettings",
    "TableSettings",
    "TableWorkspace",
    "Workspace",
    "forecast_session",
    "runs_of",
    "sizes_text",
    "warm_up",
]
