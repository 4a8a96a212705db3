"""Arrays in memory as long as there is room for them, then on disk.

What goes to disk lies in files without a name: they are gone when the arrays are, or the process.
"""

from __future__ import annotations

import tempfile
import weakref
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.blocks.scratch import room_in
from diffclass.mapped_files import map_under, release_pages

_SMALL = 2**20  # bytes that are not worth a file


class SpillFiles:
    """Keeps account of arrays, and moves those that find no room to disk.

    Parameters
    ----------
    room : float
        Bytes of all arrays in memory.
    folder : Path or None
        For the files; among the system's temporary files by default.

    Attributes
    ----------
    size : int
        Bytes of the arrays that are in memory now.
    """

    def __init__(self, room: float, folder: Path | None = None):
        self.size = 0
        self._room, self._folder = room, folder
        self._known: set[int] = set()

    def put(self, result: Any) -> Any:
        """Return a result with its arrays, also those within tuples, where there is room."""
        if isinstance(result, tuple):
            return tuple(self.put(part) for part in result)
        if not isinstance(result, np.ndarray) or result.nbytes < _SMALL:
            return result
        if id(result) in self._known or map_under(result) is not None:
            return result
        if self.size + result.nbytes > self._room:
            return self._on_disk(result)
        self.size += result.nbytes
        self._known.add(id(result))
        weakref.finalize(result, self._forget, id(result), result.nbytes)
        return result

    def _forget(self, number: int, size: int) -> None:
        self.size -= size
        self._known.discard(number)

    def _on_disk(self, array: np.ndarray) -> np.ndarray:
        with room_in(self._folder), tempfile.TemporaryFile(dir=self._folder) as file:
            # written, not mapped: a full disk is an error then, and no signal
            file.write(np.ascontiguousarray(array).data)
            file.flush()
            return np.memmap(file, array.dtype, "r", shape=array.shape)


def release(values: Any) -> None:
    """Let go of the pages of arrays on disk, also within tuples and lists; they are read again."""
    if isinstance(values, tuple | list):
        for part in values:
            release(part)
    elif isinstance(values, np.ndarray):
        release_pages(values)
