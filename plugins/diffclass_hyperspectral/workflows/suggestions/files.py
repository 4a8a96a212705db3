"""Files of pixels to label: points on a map or rows of a table.

GeoJSON (RFC 7946) holds longitude and latitude. The field "class" is left empty to be filled in,
for example in a desktop GIS; the file is then a file of labels (`read_labels` with ``grid``). For
a scene whose coordinate system is unknown it holds the scene's own coordinates, each of the pixel's
centre. Pixels of a scene without coordinates are written as a table only.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from diffclass.exceptions import ParameterError
from diffclass.output import replacing
from diffclass_hyperspectral.io.georeference import parsed_crs
from diffclass_hyperspectral.io.libraries import require
from diffclass_hyperspectral.workflows.suggestions.suggested_pixels import SuggestedPixel

ENDINGS = (".geojson", ".json", ".csv")
_WGS84 = "EPSG:4326"
_DECIMALS = 9  # of degrees: a tenth of a millimetre


def check_ending(path: str | os.PathLike[str]) -> None:
    """Raise `ParameterError` unless suggestions can be written under this name."""
    suffix = Path(path).suffix.lower()
    if suffix not in ENDINGS:
        raise ParameterError(
            f"{path}: no format for the ending {suffix or '(none)'!r}; use .geojson or .csv"
        )


def check_places(path: str | os.PathLike[str], *, has_places: bool) -> None:
    """Raise `ParameterError` for GeoJSON of pixels without map coordinates.

    Its points are degrees on the Earth: rows and columns would be read as such.
    """
    if not has_places and Path(path).suffix.lower() != ".csv":
        raise ParameterError(
            f"{path}: the scene has no map coordinates, which GeoJSON needs; write a .csv, which "
            "names rows and columns"
        )


def write_suggestions(
    path: str | os.PathLike[str],
    pixels: Sequence[SuggestedPixel],
    *,
    crs: str | None = None,
    overwrite: bool = False,
) -> None:
    """Write pixels to label as GeoJSON or CSV, whole or not at all.

    Parameters
    ----------
    path : path-like
        ``.geojson``, ``.json`` or ``.csv``.
    pixels : sequence of SuggestedPixel
    crs : str, optional
        Coordinate system of their x and y.
    overwrite : bool, default=False
        Whether a file that exists may be replaced.

    Raises
    ------
    ParameterError
        For another ending, a file that exists, or a coordinate system that needs rasterio.
    """
    check_ending(path)
    check_places(path, has_places=not pixels or pixels[0].x is not None)
    is_table = Path(path).suffix.lower() == ".csv"
    points = [] if is_table else _points(pixels, crs)
    with replacing(path, overwrite=overwrite) as temporary, temporary.open("w", newline="") as file:
        if is_table:
            names = [field.name for field in fields(SuggestedPixel)]
            rows = csv.DictWriter(file, fieldnames=names, lineterminator="\n")
            rows.writeheader()
            rows.writerows(pixel.to_dict() for pixel in pixels)
        else:
            json.dump(_collection(pixels, points), file, indent=1, allow_nan=False)
            file.write("\n")


def _collection(
    pixels: Sequence[SuggestedPixel], points: list[tuple[float, float]]
) -> dict[str, Any]:
    features = [
        {
            "type": "Feature",
            "geometry": {"type": "Point", "coordinates": list(point)},
            "properties": {"class": None} | pixel.to_dict(),
        }
        for pixel, point in zip(pixels, points, strict=True)
    ]
    return {"type": "FeatureCollection", "features": features}


def _points(pixels: Sequence[SuggestedPixel], crs: str | None) -> list[tuple[float, float]]:
    """Return longitude and latitude where they can be told."""
    places = [(p.x, p.y) for p in pixels if p.x is not None and p.y is not None]
    if not pixels or crs is None or crs == _WGS84:
        return places
    warp = require("rasterio.warp", extra="maps")
    xs, ys = zip(*places, strict=True)
    longitudes, latitudes = warp.transform(parsed_crs(crs), parsed_crs(_WGS84), xs, ys)
    return [
        (round(x, _DECIMALS), round(y, _DECIMALS))
        for x, y in zip(longitudes, latitudes, strict=True)
    ]
