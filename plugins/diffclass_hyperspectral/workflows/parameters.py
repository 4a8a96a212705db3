"""Parameters refused before a scene is read: a mistyped option should not cost minutes."""

from __future__ import annotations

from typing import Any

import numpy as np

from diffclass.blocks import BlockClassifier
from diffclass.classifier import DiffusionClassifier
from diffclass.exceptions import ParameterError
from diffclass_hyperspectral.io.scenes import Scene


def check_classifier(classifier: DiffusionClassifier | BlockClassifier, n_pixels: int) -> None:
    """Raise `ParameterError` for what a classifier would refuse when fitted to that many pixels."""
    check_neighbors(classifier.n_neighbors, n_pixels)
    classifier.check_parameters()


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
    check_whole(n_neighbors, "n_neighbors", least=1)
    if n_neighbors >= n_pixels:
        raise ParameterError(
            f"{n_neighbors} neighbors were asked for, but only {n_pixels} pixels have "
            f"data; ask for at most {n_pixels - 1}"
        )


def check_whole(value: Any, name: str, *, least: int) -> None:
    """Raise `ParameterError` unless a parameter is a whole number, at least so large."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least:
        raise ParameterError(f"{name} = {value!r}; it has to be a whole number, at least {least}")
