"""What is known of the sizes of classes, as text and as shares of the pixels with data.

"uniform", or NAME=SIZE of some classes, separated by commas. A size is a share of the pixels with
data, a number of them or an area, each as one number or a range: 20%, 10-20%, 1200px, 3-4.5ha.
Commands take it as ``--class-sizes``, the relabel page in a field.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

from diffclass.exceptions import ParameterError

if TYPE_CHECKING:
    from diffclass_hyperspectral.io.labels import LabelImage
    from diffclass_hyperspectral.io.scenes import Scene

Uniform = Literal["uniform"]
Prior = str | list[float] | tuple[list[float], list[float]]
_AREAS = {"m2": 1.0, "ha": 1e4, "km2": 1e6}
_NUMBER = r"(\d+(?:\.\d*)?|\.\d+)"
_SIZE = re.compile(rf"{_NUMBER}(?:-{_NUMBER})?\s*(%|px|{'|'.join(_AREAS)})")
_EXAMPLES = "20%, 10-20%, 1200px or 3-4.5ha"


class GivenSize(NamedTuple):
    """The size of a class: the least and the most share of the pixels with data, 0 to 1."""

    class_id: int
    least: float
    most: float
    written: str  # as it was given


def sizes_of(text: str, names: Mapping[int, str], scene: Scene) -> Uniform | list[GivenSize]:
    """Return the sizes that a text gives; see the module.

    Parameters
    ----------
    text : str
    names : mapping of int to str
        The classes by id. They are called by their names or ids.
    scene : Scene
        Of which sizes are shares.

    Raises
    ------
    ParameterError
        For text that is no size, for classes that are unknown or named twice, and for areas in a
        scene whose pixels have none.
    """
    if text.strip() == "uniform":
        return "uniform"
    found: dict[int, GivenSize] = {}
    for entry in text.split(","):
        name, is_given, size = (part.strip() for part in entry.rpartition("="))
        if not is_given:
            raise ParameterError(
                f"{entry.strip()!r} is not NAME=SIZE, such as corn=10-20%; or give 'uniform'"
            )
        class_id = _id_of(name, names)
        if class_id in found:
            raise ParameterError(f"{name!r} is there twice")
        found[class_id] = GivenSize(class_id, *_shares(name, size, scene), size)
    return [*found.values()]


def sizes_as_text(sizes: Iterable[tuple[int, str]], names: Mapping[int, str]) -> str:
    """Return the text of sizes, each a class and what was written of it; see `sizes_of`.

    A class whose name has a comma goes by its id.

    >>> sizes_as_text([(1, "10-20%"), (2, "3ha")], {1: "corn", 2: "oats, wheat"})
    'corn=10-20%,2=3ha'
    """
    return ",".join(f"{i if ',' in names[i] else names[i]}={written}" for i, written in sizes)


def class_prior_of(text: str, labels: LabelImage, scene: Scene) -> Prior:
    """Return the classifier's ``class_prior`` for the text of ``--class-sizes``.

    Classes that are not named may have any size.

    Raises
    ------
    ParameterError
        As `sizes_of`, and for classes without a label.
    """
    import numpy as np

    from diffclass.label_diffusion import prior_of

    names = {entry.id: entry.name for entry in labels.table}
    try:
        sizes = sizes_of(text, names, scene)
    except ParameterError as error:
        raise ParameterError(f"--class-sizes: {error}") from None
    if isinstance(sizes, str):
        return sizes
    given = labels.on(scene).ids[scene.valid]
    ids = np.unique(given[given > 0]).tolist()
    for size in sizes:
        if size.class_id not in ids:
            raise ParameterError(
                f"--class-sizes: class {names[size.class_id]!r} has no label on a pixel with data, "
                "so nothing can be mapped as it; label a pixel of it, or leave its size out"
            )
    known = {size.class_id: (size.least, size.most) for size in sizes}
    prior = prior_of([known.get(class_id) for class_id in ids])
    _check_all_have_room(prior)
    return prior


def _check_all_have_room(prior: Prior) -> None:
    """Refuse sizes that the classes with labels cannot have between them."""
    if not isinstance(prior, tuple):
        return
    least, most = (100 * sum(shares) for shares in prior)
    if not least - 1e-7 <= 100 <= most + 1e-7:
        raise ParameterError(
            f"--class-sizes: the classes with labels have {least:.4g} to {most:.4g} % of the "
            "pixels between them; 100 % has to lie in that range"
        )


def _id_of(name: str, names: Mapping[int, str]) -> int:
    by_id = {str(class_id): class_id for class_id in names}
    class_id = (by_id | {named: class_id for class_id, named in names.items()}).get(name)
    if class_id is None:
        there_are = ", ".join(f"{class_id} {named}" for class_id, named in names.items())
        raise ParameterError(f"no class {name!r}; there are {there_are or 'none'}")
    return class_id


def _shares(name: str, size: str, scene: Scene) -> tuple[float, float]:
    """Return the least and the most share of the pixels with data."""
    given = _SIZE.fullmatch(size)
    if given is None:
        raise ParameterError(f"{size!r} of {name!r} is no size; write {_EXAMPLES}")
    least, most = float(given[1]), float(given[2] or given[1])
    whole = 100.0 if given[3] == "%" else _whole(given[3], scene)
    is_inside = least <= most and 0 < most <= whole * (1 + 1e-9)
    if not is_inside or most / whole == 0:  # the share may be too small for a float
        raise ParameterError(
            f"{size!r} of {name!r} has to end above 0, not before it begins, and at most at the "
            f"whole scene, {whole:.6g}{given[3]}"
        )
    if least == 0 and most >= whole:
        raise ParameterError(f"{size!r} of {name!r} is any size; leave it out")
    return min(least / whole, 1.0), min(most / whole, 1.0)


def _whole(unit: str, scene: Scene) -> float:
    """Return the size of all pixels with data."""
    n_pixels = float(scene.valid.sum())
    if unit == "px":
        return n_pixels
    place = scene.georeference
    area = None if place is None else place.pixel_area
    if area is None:
        raise ParameterError(
            f"{scene.path} does not state the area of a pixel in square metres; give sizes in % "
            "or px"
        )
    return n_pixels * area / _AREAS[unit]
