"""Rows that are ready for a job: points or a graph, and which rows these are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from diffclass.exceptions import DataError, ParameterError
from diffclass.options import check_options
from diffclass.system.costs import Size
from diffclass_tables.features import RowPoints, n_compared, row_points
from diffclass_tables.io import Table
from diffclass_tables.options import OPTIONS


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a table, as points or with a graph of their own.

    Attributes
    ----------
    table : Table
    points : ndarray of float32 of shape (n_valid, n_features), or csr_array (n_valid, n_valid)
        Of a graph its affinities.
    valid : ndarray of bool of shape (n_rows,)
        Rows that are points.
    facts : dict
        How they came about, for reports.
    """

    table: Table
    points: Any
    valid: np.ndarray
    facts: dict[str, Any]

    @property
    def affinity(self) -> str | None:
        """The parameter of estimators: "precomputed" for a graph."""
        return "precomputed" if sp.issparse(self.points) else None

    def placed(self, values: np.ndarray, empty: Any) -> np.ndarray:
        """Return values of the points at the rows of the table, ``empty`` at the others."""
        found = np.full((self.table.n_rows, *values.shape[1:]), empty, dtype=values.dtype)
        found[self.valid] = values
        return found


def size_of(table: Table, n_neighbors: int, n_components: int | None, n_classes: int = 0) -> Size:
    """Return what the costs of a job on a table's rows depend on."""
    n, d = table.n_rows, 0 if table.values is None else table.values.shape[1]
    return Size(n, n_compared(n, d, n_components), n_neighbors, n_classes)


def read_rows(
    table: Table,
    *,
    metric: str | None = None,
    n_components: int | None = None,
    graph: sp.csr_array | None = None,
    random_state: int = 0,
) -> Rows:
    """Make points of a table's rows, or take a graph in their place.

    Parameters
    ----------
    table : Table
    metric : {"euclidean", "cosine", "correlation"}, optional
        How rows are compared. By default cosine for float16 and for rows of unit length, else
        euclidean.
    n_components : int, optional
        Leading principal components to compare; by default 64 of more than 64 features, if there
        are more than 4,096 rows, else all features.
    graph : csr_array of shape (n_rows, n_rows), optional
        Affinities, in place of the features; see `read_row_graph`.
    random_state : int, default=0
        Starts the search for components.

    Raises
    ------
    DataError
        For infinite values, rows without a direction where it counts, and fewer than two complete
        rows.
    ParameterError
        Where the table has no features and no graph is given.

    See Also
    --------
    read_row_graph : A graph of your own, which takes the place of features.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from diffclass_tables import open_table, read_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(Path(folder) / "vectors.npy", np.array([[3.0, 4], [0, 2], [np.nan, 1]]))
    ...     rows = read_rows(open_table(Path(folder) / "vectors.npy"), metric="cosine")
    >>> rows.points.round(3), rows.valid
    (array([[0.6, 0.8],
           [0. , 1. ]], dtype=float32), array([ True,  True, False]))
    """
    check_options(OPTIONS, metric=metric, n_components=n_components, random_state=random_state)
    if graph is not None:
        facts = {"graph": "given", "edges": int(graph.nnz)}
        return Rows(table, graph, np.ones(table.n_rows, dtype=bool), facts)
    if table.values is None:
        raise ParameterError(
            f"{table.path}: no column of numbers to compare rows by; name some with --columns, or "
            "give a graph with --graph"
        )
    made: RowPoints = row_points(
        table.values,
        table.path,
        metric=metric,
        n_components=n_components,
        random_state=random_state,
    )
    if len(made.points) < 2:
        raise DataError(
            f"{table.path}: one row alone has values; there is nothing to compare it to"
        )
    facts = {
        "features": table.features,
        "n_features": int(table.values.shape[1]),
        "left_out": list(table.left_out),
        "metric": made.metric,
        "n_components": made.n_components,
        "n_without_values": int(np.count_nonzero(~made.valid)),
    }
    return Rows(table, made.points, made.valid, facts)
