"""Labels from a list of pixels: a text file with the columns row and column, from 0, and a class.

`diffclass_hyperspectral.write_points` writes such files as ``.csv``, to be filled in; spreadsheets
may have put semicolons or tabs for commas, "2.0" for 2, and other letters in names of columns.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

from diffclass.exceptions import DataError
from diffclass.system.libraries import reading
from diffclass.system.text_dialects import (
    BLANKS,
    DELIMITERS,
    ENDINGS,
    cells_of,
    read_text,
    table_in,
)
from diffclass_hyperspectral.io.labels.class_fields import classes_of_fields
from diffclass_hyperspectral.io.labels.class_table import ClassTable
from diffclass_hyperspectral.io.labels.label_images import LabelImage
from diffclass_hyperspectral.io.labels.placing import Grid

_PLACES = ("row", "column")
_SAMPLE = 2**16  # letters
_WHOLE = re.compile(r"(\d+)(\.0+)?", re.ASCII)
_DECIMAL_COMMA = re.compile(r"(-?\d+),(0+)", re.ASCII)


def is_pixel_list(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file is a list of pixels, by its ending and its first line."""
    place = Path(path)
    if place.suffix.lower() not in ENDINGS or not place.is_file():
        return False
    body, _ = table_in(read_text(place, most=_SAMPLE, errors="replace"))
    return _delimiter(body) is not None


def read_pixel_list(
    path: str | os.PathLike[str],
    grid: Grid,
    *,
    class_field: str | None = None,
    known: ClassTable | None = None,
) -> LabelImage:
    """Put the classes of a list on the pixels of a scene; see `read_labels`."""
    place = Path(path)
    fields, numbers = _read(place)
    found = classes_of_fields(place, fields, class_field, known)
    if not found.ids.any():
        raise DataError(f"{place}: no pixel has a class in the column {found.field!r}; fill it in")
    by_lower = {name.lower(): texts for name, texts in fields.items()}
    picture = np.zeros(grid.shape[:2], dtype=np.int32)
    lines = zip(numbers, found.ids, *(by_lower[name] for name in _PLACES), strict=True)
    for number, class_id, row, column in lines:
        if class_id:
            pixel = _pixel(row, column, picture.shape, f"{place}, line {number}")
            if picture[pixel] not in (0, class_id):
                raise DataError(f"{place}, line {number}: a second class of its pixel; keep one")
            picture[pixel] = class_id
    labels = LabelImage.from_array(picture, names=found.names, colors=found.colors, path=place)
    labels = replace(labels, format="list of pixels", is_numbered=found.is_numbered)
    return labels.placed(grid.map_info)


def _delimiter(text: str) -> str | None:
    """Return what divides a line of names in which row and column are, or None."""
    for delimiter in (*DELIMITERS, BLANKS):
        names = next(cells_of(text.partition("\n")[0], delimiter), [])
        if set(_PLACES) <= {name.strip().lower() for name in names}:
            return delimiter
    return None


def _read(place: Path) -> tuple[dict[str, np.ndarray], list[int]]:
    """Return the texts of each column, and the number of each line."""
    names, lines = _lines(place)
    twice = [name for name, n in Counter(map(str.lower, names)).items() if name and n > 1]
    if twice:
        raise DataError(f"{place}: two columns are called {twice[0]!r}; rename one")
    for number, cells in lines:
        if any(cell.strip() for cell in cells[len(names) :]):
            raise DataError(
                f"{place}, line {number}: {len(cells)} cells for {len(names)} columns; put a text "
                "with commas, semicolons or tabs in quotes"
            )
    columns = [
        [cells[i] if i < len(cells) else "" for _, cells in lines] for i in range(len(names))
    ]
    fields = dict(zip(names, map(_texts, columns), strict=True))
    return fields, [number for number, _ in lines]


def _lines(place: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the names of the columns, and number and cells of each line."""
    with reading(place, "a list of pixels"):
        body, before = table_in(read_text(place))
        delimiter = _delimiter(body) or ","
        if delimiter == BLANKS:
            lines = list(enumerate(cells_of(body, delimiter), len(before) + 1))
            return lines[0][1], lines[1:]
        rows = csv.reader(io.StringIO(body, newline=""), delimiter=delimiter)
        names = [name.strip() for name in next(rows, [])]
        return names, [(len(before) + rows.line_num, cells) for cells in rows if cells]


def _texts(cells: list[str]) -> np.ndarray:
    """Return the texts of a column; of whole numbers with a decimal comma those with a point."""
    written = [_DECIMAL_COMMA.fullmatch(cell.strip()) for cell in cells]
    if all(found or not cell.strip() for found, cell in zip(written, cells, strict=True)):
        cells = [f"{found[1]}.{found[2]}" if found else "" for found in written]
    return np.array([*cells, None], dtype=object)[:-1]


def _pixel(row: str, column: str, shape: tuple[int, ...], where: str) -> tuple[int, int]:
    found = [_WHOLE.fullmatch(text.strip()) for text in (row, column)]
    if found[0] is None or found[1] is None:
        raise DataError(f"{where}: row {row!r}, column {column!r}; they are numbers from 0")
    place = int(found[0][1]), int(found[1][1])
    if place[0] >= shape[0] or place[1] >= shape[1]:
        raise DataError(
            f"{where}: row {row}, column {column} is beyond {shape[0]} rows x {shape[1]} columns; "
            "both count from 0"
        )
    return place
