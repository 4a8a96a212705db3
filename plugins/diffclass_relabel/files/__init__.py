"""What is on disk: logs of sessions and what lies next to them, and the scenes of a folder."""

from __future__ import annotations

from diffclass_relabel.files.scenes import (
    Listing,
    RecentSession,
    SceneFolder,
    changed_at,
    holds_scenes,
    recent_sessions,
    remember,
    state_folder,
)
from diffclass_relabel.files.session_log import (
    Line,
    ReadOnlyLog,
    SessionLog,
    done_in,
    hash_of,
    read_session,
    source_of,
)
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
    "ReadOnlyLog",
    "RecentSession",
    "SceneFolder",
    "SessionLog",
    "address_file",
    "changed_at",
    "done_in",
    "hash_of",
    "holds_scenes",
    "keep_address",
    "kept_address",
    "make_private",
    "read_session",
    "recent_sessions",
    "remember",
    "source_of",
    "state_folder",
]
