"""Labels from polygons, lines and points: GeoJSON, shapefiles, GeoPackages, FlatGeobuf, KML.

``pyogrio`` reads, coordinates are brought into the scene's system, and a pixel belongs to the
polygon that its centre lies in; lines and points mark the pixels that they pass. A shape that holds
no centre marks the pixel that it lies in. `class_fields` says which class a shape has.
"""

from __future__ import annotations

import math
import os
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import DataError, warn_user
from diffclass.system.libraries import reading, require, require_file
from diffclass.system.remote_paths import RemotePath, place_of
from diffclass_hyperspectral.io.formats import SHAPE_ENDINGS
from diffclass_hyperspectral.io.gdal_messages import quiet
from diffclass_hyperspectral.io.georeference import (
    Georeference,
    box_text,
    check_on_earth,
    parsed_crs,
    require_overlap,
    required_place,
    same_crs,
    whole_turns,
)
from diffclass_hyperspectral.io.labels.class_fields import classes_of_fields
from diffclass_hyperspectral.io.labels.class_table import ClassTable
from diffclass_hyperspectral.io.labels.label_images import LabelImage
from diffclass_hyperspectral.io.labels.placing import Grid

VECTOR = "vector"
_GEOJSON = (".geojson", ".json")
_MOST_NAMED = 3
_NO_SHAPE = "holds no shape; draw one, or name another file"
_TURN, _POLE = 360.0, 90.0 + 1e-6  # of degrees, as longitudes from 0 to 360 are


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
    """Put the classes of a vector file on the pixels of a scene; see `read_labels`."""
    features, target = _features_on(grid, path, layer)
    place = features.path
    found = classes_of_fields(place, features.fields, class_field, known)
    shapes = _turned(_transformed(features, target), target, grid)
    kept = (found.ids > 0) & _drawn(shapes)
    if not kept.any():
        raise DataError(f"{place}: no shape has a class in the field {found.field!r}; fill it in")
    ids = found.ids[kept]
    last, first, small = _covering(place, shapes[kept], grid, target)
    _warn_of_small_shapes(place, ids[small], found.names)
    by_number = np.concatenate([np.zeros(1, dtype=np.int32), ids])
    picture = by_number[last]
    disputed = int(np.count_nonzero(picture != by_number[first]))
    if disputed:
        warn_user(
            f"{path}: shapes of different classes cover {disputed} pixels; the later one wins"
        )
    labels = LabelImage.from_array(picture, names=found.names, colors=found.colors, path=place)
    labels = replace(labels, format=VECTOR, is_numbered=found.is_numbered)
    return labels.placed(grid.map_info)


def numbered_shapes(path: str | os.PathLike[str], grid: Grid) -> np.ndarray:
    """Return which shape of a file each pixel lies in: its number from 1, of several the last.

    `DataError`: it is damaged, has several layers or no shape, or does not overlap the grid.
    """
    features, target = _features_on(grid, path, None)
    place = features.path
    shapes = _turned(_transformed(features, target), target, grid)
    kept = _drawn(shapes)
    if not kept.any():
        raise DataError(f"{place}: {_NO_SHAPE}")
    return _rasterized(place, shapes[kept], 1 + np.flatnonzero(kept), grid, target)


def is_vector(path: str | os.PathLike[str]) -> bool:
    """Tell whether the name or content is that of a vector file."""
    place = place_of(path)
    if place.suffix.lower() in SHAPE_ENDINGS:
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
        # names that look like dates stay the texts that they are
        as_texts = {"DATE_AS_STRING": "YES"} if path.suffix.lower() in _GEOJSON else {}
        meta, _, geometry, columns = raw.read(source, layer=chosen, force_2d=True, **as_texts)
        shapes = shapely.from_wkb(geometry)
        if not len(shapes):
            raise DataError(f"{path}: {_NO_SHAPE}")
        if not np.isfinite(shapely.total_bounds(shapes)).all():
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


def _transformed(features: _Features, target: Georeference) -> np.ndarray:
    """Return the shapes in the grid's system; where either states none they are taken as equal."""
    if features.crs is None or target.crs is None or features.crs == target.crs:
        return features.shapes
    source = parsed_crs(features.crs, features.path)
    goal = parsed_crs(target.crs, "the scene")
    if same_crs(features.crs, target.crs):
        return features.shapes
    check_on_earth(features.crs, features.path)
    check_on_earth(target.crs, "the scene")
    shapely = require("shapely", extra="maps")
    warp = require("rasterio.warp", extra="maps")
    if source.is_geographic:
        _check_degrees(features)

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


def _turned(shapes: np.ndarray, target: Georeference, grid: Grid) -> np.ndarray:
    """Return shapes moved by whole turns of longitude to where the grid lies."""
    return turned_shapes(shapes, target.middle(grid.shape[:2]), target.crs)


def turned_shapes(shapes: np.ndarray, middle: float, crs: str | None) -> np.ndarray:
    """Return shapes moved by whole turns of longitude to within 180 degrees of a middle one.

    Each part goes by itself: GeoJSON cuts shapes in two at 180 degrees (RFC 7946, section 3.1.9).
    """
    shapely = require("shapely", extra="maps")
    parts, owners = shapely.get_parts(shapes, return_index=True)
    parts, owners = (one[~shapely.is_empty(parts)] for one in (parts, owners))
    bounds = shapely.bounds(parts)
    middles = (bounds[:, 0] + bounds[:, 2]) / 2
    turns = np.broadcast_to(whole_turns(middles, middle, crs), len(parts))
    for turn in np.unique(turns[turns != 0]):
        some = turns == turn
        parts[some] = shapely.transform(parts[some], lambda points, by=turn: points - [by, 0])
    shapes, moved = shapes.copy(), np.unique(owners[turns != 0])
    ends = (np.searchsorted(owners, moved, side=side) for side in ("left", "right"))
    for shape, start, stop in zip(moved, *ends, strict=True):
        several = stop - start > 1
        shapes[shape] = shapely.geometrycollections(parts[start:stop]) if several else parts[start]
    return shapes


def _check_degrees(features: _Features) -> None:
    """Raise `DataError` for coordinates that are no degrees although the file says so."""
    bounds = require("shapely", extra="maps").total_bounds(features.shapes)
    if np.all(np.abs(bounds) <= (_TURN, _POLE, _TURN, _POLE)):
        return
    said = (
        'GeoJSON without "crs" holds (RFC 7946)'
        if features.path.suffix.lower() in _GEOJSON
        else f"its coordinate system {features.crs} has"
    )
    raise DataError(
        f"{features.path}: its coordinates {box_text(bounds)} are no degrees, which {said}; write "
        "degrees of WGS 84, or state the right system, as a .gpkg or .shp does"
    )


def _warn_of_small_shapes(path: Path, ids: np.ndarray, names: dict[int, str]) -> None:
    if len(ids):
        called = sorted({repr(names[i]) for i in ids.tolist()})
        more = f" and {len(called) - _MOST_NAMED} more" if len(called) > _MOST_NAMED else ""
        warn_user(
            f"{path}: shapes without a pixel's centre mark the pixel that they lie in: {len(ids)} "
            f"of the classes {', '.join(called[:_MOST_NAMED])}{more}"
        )


def _covering(
    path: Path, shapes: np.ndarray, grid: Grid, target: Georeference
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the number, from 1, of the last and of the first shape on each pixel, 0 for none.

    Also which shapes hold no pixel's centre; each marks the pixel that it lies in.
    """
    numbers = np.arange(1, len(shapes) + 1)

    def pictures(drawn: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        last = _rasterized(path, drawn, numbers, grid, target)
        return last, _rasterized(path, drawn[::-1], numbers[::-1], grid, target)

    last, first = pictures(shapes)
    small = _without_centre(shapes, np.union1d(last, first), grid, target)
    if small.any():
        shapes = shapes.copy()
        shapes[small] = require("shapely", extra="maps").point_on_surface(shapes[small])
        last, first = pictures(shapes)
    return last, first, small


def _without_centre(
    shapes: np.ndarray, seen: np.ndarray, grid: Grid, target: Georeference
) -> np.ndarray:
    """Return which shapes lie on the grid but are not among the numbers, from 1, in ``seen``."""
    shapely = require("shapely", extra="maps")
    rows, columns = grid.shape[:2]
    found = np.zeros(len(shapes), dtype=bool)
    others = np.setdiff1d(np.arange(len(shapes)), seen - 1)
    in_pixels = shapely.transform(
        shapes[others], lambda points: np.column_stack(target.pixels(*points.T)[::-1])
    )
    inside = shapely.intersects(
        shapely.point_on_surface(in_pixels), shapely.box(0, 0, columns, rows)
    )
    for number, shape in zip(others[inside], in_pixels[inside], strict=True):
        found[number] = not _marks_a_pixel(shape, rows, columns)
    return found


def _marks_a_pixel(shape: Any, rows: int, columns: int) -> bool:
    """Tell whether a shape in columns and rows marks a pixel of the grid where it is alone."""
    affine = require("rasterio.transform", extra="maps").Affine
    left, top = (max(0, math.floor(v)) for v in shape.bounds[:2])
    right, bottom = (
        min(size, math.floor(v) + 1)
        for v, size in zip(shape.bounds[2:], (columns, rows), strict=True)
    )
    with quiet():
        marked = require("rasterio.features", extra="maps").rasterize(
            [shape], out_shape=(bottom - top, right - left), transform=affine.translation(left, top)
        )
    return bool(marked.any())


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
