"""Opening a session: a scene is chosen, and prepared while pages are told how far it is."""

from __future__ import annotations

from diffclass_relabel.opening.opening_page import OpeningPage
from diffclass_relabel.opening.preparation import (
    STEPS,
    Preparation,
    default_session,
    prepared_editor,
)
from diffclass_relabel.opening.scene_chooser import SceneChooser
from diffclass_relabel.opening.scene_folder import holds_scenes

__all__ = [
    "STEPS",
    "OpeningPage",
    "Preparation",
    "SceneChooser",
    "default_session",
    "holds_scenes",
    "prepared_editor",
]
