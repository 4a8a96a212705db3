"""Which files are read together, and stamps of files to find what has changed."""

from __future__ import annotations

import glob
from dataclasses import dataclass
from pathlib import Path

from diffclass.exceptions import DataError
from diffclass.system.mapped_files import map_under
from diffclass.system.remote_paths import RemotePath
from diffclass_hyperspectral.io.rasters import BlockArray

_COMPANIONS = (
    {".hdr", ".img", ".dat", ".bsq", ".bil", ".bip", ".raw", ".bin", ""},
    {".shp", ".shx", ".dbf", ".prj", ".cpg"},
)


def input_files(path: Path) -> list[Path]:
    """Return a file and those read with it, as its header; all of a folder, none of an address."""
    if isinstance(path, RemotePath):
        return []
    if path.is_dir():
        return sorted(file for file in path.rglob("*") if file.is_file())
    files = [path, Path(f"{path}.aux.xml"), Path(f"{path}.msk"), Path(f"{path}.hdr")]
    for endings in _COMPANIONS:
        if path.suffix.lower() in endings:
            files += [other for other in sorted(path.parent.glob(f"{glob.escape(path.stem)}*"))
                      if other.stem == path.stem and other.suffix.lower() in endings]  # fmt: skip
    return [file for file in dict.fromkeys(files) if file.is_file()]


@dataclass(frozen=True)
class FileStamp:
    """What a file looked like when it was opened: bytes, and nanoseconds since 1970."""

    path: Path
    size: int
    modified: int

    @classmethod
    def of_data(cls, data: object) -> FileStamp | None:
        """Return the stamp of the file under a memory map or `BlockArray`, else None."""
        path = _file_under(data)
        try:
            return None if path is None else cls(path, *_size_and_time(path))
        except OSError:
            return None  # reading will say what is wrong

    def check(self) -> None:
        """Raise `DataError` if the file is another one now, shorter, or gone.

        To be called before each block too: reading a memory map beyond the file's end ends the
        process.
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
    facts = path.stat()
    return facts.st_size, facts.st_mtime_ns


def _file_under(data: object) -> Path | None:
    if isinstance(data, BlockArray):
        return Path(data.path).absolute()
    name = getattr(map_under(data), "filename", None)
    return None if name is None else Path(name).absolute()
