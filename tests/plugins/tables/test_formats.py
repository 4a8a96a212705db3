"""The same rows in every format get the same classes, and keep their ids."""

from __future__ import annotations

import decimal
import tracemalloc
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pyarrow as arrow
import pyarrow.feather
import pyarrow.parquet
import pytest
import scipy.sparse as sp

from diffclass_tables import features
from diffclass_tables.features import row_points
from diffclass_tables.io import open_table

from .writers import COLUMNS, FORMATS, read_csv, write_csv, write_table


@pytest.mark.parametrize("name", FORMATS)
def test_the_format_does_not_matter(name, rows, works):
    X, _ = rows
    write_table(name, X)
    metric = ("--metric", "euclidean")
    works("classify", "points.npy", "--labels", "labels.csv", "-o", "first.npz", *metric)
    ids = {"row": range(12)} if not name.endswith("h5ad") else {"index": range(12)}
    write_csv("here.csv", ids | {"class": rows[1][:12]})
    report = works("classify", name, "--labels", "here.csv", "-o", "found.npz", *metric)
    with np.load("first.npz") as first, np.load("found.npz") as found:
        assert first.files[1:] == found.files[1:] == ["class", "probability", "margin"]
        np.testing.assert_array_equal(first["class"], found["class"])
        np.testing.assert_allclose(first["margin"], found["margin"], atol=1e-4)
        assert (found["class"] == rows[1]).mean() > 0.9
        assert [str(value) for value in found[found.files[0]]] == [str(i) for i in range(120)]
    assert report["n_features"] == 5


def test_half_precision_means_cosine(rows, works):
    X, _ = rows
    write_table("half.npy", X)
    write_table("half.parquet", X)
    found = {}
    for name in ("half.npy", "half.parquet", "points.npy"):
        arguments = () if "half" in name else ("--metric", "cosine")
        report = works("classify", name, "--labels=labels.csv", "-o", f"{name}.npz", *arguments)
        assert report["metric"] == "cosine"
        with np.load(f"{name}.npz") as archive:
            found[name] = archive["margin"]
    for margin in found.values():
        np.testing.assert_allclose(margin, found["half.npy"], atol=1e-4)


@pytest.mark.parametrize("name", ["points.csv", "points.parquet", "points.npz", "points.h5ad"])
def test_another_order_of_the_rows(name, rows, works, rng):
    X, truth = rows
    order = rng.permutation(120)
    ids = np.array([f"r{i}" for i in range(120)])
    id_name = "index" if name.endswith("h5ad") else "id"
    write_csv("by_id.csv", {id_name: ids[:12], "class": truth[:12]})
    found = []
    for rows_now in (np.arange(120), order):
        write_table(name, X[rows_now], ids=ids[rows_now])
        works("classify", name, "--labels", "by_id.csv", "-o", "c.csv", "--overwrite")
        table = read_csv("c.csv")
        assert table[id_name] == ids[rows_now].tolist()
        found.append(dict(zip(table[id_name], table["class"], strict=True)))
    assert found[0] == found[1]


@pytest.mark.parametrize("name", ["points.csv", "points.tsv", "points.parquet", "points.feather"])
@pytest.mark.parametrize(
    "ids", [np.arange(120) * 7 - 3, np.array([f"ä,{i}\n" for i in range(120)])]
)
def test_ids_are_kept(name, ids, rows, works):
    X, truth = rows
    write_table(name, X, columns={"key": ids})
    write_csv("by_key.csv", {"class": truth[:12], "key": ids[:12]})
    outputs = ["c.parquet", "c.csv", "c.npz"]
    for output in outputs:
        works("classify", name, "--id", "key", "--labels", "by_key.csv", "-o", output)
        again = open_table(output, id_column="key")
        assert again.id_name == "key"
        assert again.ids.tolist() == ids.tolist()


def test_features_by_name_and_pattern(rows, folder):
    X, _ = rows
    write_table("t.parquet", X, ids=np.arange(120) + 5, columns={"words": ["w"] * 120})
    for wanted, expected in (
        ("a,b", "ab"),
        (" a , b", "ab"),
        ("[bc]", "bc"),
        ("e,a*,e", "ea"),
        ("?", "abcde"),
    ):
        table = open_table("t.parquet", columns=wanted)
        wanted = X[:, [COLUMNS.index(name) for name in expected]]
        np.testing.assert_array_equal(table.values, wanted)
    assert open_table("t.parquet").left_out == ("words",)


@pytest.mark.parametrize(
    ("given", "columns", "values"),
    [
        ({"id": [4, 5, 6], "x": [1, 2, 3], "y": [0, 1, 0]}, "*", [[1, 0], [2, 1], [3, 0]]),
        ({"id": [4, 5, 6], "x": [1, 2, 3], "y": [0, 1, 0]}, "id,x", [[4, 1], [5, 2], [6, 3]]),
        ({"x,y": [1, 2], "z": [3, 4], "x[0]": [5, 6]}, "x,y", [[1], [2]]),
        ({"x,y": [1, 2], "z": [3, 4], "x[0]": [5, 6]}, "x[0]", [[5], [6]]),
    ],
)
def test_patterns_leave_ids_alone_and_names_may_have_commas(folder, given, columns, values):
    write_csv("t.csv", given)
    assert open_table("t.csv", columns=columns).values.tolist() == values


@pytest.mark.parametrize("how", ["index.csv", "index.parquet", "named.parquet", "index.feather"])
def test_the_index_of_pandas_is_ids_and_no_feature(how, folder):
    frame = pd.DataFrame({"x": [1.5, 2, 3], "y": [0, 1, 0]}, index=[40, 50, 7])
    if how == "named.parquet":
        frame.index.name = "cell"
    if how.endswith("csv"):
        frame.to_csv(how)
    elif how.endswith("parquet"):
        frame.to_parquet(how)
    else:
        pyarrow.feather.write_feather(arrow.Table.from_pandas(frame), how)
    table = open_table(how)
    assert table.values.tolist() == frame.to_numpy().tolist()
    assert table.ids.tolist() == [40, 50, 7]
    assert table.id_name == ("cell" if how == "named.parquet" else "index")


def test_an_index_that_repeats_is_none(folder):
    """As after pandas' concat."""
    frame = pd.DataFrame({"x": [1.5, 2, 3], "y": [0, 1, 0]}, index=[0, 1, 0])
    frame.to_parquet("t.parquet")
    frame.to_csv("t.csv")
    for name in ("t.parquet", "t.csv"):
        table = open_table(name)
        assert table.values.tolist() == frame.to_numpy().tolist()
        assert (table.id_name, table.ids.tolist()) == ("row", [0, 1, 2])


@pytest.mark.parametrize("chunks", [1, 3])
@pytest.mark.parametrize("size", [-1, 4])
@pytest.mark.parametrize("kind", ["float16", "float32", "float64", "int8"])
def test_vectors_with_missing_ones(chunks, size, kind, folder):
    values = np.arange(24).reshape(6, 4).astype(kind)
    listed = [list(row) for row in values]
    listed[2] = None
    column = arrow.array(listed, arrow.list_(arrow.from_numpy_dtype(values.dtype), size))
    step = 6 // chunks
    parts = [column.slice(i, step) for i in range(0, 6, step)]
    table = arrow.table({"v": arrow.chunked_array(parts), "other": range(6)})
    pyarrow.feather.write_feather(table, "v.feather")
    opened = open_table("v.feather")
    assert np.isnan(opened.values[2]).all()
    rest = np.arange(6) != 2
    np.testing.assert_array_equal(opened.values[rest], values[rest])
    assert opened.values.dtype == ("float32" if kind == "int8" else kind)
    assert opened.left_out == ("other",)


@pytest.mark.parametrize("name", ["half.npy", "half.parquet"])
def test_no_copy_of_the_whole(name, folder, monkeypatch):
    X = np.random.default_rng(0).normal(size=(8000, 128)).astype(np.float16)
    write_table(name, X)
    table = open_table(name)
    assert table.values.dtype == np.float16
    assert isinstance(table.values, np.memmap) == name.endswith("npy")
    monkeypatch.setattr(features, "_BLOCK", 2**14)
    tracemalloc.start()
    points = row_points(table.values, table.path, n_components=4).points
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert points.shape == (8000, 4)
    assert peak < X.nbytes / 2


def test_numbers_of_other_kinds(folder):
    table = arrow.table(
        {
            "big": arrow.array([2**63 - 1, 5, 7]),
            "bigger": arrow.array([2**64 - 1, 5, 7], arrow.uint64()),
            "yes": [True, False, None],
            "exact": [decimal.Decimal("1.50"), None, decimal.Decimal(2)],
            "half": arrow.array(np.float16([1, 2, 3])),
            "when": arrow.array([0, 1, 2], arrow.timestamp("s")),
        }
    )
    pyarrow.parquet.write_table(table, "t.parquet")
    opened = open_table("t.parquet")
    assert opened.left_out == ("when",)
    expected = [[2.0**63, 2.0**64, 1, 1.5, 1], [5, 5, 0, np.nan, 2], [7, 7, np.nan, 2, 3]]
    np.testing.assert_array_equal(opened.values, expected)


def test_csv_of_all_sorts(folder):
    plain = [[1, 2.5], [3, 4]]
    for text in (
        "x,y\n1,2.5\n3,4\n",
        "x,y\r\n1,2.5\r\n3,4\r\n",
        "﻿x,y\n1,2.5\n3,4\n",
        "﻿1,2.5\n3,4\n",
        '"x","y"\n"1","2.5"\n"3","4"\n',
        "x,y\n 1, 2.5\n3 ,4 \n",
        "x,y\n1,2.5\n3,4",
        "\n\nx,y\n\n1,2.5\n\n3,4\n\n",
        'x,say,y\n1,"a, ""b""\nc",2.5\n3,,4\n',
        "x,day,y\n1,2024-01-01,2.5\n3,2024-05-01,4\n",
        "1e0,25e-1\n3,4\n",
    ):
        with open("t.csv", "w", newline="", encoding="utf-8") as file:
            file.write(text)
        assert open_table("t.csv").values.tolist() == plain, text
    (folder / "huge.csv").write_text("x\n123456789012345678901234567890\n1\n")
    assert open_table("huge.csv").values.tolist() == [[123456789012345678901234567890.0], [1]]
    (folder / "bool.csv").write_text("x,y\ntrue,1\nfalse,2\n")
    assert open_table("bool.csv").values.tolist() == [[1, 1], [0, 2]]


def test_very_long_rows(folder):
    row = ",".join(["0.125"] * 33_000)
    (folder / "long.csv").write_text(f"{row}\n{row}\n")
    assert open_table("long.csv").values.shape == (2, 33_000)


def test_quoted_lines_across_blocks(folder):
    lines = [f'{i},"{"several " * 8}\n lines"' for i in range(60_000)]
    (folder / "t.csv").write_text("x,text\n" + "\n".join(lines) + "\n")
    assert open_table("t.csv").values[:, 0].tolist() == list(range(60_000))


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "matrix"])
def test_sparse_matrices_of_every_form(form, rows, folder):
    X, _ = rows
    matrix = sp.csr_matrix(X) if form == "matrix" else sp.csr_array(X).asformat(form)
    sp.save_npz("t.npz", matrix)
    table = open_table("t.npz")
    assert table.format == "SciPy"
    np.testing.assert_array_equal(table.values.toarray(), X)


def test_old_annotated_data_is_read_and_written_in_todays_form(rows, works):
    """As anndata wrote it before version 0.7: obs and var are single arrays."""
    anndata = pytest.importorskip("anndata")
    X, truth = rows
    cells = np.array(
        [(f"c{i}".encode(), name.encode()) for i, name in enumerate(truth)],
        dtype=[("index", "S8"), ("kind", "S8")],
    )
    genes = np.array([(f"g{i}".encode(),) for i in range(5)], dtype=[("index", "S8")])
    with h5py.File("old.h5ad", "w") as file:
        file["X"], file["obs"], file["var"] = X, cells, genes
    before = Path("old.h5ad").read_bytes()
    named = np.where(np.arange(120) < 12, truth, "")
    write_csv("some.csv", {"id": [f"c{i}" for i in range(120)], "class": named})
    works("classify", "old.h5ad", "--labels", "some.csv", "-o", "new.h5ad")
    assert Path("old.h5ad").read_bytes() == before
    found = anndata.read_h5ad("new.h5ad").obs
    assert found.index[:2].tolist() == ["c0", "c1"]
    assert np.mean(found["diffclass_class"].astype(str) == truth) > 0.95
    assert found["kind"].astype(str).tolist() == truth.tolist()
