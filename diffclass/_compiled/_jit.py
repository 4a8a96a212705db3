"""How every loop of this package is compiled, and kept on disk.

One file per loop and signature, safe for many processes at once. Numba keeps numbered files and an
index of them. Two processes that start together can give one number to two signatures, a file that
is damaged or a disk that is full ends the program, and a loop that calls a changed loop of another
file is not compiled again. Here the name of a file is a hash of all that its contents depend on, a
file appears whole or not at all, and what cannot be read is compiled again.

The folder is Numba's choice: NUMBA_CACHE_DIR, or the folder of the package, or, where that is
read-only, the user's cache folder.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

from diffclass._compiled._numba_internals import NothingOverlaps, cache_folder, keep_compiled
from diffclass._compiled._threads import share_out
from diffclass.exceptions import warn_user
from diffclass.system.temporary_folders import TemporaryFolder

__all__ = ["inlined", "parallel", "serial", "share"]

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
    warn_user(
        f"compiled loops cannot be kept ({reason}), so every start compiles them for some "
        "seconds; set NUMBA_CACHE_DIR to a folder that can be written",
        UserWarning,
    )


class LoopFiles:
    """The compiled versions of one loop on disk: `Files` of `_numba_internals`."""

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
        whole = key.encode() + b"\n"
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
                os.replace(part, path)
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


def n_kept() -> int:
    """Return how many versions of loops are on disk, compiled from the present sources."""
    folder = cache_folder(n_kept)
    name = f"*.{sys.implementation.cache_tag}.{_sources()}.*.nbc"
    return 0 if folder is None else sum(1 for _ in folder.glob(name))


# Tests set this to 0, so that they never run a stale binary.
_cached_on_disk = os.environ.get("DIFFCLASS_NUMBA_CACHE", "1") != "0"


# Multiplications are not fused with additions and sums keep their order: a column gets the same
# bits alone and in a block, and what is symmetric on paper is so to the last bit. A row is summed
# by one thread, so the number of threads changes nothing.
_OPTIONS = {
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "pipeline_class": NothingOverlaps,
}


def serial(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop that runs on one thread."""
    compiled = numba.njit(**_OPTIONS)(function)
    if _cached_on_disk and not numba.config.DISABLE_JIT:
        keep_compiled(compiled, LoopFiles(function))
    return compiled


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop into the loops that call it, as if it were written there."""
    return numba.njit(inline="always", **_OPTIONS)(function)


def parallel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop over `share`, whose shares run on several threads if there is enough work.

    The loop takes ``part`` first, and callers leave it out. It is compiled as a serial one, in a
    third of the time that Numba's ``parallel=True`` needs.
    """
    compiled = serial(function)

    @functools.wraps(compiled)
    def shared_out(*arguments: Any) -> None:
        share_out(compiled, arguments)

    return shared_out


@serial
def share(part, n):
    """Return the range of the i-th of k equal shares of n rows; part = (i, k)."""
    i, k = part
    return range(n * i // k, n * (i + 1) // k)
