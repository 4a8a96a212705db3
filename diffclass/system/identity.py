"""What data, files and programs are told apart by: hashes of their content.

What is kept between two runs (a scratch folder, a session, a graph) is taken over only where the
content of its inputs, its parameters and the sources that made it are still the same. Everything is
hashed, nothing is sampled.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from diffclass.system.mapped_files import release_pages

__all__ = ["content_hash", "differences", "file_hash", "sources"]

_AT_ONCE = 2**26  # bytes
_DIGITS = 64  # of a hash


def content_hash(*parts: Any) -> str:
    """Return the SHA-256 of arrays and of values that JSON can hold, as 64 hexadecimal digits.

    Arrays count with their shape and type; byte order, memory layout and file do not. They are read
    by rows, and released if they lie on files. An iterator yields the values of one array, by rows.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.system.identity import content_hash
    >>> X = np.arange(6.0).reshape(2, 3)
    >>> content_hash(X) == content_hash(np.asfortranarray(X).astype(">f8"))
    True
    >>> content_hash(X) == content_hash(X[::-1]), content_hash(X) == content_hash(X.T)
    (False, False)
    """
    digest = hashlib.sha256()
    for part in parts:
        for piece in _pieces(part):
            digest.update(piece)
    return digest.hexdigest()


def file_hash(file: Path) -> str:
    """Return the SHA-256 of a file's content.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from diffclass.system.identity import file_hash
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "x"
    ...     path.write_text("abc"), file_hash(path)[:8]
    (3, 'ba7816bf')
    """
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@functools.cache
def sources(package: Path = Path(__file__).parents[1]) -> str:
    """Return a digest of all source files of a package, as this process found them first.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from diffclass.system.identity import sources
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text = Path(folder, "a.py").write_text("x = 1")
    ...     sources(Path(folder)) == sources()
    False
    """
    content = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        content.update(f"{path.relative_to(package).as_posix()} {path.stat().st_size} ".encode())
        content.update(path.read_bytes())
    return content.hexdigest()


def differences(known: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return in words what differs between two identities, values that JSON can hold.

    Examples
    --------
    >>> from diffclass.system.identity import differences
    >>> differences({"alpha": 0.0, "points": 64 * "0"}, {"alpha": 1.0, "points": 64 * "1"})
    ['alpha (0.0, now 1.0)', 'points']
    """
    found = []
    for key in sorted(known.keys() | now.keys()):
        before, after = known.get(key), now.get(key)
        if before == after:
            continue
        is_hash = any(isinstance(v, str) and len(v) == _DIGITS for v in (before, after))
        found.append(key if is_hash else f"{key} ({before}, now {after})")
    return found


def _pieces(part: Any) -> Iterator[Any]:
    """Yield the bytes of a part of the content: of an array its type and shape, then its rows."""
    if sp.issparse(part):
        rows = sp.csr_array(part)
        yield json.dumps([*rows.shape]).encode()
        for values in (rows.indptr, rows.indices, rows.data):
            yield from _pieces(values)
    elif isinstance(part, Iterator):
        yield from map(_bytes_of, part)
    elif not (hasattr(part, "dtype") and hasattr(part, "shape")):
        yield json.dumps(part, sort_keys=True).encode()
    else:
        dtype, shape = np.dtype(part.dtype), part.shape
        yield json.dumps([dtype.newbyteorder("<").str, *shape]).encode()
        if not shape:
            yield _bytes_of(part)
            return
        row_bytes = max(1, dtype.itemsize * int(np.prod(shape[1:], dtype=np.int64)))
        n_rows = max(1, _AT_ONCE // row_bytes)
        is_in_memory = isinstance(part, np.ndarray) and part.flags.owndata
        for start in range(0, shape[0], n_rows):
            yield _bytes_of(part[start : start + n_rows])
            if not is_in_memory:
                release_pages(part)


def _bytes_of(values: Any) -> Any:
    found = np.asarray(values)
    little = found.astype(found.dtype.newbyteorder("<"), copy=False)
    return np.ascontiguousarray(little).view(np.uint8).data if little.size else b""
