"""Tables of points: rows of numbers in a text file or a two-dimensional NumPy array."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from diffclass.exceptions import DataError
from diffclass.system.libraries import require_file
from diffclass.system.output import replacing
from diffclass.system.text_dialects import TextDialect, dialect_of


def read_table(path: str | os.PathLike[str]) -> tuple[np.ndarray, list[str]]:
    """Read points (n, d) and the names of their columns, "1", "2" and so on where there are none.

    In ``.csv`` and ``.tsv`` empty cells are NaN; anything other than numbers is a `DataError`.
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
    require_file(place)
    dialect = dialect_of(place)
    try:
        lines = list(dialect.rows(place))
    except csv.Error as error:
        raise DataError(f"{place} is not a table ({error})") from None
    if dialect.names is not None:
        lines = lines[1:]
    if not lines:
        raise DataError(f"{place} holds no row of numbers")
    points = np.empty((len(lines), dialect.n_columns))
    for i, cells in enumerate(lines):
        if len(cells) != dialect.n_columns:
            raise DataError(
                f"{place}: row {i + 1} has {len(cells)} cells, others {dialect.n_columns}"
            )
        points[i] = [_number(cell, place, i + 1, j + 1, dialect) for j, cell in enumerate(cells)]
    return points, list(dialect.names or map(str, range(1, dialect.n_columns + 1)))


def _number(cell: str, place: Path, row: int, column: int, dialect: TextDialect) -> float:
    try:
        return float(cell.replace(dialect.decimal_point, ".")) if cell.strip() else np.nan
    except ValueError:
        raise DataError(
            f"{place}: {cell!r} in row {row}, column {column} is not a number; leave that "
            "column out"
        ) from None
