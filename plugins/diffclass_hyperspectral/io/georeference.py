"""Where the pixels of a picture lie: an affine transform and a coordinate reference system.

Pixel (row, column) has its upper left corner at x = a column + b row + c and
y = d column + e row + f. The coordinates travel with a scene's ``map_info``, the strings of an ENVI
header: code that passes these on passes the coordinates on (`MapInfo`).

Source: ENVI header format ("map info", "coordinate system string"); reference pixels count from 1
at the outer corner of the first pixel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from diffclass.exceptions import DataError, DiffclassError, ParameterError
from diffclass_hyperspectral.io.optional import require

_WHOLE = 0.05  # of a pixel, that two grids with pixels in common may be apart

_UTM_BASE = {"WGS84": (32600, 32700), "NAD83": (26900, None), "NAD27": (26700, None)}
_GEOGRAPHIC = {"WGS84": 4326, "NAD83": 4269, "NAD27": 4267}


class NoOverlapError(DataError):
    """Two things with coordinates have no place in common."""


@dataclass(frozen=True)
class Georeference:
    """Map coordinates of a raster.

    Attributes
    ----------
    transform : tuple of six float
        (a, b, c, d, e, f) as in rasterio's ``Affine``: x = a column + b row + c,
        y = d column + e row + f, of a pixel's upper left corner.
    crs : str or None
        ``"EPSG:32633"`` or well-known text; None where the file does not say.

    Examples
    --------
    >>> place = Georeference((30.0, 0.0, 5e5, 0.0, -30.0, 5.4e6), "EPSG:32633")
    >>> place.bounds((10, 20))
    (500000.0, 5399700.0, 500600.0, 5400000.0)
    """

    transform: tuple[float, float, float, float, float, float]
    crs: str | None = None

    def bounds(self, shape: Sequence[int]) -> tuple[float, float, float, float]:
        """Return (left, bottom, right, top) of a raster of ``shape`` (rows, columns)."""
        a, b, c, d, e, f = self.transform
        corners = [(i, j) for i in (0, shape[0]) for j in (0, shape[1])]
        xs = [a * j + b * i + c for i, j in corners]
        ys = [d * j + e * i + f for i, j in corners]
        return min(xs), min(ys), max(xs), max(ys)

    @property
    def pixel_area(self) -> float | None:
        """Square metres of a pixel, or None where the system is none of lengths or unknown."""
        a, b, _, d, e, _ = self.transform
        try:
            crs = parsed_crs(self.crs)
            if crs is None or not crs.is_projected:
                return None
            with _with_its_data():
                metres = float(crs.linear_units_factor[1])
        except (DiffclassError, ValueError):  # no rasterio, or a system that it does not know
            return None
        return abs(a * e - b * d) * metres**2

    def centre(self, row: float, column: float) -> tuple[float, float]:
        """Return x and y of the centre of a pixel, counted from 0."""
        a, b, c, d, e, f = self.transform
        right, down = column + 0.5, row + 0.5
        return a * right + b * down + c, d * right + e * down + f


class MapInfo(tuple[str, ...]):
    """The strings of ENVI's ``map info``, with the coordinates that they stand for.

    Attributes
    ----------
    georeference : Georeference or None
        None where the strings say nothing that could be understood.
    """

    georeference: Georeference | None

    def __new__(cls, texts: Sequence[str], georeference: Georeference | None = None) -> MapInfo:
        """Make the tuple and keep the coordinates beside."""
        made = super().__new__(cls, tuple(texts))
        made.georeference = georeference
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self), self.georeference


def map_info_of(georeference: Georeference) -> MapInfo:
    """Return coordinates as ENVI writes them; a sheared grid keeps its transform beside."""
    a, b, c, d, e, f = georeference.transform
    turn = math.atan2(d, a)
    sizes = [math.hypot(a, d), b * math.sin(turn) - e * math.cos(turn)]
    place = [repr(float(v)) for v in (1.0, 1.0, c, f, *sizes)]
    rotation = [f"rotation={math.degrees(turn)!r}"] if turn else []
    name, rest = _projection(georeference.crs)
    return MapInfo((name, *place, *rest, *rotation), georeference)


def _projection(crs: str | None) -> tuple[str, list[str]]:
    code = int(crs[5:]) if crs and crs.startswith("EPSG:") and crs[5:].isdecimal() else 0
    if code in _GEOGRAPHIC.values():
        datum = next(name for name, number in _GEOGRAPHIC.items() if number == code)
        return "Geographic Lat/Lon", [_hyphened(datum), "units=Degrees"]
    for datum, bases in _UTM_BASE.items():
        for base, half in zip(bases, ("North", "South"), strict=True):
            if base is not None and 1 <= code - base <= 60:
                return "UTM", [str(code - base), half, _hyphened(datum), "units=Meters"]
    return "Arbitrary", []


def _hyphened(datum: str) -> str:
    return f"{datum[:3]}-{datum[3:]}"


def from_envi(texts: Sequence[str], coordinate_system: str | None = None) -> MapInfo:
    """Read ENVI's ``map info``; what cannot be understood is kept as text alone.

    Parameters
    ----------
    texts : sequence of str
        Name, reference column and row, its x and y, pixel width and height, then by projection.
    coordinate_system : str, optional
        The header's ``coordinate system string``; it takes precedence over zone and datum.

    Examples
    --------
    >>> texts = "UTM, 1, 1, 500000, 5400000, 30, 30, 33, North, WGS-84".split(", ")
    >>> from_envi(texts).georeference
    Georeference(transform=(30.0, 0.0, 500000.0, 0.0, -30.0, 5400000.0), crs='EPSG:32633')
    """
    transform = _transform(texts)
    if transform is None:
        return MapInfo(texts)
    crs = (coordinate_system or "").strip() or _crs_of_texts(texts)
    return MapInfo(texts, Georeference(transform, crs))


def _transform(texts: Sequence[str]) -> tuple[float, float, float, float, float, float] | None:
    try:
        column, row, x, y, width, height = (float(text) for text in texts[1:7])
        turn = math.radians(float(_option(texts, "rotation") or 0))
    except ValueError:
        return None
    if not (np.isfinite([column, row, x, y, width, height, turn]).all() and width and height):
        return None
    a, d = width * math.cos(turn), width * math.sin(turn)
    b, e = height * math.sin(turn), -height * math.cos(turn)
    left = x - a * (column - 1) - b * (row - 1)
    top = y - d * (column - 1) - e * (row - 1)
    return a, b, left, d, e, top


def _option(texts: Sequence[str], name: str) -> str | None:
    for text in texts[7:]:
        key, _, value = text.partition("=")
        if key.strip().lower() == name:
            return value
    return None


def _crs_of_texts(texts: Sequence[str]) -> str | None:
    words = [text.strip().lower().replace("-", "").replace(" ", "") for text in texts[7:]]
    datum = next((name for name in _UTM_BASE if name.lower() in words), None)
    if datum is None:
        return None
    name = texts[0].strip().lower()
    if name.startswith("geographic"):
        return f"EPSG:{_GEOGRAPHIC[datum]}"
    if name != "utm" or not words[0].isdecimal() or not 1 <= int(words[0]) <= 60:
        return None
    base = _UTM_BASE[datum]["south" in words]
    return None if base is None else f"EPSG:{base + int(words[0])}"


def georeference_of(map_info: Sequence[str] | None) -> Georeference | None:
    """Return the coordinates that ``map_info`` stands for, or None."""
    if map_info is None:
        return None
    return (map_info if isinstance(map_info, MapInfo) else from_envi(map_info)).georeference


def parsed_crs(crs: str | None) -> Any:
    """Return rasterio's ``CRS``, or None for none.

    Raises
    ------
    DataError
        Where the text names no coordinate reference system.
    """
    if crs is None:
        return None
    systems = require("rasterio.crs", extra="maps")
    try:
        return systems.CRS.from_user_input(crs)
    except Exception as error:
        raise DataError(
            f"no coordinate reference system: {crs[:60]!r}; correct the file's projection"
        ) from error


def _with_its_data() -> Any:
    """Return rasterio's environment: without it PROJ looks for its data elsewhere, and says so."""
    return require("rasterio", extra="maps").Env()


def same_crs(left: str | None, right: str | None) -> bool:
    """Tell whether two texts name one system, as far as rasterio finds out."""
    if left == right:
        return True
    try:
        first, second = parsed_crs(left), parsed_crs(right)
    except ParameterError:
        return False
    if first is None or second is None:
        return False
    with _with_its_data():
        # spellings differ in names and in the order of axes, which the parameters leave out
        parameters = [crs.to_dict() for crs in (first, second)]
        codes = [crs.to_epsg(confidence_threshold=70) for crs in (first, second)]
    pairs = (parameters, codes)
    return first == second or any(bool(one) and one == other for one, other in pairs)


def pixel_offset(place: Georeference, grid: Georeference) -> tuple[int, int] | None:
    """Return row and column, on a grid, of the first pixel of a raster; None if they share none.

    Parameters
    ----------
    place, grid : Georeference
        They share pixels if system, pixel size and rotation are the same and the corners are whole
        pixels apart, to a twentieth.

    Examples
    --------
    >>> grid = Georeference((30.0, 0.0, 5e5, 0.0, -30.0, 5.4e6), "EPSG:32633")
    >>> place = Georeference((30.0, 0.0, 500090.0, 0.0, -30.0, 5399400.0), "EPSG:32633")
    >>> pixel_offset(place, grid)
    (20, 3)
    """
    if not same_crs(place.crs, grid.crs):
        return None
    matrix = np.array(grid.transform).reshape(2, 3)
    own = np.array(place.transform).reshape(2, 3)
    if not np.allclose(
        own[:, :2], matrix[:, :2], rtol=1e-6, atol=1e-6 * np.abs(matrix[:, :2]).max()
    ):
        return None
    column, row = np.linalg.solve(matrix[:, :2], own[:, 2] - matrix[:, 2])
    if max(abs(row - round(row)), abs(column - round(column))) > _WHOLE:
        return None
    return round(row), round(column)


def crs_text(crs: Any) -> str | None:
    """Return rasterio's ``CRS`` as "EPSG:..." where it is one, else as well-known text."""
    if not crs:
        return None
    code = crs.to_epsg(confidence_threshold=90)
    return f"EPSG:{code}" if code else crs.to_wkt()


def coordinate_system_string(crs: str | None) -> str | None:
    """Return what ENVI writes into ``coordinate system string``, or None where it cannot be told.

    An EPSG number needs rasterio to be spelled out; without it the ``map info`` has to do.
    """
    if crs is None:
        return None
    try:
        from rasterio.enums import WktVersion

        return parsed_crs(crs).to_wkt(version=WktVersion.WKT1_ESRI)
    except (ImportError, DiffclassError):
        return None if crs.startswith("EPSG:") else crs


def check_overlap(
    left: Georeference,
    right: Georeference,
    shapes: tuple[Sequence[int], Sequence[int]],
    names: tuple[object, object],
) -> None:
    """Raise `DataError` where two rasters do not overlap on the map; unknown systems pass."""
    if left.crs is None or right.crs is None:
        return
    boxes = (left.bounds(shapes[0]), right.bounds(shapes[1]))
    try:
        first = transformed_bounds(boxes[0], left.crs, right.crs)
    except ParameterError:
        return  # without rasterio two spellings of one system cannot be told from two systems
    require_overlap(first, boxes[1], names)


def require_overlap(
    first: Sequence[float], second: Sequence[float], names: tuple[object, object]
) -> None:
    """Raise `DataError` where two boxes (left, bottom, right, top) share no area."""
    apart = first[0] >= second[2] or second[0] >= first[2]
    if apart or first[1] >= second[3] or second[1] >= first[3]:
        raise NoOverlapError(
            f"{names[0]}: its coordinates {_box(first)} do not overlap {names[1]} {_box(second)}; "
            "check that both belong to the same place and state the right coordinate systems"
        )


def transformed_bounds(box: Sequence[float], source: str, target: str) -> tuple[float, ...]:
    """Return a box of one coordinate system in another."""
    if source == target:
        return tuple(box)
    warp = require("rasterio.warp", extra="maps")
    systems = [parsed_crs(text) for text in (source, target)]
    for crs, text in zip(systems, (source, target), strict=True):
        if not (crs.is_projected or crs.is_geographic):  # PROJ would print lines of its own
            raise DataError(
                f"{text[:60]!r} is a local coordinate system without a place on the Earth; state "
                "the system in which both files lie"
            )
    try:
        return tuple(warp.transform_bounds(*systems, *box))
    except DiffclassError:
        raise
    except Exception as error:
        raise DataError(
            f"coordinates {_box(box)} have no place in the other coordinate system ({error}); "
            "check which system the file states"
        ) from error


def _box(box: Sequence[float]) -> str:
    return f"({', '.join(f'{v:.6g}' for v in box)})"
