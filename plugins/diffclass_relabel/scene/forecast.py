"""What it takes to prepare a scene for labelling, memory and time, from its size alone.

`diffclass_relabel.opening.preparation` corrects the seconds by the steps so far.
"""

from __future__ import annotations

from dataclasses import replace

from diffclass.costs import Forecast
from diffclass.kernels import SharedNeighbors
from diffclass.point_graph import graph_costs
from diffclass.relabel import painting_cost
from diffclass_hyperspectral import Scene, SceneFeatures
from diffclass_hyperspectral.features.feature_costs import feature_costs, scene_size
from diffclass_relabel.scene.pixel_blocks import MOST_POINTS
from diffclass_relabel.scene.workspace import SessionSettings

_HASHED = 1.0e9  # bytes per second
_PER_OPERATION, _LOOPS = 5.0e-4, 0.5  # seconds
_CLASSES = 8  # of a session that is only begun


def forecast_session(
    scene: Scene, settings: SessionSettings, n_operations: int, *, n_classes: int = 0
) -> Forecast:
    """Say what a session's maps will need, and how long the first one takes.

    Parameters
    ----------
    scene : Scene
        Nothing is read of it.
    settings : SessionSettings
    n_operations : int
        So far in the session's file.
    n_classes : int, default=0
        That the session has so far.

    Returns
    -------
    Forecast
        Its seconds are those of the steps of `diffclass_relabel.opening.preparation`.

    Examples
    --------
    >>> import numpy as np
    >>> scene = Scene.from_array(np.zeros((512, 217, 204), dtype=np.int8))
    >>> round(forecast_session(scene, SessionSettings(), 0).seconds["graph"], 1)
    1.2
    """
    features = SceneFeatures(settings.components, spatial=settings.features == "spatial")
    pixels = scene_size(scene, features, settings.neighbors, max(n_classes, _CLASSES))
    # in larger scenes points are blocks of pixels, whose features lie on a file
    points = replace(pixels, points=min(pixels.points, MOST_POINTS))
    is_large = pixels.points > MOST_POINTS
    costs = feature_costs(scene, features, points.points, on_disk=is_large)
    costs |= graph_costs(points, SharedNeighbors(), extends=False)
    costs["maps"] = painting_cost(points)
    rows, columns, bands = scene.shape
    seconds = {
        "libraries": 0.0,  # loaded by now
        "opening": rows * columns * bands * scene.data.dtype.itemsize / _HASHED,
        "features": costs["features"].seconds,
        "graph": costs["neighbors"].seconds + costs["affinities"].seconds,
        "replay": _PER_OPERATION * n_operations,
        "loops": _LOOPS,
        "map": costs["maps"].seconds,
    }
    return replace(Forecast.of(costs), seconds=seconds)
