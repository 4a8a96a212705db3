"""Pixels of a scene as the points of a job, by features of their spectra."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.jobs import MadePoints, PointSet
from diffclass.system.costs import Cost, Size
from diffclass.system.progress import stage
from diffclass_hyperspectral.features.feature_costs import feature_costs, scene_size
from diffclass_hyperspectral.features.scene_features import SceneFeatures
from diffclass_hyperspectral.io.scenes import Scene


@dataclass(frozen=True, eq=False)
class ScenePoints(PointSet):
    """Points that are pixels of a scene, whatever they are compared by."""

    scene: Scene

    noun = "pixels"
    has_grid = True
    scales_are_meant = True

    @property
    def path(self) -> Path:
        """The scene's file."""
        return Path(self.scene.path)

    def name(self, number: int) -> dict[str, Any]:
        """Return row and column of a pixel, and x and y of its centre; None if nobody knows."""
        row, column = (int(part) for part in np.unravel_index(number, self.scene.shape[:2]))
        x, y = self.scene.centre(row, column) or (None, None)
        return {"row": row, "column": column, "x": x, "y": y}

    def in_words(self, name: Any) -> str:
        """Return row and column as a line says them."""
        return f"row {name['row']}, column {name['column']}"

    @cached_property
    def places(self) -> np.ndarray:
        """Row and column of each point, int64 (n, 2)."""
        return np.column_stack(np.unravel_index(self.numbers, self.scene.shape[:2]))


@dataclass(frozen=True, eq=False)
class Pixels(ScenePoints):
    """Pixels of a scene as points by their features.

    Parameters
    ----------
    scene : Scene
        Also tiles that are opened as one, or a cube of xarray.
    features : SceneFeatures, optional
        Fitted when points are asked for; spectral components by default.
    is_fitted : bool, default=False
        Whether they are fitted already, to this or another scene.

    Raises
    ------
    DataError
        When points are asked for, where no pixel has data or every band is constant.
    ParameterError
        For features that no scene can have.

    Examples
    --------
    >>> from diffclass.datasets import make_tissue_scene
    >>> from diffclass_hyperspectral import Pixels, Scene
    >>> pixels = Pixels(Scene.from_array(make_tissue_scene(48, 48).cube))
    >>> pixels.points.shape, pixels.names([50])
    ((2304, 20), [{'row': 1, 'column': 2, 'x': None, 'y': None}])
    """

    features: SceneFeatures = field(default_factory=SceneFeatures)
    is_fitted: bool = False

    def __post_init__(self) -> None:
        self.features.check_parameters()

    def size(self, n_neighbors: int = 0, n_classes: int = 0) -> Size:
        """Return what the costs of a job depend on; all pixels of the region count."""
        return scene_size(self.scene, self.features, n_neighbors, n_classes)

    def costs(self) -> dict[str, Cost]:
        """Return the costs of making the points."""
        return feature_costs(self.scene, self.features, self.size().points)

    def make(self) -> MadePoints:
        """Make the features of the pixels with data."""
        features = self.features
        with stage("features"):
            made = features.transform_points if self.is_fitted else features.fit_transform_points
            points, valid = made(self.scene)
        return MadePoints(points, valid, feature_facts(features))


def feature_facts(features: SceneFeatures) -> dict[str, Any]:
    """Return what reports tell of pixels by fitted features."""
    return {
        "named_by": "row, column",
        "features": "spatial" if features.spatial else "spectral",
        "n_features": int(features.bands_.sum()),
        "left_out": [f"band {band + 1}" for band in np.flatnonzero(~features.bands_)],
        "metric": features.metric,
        "n_components": features.n_components_,
    }
