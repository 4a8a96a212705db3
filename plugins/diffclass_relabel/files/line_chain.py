"""Lines of JSON that are chained: each ends with a hash of itself and of the line before.

A hash without a secret does not keep anybody from forging a session. It tells at which line a file
was changed by accident or by hand.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

Line = dict[str, Any]  # of JSON
HASH = "hash"  # the field
_BYTES = 8


def hash_of(line: Mapping[str, Any], last: str) -> str:
    """Return the hash of a line that follows the line whose hash is ``last``.

    Examples
    --------
    >>> hash_of({"n": 1}, "")
    '1239cbe2dd247e9e'
    """
    return hashlib.blake2b(last.encode() + _text(line), digest_size=_BYTES).hexdigest()


def chained(lines: Iterable[Mapping[str, Any]], last: str = "") -> tuple[bytes, str]:
    """Return lines as bytes, each with its hash, and the hash of the last one."""
    pieces = []
    for line in lines:
        last = hash_of(line, last)
        pieces.append(_text({**line, HASH: last}) + b"\n")
    return b"".join(pieces), last


def parsed(piece: bytes) -> Line | None:
    """Return a line, its hash still in it; None where it is none."""
    try:
        line = json.loads(piece)
    except ValueError:
        return None
    return line if isinstance(line, dict) else None


def _text(line: Mapping[str, Any]) -> bytes:
    return json.dumps(line, separators=(",", ":"), allow_nan=False).encode()
