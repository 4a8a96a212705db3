"""Files that appear whole or not at all: they are written beside the target, then renamed.

``os.replace`` within one folder is atomic: a reader sees either the old file or the complete new
one, also when the writing process was killed.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from diffclass.exceptions import ParameterError
from diffclass.full_disk import named_when_full

_BESIDE = 24  # bytes that the name of a file beside has more, and its suffixes


def require_writable(path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Return ``path`` as a Path, or raise an error that says why nothing can be written there.

    Call it before a long computation, so that a refused output costs no waiting.

    Parameters
    ----------
    path : path-like
        The file to be written.
    overwrite : bool, default=False
        Whether a file that exists may be replaced.

    Returns
    -------
    Path
        The same path.

    Raises
    ------
    ParameterError
        If the folder does not exist or cannot be written, the name is too long for it, the target
        is a folder, or the file (or a link that leads nowhere) exists and ``overwrite`` is false.
    """
    target = Path(path)
    try:
        _check_place(target, overwrite=overwrite)
    except OSError as error:  # a loop of links, a name that no disk takes
        raise ParameterError(
            f"{target}: nothing can be written there ({error.strerror}); choose another name"
        ) from error
    return target


def _check_place(target: Path, *, overwrite: bool) -> None:
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
    """Make a file and remove it: rights do not tell that /proc, a quota or a mount takes none."""
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
        return os.pathconf(folder, "PC_NAME_MAX") - _BESIDE
    except (AttributeError, ValueError, OSError):
        return 255 - _BESIDE


@contextmanager
def replacing(
    path: str | os.PathLike[str], *, overwrite: bool = False, suffix: str | None = None
) -> Iterator[Path]:
    """Yield a temporary name beside ``path`` and rename it to ``path`` when the block succeeds.

    Parameters
    ----------
    path : path-like
        The file to be written.
    overwrite : bool, default=False
        Whether a file that exists may be replaced.
    suffix : str, optional
        Suffix of the temporary name, for writers that choose a format by it; that of ``path``
        by default.

    Yields
    ------
    Path
        A name in the same folder that does not exist yet.

    Raises
    ------
    ParameterError
        As `require_writable`.
    DataError
        If the disk is full.
    """
    target = require_writable(path, overwrite=overwrite)
    with named_when_full(lambda error: _full(target, error)):
        temporary = _name_beside(target, target.suffix if suffix is None else suffix)
        try:
            yield temporary
            _give_usual_permissions(temporary)
            os.replace(temporary, target)
        finally:
            with suppress(FileNotFoundError):
                temporary.unlink()


def _full(target: Path, error: OSError) -> str:
    return (
        f"{target}: no room left on its disk ({error.strerror}); free space or choose another "
        "folder"
    )


def _name_beside(target: Path, suffix: str) -> Path:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=suffix)
    os.close(handle)
    temporary = Path(name)
    temporary.unlink()
    return temporary


def _give_usual_permissions(path: Path) -> None:
    """Undo the owner-only mode that temporary files have."""
    umask = os.umask(0)
    os.umask(umask)
    path.chmod(0o666 & ~umask)
