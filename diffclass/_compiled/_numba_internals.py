"""All that diffclass takes from Numba without Numba documenting it. No other file does.

A new version of Numba may change any of this; `tests/compiled/test_numba_internals.py` says what:

- a compiler class can set flags that ``numba.njit`` does not offer, here ``noalias``;
- a compiled function has an attribute ``_cache`` with `load_overload`, which is asked for each new
  signature, and `save_overload`, which gets what was compiled for it;
- what was compiled can be reduced to what pickles, and rebuilt;
- Numba chooses a folder for each source file.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from numba.core.caching import CompileResultCacheImpl, _Cache
from numba.core.compiler import Compiler
from numba.core.serialize import dumps

__all__ = ["Files", "NothingOverlaps", "cache_folder", "keep_compiled"]


class Files(Protocol):
    """Where compiled versions of one function are kept; each has a key of its own."""

    folder: Path | None

    def read(self, key: str) -> bytes | None:
        """Return what was written with a key, None if there is nothing or it is damaged."""

    def write(self, key: str, content: bytes) -> None:
        """Keep some bytes, if that is possible."""

    def will_compile(self) -> None:
        """Do what is to be done before a version is compiled."""


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


def keep_compiled(compiled: Any, files: Files) -> None:
    """Let a function of `numba.njit` look for its versions among files, and write new ones."""
    compiled._cache = _KeptVersions(compiled.py_func, files)


class _KeptVersions(_Cache):
    """What a compiled function asks for versions of itself, in bytes that `Files` keep."""

    def __init__(self, function: Callable[..., Any], files: Files):
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
            key = _key_of(sig, target_context.codegen())
            content = self._files.read(key)
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
        """Do nothing: there is no need."""

    def disable(self) -> None:
        """Do nothing: there is no need."""

    def flush(self) -> None:
        """Do nothing: there is no need."""


def _key_of(sig: Any, codegen: Any) -> str:
    return repr((sig, codegen.magic_tuple()))
