"""The file of a session: its log, and what lies next to it."""

from __future__ import annotations

from diffclass_relabel.session_file.recent_sessions import (
    RecentSession,
    changed_at,
    recent_sessions,
    remember,
    state_folder,
)
from diffclass_relabel.session_file.session_log import (
    SUFFIX,
    Line,
    ReadOnlyLog,
    SessionLog,
    done_in,
    hash_of,
    is_held,
    read_session,
    source_of,
)
from diffclass_relabel.session_file.sidecar import (
    Address,
    address_file,
    keep_address,
    kept_address,
    make_private,
)

__all__ = [
    "SUFFIX",
    "Address",
    "Line",
    "ReadOnlyLog",
    "RecentSession",
    "SessionLog",
    "address_file",
    "changed_at",
    "done_in",
    "hash_of",
    "is_held",
    "keep_address",
    "kept_address",
    "make_private",
    "read_session",
    "recent_sessions",
    "remember",
    "source_of",
    "state_folder",
]
