"""What the commands write can be read back, evaluated, and taken as labels again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.feather
import pyarrow.parquet
import pytest

from diffclass.exceptions import DataError
from diffclass_tables import evaluate_rows, write_rows
from diffclass_tables.io import open_table, read_row_labels

from .writers import read_csv, write_csv, write_table

OUTPUTS = ["c.csv", "c.tsv", "c.parquet", "c.feather", "c.npz", "c.npy"]
CLASSIFY = ("classify", "points.npy", "--labels", "labels.csv")


def read_back(name):
    if name.endswith((".csv", ".tsv")):
        return read_csv(name, delimiter="," if name.endswith("csv") else "\t")
    if name.endswith(".parquet"):
        return pyarrow.parquet.read_table(name).to_pydict()
    if name.endswith(".feather"):
        return pyarrow.feather.read_table(name).to_pydict()
    if name.endswith(".npz"):
        with np.load(name) as archive:
            return {key: archive[key].tolist() for key in archive.files}
    return {"class": np.load(name).tolist()}


@pytest.fixture
def holes(rows):
    """The rows, of which two have missing values."""
    X, truth = rows
    X = X.copy()
    X[5, 0] = X[70] = np.nan
    np.save("points.npy", X)
    return X, truth


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.filterwarnings("ignore:points.npy. 1 labelled")
def test_every_format(output, holes, works):
    works(*CLASSIFY, "-o", "first.npz", "--level=0.9")
    with np.load("first.npz") as archive:
        classes, margin, sets = (archive[name].tolist() for name in ("class", "margin", "set"))
    report = works(*CLASSIFY, "-o", output, "--level=0.9")
    found = read_back(output)
    assert [value or "" for value in found["class"]] == classes
    assert [row for row, value in enumerate(classes) if value == ""] == [5, 70]
    assert report["unclassified"] == 2
    assert report["n_points"] + report["n_without_data"] == 120
    if output == "c.npy":
        return
    assert list(found) == ["row", "class", "probability", "margin", "set"]
    assert list(map(int, found["row"])) == list(range(120))
    for name in ("probability", "margin"):
        values = np.array([np.nan if v in ("", None) else v for v in found[name]], float)
        assert np.flatnonzero(np.isnan(values)).tolist() == [5, 70]
        assert (np.nan_to_num(values) >= 0).all()
        assert (np.nan_to_num(values) <= 1).all()
        if name == "margin":
            np.testing.assert_allclose(values, margin, rtol=1e-5)
    texts = ["|".join(one) if isinstance(one, list) else one or "" for one in found["set"]]
    assert texts == sets
    for name, text in zip(classes, texts, strict=True):
        assert name == "" or name in text.split("|")


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("kind", ["words", "numbers", "bools"])
def test_evaluate_reads_every_format(output, kind, rows, works):
    truth = np.unique(rows[1], return_inverse=True)[1]
    truth = {"words": rows[1], "numbers": truth, "bools": truth > 0}[kind]
    np.save("truth.npy", truth)
    labels = "l.csv" if kind == "bools" else "l.npy"
    write_csv("l.csv", {"row": range(12), "class": [str(v).lower() for v in truth[:12]]})
    np.save("l.npy", np.where(np.arange(120) < 12, truth, -1 if kind == "numbers" else ""))
    works("classify", "points.npy", "--labels", labels, "-o", output, "--level=0.9")
    report = works("evaluate", output, "truth.npy", "--fitted", labels)
    assert report["overall_accuracy"] > 0.9
    assert report["unclassified"] == 0
    everyone = works("evaluate", output, "--labels", "truth.npy")
    assert everyone["overall_accuracy"] >= report["overall_accuracy"]
    for name in ("margin", "probability", "thresholds"):  # .npy has classes alone
        assert (report[name] is not None) == (output != "c.npy")


def test_results_of_some_rows_in_another_order(rows, works):
    """Ids decide, also those that are not called so, and numbers of rows."""
    X, truth = rows
    names = np.array([f"r{i}" for i in range(120)])
    write_table("t.csv", X, columns={"cell": names})
    write_csv("l.csv", {"cell": names[:12], "class": truth[:12]})
    write_csv("truth.csv", {"cell": names[::-1], "class": truth[::-1]})
    write_csv("numbers.csv", {"row": range(120), "class": truth})
    works("classify", "t.csv", "--id=cell", "--labels=l.csv", "-o", "c.csv")
    whole = works("evaluate", "c.csv", "truth.csv")["overall_accuracy"]
    assert whole > 0.9
    works(*CLASSIFY, "-o", "n.csv")
    for name, expected in (("c.csv", "truth.csv"), ("n.csv", "numbers.csv")):
        table = read_csv(name)
        some = {key: values[::-1][:100] for key, values in table.items()}
        write_csv("some.csv", some)
        key = next(iter(table))
        inner = dict(zip(read_csv(expected)[key], read_csv(expected)["class"], strict=True))
        write_csv("inner.csv", {key: some[key], "class": [inner[one] for one in some[key]]})
        report = works("evaluate", "some.csv", "inner.csv")
        right = [inner[k] == c for k, c in zip(some[key], some["class"], strict=True)]
        assert report["overall_accuracy"] == pytest.approx(np.mean(right))


def test_annotated_data(rows, works):
    anndata = pytest.importorskip("anndata")
    X, truth = rows
    columns = {"mine": np.where(np.arange(120) < 12, truth, ""), "depth": np.arange(120)}
    write_table("obsm.h5ad", X, columns=columns, ids=[f"c{i}" for i in range(120)])
    before = Path("obsm.h5ad").read_bytes()
    works("classify", "obsm.h5ad", "--labels=mine", "-o", "c.h5ad", "--level=0.8")
    works("cluster", "c.h5ad", "-k", "3", "-o", "k.h5ad")
    works("anomaly", "k.h5ad", "-o", "a.h5ad")
    works("embed", "a.h5ad", "-o", "e.h5ad", "-n", "2")
    works("embed", "e.h5ad", "-o", "again.h5ad", "-n", "3")
    found = anndata.read_h5ad("again.h5ad")
    added = ["class", "probability", "margin", "set", "cluster", "score"]
    assert list(found.obs) == [*columns, *(f"diffclass_{name}" for name in added)]
    assert found.obs_names.tolist() == [f"c{i}" for i in range(120)]
    assert found.obsm["X_diffclass"].shape == (120, 3)
    np.testing.assert_array_equal(found.obsm["X_pca"], X)
    assert found.obs["depth"].tolist() == list(range(120))
    assert (found.obs["diffclass_class"] == truth).mean() > 0.9
    assert found.obs["diffclass_class"].dtype == "category"
    assert found.obs["diffclass_cluster"].dtype.kind == "i"
    assert Path("obsm.h5ad").read_bytes() == before
    write_csv("truth.csv", {"": found.obs_names, "class": truth})
    assert works("evaluate", "again.h5ad", "truth.csv")["overall_accuracy"] > 0.9
    works("classify", "again.h5ad", "--labels=mine", "-o", "last.h5ad")
    assert list(anndata.read_h5ad("last.h5ad").obs) == list(found.obs)


@pytest.mark.parametrize("output", ["n.csv", "n.tsv", "n.parquet", "n.feather"])
@pytest.mark.parametrize("table", ["points.npy", "t.csv"])
def test_suggestions_filled_in_are_labels(output, table, rows, works):
    X, truth = rows
    write_table("t.csv", X, ids=[f"r{i}" for i in range(120)])
    report = works("suggest", table, "-o", output, "-n", "9")
    assert len(report["suggestions"]) == 9
    suggested = read_back(output)
    key = "row" if table == "points.npy" else "id"
    assert list(suggested) == [key, "class", "class_now", "margin", "score"]
    assert not any(suggested["class"])
    opened = open_table(table)
    assert read_row_labels(output, opened).tolist() == [None] * 120
    places = {str(name): row for row, name in enumerate(opened.ids.tolist())}
    filled = [truth[places[str(name)]] for name in suggested[key]]
    write_csv("l.csv", suggested | {"class": filled})
    works("classify", table, "--labels=l.csv", "-o", "c.csv")
    more = works("suggest", table, "--labels=l.csv", "-o", f"more{output}", "--rule=margin")
    labelled = {str(name) for name in suggested[key]}
    assert len(more["suggestions"]) == 10
    assert not labelled & {str(row["id"]) for row in more["suggestions"]}
    assert all(row["current_class"] in truth for row in more["suggestions"])


def test_ids_that_are_called_as_a_result(rows, works):
    write_table("t.csv", rows[0], columns={"class": np.arange(120) * 2})
    write_csv("l.csv", {"row": range(12), "label": rows[1][:12]})
    works("classify", "t.csv", "--id=class", "--labels=l.csv", "-o", "c.csv")
    found = read_csv("c.csv")
    assert list(map(int, found["id"])) == (np.arange(120) * 2).tolist()
    assert set(found["class"]) == {"ant", "bee", "cat"}


def test_overwriting(rows, works, fails):
    works(*CLASSIFY, "-o", "c.csv", "--report", "r.json")
    fails(*CLASSIFY, "-o", "c.csv", code=2, says="--overwrite")
    fails(*CLASSIFY, "-o", "d.csv", "--report", "r.json", code=2, says="--overwrite")
    works(*CLASSIFY, "-o", "c.csv", "--report", "r.json", "--overwrite")
    for output in ("points.npy", "labels.csv"):
        fails(*CLASSIFY, "-o", output, "--overwrite", code=2, says="read from")
    for command, option in (
        ("cluster", "--truth"),
        ("anomaly", "--truth"),
        ("suggest", "--labels"),
    ):
        for output in ("labels.csv", "./labels.csv"):
            words = (command, "points.npy", option, "labels.csv", "-o", output, "--overwrite")
            fails(*words, code=2, says="read from")
    for report in ("c.csv", "truth.csv", "labels.csv"):
        words = ("evaluate", "c.csv", "truth.csv", "--fitted=labels.csv", "--report", report)
        fails(*words, "--overwrite", code=2, says="read from")
    fails(*CLASSIFY, "-o", "d.csv", "--report=d.csv", code=2, says="two outputs")


def test_wrong_endings(rows, fails):
    for output, says in (
        ("c.xlsx", "rows are written as"),
        ("c", "rows are written as"),
        ("c.h5ad", "copy of an .h5ad file"),
        ("none/c.csv", "no folder"),
        (".", "rows are written as"),
    ):
        fails(*CLASSIFY, "-o", output, code=2, says=says)
    fails("suggest", "points.npy", "-o", "n.npz", code=2, says="written as .csv")


def test_classes_that_are_called_otherwise_are_no_map_without_a_right_row():
    found = np.array(["oak", "elm", None, "oak"], dtype=object)
    truth = np.array(["Oak", "Elm", "Oak", None], dtype=object)
    says = r"no class is called as in the truth \(elm, oak; there Elm"
    with pytest.raises(DataError, match=says):
        evaluate_rows(found, truth)
    truth[3] = "oak"  # one name is common: all that is wrong may be wrong
    assert evaluate_rows(found, truth).scores.overall_accuracy == 0.25
    assert evaluate_rows(np.full(4, None), truth).scores.overall_accuracy == 0.0


@pytest.mark.parametrize("ending", [".npy", ".npz", ".csv", ".parquet", ".feather"])
def test_results_are_whole_or_not_there(ending, rows, tmp_path, said_of):
    table = open_table("points.npy")
    folder = tmp_path / "results"
    folder.mkdir()
    path, found = folder / f"out{ending}", {"score": np.arange(120.0)}
    write_rows(path, table, found)
    size = path.stat().st_size
    path.unlink()
    for limit in (1, size // 2, size - 100, size - 1, size):
        said = said_of(limit, write_rows, path, table, found)
        assert (f"out{ending}: no room left on its disk" in said) == (limit < size)
        assert list(folder.iterdir()) == ([] if said else [path])


@pytest.mark.parametrize("matrix", [None, np.ones((120, 2000))], ids=["columns", "matrix"])
def test_annotated_data_have_room_before_they_are_written(rows, tmp_path, said_of, matrix):
    """HDF5 that cannot write ends the process later."""
    write_table("cells.h5ad", rows[0])
    size = Path("cells.h5ad").stat().st_size
    table, path = open_table("cells.h5ad"), tmp_path / "results" / "out.h5ad"
    path.parent.mkdir()
    found = {"score": np.arange(120.0), "name": np.array([f"row {i}" * 99 for i in range(120)])}
    for limit in (1, size // 2, size, size + 2**20, size + 2**22):
        said = said_of(limit, write_rows, path, table, found, matrix=matrix)
        assert ("out.h5ad: no room left on its disk" in said) == (limit < size + 2**22)
        assert list(path.parent.iterdir()) == ([] if said else [path])
    assert path.stat().st_size < size + 2**21  # what was not needed is given back
    assert len(open_table(path).values) == 120
