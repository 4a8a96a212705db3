"""Labels of rows: a column of the table, or a file with ids and classes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import DataError, ParameterError
from diffclass.names import check_text, is_whole, marks
from diffclass.options import check_options
from diffclass.system.libraries import reading, require_file
from diffclass_tables.formats import OF_COLUMNS
from diffclass_tables.io import arrow_tables
from diffclass_tables.io.tables import RESULTS, ROW, Table, dates_as_text, in_words, is_index
from diffclass_tables.options import OPTIONS

_CLASSES = ("class", "label", "category", "target", "class_name", "y")


def read_row_labels(
    source: str | os.PathLike[str], table: Table, *, variable: str | None = None
) -> np.ndarray:
    r"""Read the labels of a table's rows.

    Parameters
    ----------
    source : str or path-like
        The name of a column; or a file: ``.csv``, ``.tsv``, ``.parquet`` or ``.feather`` with a
        column of ids (called as in the table, "id", or "row", which numbers them from 0) and one of
        classes; or ``.npy`` or ``.npz`` with an entry for each row. Of words that are ids in the
        table, any column holds the ids.
    table : Table
    variable : str, optional
        Column or array of the classes; by default the only one, or one called "class", "label",
        "category" or "target".

    Returns
    -------
    ndarray of object of shape (n_rows,)
        Classes as they are, of ``.csv`` and ``.tsv`` as they are written: whole numbers if all are,
        else texts. None for no label: the marks of `diffclass.names`, such as empty and -1. Dates
        are texts.

    Raises
    ------
    DataError
        For labels of rows that do not exist, rows with two, and lists in place of classes.
    ParameterError
        For columns that are not there.

    See Also
    --------
    read_row_scores : Scores of all classes, where they are only hints.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from diffclass_tables import open_table, read_row_labels
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path, labels = Path(folder) / "flowers.csv", Path(folder) / "labels.csv"
    ...     n = path.write_text("id,petal,kind\na,1.5,x\nb,4.5,\nc,4.7,y\n")
    ...     n = labels.write_text("id,class\nb,y\n")
    ...     table = open_table(path)
    ...     read_row_labels("kind", table).tolist(), read_row_labels(labels, table).tolist()
    (['x', None, 'y'], [None, 'y', None])
    """
    check_options(OPTIONS, variable=variable)
    if str(source) in table.column_names and not Path(source).is_file():
        if variable is not None:
            raise ParameterError(
                f"{source} is a column of {table.path}, and {variable!r} would be one of a file of "
                "labels; name one of them"
            )
        return column_labels(table, str(source))
    place = Path(source)
    if not place.exists() and not place.suffix:
        raise ParameterError(
            f"{source}: neither a file nor a column of {table.path}; it has "
            f"{table.columns_in_words}"
        )
    require_file(place)
    with reading(place, "labels of rows"):
        if place.suffix.lower() in (".npy", ".npz"):
            return _by_order(place, *_array(place, variable), table.n_rows)
        if place.suffix.lower() in OF_COLUMNS:
            return _by_id(place, table, variable)
        raise DataError(
            f"{place}: labels of rows are .csv, .tsv, .txt, .data, .parquet, .feather, .npy or "
            ".npz files"
        )


def column_labels(table: Table, name: str) -> np.ndarray:
    """Return the labels in a column of a table; see `read_row_labels`."""
    return _plain(table.path, name, table.column(name, as_written=True))


def _array(place: Path, variable: str | None) -> tuple[str, np.ndarray]:
    found = np.load(place, allow_pickle=False)
    if isinstance(found, np.ndarray):
        return "the array", found
    with found as archive:
        flat = [name for name in archive.files if archive[name].ndim == 1]
        name = _class_column(place, flat, variable)
        return name, np.asarray(archive[name])


def _by_order(place: Path, column: str, values: np.ndarray, n_rows: int) -> np.ndarray:
    if values.shape != (n_rows,):
        raise DataError(
            f"{place}: labels of shape {values.shape} for {n_rows} rows; give one for each row, or "
            "ids, in a column that is called as in the table, or 'row' for numbers from 0"
        )
    return _plain(place, column, values)


def _by_id(place: Path, table: Table, variable: str | None) -> np.ndarray:
    stored = arrow_tables.read_columns(place)
    names = list(stored.column_names)
    ids = _id_column(table, [name for name in names if name != variable])
    class_column = _class_column(place, [name for name in names if name != ids], variable)
    values = arrow_tables.as_written(place, stored, class_column)
    if ids is None and table.ids.dtype.kind in "OU":
        others = [name for name in names if name != class_column]
        texts = arrow_tables.read_columns(place, as_text=others)
        ids = next((name for name in others if _holds_ids(texts.column(name), table)), None)
    if ids is None:
        return _by_order(place, class_column, values, table.n_rows)
    given = ids_in(place, stored, ids, table)
    found = np.full(table.n_rows, None, dtype=object)
    classes = _plain(place, class_column, values)
    pairs = zip(given, _rows_called(place, ids, given, table), classes, strict=True)
    for name, row, value in pairs:
        if found[row] is not None and value is not None and found[row] != value:
            raise DataError(
                f"{place}: {ids} {name!r} is labelled {found[row]!r} and {value!r}; keep one"
            )
        found[row] = value if value is not None else found[row]
    return found


def _id_column(table: Table, names: list[str]) -> str | None:
    """Return the column of ids by its name; the index of pandas numbers rows without ids."""
    own = [table.id_name, "id"]
    if table.id_name in (*_CLASSES, *RESULTS):  # results then call it "id"
        own.reverse()
    counts = table.id_name == ROW or is_index(table.id_name)
    usual = [*own, ROW, *(name for name in names if counts and is_index(name))]
    by_lower = {name.lower(): name for name in reversed(names)}
    found = [name for name in usual if name in names]
    found += [by_lower[name.lower()] for name in usual if name.lower() in by_lower]
    return next(iter(found), None)


def rows_of_ids(place: Path, stored: Any, table: Table) -> tuple[str | None, np.ndarray]:
    """Return the column of ids of a file, if it has one, and the row of each of its lines."""
    ids = _id_column(table, list(stored.column_names))
    if ids is not None:
        given = ids_in(place, stored, ids, table)
        return ids, np.array(_rows_called(place, ids, given, table))
    if stored.num_rows != table.n_rows:
        raise DataError(
            f"{place}: {stored.num_rows} lines for {table.n_rows} rows, and no column of ids; call "
            "it as in the table, or 'row' for numbers from 0"
        )
    return None, np.arange(table.n_rows)


def ids_in(place: Path, stored: Any, ids: str, table: Table) -> list[Any]:
    """Return a column of ids; as they stand in a text file where those of the table are words."""
    by_number = ids.lower() == ROW and table.id_name.lower() != ROW
    if table.ids.dtype.kind in "OU" and not by_number:
        given = arrow_tables.as_written(place, stored, ids, are_ids=True)
    else:
        given = arrow_tables.as_array(stored.column(ids))
    return [None if value == "" else value for value in given.tolist()]


def _rows_called(place: Path, ids: str, given: list[Any], table: Table) -> list[int]:
    """Return the row of each id, or raise `DataError` for one that no row has."""
    by_number = ids.lower() == ROW and table.id_name.lower() != ROW
    if by_number:
        rows = {i: i for i in range(table.n_rows)}
        found = [rows.get(name, -1) for name in given]
    else:
        found = table.rows_called(given)
    if -1 in found:
        raise DataError(
            f"{place}: {ids} {given[found.index(-1)]!r} is none of the {table.n_rows} rows of "
            f"{table.path}; check which column holds the ids (--id)"
        )
    return found


def _holds_ids(column: Any, table: Table) -> bool:
    """Tell whether a column holds words that are all ids of a table."""
    words = arrow_tables.as_array(column)
    return words.dtype == object and set(words.tolist()) <= set(table.ids.tolist())


def _class_column(place: Path, names: list[str], variable: str | None) -> str:
    if variable is not None:
        if variable not in names:
            raise ParameterError(f"{place}: no column {variable!r}; it has {in_words(names)}")
        return variable
    by_lower = {name.lower(): name for name in reversed(names)}
    usual = [by_lower[name] for name in _CLASSES if name in by_lower]
    if usual or len(names) == 1:
        return (usual or names)[0]
    if all(name.isdecimal() for name in names):
        raise DataError(f"{place}: has no line of names; begin it with one, such as row,class")
    raise ParameterError(
        f"{place}: which column holds the classes? It has {in_words(names)}; name one with "
        "--label-variable"
    )


def _plain(place: Path, column: str, values: np.ndarray) -> np.ndarray:
    """Return labels as objects, None for none."""
    values = dates_as_text(values)
    if values.dtype.kind not in "biufOUS":
        raise DataError(f"{place}, column {column!r}: {values.dtype} values name no classes")
    found = np.array([None, *values.tolist()], dtype=object)[1:]
    found[marks(found)] = None
    with arrow_tables.reading_names(place, column):
        for text in {value for value in values.tolist() if isinstance(value, str)}:
            check_text(text)
    for row, value in enumerate(found):
        if isinstance(value, bytes):
            found[row] = _decoded(place, column, value)
        elif isinstance(value, float) and is_whole(value):
            found[row] = int(value)
        elif isinstance(value, list | dict | np.ndarray):
            raise DataError(
                f"{place}, column {column!r}: holds lists; a class is a text or a whole number, so "
                "name another column, or keep one class of each list"
            )
    return found


def _decoded(place: Path, column: str, value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise DataError(f"{place}, column {column!r}: {value!r} is no text in UTF-8") from None
