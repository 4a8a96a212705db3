"""A scale bar under a picture whose pixels have a known size on the ground."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from diffclass.exceptions import DiffclassError
from diffclass_hyperspectral.io.georeference import (
    Georeference,
    georeference_of,
    parsed_crs,
)
from diffclass_hyperspectral.io.libraries import require

_DEGREE_METRES = 111_195.0  # of a great circle of the mean earth, radius 6371 km
_MARGIN = 12
_THICKNESS = 5
_STRIP = 34
_FONT_SIZE = 13


def metres_of_a_pixel(place: Georeference, n_rows: int) -> float | None:
    """Return the width of a pixel on the ground in metres, or None where it is not known.

    Degrees are converted at the latitude of the middle of the picture.

    Examples
    --------
    >>> metres_of_a_pixel(Georeference((30.0, 0, 5e5, 0, -30.0, 5.4e6), "EPSG:32633"), 10)
    30.0
    """
    try:
        crs = parsed_crs(place.crs)
    except DiffclassError:
        return None
    width = math.hypot(place.transform[0], place.transform[3])
    if crs is None:
        return None
    if crs.is_geographic:
        latitude = place.transform[5] + place.transform[4] * n_rows / 2
        return width * _DEGREE_METRES * math.cos(math.radians(latitude))
    return width * crs.linear_units_factor[1] if crs.is_projected else None


def bar_length(metres_of_dot: float, n_dots: int) -> float:
    """Return the longest of 1, 2, 5, 10, ... metres that is a third of the picture at most.

    Parameters
    ----------
    metres_of_dot : float
        Ground width of a dot of the screen.
    n_dots : int
        Width of the picture.

    Examples
    --------
    >>> bar_length(1.0, 800)
    200.0
    """
    most = metres_of_dot * n_dots / 3
    power = 10.0 ** math.floor(math.log10(most))
    return max(step * power for step in (1, 2, 5) if step * power <= most)


def add_scale_bar(
    path: Path, map_info: Sequence[str] | None, shape: Sequence[int], *, dots: float
) -> None:
    """Put a bar and its length under a PNG; leave it as it is where the scale is not known.

    Parameters
    ----------
    path : Path
        The PNG, changed in place.
    map_info : sequence of str or None
    shape : (int, int)
        Rows and columns of the map.
    dots : float
        Dots of the screen per pixel of the map.
    """
    place = georeference_of(map_info)
    metres = None if place is None else metres_of_a_pixel(place, shape[0])
    if not metres or not math.isfinite(metres) or metres < 0:
        return
    length = bar_length(metres / dots, round(shape[1] * dots))
    images, draws = require("PIL.Image"), require("PIL.ImageDraw")
    font = require("PIL.ImageFont").load_default(size=_FONT_SIZE)
    with images.open(path) as picture:
        longer = images.new("RGB", (picture.width, picture.height + _STRIP), "white")
        longer.paste(picture.convert("RGB"), (0, 0))
    top, end = longer.height - _STRIP + 8, _MARGIN + round(length * dots / metres)
    draw = draws.Draw(longer)
    draw.rectangle((_MARGIN, top, end - 1, top + _THICKNESS - 1), fill="black")
    draw.text((end + 8, top + _THICKNESS / 2), _text(length), fill="black", font=font, anchor="lm")
    longer.save(path, format="PNG")


def _text(metres: float) -> str:
    return f"{metres / 1000:g} km" if metres >= 1000 else f"{metres:g} m"
