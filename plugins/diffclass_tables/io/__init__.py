"""Files of tables: rows, their labels and graphs, and results."""

from diffclass_tables.io.graphs import read_row_graph
from diffclass_tables.io.labels import read_row_labels
from diffclass_tables.io.results import check_ending, write_rows
from diffclass_tables.io.tables import ROW, Table, open_table

__all__ = [
    "ROW",
    "Table",
    "check_ending",
    "open_table",
    "read_row_graph",
    "read_row_labels",
    "write_rows",
]
