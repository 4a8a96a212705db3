"""What the commands on tables find, say and report."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from diffclass.command_line.main import run

from .writers import read_csv, write_csv, write_table

CLASSIFY = ("classify", "points.npy", "--labels", "labels.csv", "-o", "c.csv", "--overwrite")


def text_of(capsys, *arguments):
    assert run([*map(str, arguments)]) == 0
    return capsys.readouterr().out


@pytest.fixture
def odd(rows):
    """The rows with ids that are dates, a row without values, and a few far ones."""
    X, truth = rows
    X = X.copy()
    X[70, 2] = np.nan
    X[[7, 40]] = [[90, -30, 20, 10, 5], [-60, 40, 80, -10, 9]]
    dates = np.datetime64("2024-01-01") + np.arange(120)
    columns = dict(zip("abcde", X.T, strict=True))
    names = [*truth[:80], *[None] * 40]
    table = pa.table({"id": dates, **columns, "name": names})
    pyarrow.parquet.write_table(table, "odd.parquet")
    cells = {k: ["" if np.isnan(one) else one for one in v] for k, v in columns.items()}
    write_csv("odd.csv", {"id": [f"{d} Ω" for d in dates], **cells})
    return X, truth


REPORTED = [
    ("classify", "--labels=name", "--level=0.9", "--holdout"),
    ("classify", "--labels=name", "--labels-per-class=3", "--class-sizes=uniform"),
    ("cluster", "--truth=name"),
    ("cluster", "--method=modes", "-k", "3"),
    ("anomaly",),
    ("suggest", "-n", "5"),
    ("suggest", "--labels=name", "-n", "5", "--rule=margin"),
    ("embed", "-n", "2", "--bandwidth=semigroup"),
]


@pytest.mark.parametrize("words", REPORTED)
@pytest.mark.filterwarnings("ignore:odd.parquet. 1 labelled")
def test_reports_are_plain_and_finite(words, odd, works, capsys):
    command, *options = words
    printed = works(command, "odd.parquet", *options, "-o", "o.csv", "--report", "r.json")
    written = json.loads(Path("r.json").read_text(), parse_constant=lambda name: 1 / 0)
    assert written.keys() == printed.keys()
    assert printed["seconds"]["total"] > 0
    assert printed["peak_memory_bytes"] > 2**20
    text = text_of(capsys, command, "odd.parquet", *options, "-o", "o.csv", "--overwrite")
    assert text.strip()
    assert "nan" not in text.lower()
    assert read_csv("o.csv")["id"][0].startswith("2024-")


def test_ids_of_words_are_reported(odd, works):
    report = works("anomaly", "odd.csv", "-o", "o.csv")
    names = [one["id"] for one in report["highest"]]
    assert set(names[:2]) == {"2024-01-08 Ω", "2024-02-10 Ω"}
    scores = [one["score"] for one in report["highest"]]
    assert scores == sorted(scores, reverse=True)
    found = read_csv("o.csv")
    assert found["score"][70] == ""
    assert report["n_without_data"] == 1
    best = max(range(120), key=lambda i: float(found["score"][i] or -1))
    assert found["id"][best] == names[0]


def test_known_anomalies(odd, works, fails):
    marked = np.zeros(120, int)
    marked[[7, 40]] = 1
    np.save("truth.npy", marked)
    report = works("anomaly", "odd.csv", "-o", "o.csv", "--truth=truth.npy")
    assert report["detection"]["diffusion"]["area"] == 1
    for name, values in (("none", np.zeros(120, int)), ("all", np.ones(120, int))):
        np.save(f"{name}.npy", values)
        words = ("anomaly", "odd.csv", "-o", "p.csv", f"--truth={name}.npy")
        fails(*words, code=3, says="anomal")


def test_fewer_rows_than_are_listed(folder, works):
    X = np.arange(16.0).reshape(8, 2) ** 2
    X[3] = np.nan
    np.save("t.npy", X)
    report = works("anomaly", "t.npy", "-o", "o.csv", "--neighbors=3")
    assert sorted(one["id"] for one in report["highest"]) == [0, 1, 2, 4, 5, 6, 7]


def test_clusters_agree_with_classes(rows, works):
    report = works("cluster", "points.npy", "-o", "k.csv", "--truth=truth.csv", "-k", "3")
    assert report["agreement"]["overall_accuracy"] > 0.9
    sizes = [one["n_points"] for one in report["clusters"]]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(sizes) == 120
    found = np.array(read_csv("k.csv")["cluster"], int)
    assert np.bincount(found).tolist() == [0, *sizes]
    scores = works("evaluate", "k.csv", "k.csv", "--class-variable=cluster", "--id=row")
    assert scores["overall_accuracy"] == 1


def test_clusters_are_called_as_the_classes_that_some_rows_have(rows, capsys):
    truth = rows[1]
    write_csv("some.csv", {"row": range(120), "class": [*truth[:90], *[""] * 30]})
    words = ("cluster", "points.npy", "-o", "k.csv", "--truth=some.csv", "-k", "3")
    said = text_of(capsys, *words)
    assert "over 90 rows of known class" in said
    (given,) = (line for line in said.splitlines() if line.startswith("clusters as classes"))
    called = dict(one.split(" ") for one in given.split(": ")[1].split(", "))
    found = read_csv("k.csv")["cluster"]
    names, counts = np.unique(truth[[one == found[0] for one in found]], return_counts=True)
    assert called[str(found[0])] == names[counts.argmax()]
    assert sorted(called.values()) == sorted(set(truth))


def test_typical_rows(odd, works):
    report = works("cluster", "odd.csv", "-o", "k.csv", "--method=modes", "-k", "3")
    assert all(one["mode"]["id"].endswith(" Ω") for one in report["clusters"])


def test_holding_labels_out(rows, works):
    truth = rows[1]
    half = np.where(np.arange(120) % 2 == 0, truth, "")
    np.save("y.npy", half)
    words = ("classify", "points.npy", "--labels=y.npy", "-o", "c.csv", "--overwrite")
    report = works(*words, "--labels-per-class=4")
    assert [one["labels"] for one in report["classes"]] == [4, 4, 4]
    assert report["holdout"]["n_points"] == 60 - 12
    assert report["holdout"]["overall_accuracy"] > 0.85
    report = works(*words, "--holdout")
    assert [one["labels"] for one in report["classes"]] == [10, 10, 10]
    assert "holdout" not in works(*words)
    maps = []
    for seed in ("1", "1", "2"):
        works(*words, "--labels-per-class=1", "--seed", seed)
        maps.append(read_csv("c.csv"))
    assert maps[0] == maps[1] != maps[2]


def test_class_sizes(rows, works, fails):
    plain = works(*CLASSIFY)
    assert "class_sizes" not in plain
    for sizes in ("uniform", "ant=20-40%,bee=40rows", "ant=30%, bee=30%, cat=40%"):
        report = works(*CLASSIFY, "--class-sizes", sizes)
        counts = {one["name"]: one["n_points"] for one in report["classes"]}
        for said in report["class_sizes"]:
            name = said.split(":")[0]
            assert f"the map has {100 * counts[name] / 120:.3g} %" in said
        assert "ant: asked 33.3 %" in works(*CLASSIFY, "--class-sizes=uniform")["class_sizes"][0]
        assert sum(counts.values()) == 120
        assert abs(counts["bee"] - 40) <= 6
    for sizes, says in (
        ("ant=20%,dog=10%", "dog"),
        ("ant=20px", "rows"),
        ("ant", "ant"),
        ("ant=120%", "120%"),
        ("ant=50-20%", "50-20%"),
        ("ant=80%,bee=80%", "%"),
        ("ant=60%,bee=40%", "no room for class 'cat'"),
    ):
        words = ("classify", "points.npy", "--labels=labels.csv", "-o", "d.csv")
        fails(*words, "--class-sizes", sizes, code=2, says=says)


def test_sizes_of_classes_that_are_numbers(rows, works):
    np.save("y.npy", np.where(np.arange(120) < 12, np.arange(120) % 3, -1))
    words = ("classify", "points.npy", "--labels=y.npy", "-o", "c.csv")
    report = works(*words, "--class-sizes=0=40rows,1=30-36%")
    assert [one["name"] for one in report["classes"]] == ["0", "1", "2"]


def test_evaluation_counts(rows, works, fails):
    write_csv("f.csv", {"id": "abcdef", "class": ["x", "x", "y", "y", "", "z"]})
    write_csv("t.csv", {"id": "fedcb", "class": ["z", "y", "x", "y", "x"]})
    write_csv("l.csv", {"id": "f", "class": "z"})
    report = works("evaluate", "f.csv", "t.csv")
    assert report["overall_accuracy"] == pytest.approx(3 / 5)
    assert report["unclassified"] == 1
    report = works("evaluate", "f.csv", "t.csv", "--fitted=l.csv")
    assert report["overall_accuracy"] == pytest.approx(2 / 4)
    fails("evaluate", "f.csv", "t.csv", "--fitted=t.csv", code=3, says="no row of known class")
    fails("evaluate", "f.csv", "t.csv", "--class-variable=k", code=2, says="no column 'k'")
    write_csv("other.csv", {"id": "uvw", "class": "xyz"})
    fails("evaluate", "f.csv", "other.csv", code=3, says="none of the 6 rows")
    write_csv("both.csv", {"id": "abc", "class": "xyx", "truth": "xyy"})
    assert works("evaluate", "both.csv", "truth")["overall_accuracy"] == pytest.approx(2 / 3)
    assert works("evaluate", "both.csv", "--labels=truth")["unclassified"] == 0


def test_classes_that_no_label_reaches(folder, works):
    """Two far groups, of which one has no label."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    X[100:] += 1000
    np.save("t.npy", X)
    np.save("y.npy", np.where(np.arange(200) < 6, np.arange(200) % 2, -1))
    report = works("classify", "t.npy", "--labels=y.npy", "-o", "c.csv")
    assert report["unclassified"] == 100
    found = read_csv("c.csv")
    assert found["class"][100:] == found["margin"][100:] == [""] * 100
    assert "" not in found["class"][:100]


def test_labels_that_do_not_cover_the_graph_in_time(rows, works):
    X = np.linspace(0, 1, 2000)[:, None]
    np.save("line.npy", X)
    np.save("y.npy", np.where(np.arange(2000) < 4, np.arange(2000) % 2, -1))
    words = ("classify", "line.npy", "--labels=y.npy", "-o", "c.csv", "--neighbors=4")
    works(*words, "--max-time=2", code=4)
    assert len(read_csv("c.csv")["class"]) == 2000


def test_info(rows, works, capsys):
    X, truth = rows
    write_table("t.csv", X, ids=np.arange(120) + 3, columns={"name": truth})
    facts = works("info", "t.csv")
    assert (facts["rows"], facts["features"], facts["id"]) == (120, 5, "id")
    assert facts["columns"] == ["id", "name", "a", "b", "c", "d", "e"]
    assert facts["metric"] == "euclidean"
    text = text_of(capsys, "info", "t.csv")
    assert "120, called by 'id'" in text
    assert works("info", "t.csv", "--columns=a", "--metric=cosine")["features"] == 1
    write_csv("words.csv", {"name": truth})
    assert works("info", "words.csv")["features"] is None
    assert "features     none" in text_of(capsys, "info", "words.csv")


def test_more_suggestions_than_rows(rows, works):
    report = works("suggest", "points.npy", "-o", "n.csv", "-n", "500")
    assert 60 <= len(report["suggestions"]) <= 120
    assert len({row["id"] for row in report["suggestions"]}) == len(report["suggestions"])
