"""Binary messages: a JSON header and planes of one byte per pixel.

Four bytes give the header's length (unsigned, little-endian), then comes the header as UTF-8,
padded with spaces to a multiple of four, then the planes, rows * columns bytes each.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np


def pack_frame(header: Mapping[str, Any], *planes: np.ndarray) -> bytes:
    r"""Return a binary message.

    Parameters
    ----------
    header : mapping
        Of values that JSON can hold.
    *planes : ndarray of uint8
        Any shape, all of one size.

    Examples
    --------
    >>> pack_frame({"a": 1}, np.array([7, 8], dtype=np.uint8))
    b'\x08\x00\x00\x00{"a":1} \x07\x08'
    """
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-len(text) % 4)
    return b"".join([struct.pack("<I", len(text)), text, *(_bytes(plane) for plane in planes)])


def unpack_frame(message: bytes, n_pixels: int) -> tuple[dict[str, Any], np.ndarray]:
    """Return the header and the planes, shape (n_planes, n_pixels), of a binary message.

    Those of a window (top, left, bottom, right) have as many pixels as it.

    Examples
    --------
    >>> unpack_frame(pack_frame({"a": 1}, np.array([7, 8], dtype=np.uint8)), 2)
    ({'a': 1}, array([[7, 8]], dtype=uint8))
    """
    (length,) = struct.unpack_from("<I", message)
    header = json.loads(message[4 : 4 + length])
    top, left, bottom, right = header.get("window", (0, 0, 1, n_pixels))
    size = (bottom - top) * (right - left)
    return header, np.frombuffer(message, np.uint8, offset=4 + length).reshape(-1, size)


def as_bytes(values: np.ndarray) -> np.ndarray:
    """Return numbers from 0 to 1 as bytes from 0 to 255; NaN becomes 0.

    Examples
    --------
    >>> as_bytes(np.array([0, 0.5, 1, np.nan])).tolist()
    [0, 128, 255, 0]
    """
    return np.rint(np.nan_to_num(values).clip(0, 1) * 255).astype(np.uint8)


def _bytes(plane: np.ndarray) -> bytes:
    return np.ascontiguousarray(plane, dtype=np.uint8).tobytes()
