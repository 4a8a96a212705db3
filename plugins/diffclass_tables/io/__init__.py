"""Files of tables: rows, their labels and graphs, and results."""

from diffclass_tables.io.graphs import read_row_graph
from diffclass_tables.io.labels import column_labels, read_row_labels
from diffclass_tables.io.opening import open_table
from diffclass_tables.io.results import PREFIX, check_ending, write_rows
from diffclass_tables.io.scores import RowScores, read_row_scores
from diffclass_tables.io.tables import ROW, Table

__all__ = [
    "PREFIX",
    "ROW",
    "RowScores",
    "Table",
    "check_ending",
    "column_labels",
    "open_table",
    "read_row_graph",
    "read_row_labels",
    "read_row_scores",
    "write_rows",
]
