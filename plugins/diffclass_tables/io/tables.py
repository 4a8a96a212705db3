"""Tables of rows: features, ids, and columns of any kind, whatever file they lie in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from diffclass.exceptions import DataError, ParameterError
from diffclass.names import common_text

ROW = "row"  # what the id is called where a table has none: rows are numbered from 0
INDEX = "index"  # of a frame of pandas, where it has no name
INDEX_READ = re.compile(r"Unnamed: 0(\.\d+)?")  # what pandas calls one that it has read
# What results are called: beside one of them, the ids are called "id".
RESULTS = ("class", "class_now", "cluster", "margin", "probability", "score", "set")


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of a file.

    Attributes
    ----------
    path : Path
    format : str
        For people.
    n_rows : int
    values : ndarray or csr_array of shape (n_rows, n_features), or None
        Features as they are stored, also float16 and on memory maps; None where it has none.
    features : str
        Where they come from, in words.
    left_out : tuple of str
        Columns that are no features.
    id_name : str
        "row" where rows are numbered.
    ids : ndarray of shape (n_rows,)
        Each once.
    column_names : tuple of str
    read_column, read_written : callable
        From the name of a column to its values, of shape (n_rows,); of a text file as it is
        written, where "007" and "1.10" are texts.
    """

    path: Path
    format: str
    n_rows: int
    values: Any
    features: str
    id_name: str
    ids: np.ndarray
    column_names: tuple[str, ...]
    read_column: Callable[[str], np.ndarray]
    left_out: tuple[str, ...] = ()
    read_written: Callable[[str], np.ndarray] | None = None

    def column(self, name: str, *, as_written: bool = False) -> np.ndarray:
        """Return a column, of a text file also as written there, or raise `ParameterError`."""
        check_column(self.path, name, self.column_names)
        read = self.read_written if as_written else None
        return (read or self.read_column)(name)

    def check_features(self, cure: str = "") -> None:
        """Raise `ParameterError` where it has no features; a cure follows what is told."""
        if self.values is not None:
            return
        if self.path.suffix.lower() == ".npy":
            raise ParameterError(
                f"{self.path}: an array of one axis; features are (rows, columns), as of "
                "X.reshape(-1, 1)"
            )
        raise ParameterError(
            f"{self.path}: no column of numbers to compare rows by; name some with --columns{cure}"
        )

    @property
    def columns_in_words(self) -> str:
        """The first names of its columns, for messages."""
        return in_words(self.column_names)

    @cached_property
    def _row_of(self) -> dict[Any, int]:
        return {own: row for row, own in enumerate(self.ids.tolist())}

    @cached_property
    def _row_alike(self) -> dict[str, int]:
        """The row of each id as it is written, -1 where several are written alike."""
        found: dict[str, int] = {}
        for row, own in enumerate(self.ids.tolist()):
            text = common_text(own)
            found[text] = -1 if text in found else row
        return found

    def rows_called(self, names: Iterable[Any]) -> list[int]:
        """Return the row of each id, -1 for none; 2, "2" and "2.0" are one where it is clear."""
        exact = self._row_of
        return [
            exact[name] if name in exact else self._row_alike.get(common_text(name), -1)
            for name in names
        ]


def is_index(name: str) -> bool:
    """Tell whether a column is called as the index of a frame of pandas, written or read."""
    return name == INDEX or INDEX_READ.fullmatch(name) is not None


def in_words(names: Sequence[str], most: int = 8) -> str:
    """Return the first of some names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return (", ".join(map(str, names[:most])) + more) or "none"


def check_column(path: Path, name: str, names: Sequence[str]) -> None:
    """Raise `ParameterError`, with the names that there are, for a column that is not there."""
    if name not in names:
        raise ParameterError(f"{path}: no column {name!r}; it has {in_words(names)}")


def dates_as_text(values: np.ndarray) -> np.ndarray:
    """Return dates as texts, as pandas writes them, None for none; other values as they are."""
    if values.dtype.kind != "M":
        return values
    known = ~np.isnat(values)
    unit: Any = next(u for u in ("D", "s", "us", "ns") if _are_whole(values[known], u))
    texts = np.datetime_as_string(values, unit=unit).astype(object)
    return np.array(
        [
            text.replace("T", " ") if is_one else None
            for text, is_one in zip(texts, known, strict=True)
        ],
        dtype=object,
    )


def _are_whole(dates: np.ndarray, unit: str) -> bool:
    return bool((dates.astype(f"M8[{unit}]").astype(dates.dtype) == dates).all())


def unique_ids(path: Path, name: str, ids: np.ndarray) -> np.ndarray:
    """Return ids as they are, or raise `DataError` where one is missing or there twice."""
    missing = np.array([value is None or value != value or value == "" for value in ids.tolist()])
    if missing.any():
        raise DataError(
            f"{path}: {np.count_nonzero(missing)} of {len(ids)} rows have no id in {name!r} "
            f"(first: row {int(missing.argmax())}); fill it in, or take another column with --id"
        )
    values, counts = np.unique(ids, return_counts=True)
    if len(values) < len(ids):
        twice = values[counts > 1]
        raise DataError(
            f"{path}: {len(twice)} ids are there more than once in {name!r}, as {twice[0]!r}; "
            "every row needs its own, or take another column with --id"
        )
    return ids


def chosen_names(
    path: Path, names: Sequence[str], wanted: str, apart: Sequence[str] = ()
) -> list[str]:
    """Return the names that names and patterns stand for, patterns not for those ``apart``."""
    if wanted in names:
        return [wanted]
    found: dict[str, None] = {}
    for pattern in (part if part in names else part.strip() for part in wanted.split(",")):
        others = [name for name in names if name not in apart]
        fitting = [pattern] if pattern in names else [n for n in others if fnmatchcase(n, pattern)]
        if not fitting:
            check_column(path, pattern, names)
        found |= dict.fromkeys(fitting)
    return list(found)


def checked_values(path: Path, values: Any) -> Any:
    """Return features of shape (n, d), or raise `DataError` for anything else."""
    if sp.issparse(values):
        values = checked_sparse(values)
    if values.ndim != 2 or 0 in values.shape:
        raise DataError(f"{path}: an array of shape {values.shape}; features are (rows, columns)")
    if values.dtype.kind not in "biuf":
        raise DataError(f"{path}: holds {values.dtype} values; features are real numbers")
    return values


def checked_sparse(matrix: Any) -> sp.csr_array:
    """Return a sparse matrix as rows, or raise `ValueError` where its indices lead out of it."""
    if hasattr(matrix, "check_format"):  # compiled loops follow them unasked
        matrix.check_format(full_check=True)
    return sp.csr_array(matrix)
