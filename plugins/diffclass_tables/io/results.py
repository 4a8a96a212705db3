"""Results of rows as files: columns beside the ids, or added to a copy of annotated data."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from diffclass.exceptions import DataError, ParameterError
from diffclass.jobs import Suggestion
from diffclass.names import check_text, written_name
from diffclass.options import check_options
from diffclass.system.libraries import require
from diffclass.system.output import replacing
from diffclass_tables.io import anndata_tables
from diffclass_tables.io.arrow_tables import EXTRA
from diffclass_tables.io.tables import RESULTS, Table
from diffclass_tables.options import OPTIONS

ENDINGS = (".csv", ".tsv", ".parquet", ".feather", ".npz", ".npy", ".h5ad")
PREFIX = "diffclass_"  # of columns among those of others


def check_ending(path: Path, table_path: Path) -> None:
    """Raise `ParameterError` for files that rows are not written to."""
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise ParameterError(f"{path}: rows are written as {', '.join(ENDINGS)}")
    if ending == ".h5ad" and table_path.suffix.lower() != ".h5ad":
        raise ParameterError(
            f"{path}: results are written into a copy of an .h5ad file, and {table_path} is none; "
            "write .parquet or .csv"
        )
    if ending in (".csv", ".tsv", ".parquet", ".feather"):
        require("pyarrow", extra=EXTRA)
    if ending == ".h5ad":
        require("anndata", extra=anndata_tables.EXTRA)


def write_rows(
    path: str | os.PathLike[str],
    table: Table,
    columns: Mapping[str, np.ndarray],
    *,
    matrix: np.ndarray | None = None,
    overwrite: bool = False,
) -> Path:
    """Write what was found of a table's rows.

    Parameters
    ----------
    path : path-like
        ``.csv``, ``.tsv``, ``.parquet``, ``.feather``: ids and columns; ``.npz``: the same as
        arrays; ``.npy``: the matrix, or the first column; ``.h5ad``: a copy of the table with the
        columns in obs, called "diffclass_" and their names, and the matrix in obsm.
    table : Table
    columns : mapping of str to ndarray of shape (n_rows,)
        None (or NaN) for no value; lists of classes are written with "|" between them.
    matrix : ndarray of shape (n_rows, n_columns), optional
        Such as coordinates, of which columns have the names too.
    overwrite : bool, default=False
        Whether a file that exists may be replaced.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from diffclass_tables import open_table, write_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(Path(folder) / "vectors.npy", np.eye(3))
    ...     table = open_table(Path(folder) / "vectors.npy")
    ...     found = {"class": np.array(["cat", None, "dog"], dtype=object)}
    ...     print(write_rows(Path(folder) / "classes.csv", table, found).read_text(), end="")
    "row","class"
    0,"cat"
    1,
    2,"dog"
    """
    check_options(OPTIONS, overwrite=overwrite)
    target, ending = Path(path), Path(path).suffix.lower()
    check_ending(target, table.path)
    with replacing(target, overwrite=overwrite) as temporary:
        ids = _id_name(table)
        if ending == ".npy":
            first = next(iter(columns.values())) if matrix is None else matrix
            with temporary.open("wb") as file:
                # into a file as such NumPy writes around Python, which would tell of a full disk
                only_write: Any = SimpleNamespace(write=file.write)
                np.lib.format.write_array(only_write, _flat(first), allow_pickle=False)
        elif ending == ".npz":
            arrays = {name: _flat(values) for name, values in columns.items()}
            made: dict[str, Any] = {ids: _flat(table.ids, check=check_text), **arrays}
            np.savez(temporary, **made)
        elif ending == ".h5ad":
            shutil.copyfile(table.path, temporary)
            named = {PREFIX + name: _of_pandas(values) for name, values in columns.items()}
            matrices = {} if matrix is None else {"X_diffclass": matrix}
            anndata_tables.write_columns(temporary, {} if matrices else named, matrices)
        else:
            _write_arrow(temporary, ending, {ids: table.ids}, columns)
    return target


def _id_name(table: Table) -> str:
    return "id" if table.id_name in RESULTS else table.id_name


def _write_arrow(
    path: Path, ending: str, ids: Mapping[str, np.ndarray], columns: Mapping[str, np.ndarray]
) -> None:
    arrow = require("pyarrow", extra=EXTRA)
    as_text = ending in (".csv", ".tsv")
    made = arrow.table(
        {
            name: _of_arrow(arrow, values, check=check if as_text else None)
            for given, check in ((ids, check_text), (columns, written_name))
            for name, values in given.items()
        }
    )
    if ending == ".parquet":
        require("pyarrow.parquet", extra=EXTRA).write_table(made, path)
    elif ending == ".feather":
        require("pyarrow.feather", extra=EXTRA).write_feather(made, path)
    else:
        csv = require("pyarrow.csv", extra=EXTRA)
        delimiter = "," if ending == ".csv" else "\t"
        options = csv.WriteOptions(delimiter=delimiter, quoting_style="needed")
        csv.write_csv(made, path, write_options=options)


def _of_arrow(arrow: Any, values: np.ndarray, *, check: Callable[[str], object] | None) -> Any:
    if check is not None:
        values = _checked_texts(_joined(values), check)
    if values.dtype.kind == "f":
        return arrow.array(values, mask=np.isnan(values))
    return arrow.array(values.tolist() if values.dtype == object else values)


def _joined(values: np.ndarray) -> np.ndarray:
    """Return lists of classes as one text each."""
    lists = [value for value in values if isinstance(value, list)] if values.dtype == object else []
    if not lists:
        return values
    parted = next((name for value in lists for name in value if "|" in str(name)), None)
    if parted is not None:
        raise DataError(
            f"class {parted!r} has a |, which stands between the classes of a set; write .parquet"
        )
    return np.array(["|".join(map(str, v)) if isinstance(v, list) else v for v in values], object)


def _checked_texts(values: np.ndarray, check: Callable[[str], object] = written_name) -> np.ndarray:
    """Return values, or raise `DataError` for names that texts cannot hold."""
    if values.dtype == object:
        for name in {value for value in values.tolist() if isinstance(value, str)}:
            check(name)
    return values


def _of_pandas(values: np.ndarray) -> Any:
    if values.dtype != object:
        return values
    joined = _checked_texts(_joined(values))
    pandas = require("pandas", extra=anndata_tables.EXTRA)
    return pandas.Categorical([None if value is None else str(value) for value in joined])


def _flat(values: np.ndarray, *, check: Callable[[str], object] = written_name) -> np.ndarray:
    """Return objects as an array that needs no pickle: texts, or numbers with -1 for none."""
    if values.dtype != object:
        return values
    found = _checked_texts(_joined(values), check).tolist()
    if all(value is None or type(value) is int for value in found):
        return np.array([-1 if value is None else value for value in found])
    return np.array(["" if value is None else str(value) for value in found])


def write_suggestions(
    path: str | os.PathLike[str],
    table: Table,
    found: Sequence[Suggestion],
    *,
    overwrite: bool = False,
) -> Path:
    """Write rows to label, with an empty column "class" to be filled in."""
    target = Path(path)
    ids = {_id_name(table): np.array([one.point["id"] for one in found], dtype=object)}
    columns = {
        "class": np.array([None] * len(found), dtype=object),
        "class_now": np.array([one.current_class for one in found], dtype=object),
        "margin": np.array([one.margin for one in found], dtype=np.float64),
        "score": np.array([one.score for one in found], dtype=np.float64),
    }
    with replacing(target, overwrite=overwrite) as temporary:
        _write_arrow(temporary, target.suffix.lower(), ids, columns)
    return target
