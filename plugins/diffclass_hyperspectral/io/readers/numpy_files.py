"""NumPy files, never unpickled: ``.npy`` mapped into memory, one array of an ``.npz`` archive."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.system.libraries import reading
from diffclass_hyperspectral.io.readers.contents import Contents
from diffclass_hyperspectral.io.readers.matlab import ArrayListing, contents_of


def read_array(path: Path) -> Contents:
    """Map the array of a ``.npy`` file into memory, read-only."""
    with reading(path, "a NumPy .npy array"):
        array = np.load(path, mmap_mode="r", allow_pickle=False)
        return Contents(np.asarray(array), "NumPy")


_LARGEST_RATIO = 1040  # of deflate, which makes 1,032 bytes of one at most
_HEADERS: dict[tuple[int, int], Callable[..., Any]] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def read_archive(path: Path, *, variable: str | None = None, n_axes: int = 3) -> Contents:
    """Read the named or only array of so many axes into memory."""
    with reading(path, "a NumPy .npz archive"), np.load(path, allow_pickle=False) as archive:
        kinds = _checked(archive)
        numeric = {name: shape for name, (shape, kind) in kinds.items() if kind in "biuf"}
        listing = ArrayListing(path, numeric, archive.__getitem__)
        return contents_of(listing, "NumPy", variable, n_axes=n_axes)


def _checked(archive: np.lib.npyio.NpzFile) -> dict[str, tuple[tuple[int, ...], str]]:
    """Return shape and kind of each array; none that claims more bytes than its entry can hold."""
    kinds: dict[str, tuple[tuple[int, ...], str]] = {}
    assert archive.zip is not None  # it is open
    for entry in archive.zip.infolist():
        if not entry.filename.endswith(".npy"):
            continue
        with archive.zip.open(entry) as file:
            version = np.lib.format.read_magic(file)
            read_header = _HEADERS[version]
            shape, _, dtype = read_header(file)
            claimed = math.prod(shape) * dtype.itemsize + file.tell()
        if not dtype.hasobject and claimed != entry.file_size:
            raise ValueError(f"{entry.filename} has {entry.file_size} bytes, its header {claimed}")
        if entry.file_size > _LARGEST_RATIO * entry.compress_size + _LARGEST_RATIO:
            raise ValueError(f"{entry.filename} claims more bytes than it can hold")
        kinds[entry.filename.removesuffix(".npy")] = (shape, dtype.kind)
    return kinds
