"""Parts of a scene to work with: bands by number or wavelength, pixels by files or a box.

A *mask* is left out, a region of interest (*roi*) is kept: of an image the pixels that are not 0
(nor NaN, nor its no-data value), of a vector file those whose centre lies in a shape.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from diffclass.exceptions import DataError, ParameterError
from diffclass_hyperspectral.io.georeference import require_overlap, required_place, turned_box
from diffclass_hyperspectral.io.labels import Grid, ids_on, is_vector, numbered_shapes
from diffclass_hyperspectral.io.rasters import ComputedRaster, Raster, unmasked
from diffclass_hyperspectral.io.readers import Contents, is_ignored, is_xarray, name_of, read_image

_TERM = re.compile(r"(\d+(?:\.\d+)?)(?:\s*-\s*(\d+(?:\.\d+)?))?\s*(nm|um|\u00b5m|\u03bcm)?\Z", re.I)
_HOW = "write numbers from 1 or wavelengths: 1-50,60 or 450-1300,1500-1750nm"


class Banded(Protocol):
    """What bands are chosen of."""

    @property
    def path(self) -> Path:
        """What messages call it."""

    @property
    def n_bands(self) -> int:
        """Number of bands."""

    @property
    def wavelengths(self) -> np.ndarray | None:
        """Band centres in nanometres, if known."""


def chosen_bands(wanted: str | Sequence[int] | np.ndarray, scene: Banded) -> np.ndarray:
    """Return the bands that a text or an array names, bool of shape (bands,).

    A text has terms between commas, each a number or a range with both ends. Numbers count from 1;
    with "nm" or "um" they are wavelengths, and a unit holds for the terms before it too. A range
    takes the bands whose centres lie in it, a single wavelength the nearest band. An array is bool
    or has numbers from 0.
    """
    if not isinstance(wanted, str):
        return _by_array(np.asarray(wanted), scene)
    terms = [_TERM.match(text.strip()) for text in wanted.split(",")]
    unit, chosen = "", np.zeros(scene.n_bands, dtype=bool)
    for text, found in reversed(list(zip(wanted.split(","), terms, strict=True))):
        if found is None:
            raise ParameterError(f"bands: {text.strip()!r} is no number and no range; {_HOW}")
        unit = (found[3] or unit).lower()
        low, high = float(found[1]), float(found[2] or found[1])
        named = _by_wavelength(low, high, unit, scene) if unit else _by_number(low, high, scene)
        if not named.any():
            term = text.strip() + ("" if found[3] else unit)
            raise ParameterError(f"bands: {term} names no band of {scene.path}, {_has(scene)}")
        chosen |= named
    return chosen


def _by_array(wanted: np.ndarray, scene: Banded) -> np.ndarray:
    if wanted.dtype == bool and wanted.shape == (scene.n_bands,):
        return wanted
    inside = wanted.dtype.kind in "iu" and wanted.ndim == 1 and wanted.size > 0
    if not inside or wanted.min() < 0 or wanted.max() >= scene.n_bands:
        raise ParameterError(
            f"bands has shape {wanted.shape} and type {wanted.dtype}; give numbers from 0 to "
            f"{scene.n_bands - 1}, or a bool for each of the {scene.n_bands} bands of {scene.path}"
        )
    chosen = np.zeros(scene.n_bands, dtype=bool)
    chosen[wanted] = True
    return chosen


def _by_number(low: float, high: float, scene: Banded) -> np.ndarray:
    if low != int(low) or high != int(high):
        raise ParameterError(f"bands: {low:g} counts no band; for wavelengths add their unit, nm")
    numbers = np.arange(1, scene.n_bands + 1)
    within = 1 <= low <= high <= scene.n_bands
    return (numbers >= low) & (numbers <= high) & within


def _by_wavelength(low: float, high: float, unit: str, scene: Banded) -> np.ndarray:
    centres = scene.wavelengths
    if centres is None:
        raise DataError(f"{scene.path}: has no wavelengths; choose bands by number, as 1-50")
    factor = 1.0 if unit == "nm" else 1e3
    low, high = low * factor, high * factor
    if low != high:
        return (centres >= low) & (centres <= high)
    distances = np.abs(centres - low)
    gaps = np.diff(np.sort(centres))
    reach = gaps.max() if len(gaps) else 1.0  # beyond it there is no band of this wavelength
    return (distances == distances.min()) & (distances <= reach)


def _has(scene: Banded) -> str:
    centres = scene.wavelengths
    span = "" if centres is None else f" from {centres.min():.1f} to {centres.max():.1f} nm"
    return f"which has {scene.n_bands} bands{span}"


def pixels_in(source: Any, grid: Grid) -> np.ndarray:
    """Return which pixels of a scene a file, a picture or a box covers, bool (rows, columns).

    A box is left, bottom, right, top in the scene's map coordinates, also as text. `DataError`: a
    file cannot be read, is no single band, or does not lie on the scene.
    """
    table = getattr(grid, "lookup_table", None)
    target: Grid = grid if table is None else table
    box = _box_of(source)
    if box is not None:
        found = _in_box(box, target)
    elif isinstance(source, str | os.PathLike) and is_vector(source):
        found = numbered_shapes(source, target) > 0
    else:
        picture, map_info, path = _not_zero(source)
        return ids_on(picture, map_info, grid, path) > 0
    return found if table is None else table.to_sensor(found.astype(np.uint8)) > 0


def _box_of(source: Any) -> tuple[float, float, float, float] | None:
    if isinstance(source, str):
        source = source.split(",")
    if isinstance(source, os.PathLike) or is_xarray(source) or np.ndim(source) != 1:
        return None
    try:
        sides = [float(value) for value in source]
    except ValueError:
        return None
    if len(sides) < 2:
        return None  # the name of a file
    if len(sides) != 4:
        raise ParameterError(
            f"roi: {len(sides)} numbers; a box has four: left,bottom,right,top in map coordinates"
        )
    left, bottom, right, top = sides
    if not (left < right and bottom < top):
        raise ParameterError(
            f"roi {left:g},{bottom:g},{right:g},{top:g} is empty; give left,bottom,right,top"
        )
    return left, bottom, right, top


def _in_box(box: tuple[float, ...], grid: Grid) -> np.ndarray:
    place = required_place(
        grid.map_info, grid.path, purpose="for a box", cure="give the roi as an image"
    )
    box = turned_box(box, place, grid.shape[:2])
    require_overlap(box, place.bounds(grid.shape[:2]), ("roi", grid.path))
    a, b, c, d, e, f = place.transform
    down, right = (np.arange(n) + 0.5 for n in grid.shape[:2])
    x = a * right[None, :] + b * down[:, None] + c
    y = d * right[None, :] + e * down[:, None] + f
    return (x >= box[0]) & (x <= box[2]) & (y >= box[1]) & (y <= box[3])


def _not_zero(source: Any) -> tuple[Raster, tuple[str, ...] | None, Path]:
    """Return a picture that is 1 where a source is not 0, its coordinates and its name."""
    if isinstance(source, str | os.PathLike) or is_xarray(source):
        path, contents = name_of(source), read_image(source, n_axes=2)
    else:
        path, contents = Path("mask"), Contents(unmasked(source), "array")
    data = contents.data
    is_band = len(data.shape) in (2, 3) and data.shape[2:] in ((), (1,))
    if not is_band or data.dtype.kind not in "biuf":
        raise DataError(f"{path}: an array of shape {data.shape}; a mask has one band of numbers")

    def read(rows: slice) -> np.ndarray:
        values = np.asarray(data[rows]).reshape(-1, data.shape[1])
        there = (values != 0) & ~np.isnan(values) & ~is_ignored(values, contents.ignore_value)
        return there.astype(np.uint8)

    return ComputedRaster(data.shape[:2], np.uint8, read), contents.map_info, path
