"""How two pictures lie to each other: on one grid, turned, apart or overlapping."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from diffclass.exceptions import DataError, ParameterError
from diffclass_hyperspectral.io.georeference.georeference import (
    Georeference,
    Turn,
    box_text,
    georeference_of,
    same_crs,
    transformed_bounds,
    transformed_points,
    uneven_of,
    whole_turns,
)

_WHOLE = 0.05  # of a pixel, that two grids with pixels in common may be apart
_NEAREST = 0.5 + _WHOLE  # of a pixel, within which a pixel's nearest on another grid is its own
_EVEN = 1e-3  # of a step, that coordinates of an even grid may be off
_COARSEST = 0.25  # of a step, that single precision may round them


class NoOverlapError(DataError):
    """Two things with coordinates have no place in common."""


def even_steps(values: np.ndarray) -> tuple[float, float] | None:
    """Return the first of two or more coordinates and their step, or None where they are uneven.

    Coordinates may be off by a thousandth of a step, or as much as single precision rounds them:
    degrees in steps of 0.00027 are then up to 4e-6 off. Of such ones a line through all gives first
    and step.

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


def placement(
    place: Georeference, grid: Georeference, shape: Sequence[int]
) -> tuple[Turn, tuple[int, int]] | None:
    """Return how a picture lies on a grid whose pixels it shares; None if it shares none.

    They share pixels if the systems are the same and all corners of the picture lie on corners of
    pixels, to a twentieth, as many pixels apart as it has. Rows may run north or south and columns
    east or west: the turn is two slices, the step -1 reverses. The offset is the row and column, on
    the grid, of its first pixel then.

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
    rows, columns = grid.pixels(xs, ys)
    down = -1 if rows[1, 0] < rows[0, 0] else 1
    right = -1 if columns[0, 1] < columns[0, 0] else 1
    turn = slice(None, None, down), slice(None, None, right)
    return turn, rows[turn], columns[turn]


def _off(rows: np.ndarray, columns: np.ndarray, shape: Sequence[int]) -> float:
    """Return the largest distance between corners and those of a picture of a shape at (0, 0)."""
    down, right = np.array([[0], [shape[0]]]), np.array([[0, shape[1]]])
    distance = float(np.hypot(rows - down, columns - right).max())
    return distance if np.isfinite(distance) else math.inf


def turn_onto(
    left: Sequence[str] | None,
    right: Sequence[str] | None,
    shape: Sequence[int],
    names: tuple[object, object],
) -> Turn | None:
    """Return how to turn a picture so that its pixels are those of a grid with as many; else None.

    ``left`` and ``right`` are the ``map_info`` of picture and grid. Where one says nothing of its
    place, pixels are taken as they are; so they are where one lacks a coordinate system and the
    numbers do not meet, or where rasterio is missing and the systems are spelled differently.
    `DataError`: both state where they lie, and it is not the same place.
    """
    as_they_are = (slice(None, None, 1), slice(None, None, 1))
    _check_uneven(left, right, names)
    own, grid = georeference_of(left), georeference_of(right)
    if own is None or grid is None:
        return as_they_are
    if own.crs is None or grid.crs is None:
        if own.crs != grid.crs and _apart(own.bounds(shape), grid.bounds(shape)):
            return as_they_are  # numbers of two systems, as counted pixels and metres
    else:
        try:
            box = transformed_bounds(own.bounds(shape), own.crs, grid.crs, names)
        except ParameterError:
            return as_they_are  # without rasterio two spellings cannot be told from two systems
        require_overlap(turned_box(box, grid, shape), grid.bounds(shape), names)
    corners = _corners(own, shape)
    if own.crs is not None and grid.crs is not None and not same_crs(own.crs, grid.crs):
        corners = transformed_points(*corners, own.crs, grid.crs)
    xs, ys = corners
    corners = xs - whole_turns(xs.mean(), grid.middle(shape), grid.crs), ys
    turn, rows, columns = _turned_corners(grid, *corners)
    return turn if _off(rows, columns, shape) <= _NEAREST else None


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


def turned_box(
    box: Sequence[float], place: Georeference, shape: Sequence[int]
) -> tuple[float, ...]:
    """Return a box moved by whole turns of longitude to where a picture lies."""
    left, bottom, right, top = box
    turns = float(whole_turns((left + right) / 2, place.middle(shape), place.crs))
    return left - turns, bottom, right - turns, top


def require_overlap(
    first: Sequence[float], second: Sequence[float], names: tuple[object, object]
) -> None:
    """Raise `DataError` where two boxes (left, bottom, right, top) share no area."""
    if _apart(first, second):
        raise NoOverlapError(
            f"{names[0]}: its coordinates {box_text(first)} do not overlap {names[1]} "
            f"{box_text(second)}; check that both belong to the same place and state the right "
            "coordinate systems"
        )


def _apart(first: Sequence[float], second: Sequence[float]) -> bool:
    beside = first[0] >= second[2] or second[0] >= first[2]
    return beside or first[1] >= second[3] or second[1] >= first[3]
