"""Scores of rows and classes from elsewhere: similarities to names, an older classifier's."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import DataError
from diffclass.names import read_names
from diffclass.system.libraries import reading, require_file
from diffclass_tables.formats import OF_COLUMNS
from diffclass_tables.io import arrow_tables
from diffclass_tables.io.labels import rows_of_ids
from diffclass_tables.io.tables import Table, in_words


@dataclass(frozen=True, eq=False)
class RowScores:
    """Scores (n_rows, n_classes), NaN for none; ``columns`` are the classes, or None."""

    values: np.ndarray
    columns: tuple[Any, ...] | None

    def of(self, rows: np.ndarray | slice) -> Any:
        """Return the scores of some rows as ``score_prior`` takes them."""
        if self.columns is None:
            return self.values[rows]
        return _Named(self.values[rows], self.columns)


@dataclass(frozen=True, eq=False)
class _Named:
    values: np.ndarray
    columns: tuple[Any, ...]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.values if dtype is None else self.values.astype(dtype)


def read_row_scores(path: str | os.PathLike[str], table: Table) -> RowScores:
    r"""Read scores of a table's rows.

    Parameters
    ----------
    path : path-like
        ``.csv``, ``.tsv``, ``.parquet`` or ``.feather``: a column for each class, and one of ids,
        called as in the table, "id" or "row" (without, they are in the order of the rows); or
        ``.npy`` (n_rows, n_classes), whose columns are the classes of the labels in their order.
    table : Table

    Raises
    ------
    DataError
        For scores that are no numbers, and rows that do not exist or come twice.

    See Also
    --------
    read_row_labels : Classes that are certain.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from diffclass_tables import open_table, read_row_scores
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path, scores = Path(folder) / "images.csv", Path(folder) / "scores.csv"
    ...     n = path.write_text("id,x\na,1.5\nb,4.5\n")
    ...     n = scores.write_text("id,cat,dog\nb,0.2,0.8\na,0.9,0.1\n")
    ...     found = read_row_scores(scores, open_table(path))
    >>> found.columns, found.values.tolist()
    (('cat', 'dog'), [[0.9, 0.1], [0.2, 0.8]])
    """
    place = Path(path)
    require_file(place)
    with reading(place, "scores of rows"):
        if place.suffix.lower() == ".npy":
            values = np.load(place, allow_pickle=False)
            if values.ndim != 2 or len(values) != table.n_rows or values.dtype.kind not in "biuf":
                raise DataError(
                    f"{place}: an array of shape {values.shape}; scores are numbers for each of "
                    f"{table.n_rows} rows and each class"
                )
            return RowScores(values, None)
        if place.suffix.lower() not in OF_COLUMNS:
            raise DataError(f"{place}: scores are .csv, .tsv, .parquet, .feather or .npy files")
        return _of_columns(place, table)


def _of_columns(place: Path, table: Table) -> RowScores:
    stored = arrow_tables.read_columns(place)
    ids, rows = rows_of_ids(place, stored, table)
    names = [name for name in stored.column_names if name != ids]
    columns = []
    for name in names:
        column = arrow_tables.as_array(stored.column(name))
        try:
            columns.append(column.astype(np.float64))
        except (TypeError, ValueError):
            raise DataError(
                f"{place}: column {name!r} holds no numbers; give a column for each class and one "
                f"of ids. It has {in_words(names)}"
            ) from None
    if not columns:
        raise DataError(f"{place}: has no column of scores")
    if len(np.unique(rows)) < len(rows):
        raise DataError(f"{place}: some rows have scores twice; keep one")
    values = np.full((table.n_rows, len(columns)), np.nan)
    values[rows] = np.column_stack(columns)
    return RowScores(values, tuple(_classes(place, names)))


def _classes(place: Path, names: list[str]) -> list[Any]:
    """Return the classes that columns are called by: whole numbers if all are."""
    with arrow_tables.reading_names(place, names[0]):
        found = read_names(names).tolist()
    if None in found:
        raise DataError(
            f"{place}: a column is called {names[found.index(None)]!r}, which means that there is "
            "no class; leave it out, or call it by its class"
        )
    return found
