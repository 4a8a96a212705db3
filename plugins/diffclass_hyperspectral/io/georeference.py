"""Where the pixels of a picture lie: an affine transform and a coordinate reference system.

Pixel (row, column) has its upper left corner at x = a column + b row + c and
y = d column + e row + f. The coordinates travel with a scene's ``map_info``, the strings of an ENVI
header: code that passes these on passes the coordinates on (`MapInfo`).

Source: ENVI header format ("map info", "coordinate system string"); reference pixels count from 1
at the outer corner of the first pixel.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from diffclass.exceptions import DataError, DiffclassError, ParameterError
from diffclass_hyperspectral.io.optional import require

_WHOLE = 0.05  # of a pixel, that two grids with pixels in common may be apart
_NEAREST = 0.5 + _WHOLE  # of a pixel, within which a pixel's nearest on another grid is its own
_EVEN = 1e-3  # of a step, that coordinates of an even grid may be off
_COARSEST = 0.25  # of a step, that single precision may round them

# Indexes rows and columns of a picture; the step -1 reverses them.
Turn = tuple[slice, slice]

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
    """Centres of rows and columns that lie on no even grid, as after a choice of rows.

    Attributes
    ----------
    y, x : ndarray of float of shape (rows,) and (columns,)
        Where one has none, pixels are counted.
    reason : str
        What is uneven, for messages.
    """

    y: np.ndarray
    x: np.ndarray
    reason: str

    def is_as(self, other: UnevenCentres) -> bool:
        """Tell whether two pictures have the same centres."""
        pairs = ((self.y, other.y), (self.x, other.x))
        return all(np.array_equal(one, another) for one, another in pairs)


class MapInfo(tuple[str, ...]):
    """The strings of ENVI's ``map info``, with the coordinates that they stand for.

    Attributes
    ----------
    georeference : Georeference or None
        None where the strings say nothing that could be understood.
    uneven : UnevenCentres or None
        Coordinates that no transform can state; there are no strings for them.
    """

    georeference: Georeference | None
    uneven: UnevenCentres | None

    def __new__(
        cls,
        texts: Sequence[str],
        georeference: Georeference | None = None,
        uneven: UnevenCentres | None = None,
    ) -> MapInfo:
        """Make the tuple and keep the coordinates beside."""
        made = super().__new__(cls, tuple(texts))
        made.georeference = georeference
        made.uneven = uneven
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self), self.georeference, self.uneven


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


def uneven_of(map_info: Sequence[str] | None) -> UnevenCentres | None:
    """Return the coordinates of ``map_info`` if they are uneven."""
    return map_info.uneven if isinstance(map_info, MapInfo) else None


def required_place(
    map_info: Sequence[str] | None, name: object, *, purpose: str, cure: str
) -> Georeference:
    """Return where a picture lies.

    Parameters
    ----------
    map_info : sequence of str or None
    name : object
        What the message calls the picture.
    purpose, cure : str
        What the place is needed for, and what to give where there is none.

    Raises
    ------
    DataError
        Where it has no coordinates, or uneven ones.
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


def even_steps(values: np.ndarray) -> tuple[float, float] | None:
    """Return the first of some coordinates and their step, or None where they are uneven.

    Coordinates may be off by a thousandth of a step, or as much as single precision rounds them:
    degrees in steps of 0.00027 are then up to 4e-6 off. Of such ones a line through all gives first
    and step, to a fraction of what each is off.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Two or more.

    Examples
    --------
    >>> even_steps(np.array([10.0, 9.5, 9.0]))
    (10.0, -0.5)
    >>> even_steps(np.array([10.0, 9.5, 8.5])) is None
    True
    """
    exact = np.asarray(values, dtype=np.float64)
    if not np.isfinite(exact).all():
        return None
    first, step = float(exact[0]), float(exact[-1] - exact[0]) / (len(exact) - 1)
    allowed = _EVEN * abs(step)
    if not _is_line(exact, first, step, allowed):
        if not np.array_equal(exact.astype(np.float32), exact):
            return None
        count = np.arange(len(exact)) - (len(exact) - 1) / 2
        step = float(count @ (exact - exact[0]) / (count @ count))
        first = float(exact.mean() + step * count[0])
        rounding = 0.5 * float(np.spacing(np.float32(np.abs(exact).max())))
        allowed = min(1.5 * rounding, _COARSEST * abs(step))
    return (first, step) if step and _is_line(exact, first, step, allowed) else None


def _is_line(values: np.ndarray, first: float, step: float, allowed: float) -> bool:
    return bool(np.abs(values - (first + step * np.arange(len(values)))).max() <= allowed)


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


def placement(
    place: Georeference, grid: Georeference, shape: Sequence[int]
) -> tuple[Turn, tuple[int, int]] | None:
    """Return how a picture lies on a grid whose pixels it shares; None if it shares none.

    They share pixels if the systems are the same and all corners of the picture lie on corners of
    pixels, to a twentieth, as many pixels apart as it has. Rows may run north or south and columns
    east or west; the grid is the same.

    Parameters
    ----------
    place, grid : Georeference
    shape : tuple of int
        Rows and columns of the picture.

    Returns
    -------
    turn : tuple of two slices
        Indexes rows and columns of the picture; one with the step -1 reverses them.
    offset : tuple of two int
        Row and column, on the grid, of its first pixel then.

    Examples
    --------
    >>> grid = Georeference((30.0, 0.0, 5e5, 0.0, -30.0, 5.4e6), "EPSG:32633")
    >>> place = Georeference((30.0, 0.0, 500090.0, 0.0, -30.0, 5399400.0), "EPSG:32633")
    >>> placement(place, grid, (10, 20))[1]
    (20, 3)
    """
    if not same_crs(place.crs, grid.crs):
        return None
    turn, rows, columns = _turned_corners(grid, *_corners(place, shape))
    offset = round(float(rows[0, 0])), round(float(columns[0, 0]))
    is_shared = _off(rows - offset[0], columns - offset[1], shape) <= _WHOLE
    return (turn, offset) if is_shared else None


def _corners(place: Georeference, shape: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return x and y of the four corners, each of shape (2, 2): first and last row, column."""
    a, b, c, d, e, f = place.transform
    down, right = np.array([[0.0], [shape[0]]]), np.array([[0.0, shape[1]]])
    return a * right + b * down + c, d * right + e * down + f


def _turned_corners(
    grid: Georeference, xs: np.ndarray, ys: np.ndarray
) -> tuple[Turn, np.ndarray, np.ndarray]:
    """Return how to turn a picture as its grid runs, and rows and columns of its corners then."""
    a, b, c, d, e, f = grid.transform
    x, y, area = xs - c, ys - f, a * e - b * d
    rows, columns = (a * y - d * x) / area, (e * x - b * y) / area
    down = -1 if rows[1, 0] < rows[0, 0] else 1
    right = -1 if columns[0, 1] < columns[0, 0] else 1
    turn = slice(None, None, down), slice(None, None, right)
    return turn, rows[turn], columns[turn]


def _off(rows: np.ndarray, columns: np.ndarray, shape: Sequence[int]) -> float:
    """Return the largest distance between corners and those of a picture of a shape at (0, 0)."""
    down, right = np.array([[0], [shape[0]]]), np.array([[0, shape[1]]])
    distance = float(np.hypot(rows - down, columns - right).max())
    return distance if np.isfinite(distance) else math.inf


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


def turn_onto(
    left: Sequence[str] | None,
    right: Sequence[str] | None,
    shape: Sequence[int],
    names: tuple[object, object],
) -> Turn:
    """Return how to turn a picture so that its pixels are those of a grid with as many.

    Parameters
    ----------
    left, right : sequence of str or None
        ``map_info`` of the picture and the grid. Where one says nothing of its place, pixels are
        taken as they are; so they are where one lacks a coordinate system and the numbers do not
        meet, or where rasterio is missing and the systems are spelled differently.
    shape : tuple of int
        Rows and columns of both.
    names : tuple of two
        What messages call them.

    Returns
    -------
    tuple of two slices
        As of `placement`.

    Raises
    ------
    DataError
        Where both state where they lie, and it is not the same place.
    """
    as_they_are = (slice(None, None, 1), slice(None, None, 1))
    _check_uneven(left, right, names)
    own, grid = georeference_of(left), georeference_of(right)
    if own is None or grid is None:
        return as_they_are
    if own.crs is None or grid.crs is None:
        if own.crs != grid.crs and _apart(own.bounds(shape), grid.bounds(shape)):
            return as_they_are  # numbers of two systems, as counted pixels beside metres
    else:
        try:
            box = transformed_bounds(own.bounds(shape), own.crs, grid.crs)
        except ParameterError:
            return as_they_are  # without rasterio two spellings cannot be told from two systems
        require_overlap(box, grid.bounds(shape), names)
    corners = _corners(own, shape)
    if own.crs is not None and grid.crs is not None and not same_crs(own.crs, grid.crs):
        corners = _transformed(*corners, own.crs, grid.crs)
    turn, rows, columns = _turned_corners(grid, *corners)
    distance = _off(rows, columns, shape)
    if distance > _NEAREST:
        raise DataError(
            f"{names[0]}: a corner lies {distance:.1f} pixels from that of {names[1]}; give labels "
            "on the scene's own grid"
        )
    return turn


def _transformed(
    xs: np.ndarray, ys: np.ndarray, source: str, target: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return coordinates of one system in another."""
    warp = require("rasterio.warp", extra="maps")
    found = warp.transform(parsed_crs(source), parsed_crs(target), xs.ravel(), ys.ravel())
    right, down = (np.asarray(part, dtype=float).reshape(xs.shape) for part in found)
    return right, down


def _check_uneven(
    left: Sequence[str] | None, right: Sequence[str] | None, names: tuple[object, object]
) -> None:
    """Raise `DataError` where coordinates are uneven and the other picture's are not the same."""
    for (one, name), (other, other_name) in itertools.permutations(
        zip((left, right), names, strict=True)
    ):
        uneven, another = uneven_of(one), uneven_of(other)
        if uneven is None or (another is None and georeference_of(other) is None):
            continue
        if another is None or not uneven.is_as(another):
            raise DataError(
                f"{name}: {uneven.reason}, and {other_name} has other coordinates; give both the "
                "same coordinates, or drop those of one to go by its rows and columns"
            )


def require_overlap(
    first: Sequence[float], second: Sequence[float], names: tuple[object, object]
) -> None:
    """Raise `DataError` where two boxes (left, bottom, right, top) share no area."""
    if _apart(first, second):
        raise NoOverlapError(
            f"{names[0]}: its coordinates {_box(first)} do not overlap {names[1]} {_box(second)}; "
            "check that both belong to the same place and state the right coordinate systems"
        )


def _apart(first: Sequence[float], second: Sequence[float]) -> bool:
    beside = first[0] >= second[2] or second[0] >= first[2]
    return beside or first[1] >= second[3] or second[1] >= first[3]


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
