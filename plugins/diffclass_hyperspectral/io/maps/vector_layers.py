"""Vector layers written by ``pyogrio``, in memory first.

GDAL writes the last of a file when it closes it, and tells nobody where the disk is full then. A
file that Python writes is whole, or an error.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.system.libraries import require
from diffclass_hyperspectral.io.gdal_messages import quiet


def write_layer(
    path: Path, shapes: np.ndarray, fields: Mapping[str, np.ndarray], **options: Any
) -> None:
    """Write shapes and their fields; ``options`` are those of ``pyogrio.raw.write``."""
    raw = require("pyogrio.raw", extra="maps")
    shapely = require("shapely", extra="maps")
    written = io.BytesIO()
    with quiet(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="'crs' was not provided")
        raw.write(written, shapely.to_wkb(shapes), [*fields.values()], [*fields], **options)
    path.write_bytes(written.getbuffer())
