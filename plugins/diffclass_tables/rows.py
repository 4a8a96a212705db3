"""Rows of a table as the points of a job, by their features or a graph of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from diffclass.exceptions import DataError
from diffclass.jobs import MadePoints, PointSet
from diffclass.options import check_options
from diffclass.system.costs import Cost, Size
from diffclass_tables.features import n_compared, points_cost, row_points
from diffclass_tables.io import Table
from diffclass_tables.options import OPTIONS


@dataclass(frozen=True, eq=False)
class Rows(PointSet):
    """Rows of a table as points.

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
        When points are asked for, for infinite values, rows without a direction where it counts,
        and fewer than two complete rows.
    ParameterError
        Then too, where the table has no features and no graph is given.

    See Also
    --------
    read_row_graph : A graph of your own, which takes the place of features.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from diffclass_tables import Rows, open_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(Path(folder) / "vectors.npy", np.array([[3.0, 4], [0, 2], [np.nan, 1]]))
    ...     rows = Rows(open_table(Path(folder) / "vectors.npy"), metric="cosine")
    ...     rows.points.round(3), rows.valid
    (array([[0.6, 0.8],
           [0. , 1. ]], dtype=float32), array([ True,  True, False]))
    """

    table: Table
    metric: str | None = None
    n_components: int | None = None
    graph: sp.csr_array | None = None
    random_state: int = 0

    noun = "rows"

    def __post_init__(self) -> None:
        given = {"metric": self.metric, "n_components": self.n_components}
        check_options(OPTIONS, **given, random_state=self.random_state)

    @property
    def path(self) -> Path:
        """The table's file."""
        return self.table.path

    def size(self, n_neighbors: int = 0, n_classes: int = 0) -> Size:
        """Return what the costs of a job depend on."""
        n, d = self.table.n_rows, self._n_features
        return Size(n, n_compared(n, d, self.n_components), n_neighbors, n_classes)

    def costs(self) -> dict[str, Cost]:
        """Return the costs of making the points."""
        n, d = self.table.n_rows, max(1, self._n_features)
        return {"features": points_cost(n, d, self.n_components)}

    def make(self) -> MadePoints:
        """Make points of the rows that have all values, or take the graph."""
        if self.graph is not None:
            facts = {"named_by": self.table.id_name, "graph": "given", "edges": int(self.graph.nnz)}
            return MadePoints(self.graph, np.ones(self.table.n_rows, dtype=bool), facts)
        self.table.check_features(", or give a graph with --graph")
        found = row_points(
            self.table.values,
            self.path,
            metric=self.metric,
            n_components=self.n_components,
            random_state=self.random_state,
        )
        if len(found.points) < 2:
            raise DataError(
                f"{self.path}: one row alone has values; there is nothing to compare it to"
            )
        facts = {
            "named_by": self.table.id_name,
            "features": self.table.features,
            "n_features": self._n_features,
            "left_out": list(self.table.left_out),
            "metric": found.metric,
            "n_components": found.n_components,
        }
        return MadePoints(found.points, found.valid, facts)

    def name(self, number: int) -> dict[str, Any]:
        """Return the id of a row."""
        value = self.table.ids[number]
        plain = value.item() if isinstance(value, np.generic) else value
        return {"id": plain if isinstance(plain, str | int | float) else str(plain)}

    def in_words(self, name: Mapping[str, Any]) -> str:
        """Return an id as a line says it."""
        return str(name["id"])

    @property
    def _n_features(self) -> int:
        return 0 if self.table.values is None else int(self.table.values.shape[1])
