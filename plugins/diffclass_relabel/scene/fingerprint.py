"""The hash of a scene's values: it is the same in every file and folder."""

from __future__ import annotations

import hashlib
import json

import numpy as np

from diffclass_hyperspectral import Scene
from diffclass_hyperspectral.io.rasters import row_blocks


def fingerprint_of(scene: Scene) -> str:
    """Return the SHA-256 of everything in a scene that its class map can depend on.

    Stored values in the order (row, column, band), their type, which bands are good, what means
    "no data", the scale, and which pixels are left out, if any are.

    Parameters
    ----------
    scene : Scene

    Returns
    -------
    str
        64 hexadecimal digits.

    Examples
    --------
    >>> scene = Scene.from_array(np.ones((2, 3, 4), dtype=np.float32))
    >>> fingerprint_of(scene)[:8] == fingerprint_of(Scene.from_array(scene.data, path="x"))[:8]
    True
    """
    digest = hashlib.sha256()
    rows, columns, bands = scene.shape
    dtype = scene.data.dtype.newbyteorder("<")
    facts = {
        "shape": [rows, columns, bands],
        "dtype": dtype.str,
        "good": np.flatnonzero(scene.band_mask).tolist(),
        "ignore": str(scene.ignore_value),
        "scale": float(scene.scale_factor),
    }
    digest.update(json.dumps(facts, sort_keys=True).encode())
    if scene.region is not None and not scene.region.all():
        digest.update(np.packbits(scene.region).data)
    for some in row_blocks(rows, columns * bands):
        block = np.asarray(scene.data[some])
        digest.update(np.ascontiguousarray(block, dtype=dtype).data)
    return digest.hexdigest()
