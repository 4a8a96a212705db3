"""NumPy ``.npy`` files, memory-mapped, never unpickled."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from diffclass_hyperspectral.io.readers.contents import Contents
from diffclass_hyperspectral.io.readers.failures import reading


def read(path: Path) -> Contents:
    """Map the array of a ``.npy`` file into memory, read-only."""
    with reading(path, "a NumPy .npy array"):
        array = np.load(path, mmap_mode="r", allow_pickle=False)
        return Contents(np.asarray(array), "NumPy")
