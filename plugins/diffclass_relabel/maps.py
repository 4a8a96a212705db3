"""Labels and maps as rasters of bytes, and their binary messages: of a map what is in view first.

A message is the length of its header (four bytes, unsigned, little-endian), the header (JSON in
UTF-8, padded with spaces to a multiple of four), and planes of rows * columns bytes each.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

MOST_WHOLE = 2**18  # pixels that are sent as one piece, wherever they are
_GRID = 64  # pixels: a view that is moved a little needs no other pieces

Window = tuple[int, int, int, int]
"""Top, left, bottom and right of a part of the raster, the ends excluded."""


def pack_frame(header: Mapping[str, Any], *planes: np.ndarray) -> bytes:
    r"""Return a binary message; planes have any shape, all of one size.

    >>> pack_frame({"a": 1}, np.array([7, 8], dtype=np.uint8))
    b'\x08\x00\x00\x00{"a":1} \x07\x08'
    """
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-len(text) % 4)
    parts = [np.ascontiguousarray(plane, dtype=np.uint8).tobytes() for plane in planes]
    return b"".join([struct.pack("<I", len(text)), text, *parts])


def unpack_frame(message: bytes, n_pixels: int) -> tuple[dict[str, Any], np.ndarray]:
    """Return the header and the planes, shape (n_planes, n_pixels of the window), of a message.

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

    >>> as_bytes(np.array([0, 0.5, 1, np.nan])).tolist()
    [0, 128, 255, 0]
    """
    return np.rint(np.nan_to_num(values).clip(0, 1) * 255).astype(np.uint8)


def labels_frame(labels: ShownLabels, known: ShownLabels | None = None) -> bytes:
    """Return the binary message of the labels, or of where they differ from ``known``."""
    header = {"kind": "labels", "version": labels.version}
    if known is None:
        return pack_frame(header, labels.ids)
    top, left, bottom, right = window = _window_of(labels.ids != known.ids)
    return pack_frame(header | {"window": window}, labels.ids[top:bottom, left:right])


def changes_frame(shown: ShownMap) -> bytes:
    """Return the binary message of where a map has changed."""
    return pack_frame({"kind": "changes", "version": shown.version}, shown.changed)


def map_frames(shown: ShownMap, seen: Window | None = None) -> list[bytes]:
    """Return the binary messages of a map in the order of sending, what is in view (`seen`) first.

    Each names its window, its planes, and how many pieces are left after it.
    """
    # classes first: with them alone the page can draw the map
    parts = [(["ids"], window) for window in pieces(shown.ids.shape, seen)]
    parts += [(["margin", "probability"], window) for window in pieces(shown.ids.shape)]
    header = {"kind": "map", "version": shown.version, "ms": round(shown.milliseconds, 2)}
    return [
        pack_frame(
            header | {"names": names, "window": window, "left": len(parts) - 1 - k},
            *(getattr(shown, name)[window[0] : window[2], window[1] : window[3]] for name in names),
        )
        for k, (names, window) in enumerate(parts)
    ]


def pieces(shape: tuple[int, ...], seen: Window | None = None) -> list[Window]:
    """Return windows that cover a raster, each pixel once.

    >>> pieces((145, 145))
    [(0, 0, 145, 145)]
    >>> pieces((1000, 1000), (500, 0, 900, 1000))
    [(448, 0, 960, 1000), (0, 0, 262, 1000), (262, 0, 448, 1000), (960, 0, 1000, 1000)]
    """
    rows, columns = shape
    if rows * columns <= MOST_WHOLE:
        return [(0, 0, rows, columns)]
    top, left, bottom, right = (0, 0, 0, 0) if seen is None else _on_grid(seen, rows, columns)
    if top >= bottom or left >= right:
        return _strips((0, 0, rows, columns))
    around = [
        *_strips((0, 0, top, columns)),
        *_strips((bottom, 0, rows, columns)),
        *_strips((top, 0, bottom, left)),
        *_strips((top, right, bottom, columns)),
    ]
    return [(top, left, bottom, right), *around]


def _window_of(changed: np.ndarray) -> Window:
    """Return the smallest window with all that has changed; one pixel where nothing has."""
    (top, bottom), (left, right) = _ends(changed, 1), _ends(changed, 0)
    return top, left, bottom, right


def _ends(changed: np.ndarray, axis: int) -> tuple[int, int]:
    places = np.flatnonzero(changed.any(axis=axis))
    return (int(places[0]), int(places[-1]) + 1) if len(places) else (0, 1)


def _on_grid(window: Window, rows: int, columns: int) -> Window:
    top, left = (end // _GRID * _GRID for end in window[:2])
    bottom, right = (-(-end // _GRID) * _GRID for end in window[2:])
    return min(top, rows), min(left, columns), min(bottom, rows), min(right, columns)


def _strips(window: Window) -> list[Window]:
    """Cut a window into strips of at most `MOST_WHOLE` pixels; an empty one has none."""
    top, left, bottom, right = window
    if left >= right:
        return []
    height = max(MOST_WHOLE // (right - left), 1)
    starts = range(top, bottom, height)
    return [(start, left, min(start + height, bottom), right) for start in starts]


NO_DATA = 255


@dataclass(frozen=True, eq=False)
class _ShownIds:
    version: int
    ids: np.ndarray

    @cached_property
    def counts(self) -> np.ndarray:
        """Pixels of each class id, int of shape (256,)."""
        return np.bincount(self.ids.ravel(), minlength=256)


class ShownLabels(_ShownIds):
    """The labels after an operation; `ids` uint8 (rows, columns), 0 = unlabelled."""


@dataclass(frozen=True, eq=False)
class ShownMap(_ShownIds):
    """The map of an update; `ids` uint8 (rows, columns), 0 = nothing arrived, 255 = no data."""

    margin: np.ndarray  # margin, probability: uint8 (rows, columns); 0 to 255 for 0 to 1
    probability: np.ndarray
    # uint8 (rows, columns); 1 where the class differs from that in the map before
    changed: np.ndarray
    n_changed: int
    milliseconds: float  # what the engine took
    note: str | None = None  # what is to be said of it
