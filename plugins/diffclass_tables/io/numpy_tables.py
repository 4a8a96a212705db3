"""Tables in NumPy's files: arrays, archives of arrays, sparse matrices of SciPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from diffclass.exceptions import DataError, ParameterError
from diffclass_tables.io.tables import (
    ROW,
    Table,
    check_column,
    checked_values,
    dates_as_text,
    in_words,
    unique_ids,
)

_IDS = ("id", "ids")
_NO_COLUMNS = "an array has neither columns with names nor ids; leave --columns and --id out"


def read_array(path: Path, *, columns: str | None, id_column: str | None, **_: Any) -> Table:
    """Open an array (rows, columns) on a memory map."""
    if columns is not None or id_column is not None:
        raise ParameterError(f"{path}: {_NO_COLUMNS}")
    values = np.load(path, mmap_mode="r", allow_pickle=False)
    if values.ndim == 1:  # results, of which evaluate reads the classes
        return _table(path, "NumPy", None, "none", {"class": values}, None, len(values))
    values = checked_values(path, values)
    return _table(path, "NumPy", values, "the array", {}, None)


def read_archive(path: Path, *, columns: str | None, id_column: str | None, **_: Any) -> Table:
    """Open an archive: a table and, of one entry for each row, its columns; or a sparse matrix."""
    with np.load(path, allow_pickle=False) as archive:
        if {"format", "data", "shape"} <= set(archive.files):
            if columns is not None or id_column is not None:
                raise ParameterError(f"{path}: {_NO_COLUMNS}")
            values = checked_values(path, sp.load_npz(path))
            return _table(path, "SciPy", values, "the sparse matrix", {}, None)
        arrays = {name: archive[name] for name in archive.files}
    tables = [name for name, array in arrays.items() if array.ndim == 2]
    if columns is None and len(tables) > 1:
        largest = max(len(arrays[name]) for name in tables)
        tables = [name for name in tables if len(arrays[name]) == largest]
    if columns is not None and columns not in tables:
        raise ParameterError(f"{path}: no table {columns!r}; it has {in_words(tables)}")
    if columns is None and len(tables) > 1:
        raise ParameterError(f"{path}: which of {in_words(tables)} are features? --columns NAME")
    name = columns or (tables[0] if tables else None)
    values = None if name is None else checked_values(path, arrays.pop(name))
    lengths = [len(array) for array in arrays.values() if array.ndim]
    n_rows = max(lengths, default=0) if values is None else len(values)
    for key in {*_IDS, id_column} & set(arrays):
        if arrays[key].shape != (n_rows,):
            raise DataError(
                f"{path}: ids {key!r} of shape {arrays[key].shape} for {n_rows} rows; give one for "
                "each row"
            )
    others = {
        key: dates_as_text(array) for key, array in arrays.items() if array.shape == (n_rows,)
    }
    return _table(path, "NumPy", values, f"{name!r}", others, id_column, n_rows)


def _table(
    path: Path,
    form: str,
    values: Any,
    features: str,
    columns: dict[str, np.ndarray],
    id_column: str | None,
    n_rows: int | None = None,
) -> Table:
    n = values.shape[0] if n_rows is None else n_rows
    if id_column is not None:
        check_column(path, id_column, list(columns))
    id_name = id_column or next((name for name in _IDS if name in columns), None)
    if n == 0:
        raise DataError(f"{path}: holds no row")
    ids = np.arange(n) if id_name is None else unique_ids(path, id_name, columns[id_name])
    name = ROW if id_name is None else id_name
    return Table(path, form, n, values, features, name, ids, tuple(columns), columns.__getitem__)
