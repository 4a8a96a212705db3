"""Sizes of classes in shares, pixels or areas of a scene; see `written_sizes`."""

from __future__ import annotations

from functools import partial

import numpy as np

from diffclass.exceptions import ParameterError
from diffclass.jobs import Measures, Prior, written_prior
from diffclass_hyperspectral.io.labels import LabelImage
from diffclass_hyperspectral.io.scenes import Scene

_AREAS = {"m2": 1.0, "ha": 1e4, "km2": 1e6}


def measures_of(scene: Scene) -> Measures:
    """Return in what sizes in a scene may be given: shares of the pixels with data, and areas."""
    wholes = {unit: partial(_area, scene, size) for unit, size in _AREAS.items()}
    examples = "20%, 10-20%, 1200px or 3-4.5ha"
    return Measures({"px": partial(_n_pixels, scene), **wholes}, "the whole scene", examples)


def class_prior_of(text: str, labels: LabelImage, scene: Scene) -> Prior:
    """Return the classifier's ``class_prior`` for the text of ``--class-sizes``.

    `ParameterError`: as of `diffclass.jobs.written_prior`, or areas of pixels without one.
    """
    given = labels.on(scene).ids[scene.valid]
    names = {entry.id: entry.name for entry in labels.table}
    return written_prior(text, names, np.unique(given[given > 0]).tolist(), measures_of(scene))


def _n_pixels(scene: Scene) -> float:
    return float(scene.valid.sum())


def _area(scene: Scene, unit: float) -> float:
    """Return the area of all pixels with data."""
    place = scene.georeference
    area = None if place is None else place.pixel_area
    if area is None:
        raise ParameterError(
            f"{scene.path} does not tell the area of a pixel on the ground, as degrees and Web "
            "Mercator do not; give sizes in % or px"
        )
    return _n_pixels(scene) * area / unit
