"""Port and token of a session's server, kept beside its file for the next one.

After a crash the same command then answers where open tabs look for it, with the token that they
know, and they deliver what they had not got rid of. The file is for its owner only.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

_SUFFIX = ".address"
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")  # 32 bytes


@dataclass(frozen=True)
class Address:
    """Where a session's server answers, and to whom.

    Attributes
    ----------
    port : int
        0 where none is known.
    token : str
    """

    port: int = 0
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)


def address_file(session: Path) -> Path:
    """Return the file that keeps the address of a session file's server."""
    return session.with_name(session.name + _SUFFIX)


def kept_address(session: Path) -> Address:
    """Return the address that the last server of a session had; a new one if none can be trusted.

    A file that others can read, or that belongs to another user, is not trusted.
    """
    path = address_file(session)
    try:
        with path.open(encoding="utf-8") as stream:
            if not _is_private(stream.fileno()):
                return Address()
            kept = json.load(stream)
        port, token = kept["port"], kept["token"]
    except (OSError, ValueError, KeyError, TypeError):
        return Address()
    is_sound = type(port) is int and 0 < port < 65536 and isinstance(token, str)
    return Address(port, token) if is_sound and _TOKEN.fullmatch(token) else Address()


def keep_address(session: Path, address: Address) -> None:
    """Keep an address; where the folder cannot be written, the next server has another one."""
    text = json.dumps({"port": address.port, "token": address.token})
    with suppress(OSError):
        os.replace(private_file(text, session.parent, suffix=_SUFFIX), address_file(session))


def private_file(text: str, folder: Path, *, suffix: str) -> Path:
    """Write a text to a new file that only its owner can read.

    Parameters
    ----------
    text : str
    folder : Path
    suffix : str
        End of its name; the rest is random.

    Raises
    ------
    OSError
        Where it cannot be written; then there is no such file.
    """
    descriptor, name = tempfile.mkstemp(suffix, "relabel-", folder)  # of mode 0600
    path = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
    except OSError:
        path.unlink()
        raise
    return path


def _is_private(descriptor: int) -> bool:
    if os.name != "posix":
        return True  # modes say nothing there
    facts = os.fstat(descriptor)
    return facts.st_uid == os.getuid() and not facts.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
