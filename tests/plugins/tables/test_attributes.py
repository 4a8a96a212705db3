"""Readers of tables use what they declare, and tell what they leave out."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as arrow
import pyarrow.feather
import pyarrow.parquet
import pytest

from diffclass_tables.io import anndata_tables, arrow_tables, open_table, read_row_graph

X = np.arange(12.0).reshape(6, 2)
DECLARED = (arrow_tables.ATTRIBUTES, anndata_tables.ATTRIBUTES)


def said(path, **how):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = open_table(path, **how)
    return table, [str(one.message) for one in caught]


def of_arrow(path, *, of_file=None, of_column=None):
    fields = [arrow.field("a", arrow.float64(), metadata=of_column), ("b", arrow.float64())]
    table = arrow.table(list(X.T), schema=arrow.schema(fields, metadata=of_file))
    write = {".parquet": pyarrow.parquet.write_table, ".feather": pyarrow.feather.write_feather}
    write[path.suffix](table, path)
    return path


@pytest.mark.parametrize("ending", [".parquet", ".feather"])
def test_metadata_of_arrow(ending, folder):
    path = folder / f"t{ending}"
    harmless = {"title": "rows", "created": "today"}
    assert said(of_arrow(path, of_file=harmless, of_column={"unit": "cm"}))[1] == []
    for where in ("of_file", "of_column"):
        (line,) = said(of_arrow(path, **{where: {"scale_factor": "0.01", "note": "x"}}))[1]
        assert f"t{ending}: states scale_factor, which" in line
    frame = pd.DataFrame(X, columns=list("ab"), index=pd.Index([*"uvwxyz"], name="plot"))
    getattr(frame, f"to_{ending[1:]}")(path)
    table, lines = said(path)
    assert (table.ids.tolist(), lines) == ([*"uvwxyz"], [])


def test_elements_of_annotated_data(folder):
    anndata = pytest.importorskip("anndata")
    data = anndata.AnnData(
        X, pd.DataFrame({"kind": [*"aabbcc"]}, index=[*"uvwxyz"]), uns={"title": "cells"},
        obsm={"X_pca": -X}, obsp={"connectivities": np.eye(6)}, layers={"counts": X},
    )  # fmt: skip
    data.write_h5ad("t.h5ad")
    table, lines = said("t.h5ad")
    np.testing.assert_array_equal(table.values, -X)
    assert (table.ids.tolist(), table.column_names, lines) == ([*"uvwxyz"], ("kind",), [])
    assert read_row_graph("obsp/connectivities", table).shape == (6, 6)
    data.var["highly_variable"] = [True, False]
    data.write_h5ad("t.h5ad")
    assert said("t.h5ad")[1] == []
    table, (line,) = said("t.h5ad", columns="X")
    np.testing.assert_array_equal(table.values, X)
    assert "t.h5ad: states highly_variable of var, which" in line


@pytest.mark.data
def test_annotated_data_of_an_old_version_needs_no_word(data_folder):
    pytest.importorskip("anndata")
    table, lines = said(data_folder / "others" / "anndata" / "v0.7.0.h5ad")
    assert (table.values.shape, lines) == ((30, 20), [])


def test_the_guide_has_the_declarations():
    guide = (Path(__file__).resolve().parents[3] / "plugins" / "TABLES.md").read_text("utf-8")
    for declared in DECLARED:
        honoured = "; ".join(f"{what}: `{name}`" for name, what in declared.honoured.items())
        left_out = ", ".join(f"`{name}`" for name in declared.left_out)
        assert f"| {declared.format} | {honoured} | {left_out} |" in guide
