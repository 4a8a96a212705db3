"""Size and time of a scene's file, by which a change while it is read is found out."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from diffclass.exceptions import DataError
from diffclass.mapped_files import map_under
from diffclass_hyperspectral.io.rasters import BlockArray


@dataclass(frozen=True)
class FileStamp:
    """What a file looked like when it was opened.

    Attributes
    ----------
    path : Path
    size : int
        Bytes.
    modified : int
        Nanoseconds since 1970.
    """

    path: Path
    size: int
    modified: int

    @classmethod
    def of_data(cls, data: object) -> FileStamp | None:
        """Return the stamp of the file under a memory map or `BlockArray`, None for other arrays.

        Parameters
        ----------
        data : array-like
        """
        path = _file_under(data)
        try:
            return None if path is None else cls(path, *_size_and_time(path))
        except OSError:
            return None  # reading will say what is wrong

    def check(self) -> None:
        """Raise `DataError` if the file is another one now, shorter, or gone.

        Call it before each block as well as at the end: the system ends a process that reads a
        memory map beyond the end of its file.
        """
        try:
            size, modified = _size_and_time(self.path)
        except OSError as error:
            raise DataError(
                f"{self.path}: cannot be found any more ({error.strerror}); put the file back and "
                "start again"
            ) from error
        if size < self.size:
            raise DataError(
                f"{self.path}: was cut from {self.size} to {size} bytes while it was read; fetch "
                "the file again"
            )
        if (size, modified) != (self.size, self.modified):
            raise DataError(
                f"{self.path}: was changed while it was read; start again when nothing writes to "
                "it any more"
            )


def _size_and_time(path: Path) -> tuple[int, int]:
    facts = os.stat(path)
    return facts.st_size, facts.st_mtime_ns


def _file_under(data: object) -> Path | None:
    if isinstance(data, BlockArray):
        return Path(data.path).absolute()
    name = getattr(map_under(data), "filename", None)
    return None if name is None else Path(name).absolute()
