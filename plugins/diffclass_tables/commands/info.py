"""``diffclass info`` on a table: what its file says."""

from __future__ import annotations

from pathlib import Path

from diffclass.command_line import Console, command, common_options, options, refuse_without_effect
from diffclass_tables.commands._rows import RowOptions, table_argument


@command(epilog="Example: diffclass info embeddings.parquet")
@table_argument()
@options(RowOptions, "part")
@common_options
def info(table: Path, *, part: RowOptions, console: Console) -> None:
    """Show what TABLE holds: rows, ids, features, other columns.

    Tables are .csv, .tsv, .txt, .data, .parquet, .feather (numeric columns, or one of vectors),
    .npy (rows, columns), .npz (a table with columns, or a sparse matrix of SciPy) and .h5ad files.
    """
    from diffclass_tables.features import usual_metric

    refuse_without_effect(["dimensions"], "on what is shown: it is of what is compared")
    rows = part.opened(table)
    opened, graph = rows.table, rows.graph
    values = opened.values
    facts = {
        "path": str(table),
        "format": opened.format,
        "rows": opened.n_rows,
        "id": opened.id_name,
        "features": None if values is None else int(values.shape[1]),
        "feature_columns": opened.features if values is not None else None,
        "dtype": None if values is None else str(values.dtype),
        "metric": part.metric or (None if values is None else usual_metric(values)),
        "columns": list(opened.column_names),
        "edges": None if graph is None else int(graph.nnz),
    }
    shown = opened.columns_in_words
    lines = [
        f"{table}  ({opened.format})",
        f"rows         {opened.n_rows:,}, called by {opened.id_name!r}",
        "features     none"
        if values is None
        else f"features     {values.shape[1]} of {values.dtype} ({opened.features}), compared by "
        f"{facts['metric']}",
        f"columns      {shown}",
    ]
    if graph is not None:
        lines.append(f"graph        {graph.nnz:,} edges")
    console.give(facts, "\n".join(lines))
