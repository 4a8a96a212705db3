"""Opening a session so that its first stroke is as fast as the tenth, step by step.

What computes is imported here by the thread that opens, so that others can speak with the user
before that.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diffclass.progress import stage

if TYPE_CHECKING:
    from diffclass.costs import Forecast
    from diffclass_hyperspectral import Scene
    from diffclass_relabel.files import SessionLog
    from diffclass_relabel.opening.preparation import Preparation
    from diffclass_relabel.scene import SessionSettings
    from diffclass_relabel.session import SessionEditor

SUFFIX = ".relabel.jsonl"


def default_session(scene: Path) -> Path:
    """Return the session file of a scene: next to it, or here where that folder is read only."""
    folder = scene.parent if os.access(scene.parent, os.W_OK) else Path.cwd()
    return folder / (scene.stem + SUFFIX)


def prepared_editor(
    scene: Path,
    log: SessionLog,
    preparation: Preparation,
    options: Mapping[str, Any],
    *,
    before: Callable[[Forecast], object] | None = None,
) -> SessionEditor:
    """Open a session, compile what its strokes need and make its first map.

    Parameters
    ----------
    scene : Path
    log : SessionLog
    preparation : Preparation
        Told how long the steps will take; it hears of them as a listener of stages.
    options : mapping
        Of `diffclass_relabel.session.editor.open_editor`.
    before : callable, optional
        Called with the forecast of memory and time before anything is computed.
    """
    with stage("libraries"):
        from diffclass_relabel.scene import forecast_session, warm_up
        from diffclass_relabel.session import open_editor

    def expect(found: Scene, settings: SessionSettings) -> None:
        forecast = forecast_session(found, settings, log.n_operations)
        preparation.expect(forecast.seconds or {})
        if before is not None:
            before(forecast)

    editor = open_editor(scene, log, on_scene=expect, **options)
    warm_up(editor.workspace)
    editor.session.prepare()
    editor.update()
    return editor
