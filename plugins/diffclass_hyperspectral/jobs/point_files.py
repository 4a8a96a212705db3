"""Files of pixels to label: GeoJSON, GeoPackage and CSV.

GeoJSON (RFC 7946) holds longitude and latitude, or the scene's own coordinates where their system
is unknown; a GeoPackage the scene's own coordinates. The field "class" is left empty; filled in,
the file is one of labels (`read_labels` with ``grid``). Pixels without coordinates: CSV only.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from diffclass.exceptions import ParameterError
from diffclass.options import check_options
from diffclass.system.libraries import require
from diffclass.system.output import replacing
from diffclass_hyperspectral.io.georeference import check_on_earth, parsed_crs
from diffclass_hyperspectral.io.maps.vector_layers import write_layer
from diffclass_hyperspectral.options import OPTIONS

ENDINGS = (".geojson", ".json", ".gpkg", ".csv")
_WGS84 = "EPSG:4326"
Facts = list[dict[str, Any]]  # of each pixel
_DECIMALS = 9  # of degrees: a tenth of a millimetre


class Pixel(Protocol):
    """Facts of a pixel: row, column, x and y of its centre, None where nobody knows them."""

    def to_dict(self) -> dict[str, Any]:
        """Return all facts."""


def check_ending(path: str | os.PathLike[str]) -> None:
    """Raise `ParameterError` unless pixels can be written under this name."""
    suffix = Path(path).suffix.lower()
    if suffix not in ENDINGS:
        raise ParameterError(
            f"{path}: no format for the ending {suffix or '(none)'!r}; use .geojson, .gpkg or .csv"
        )


def check_places(path: str | os.PathLike[str], *, has_places: bool) -> None:
    """Raise `ParameterError` for points without map coordinates: rows would be read as degrees."""
    if not has_places and Path(path).suffix.lower() != ".csv":
        raise ParameterError(
            f"{path}: the scene has no map coordinates, which points need; write a .csv, which "
            "names rows and columns"
        )


def write_points(
    path: str | os.PathLike[str],
    pixels: Sequence[Pixel],
    *,
    crs: str | None = None,
    overwrite: bool = False,
) -> None:
    """Write pixels to label, whole or not at all.

    Parameters
    ----------
    path : path-like
        ``.geojson``, ``.json``, ``.gpkg`` or ``.csv``.
    pixels : sequence of diffclass.jobs.Suggestion or ValidationPixel
    crs : str, optional
        Coordinate system of their x and y.
    overwrite : bool, default=False
        Whether a file that exists may be replaced.

    Raises
    ------
    ParameterError
        For another ending, a file that exists, or a coordinate system that needs rasterio.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from diffclass_hyperspectral import ValidationPixel, write_points
    >>> pixels = [ValidationPixel(1, row=4, column=7, x=None, y=None)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_points(Path(folder) / "points.csv", pixels)
    ...     print((Path(folder) / "points.csv").read_text(), end="")
    class,id,row,column,x,y
    ,1,4,7,,
    """
    check_options(OPTIONS, overwrite=overwrite)
    check_ending(path)
    facts = [pixel.to_dict() for pixel in pixels]
    check_places(path, has_places=not facts or facts[0]["x"] is not None)
    suffix = Path(path).suffix.lower()
    points = _points(facts, crs) if suffix in (".geojson", ".json") else []
    with replacing(path, overwrite=overwrite) as temporary:
        if suffix == ".csv":
            _write_table(temporary, facts)
        elif suffix == ".gpkg":
            _write_layer(temporary, Path(path).stem, facts, crs)
        else:
            text = json.dumps(_collection(facts, points), indent=1, allow_nan=False)
            temporary.write_text(text + "\n", encoding="utf-8")


def _write_table(path: Path, facts: Facts) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        if not facts:
            return
        rows = csv.DictWriter(file, fieldnames=["class", *facts[0]], lineterminator="\n")
        rows.writeheader()
        rows.writerows(facts)


def _write_layer(path: Path, name: str, facts: Facts, crs: str | None) -> None:
    shapely = require("shapely", extra="maps")
    points = shapely.points([(one["x"], one["y"]) for one in facts]) if facts else np.empty(0)
    columns = {"class": np.array([None] * len(facts), dtype=object)}
    for key in facts[0] if facts else ():
        values = [one[key] for one in facts]
        kind = object if any(isinstance(v, str) or v is None for v in values) else None
        columns[key] = np.array(values, dtype=kind)
    write_layer(
        path, points, columns, driver="GPKG", layer=name, geometry_type="Point",
        crs=None if crs is None else parsed_crs(crs).to_wkt(),
    )  # fmt: skip


def _collection(facts: Facts, points: list[tuple[float, float]]) -> dict[str, Any]:
    features = [
        {
            "type": "Feature",
            "geometry": {"type": "Point", "coordinates": list(point)},
            "properties": {"class": None} | one,
        }
        for one, point in zip(facts, points, strict=True)
    ]
    return {"type": "FeatureCollection", "features": features}


def _points(facts: Facts, crs: str | None) -> list[tuple[float, float]]:
    """Return longitude and latitude where they can be told."""
    places = [(one["x"], one["y"]) for one in facts if one["x"] is not None]
    if not facts or crs is None or crs == _WGS84:
        return places
    warp = require("rasterio.warp", extra="maps")
    xs, ys = zip(*places, strict=True)
    longitudes, latitudes = warp.transform(check_on_earth(crs), parsed_crs(_WGS84), xs, ys)
    return [
        (round(x, _DECIMALS), round(y, _DECIMALS))
        for x, y in zip(longitudes, latitudes, strict=True)
    ]
