"""A look at the element tags of a MATLAB 5 file before ``scipy.io.loadmat`` reads it.

``loadmat`` looks types up by the number in the file without a check, and a damaged number ends the
process (scipy issue 6072, pull requests 25349 and 25829). A tag is checked here first.

Source: MathWorks, "MAT-File Format" (2019), chapter 1: data elements, array flags, dimensions.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from diffclass.exceptions import DataError

_MATRIX, _COMPRESSED = 14, 15
_NUMBERS = frozenset({1, 2, 3, 4, 5, 6, 7, 9, 12, 13})
_COMPLEX = 0x0800
# Flags, dimensions and name come first; names have 63 letters at most.
_HEAD_BYTES = 4096
_ORDERS = {b"IM": "<", b"MI": ">"}


def check_array(path: Path, name: str) -> None:
    """Raise `DataError` unless the array of this name has values of a known type.

    Files of version 4 have no tags and pass.
    """
    with path.open("rb") as stream:
        order = _ORDERS.get(stream.read(128)[126:128])
        if order is None:
            return
        for head in _matrices(stream, order):
            flags, found, kind = _described(path, head, order)
            if found != name:
                continue
            if flags & _COMPLEX:
                raise DataError(f"{path}: {name} holds complex numbers; real ones are needed")
            if kind not in _NUMBERS:
                raise DataError(
                    f"{path}: {name} has values of the unknown type {kind}; the file is damaged, "
                    "fetch it again"
                )


def _matrices(stream: BinaryIO, order: str) -> Iterator[bytes]:
    """Yield the beginning of every matrix, without its own tag."""
    place = stream.tell()
    while len(tag := stream.read(8)) == 8:
        kind, count = struct.unpack(f"{order}II", tag)
        body = stream.read(min(count, _HEAD_BYTES))
        if kind == _COMPRESSED:
            body = zlib.decompressobj().decompress(body, _HEAD_BYTES)
            kind = struct.unpack(f"{order}I", body[:4])[0]
            body = body[8:]
        if kind == _MATRIX:
            yield body
        place += 8 + count
        stream.seek(place)


def _described(path: Path, head: bytes, order: str) -> tuple[int, str, int]:
    """Return a matrix's flags, its name and the type of its values."""
    try:
        flags, place = _element(head, 0, order)
        _, place = _element(head, place, order)
        name, place = _element(head, place, order)
        kind = struct.unpack_from(f"{order}I", head, place)[0]
        bits = struct.unpack_from(f"{order}I", flags)[0]
    except (struct.error, IndexError):
        raise DataError(f"{path}: damaged element tags; fetch the file again") from None
    # a value of at most four bytes shares its tag with its length
    return bits, name.decode("latin-1"), kind & 0xFFFF if kind >> 16 else kind


def _element(head: bytes, place: int, order: str) -> tuple[bytes, int]:
    """Return the bytes of the element at ``place``, and where the next one begins."""
    kind, count = struct.unpack_from(f"{order}II", head, place)
    if kind >> 16:
        return head[place + 4 : place + 4 + (kind >> 16)], place + 8
    return head[place + 8 : place + 8 + count], place + 8 + -(-count // 8) * 8
