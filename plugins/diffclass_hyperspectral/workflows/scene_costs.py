"""What work on a scene costs, known before it is read: points and features.

Each chapter says what its stages cost (`diffclass.costs`), each workflow what it puts together. A
scene that is mapped into memory or read in blocks counts with one block only. The first run of an
installation compiles, which takes some 200 MB more while nothing is large yet.
"""

from __future__ import annotations

import numpy as np

from diffclass.costs import Cost, Size
from diffclass_hyperspectral.features.feature_costs import feature_cost
from diffclass_hyperspectral.features.scene_features import SceneFeatures
from diffclass_hyperspectral.io.rasters import BlockArray
from diffclass_hyperspectral.io.scenes import Scene


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
