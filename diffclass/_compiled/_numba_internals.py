"""How compiled loops are kept on disk, and all else that Numba does not document.

One file per loop and signature, safe for many processes at once. Numba itself keeps numbered files
and an index: two processes that start together can give one number to two signatures, a damaged
file or a full disk ends the program, and a loop that calls a changed loop of another file is not
compiled again. Here the name of a file is a hash of all that its contents depend on, a file appears
whole or not at all, and what cannot be read is compiled again. The folder is Numba's choice:
NUMBA_CACHE_DIR, or the folder of the package, or, where that is read-only, the user's cache folder.

A new version of Numba may change any of this; `tests/compiled/test_numba_internals.py` says what:

- a compiler class can set flags that ``numba.njit`` does not offer, here ``noalias``;
- a compiled function has an attribute ``_cache`` with `load_overload`, which is asked for each new
  signature, and `save_overload`, which gets what was compiled for it;
- what was compiled can be reduced to what pickles, and rebuilt;
- Numba chooses a folder for each source file.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import os
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import CompileResultCacheImpl, _Cache
from numba.core.compiler import Compiler
from numba.core.serialize import dumps

from diffclass.exceptions import warn_user
from diffclass.system.temporary_folders import TemporaryFolder

__all__ = ["LoopFiles", "NothingOverlaps", "cache_folder", "keep_compiled", "n_kept"]

# A record for each loop that is about to be compiled: commands say why nothing seems to happen.
_compiling = logging.getLogger("diffclass.compiling")


class NothingOverlaps(Compiler):
    """Compile in the knowledge that what a loop writes overlaps nothing else it is given."""

    def define_pipelines(self) -> Any:
        self.state.flags.noalias = True
        return super().define_pipelines()


def cache_folder(function: Callable[..., Any]) -> Path | None:
    """Return the folder that Numba would keep a function in, None where none can be written."""
    try:
        return Path(CompileResultCacheImpl(function).locator.get_cache_path())
    except RuntimeError:
        return None


def n_kept() -> int:
    """Return how many versions of loops are on disk, compiled from the present sources."""
    folder = cache_folder(n_kept)
    name = f"*.{sys.implementation.cache_tag}.{_sources()}.*.nbc"
    return 0 if folder is None else sum(1 for _ in folder.glob(name))


@functools.cache
def _sources() -> str:
    """Hash all loops, since they call one another, and how they are compiled."""
    content = hashlib.sha256(numba.__version__.encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        content.update(path.read_bytes())
    return content.hexdigest()[:16]


@functools.cache
def _say_that_nothing_is_kept(reason: str) -> None:
    warn_user(
        f"compiled loops cannot be kept ({reason}), so every start compiles them for some "
        "seconds; set NUMBA_CACHE_DIR to a folder that can be written",
        UserWarning,
    )


class LoopFiles:
    """The compiled versions of one loop on disk, each under a key."""

    def __init__(self, function: Callable[..., Any]):
        self.folder = cache_folder(function)
        module = function.__module__.rpartition(".")[2]
        self._stem = f"{module}.{function.__name__}.{sys.implementation.cache_tag}"

    def read(self, key: str) -> bytes | None:
        """Return the version of a key; None if it is not there, or damaged."""
        try:
            found = self._place(key).read_bytes()
        except OSError:
            return None
        hashed, content = found[:32], found[32:]
        whole = key.encode() + b"\n"  # the name has only a part of the key's hash
        is_whole = hashlib.sha256(content).digest() == hashed and content.startswith(whole)
        return content[len(whole) :] if is_whole else None

    def write(self, key: str, content: bytes) -> None:
        """Keep a version, if there is a folder and space, and remove those of older sources."""
        if self.folder is None:
            _say_that_nothing_is_kept("neither the package's nor the user's folder is writable")
            return
        path, content = self._place(key), key.encode() + b"\n" + content
        try:
            with TemporaryFolder(f".{path.name}", parent=path.parent) as folder:
                part = folder.path / "new"
                part.write_bytes(hashlib.sha256(content).digest() + content)
                os.replace(part, path)  # another process sees all of it or nothing
        except OSError as error:
            _say_that_nothing_is_kept(error.strerror)
        self._remove_outdated(path)

    def will_compile(self) -> None:
        """Tell who listens that nothing happens for a while."""
        _compiling.info("%s", self._stem)

    def _place(self, key: str) -> Path:
        assert self.folder is not None
        hashed = hashlib.sha256(key.encode()).hexdigest()[:16]
        return self.folder / f"{self._stem}.{_sources()}.{hashed}.nbc"

    def _remove_outdated(self, path: Path) -> None:
        """Remove what older versions of the same loop have left."""
        for other in path.parent.glob(f"{self._stem}.*.nbc"):
            if not other.name.startswith(f"{self._stem}.{_sources()}."):
                with contextlib.suppress(OSError):
                    other.unlink()


def keep_compiled(compiled: Any, files: LoopFiles) -> None:
    """Let a function of `numba.njit` look for its versions among files, and write new ones."""
    compiled._cache = _KeptVersions(compiled.py_func, files)


class _KeptVersions(_Cache):
    """What a compiled function asks for versions of itself."""

    def __init__(self, function: Callable[..., Any], files: LoopFiles):
        self._files = files
        self._numba = None if files.folder is None else CompileResultCacheImpl(function)

    @property
    def cache_path(self) -> str | None:
        """The folder, None where no folder can be written."""
        return None if self._files.folder is None else str(self._files.folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the function compiled for a signature, or None."""
        target_context.refresh()
        found = None
        if self._numba is not None:
            content = self._files.read(_key_of(sig, target_context.codegen()))
            try:
                if content is not None:
                    found = self._numba.rebuild(target_context, pickle.loads(content))
            except Exception:  # of another installation: it is compiled again
                pass
        if found is None:
            self._files.will_compile()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the function compiled for a signature."""
        reduced = b"" if self._numba is None else dumps(self._numba.reduce(data))
        self._files.write(_key_of(sig, data.codegen), reduced)

    def enable(self) -> None:
        """Do nothing: it cannot be switched off."""

    disable = flush = enable


def _key_of(sig: Any, codegen: Any) -> str:
    return repr((sig, codegen.magic_tuple()))  # which processor it is compiled for
