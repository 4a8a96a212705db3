"""The accessor ``cube.diffclass`` of xarray's ``DataArray`` and ``Dataset``.

Importing this module registers it, as ``import rioxarray`` registers ``cube.rio``:

    import diffclass_hyperspectral.xarray

    maps = cube.diffclass.classify("labels.gpkg", labels_per_class=5, holdout="blocks")
    maps.class_map.rio.to_raster("map.tif")
"""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from diffclass_hyperspectral.io.labels import LabelImage, read_labels
from diffclass_hyperspectral.io.libraries import require
from diffclass_hyperspectral.io.readers import is_xarray, picked, picture_axes
from diffclass_hyperspectral.io.scenes import Scene, open_scene
from diffclass_hyperspectral.workflows.classification import (
    classified_dataset,
    classify_with_holdout,
)

_xarray = require("xarray", extra="xarray")


@_xarray.register_dataset_accessor("diffclass")
@_xarray.register_dataarray_accessor("diffclass")
class DiffclassAccessor:
    """What diffclass does with a cube of xarray.

    Parameters
    ----------
    cube : DataArray or Dataset
        With dimensions of rows, columns and bands, in any order.
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
        """Classify every pixel from a few labels.

        Parameters
        ----------
        labels : DataArray, ndarray, LabelImage or path-like
            Class ids of the pixels, 0 = unlabelled; or a file that `read_labels` reads, also of
            shapes where the cube has a coordinate system.
        scene : dict, optional
            Options of `open_scene`.
        **options
            As those of `classify_with_holdout`: ``features``, ``classifier``, ``holdout``,
            ``labels_per_class``, ``seed``, ``cleanup``, ``stability``.

        Returns
        -------
        Dataset
            As `classified_dataset`, on the cube's coordinates; the attribute ``report`` is the
            report as JSON.

        Raises
        ------
        DataError, ParameterError
            As `classify_with_holdout`.
        """
        given = dict(scene or {})
        cube = picked(self._cube, variable=given.pop("variable", None))
        opened = open_scene(cube, **given)
        run = classify_with_holdout(opened, _labels(labels, opened, cube), **options)
        found = classified_dataset(run.result, opened, like=cube)
        return found.assign_attrs(report=json.dumps(run.report.to_dict()))


def _labels(labels: Any, scene: Scene, cube: Any) -> LabelImage:
    if isinstance(labels, LabelImage):
        return labels
    if is_xarray(labels):
        own = picture_axes(cube)[:2]
        named_alike = set(own) == set(labels.dims)
        return read_labels(labels.transpose(*own) if named_alike else labels)
    if isinstance(labels, str | os.PathLike):
        return read_labels(labels, grid=scene)
    return LabelImage.from_array(np.asarray(labels))
