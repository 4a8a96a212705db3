"""Coordinates as ENVI writes them: the strings of ``map info``, which travel with a scene.

Code that passes these strings on passes the coordinates on (`MapInfo`).

Source: ENVI header format ("map info", "coordinate system string"); reference pixels count from 1
at the outer corner of the first pixel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from diffclass.exceptions import DataError
from diffclass_hyperspectral.io.georeference.georeference import Georeference, UnevenCentres

_UTM_BASE = {"WGS84": (32600, 32700), "NAD83": (26900, None), "NAD27": (26700, None)}

_GEOGRAPHIC = {"WGS84": 4326, "NAD83": 4269, "NAD27": 4267}


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
