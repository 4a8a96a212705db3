"""The same rows as files of every format, written by the libraries that users write them with."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as arrow
import pyarrow.feather
import pyarrow.parquet
import pytest
import scipy.sparse as sp

FORMATS = (
    "points.npy", "half.npy", "points.npz", "sparse.npz", "points.csv", "points.tsv",
    "points.parquet", "points.feather", "lists.parquet", "fixed.parquet", "half.parquet",
    "fixed.feather", "points.h5ad", "obsm.h5ad", "sparse.h5ad",
)  # fmt: skip
COLUMNS = ("a", "b", "c", "d", "e")


def write_csv(path, columns, *, delimiter=","):
    """Write columns; None is an empty cell."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, delimiter=delimiter)
        rows.writerow(columns)
        rows.writerows(zip(*columns.values(), strict=True))


def read_csv(path, *, delimiter=","):
    """Return columns as lists of text."""
    with open(path, newline="", encoding="utf-8") as file:
        names, *rows = csv.reader(file, delimiter=delimiter)
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def write_table(name, X, *, ids=None, columns=None):
    """Write rows in the format that a name stands for, with ids and columns where it has them."""
    kind, ending = Path(name).stem, Path(name).suffix
    columns = {} if columns is None else columns
    if ending == ".npy":
        np.save(name, X.astype(np.float16) if kind == "half" else X)
    elif ending == ".npz" and kind == "sparse":
        sp.save_npz(name, sp.csr_array(X))
    elif ending == ".npz":
        np.savez(name, X=X, **({} if ids is None else {"id": ids}), **columns)
    elif ending == ".h5ad":
        _write_anndata(name, kind, X, ids, columns)
    else:
        _write_columns(name, kind, X, ({} if ids is None else {"id": ids}) | columns)


def _write_columns(name, kind, X, columns):
    half, d = kind == "half", X.shape[1]
    number = arrow.float16() if half else arrow.float32()
    kinds = {"lists": arrow.list_(number), "fixed": arrow.list_(number, d)}
    if kind in (*kinds, "half"):
        values = list(X.astype(np.float16 if half else np.float32))
        features = {"vector": arrow.array(values, kinds.get(kind, arrow.list_(number)))}
    else:
        features = dict(zip(_names(d), X.T, strict=True))
    if name.endswith((".csv", ".tsv")):
        write_csv(name, columns | features, delimiter="," if name.endswith("csv") else "\t")
    elif name.endswith(".parquet"):
        pyarrow.parquet.write_table(arrow.table(columns | features), name)
    else:
        pyarrow.feather.write_feather(arrow.table(columns | features), name)


def _names(d):
    return COLUMNS if d == len(COLUMNS) else [f"x{i}" for i in range(d)]


def _write_anndata(name, kind, X, ids, columns):
    anndata = pytest.importorskip("anndata")
    index = [str(i) for i in (range(len(X)) if ids is None else ids)]
    obs = pd.DataFrame(dict(columns), index=index)
    X = X.astype(np.float32)
    if kind == "obsm":
        made = anndata.AnnData(np.zeros((len(X), 2), np.float32), obs=obs, obsm={"X_pca": X})
    else:
        made = anndata.AnnData(sp.csr_matrix(X) if kind == "sparse" else X, obs=obs)
    made.write_h5ad(name)
