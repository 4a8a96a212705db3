"""Temporary folders that are removed even where their process was killed.

A process locks its folder; the system unlocks the folders of a killed process. The next process
that makes a folder of the same name removes those that are not locked. Where folders cannot be
locked (Windows, some network file systems) those of killed processes stay.
"""

from __future__ import annotations

import errno
import os
import shutil
import sys
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count, islice
from pathlib import Path
from types import TracebackType
from typing import Self

__all__ = ["TemporaryFolder", "lock", "sweep"]

ENDING = ".part"
_SEARCHED = 16  # numbers under which folders of killed processes are searched


class TemporaryFolder:
    """A new folder with access for its owner only, in ``parent`` or among temporary files.

    It is removed with the object, at the end of a ``with`` block, or by `remove`. Its name is the
    stem, a number and ".part". ``left`` is called with each folder of the stem that a killed
    process left, before it is removed.

    Attributes
    ----------
    path : Path
        Absolute: it stays the folder's name where the process changes its own.
    """

    def __init__(
        self,
        stem: str,
        *,
        parent: Path | None = None,
        left: Callable[[Path], object] | None = None,
    ):
        parent = Path(tempfile.gettempdir() if parent is None else parent).absolute()
        sweep(stem, parent=parent, left=left)
        self.path, descriptor = _made(stem, parent)
        self._end = weakref.finalize(self, _remove, self.path, descriptor, os.getpid())

    def remove(self) -> None:
        """Remove the folder with all that is in it."""
        self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.remove()


def sweep(stem: str, *, parent: Path, left: Callable[[Path], object] | None = None) -> None:
    """Remove the folders of a stem that killed processes left; see `TemporaryFolder`."""
    for path in islice(_names(stem, parent), _SEARCHED):
        with suppress(OSError):  # none there, or one that cannot be locked
            if os.stat(path, follow_symlinks=False).st_uid != os.geteuid():
                continue
            descriptor = lock(path)
            if descriptor is None:
                continue
            try:
                if left is not None:
                    left(path)
            finally:
                _remove(path, descriptor, os.getpid())


def lock(folder: Path) -> int | None:
    """Lock a folder until the descriptor that is returned is closed or the process ends.

    None if the folder is locked or gone; `OSError` if folders cannot be locked there.
    """
    if sys.platform == "win32":
        raise OSError(errno.ENOTSUP, "folders cannot be locked")
    import fcntl

    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    is_ours = False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_ours = _still_there(folder, os.fstat(descriptor))
    except BlockingIOError:
        pass
    finally:
        if not is_ours:
            os.close(descriptor)
    return descriptor if is_ours else None


def _still_there(folder: Path, facts: os.stat_result) -> bool:
    """Return whether a folder that was opened still has its name."""
    try:
        return os.path.samestat(facts, os.stat(folder, follow_symlinks=False))
    except FileNotFoundError:
        return False


def _names(stem: str, parent: Path) -> Iterator[Path]:
    return (parent / f"{stem}.{number}{ENDING}" for number in count(1))


def _made(stem: str, parent: Path) -> tuple[Path, int | None]:
    """Return a new folder and its lock, which is None where folders cannot be locked."""
    for path in _names(stem, parent):
        try:
            path.mkdir(mode=0o700)
            descriptor = lock(path)
        except FileExistsError:
            continue
        except OSError:
            if path.is_dir():
                return path, None
            raise
        if descriptor is not None:  # else another process removes it as left over
            return path, descriptor
    raise AssertionError  # numbers do not end


def _remove(path: Path, descriptor: int | None, owner: int) -> None:
    if os.getpid() != owner:  # of a process that was forked: the folder is not its own
        return
    shutil.rmtree(path, ignore_errors=True)
    if descriptor is not None:
        os.close(descriptor)
