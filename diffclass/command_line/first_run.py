"""The first run of an installation compiles; a process beside it takes the half that comes last.

A run searches neighbours before it weighs and walks the graph. So the process walks on a graph of
few points, which an exact search finds without loops of ours, while the run compiles the search.
What it has compiled the run finds on disk.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

_CODE = f"from {__name__} import compile_walk; compile_walk()"


class CompilingBeside:
    """A process that compiles beside this one, once it is started."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, where nothing is compiled yet and there is a core for it."""
        from diffclass._compiled._numba_internals import n_kept
        from diffclass._compiled.loops import allowed_threads

        if self._process is None and allowed_threads() > 1 and not n_kept():
            nowhere: Any = subprocess.DEVNULL
            self._process = subprocess.Popen(
                [sys.executable, "-c", _CODE], stdin=nowhere, stdout=nowhere, stderr=nowhere
            )

    def close(self) -> None:
        """End it, whatever it is doing: a loop is on disk as a whole or not at all."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


def compile_walk() -> None:
    """Compile what the default classifier does after it has found the neighbours."""
    import numpy as np

    from diffclass import DiffusionClassifier
    from diffclass.neighbors import ExactSearch

    X = np.random.default_rng(0).normal(size=(100, 4)).astype(np.float32)
    y = np.where(np.arange(100) < 10, np.arange(100) % 2, -1)
    DiffusionClassifier(search=ExactSearch()).fit(X, y)
