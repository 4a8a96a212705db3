"""Class maps as polygons: GeoPackages and GeoJSON, written by ``pyogrio``.

A polygon is a segment of the map, pixels of one class connected by their edges. Outlines are
simplified by Visvalingam and Whyatt's method on the coverage as a whole
(``shapely.coverage_simplify``), which keeps the common borders of neighbours common.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from diffclass.exceptions import ParameterError
from diffclass.system.libraries import require
from diffclass.system.output import replacing
from diffclass_hyperspectral.io.georeference import (
    Georeference,
    check_on_earth,
    georeference_of,
    writable_crs,
)
from diffclass_hyperspectral.io.labels import ClassTable, turned_shapes
from diffclass_hyperspectral.io.maps.vector_layers import write_layer

_DRIVERS = {".gpkg": "GPKG", ".geojson": "GeoJSON"}
ENDINGS = tuple(_DRIVERS)
# A name that looks like JSON stays the text that it is. Of the seven decimals that GDAL writes by
# itself the last is at times wrong, which is as wide as a drone's pixels; of eleven it is too.
_GEOJSON = {"RFC7946": "YES", "AUTODETECT_JSON_STRINGS": "NO", "COORDINATE_PRECISION": "12"}


def require_place(path: Path, map_info: Sequence[str] | None) -> Georeference:
    """Return where a map lies, or raise `ParameterError`: polygons have no rows and columns."""
    place = georeference_of(map_info)
    if place is None:
        raise ParameterError(
            f"{path}: the scene has no map coordinates, which polygons need; write .tif, .img, "
            ".png or .npy"
        )
    if place.crs is None and path.suffix.lower() == ".geojson":
        raise ParameterError(
            f"{path}: the scene states no coordinate system, which GeoJSON needs; write a .gpkg"
        )
    if path.suffix.lower() == ".geojson":
        check_on_earth(str(place.crs), "the scene")
    return place


def write_classification(
    path: Path,
    ids: np.ndarray,
    table: ClassTable,
    *,
    overwrite: bool,
    map_info: Sequence[str] | None,
    probability: np.ndarray | None = None,
    simplify: float = 0.0,
) -> None:
    """Write a polygon for each segment with a class.

    Its fields are ``class`` (id), ``class_name``, ``color`` ("#rrggbb"), ``pixels``, ``area``
    (square metres, where the coordinate system is one of lengths) and ``probability`` (mean, where
    it is given). GeoJSON is in degrees of WGS 84 (RFC 7946). ``simplify`` is in pixels.
    """
    place = require_place(path, map_info)
    shapely = require("shapely", extra="maps")
    segments = segments_of(ids)
    polygons, numbers = _polygons(segments, ids > 0)
    if simplify > 0 and len(polygons):
        polygons = _simplified(polygons, simplify)
    outlines = shapely.transform(polygons, lambda points: _map_coordinates(points, place))
    fields = _fields(ids, segments, numbers, table)
    pixels = fields["pixels"]
    if place.pixel_area is not None:
        fields["area"] = pixels * place.pixel_area
    if probability is not None:
        sums = np.bincount(segments.ravel(), weights=np.nan_to_num(probability).ravel())
        fields["probability"] = sums[numbers] / pixels
    driver = _DRIVERS[path.suffix.lower()]
    if driver == "GeoJSON":  # whose writer loses what lies beyond 360 degrees
        outlines = turned_shapes(outlines, 0.0, place.crs)
    crs = writable_crs(place)
    with replacing(path, overwrite=overwrite) as temporary:
        write_layer(
            temporary, outlines, fields, driver=driver,
            layer=path.stem, geometry_type="Polygon", crs=None if crs is None else crs.to_wkt(),
            **(_GEOJSON if driver == "GeoJSON" else {}),
        )  # fmt: skip


def _polygons(segments: np.ndarray, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the outlines of segments in columns and rows, and the number of each one's segment."""
    shapes = require("rasterio.features", extra="maps").shapes
    shapely = require("shapely", extra="maps")
    found = list(shapes(segments.astype(np.int32), mask=kept))
    rings = [ring for shape, _ in found for ring in shape["coordinates"]]
    ends = np.cumsum([0, *map(len, rings)])
    parts = np.cumsum([0, *(len(shape["coordinates"]) for shape, _ in found)])
    points = np.array([point for ring in rings for point in ring], dtype=float).reshape(-1, 2)
    polygons = shapely.from_ragged_array(shapely.GeometryType.POLYGON, points, (ends, parts))
    return polygons, np.array([number for _, number in found], dtype=np.int64)


def _simplified(polygons: np.ndarray, tolerance: float) -> np.ndarray:
    """Simplify outlines in columns and rows."""
    shapely = require("shapely", extra="maps")
    # a coverage has a vertex wherever three polygons meet: at some corner of a pixel
    every_corner = shapely.transform(shapely.segmentize(polygons, 1.0), np.rint)
    return shapely.coverage_simplify(every_corner, tolerance)


def _map_coordinates(points: np.ndarray, place: Georeference) -> np.ndarray:
    a, b, c, d, e, f = place.transform
    columns, rows = points.T
    return np.column_stack([a * columns + b * rows + c, d * columns + e * rows + f])


def _fields(
    ids: np.ndarray, segments: np.ndarray, numbers: np.ndarray, table: ClassTable
) -> dict[str, Any]:
    """Return what is known of segments: a column for each field."""
    _, first, pixels = np.unique(segments, return_index=True, return_counts=True)
    classes = ids.ravel()[first[numbers]]
    present = np.unique(classes).tolist()
    entries = {i: table[i] for i in present}
    return {
        "class": classes.astype(np.int32),
        "class_name": np.array([entries[i].name for i in classes.tolist()], dtype=object),
        "color": np.array([entries[i].hex_color for i in classes.tolist()], dtype=object),
        "pixels": pixels[numbers],
    }


def segments_of(class_map: np.ndarray) -> np.ndarray:
    """Return the number of each pixel's segment, from 0, (rows, columns); so has class 0."""
    left, right = neighboring(np.arange(class_map.size).reshape(class_map.shape))
    equal = class_map.ravel()[left] == class_map.ravel()[right]
    edges = (np.ones(int(equal.sum()), dtype=np.int8), (left[equal], right[equal]))
    graph = sp.coo_array(edges, shape=(class_map.size, class_map.size)).tocsr()
    return connected_components(graph, directed=False)[1].reshape(class_map.shape)


def neighboring(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the values on both sides of every edge between two pixels."""
    one = np.concatenate([values[:, :-1].ravel(), values[:-1].ravel()])
    other = np.concatenate([values[:, 1:].ravel(), values[1:].ravel()])
    return one, other
