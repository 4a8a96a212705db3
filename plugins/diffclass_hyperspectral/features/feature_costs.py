"""What the points and features of a scene cost, known before it is read.

A scene that is mapped into memory or read in blocks counts with one block only. The first run of an
installation compiles, which takes some 200 MB more while nothing is large yet.
"""

from __future__ import annotations

import numpy as np

from diffclass.system.costs import Cost, Size
from diffclass_hyperspectral.features.block_statistics import quantile_bytes
from diffclass_hyperspectral.features.scene_features import SceneFeatures
from diffclass_hyperspectral.features.spatial_scales import (
    bytes_per_pixel,
    reach_of,
    smoothings_of,
    window_rows,
)
from diffclass_hyperspectral.io import rasters
from diffclass_hyperspectral.io.rasters import BlockArray
from diffclass_hyperspectral.io.scenes import Scene

_BYTES_PER_VALUE = 56  # of working space for a value of a block
_SECONDS = {False: 1e-8, True: 5e-8}  # of a pixel's band; spatial features take longer


def feature_cost(
    features: SceneFeatures,
    shape: tuple[int, int, int],
    n_bands: int,
    *,
    on_disk: bool = False,
) -> Cost:
    """Return what it costs to make features, in memory or ``on_disk``, of a scene of this shape."""
    rows, columns, bands = shape
    n, p = rows * columns, features.n_features(n_bands)
    most = max(2 * columns * bands, rasters.BLOCK_VALUES)
    working = _BYTES_PER_VALUE * min(n * bands, most)
    if features.spatial:
        k, smoothings = p // len(features.scales), smoothings_of(features.scales)
        of_its_own = window_rows(shape, k, smoothings)
        window = min(of_its_own + 2 * reach_of(smoothings), rows) * columns * bytes_per_pixel(k)
        working = max(working, window + quantile_bytes(4 * n))
    held = 0 if on_disk else 4 * n * p
    # a block of rows is gone before the whole result has been filled, a window is not
    peak = held + working if features.spatial else max(held, working)
    return Cost(peak + 8 * n, 0, _SECONDS[features.spatial] * n * n_bands)


def scene_size(
    scene: Scene, features: SceneFeatures, n_neighbors: int = 0, n_classes: int = 0
) -> Size:
    """Return how many points, features, neighbours and classes work on a scene has at most."""
    rows, columns, _ = scene.shape
    n = rows * columns if scene.region is None else int(np.count_nonzero(scene.region))
    return Size(n, features.n_features(int(scene.band_mask.sum())), n_neighbors, n_classes)


def feature_costs(
    scene: Scene, features: SceneFeatures, n_points: int, *, on_disk: bool = False
) -> dict[str, Cost]:
    """Return the cost of the features, of which those of the points are kept."""
    piece = scene.data.kept_bytes if isinstance(scene.data, BlockArray) else 0
    n_bands = int(scene.band_mask.sum())
    kept = 4 * n_points * features.n_features(n_bands)
    making = feature_cost(features, scene.shape, n_bands, on_disk=on_disk)
    return {"features": making + Cost(piece, kept)}
