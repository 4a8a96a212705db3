"""What is kept next to a session's file for the next process that opens it; for its owner only.

Port and token of the session's server: after a crash the same command answers where open tabs look
for it, with the token that they know, and they send what was not yet answered.

The head of the log: its last step, once that is on disk. It may be older than the log, where a
process was killed in between, but never newer: a log without that step has lost its end.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import stat
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from diffclass.system.temporary_folders import TemporaryFolder

_SUFFIX = ".address"
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")  # 32 bytes


@dataclass(frozen=True)
class Address:
    """Where a session's server answers, and with which token."""

    port: int = 0  # 0 where none is known
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)


@dataclass(frozen=True)
class Head:
    """The last step of a session's log."""

    session: str  # hash of the log's first line, which tells sessions apart
    step: int  # its number; 0 is the first line itself
    hash: str


def address_file(session: Path) -> Path:
    """Return the file next to a session file that keeps its server's address and its head."""
    return session.with_name(session.name + _SUFFIX)


def kept_address(session: Path) -> Address:
    """Return the address of a session's last server; a new one if others could read the file."""
    kept = _kept(session, is_secret=True)
    port, token = kept.get("port"), kept.get("token")
    if not (isinstance(token, str) and _TOKEN.fullmatch(token)):
        return Address()
    return Address(port, token) if type(port) is int and 0 < port < 65536 else Address()


def keep_address(session: Path, address: Address) -> None:
    """Keep an address for the next server, if the folder can be written."""
    _keep(session, port=address.port, token=address.token)


def kept_head(session: Path) -> Head | None:
    """Return the last step of a session that is known to have been on disk, if one is."""
    try:
        head = Head(**_kept(session, is_secret=False)["head"])
    except (KeyError, TypeError):
        return None
    return head if type(head.step) is int and head.step >= 0 else None


def keep_head(session: Path, head: Head) -> None:
    """Keep the last step of a session, which is on disk; where that fails an older one stays."""
    _keep(session, head=asdict(head))


def forget_head(session: Path) -> None:
    """Forget the steps of a session whose file is gone."""
    if kept_head(session) is not None:
        _keep(session, head=None)


def _kept(session: Path, *, is_secret: bool) -> dict[str, Any]:
    """Return what is kept, nothing where it is damaged or, if secret, others could read it."""
    try:
        with address_file(session).open(encoding="utf-8") as stream:
            if is_secret and not _is_private(stream.fileno()):
                return {}
            kept = json.load(stream)
    except (OSError, ValueError, RecursionError):
        return {}
    return kept if isinstance(kept, dict) else {}


def _keep(session: Path, **facts: Any) -> None:
    """Add facts to the file, which is replaced as a whole."""
    text = json.dumps(_kept(session, is_secret=True) | facts)
    place = address_file(session)
    new = place.with_name(place.name + ".new")
    with suppress(OSError):
        new.unlink(missing_ok=True)  # of a killed process: only one has the session locked
        make_private(new, text)
        os.replace(new, place)


def write_private(path: Path, text: str) -> None:
    """Write or replace a file that only its owner can read, as a whole or not at all."""
    with TemporaryFolder(f".{path.name}", parent=path.parent) as folder:
        new = folder.path / "new"
        make_private(new, text)
        os.replace(new, path)


def make_private(path: Path, text: str) -> None:
    """Create a file that only its owner can read."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)


def _is_private(descriptor: int) -> bool:
    if os.name != "posix":
        return True  # modes say nothing there
    facts = os.fstat(descriptor)
    return facts.st_uid == os.getuid() and not facts.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
