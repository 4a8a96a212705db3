"""Coordinate reference systems by ``rasterio``: parsed, compared, spelled out, transformed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from diffclass.exceptions import DataError, DiffclassError, ParameterError
from diffclass_hyperspectral.io.libraries import require


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


def transformed_points(
    xs: np.ndarray, ys: np.ndarray, source: str, target: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return coordinates of one system in another."""
    warp = require("rasterio.warp", extra="maps")
    found = warp.transform(parsed_crs(source), parsed_crs(target), xs.ravel(), ys.ravel())
    right, down = (np.asarray(part, dtype=float).reshape(xs.shape) for part in found)
    return right, down


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
            f"coordinates {box_text(box)} have no place in the other coordinate system ({error}); "
            "check which system the file states"
        ) from error


def box_text(box: Sequence[float]) -> str:
    """Return left, bottom, right and top of a box to read."""
    return f"({', '.join(f'{v:.6g}' for v in box)})"
