"""Which pixels to label next, and files of them: points on a map or rows of a table.

GeoJSON (RFC 7946) holds longitude and latitude. The field "class" is left empty to be filled in,
say in a desktop GIS; the file is then one of labels (`read_labels` with ``grid``). Of a scene whose
coordinate system is unknown it holds the scene's own coordinates, of one without any the column
and the row, both of the pixel's centre.
"""

from __future__ import annotations

import csv
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from diffclass import diffuse_labels, suggest
from diffclass.exceptions import DataError, ParameterError
from diffclass.output import replacing
from diffclass_hyperspectral.io.georeference import Georeference, georeference_of, parsed_crs
from diffclass_hyperspectral.io.label_images import LabelImage
from diffclass_hyperspectral.io.optional import require
from diffclass_hyperspectral.io.scenes import Scene
from diffclass_hyperspectral.workflows.classification import SceneClassification

ENDINGS = (".geojson", ".json", ".csv")
_WGS84 = "EPSG:4326"
_DECIMALS = 9  # of degrees: a tenth of a millimetre


@dataclass(frozen=True)
class SuggestedPixel:
    """A pixel to label, and what is thought of it now.

    Attributes
    ----------
    rank : int
        From 1, the best first.
    row, column : int
        From 0.
    x, y : float or None
        Of its centre, in the scene's coordinate system; None where the scene has none.
    rule : str
    score : float
        Larger = more worth a label; scales differ from rule to rule.
    current_class : int
        Class id that it has now; 0 where no label has arrived.
    current_name : str
        That class's name; empty for 0.
    margin : float
        Of that class, 0 to 1.
    """

    rank: int
    row: int
    column: int
    x: float | None
    y: float | None
    rule: str
    score: float
    current_class: int
    current_name: str
    margin: float


def suggest_pixels(
    scene: Scene,
    labels: LabelImage,
    result: SceneClassification,
    n_pixels: int = 10,
    *,
    rule: str = "hybrid",
    min_distance: float = 0.0,
) -> list[SuggestedPixel]:
    """Choose pixels to label next.

    Parameters
    ----------
    scene : Scene
    labels : LabelImage
        The labels that there are.
    result : SceneClassification
        By `classify_scene`, with all these labels.
    n_pixels : int, default=10
        How many.
    rule : str, default="hybrid"
        See `diffclass.acquisition`.
    min_distance : float, default=0
        Pixels between the centres of two of them, at least.

    Returns
    -------
    list of SuggestedPixel
        Unlabelled pixels with data; fewer than asked for where no more lie far enough apart.

    Raises
    ------
    ParameterError
        For an unknown rule or numbers out of range.
    DataError
        Where every pixel with data is labelled.
    """
    pixels = np.flatnonzero(np.isfinite(result.margin.ravel()))
    ids = labels.ids.ravel()[pixels]
    if (ids > 0).all():
        raise DataError(f"{labels.path}: every pixel with data is labelled; nothing to suggest")
    classifier = result.model.classifier
    diffusion = diffuse_labels(
        classifier.operator_,
        np.where(ids > 0, ids, -1),
        label_mode=classifier.label_mode,
        tau=classifier.tau_,
    )
    places = np.column_stack(np.unravel_index(pixels, scene.shape[:2]))
    found = suggest(
        classifier.operator_,
        diffusion,
        np.flatnonzero(ids > 0),
        n_pixels,
        rule=rule,
        coordinates=places,
        min_distance=min_distance,
    )
    return [
        _pixel(rank, (int(row), int(column)), float(score), scene, result, found.rule)
        for rank, ((row, column), score) in enumerate(
            zip(places[found.points], found.scores, strict=True), start=1
        )
    ]


def _pixel(
    rank: int,
    place: tuple[int, int],
    score: float,
    scene: Scene,
    result: SceneClassification,
    rule: str,
) -> SuggestedPixel:
    x, y = _centre(georeference_of(scene.map_info), place)
    class_id = int(result.class_map[place])
    name = result.table[class_id].name if class_id else ""
    margin = float(result.margin[place])
    return SuggestedPixel(rank, *place, x, y, rule, score, class_id, name, margin)


def _centre(
    georeference: Georeference | None, place: tuple[int, int]
) -> tuple[float | None, float | None]:
    if georeference is None:
        return None, None
    a, b, c, d, e, f = georeference.transform
    row, column = place[0] + 0.5, place[1] + 0.5
    return a * column + b * row + c, d * column + e * row + f


def check_ending(path: str | os.PathLike[str]) -> None:
    """Raise `ParameterError` unless suggestions can be written under this name."""
    suffix = Path(path).suffix.lower()
    if suffix not in ENDINGS:
        raise ParameterError(
            f"{path}: no format for the ending {suffix or '(none)'!r}; use .geojson or .csv"
        )


def write_suggestions(
    path: str | os.PathLike[str],
    pixels: list[SuggestedPixel],
    *,
    crs: str | None = None,
    overwrite: bool = False,
) -> None:
    """Write pixels to label as GeoJSON or CSV, whole or not at all.

    Parameters
    ----------
    path : path-like
        ``.geojson``, ``.json`` or ``.csv``.
    pixels : list of SuggestedPixel
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
    is_table = Path(path).suffix.lower() == ".csv"
    points = [] if is_table else _points(pixels, crs)
    with replacing(path, overwrite=overwrite) as temporary, temporary.open("w", newline="") as file:
        if is_table:
            names = [*SuggestedPixel.__annotations__]
            rows = csv.DictWriter(file, fieldnames=names, lineterminator="\n")
            rows.writeheader()
            rows.writerows(as_dict(pixel) for pixel in pixels)
        else:
            json.dump(_collection(pixels, points), file, indent=1, allow_nan=False)
            file.write("\n")


def as_dict(pixel: SuggestedPixel) -> dict[str, Any]:
    """Return a pixel's facts by name, in values that JSON can hold."""
    return {name: getattr(pixel, name) for name in SuggestedPixel.__annotations__}


def _collection(pixels: list[SuggestedPixel], points: list[tuple[float, float]]) -> dict[str, Any]:
    features = [
        {
            "type": "Feature",
            "geometry": {"type": "Point", "coordinates": list(point)},
            "properties": {"class": None} | as_dict(pixel),
        }
        for pixel, point in zip(pixels, points, strict=True)
    ]
    return {"type": "FeatureCollection", "features": features}


def _points(pixels: list[SuggestedPixel], crs: str | None) -> list[tuple[float, float]]:
    """Return longitude and latitude where they can be told."""
    places = [
        (pixel.column + 0.5, pixel.row + 0.5) if pixel.x is None or pixel.y is None
        else (pixel.x, pixel.y)
        for pixel in pixels
    ]  # fmt: skip
    if not pixels or pixels[0].x is None or crs is None or crs == _WGS84:
        return places
    warp = require("rasterio.warp", extra="maps")
    xs, ys = zip(*places, strict=True)
    longitudes, latitudes = warp.transform(parsed_crs(crs), parsed_crs(_WGS84), xs, ys)
    return [
        (round(x, _DECIMALS), round(y, _DECIMALS))
        for x, y in zip(longitudes, latitudes, strict=True)
    ]


def suggestion_lines(pixels: list[SuggestedPixel]) -> list[str]:
    """Return pixels to label as lines to read."""
    lines = [f"{'':>4}  {'row':>6}  {'column':>6}  {'score':>10}  {'margin':>6}  class now"]
    lines += [
        f"{pixel.rank:>4}  {pixel.row:>6}  {pixel.column:>6}  {pixel.score:>10.4g}  "
        f"{pixel.margin:>6.3f}  {pixel.current_class} {pixel.current_name}".rstrip()
        for pixel in pixels
    ]
    return lines
