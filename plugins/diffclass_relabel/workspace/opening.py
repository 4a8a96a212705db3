"""A workspace of whatever is given: scenes, or a table."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from diffclass.command_line import is_table
from diffclass_relabel.workspace.scenes import SceneWorkspace
from diffclass_relabel.workspace.settings import SceneSettings, SessionSettings, TableSettings
from diffclass_relabel.workspace.tables import TableWorkspace
from diffclass_relabel.workspace.workspace import Workspace

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def settings_kind(paths: Paths) -> type[SessionSettings]:
    """Return which settings a session over files has: the first file decides."""
    first = paths if isinstance(paths, str | os.PathLike) else next(iter(paths))
    return TableSettings if is_table(first) else SceneSettings


def open_workspace(
    paths: Paths,
    settings: SessionSettings,
    *,
    fingerprint: str | None = None,
    on_opened: Callable[[Any], None] | None = None,
    build: bool = True,
) -> Workspace:
    """Open scenes or a table; see `SceneWorkspace.open` and `TableWorkspace.open`."""
    kind: Any = TableWorkspace if isinstance(settings, TableSettings) else SceneWorkspace
    made: Workspace = kind.open(
        paths, settings, fingerprint=fingerprint, on_opened=on_opened, build=build
    )
    return made
