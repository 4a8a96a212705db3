"""Parameters refused before a scene is read: a mistyped option should not cost minutes."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from diffclass.blocks import BlockClassifier
from diffclass.classifier import DiffusionClassifier
from diffclass.clustering import DiffusionClustering
from diffclass.embedding import DiffusionMap
from diffclass.exceptions import ParameterError
from diffclass_hyperspectral.io.scenes import Scene

_MOST_ALPHA = 4
_LEAST_FLOAT, _INFINITY = 5e-324, float("inf")


def check_classifier(classifier: DiffusionClassifier | BlockClassifier, n_pixels: int) -> None:
    """Raise `ParameterError` for what a classifier would refuse when fitted to that many pixels."""
    check_neighbors(classifier.n_neighbors, n_pixels)
    classifier.check_parameters()


def check_map(model: DiffusionMap, n_pixels: int) -> None:
    """Raise `ParameterError` for what an embedding would refuse when fitted to that many pixels."""
    if not isinstance(model.n_components, str):
        _check_whole(model.n_components, "n_components", least=1)
        if model.n_components >= n_pixels:
            raise ParameterError(
                f"n_components = {model.n_components}; {n_pixels} points have at most "
                f"{n_pixels - 1} coordinates"
            )
    _check_whole(model.n_neighbors, "n_neighbors", least=1)
    for name in ("alpha", "time", "bandwidth"):
        value = getattr(model, name)
        if isinstance(value, str) and name != "alpha":
            continue
        least = _LEAST_FLOAT if name == "bandwidth" else 0
        if not (isinstance(value, Real) and least <= float(value) < _INFINITY):
            bound = "above 0" if name == "bandwidth" else "at least 0"
            raise ParameterError(f"{name} = {value!r}; it has to be a number {bound}")
    if not isinstance(model.alpha, str) and model.alpha > _MOST_ALPHA:
        raise ParameterError(
            f"alpha = {model.alpha!r}; affinities are divided by densities to this power, which "
            f"beyond {_MOST_ALPHA} leaves only the emptiest points: take 0 to 1"
        )


def check_clustering(model: DiffusionClustering, n_pixels: int) -> None:
    """Raise `ParameterError` for a number of clusters refused when fitted to that many pixels."""
    if isinstance(model.n_clusters, str):
        return  # checked with the points
    _check_whole(model.n_clusters, "n_clusters", least=1)
    if model.n_clusters > n_pixels:
        raise ParameterError(
            f"{model.n_clusters} clusters were asked for, but only {n_pixels} pixels have data; "
            f"ask for at most {n_pixels}"
        )


def check_components(n_components: int | None, scene: Scene) -> None:
    """Raise `ParameterError` for more components than the scene has good bands."""
    n_bands = int(scene.band_mask.sum())
    if n_components is not None and n_components > n_bands:
        raise ParameterError(
            f"{n_components} components were asked for, but {scene.path} has {n_bands} good "
            f"bands; ask for at most {n_bands}"
        )


def check_neighbors(n_neighbors: Any, n_pixels: int) -> None:
    """Raise `ParameterError` unless there are more pixels with data than neighbours."""
    _check_whole(n_neighbors, "n_neighbors", least=1)
    if n_neighbors >= n_pixels:
        raise ParameterError(
            f"{n_neighbors} neighbors were asked for, but only {n_pixels} pixels have "
            f"data; ask for at most {n_pixels - 1}"
        )


def _check_whole(value: Any, name: str, *, least: int) -> None:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least:
        raise ParameterError(f"{name} = {value!r}; it has to be a whole number, at least {least}")
