"""Where the pixels of a picture lie: a coordinate system, a transform, and how ENVI writes both.

Pixel (row, column) has its upper left corner at x = a column + b row + c and
y = d column + e row + f. Coordinates travel with a scene as the strings of ENVI's ``map info``
(`MapInfo`). Coordinate reference systems are parsed, compared and transformed by ``rasterio``.

Source: ENVI header format ("map info", "coordinate system string"); reference pixels count from 1
at the outer corner of the first pixel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from diffclass.exceptions import DataError, DiffclassError, ParameterError, warn_user
from diffclass.system.libraries import require


def parsed_crs(crs: str | None, of: object = None) -> Any:
    """Return rasterio's ``CRS``, or None for none; `DataError`: ``of``, a file, names no system."""
    if crs is None:
        return None
    systems = require("rasterio.crs", extra="maps")
    try:
        with with_projections():  # else PROJ prints lines of its own
            return systems.CRS.from_user_input(crs)
    except Exception as error:
        raise DataError(
            f"{_named(of)}no coordinate reference system: {str(crs)[:60]!r}; correct the file's "
            "projection"
        ) from error


def check_on_earth(crs: str, of: object = None) -> Any:
    """Return rasterio's ``CRS``, or raise `DataError` for one without a place on the Earth."""
    found = parsed_crs(crs, of)
    if not (found.is_projected or found.is_geographic):
        raise DataError(
            f"{_named(of)}{str(crs)[:60]!r} is a local coordinate system without a place on the "
            "Earth; state the system in which the files lie"
        )
    return found


@lru_cache
def is_geographic(crs: str | None) -> bool:
    """Tell whether coordinates of a system are degrees, as far as rasterio finds out."""
    try:
        found = parsed_crs(crs)
    except DiffclassError:
        return False
    return found is not None and bool(found.is_geographic)


def whole_turns(xs: Any, middle: float, crs: str | None) -> Any:
    """Return what to take from longitudes so that they lie within 180 degrees of a middle one.

    Multiples of 360; 0 where coordinates are no degrees, or none at all.
    """
    if not is_geographic(crs):
        return 0.0
    turns = np.round((np.asarray(xs) - middle) / 360)
    return 360.0 * np.where(np.isfinite(turns), turns, 0.0)


def _named(of: object) -> str:
    return "" if of is None else f"{of}: "


def with_projections() -> Any:
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
    with with_projections():
        # spellings differ in names and in the order of axes, which the parameters leave out
        parameters = [crs.to_dict() for crs in (first, second)]
        codes = [crs.to_epsg(confidence_threshold=70) for crs in (first, second)]
    pairs = (parameters, codes)
    return first == second or any(bool(one) and one == other for one, other in pairs)


def crs_text(crs: Any) -> str | None:
    """Return rasterio's ``CRS`` as "EPSG:..." where it is one, else as well-known text."""
    if not crs:
        return None
    code = crs.to_epsg(confidence_threshold=90)
    return f"EPSG:{code}" if code else crs.to_wkt()


def coordinate_system_string(crs: str | None) -> str | None:
    """Return what ENVI writes into ``coordinate system string``; None without rasterio."""
    if crs is None:
        return None
    try:
        from rasterio.enums import WktVersion

        return parsed_crs(crs).to_wkt(version=WktVersion.WKT1_ESRI)
    except (ImportError, DiffclassError):
        return None if crs.startswith("EPSG:") else crs


_POINTS = 2**16
_EARTH_RADIUS = 6_371_007.0  # metres, of the sphere with the Earth's surface
_SAME_AREA = 0.1


def transformed_points(
    xs: np.ndarray, ys: np.ndarray, source: str, target: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return coordinates of one system in another."""
    warp = require("rasterio.warp", extra="maps")
    systems = parsed_crs(source), parsed_crs(target)
    moved = np.stack([part.ravel() for part in (xs, ys)]).astype(float)
    for start in range(0, xs.size, _POINTS):  # rasterio makes lists of them
        some = slice(start, start + _POINTS)
        moved[:, some] = warp.transform(*systems, *moved[:, some])
    right, down = moved.reshape(2, *xs.shape)
    return right, down


def transformed_bounds(
    box: Sequence[float], source: str, target: str, names: tuple[object, object]
) -> tuple[float, ...]:
    """Return a box of one coordinate system in another; the systems are those of two files."""
    if source == target:
        return tuple(box)
    warp = require("rasterio.warp", extra="maps")
    systems = [check_on_earth(*one) for one in zip((source, target), names, strict=True)]
    try:
        return tuple(warp.transform_bounds(*systems, *box))
    except Exception as error:
        raise DataError(
            f"coordinates {box_text(box)} have no place in the other coordinate system ({error}); "
            "check which system the file states"
        ) from error


def box_text(box: Sequence[float]) -> str:
    """Return left, bottom, right and top of a box to read."""
    return f"({', '.join(f'{v:.6g}' for v in box)})"


# Indexes rows and columns of a picture; the step -1 reverses them.
Turn = tuple[slice, slice]


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

    def middle(self, shape: Sequence[int]) -> float:
        """Return x in the middle of a raster of ``shape``."""
        left, _, right, _ = self.bounds(shape)
        return (left + right) / 2

    @property
    def pixel_area(self) -> float | None:
        """Square metres of a pixel, or None where the system does not tell them."""
        a, b, _, d, e, _ = self.transform
        try:
            crs = parsed_crs(self.crs)
            if crs is None or not crs.is_projected or not self.keeps_areas:
                return None
            with with_projections():
                metres = float(crs.linear_units_factor[1])
        except (DiffclassError, ValueError):  # no rasterio, or a system that it does not know
            return None
        return abs(a * e - b * d) * metres**2

    @property
    def keeps_areas(self) -> bool:
        """Whether areas on the map are those on the ground, to a tenth, where the picture begins.

        Those of the Web Mercator projection are twice as large in the middle of Europe.
        """
        a, b, c, d, e, f = self.transform
        right, down = np.array([0.0, 1.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0, 1.0])
        xs, ys = a * right + b * down + c, d * right + e * down + f
        metres = float(parsed_crs(self.crs).linear_units_factor[1])
        try:
            degrees = transformed_points(xs, ys, str(self.crs), "EPSG:4326")
        except Exception:  # of several libraries, for places that the system does not reach
            return True
        longitudes, latitudes = (np.radians(part - part[0]) for part in degrees)
        xs = longitudes * math.cos(math.radians(float(degrees[1].mean())))
        on_ground = abs(xs @ np.roll(latitudes, -1) - latitudes @ np.roll(xs, -1)) / 2
        share = on_ground * _EARTH_RADIUS**2 / (abs(a * e - b * d) * metres**2)
        return not abs(share - 1) > _SAME_AREA  # NaN where there is no such place

    @property
    def affine(self) -> Any:
        """The transform as rasterio takes it."""
        return require("rasterio.transform", extra="maps").Affine(*self.transform)

    def centre(self, row: Any, column: Any) -> tuple[Any, Any]:
        """Return x and y of the centres of pixels, counted from 0."""
        a, b, c, d, e, f = self.transform
        right, down = column + 0.5, row + 0.5
        return a * right + b * down + c, d * right + e * down + f

    def pixels(self, xs: Any, ys: Any) -> tuple[Any, Any]:
        """Return rows and columns of coordinates, with fractions: a pixel's centre has halves.

        Examples
        --------
        >>> Georeference((30.0, 0.0, 5e5, 0.0, -30.0, 5.4e6)).pixels(500045.0, 5399985.0)
        (0.5, 1.5)
        """
        a, b, c, d, e, f = self.transform
        right, up, area = xs - c, ys - f, a * e - b * d
        return (a * up - d * right) / area, (e * right - b * up) / area

    def reversed(self, shape: Sequence[int], turn: Turn) -> Georeference:
        """Return where a picture of ``shape`` lies once its rows or columns are reversed.

        Examples
        --------
        >>> place = Georeference((30.0, 0.0, 5e5, 0.0, -30.0, 5.4e6))
        >>> place.reversed((10, 20), (slice(None, None, -1), slice(None))).transform
        (30.0, -0.0, 500000.0, 0.0, 30.0, 5399700.0)
        """
        a, b, c, d, e, f = self.transform
        if turn[0].step == -1:
            b, c, e, f = -b, c + b * shape[0], -e, f + e * shape[0]
        if turn[1].step == -1:
            a, c, d, f = -a, c + a * shape[1], -d, f + d * shape[1]
        return Georeference((a, b, c, d, e, f), self.crs)


@dataclass(frozen=True, eq=False)
class UnevenCentres:
    """Centres ``y`` of rows and ``x`` of columns on no even grid; ``reason`` is for messages."""

    y: np.ndarray
    x: np.ndarray
    reason: str

    def is_as(self, other: UnevenCentres) -> bool:
        """Tell whether two pictures have the same centres."""
        pairs = ((self.y, other.y), (self.x, other.x))
        return all(np.array_equal(one, another) for one, another in pairs)


_UTM_BASE = {"WGS84": (32600, 32700), "NAD83": (26900, None), "NAD27": (26700, None)}
_GEOGRAPHIC = {"WGS84": 4326, "NAD83": 4269, "NAD27": 4267}


class MapInfo(tuple[str, ...]):
    """The strings of ENVI's ``map info`` with the coordinates that they stand for, if understood.

    ``uneven`` coordinates, which no transform can state, have no strings.
    """

    georeference: Georeference | None
    uneven: UnevenCentres | None

    def __new__(
        cls,
        texts: Sequence[str],
        georeference: Georeference | None = None,
        uneven: UnevenCentres | None = None,
    ) -> MapInfo:
        """Make the tuple and keep the coordinates."""
        made = super().__new__(cls, tuple(texts))
        made.georeference = georeference
        made.uneven = uneven
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self), self.georeference, self.uneven


def map_info_of(georeference: Georeference) -> MapInfo:
    """Return coordinates as ENVI writes them; a sheared grid keeps its transform too."""
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

    The strings are name, reference column and row, its x and y, pixel width and height, then by
    projection. The header's ``coordinate system string`` goes before zone and datum.

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
        turn = math.radians(float(_rotation(texts) or 0))
    except ValueError:
        return None
    if not (np.isfinite([column, row, x, y, width, height, turn]).all() and width and height):
        return None
    a, d = width * math.cos(turn), width * math.sin(turn)
    b, e = height * math.sin(turn), -height * math.cos(turn)
    left = x - a * (column - 1) - b * (row - 1)
    top = y - d * (column - 1) - e * (row - 1)
    return a, b, left, d, e, top


def _rotation(texts: Sequence[str]) -> str | None:
    pairs = (text.partition("=") for text in texts[7:])
    return next((value for key, _, value in pairs if key.strip().lower() == "rotation"), None)


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


def writable_crs(place: Georeference) -> Any:
    """Return a map's coordinate system as rasterio's ``CRS``; None, with a warning, if unknown."""
    try:
        return parsed_crs(place.crs)
    except DataError as error:
        warn_user(f"{error}; it is left out of the map", UserWarning)
        return None


def uneven_of(map_info: Sequence[str] | None) -> UnevenCentres | None:
    """Return the coordinates of ``map_info`` if they are uneven."""
    return map_info.uneven if isinstance(map_info, MapInfo) else None


def required_place(
    map_info: Sequence[str] | None, name: object, *, purpose: str, cure: str
) -> Georeference:
    """Return where the picture called ``name`` lies, or raise `DataError`.

    ``purpose`` and ``cure`` are what the place is needed for, and what to give where there is none.
    """
    place, uneven = georeference_of(map_info), uneven_of(map_info)
    if uneven is not None:
        raise DataError(
            f"{name}: {uneven.reason}, so that there is no even grid {purpose}; interpolate it to "
            f"even coordinates, or {cure}"
        )
    if place is None:
        raise DataError(f"{name}: has no map coordinates {purpose}; {cure}")
    return place
