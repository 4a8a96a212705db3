"""Labels from a list of pixels: ``.csv`` with the columns row and column, from 0, and a class.

Such a file is what `diffclass_hyperspectral.write_points` writes, with its column "class" filled
in. It needs no map coordinates. Classes are read as those of the fields of shapes are.
"""

from __future__ import annotations

import csv
import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from diffclass.exceptions import DataError
from diffclass.libraries import reading
from diffclass_hyperspectral.io.labels.class_table import ClassTable
from diffclass_hyperspectral.io.labels.label_images import Grid, LabelImage
from diffclass_hyperspectral.io.labels.vector_labels import classes_of_fields

_PLACES = ("row", "column")


def is_pixel_list(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file is a list of pixels, by its ending and its first line."""
    place = Path(path)
    if place.suffix.lower() != ".csv" or not place.is_file():
        return False
    with place.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        return set(_PLACES) <= set(next(csv.reader(file), []))


def read_pixel_list(
    path: str | os.PathLike[str],
    grid: Grid,
    *,
    class_field: str | None = None,
    known: ClassTable | None = None,
) -> LabelImage:
    """Put the classes of a list on the pixels of a scene; see `read_labels`."""
    place = Path(path)
    with reading(place, "a list of pixels"), place.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file)
        lines = list(rows)
    names = rows.fieldnames or ()
    fields = {name: np.array([line[name] for line in lines], dtype=object) for name in names}
    field, ids, class_names = classes_of_fields(place, fields, class_field, known)
    if not ids.any():
        raise DataError(f"{place}: no pixel has a class in the column {field!r}; fill it in")
    picture = np.zeros(grid.shape[:2], dtype=np.int32)
    for number, line in enumerate(lines, start=2):
        if ids[number - 2]:
            pixel = _pixel(line, picture.shape, f"{place}, line {number}")
            if picture[pixel] not in (0, ids[number - 2]):
                raise DataError(f"{place}, line {number}: a second class of its pixel; keep one")
            picture[pixel] = ids[number - 2]
    labels = LabelImage.from_array(picture, names=class_names, path=place)
    return replace(labels, format="list of pixels", map_info=grid.map_info)


def _pixel(line: dict[str, str], shape: tuple[int, ...], where: str) -> tuple[int, int]:
    row, column = (line[name] or "" for name in _PLACES)
    if not (row.isdecimal() and column.isdecimal()):
        raise DataError(f"{where}: row {row!r}, column {column!r}; they are numbers from 0")
    if int(row) >= shape[0] or int(column) >= shape[1]:
        raise DataError(
            f"{where}: row {row}, column {column} is beyond {shape[0]} rows x {shape[1]} columns; "
            "both count from 0"
        )
    return int(row), int(column)
