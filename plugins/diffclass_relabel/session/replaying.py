"""A session rebuilt from its file, which is only read."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from diffclass.costs import Forecast
from diffclass_hyperspectral import Scene
from diffclass_relabel.files import done_in, read_session
from diffclass_relabel.scene import SessionSettings, Workspace, forecast_session
from diffclass_relabel.session.editor import SessionEditor


class ReadOnlyLog:
    """The lines of a session file, for an editor that changes nothing.

    Parameters
    ----------
    path : path-like
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)
        self.header, self.entries = read_session(path)
        self.torn: Path | None = None

    def append(self, *steps: Mapping[str, Any]) -> None:
        """Write nothing: the steps are in the file already."""

    def close(self) -> None:
        """Do nothing."""


def replayed(
    session_file: str | os.PathLike[str],
    scene: str | os.PathLike[str],
    *,
    opening: Mapping[str, str | None] | None = None,
    before: Callable[[Forecast], object] | None = None,
) -> SessionEditor:
    """Return a session with all operations of its file repeated, and its refined map.

    Parameters
    ----------
    session_file : path-like
        May be in use.
    scene : path-like
        The same scene; file and format may differ.
    opening : mapping, optional
        Variable, bands, mask and roi where they are called otherwise than in the session; None for
        those that are not.
    before : callable, optional
        Called with the forecast of memory and time before anything is computed.

    Raises
    ------
    DataError
        Where a file cannot be read, or the scene is another one.
    """
    log = ReadOnlyLog(session_file)
    given: dict[str, Any] = dict(opening or {})
    given = {name: value for name, value in given.items() if value is not None}
    settings = replace(SessionSettings.from_header(log.header), **given)

    def expect(found: Scene) -> None:
        if before is not None:
            done = [entry["op"] for entry in done_in(log.entries)]
            n_classes = sum(map(_classes_added, done))
            before(forecast_session(found, settings, len(done), n_classes=n_classes))

    workspace = Workspace.open(
        scene, settings, fingerprint=log.header.get("sha256", ""), on_scene=expect
    )
    editor = SessionEditor(workspace, log)
    editor.refine()
    return editor


def _classes_added(operation: Mapping[str, Any]) -> int:
    if operation["op"] == "batch":
        return sum(map(_classes_added, operation["operations"]))
    return int(operation["op"] == "add_class")
