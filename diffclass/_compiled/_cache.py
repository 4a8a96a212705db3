"""Compiled loops on disk: one file per loop and signature, safe for many processes at once.

Numba keeps an index beside numbered files. Two processes that start together can give one number
to two signatures, a file that is damaged or a disk that is full ends the program, and a loop that
calls a changed loop of another file is not compiled again. Here the name of a file is a hash of all
that its contents depend on, a file appears whole or not at all, and what cannot be read is compiled
again.

The folder is Numba's choice: NUMBA_CACHE_DIR, or the folder of the package, or, where that is
read-only, the user's cache folder.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import os
import pickle
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import CompileResultCacheImpl, _Cache
from numba.core.serialize import dumps

from diffclass.temporary_folders import TemporaryFolder

# A record for each loop that is about to be compiled: commands say why nothing seems to happen.
_compiling = logging.getLogger("diffclass.compiling")


@functools.cache
def _sources() -> str:
    """Hash all loops, since they call one another, and how they are compiled."""
    content = hashlib.sha256(numba.__version__.encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        content.update(path.read_bytes())
    return content.hexdigest()[:16]


@functools.cache
def _say_that_nothing_is_kept(reason: str) -> None:
    warnings.warn(
        f"compiled loops cannot be kept ({reason}), so every start compiles them for some "
        "seconds; set NUMBA_CACHE_DIR to a folder that can be written",
        UserWarning,
        stacklevel=2,
    )


class LoopCache(_Cache):
    """The compiled versions of one loop on disk.

    Parameters
    ----------
    function : callable
        The loop, not compiled.
    """

    def __init__(self, function: Callable[..., Any]):
        self._folder: Path | None = None
        module = function.__module__.rpartition(".")[2]
        self._stem = f"{module}.{function.__name__}.{sys.implementation.cache_tag}"
        try:
            self._numba = CompileResultCacheImpl(function)
        except RuntimeError:  # no folder can be written
            return
        self._folder = Path(self._numba.locator.get_cache_path())

    @property
    def cache_path(self) -> str | None:
        """The folder, None where no folder can be written."""
        return None if self._folder is None else str(self._folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the loop compiled for a signature, or None."""
        target_context.refresh()
        if self._folder is None:
            _compiling.info("%s", self._stem)
            return None
        key, path = self._place(sig, target_context.codegen())
        try:
            content = path.read_bytes()
            if content[:32] == hashlib.sha256(content[32:]).digest():
                kept_key, kept = pickle.loads(content[32:])
                if kept_key == key:
                    return self._numba.rebuild(target_context, kept)
        except Exception:  # nothing there, or of another installation: it is compiled again
            pass
        _compiling.info("%s", self._stem)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the loop compiled for a signature, if there is a folder and space."""
        if self._folder is None:
            _say_that_nothing_is_kept("neither the package's nor the user's folder is writable")
            return
        key, path = self._place(sig, data.codegen)
        content = dumps((key, self._numba.reduce(data)))
        try:
            with TemporaryFolder(f".{path.name}", parent=path.parent) as folder:
                part = folder.path / "new"
                part.write_bytes(hashlib.sha256(content).digest() + content)
                os.replace(part, path)
        except OSError as error:
            _say_that_nothing_is_kept(error.strerror)
        self._remove_outdated(path)

    def _place(self, sig: Any, codegen: Any) -> tuple[Any, Path]:
        key = sig, codegen.magic_tuple()
        hashed = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
        assert self._folder is not None
        return key, self._folder / f"{self._stem}.{_sources()}.{hashed}.nbc"

    def _remove_outdated(self, path: Path) -> None:
        """Remove what older versions of the same loop have left."""
        for other in path.parent.glob(f"{self._stem}.*.nbc"):
            if not other.name.startswith(f"{self._stem}.{_sources()}."):
                with contextlib.suppress(OSError):
                    other.unlink()

    def enable(self) -> None:
        """Do nothing: there is no need."""

    def disable(self) -> None:
        """Do nothing: there is no need."""

    def flush(self) -> None:
        """Do nothing: there is no need."""
