"""Labels from polygons, lines and points: GeoJSON, shapefiles, GeoPackages, FlatGeobuf, KML.

A file is read by ``pyogrio``, its coordinates are brought into the scene's system, and a pixel
belongs to the polygon that its centre lies in (``rasterio.features.rasterize``; lines and points
mark the pixels that they pass). Numbers of the class field are the class ids; texts are numbered
1, 2, ... in alphabetical order and become the names. A field "class_name" or FIELD + "_name" names
numbered classes; a field "color" ("#rrggbb") gives colours.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import DataError, warn_user
from diffclass.libraries import reading, require, require_file
from diffclass.remote_paths import RemotePath, place_of
from diffclass.targets import MOST_CLASSES
from diffclass_hyperspectral.io.gdal_messages import quiet
from diffclass_hyperspectral.io.georeference import (
    Georeference,
    parsed_crs,
    require_overlap,
    required_place,
    same_crs,
)
from diffclass_hyperspectral.io.labels.class_table import ClassTable, default_name
from diffclass_hyperspectral.io.labels.label_images import Grid, LabelImage
from diffclass_hyperspectral.io.readers import Color, color_of

_USUAL_FIELDS = ("class", "class_id", "classname", "class_name", "label", "category", "id_class")
ENDINGS = (".geojson", ".json", ".shp", ".gpkg", ".fgb", ".kml")


@dataclass(frozen=True, eq=False)
class _Features:
    """Geometries of one layer, in its own coordinates, and the fields of each."""

    path: Path
    shapes: np.ndarray
    fields: dict[str, np.ndarray]
    crs: str | None


def read_vector_labels(
    path: str | os.PathLike[str],
    grid: Grid,
    *,
    class_field: str | None = None,
    layer: str | None = None,
    known: ClassTable | None = None,
) -> LabelImage:
    """Put the classes of a vector file on the pixels of a scene; see `read_labels`.

    The only field, or else one that is called "class", "class_id", "label" and the like, holds the
    class by default; of KML it may be the placemark's name. Where shapes of several classes cover a
    pixel the last one wins, with a warning.
    """
    features, target = _features_on(grid, path, layer)
    place = features.path
    field = _class_field(features, class_field)
    ids, names = _ids(features, field, known)
    shapes = _transformed(features, target)
    kept = (ids > 0) & _drawn(shapes)
    if not kept.any():
        raise DataError(f"{place}: no shape has a class in the field {field!r}; fill it in")
    picture, first = (
        _rasterized(place, some, numbers, grid, target)
        for some, numbers in ((shapes[kept], ids[kept]), (shapes[kept][::-1], ids[kept][::-1]))
    )
    disputed = int(np.count_nonzero(picture != first))
    if disputed:
        warn_user(
            f"{path}: shapes of different classes cover {disputed} pixels; the later one wins",
            UserWarning,
        )
    colors = _colors(features, ids)
    labels = LabelImage.from_array(picture, names=names, colors=colors, path=place)
    return replace(labels, format="vector", map_info=grid.map_info)


def classes_of_fields(
    path: Path, fields: dict[str, np.ndarray], class_field: str | None, known: ClassTable | None
) -> tuple[str, np.ndarray, dict[int, str]]:
    """Return the field that holds the class, the id in each entry, and the classes' names."""
    features = _Features(path, np.empty(0), fields, None)
    field = _class_field(features, class_field)
    return field, *_ids(features, field, known)


def numbered_shapes(path: str | os.PathLike[str], grid: Grid) -> np.ndarray:
    """Return which shape of a vector file each pixel of a scene lies in.

    Parameters
    ----------
    path : path-like
        As `read_vector_labels`; its fields do not count.
    grid : Scene or LookupTable
        With map coordinates.

    Returns
    -------
    ndarray of int of shape (rows, columns)
        Its number from 1, in the order of the file; of several the last; 0 in none.

    Raises
    ------
    DataError
        Where the file is damaged, has several layers or no shape, or does not overlap the grid.
    """
    features, target = _features_on(grid, path, None)
    place = features.path
    shapes = _transformed(features, target)
    kept = _drawn(shapes)
    if not kept.any():
        raise DataError(f"{place}: holds no shape; draw one, or name another file")
    return _rasterized(place, shapes[kept], 1 + np.flatnonzero(kept), grid, target)


def is_vector(path: str | os.PathLike[str]) -> bool:
    """Tell whether the name or content is that of a vector file."""
    place = place_of(path)
    if place.suffix.lower() in ENDINGS:
        return True
    if not place.is_file():
        return False
    with place.open("rb") as stream:
        return stream.read(16).startswith((b"SQLite format 3\x00", b"fgb\x03fgb"))


def _features_on(
    grid: Grid, path: str | os.PathLike[str], layer: str | None
) -> tuple[_Features, Georeference]:
    """Return the shapes of a file, checked, and where the grid that they are put on lies."""
    place = place_of(path)
    require_file(place)
    _check_shapefile(place)
    target = required_place(
        grid.map_info,
        grid.path,
        purpose=f"to put {place.name} on",
        cure="give an image of the scene's rows and columns",
    )
    return _read(place, layer), target


def _drawn(shapes: np.ndarray) -> np.ndarray:
    """Return which shapes are there and not empty."""
    return np.array([shape is not None and not shape.is_empty for shape in shapes], dtype=bool)


def _read(path: Path, layer: str | None) -> _Features:
    pyogrio = require("pyogrio", extra="maps")
    raw = require("pyogrio.raw", extra="maps")
    shapely = require("shapely", extra="maps")
    with reading(path, "a vector file"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of third coordinates and the like
        source = str(path)  # of a Path pyogrio would take an address for a file
        chosen = _layer(path, [str(n) for n, kind in pyogrio.list_layers(source) if kind], layer)
        meta, _, geometry, columns = raw.read(source, layer=chosen, force_2d=True)
        shapes = shapely.from_wkb(geometry)
        bounds = shapely.total_bounds(shapes)
        if len(shapes) and not np.isfinite(bounds).all():
            raise DataError(f"{path}: coordinates that are missing or not finite; repair the file")
        return _Features(
            path, shapes, dict(zip(map(str, meta["fields"]), columns, strict=True)), meta["crs"]
        )


def _check_shapefile(path: Path) -> None:
    """Raise `DataError` for a ``.shp`` that is cut short; GDAL leaves its last shapes out."""
    if path.suffix.lower() != ".shp" or isinstance(path, RemotePath):
        return
    with path.open("rb") as stream:
        head = stream.read(100)
    stated = 2 * int.from_bytes(head[24:28], "big")
    if len(head) < 100 or head[:4] != b"\x00\x00\x27\x0a" or path.stat().st_size < stated:
        raise DataError(f"{path}: no shapefile, or cut short; fetch it again with .shx and .dbf")


def _layer(path: Path, names: list[str], layer: str | None) -> str:
    if layer is not None and layer not in names:
        raise DataError(f"{path}: no layer {layer!r}; it has {', '.join(names) or 'none'}")
    if layer is None and len(names) != 1:
        raise DataError(
            f"{path}: {len(names)} layers with shapes ({', '.join(names)}); name one, as in LAYER/"
            "FIELD"
        )
    return names[0] if layer is None else layer


def _class_field(features: _Features, field: str | None) -> str:
    known = ", ".join(features.fields) or "none"
    if field is not None:
        if field not in features.fields:
            raise DataError(f"{features.path}: no field {field!r}; it has {known}")
        return field
    by_lower = {name.lower(): name for name in reversed(features.fields)}
    known_names = (*_USUAL_FIELDS, *(["name"] if features.path.suffix.lower() == ".kml" else []))
    usual = [by_lower[name] for name in known_names if name in by_lower]
    if usual:
        return usual[0]
    if len(features.fields) == 1:
        return next(iter(features.fields))
    raise DataError(f"{features.path}: which field holds the class? It has {known}; name one")


def _ids(
    features: _Features, field: str, known: ClassTable | None
) -> tuple[np.ndarray, dict[int, str]]:
    """Return the class id of every shape, 0 for none, and the names of the classes."""
    values = features.fields[field]
    if values.dtype.kind in "biuf":
        ids = _whole_numbers(features.path, field, values)
        names = _names_beside(features, field, ids)
    else:
        ids, names = _numbered(features.path, field, values, known)
    n_classes = len(np.unique(ids[ids > 0]))
    if n_classes > MOST_CLASSES:
        raise DataError(
            f"{features.path}: the field {field!r} has {n_classes} different values, more than "
            f"{MOST_CLASSES} classes; name the field that holds the class"
        )
    return ids, names


def _whole_numbers(path: Path, field: str, values: np.ndarray) -> np.ndarray:
    numbers = values.astype(np.float64)
    numbers[np.isnan(numbers)] = 0
    wrong = (numbers != np.rint(numbers)) | (numbers < -1) | (numbers > np.iinfo(np.int32).max)
    if wrong.any():
        raise DataError(
            f"{path}: the field {field!r} holds {numbers[wrong][0]:g}; class ids are 1, 2, ... and "
            "0, -1 or empty for none"
        )
    return np.maximum(numbers, 0).astype(np.int32)


def _numbered(
    path: Path, field: str, values: np.ndarray, known: ClassTable | None
) -> tuple[np.ndarray, dict[int, str]]:
    texts = [_text_of(value) for value in values]
    if any(texts) and all(text.isdecimal() for text in texts if text):
        numbers = np.array([float(text or 0) for text in texts])
        ids = _whole_numbers(path, field, numbers)
        return ids, {int(i): default_name(int(i)) for i in ids if i}
    by_name = _numbers(set(texts) - {""}, known)
    ids = np.array([by_name.get(text, 0) for text in texts], dtype=np.int32)
    return ids, {number: text for text, number in by_name.items()}


def _numbers(names: set[str], known: ClassTable | None) -> dict[str, int]:
    """Return the number of each class that has only a name."""
    numbers = {} if known is None else {e.name: e.id for e in known if e.name in names}
    first = 1 if known is None or not numbers else max(known.ids) + 1
    numbers |= {name: first + i for i, name in enumerate(sorted(names - numbers.keys()))}
    return numbers


def _text_of(value: Any) -> str:
    """Return a class as text, empty for none: -1 means that in texts as it does in numbers."""
    missing = value is None or value != value  # NaN, NaT
    text = "" if missing else str(value).strip()
    return "" if text == "-1" else text


def _names_beside(features: _Features, field: str, ids: np.ndarray) -> dict[int, str]:
    names = {i: default_name(i) for i in np.unique(ids).tolist() if i}
    by_lower = {name.lower(): values for name, values in features.fields.items()}
    for name in (f"{field.lower()}_name", "class_name", "classname"):
        texts = by_lower.get(name)
        if texts is not None and texts.dtype.kind == "O":
            given = zip(ids.tolist(), texts, strict=True)
            return names | {i: str(text) for i, text in given if i and text}
    return names


def _colors(features: _Features, ids: np.ndarray) -> dict[int, Color]:
    by_lower = {name.lower(): values for name, values in features.fields.items()}
    texts = by_lower.get("color", by_lower.get("colour"))
    if texts is None or texts.dtype.kind != "O":
        return {}
    return {
        i: color
        for i, text in zip(ids.tolist(), texts, strict=True)
        if i and isinstance(text, str) and (color := color_of(text)) is not None
    }


def _transformed(features: _Features, target: Georeference) -> np.ndarray:
    """Return the shapes in the grid's system; where either states none they are taken as equal."""
    source = parsed_crs(features.crs)
    goal = parsed_crs(target.crs)
    if source is None or goal is None or same_crs(features.crs, target.crs):
        return features.shapes
    shapely = require("shapely", extra="maps")
    warp = require("rasterio.warp", extra="maps")

    def moved(points: np.ndarray) -> np.ndarray:
        xs, ys = warp.transform(source, goal, points[:, 0], points[:, 1])
        return np.column_stack([xs, ys])

    with reading(features.path, "shapes in the scene's coordinate system"), quiet():
        shapes = shapely.transform(features.shapes, moved)
        if not np.isfinite(shapely.total_bounds(shapes)).all():
            raise DataError(
                f"{features.path}: coordinates that have no place in the scene's system; check the "
                "coordinate system that the file states"
            )
        return shapes


def _rasterized(
    path: Path, shapes: np.ndarray, numbers: np.ndarray, grid: Grid, target: Georeference
) -> np.ndarray:
    """Return the number of the last shape on each pixel, 0 for none."""
    shapely = require("shapely", extra="maps")
    features = require("rasterio.features", extra="maps")
    rows, columns = grid.shape[:2]
    bounds = shapely.total_bounds(shapes)
    require_overlap(bounds, target.bounds((rows, columns)), (path, grid.path))
    pairs = list(zip(shapes, numbers.tolist(), strict=True))
    with reading(path, "shapes"), quiet():
        return features.rasterize(
            pairs, out_shape=(rows, columns), fill=0, transform=target.affine, dtype="int32"
        )
