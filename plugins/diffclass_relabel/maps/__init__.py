"""Labels and maps as rasters of bytes, and their binary messages."""

from __future__ import annotations

from diffclass_relabel.maps.frames import (
    as_bytes,
    changes_frame,
    labels_frame,
    map_frames,
    pack_frame,
)
from diffclass_relabel.maps.shown import NO_DATA, ShownLabels, ShownMap

__all__ = [
    "NO_DATA",
    "ShownLabels",
    "ShownMap",
    "as_bytes",
    "changes_frame",
    "labels_frame",
    "map_frames",
    "pack_frame",
]
