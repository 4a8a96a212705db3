"""Opens tables of any format: which reader a file needs, by its ending."""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from diffclass.exceptions import DataError
from diffclass.options import check_options
from diffclass.system.libraries import reading, require_file
from diffclass_tables.formats import READERS
from diffclass_tables.io.tables import Table
from diffclass_tables.options import OPTIONS


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
        By default the column "id", if there is one, else the index of a frame that pandas wrote
        (without a name, or "Unnamed: 0" where it was read and written again) or a first column
        "row", where each is there once, else rows are numbered from 0; of ``.h5ad`` the names of
        the observations.
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
    Rows : Goes on to the points that are classified.

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
    place = Path(path)
    require_file(place)
    module, _, name = READERS.get(place.suffix.lower(), "").partition(":")
    if not module:
        raise DataError(f"{place}: no table; these are {', '.join(sorted(READERS))} files")
    read = getattr(importlib.import_module(f"{__package__}.{module}"), name)
    asked = {"columns": columns, "id_column": id_column}
    with reading(place, "a table"):
        return cast(Table, read(place, **asked, has_features=has_features, apart=apart))
