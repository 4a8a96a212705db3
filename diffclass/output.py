"""Files that appear whole or not at all: they are written beside the target, then renamed.

``os.replace`` within one folder is atomic: a reader sees either the old file or the complete new
one, also when the writing process was killed.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from diffclass.exceptions import ParameterError


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
        If the folder does not exist, the target is a folder, or the file exists and
        ``overwrite`` is false.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise ParameterError(f"{target}: no folder {target.parent}; create it first")
    if target.is_dir():
        raise ParameterError(f"{target} is a folder; name a file in it")
    if target.exists() and not overwrite:
        raise ParameterError(f"{target} exists; choose another name or pass --overwrite")
    return target


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
    """
    target = require_writable(path, overwrite=overwrite)
    handle, name = tempfile.mkstemp(
        dir=target.parent,
        prefix=f".{target.name}.",
        suffix=target.suffix if suffix is None else suffix,
    )
    os.close(handle)
    temporary = Path(name)
    temporary.unlink()
    try:
        yield temporary
        _give_usual_permissions(temporary)
        os.replace(temporary, target)
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()


def _give_usual_permissions(path: Path) -> None:
    """Undo the owner-only mode that temporary files have."""
    umask = os.umask(0)
    os.umask(umask)
    path.chmod(0o666 & ~umask)
