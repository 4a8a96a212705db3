"""A scene made ready for labelling: features, graph, and which point is which pixel."""

from __future__ import annotations

from diffclass_relabel.scene.forecast import forecast_session
from diffclass_relabel.scene.runs import runs_of
from diffclass_relabel.scene.warming import warm_up
from diffclass_relabel.scene.workspace import SessionSettings, Workspace

__all__ = [
    "SessionSettings",
    "Workspace",
    "forecast_session",
    "runs_of",
    "warm_up",
]
