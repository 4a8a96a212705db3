"""Places that are no files of this machine: addresses, and the virtual file systems of GDAL.

``pathlib`` makes one slash of the two in "https://host/scene.tif". A `RemotePath` is written as it
was given, and otherwise behaves like a path to a file that is not there.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

__all__ = ["RemotePath", "place_of"]

# "zip+https://..." and "/vsizip//vsicurl/https://..." too; a single letter is a disk of Windows
_REMOTE = re.compile(r"/vsi\w+/|[a-z][a-z0-9+.-]+:/", re.IGNORECASE)
_SLASH = re.compile(r"([a-z0-9]{2,}):/(?!/)", re.IGNORECASE)


class RemotePath(type(Path())):  # type: ignore[misc]  # the kind of path of this system
    """The place of a file that GDAL reads from elsewhere; made by `place_of`."""

    _given: str | None = None

    def __init__(self, *parts: str):
        if sys.version_info >= (3, 12):  # before, paths were made by __new__ alone
            super().__init__(*parts)
        if len(parts) == 1:  # not those that a path makes of itself, as its parent
            self._given = parts[0]

    def __str__(self) -> str:
        text = self._given or super().__str__().replace("\\", "/")
        return _SLASH.sub(r"\1://", text)

    def __reduce__(self) -> tuple[type[RemotePath], tuple[str]]:
        return RemotePath, (str(self),)

    def absolute(self) -> RemotePath:
        """Return the place itself: it is the same from every folder."""
        return self


def place_of(path: str | os.PathLike[str]) -> Path:
    """Return a path; one that is an address, or begins with ``/vsi``, as a `RemotePath`.

    Examples
    --------
    >>> str(place_of("https://host/scenes/left.tif"))
    'https://host/scenes/left.tif'
    >>> place_of("https://host/scenes/left.tif").stem
    'left'
    >>> type(place_of("scenes/left.tif")) is type(Path())
    True
    """
    if isinstance(path, RemotePath):
        return path
    text = os.fspath(path)
    return RemotePath(text) if _REMOTE.match(text) and not os.path.exists(text) else Path(text)
