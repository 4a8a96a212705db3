"""What a scene is told apart by: all that its features, and so its class map, can depend on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from diffclass.system.identity import content_hash
from diffclass.system.mapped_files import release_pages
from diffclass_hyperspectral.io.rasters import row_blocks
from diffclass_hyperspectral.io.scenes.scene import Scene


def scene_identity(scene: Scene) -> dict[str, Any]:
    """Return what a scene is told apart by, in values that JSON can hold; it is read once.

    That is the stored values, their type, which bands are good, what means "no data", the scale,
    and which pixels are left out; not where they lie, nor the format.

    >>> import numpy as np
    >>> from diffclass_hyperspectral import Scene
    >>> from diffclass_hyperspectral.io.scenes import scene_identity
    >>> cube = np.ones((2, 3, 4), dtype=np.float32)
    >>> first, second = Scene.from_array(cube), Scene.from_array(cube, path="x", scale_factor=2.0)
    >>> from diffclass.system.identity import differences
    >>> differences(scene_identity(first), scene_identity(second))
    ['scale (1.0, now 2.0)']
    """
    region = None if scene.region is None or scene.region.all() else scene.region
    return {
        "rows, columns, bands": list(scene.shape),
        "type": scene.data.dtype.newbyteorder("=").name,
        "bands in use": content_hash(scene.band_mask),
        "no data": None if scene.ignore_value is None else str(scene.ignore_value),
        "scale": float(scene.scale_factor),
        "pixels in use": None if region is None else content_hash(region),
        "values": content_hash(_blocks(scene)),
    }


def _blocks(scene: Scene) -> Iterator[np.ndarray]:
    rows, columns, bands = scene.shape
    for block in row_blocks(rows, columns * bands):
        scene.check_unchanged()
        yield scene.data[block]
        release_pages(scene.data)
    scene.check_unchanged()
