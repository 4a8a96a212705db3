"""Results of a session over a table: columns beside the ids of its rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from diffclass.exceptions import DataError
from diffclass.names import is_mark
from diffclass_relabel.protocol import Result
from diffclass_relabel.session import SessionEditor
from diffclass_relabel.workspace import TableWorkspace
from diffclass_tables import write_rows

_COLUMNS = {".csv": "CSV", ".parquet": "Parquet", ".npz": "NumPy"}
ROW_FORMATS: dict[Result, dict[str, str]] = {
    "labels": _COLUMNS,
    "map": _COLUMNS | {".h5ad": "AnnData"},
    "report": {".json": "JSON"},
}


def write_row_result(
    editor: SessionEditor, workspace: TableWorkspace, what: Result, path: Path, *, overwrite: bool
) -> tuple[Path, ...]:
    """Write the labels of rows, or the refined classes of all with probability and margin.

    - `path`: as for `diffclass_tables.write_rows`
    """
    if path.suffix.lower() == ".h5ad":
        workspace.check_unchanged()
    if what == "labels":
        with editor.lock:
            labels, names = editor.labels.ids, _names(editor)
        columns = {"class": _named(workspace, labels.ravel()[workspace.pixels], names)}
    else:
        session, names = editor.session, _names(editor)
        ids = session.map_ids
        columns = {
            "class": _named(workspace, ids, names),
            "probability": _numbers(workspace, session.probability, ids),
            "margin": _numbers(workspace, session.margin, ids),
        }
    return (write_rows(path, workspace.table, columns, overwrite=overwrite),)


def _names(editor: SessionEditor) -> dict[int, str]:
    names = {info.id: info.name for info in editor.session.classes}
    for name in names.values():
        if is_mark(name):
            raise DataError(f"a class is called {name!r}, which is no label in files; rename it")
    return names


def _named(workspace: TableWorkspace, ids: np.ndarray, names: dict[int, str]) -> np.ndarray:
    """Return the names of classes by row, None for none."""
    return workspace.rows.placed(np.array([names.get(i) for i in ids.tolist()], dtype=object), None)


def _numbers(workspace: TableWorkspace, values: np.ndarray, ids: np.ndarray) -> np.ndarray:
    known = np.where(ids > 0, values, np.nan).astype(np.float32)
    return workspace.rows.placed(known, np.nan)
