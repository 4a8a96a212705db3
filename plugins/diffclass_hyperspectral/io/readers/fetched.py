"""Rows that come from elsewhere are fetched once: a classification goes through a scene five times.

They are kept in a temporary file as large as the scene, decompressed, which holds what was read.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np

from diffclass.exceptions import named_when_full
from diffclass.system.temporary_folders import TemporaryFolder


class FetchedRows:
    """A function of (start, stop) to rows that asks another one only for rows it does not have.

    `DataError`: the disk of temporary files is full.
    """

    def __init__(
        self,
        read_rows: Callable[[int, int], np.ndarray],
        shape: tuple[int, int, int],
        dtype: np.dtype,
        path: Path,
    ):
        self._read_rows, self._shape, self._dtype, self._path = read_rows, shape, dtype, path
        self._has = np.zeros(shape[0], dtype=bool)
        self._folder: TemporaryFolder | None = None
        self._lock = threading.Lock()

    def __call__(self, start: int, stop: int) -> np.ndarray:
        """Return rows."""
        size = int(np.prod(self._shape[1:], dtype=np.int64)) * self._dtype.itemsize
        with self._lock, named_when_full(self._full), self._file().open("r+b") as file:
            file.seek(start * size)
            if self._has[start:stop].all():
                stored = np.frombuffer(file.read((stop - start) * size), self._dtype)
                return stored.reshape(stop - start, *self._shape[1:])
            rows = np.ascontiguousarray(self._read_rows(start, stop), dtype=self._dtype)
            file.write(rows.data)
            file.flush()
            self._has[start:stop] = True
        return rows

    def _file(self) -> Path:
        if self._folder is None:
            self._folder = TemporaryFolder("diffclass-fetched")
            (self._folder.path / "rows").touch()
        return self._folder.path / "rows"

    def _full(self, error: OSError) -> str:
        return (
            f"{self._path}: no room for its rows among the temporary files ({error.strerror}); "
            "free space, or set TMPDIR to another disk"
        )
