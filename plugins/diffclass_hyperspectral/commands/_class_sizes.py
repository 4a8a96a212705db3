"""``--class-sizes``: what is known of the sizes of classes, as text and as the classifier takes it.

"uniform", or NAME=SIZE of some classes, separated by commas. A size is a share of the pixels with
data, a number of them or an area, each as one number or a range: 20%, 10-20%, 1200px, 3-4.5ha.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from diffclass.exceptions import ParameterError

if TYPE_CHECKING:
    from diffclass_hyperspectral.io.labels import LabelImage
    from diffclass_hyperspectral.io.scenes import Scene

Prior: TypeAlias = str | list[float] | tuple[list[float], list[float]]
UNIFORM = "uniform"
_AREAS = {"m2": 1.0, "ha": 1e4, "km2": 1e6}
_NUMBER = r"(\d+(?:\.\d*)?|\.\d+)"
_SIZE = re.compile(rf"{_NUMBER}(?:-{_NUMBER})?\s*(%|px|{'|'.join(_AREAS)})")
_ROUNDED = 0.05  # by which exact shares of all classes may miss the whole
_EXAMPLES = "20%, 10-20%, 1200px or 3-4.5ha"


def class_prior_of(text: str, labels: LabelImage, scene: Scene) -> Prior:
    """Return the classifier's ``class_prior`` for sizes given as text.

    Parameters
    ----------
    text : str
        See the module.
    labels : LabelImage
        Classes are called by their names or ids; those that are not named may have any size.
    scene : Scene
        Of which they are shares.

    Returns
    -------
    "uniform", or shares of the labelled classes in the order of their ids: one for each if all are
    exact and add up to the whole, but for rounding; otherwise the least and the most.

    Raises
    ------
    ParameterError
        For text that is no size, for classes that are unknown, named twice or not labelled, and for
        areas in a scene whose pixels have none.
    """
    import numpy as np

    if text.strip() == UNIFORM:
        return UNIFORM
    given = labels.on(scene).ids[scene.valid]
    ids = np.unique(given[given > 0]).tolist()
    found: dict[int, tuple[float, float]] = {}
    for entry in text.split(","):
        name, is_given, size = (part.strip() for part in entry.rpartition("="))
        if not is_given:
            raise ParameterError(
                f"--class-sizes: {entry.strip()!r} is not NAME=SIZE, such as corn=10-20%; or give "
                f"{UNIFORM!r}"
            )
        class_id = _id_of(name, labels, ids)
        if class_id in found:
            raise ParameterError(f"--class-sizes: {name!r} is there twice")
        found[class_id] = _shares(name, size, scene)
    least, most = ([found.get(class_id, (0.0, 1.0))[end] for class_id in ids] for end in (0, 1))
    return least if least == most and abs(sum(least) - 1) <= _ROUNDED else (least, most)


def _id_of(name: str, labels: LabelImage, labelled: Sequence[int]) -> int:
    named = {entry.name: entry.id for entry in labels.table}
    class_id = named.get(name, int(name) if name.isdecimal() else None)
    if class_id is None or class_id not in labels.table.ids:
        raise ParameterError(
            f"--class-sizes: no class {name!r} in {labels.path}; it has "
            f"{', '.join(f'{entry.id} {entry.name}' for entry in labels.table)}"
        )
    if class_id not in labelled:
        raise ParameterError(
            f"--class-sizes: class {name!r} has no label on a pixel with data, so nothing can be "
            "mapped as it; label a pixel of it, or leave its size out"
        )
    return class_id


def _shares(name: str, size: str, scene: Scene) -> tuple[float, float]:
    """Return the least and the most share of the pixels with data."""
    given = _SIZE.fullmatch(size)
    if given is None:
        raise ParameterError(f"--class-sizes: {size!r} of {name!r} is no size; write {_EXAMPLES}")
    least, most = float(given[1]), float(given[2] or given[1])
    whole = 100.0 if given[3] == "%" else _whole(given[3], scene)
    if not least <= most or not 0 < most <= whole * (1 + 1e-9):
        raise ParameterError(
            f"--class-sizes: {size!r} of {name!r} has to end above 0, not before it begins, and "
            f"at most at the whole scene, {whole:.6g}{given[3]}"
        )
    return least / whole, min(most / whole, 1.0)


def _whole(unit: str, scene: Scene) -> float:
    """Return the size of all pixels with data."""
    n_pixels = float(scene.valid.sum())
    if unit == "px":
        return n_pixels
    place = scene.georeference
    area = None if place is None else place.pixel_area
    if area is None:
        raise ParameterError(
            f"--class-sizes: {scene.path} does not state the area of a pixel in square metres; "
            "give sizes in % or px"
        )
    return n_pixels * area / _AREAS[unit]
