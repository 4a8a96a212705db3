"""Graphs of a user's own take the place of features."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
import scipy.io
import scipy.sparse as sp
from sklearn.neighbors import kneighbors_graph

from diffclass import DiffusionClassifier
from diffclass_tables.io import open_table, read_row_graph

from .writers import read_csv, write_csv, write_table

IDS = np.array([f"r{i}" for i in range(120)])


@pytest.fixture
def affinity(blobs):
    nearest = kneighbors_graph(blobs[0], 8, mode="distance").astype(np.float64)
    nearest.data = np.exp(-(nearest.data**2) / 4)
    return sp.csr_array(nearest.maximum(nearest.T))


@pytest.fixture
def graphs(rows, affinity):
    """The graph in every format, and a table with ids whose features say nothing."""
    nothing = np.zeros((120, 1))
    write_table("t.npz", nothing, ids=IDS)
    sp.save_npz("k.npz", affinity)
    sp.save_npz("coo.npz", sp.coo_array(affinity))
    scipy.io.mmwrite("k.mtx", sp.coo_array(affinity), symmetry="general")
    scipy.io.mmwrite("half.mtx", sp.coo_array(affinity), symmetry="symmetric")
    edges = sp.coo_array(sp.triu(affinity))
    order = np.random.default_rng(0).permutation(edges.nnz)
    i, j = (IDS[end[order]] for end in edges.coords)
    write_csv("once.csv", {"weight": edges.data[order], "target": j, "source": i})
    write_csv("once.tsv", {"from": i, "to": j, "w": edges.data[order]}, delimiter="\t")
    both = {"u": [*i, *j], "v": [*j, *i], "affinity": [*edges.data[order]] * 2}
    write_csv("both.csv", both)
    write_csv("labels.csv", {"id": IDS[:12], "class": rows[1][:12]})
    return affinity


SOURCES = ["k.npz", "coo.npz", "k.mtx", "half.mtx", "once.csv", "once.tsv", "both.csv"]


def expected(affinity, truth):
    y = np.where(np.arange(120) < 12, truth, "-1")
    classifier = DiffusionClassifier(affinity="precomputed", random_state=0).fit(affinity, y)
    return classifier.transduction_.tolist(), classifier.margin_


@pytest.mark.parametrize("source", SOURCES)
def test_as_the_classifier(source, graphs, rows, works):
    report = works("classify", "t.npz", "--labels=labels.csv", "--graph", source, "-o", "c.csv")
    classes, margin = expected(graphs, rows[1])
    found = read_csv("c.csv")
    assert found["class"] == classes
    np.testing.assert_allclose(np.array(found["margin"], float), margin, atol=2e-5)
    assert found["id"] == IDS.tolist()
    told = {"points": "rows", "named_by": "id", "n_points": 120, "n_without_data": 0}
    told |= {"graph": "given", "edges": graphs.nnz}
    assert {name: report[name] for name in told} == told
    assert "features" not in report
    assert (np.array(classes) == rows[1]).mean() > 0.85


def test_of_parquet_and_annotated_data(graphs, rows, works):
    anndata = pytest.importorskip("anndata")
    edges = sp.coo_array(graphs)
    columns = {"source": edges.coords[0], "target": edges.coords[1], "weight": edges.data}
    pyarrow.parquet.write_table(pa.table(columns), "k.parquet")
    np.save("t.npy", np.zeros((120, 1)))
    made = anndata.AnnData(
        np.zeros((120, 1), np.float32),
        obs=pd.DataFrame({"mine": np.where(np.arange(120) < 12, rows[1], "")}, index=IDS),
        obsp={"connectivities": sp.csr_matrix(graphs)},
    )
    made.write_h5ad("t.h5ad")
    write_csv("numbers.csv", {"row": range(12), "class": rows[1][:12]})
    words = ("--labels=numbers.csv", "-o", "numbers.npz")
    works("classify", "t.npy", "--graph=k.parquet", *words)
    works("classify", "t.h5ad", "--graph=obsp/connectivities", "--labels=mine", "-o", "cells.npz")
    for name in ("numbers.npz", "cells.npz"):
        with np.load(name) as archive:
            assert archive["class"].tolist() == expected(graphs, rows[1])[0]


def test_rows_that_are_but_labels(graphs, rows, works):
    """A graph needs no features: an array with a class for each row is a table."""
    np.save("y.npy", np.where(np.arange(120) < 12, rows[1], ""))
    works("classify", "y.npy", "--labels=class", "--graph=k.npz", "-o", "c.npy")
    assert np.load("c.npy").tolist() == expected(graphs, rows[1])[0]


@pytest.mark.parametrize("command", ["cluster", "embed", "suggest", "info"])
def test_other_commands(command, graphs, rows, works):
    output = () if command == "info" else ("-o", "out.csv")
    report = works(command, "t.npz", "--graph", "k.npz", *output)
    assert report.get("edges", graphs.nnz) == graphs.nnz


def test_weights_by_default(folder):
    np.save("t.npy", np.zeros((3, 1)))
    table = open_table("t.npy")
    write_csv("k.csv", {"source": [0, 1, 1], "target": [1, 2, 1]})
    found = read_row_graph("k.csv", table)
    assert found.toarray().tolist() == [[0, 1, 0], [1, 1, 1], [0, 1, 0]]


def test_float32_and_other_numbers(folder):
    np.save("t.npy", np.zeros((2, 1)))
    table = open_table("t.npy")
    for kind, expected in (("float32", "float32"), ("int8", "float64"), ("bool", "float64")):
        sp.save_npz("k.npz", sp.csr_array(np.array([[0, 1], [1, 0]], kind)))
        found = read_row_graph("k.npz", table)
        assert found.dtype == expected
        assert found.toarray().tolist() == [[0, 1], [1, 0]]


def bad_graphs():
    one = np.array([[0, 1, 0], [1, 0, 2], [0, 2, 0.0]])
    skew, negative, infinite = one.copy(), one.copy(), one.copy()
    skew[0, 1], negative[0, 1], negative[1, 0] = 3, -1, -1
    infinite[0, 1] = infinite[1, 0] = np.nan
    return {
        "skew": (skew, "not symmetric"),
        "negative": (negative, "negative or not finite"),
        "infinite": (infinite, "negative or not finite"),
        "larger": (np.zeros((4, 4)), "shape (4, 4) for 3 rows"),
        "oblong": (np.ones((3, 2)), "shape (3, 2) for 3 rows"),
        "complex": (one * 1j, "real numbers"),
    }


@pytest.mark.parametrize("name", list(bad_graphs()))
@pytest.mark.parametrize("ending", [".npz", ".mtx"])
def test_wrong_graphs(name, ending, folder, fails):
    matrix, says = bad_graphs()[name]
    np.save("t.npy", np.zeros((3, 1)))
    np.save("y.npy", [1, 2, -1])
    (folder / "k.mtx").touch()
    if ending == ".npz":
        sp.save_npz("k.npz", sp.csr_array(matrix))
    else:
        scipy.io.mmwrite("k.mtx", sp.coo_array(matrix), symmetry="general")
    words = ("classify", "t.npy", "--labels=y.npy", "--graph", f"k{ending}", "-o", "c.csv")
    fails(*words, code=3, says=says)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("source,target\n0,9\n", "'9', which is no row"),
        ("source,target\n0,\n", "no row"),
        ("source,target,weight\n0,1,-2\n", "negative"),
        ("source,target,weight\n0,1,\n1,2,1\n", "not finite"),
        ("source,target,weight\n0,1,two\n", "two"),
        ("a,b\n0,1\n", "no edge list"),
        ("source,target\n", "no edge"),
        ("", "empty"),
    ],
)
def test_wrong_edges(text, says, folder, fails):
    np.save("t.npy", np.zeros((3, 1)))
    np.save("y.npy", [1, 2, -1])
    (folder / "k.csv").write_text(text)
    words = ("classify", "t.npy", "--labels=y.npy", "--graph=k.csv", "-o", "c.csv")
    fails(*words, code=3, says=says)


def test_wrong_sources(graphs, fails, folder):
    np.savez("arrays.npz", a=np.zeros(3))
    (folder / "k.doc").write_text("0 1")
    (folder / "bad.mtx").write_text("%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 1\n")
    for source, code, says in (
        ("arrays.npz", 3, "cannot be read as a graph"),
        ("bad.mtx", 3, "cannot be read as a graph"),
        ("none.npz", 3, "no such file"),
        ("k.doc", 2, "graphs are .npz"),
        ("obsp/distances", 2, "is for .h5ad"),
    ):
        words = ("--labels=labels.csv", "--graph", source, "-o", "c.csv")
        fails("classify", "t.npz", *words, code=code, says=says)
    words = ("--labels=labels.csv", "--graph=k.npz", "-o")
    fails("classify", "t.npz", *words, "k.npz", "--overwrite", code=2, says="read from")
    fails("classify", "t.npz", *words, "c.csv", "--metric=cosine", code=2, says="--metric")
    fails("anomaly", "t.npz", "--graph=k.npz", "-o", "c.csv", code=2, says="--graph")


def test_no_such_graph_in_annotated_data(rows, fails):
    write_table("t.h5ad", rows[0])
    words = ("--labels=labels.csv", "--graph=obsp/none", "-o", "c.csv")
    fails("classify", "t.h5ad", *words, code=2, says="no graph 'none' in obsp; it has none")
