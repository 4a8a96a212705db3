"""Graphs of a user's own: symmetric affinities of rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from diffclass.exceptions import DataError, ParameterError
from diffclass.system.libraries import reading, require_file
from diffclass_tables.formats import OF_COLUMNS
from diffclass_tables.io import anndata_tables, arrow_tables
from diffclass_tables.io.labels import ids_in
from diffclass_tables.io.tables import Table, checked_sparse, in_words

_ENDS = (("source", "target"), ("from", "to"), ("i", "j"), ("u", "v"))
_WEIGHTS = ("weight", "affinity", "value", "w")


def read_row_graph(source: str, table: Table) -> sp.csr_array:
    r"""Read a graph of a table's rows.

    Parameters
    ----------
    source : str
        ``.npz`` (a sparse matrix of SciPy), ``.mtx``; an edge list, ``.csv``, ``.tsv``,
        ``.parquet`` or ``.feather``, with columns "source" and "target" that hold ids, and
        optionally "weight", each edge once or in both directions; or of ``.h5ad`` an entry of
        obsp, as "obsp/connectivities".
    table : Table

    Returns
    -------
    csr_array of shape (n_rows, n_rows)
        Symmetric, at least 0.

    Raises
    ------
    DataError
        Where it is not square, not symmetric, of other rows, has negative weights, or no edge.

    See Also
    --------
    Rows : Compares the rows by their features instead.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from diffclass_tables import open_table, read_row_graph
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     papers, edges = Path(folder) / "papers.csv", Path(folder) / "cites.csv"
    ...     n = papers.write_text("id,year\na,2001\nb,2004\nc,2005\n")
    ...     n = edges.write_text("source,target\nb,a\nc,b\n")
    ...     read_row_graph(str(edges), open_table(papers)).toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    place = Path(source)
    if source.startswith("obsp/"):
        if table.format != "AnnData":
            raise ParameterError(f"{table.path}: {source} is for .h5ad files; name a file")
        with reading(table.path, "annotated data"):
            graph = anndata_tables.read_graph(table.path, source[5:])
            return _checked(graph, f"{table.path}", table)
    require_file(place)
    with reading(place, "a graph"):
        if place.suffix.lower() in OF_COLUMNS:
            return _of_edges(place, table)
        if place.suffix.lower() == ".npz":
            return _checked(sp.load_npz(place), str(place), table)
        if place.suffix.lower() == ".mtx":
            return _checked(scipy.io.mmread(place), str(place), table)
        raise ParameterError(
            f"{place}: graphs are .npz, .mtx, edge lists (.csv, .tsv, .parquet, .feather) or "
            "obsp/NAME"
        )


def _checked(matrix: object, source: str, table: Table) -> sp.csr_array:
    graph = checked_sparse(matrix)
    if graph.shape != (table.n_rows, table.n_rows):
        raise DataError(f"{source}: a graph of shape {graph.shape} for {table.n_rows} rows")
    if graph.dtype.kind not in "biuf":
        raise DataError(f"{source}: weights of {graph.dtype}; they are real numbers")
    graph = graph.astype(graph.dtype if graph.dtype in (np.float32, np.float64) else np.float64)
    _check_weights(graph.data, source)
    if not graph.data.any():
        raise DataError(f"{source}: the graph has no edge")
    difference = abs(graph - graph.T)
    if difference.nnz and difference.data.max() > 1e-5 * graph.data.max():
        raise DataError(
            f"{source}: the graph is not symmetric (weights differ by up to "
            f"{difference.data.max():.3g}); save (K + K.T) / 2 or K.maximum(K.T)"
        )
    return sp.csr_array((graph + graph.T) * graph.dtype.type(0.5))


def _check_weights(weights: np.ndarray, source: str) -> None:
    if not np.isfinite(weights).all() or weights.min(initial=0) < 0:
        raise DataError(f"{source}: weights that are negative or not finite; mend or drop them")


def _of_edges(place: Path, table: Table) -> sp.csr_array:
    stored = arrow_tables.read_columns(place)
    names = stored.column_names
    ends = next((pair for pair in _ENDS if set(pair) <= set(names)), None)
    if ends is None:
        raise DataError(
            f"{place}: no edge list: it has {in_words(names)}; call the columns source and target"
        )
    places = [_rows(place, ids_in(place, stored, end, table), table) for end in ends]
    weight = next((name for name in _WEIGHTS if name in names), None)
    weights = (
        np.ones(len(places[0]))
        if weight is None
        else (arrow_tables.as_array(stored.column(weight)).astype(np.float64))
    )
    _check_weights(weights, str(place))  # the larger of both directions would hide them
    shape = table.n_rows, table.n_rows
    graph = sp.csr_array(sp.coo_array((weights, (places[0], places[1])), shape=shape))
    return _checked(graph.maximum(graph.T), str(place), table)


def _rows(place: Path, names: list[Any], table: Table) -> list[int]:
    found = table.rows_called(names)
    if -1 in found:
        name = str(names[found.index(-1)])
        raise DataError(f"{place}: an edge ends at {name!r}, which is no row of the table")
    return found
