"""Labels of rows: a column of the table, or a file with ids and classes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import DataError, ParameterError
from diffclass.libraries import reading, require_file
from diffclass_tables.io import arrow_tables
from diffclass_tables.io.tables import ROW, Table, in_words

_CLASSES = ("class", "label", "category", "target", "class_name", "y")


def read_row_labels(
    source: str | os.PathLike[str], table: Table, *, variable: str | None = None
) -> np.ndarray:
    """Read the labels of a table's rows.

    Parameters
    ----------
    source : str or path-like
        The name of a column; or a file: ``.csv``, ``.tsv``, ``.parquet`` or ``.feather`` with a
        column of ids (called as in the table, "id" or "row", which numbers them from 0) and one of
        classes; or ``.npy`` or ``.npz`` with an entry for each row.
    table : Table
    variable : str, optional
        Column or array of the classes; by default the only one, or one called "class", "label",
        "category" or "target".

    Returns
    -------
    ndarray of object of shape (n_rows,)
        Classes as they are; None for no label: empty, missing, -1 among numbers.

    Raises
    ------
    DataError
        For labels of rows that do not exist, and rows with two.
    ParameterError
        For columns that are not there.
    """
    if str(source) in table.column_names and not Path(source).exists():
        return _plain(table.column(str(source)))
    place = Path(source)
    if not place.exists() and not place.suffix:
        raise ParameterError(
            f"{source}: neither a file nor a column of {table.path}; it has "
            f"{table.columns_in_words}"
        )
    require_file(place)
    with reading(place, "labels of rows"):
        if place.suffix.lower() in (".npy", ".npz"):
            return _by_order(place, _array(place, variable), table.n_rows)
        if place.suffix.lower() in arrow_tables.ENDINGS:
            return _by_id(place, table, variable)
        raise DataError(
            f"{place}: labels of rows are .csv, .tsv, .parquet, .feather, .npy or .npz files"
        )


def _array(place: Path, variable: str | None) -> np.ndarray:
    found = np.load(place, allow_pickle=False)
    if isinstance(found, np.ndarray):
        return found
    with found as archive:
        flat = [name for name in archive.files if archive[name].ndim == 1]
        name = _class_column(place, flat, variable)
        return np.asarray(archive[name])


def _by_order(place: Path, values: np.ndarray, n_rows: int) -> np.ndarray:
    if values.shape != (n_rows,):
        raise DataError(
            f"{place}: labels of shape {values.shape} for {n_rows} rows; give one for each row, or "
            "ids and classes"
        )
    return _plain(values)


def _by_id(place: Path, table: Table, variable: str | None) -> np.ndarray:
    stored = arrow_tables.read_columns(place)
    names = list(stored.column_names)
    ids = next((name for name in (table.id_name, "id", ROW) if name in names), None)
    if ids == variable:
        ids = None
    class_column = _class_column(place, [name for name in names if name != ids], variable)
    values = arrow_tables.as_array(stored.column(class_column))
    if ids is None:
        return _by_order(place, values, table.n_rows)
    given = arrow_tables.as_array(stored.column(ids)).tolist()
    by_number = ids == ROW and table.id_name != ROW
    rows: dict[Any, int] = {i: i for i in range(table.n_rows)} if by_number else _by_text(table)
    found = np.full(table.n_rows, None, dtype=object)
    for name, value in zip(given, _plain(values).tolist(), strict=True):
        row = rows.get(name, rows.get(str(name)))
        if row is None:
            raise DataError(
                f"{place}: {ids} {name!r} is none of the {table.n_rows} rows of {table.path}; "
                "check which column holds the ids (--id)"
            )
        if found[row] is not None and value is not None and found[row] != value:
            raise DataError(
                f"{place}: {ids} {name!r} is labelled {found[row]!r} and {value!r}; keep one"
            )
        found[row] = value if value is not None else found[row]
    return found


def _by_text(table: Table) -> dict[Any, int]:
    """Return the row of each id, also of a number that a file has as text."""
    rows = table.row_of()
    return {str(value): row for value, row in rows.items()} | rows


def _class_column(place: Path, names: list[str], variable: str | None) -> str:
    if variable is not None:
        if variable not in names:
            raise ParameterError(f"{place}: no column {variable!r}; it has {in_words(names)}")
        return variable
    by_lower = {name.lower(): name for name in reversed(names)}
    usual = [by_lower[name] for name in _CLASSES if name in by_lower]
    if usual or len(names) == 1:
        return (usual or names)[0]
    raise ParameterError(
        f"{place}: which column holds the classes? It has {in_words(names)}; name one with "
        "--label-variable"
    )


def _plain(values: np.ndarray) -> np.ndarray:
    """Return labels as objects, None for none."""
    found = np.array([None] * len(values), dtype=object)
    for row, value in enumerate(values.tolist()):
        is_missing = value is None or value != value or value == -1
        if isinstance(value, str):
            is_missing = value.strip() in ("", "-1")
        if not is_missing:
            whole = isinstance(value, float) and value == int(value)
            found[row] = int(value) if whole else value
    return found
