"""What is on disk: logs of sessions and what lies next to them, and the scenes of a folder."""

from __future__ import annotations

from diffclass_relabel.files.line_chain import hash_of
from diffclass_relabel.files.recent import RecentSession, recent_sessions, remember, state_folder
from diffclass_relabel.files.scene_folder import Listing, SceneFolder, holds_scenes
from diffclass_relabel.files.session_log import Line, SessionLog, done_in, read_session
from diffclass_relabel.files.sidecar import (
    Address,
    address_file,
    keep_address,
    kept_address,
    make_private,
)

__all__ = [
    "Address",
    "Line",
    "Listing",
    "RecentSession",
    "SceneFolder",
    "SessionLog",
    "address_file",
    "done_in",
    "hash_of",
    "holds_scenes",
    "keep_address",
    "kept_address",
    "make_private",
    "read_session",
    "recent_sessions",
    "remember",
    "state_folder",
]
