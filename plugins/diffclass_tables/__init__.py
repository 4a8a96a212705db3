"""Tables: rows of embeddings or measurements, or of a graph, classified from a few labels.

Names load on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diffclass_tables.io import (
        Table,
        open_table,
        read_row_graph,
        read_row_labels,
        read_row_scores,
        write_rows,
    )
    from diffclass_tables.jobs.classification import ClassifiedRows, classify_rows
    from diffclass_tables.jobs.evaluation import evaluate_rows
    from diffclass_tables.rows import Rows

__all__ = [
    "ClassifiedRows",
    "Rows",
    "Table",
    "classify_rows",
    "evaluate_rows",
    "open_table",
    "read_row_graph",
    "read_row_labels",
    "read_row_scores",
    "write_rows",
]

_CHAPTERS = {
    "io": "Table open_table read_row_graph read_row_labels read_row_scores write_rows",
    "jobs.classification": "ClassifiedRows classify_rows",
    "jobs.evaluation": "evaluate_rows",
    "rows": "Rows",
}
_HOMES = {name: chapter for chapter, names in _CHAPTERS.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
