"""Annotated data of single cells (``.h5ad``), by ``anndata``.

Observations are rows, their names the ids, ``obs`` the columns. Features are an entry of ``obsm``
or X; ``obsp`` has graphs. Files of versions before 0.7 are read as a whole.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import DataError, ParameterError
from diffclass.system.attributes import Attributes, say_unused
from diffclass.system.libraries import require
from diffclass.system.mapped_files import reserve
from diffclass_tables.io.tables import (
    INDEX,
    Table,
    check_column,
    checked_values,
    in_words,
    unique_ids,
)

EXTRA = "anndata"
ATTRIBUTES = Attributes(
    "AnnData",
    honoured={
        "X": "features", "obsm": "features", "obs": "columns", "obs_names": "ids",
        "obsp": "graphs",
    },
    left_out={"highly_variable of var": "which columns of X are features"},
)  # fmt: skip
_CHOSEN = "highly_variable"
_MARGIN = 2**20  # bytes for what HDF5 writes beside values
_USUAL = "X_pca"  # what scanpy looks for neighbours in


def read(
    path: Path, *, columns: str | None, id_column: str | None, has_features: bool, **_: Any
) -> Table:
    """Open the observations of a file."""
    stored = _elements(path, ("obs", "obsm" if columns != "X" and has_features else None))
    obs = stored["obs"]
    name, values = _features(path, columns, stored.get("obsm", {})) if has_features else ("", None)
    names = [str(column) for column in obs.columns]
    if id_column is not None:
        check_column(path, id_column, names)
    id_name = id_column or str(obs.index.name or INDEX)
    ids = np.asarray(obs.index.astype(str), object) if id_column is None else _plain(obs[id_column])
    return Table(
        path=path,
        format="AnnData",
        n_rows=len(obs),
        values=values,
        features=name if name == "X" else f"{name} of obsm",
        id_name=id_name,
        ids=unique_ids(path, id_name, ids),
        column_names=tuple(names),
        read_column=lambda column: _plain(obs[column]),
    )


def _features(path: Path, columns: str | None, obsm: Mapping[str, Any]) -> tuple[str, Any]:
    """Return the name of the features, and these."""
    name = columns or (_USUAL if _USUAL in obsm else "X")
    name = name.removeprefix("obsm/")
    if name != "X" and name not in obsm:
        raise ParameterError(f"{path}: no {name!r}; it has {in_words(['X', *obsm])}")
    stored = _elements(path, ("X", "var")) if name == "X" else {}
    values = stored.get("X") if name == "X" else obsm[name]
    if _CHOSEN in getattr(stored.get("var"), "columns", ()):
        say_unused(path, "AnnData", tuple(ATTRIBUTES.left_out))
    if values is None:
        raise DataError(f"{path}: X is empty; name an entry of obsm with --columns")
    if hasattr(values, "to_numpy"):  # obsm may hold frames
        values = values.to_numpy()
    return name, checked_values(path, values)


def read_graph(path: Path, name: str) -> Any:
    """Return a neighbour graph of ``obsp``."""
    graphs = _elements(path, ("obsp",)).get("obsp", {})
    if name not in graphs:
        raise ParameterError(f"{path}: no graph {name!r} in obsp; it has {in_words(list(graphs))}")
    return graphs[name]


def write_columns(path: Path, columns: dict[str, Any], matrices: dict[str, np.ndarray]) -> None:
    """Write columns into ``obs`` and matrices into ``obsm`` of a file that exists."""
    h5py = require("h5py", extra=EXTRA)
    elements = require("anndata.io", extra=EXTRA)
    # a full disk is told before: HDF5 survives none, and would end the process later
    n_bytes = path.stat().st_size + _MARGIN + sum(values.nbytes for values in matrices.values())
    with h5py.File(path, "r") as file:
        is_old = _is_old(h5py, file)
        obs = None if is_old else elements.read_elem(file["obs"])
    if obs is None:
        data = _read_old(path)
        data.obs = data.obs.assign(**columns)
        data.obsm.update(matrices)
        reserve(path, n_bytes + int(data.obs.memory_usage(deep=True).sum()))
        data.write_h5ad(path)
        return
    for name, values in columns.items():
        obs[name] = values
    reserve(path, n_bytes + int(obs.memory_usage(deep=True).sum()))
    with h5py.File(path, "r+") as file:
        del file["obs"]
        elements.write_elem(file, "obs", obs)
        for name, values in matrices.items():
            if f"obsm/{name}" in file:
                del file[f"obsm/{name}"]
            elements.write_elem(file.require_group("obsm"), name, values)


def _elements(path: Path, names: tuple[str | None, ...]) -> dict[str, Any]:
    h5py = require("h5py", extra=EXTRA)
    read_elem = require("anndata.io", extra=EXTRA).read_elem
    with h5py.File(path, "r") as file:
        if "obs" not in file:
            raise DataError(f"{path}: no annotated data: it has no obs")
        if not _is_old(h5py, file):
            there = [name for name in names if name is not None and name in file]
            with warnings.catch_warnings():
                # one for each array of files of 0.7, which are read all the same
                warnings.filterwarnings("ignore", "Element .* without encoding metadata")
                return {name: read_elem(file[name]) for name in there}
    data = _read_old(path)
    return {name: getattr(data, name) for name in names if name is not None}


def _is_old(h5py: Any, file: Any) -> bool:
    return isinstance(file["obs"], h5py.Dataset)


def _read_old(path: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the old form, which is why it is read so
        return require("anndata", extra=EXTRA).read_h5ad(path)


def _plain(column: Any) -> np.ndarray:
    """Return a column of pandas as an array, categories as their values, missing ones as None."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":
        return column.to_numpy()
    values = column.astype(object)
    return np.asarray(values.where(column.notna(), None), dtype=object)
