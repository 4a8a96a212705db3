"""ERDAS 7.x LAN scenes and GIS label images, by ``spectral``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import DataError
from diffclass.system.attributes import Attributes
from diffclass.system.libraries import reading, require
from diffclass_hyperspectral.io.readers.contents import Contents

MAGIC = (b"HEAD74", b"HEADER")
_HEADER_BYTES = 128
_CELLS = slice(120, 128)  # width and height of a pixel on the map
ATTRIBUTES = Attributes("ERDAS 7", honoured={}, left_out={"map coordinates": "place"})


def read(path: Path) -> Contents:
    """Map an ERDAS LAN or GIS file into memory, read-only."""
    erdas = require("spectral.io.erdas")
    _check_magic(path)
    with reading(path, "an ERDAS LAN/GIS image"):
        image = erdas.open(os.fspath(path.absolute()))
        _check_size(path, image)
        with path.open("rb") as stream:
            head = stream.read(_HEADER_BYTES)
        cells = np.frombuffer(head[_CELLS], ">f4" if image.byte_order == 1 else "<f4")
        stated = {"map coordinates": cells if cells.all() else None}
        return Contents(_plain(image), "ERDAS", unused=ATTRIBUTES.unused(stated))


def _check_magic(path: Path) -> None:
    # Checked here because spectral leaves its file open when it finds out itself.
    with path.open("rb") as stream:
        head = stream.read(_HEADER_BYTES)
    if not head.startswith(MAGIC):
        raise DataError(f"{path}: not an ERDAS 7 file (it does not begin with HEAD74 or HEADER)")
    if len(head) < _HEADER_BYTES:
        raise DataError(f"{path}: cut short inside its header; fetch the file again")


def _check_size(path: Path, image: Any) -> None:
    if min(image.shape) < 1:
        raise DataError(f"{path}: its header states an impossible size {tuple(image.shape)}")
    needed = _HEADER_BYTES + int(np.prod(image.shape, dtype=np.int64)) * image.sample_size
    there = path.stat().st_size
    if there < needed:
        rows, columns, bands = image.shape
        raise DataError(
            f"{path}: {there} bytes, but its header ({rows} rows x {columns} columns x {bands} "
            f"bands) needs {needed}; the file is cut short, fetch it again"
        )


def _plain(image: Any) -> np.ndarray:
    """Return the values with the type that the format means."""
    data = np.asarray(image.open_memmap(interleave="bip"))
    # spectral says signed bytes, but ERDAS bytes run from 0 to 255; and it finds out that a file
    # is big-endian without telling the type of its values.
    if data.dtype.itemsize == 1:
        return data.view(np.uint8)
    return data.view(">i2" if image.byte_order == 1 else "<i2")
