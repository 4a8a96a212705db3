"""A session rebuilt from its file, which is only read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from diffclass_relabel.editor import SessionEditor
from diffclass_relabel.session_log import read_session
from diffclass_relabel.workspace import SessionSettings, Workspace


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

    def append(self, step: Mapping[str, Any]) -> None:
        """Write nothing: the step is in the file already."""

    def close(self) -> None:
        """Do nothing."""


def replayed(session_file: str | os.PathLike[str], scene: str | os.PathLike[str]) -> SessionEditor:
    """Return a session with all operations of its file repeated, and its settled map.

    Parameters
    ----------
    session_file : path-like
        May be in use.
    scene : path-like
        The same scene; file and format may differ.

    Raises
    ------
    DataError
        Where a file cannot be read, or the scene is another one.
    """
    log = ReadOnlyLog(session_file)
    settings = SessionSettings.from_header(log.header)
    workspace = Workspace.open(scene, settings, fingerprint=log.header.get("sha256", ""))
    editor = SessionEditor(workspace, log)
    editor.settle()
    return editor
