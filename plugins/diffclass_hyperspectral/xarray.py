"""The accessor ``cube.diffclass`` of xarray's ``DataArray`` and ``Dataset``.

Importing this module registers it, as ``import rioxarray`` registers ``cube.rio``:

    import diffclass_hyperspectral.xarray
    from diffclass.jobs import Holdout

    maps = cube.diffclass.classify("labels.gpkg", holdout=Holdout("blocks", labels_per_class=5))
    maps.diffclass.write_map("map.tif")

``maps.class_map.rio.to_raster`` writes ids and names too, but rioxarray writes no palette.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.jobs import Suggestion, cluster, suggest_points
from diffclass.system.libraries import require
from diffclass_hyperspectral.features.scene_features import SceneFeatures
from diffclass_hyperspectral.io.labels import LabelImage, read_labels
from diffclass_hyperspectral.io.maps import write_class_map
from diffclass_hyperspectral.io.readers import flags_of, is_xarray, picked, picture_axes
from diffclass_hyperspectral.io.scenes import Scene, open_scene
from diffclass_hyperspectral.jobs.anomalies import scene_anomalies
from diffclass_hyperspectral.jobs.classification import (
    classified_dataset,
    classify_scene,
    picture_array,
)
from diffclass_hyperspectral.jobs.clustering import table_of
from diffclass_hyperspectral.jobs.evaluation import MapEvaluation, evaluate_map
from diffclass_hyperspectral.jobs.suggestions import suggest_for_scene
from diffclass_hyperspectral.pixels import Pixels

_xarray = require("xarray", extra="xarray")


@_xarray.register_dataset_accessor("diffclass")
@_xarray.register_dataarray_accessor("diffclass")
class DiffclassAccessor:
    """What diffclass does with a cube of xarray: rows, columns and bands in any order.

    ``scene`` holds options of `open_scene`. Labels are class ids of the pixels, 0 = unlabelled, or
    a file that `read_labels` reads, also of shapes where the cube has a coordinate system.
    """

    def __init__(self, cube: Any):
        self._cube = cube

    def scene(self, **options: Any) -> Scene:
        """Return the cube as a scene; options as those of `open_scene`."""
        return open_scene(self._cube, **options)

    def classify(
        self,
        labels: LabelImage | Any,
        *,
        scene: dict[str, Any] | None = None,
        **options: Any,
    ) -> Any:
        """Classify every pixel; options are those of `classify_scene`.

        Returns
        -------
        Dataset
            As `classified_dataset`; its attribute ``report`` is the report as JSON.
        """
        cube, opened = self._opened(scene)
        run = classify_scene(opened, _labels(labels, opened, cube), **options)
        found = classified_dataset(run.result, opened, like=cube)
        return found.assign_attrs(report=json.dumps(run.report.to_dict()))

    def cluster(
        self,
        *,
        scene: dict[str, Any] | None = None,
        features: SceneFeatures | None = None,
        **options: Any,
    ) -> Any:
        """Find classes without labels; options are those of `diffclass.jobs.cluster`.

        Returns
        -------
        DataArray of shape (rows, columns)
            Numbers of clusters with CF flags, 0 without data.
        """
        cube, opened = self._opened(scene)
        found = cluster(Pixels(opened, features or SceneFeatures()), **options)
        entries = [entry for entry in table_of(found) if entry.id]
        dtype = np.uint8 if len(entries) <= np.iinfo(np.uint8).max else np.uint16
        facts = {"long_name": "cluster", **flags_of(entries, dtype)}
        return picture_array(found.numbers.astype(dtype), opened, facts, like=cube, nodata=0)

    def anomaly(self, *, scene: dict[str, Any] | None = None, **options: Any) -> Any:
        """Score how little each pixel is like the others; options are those of `scene_anomalies`.

        Returns
        -------
        DataArray of shape (rows, columns)
            The higher, the less like the others; NaN without data.
        """
        cube, opened = self._opened(scene)
        found = scene_anomalies(opened, **options)
        facts = {"long_name": f"anomaly score, {found.method}"}
        return picture_array(found.scores, opened, facts, like=cube, nodata=np.nan)

    def suggest(
        self,
        labels: LabelImage | Any | None = None,
        n_points: int = 10,
        *,
        scene: dict[str, Any] | None = None,
        features: SceneFeatures | None = None,
        **options: Any,
    ) -> tuple[Suggestion, ...]:
        """Say which pixels to label next, or first, the best first.

        Options are those of `suggest_for_scene`, without labels of `diffclass.jobs.suggest_points`.
        """
        cube, opened = self._opened(scene)
        features = features or SceneFeatures()
        if labels is None:
            pixels = Pixels(opened, features)
            return suggest_points(pixels, n_points=n_points, **options).suggestions
        given = _labels(labels, opened, cube)
        found = suggest_for_scene(opened, given, n_points, features=features, **options)
        return found.suggestions

    def evaluate(self, truth: LabelImage | Any, **options: Any) -> MapEvaluation:
        """Compare a class map with the truth; options are those of `evaluate_map`."""
        found = self._class_map()
        return evaluate_map(found, _labels(truth, found, self._picture(), n_axes=2), **options)

    def write_map(self, path: str | os.PathLike[str], **options: Any) -> tuple[Path, ...]:
        """Write a class map with names, colours and place; options as of `write_class_map`."""
        found = self._class_map()
        return write_class_map(path, found.ids, found.table, map_info=found.map_info, **options)

    def _opened(self, options: dict[str, Any] | None) -> tuple[Any, Scene]:
        given = dict(options or {})
        cube = picked(self._cube, variable=given.pop("variable", None))
        return cube, open_scene(cube, **given)

    def _picture(self) -> Any:
        return picked(self._cube, n_axes=2)

    def _class_map(self) -> LabelImage:
        return read_labels(self._picture())


def _labels(labels: Any, grid: Scene | LabelImage, cube: Any, *, n_axes: int = 3) -> LabelImage:
    if isinstance(labels, LabelImage):
        return labels
    if is_xarray(labels):
        own = picture_axes(cube, n_axes=n_axes)[:2]
        named_alike = set(own) == set(labels.dims)
        return read_labels(labels.transpose(*own) if named_alike else labels, grid=grid)
    if isinstance(labels, str | os.PathLike):
        return read_labels(labels, grid=grid)
    return LabelImage.from_array(labels)
