"""Tables of columns, by ``pyarrow``: CSV, TSV, Parquet and Feather.

Of CSV a first line of names is optional, and empty cells are missing values.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import DataError, ParameterError
from diffclass.libraries import require
from diffclass_tables.io.tables import ROW, Table, chosen_names, in_words, unique_ids

EXTRA = "tables"
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
ENDINGS = (*_DELIMITERS, ".parquet", ".feather")
_BLOCK = 2**20  # bytes of text in which the types of columns are found; rows may be long
_MISTYPED = (
    0.5  # of the cells of a column of text: from this share of numbers on it is one of these
)


def read(path: Path, *, columns: str | None, id_column: str | None) -> Table:
    """Open a table of columns."""
    stored = read_columns(path)
    names = stored.column_names
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{path}: two columns are called {twice!r}; rename one")
    if stored.num_rows == 0:
        raise DataError(f"{path}: holds no row of numbers")
    id_name = id_column or next((name for name in names if name.lower() == "id"), ROW)
    if id_column is not None and id_column not in names:
        raise ParameterError(f"{path}: no column {id_column!r}; it has {in_words(names)}")
    wanted = None if columns is None else chosen_names(path, names, columns)
    found = _features(path, stored, wanted, id_name)
    left_out = tuple(name for name in names if name not in found and name != id_name)
    ids = (
        np.arange(stored.num_rows)
        if id_name == ROW
        else unique_ids(path, id_name, as_array(stored.column(id_name)))
    )
    return Table(
        path=path,
        format={".csv": "CSV", ".tsv": "TSV", ".parquet": "Parquet"}.get(
            path.suffix.lower(), "Feather"
        ),
        n_rows=stored.num_rows,
        values=_values(path, stored, found) if found else None,
        features=in_words(found),
        id_name=id_name,
        ids=ids,
        column_names=tuple(names),
        read_column=lambda name: as_array(stored.column(name)),
        left_out=left_out,
    )


def read_columns(path: Path) -> Any:
    """Return the ``pyarrow.Table`` of a file."""
    ending = path.suffix.lower()
    if ending == ".parquet":
        return require("pyarrow.parquet", extra=EXTRA).read_table(path)
    if ending == ".feather":
        return require("pyarrow.feather", extra=EXTRA).read_table(path)
    arrow = require("pyarrow.csv", extra=EXTRA)
    first = _first_line(path, _DELIMITERS[ending])
    named = not all(_is_number(cell) for cell in first)
    return arrow.read_csv(
        path,
        read_options=arrow.ReadOptions(
            column_names=None if named else [str(i + 1) for i in range(len(first))],
            block_size=max(_BLOCK, 64 * len(first) * 1024),
        ),
        parse_options=arrow.ParseOptions(delimiter=_DELIMITERS[ending]),
        convert_options=arrow.ConvertOptions(strings_can_be_null=True),
    )


def as_array(column: Any) -> np.ndarray:
    """Return a column as an array; missing values are None among words, NaN among numbers."""
    arrow = require("pyarrow", extra=EXTRA)
    if arrow.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if arrow.types.is_integer(column.type) and column.null_count:
        return np.array(column.to_pylist(), dtype=object)  # numbers stay whole
    if arrow.types.is_string(column.type) or arrow.types.is_large_string(column.type):
        return np.array(column.to_pylist(), dtype=object)
    return np.asarray(column.to_numpy())


def _first_line(path: Path, delimiter: str) -> list[str]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        for cells in csv.reader(file, delimiter=delimiter):
            if cells:
                return [cell.strip() for cell in cells]
    raise DataError(f"{path}: holds no row of numbers")


def _features(path: Path, stored: Any, wanted: list[str] | None, id_name: str) -> list[str]:
    kinds = {name: _kind(stored.schema.field(name).type) for name in stored.column_names}
    if wanted is not None:
        for name in wanted:
            if kinds[name] == "words":
                raise DataError(f"{path}: {name!r} holds words, no numbers; leave it out")
        chosen = [name for name in wanted if kinds[name] == "vectors"]
        if chosen and len(wanted) > 1:
            raise ParameterError(
                f"{path}: {chosen[0]!r} holds vectors and stands alone; name one of "
                f"{in_words(wanted)}"
            )
        return wanted
    vectors = [name for name, kind in kinds.items() if kind == "vectors"]
    if len(vectors) > 1:
        raise ParameterError(f"{path}: which vectors? --columns {' or '.join(vectors)}")
    if vectors:
        return vectors
    for name, kind in kinds.items():
        if kind == "words" and name != id_name:
            _refuse_mistyped(path, name, stored.column(name))
    return [name for name, kind in kinds.items() if kind == "numbers" and name != id_name]


def _kind(of: Any) -> str:
    types = require("pyarrow", extra=EXTRA).types
    if types.is_list(of) or types.is_large_list(of) or types.is_fixed_size_list(of):
        return "vectors" if _kind(of.value_type) == "numbers" else "words"
    is_number = types.is_integer(of) or types.is_floating(of) or types.is_boolean(of)
    return "numbers" if is_number or types.is_null(of) else "words"


def _values(path: Path, stored: Any, names: list[str]) -> np.ndarray:
    if len(names) == 1 and _kind(stored.schema.field(names[0]).type) == "vectors":
        return _vectors(path, names[0], stored.column(names[0]))
    columns = [np.asarray(stored.column(name).cast("float64").to_numpy()) for name in names]
    return np.column_stack(columns)


def _vectors(path: Path, name: str, column: Any) -> np.ndarray:
    """Return a column of vectors as (rows, numbers); rows without one are NaN."""
    array = column.combine_chunks()
    compute = require("pyarrow.compute", extra=EXTRA)
    lengths = compute.list_value_length(array).to_numpy(zero_copy_only=False)
    there = ~np.isnan(lengths.astype(float))
    sizes, counts = np.unique(lengths[there], return_counts=True)
    if len(sizes) != 1:
        usual = sizes[counts.argmax()] if len(sizes) else 0
        odd = int(np.flatnonzero(there & (lengths != usual))[0]) if len(sizes) else 0
        raise DataError(
            f"{path}: vectors of {name!r} have different lengths ({int(usual)} numbers, but "
            f"{lengths[odd]:g} in row {odd}); give rows of one length"
            if len(sizes)
            else f"{path}: {name!r} holds no vector"
        )
    flat = compute.list_flatten(array)
    numbers = flat.to_numpy(zero_copy_only=False).reshape(-1, int(sizes[0]))
    if there.all():
        return numbers
    values = np.full(
        (len(there), numbers.shape[1]), np.nan, dtype=np.result_type(numbers, np.float32)
    )
    values[there] = numbers
    return values


def _refuse_mistyped(path: Path, name: str, column: Any) -> None:
    """Refuse a column of numbers that a word among them has made one of words."""
    cells = [cell for cell in column.to_pylist() if isinstance(cell, str) and cell.strip()]
    numeric = [_is_number(cell) for cell in cells]
    if not cells or not _MISTYPED <= np.mean(numeric) < 1:
        return
    wrong = next(cell for cell, is_one in zip(cells, numeric, strict=True) if not is_one)
    row = column.to_pylist().index(wrong)
    raise DataError(
        f"{path}: {wrong!r} in row {row} is no number as the others of column {name!r} are; mend "
        "it, or name the features with --columns"
    )


def _is_number(cell: str) -> bool:
    try:
        float(cell or "nan")
    except ValueError:
        return False
    return True
