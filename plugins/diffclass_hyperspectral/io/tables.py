"""Tables of points: rows of numbers in a text file or a two-dimensional NumPy array."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from diffclass.exceptions import DataError
from diffclass.output import replacing

_DELIMITERS = {".csv": ",", ".tsv": "\t"}


def is_table(path: str | os.PathLike[str]) -> bool:
    """Whether a file's ending, or a NumPy file's number of axes, makes it a table of points."""
    place = Path(path)
    if place.suffix.lower() in _DELIMITERS:
        return True
    if place.suffix.lower() != ".npy":
        return False
    try:
        return np.load(place, mmap_mode="r", allow_pickle=False).ndim == 2
    except Exception:  # opening it as a scene says what is wrong
        return False


def read_table(path: str | os.PathLike[str]) -> tuple[np.ndarray, list[str]]:
    """Read points (n, d) and the names of their columns, "1", "2" and so on where there are none.

    In ``.csv`` and ``.tsv`` a first line of names is optional and empty cells are NaN. A file that
    is missing, empty, ragged, or holds anything other than numbers is a `DataError`.
    """
    place = Path(path)
    if place.suffix.lower() == ".npy":
        points = np.load(place, allow_pickle=False)
        if points.dtype.kind not in "biuf":
            raise DataError(f"{place} holds {points.dtype}; points are real numbers")
        points = points.astype(np.result_type(points.dtype, np.float32), copy=False)
        return points, [str(i + 1) for i in range(points.shape[1])]
    return _read_text(place)


def write_table(
    path: str | os.PathLike[str],
    values: np.ndarray,
    names: Sequence[str],
    *,
    overwrite: bool = False,
) -> None:
    """Write columns of numbers as ``.csv``, names first, whole or not at all; NaN is left empty."""
    with replacing(path, overwrite=overwrite) as temporary, temporary.open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(names)
        for row in values:
            rows.writerow(["" if np.isnan(value) else f"{value:.9g}" for value in row])


def _read_text(place: Path) -> tuple[np.ndarray, list[str]]:
    try:
        with place.open(newline="", encoding="utf-8-sig") as file:
            rows = csv.reader(file, delimiter=_DELIMITERS[place.suffix.lower()])
            lines = [cells for cells in rows if cells]
    except FileNotFoundError:
        raise DataError(f"{place}: there is no such file") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{place} is not a table ({error})") from None
    names = [cell.strip() for cell in lines.pop(0)] if lines and not _is_numeric(lines[0]) else None
    if not lines:
        raise DataError(f"{place} holds no row of numbers")
    width = len(lines[0] if names is None else names)
    points = np.empty((len(lines), width))
    for i, cells in enumerate(lines):
        if len(cells) != width:
            raise DataError(f"{place}: row {i + 1} has {len(cells)} cells, others {width}")
        points[i] = [_number(cell, place, i + 1, j + 1) for j, cell in enumerate(cells)]
    return points, names or [str(j + 1) for j in range(width)]


def _is_numeric(cells: list[str]) -> bool:
    try:
        [float(cell) for cell in cells if cell.strip()]
    except ValueError:
        return False
    return True


def _number(cell: str, place: Path, row: int, column: int) -> float:
    try:
        return float(cell) if cell.strip() else np.nan
    except ValueError:
        raise DataError(
            f"{place}: {cell!r} in row {row}, column {column} is not a number; leave that "
            "column out"
        ) from None
