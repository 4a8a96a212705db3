"""Tables of rows: features, ids, and columns of any kind, whatever file they lie in."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from diffclass.exceptions import DataError, ParameterError
from diffclass.options import check_options
from diffclass_tables.options import OPTIONS

ROW = "row"  # what the id is called where a table has none: rows are numbered from 0
INDEX = "index"  # of a frame of pandas, where it has no name
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
    read_column : callable
        From the name of a column to its values, of shape (n_rows,).
    read_written : callable, optional
        The same, but as a text file has it: "007" and "1.10" are texts.
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
        """Return the values of a column, or raise `ParameterError` with those that exist.

        Of a text file they may be what is written there, such as labels: "007" and "1.10" are
        texts, and only a column of whole numbers is numbers.
        """
        if name not in self.column_names:
            raise ParameterError(f"{self.path}: no column {name!r}; it has {self.columns_in_words}")
        read = self.read_written if as_written else None
        return (read or self.read_column)(name)

    @property
    def columns_in_words(self) -> str:
        """The first names of its columns, for messages."""
        return in_words(self.column_names)

    def row_of(self) -> dict[Any, int]:
        """Return the number of each row by its id."""
        return {value: row for row, value in enumerate(self.ids.tolist())}


def in_words(names: Sequence[str], most: int = 8) -> str:
    """Return the first of some names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return (", ".join(map(str, names[:most])) + more) or "none"


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
    """Return the names that a list of names and patterns, with commas between, stands for.

    Patterns do not stand for those that are ``apart``.
    """
    if wanted in names:
        return [wanted]
    found: dict[str, None] = {}
    for pattern in (part if part in names else part.strip() for part in wanted.split(",")):
        others = [name for name in names if name not in apart]
        fitting = [pattern] if pattern in names else [n for n in others if fnmatchcase(n, pattern)]
        if not fitting:
            raise ParameterError(f"{path}: no column {pattern!r}; it has {in_words(names)}")
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


def open_table(
    path: str | os.PathLike[str],
    *,
    columns: str | None = None,
    id_column: str | None = None,
    has_features: bool = True,
    apart: Sequence[str] = (),
) -> Table:
    r"""Open a table.

    Parameters
    ----------
    path : path-like
        ``.npy`` (rows, columns), on a memory map; ``.npz``: a table, and arrays with an entry for
        each row as columns, or a sparse matrix of `scipy`; ``.csv``, ``.tsv``, ``.txt``,
        ``.data``, ``.parquet``, ``.feather``: numeric columns, or one of vectors; ``.h5ad``.
    columns : str, optional
        Features: names or patterns of columns, as "x*,y", or of one column of vectors; of ``.npz``
        the name of the array, of ``.h5ad`` "X" or an entry of obsm. By default the column of
        vectors, if there is one, else all columns of numbers but the id and those without any
        value; of ``.h5ad`` "X_pca" of obsm, if it has that, else X.
    id_column : str, optional
        By default the column "id", if there is one, else the index of a frame that pandas wrote or
        a first column "row", where each is there once, else rows are numbered from 0; of ``.h5ad``
        the names of the observations.
    has_features : bool, default=True
        Whether features are looked for; results have none.
    apart : sequence of str, optional
        Columns that are features only where ``columns`` names them, as those of labels.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        For files that cannot be read, ids that are missing or there twice, vectors of different
        lengths, and words among numbers.
    ParameterError
        For columns that are not there, or a missing library.

    See Also
    --------
    diffclass_hyperspectral.open_scene : For scenes.
    read_rows : Goes on to the points that are classified.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from diffclass_tables import open_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "flowers.csv"
    ...     n = path.write_text("id,petal,sepal,kind\na,1.5,3.1,x\nb,4.5,2.9,\nc,4.7,3.0,y\n")
    ...     table = open_table(path)
    >>> table.values.tolist(), table.ids.tolist(), table.left_out
    ([[1.5, 3.1], [4.5, 2.9], [4.7, 3.0]], ['a', 'b', 'c'], ('kind',))
    """
    check_options(
        OPTIONS, columns=columns, id_column=id_column, has_features=has_features, apart=apart
    )
    from functools import partial

    from diffclass.system.libraries import reading, require_file
    from diffclass_tables.io import anndata_tables, arrow_tables, numpy_tables

    place = Path(path)
    require_file(place)
    columns_of = partial(arrow_tables.read, has_features=has_features, apart=apart)
    readers: dict[str, Any] = {
        ".npy": numpy_tables.read_array, ".npz": numpy_tables.read_archive,
        ".h5ad": partial(anndata_tables.read, has_features=has_features),
    } | dict.fromkeys(arrow_tables.ENDINGS, columns_of)  # fmt: skip
    read = readers.get(place.suffix.lower())
    if read is None:
        raise DataError(f"{place}: no table; these are {', '.join(sorted(readers))} files")
    with reading(place, "a table"):
        return read(place, columns=columns, id_column=id_column)
