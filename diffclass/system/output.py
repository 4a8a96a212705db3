"""Files that appear whole or not at all: they are written under a temporary name, then renamed.

``os.replace`` within one file system is atomic: a reader sees either the old file or the complete
new one, also when the writing process was killed. The next process that writes there removes what
a killed one left.
"""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from diffclass.exceptions import ParameterError, named_when_full
from diffclass.system.remote_paths import RemotePath, place_of
from diffclass.system.temporary_folders import TemporaryFolder, sweep

__all__ = [
    "check_apart",
    "repair_pair",
    "replacing",
    "replacing_pair",
    "require_writable",
    "write_json",
]

_ADDED = 24  # bytes that a temporary folder's name and its suffixes have more than the file's


def require_writable(path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Return ``path`` as a Path, or raise an error that says why nothing can be written there.

    Call this before a long computation, so that an impossible output is refused at once.

    Raises
    ------
    ParameterError
        If the folder does not exist or cannot be written, the name is too long for it, the target
        is a folder, or the file (or a dangling link) exists and ``overwrite`` is false.
    """
    target = place_of(path)
    if isinstance(target, RemotePath):
        raise ParameterError(f"{target} is an address, from which files are only read; name a file")
    try:
        _check_target(target, overwrite=overwrite)
    except OSError as error:  # a loop of links, a name that no disk takes
        raise ParameterError(
            f"{target}: nothing can be written there ({error.strerror}); choose another name"
        ) from error
    return target


def _check_target(target: Path, *, overwrite: bool) -> None:
    folder = target.parent
    if not (os.path.lexists(folder) and stat.S_ISDIR(os.stat(folder).st_mode)):
        raise ParameterError(f"{target}: no folder {folder}; create it first")
    if target.is_dir():
        raise ParameterError(f"{target} is a folder; name a file in it")
    if os.path.lexists(target) and not overwrite:
        raise ParameterError(f"{target} exists; choose another name or pass --overwrite")
    longest = _longest_name(folder)
    if len(os.fsencode(target.name)) > longest:
        raise ParameterError(
            f"{target.name[:40]}...: a name of {len(os.fsencode(target.name))} bytes; {folder} "
            f"takes {longest}; choose a shorter one"
        )
    _try_a_file_in(folder, target)


def _try_a_file_in(folder: Path, target: Path) -> None:
    """Make a file and remove it: permissions do not show that /proc, a quota or a mount refuses."""
    try:
        with tempfile.TemporaryFile(dir=folder):  # without a name, where the system can do that
            pass
    except OSError as error:
        raise ParameterError(
            f"{target}: no file can be made in {folder} ({error.strerror}); choose another folder"
        ) from error


def _longest_name(folder: Path) -> int:
    """Bytes of the longest name in a folder that leaves room for the temporary file's."""
    try:
        return os.pathconf(folder, "PC_NAME_MAX") - _ADDED
    except (AttributeError, ValueError, OSError):
        return 255 - _ADDED


@contextmanager
def replacing(
    path: str | os.PathLike[str], *, overwrite: bool = False, suffix: str | None = None
) -> Iterator[Path]:
    """Yield a temporary name and rename it to ``path`` when the block succeeds.

    The temporary file is in a hidden folder of its own, next to ``path``. Its suffix is that of
    ``path`` unless another is given, for writers that choose a format by it.

    Raises
    ------
    ParameterError
        As `require_writable`.
    DataError
        If the disk is full.
    """
    target = require_writable(path, overwrite=overwrite)
    with _temporary_folder(target) as folder:
        temporary = folder / f"new{target.suffix if suffix is None else suffix}"
        yield temporary
        os.replace(temporary, target)


@contextmanager
def replacing_pair(
    first: Path, second: Path, *, overwrite: bool = False
) -> Iterator[tuple[Path, Path]]:
    """As `replacing`, for a file and another that describes it, such as its header.

    Both are in one folder; the second name begins as the first does, up to its ending. The new
    files are to be written in this order; the second need not be written.

    No system renames two files at once. The old second file is moved away until both new ones have
    their names, so that an old file is never paired with a new one. If a process is killed in
    between, the next that writes there restores the pair, or `repair_pair` does.
    """
    for target in (first, second):
        require_writable(target, overwrite=overwrite)
    with _temporary_folder(first, left=lambda folder: _repair(folder, first, second)) as folder:
        new = _new_pair(folder, first, second)
        yield new
        try:
            if os.path.lexists(second):
                os.replace(second, folder / _ASIDE)
            os.replace(new[0], first)
            if new[1].exists():
                os.replace(new[1], second)
        finally:
            _repair(folder, first, second)


def repair_pair(first: Path, second: Path) -> None:
    """Restore the old pair, or the new one, after `replacing_pair` was killed."""
    sweep(f".{first.name}", parent=first.parent, left=lambda folder: _repair(folder, first, second))


_ASIDE = "old"


def _new_pair(folder: Path, first: Path, second: Path) -> tuple[Path, Path]:
    return folder / f"new{first.suffix}", folder / f"new{second.name.removeprefix(first.stem)}"


def _repair(folder: Path, first: Path, second: Path) -> None:
    """Restore the missing second file from the folder of a process that was killed."""
    new_first, new_second = _new_pair(folder, first, second)
    if os.path.lexists(second) or not first.exists():
        return
    if new_first.exists():
        if (folder / _ASIDE).exists():
            os.replace(folder / _ASIDE, second)
    elif new_second.exists() and first.stat().st_mtime_ns <= new_second.stat().st_mtime_ns:
        os.replace(new_second, second)


@contextmanager
def _temporary_folder(
    target: Path, *, left: Callable[[Path], object] | None = None
) -> Iterator[Path]:
    """Yield a hidden folder next to a file to be written; errors of a full disk name the file."""
    with (
        named_when_full(lambda error: _full(target, error)),
        TemporaryFolder(f".{target.name}", parent=target.parent, left=left) as folder,
    ):
        yield folder.path


def _full(target: Path, error: OSError) -> str:
    return (
        f"{target}: no room left on its disk ({error.strerror}); free space or choose another "
        "folder"
    )


def write_json(
    path: str | os.PathLike[str], content: Mapping[str, Any], *, overwrite: bool = False
) -> None:
    """Write a mapping as JSON, whole or not at all."""
    with replacing(path, overwrite=overwrite) as temporary:
        Path(temporary).write_text(json.dumps(content, indent=1, allow_nan=False) + "\n")


def check_apart(outputs: Sequence[Path], inputs: Sequence[Path]) -> None:
    """Raise `ParameterError` where two outputs are one file, or one would replace an input."""
    # unlike Path.resolve, realpath leaves links in a circle to who reads the file
    places = [os.path.realpath(file) for file in outputs]
    read = {os.path.realpath(file) for file in inputs}
    for file, place in zip(outputs, places, strict=True):
        if places.count(place) > 1:
            raise ParameterError(f"two outputs would be written to {file}; name them apart")
        if place in read:
            raise ParameterError(f"{file} is read from; write to another file")
