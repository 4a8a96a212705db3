"""The sessions that were opened last on this machine."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diffclass.system.remote_paths import RemotePath, place_of
from diffclass_relabel.session_file.sidecar import write_private

_MOST_RECENT = 20


@dataclass(frozen=True)
class RecentSession:
    """A session that was opened, and can be again."""

    scenes: tuple[Path, ...]  # scenes, session: absolute
    session: Path
    shape: tuple[int, ...]  # rows, columns and bands of the scene, or of the joint picture


def state_folder() -> Path:
    """Return the folder for what the program remembers, ``$XDG_STATE_HOME/diffclass``."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    folder = Path(base) / "diffclass"
    with suppress(OSError):  # who needs it says what is wrong with it
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def remember(scenes: Sequence[Path], session: Path, shape: tuple[int, ...]) -> None:
    """Put a session first in the list of recent ones, if that can be written."""
    places = tuple(scene.absolute() for scene in scenes)
    newest = RecentSession(places, session.absolute(), shape)
    others = [known for known in _remembered() if known.session != newest.session]
    rows = [_row(known) for known in [newest, *others][:_MOST_RECENT]]
    with suppress(OSError):
        state_folder()
        write_private(_file(), json.dumps(rows))


def recent_sessions() -> list[RecentSession]:
    """Return the sessions whose scenes and file can be read, the last changed ones first.

    Whether scenes at addresses can be read is not tried.
    """
    readable = [
        known
        for known in _remembered()
        if all(
            isinstance(path, RemotePath) or os.access(path, os.R_OK)
            for path in (*known.scenes, known.session)
        )
    ]
    return sorted(readable, key=lambda known: changed_at(known.session), reverse=True)


def changed_at(path: Path) -> float:
    """Return when a file was last written, seconds since 1970; 0 if it is gone."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _file() -> Path:
    return state_folder() / "recent.json"


def _row(known: RecentSession) -> dict[str, Any]:
    return {
        "scenes": [str(scene) for scene in known.scenes],
        "session": str(known.session),
        "shape": list(known.shape),
    }


def _remembered() -> list[RecentSession]:
    try:
        rows = json.loads(_file().read_text(encoding="utf-8"))
        return [
            RecentSession(
                tuple(map(place_of, row["scenes"])),
                Path(row["session"]),
                tuple(map(int, row["shape"])),
            )
            for row in rows
            if row["scenes"]
        ]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return []  # damaged, or of another version
