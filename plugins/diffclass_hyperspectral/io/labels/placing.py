"""Labels by coordinates: pictures of class ids on the pixels of a scene that has another grid.

A label counts for the pixel of the scene that its own pixel's centre lies in. A pixel of the scene
that holds no such centre, as where labels are coarser, takes the label at its own centre. Of
several classes in one pixel the most frequent counts, of equally frequent ones none; pixels without
a label have no vote.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from diffclass.exceptions import DataError, warn_user
from diffclass_hyperspectral.io.georeference import (
    Georeference,
    LookupTable,
    NoOverlapError,
    Turn,
    Votes,
    georeference_of,
    is_geographic,
    placement,
    require_overlap,
    transformed_bounds,
    transformed_points,
    turn_onto,
    turned_box,
    whole_turns,
)
from diffclass_hyperspectral.io.rasters import Raster, row_blocks

_COUNTED = 2**26  # pixels; of a larger picture only the rows that the scene lies on are read
_ROUNDING = 1e-6  # of a pixel, by which a centre on a border may seem to lie before it


class Grid(Protocol):
    """What labels are put on: a scene, a label image of it, or the map grid of a lookup table."""

    @property
    def path(self) -> Path:
        """What messages call it."""

    @property
    def map_info(self) -> tuple[str, ...] | None:
        """Its coordinates."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns, and maybe bands."""


@dataclass(frozen=True, eq=False)
class Cells:
    """An even grid on a map: ``numbers`` (rows, columns) of a scene's pixels there, -1 for none."""

    place: Georeference
    numbers: np.ndarray

    def numbers_at(self, xs: np.ndarray, ys: np.ndarray, crs: str | None) -> np.ndarray:
        """Return which pixels of the scene lie at coordinates of a system."""
        at = _pixels_at(self.place, self.numbers.shape, xs, ys, crs)
        return np.where(at < 0, -1, self.numbers.ravel()[at])


def cells_of(grid: Grid) -> list[Cells]:
    """Return where the pixels of a grid lie, on one map or several; nothing without coordinates."""
    several: list[Cells] | None = getattr(grid, "cells", None)
    if several is not None:
        return several
    n_columns = grid.shape[1]
    table = _table_of(grid)
    if table is None:
        place = georeference_of(grid.map_info)
        numbers = np.arange(math.prod(grid.shape[:2])).reshape(grid.shape[:2])
    else:
        place = georeference_of(table.map_info)
        numbers = np.where(table.rows < 0, -1, table.rows * n_columns + table.columns)
    return [] if place is None else [Cells(place, numbers)]


def ids_on(ids: Raster, map_info: Sequence[str] | None, grid: Grid, path: Path) -> np.ndarray:
    """Return the class ids of a grid's pixels, of a picture of ids that lies there.

    One of the grid's size is taken as it is, turned where its rows or columns run back, if it lies
    there or either has no coordinates. Any other is placed by coordinates, with a warning that says
    what became of its labels. `DataError`: either has none, or they do not overlap.
    """
    table = None if georeference_of(map_info) is None else _table_of(grid)
    on_map = table is not None and ids.shape == table.shape
    target = table if on_map and table is not None else grid
    if ids.shape == target.shape[:2]:
        turn = turn_onto(map_info, target.map_info, ids.shape, (path, grid.path))
        if turn is not None:
            found = _turned(ids if isinstance(ids, np.ndarray) else ids[:], turn)
            return table.to_sensor(found) if on_map and table is not None else found
    return _placed(ids, map_info, grid, path)


def is_placed(shape: Sequence[int], map_info: Sequence[str] | None, grid: Grid) -> bool:
    """Tell whether a picture of another size than a grid lies on it by the coordinates of both."""
    is_other = tuple(shape) != tuple(grid.shape[:2])
    return is_other and georeference_of(map_info) is not None and bool(cells_of(grid))


def _table_of(grid: Grid) -> LookupTable | None:
    """Return the map of a scene in its sensor's geometry."""
    table: LookupTable | None = getattr(grid, "lookup_table", None)
    return table


def _turned(ids: np.ndarray, turn: Turn) -> np.ndarray:
    return ids if all(part.step == 1 for part in turn) else np.ascontiguousarray(ids[turn])


def _placed(ids: Raster, map_info: Sequence[str] | None, grid: Grid, path: Path) -> np.ndarray:
    place = georeference_of(map_info)
    cells = [] if place is None else cells_of(grid)
    if place is None or not cells:
        raise DataError(_other_size(ids.shape, grid, path if place is None else grid.path, path))
    window = _window(place, ids.shape, cells, (path, grid.path))
    votes = Votes(math.prod(grid.shape[:2]))
    is_whole = math.prod(ids.shape) <= _COUNTED
    read = range(ids.shape[0]) if is_whole else window[0]
    n_labelled, n_used = _cast(ids, place, cells, votes, (read, *window))
    n_used += _cast_by_centres(ids, place, cells, votes)
    found, n_mixed, n_tied = votes.winners()
    n_outside, which = n_labelled - n_used, "" if is_whole else "in the rows that were read "
    outside = f"{n_outside:,} of {n_labelled:,} labelled pixels {which}lie outside"
    if n_mixed or any(placement(place, one.place, ids.shape) is None for one in cells):
        warn_user(
            f"{path}: lies on another grid than {grid.path} and is placed by coordinates: "
            f"{outside}; {n_mixed:,} pixels of the scene hold several classes and take the most "
            f"frequent one, or none where others are as frequent ({n_tied:,})"
            + _assumed(place, cells)
        )
    elif n_outside:
        warn_user(f"{path}: {outside} {grid.path}")
    return found.reshape(grid.shape[:2])


def _other_size(shape: Sequence[int], grid: Grid, lacking: Path, path: Path) -> str:
    swapped = tuple(shape[::-1]) == tuple(grid.shape[:2])
    return (
        f"{path}: {shape[0]} rows x {shape[1]} columns of labels, but {grid.path} has "
        f"{grid.shape[0]} rows x {grid.shape[1]} columns, and {lacking} states no coordinates; "
        + ("transpose one of them" if swapped else "give the labels of this scene")
    )


def _assumed(place: Georeference, cells: list[Cells]) -> str:
    lack = any((one.place.crs is None) != (place.crs is None) for one in cells)
    return "; only one names its coordinate system, which is taken for that of both" if lack else ""


def _window(
    place: Georeference, shape: Sequence[int], cells: list[Cells], names: tuple[Path, Path]
) -> tuple[range, range]:
    """Return the rows and columns of a picture that cells lie on; `NoOverlapError` for none."""
    boxes, problem = [], None
    for one in cells:
        box: Sequence[float] = one.place.bounds(one.numbers.shape)
        if one.place.crs is not None and place.crs is not None:
            box = transformed_bounds(box, one.place.crs, place.crs, names[::-1])
        left, bottom, right, top = turned_box(box, place, shape)
        turns = (0, -360, 360) if is_geographic(place.crs) else (0,)  # degrees are a circle
        for turn in turns:
            box = left + turn, bottom, right + turn, top
            try:
                require_overlap(place.bounds(shape), box, names)
                boxes.append(box)
            except NoOverlapError as error:
                problem = problem or error
    if problem is not None and not boxes:
        raise problem
    xs, ys = np.array([(box[0::2], box[1::2]) for box in boxes]).transpose(1, 0, 2)
    places = place.pixels(xs[:, :, None], ys[:, None, :])
    rows, columns = (
        range(max(0, math.floor(part.min()) - 1), min(size, math.ceil(part.max()) + 1))
        for part, size in zip(places, shape, strict=True)
    )
    return rows, columns


def _cast(
    ids: Raster,
    place: Georeference,
    cells: list[Cells],
    votes: Votes,
    parts: tuple[range, range, range],
) -> tuple[int, int]:
    """Count each label where its pixel's centre lies.

    ``parts`` are the rows to read, and the rows and columns that cells may lie on. Returns how many
    labels were read, and how many of them count.
    """
    read, rows, columns = parts
    n_labelled = n_used = 0
    for some in row_blocks(len(read), ids.shape[1]):
        here = read[some]
        block = np.asarray(ids[here.start : here.stop])
        n_labelled += int(np.count_nonzero(block))
        near = np.intersect1d(here, rows)
        values = block[near - here.start, columns.start : columns.stop]
        xs, ys = place.centre(near[:, None], np.array(columns)[None, :])
        used = np.zeros(values.shape, dtype=bool)
        for one in cells:
            at = one.numbers_at(xs, ys, place.crs)
            votes.reach(at[at >= 0])
            labelled = (values > 0) & (at >= 0)
            votes.add(at[labelled], values[labelled])
            used |= labelled
        n_used += int(np.count_nonzero(used))
    return n_labelled, n_used


def _cast_by_centres(ids: Raster, place: Georeference, cells: list[Cells], votes: Votes) -> int:
    """Count the label at the centre of each cell that no pixel's centre reached.

    Returns how many labels count whose own pixels' centres lie on no cell.
    """
    n_used, width = 0, ids.shape[1]
    numbers, pixels = _unreached(ids.shape, place, cells, votes)
    for rows in row_blocks(ids.shape[0], width):
        low, high = np.searchsorted(pixels, [rows.start * width, rows.stop * width])
        if low == high:
            continue
        values = np.asarray(ids[rows]).ravel()[pixels[low:high] - rows.start * width]
        labelled = values > 0
        votes.add(numbers[low:high][labelled], values[labelled])
        used = np.unique(pixels[low:high][labelled])
        centres = place.centre(*np.divmod(used, width))
        apart = [one.numbers_at(*centres, place.crs) < 0 for one in cells]
        n_used += int(np.count_nonzero(np.logical_and.reduce(apart)))
    return n_used


def _unreached(
    shape: Sequence[int], place: Georeference, cells: list[Cells], votes: Votes
) -> tuple[np.ndarray, np.ndarray]:
    """Return pixels of the scene not reached, and those of the picture there, in their order."""
    found = [np.empty((2, 0), dtype=np.int64)]
    for one in cells:
        for some in row_blocks(*one.numbers.shape):
            here = one.numbers[some]
            rows, columns = np.nonzero((here >= 0) & ~votes.reached[here])
            centres = one.place.centre(rows + some.start, columns)
            pixels = _pixels_at(place, shape, *centres, one.place.crs)
            numbers = here[rows, columns]
            found.append(np.stack([numbers, pixels])[:, pixels >= 0])
    joined = np.concatenate(found, axis=1)
    numbers, pixels = joined[:, np.argsort(joined[1], kind="stable")]
    return numbers, pixels


def _pixels_at(
    place: Georeference, shape: Sequence[int], xs: np.ndarray, ys: np.ndarray, crs: str | None
) -> np.ndarray:
    """Return which pixels of a picture, row by row, lie at coordinates of a system; -1 for none."""
    if crs is not None and place.crs is not None and crs != place.crs:
        xs, ys = transformed_points(xs, ys, crs, place.crs)
    xs = xs - whole_turns(xs, place.middle(shape), place.crs)
    rows, columns = (np.floor(part + _ROUNDING) for part in place.pixels(xs, ys))
    inside = (rows >= 0) & (rows < shape[0]) & (columns >= 0) & (columns < shape[1])
    pixels = np.full(inside.shape, -1, dtype=np.int64)
    pixels[inside] = (rows[inside] * shape[1] + columns[inside]).astype(np.int64)
    return pixels
