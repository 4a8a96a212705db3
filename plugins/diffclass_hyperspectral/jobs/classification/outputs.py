"""A classification as files with the scene's coordinates, or as a ``Dataset`` of xarray.

The class map of a dataset has the attributes ``flag_values`` and ``flag_meanings`` of CF; its
variables have coordinates and a coordinate system, so that
``dataset.class_map.rio.to_raster("map.tif")`` writes a map.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import ParameterError
from diffclass.options import check_options
from diffclass.system.libraries import require
from diffclass_hyperspectral.io.maps import place_of, write_class_map, write_raster
from diffclass_hyperspectral.io.rasters import ComputedRaster
from diffclass_hyperspectral.io.readers import flags_of, picture_axes
from diffclass_hyperspectral.io.scenes import Scene
from diffclass_hyperspectral.jobs.classification.scene_classification import (
    UNCLASSIFIED,
    SceneClassification,
)
from diffclass_hyperspectral.options import OPTIONS


def write_maps(
    path: str | os.PathLike[str],
    result: SceneClassification,
    scene: Scene,
    *,
    probability: str | os.PathLike[str] | None = None,
    margin: str | os.PathLike[str] | None = None,
    ambiguity: str | os.PathLike[str] | None = None,
    novelty: str | os.PathLike[str] | None = None,
    stability: str | os.PathLike[str] | None = None,
    level: float = 0.9,
    simplify: float = 0.0,
    overwrite: bool = False,
) -> tuple[Path, ...]:
    """Write the class map of a scene, and what else is asked for, with its coordinates.

    Parameters
    ----------
    path : path-like
        The class map.
    result : SceneClassification
    scene : Scene
        That was classified.
    probability, margin : path-like, optional
        Calibrated probabilities, one band per class, and margins.
    ambiguity, novelty, stability : path-like, optional
        Number of classes that may be each pixel's own at ``level``, distances to the training
        pixels of a model, where a second seed gives the same class; see `SceneClassification`.
    level : float, default=0.9
        Share of the sets of classes that are to hold the true one.
    simplify : float, default=0
        Of polygons; see `write_class_map`.
    overwrite : bool, default=False
        Whether files that exist may be replaced.

    Returns
    -------
    tuple of Path
        The files written; those of a scene in its sensor's geometry are orthorectified where the
        format carries coordinates.

    Raises
    ------
    ParameterError
        Where nothing can be written there, no model was applied that has a novelty, or the scene
        was not classified with a second seed.

    See Also
    --------
    write_class_map : A class map of any source.
    classified_dataset : The same as a dataset of xarray.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from diffclass.datasets import make_tissue_scene
    >>> from diffclass_hyperspectral import LabelImage, Scene, classify_scene, write_maps
    >>> tissue = make_tissue_scene(48, 48)
    >>> scene = Scene.from_array(tissue.cube)
    >>> found = classify_scene(scene, LabelImage.from_array(tissue.labels)).result
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = write_maps(folder + "/map.img", found, scene, margin=folder + "/margin.npy")
    >>> [file.name for file in files]
    ['map.img', 'map.hdr', 'margin.npy']
    """
    check_options(OPTIONS, level=level, simplify=simplify, overwrite=overwrite)
    if novelty is not None and result.novelty is None:
        raise ParameterError(f"{novelty}: novelty is that of a model on another scene; apply one")
    if stability is not None and result.stability is None:
        raise ParameterError(
            f"{stability}: stability needs a second map; classify_scene(stability=True) makes one"
        )

    def place(file: str | os.PathLike[str]) -> dict[str, Any]:
        return {"overwrite": overwrite, **place_of(scene, file)}

    names = [result.names[int(i)] for i in result.class_ids]
    files = write_class_map(
        path,
        result.class_map,
        result.table,
        probability=_own(result),
        simplify=simplify,
        **place(path),
    )
    rasters: list[tuple[Any, Callable[[], Any], list[str]]] = [  # made only if they are written
        (probability, lambda: result.probabilities, names),
        (margin, lambda: result.margin, ["margin"]),
        (novelty, lambda: result.novelty, ["novelty"]),
        (stability, lambda: result.stability, ["stability"]),
        (ambiguity, lambda: _set_sizes(result, level), [f"classes at {level:g}"]),
    ]
    for file, made, bands in rasters:
        if file is not None:
            files += write_raster(file, made(), band_names=bands, **place(file))
    return files


def _own(result: SceneClassification) -> ComputedRaster:
    """Return the probability of each pixel's class on the map, NaN where it has none."""
    order = np.argsort(result.class_ids)

    def read(rows: slice) -> np.ndarray:
        ids = result.class_map[rows]
        place = np.searchsorted(result.class_ids, ids, sorter=order).clip(max=len(order) - 1)
        found = np.take_along_axis(result.probabilities[rows], order[place][..., None], axis=-1)
        return np.where(ids > 0, found[..., 0], np.nan)

    return ComputedRaster(result.class_map.shape, np.float32, read)


def _set_sizes(result: SceneClassification, level: float) -> ComputedRaster:
    """Return how many classes may be each pixel's own, NaN where the scene has no data."""
    calibration, probabilities = result.model.classifier.calibration_, result.probabilities

    def read(rows: slice) -> np.ndarray:
        sizes = calibration.sets(probabilities[rows], level=level).sum(axis=-1)
        return np.where(np.isfinite(result.margin[rows]), sizes, np.nan)

    return ComputedRaster(result.raw_posteriors.shape[:2], np.float32, read)


def classified_dataset(result: SceneClassification, scene: Scene, *, like: Any = None) -> Any:
    """Return a classification with its scene's coordinates.

    Parameters
    ----------
    result : SceneClassification
    scene : Scene
        That was classified.
    like : DataArray or Dataset, optional
        That the scene was opened from: dimensions are called as there, and its coordinates of rows
        and columns are kept. By default they are ``y`` and ``x``, centres of pixels where the scene
        has map coordinates without rotation.

    Returns
    -------
    Dataset
        ``class_map`` (rows, columns), ids with CF flags, 0 without a class; ``margin``
        (rows, columns), 0 to 1; ``probability`` (class, rows, columns), calibrated; ``stability``
        (rows, columns) where it was asked for; NaN without data.

    Raises
    ------
    ParameterError
        Where xarray or rioxarray is missing.

    See Also
    --------
    write_maps : Files of other formats.

    Examples
    --------
    >>> from diffclass.datasets import make_tissue_scene
    >>> from diffclass_hyperspectral import LabelImage, Scene, classified_dataset, classify_scene
    >>> tissue = make_tissue_scene(48, 48, random_state=0)
    >>> scene = Scene.from_array(tissue.cube)
    >>> found = classify_scene(scene, LabelImage.from_array(tissue.labels)).result
    >>> classified_dataset(found, scene).class_map.flag_meanings
    'class_1 class_2 class_3'
    """
    xarray = require("xarray", extra="xarray")
    require("rioxarray", extra="xarray")
    rows, columns = _dimensions(like)
    largest = max(result.table.ids, default=0)
    dtype = np.min_scalar_type(largest)
    kept = [entry for entry in result.table if entry.id in set(result.class_ids.tolist())]
    names = [result.names[int(i)] for i in result.class_ids]
    class_map = (
        (rows, columns),
        result.class_map.astype(dtype),
        {"long_name": "class", **flags_of(kept, dtype)},
    )
    margin = ((rows, columns), result.margin, {"long_name": "margin", "units": "1"})
    probability = (
        ("class", rows, columns),
        np.moveaxis(result.posteriors, -1, 0),
        {"long_name": "calibrated probability", "units": "1"},
    )
    variables = {"class_map": class_map, "margin": margin, "probability": probability}
    if result.stability is not None:
        same = {"long_name": "same class by a second seed", "units": "1"}
        variables["stability"] = ((rows, columns), result.stability, same)
    dataset = xarray.Dataset(
        variables,
        coords={"class": names, **_coordinates(scene, like, rows, columns)},
    )
    return _georeferenced(dataset, scene, rows, columns, {"class_map": UNCLASSIFIED})


def picture_array(
    values: np.ndarray, scene: Scene, facts: dict[str, Any], *, like: Any, nodata: float
) -> Any:
    """Return a picture of a scene, with attributes, as a ``DataArray`` with coordinates."""
    xarray = require("xarray", extra="xarray")
    require("rioxarray", extra="xarray")
    rows, columns = _dimensions(like)
    coordinates = _coordinates(scene, like, rows, columns)
    dataset = xarray.Dataset({"picture": ((rows, columns), values, facts)}, coords=coordinates)
    return _georeferenced(dataset, scene, rows, columns, {"picture": nodata}).picture.rename(None)


def _dimensions(like: Any) -> tuple[Hashable, Hashable]:
    if like is None:
        return "y", "x"
    rows, columns, *_ = picture_axes(like)
    return rows, columns


def _coordinates(scene: Scene, like: Any, rows: Hashable, columns: Hashable) -> dict[Any, Any]:
    if like is not None:
        return {
            name: coordinate
            for name, coordinate in like.coords.items()
            if coordinate.dims and set(coordinate.dims) <= {rows, columns}
        }
    place = scene.georeference
    if place is None or place.transform[1] or place.transform[3]:
        return {}
    a, _, c, _, e, f = place.transform
    n_rows, n_columns, _ = scene.shape
    return {
        rows: (rows, f + e * (np.arange(n_rows) + 0.5)),
        columns: (columns, c + a * (np.arange(n_columns) + 0.5)),
    }


def _georeferenced(
    dataset: Any, scene: Scene, rows: Hashable, columns: Hashable, nodata: dict[str, float]
) -> Any:
    """Write coordinate system, transform and no-data values (else NaN) as rioxarray has them."""
    dataset = dataset.rio.set_spatial_dims(x_dim=columns, y_dim=rows)
    place = scene.georeference
    if place is not None:
        if place.crs is not None:
            dataset = dataset.rio.write_crs(place.crs)
        dataset = dataset.rio.write_transform(place.affine)
    for name in dataset.data_vars:
        dataset[name] = dataset[name].rio.write_nodata(nodata.get(name, np.nan))
    return dataset
