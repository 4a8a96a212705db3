"""Options of tables: which columns are compared, and how."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diffclass.command_line import (
    FILE,
    FILE_OR_WORD,
    files_read,
    files_written,
    option,
    refuse_without_effect,
)
from diffclass_tables.options import OPTIONS

if TYPE_CHECKING:
    from diffclass_tables.rows import Rows

SMALLER = "ask for fewer --components or --neighbors"
LABELS = (
    "Labels: a column of TABLE, or a file: ids or row numbers and classes (.csv, .tsv, .parquet, "
    ".feather), or an entry for each row (.npy, .npz). Empty and -1 are no label."
)
OUTPUT = ".csv, .tsv, .parquet, .feather, .npz; of an .h5ad file also a copy of it, .h5ad."


@dataclass(frozen=True)
class FeatureOptions:
    """Which columns of a table are compared, and how."""

    title = "Rows and their features"
    columns: str | None = option(
        "Features: names or patterns of columns, as 'x*,y', or a column of vectors; of .npz an "
        "array, of .h5ad X or an entry of obsm. By default vectors, else all numbers; of .h5ad "
        "X_pca, else X.",
    )
    id_column: str | None = option(
        "Column of ids; by default 'id', else the index that pandas wrote, else rows are numbered "
        "from 0.",
        names=("--id",),
    )
    metric: str | None = option(
        "How rows are compared. By default cosine for float16 and rows of unit length, else "
        "euclidean.",
        of=OPTIONS["metric"],
    )
    dimensions: int | None = option(
        "Principal components of the features to compare; by default 64 of more than 64, if there "
        "are more than 4,096 rows, else all features.",
        hidden=True,
        of=OPTIONS["n_components"],
    )
    apart: tuple[str, ...] = option(
        "Another column that is no feature; may be repeated.", hidden=True, multiple=True
    )


@dataclass(frozen=True)
class RowOptions(FeatureOptions):
    """The same, or a graph in their place."""

    graph: str | None = option(
        "A graph of one's own in place of the features: .npz, .mtx, an edge list with columns "
        "source, target and weight, or obsp/NAME of an .h5ad file.",
        type=FILE_OR_WORD,
    )

    def check(self) -> None:
        """Raise `UsageError` for options that have no effect."""
        if self.graph is not None:
            of_points = [
                "columns",
                "apart",
                "metric",
                "dimensions",
                "neighbors",
                "kernel",
                "bandwidth",
            ]
            refuse_without_effect(of_points, "with --graph")

    def opened(self, path: Path, *labels: str | None, random_state: int = 0) -> Rows:
        """Return the rows of a table, with the graph if there is one; ``labels`` may be columns."""
        from diffclass_tables.io import open_table, read_row_graph
        from diffclass_tables.rows import Rows

        apart = [*self.apart, *(name for name in labels if name is not None)]
        table = open_table(path, columns=self.columns, id_column=self.id_column, apart=apart)
        return Rows(
            table,
            metric=self.metric,
            n_components=self.dimensions,
            graph=None if self.graph is None else read_row_graph(self.graph, table),
            random_state=random_state,
        )


def table_argument() -> Callable[..., Any]:
    """Add the argument of commands on a table."""

    def the_one(_: click.Context, __: click.Parameter, given: tuple[Path, ...]) -> Path:
        if len(given) > 1:
            raise click.UsageError(f"one table at a time, but {given[1]} came too; join them first")
        return given[0]

    return click.argument(
        "table", metavar="TABLE", type=FILE, nargs=-1, required=True, callback=the_one
    )


def check_outputs(table: Path, results: list[Path], *, overwrite: bool) -> None:
    """Refuse outputs that cannot be written, share a file or would replace an input.

    ``results`` are those that hold rows.
    """
    from diffclass.system.output import check_apart, require_writable
    from diffclass_tables.io import check_ending

    for path in results:
        check_ending(path, table)
    files = [require_writable(path, overwrite=overwrite) for path in files_written()]
    check_apart(files, files_read())
