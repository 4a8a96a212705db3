"""The sessions that were opened last, kept in the user's state folder for the start page."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diffclass_relabel.files.sidecar import write_private

_MOST = 20


@dataclass(frozen=True)
class RecentSession:
    """A session that was opened, and can be again.

    Attributes
    ----------
    scene, session : Path
        Absolute.
    shape : tuple of int
        Rows, columns and bands of the scene.
    """

    scene: Path
    session: Path
    shape: tuple[int, ...]


def state_folder() -> Path:
    """Return the folder for what a program remembers, ``$XDG_STATE_HOME/diffclass``; it exists."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    folder = Path(base) / "diffclass"
    with suppress(OSError):  # who needs it says what is wrong with it
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def remember(scene: Path, session: Path, shape: tuple[int, ...]) -> None:
    """Put a session first in the list, for its owner only; a list that cannot be kept is left."""
    newest = RecentSession(scene.absolute(), session.absolute(), shape)
    others = [known for known in _kept() if known.session != newest.session]
    rows = [_row(known) for known in [newest, *others][:_MOST]]
    with suppress(OSError):
        state_folder()
        write_private(_file(), json.dumps(rows))


def recent_sessions() -> list[RecentSession]:
    """Return the sessions of the list, the newest first, of which scene and file can be read."""
    return [
        known
        for known in _kept()
        if os.access(known.scene, os.R_OK) and os.access(known.session, os.R_OK)
    ]


def _file() -> Path:
    return state_folder() / "recent.json"


def _row(known: RecentSession) -> dict[str, Any]:
    return {
        "scene": str(known.scene),
        "session": str(known.session),
        "shape": list(known.shape),
    }


def _kept() -> list[RecentSession]:
    try:
        rows = json.loads(_file().read_text(encoding="utf-8"))
        return [
            RecentSession(Path(row["scene"]), Path(row["session"]), tuple(map(int, row["shape"])))
            for row in rows
        ]
    except (OSError, ValueError, TypeError, KeyError):
        return []  # damaged, or of another version
