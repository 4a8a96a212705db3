"""How long it takes to prepare a scene for labelling, and how much memory, from its size alone.

Seconds on two quiet cores; `diffclass_relabel.preparation` corrects them by the steps so far.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from diffclass.command_line.forecasts import MemoryForecast
from diffclass_hyperspectral import Scene, SceneFeatures
from diffclass_hyperspectral.workflows.memory_forecast import forecast_labelling
from diffclass_relabel.pixel_blocks import MOST_POINTS
from diffclass_relabel.workspace import SessionSettings

_HASHED = 1.0e9  # bytes per second
_PER_VALUE = {"spectral": 2.0e-8, "spatial": 5.0e-8}  # seconds, of the features
_PER_PIXEL = 1.2e-5  # seconds, of the graph of 100,000 pixels
_GROWTH = 1.15  # of the graph's time with the number of pixels
_PER_OPERATION = 5.0e-4
_LOOPS, _MAP = 0.5, 1.0e-6
_CLASSES = 8  # of a session that is only begun


def expected_seconds(
    scene: Scene, settings: SessionSettings, n_operations: int
) -> dict[str, float]:
    """Return the seconds of each step of `diffclass_relabel.preparation`.

    Parameters
    ----------
    scene : Scene
        Nothing is read of it.
    settings : SessionSettings
    n_operations : int
        So far in the session's file.

    Examples
    --------
    >>> import numpy as np
    >>> scene = Scene.from_array(np.zeros((512, 217, 204), dtype=np.int8))
    >>> round(expected_seconds(scene, SessionSettings(), 0)["graph"], 1)
    1.4
    """
    rows, columns, bands = scene.shape
    n_pixels = rows * columns
    n_points = min(n_pixels, MOST_POINTS)
    return {
        "libraries": 0.0,  # loaded by now
        "opening": n_pixels * bands * scene.data.dtype.itemsize / _HASHED,
        "features": n_pixels * bands * _PER_VALUE[settings.features],
        "graph": _PER_PIXEL * n_points * max(n_points / 1e5, 0.1) ** (_GROWTH - 1),
        "replay": _PER_OPERATION * n_operations,
        "loops": _LOOPS,
        "map": _MAP * n_points,
    }


def forecast_session(
    scene: Scene, settings: SessionSettings, seconds: Mapping[str, float], *, n_classes: int = 0
) -> MemoryForecast:
    """Say what a session's maps will need, and how long the first one takes.

    Parameters
    ----------
    scene : Scene
        Nothing is read of it.
    settings : SessionSettings
    seconds : mapping
        `expected_seconds`.
    n_classes : int, default=0
        That the session has so far.
    """
    features = SceneFeatures(settings.components, spatial=settings.features == "spatial")
    n_classes = max(n_classes, _CLASSES)
    needed = forecast_labelling(
        scene, features, settings.neighbors, n_classes, most_points=MOST_POINTS
    )
    return replace(needed, seconds=seconds)
