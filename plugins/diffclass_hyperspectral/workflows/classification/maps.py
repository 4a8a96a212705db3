"""A classification as files: class map, posteriors and margins, with the scene's coordinates."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import ParameterError
from diffclass_hyperspectral.io.maps import place_of, write_class_map, write_raster
from diffclass_hyperspectral.io.rasters import ComputedRaster
from diffclass_hyperspectral.io.scenes import Scene
from diffclass_hyperspectral.workflows.classification.scene_classification import (
    SceneClassification,
)


def write_maps(
    path: str | os.PathLike[str],
    result: SceneClassification,
    scene: Scene,
    *,
    probability: str | os.PathLike[str] | None = None,
    margin: str | os.PathLike[str] | None = None,
    ambiguity: str | os.PathLike[str] | None = None,
    novelty: str | os.PathLike[str] | None = None,
    level: float = 0.9,
    overwrite: bool = False,
) -> tuple[Path, ...]:
    """Write the class map of a scene, and what else is asked for, with its coordinates.

    Maps of a scene in its sensor's geometry are orthorectified where the format carries
    coordinates; see `write_class_map`.

    Parameters
    ----------
    path : path-like
        The class map.
    result : SceneClassification
    scene : Scene
        That was classified.
    probability, margin : path-like, optional
        Calibrated probabilities, one band per class, and margins.
    ambiguity : path-like, optional
        Number of classes that may be each pixel's own; see `SceneClassification.set_sizes`.
    novelty : path-like, optional
        Distances to the training pixels of a model; see `SceneClassification`.
    level : float, default=0.9
        Of these sets.
    overwrite : bool, default=False
        Whether files that exist may be replaced.

    Returns
    -------
    tuple of Path
        The files written.

    Raises
    ------
    ParameterError
        Where nothing can be written there, or no model was applied that has a novelty.
    """
    if novelty is not None and result.novelty is None:
        raise ParameterError(f"{novelty}: novelty is that of a model on another scene; apply one")

    def place(file: str | os.PathLike[str]) -> dict[str, Any]:
        return {"overwrite": overwrite, **place_of(scene, file)}

    names = [result.names[int(i)] for i in result.class_ids]
    files = write_class_map(path, result.class_map, result.table, **place(path))
    if probability is not None:
        bands = {"band_names": names, **place(probability)}
        files += write_raster(probability, result.probabilities, **bands)
    if margin is not None:
        files += write_raster(margin, result.margin, band_names=["margin"], **place(margin))
    if novelty is not None and result.novelty is not None:
        files += write_raster(novelty, result.novelty, band_names=["novelty"], **place(novelty))
    if ambiguity is not None:
        bands = {"band_names": [f"classes at {level:g}"], **place(ambiguity)}
        files += write_raster(ambiguity, _set_sizes(result, level), **bands)
    return files


def _set_sizes(result: SceneClassification, level: float) -> ComputedRaster:
    """Return how many classes may be each pixel's own, NaN where the scene has no data."""
    calibration, probabilities = result.model.classifier.calibration_, result.probabilities

    def read(rows: slice) -> np.ndarray:
        sizes = calibration.sets(probabilities[rows], level=level).sum(axis=-1)
        return np.where(np.isfinite(result.margin[rows]), sizes, np.nan)

    return ComputedRaster(result.raw_posteriors.shape[:2], np.float32, read)
