"""``diffclass embed`` as a user runs it on a table: coordinates out."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from PIL import Image

from diffclass import DiffusionMap
from diffclass.command_line.main import run
from diffclass.plots import EmbeddingDisplay
from experiments.datasets import make_circle


def write_table(path, values, names):
    with open(path, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(names)
        rows.writerows([["" if np.isnan(v) else f"{v:.9g}" for v in row] for row in values])


def read_table(path):
    if str(path).endswith(".npy"):
        return np.load(path), []
    with open(path, newline="") as file:
        names, *rows = csv.reader(file)
    return np.array([[float(cell or "nan") for cell in row] for row in rows]), names


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def circle(folder):
    X, angle = make_circle(300, density=0.5, random_state=0)
    write_table("circle.csv", X, ["x", "y"])
    return X, angle


def works(capsys, *arguments):
    assert run(["embed", *arguments, "--json"]) == 0, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


def fails(capsys, *arguments, code, says):
    assert run(["embed", *arguments, "-q"]) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert says in said.err
    assert "Traceback" not in said.err


def roundness(coordinates):
    radii = np.linalg.norm(coordinates, axis=1)
    return radii.std() / radii.mean()


@pytest.mark.parametrize("output", ["out.csv", "out.npy"])
def test_a_table(circle, capsys, output):
    report = works(capsys, "circle.csv", "-o", output, "-n", "2", "--report", "report.json")
    coordinates, names = read_table(output)
    if output == "out.csv":
        assert names == ["row", "diffusion 1", "diffusion 2"]
        assert coordinates[:, 0].tolist() == list(range(300))
        coordinates = coordinates[:, 1:]
    assert coordinates.shape == (300, 2)
    assert roundness(coordinates) < 0.1
    with open("report.json") as file:
        assert json.load(file)["eigenvalues"] == report["eigenvalues"]
    assert report["n_graph_components"] == 1
    assert report["epsilon"] > 0


@pytest.mark.parametrize(
    "bandwidth", ["attached", "graph", "semigroup", "slope", "self-tuning", "0.05"]
)
def test_bandwidths_and_pictures(circle, capsys, bandwidth):
    arguments = ["circle.csv", "-o", "out.npy", "--bandwidth", bandwidth, "--time", "auto"]
    report = works(capsys, *arguments, "--picture", "out.png")
    assert (report["epsilon"] is None) == (bandwidth == "self-tuning")
    assert (report["bandwidth_curve"] is None) == (bandwidth not in ("semigroup", "slope"))
    with Image.open("out.png") as picture:
        assert picture.size[0] == (1650 if report["bandwidth_curve"] else 1100)


def test_a_picture_shows_the_first_coordinates(circle, capsys, monkeypatch):
    shown, plot = [], EmbeddingDisplay.plot

    def seen(self, *arguments):
        shown.append(list(self.components))
        return plot(self, *arguments)

    monkeypatch.setattr(EmbeddingDisplay, "plot", seen)
    for n in (1, 2, 3):
        works(capsys, "circle.csv", "-o", f"{n}.npy", "-n", str(n), "--picture", f"{n}.png")
    assert shown == [[0], [0, 1], [0, 1]]


def test_symmetric_coordinates(circle, capsys):
    report = works(
        capsys, "circle.csv", "-o", "out.npy", "--kind", "symmetric", "--picture", "o.png"
    )
    expected = DiffusionMap(3, kind="symmetric").fit(circle[0])
    np.testing.assert_allclose(np.load("out.npy"), expected.embedding_, atol=1e-6)
    assert report["kind"] == "symmetric"
    assert report["eigenvalues"][0] == 1
    fails(capsys, "circle.csv", "-o", "x.npy", "--kind", "unweighted", code=2, says="unweighted")


def test_rows_with_missing_values_get_none(folder, circle, capsys):
    X, _ = circle
    X[7, 1] = np.nan
    write_table("holes.csv", X, ["x", "y"])
    report = works(capsys, "holes.csv", "-o", "out.csv")
    coordinates = read_table("out.csv")[0][:, 1:]
    assert np.isnan(coordinates[7]).all()
    assert np.isfinite(np.delete(coordinates, 7, axis=0)).all()
    assert report["n_without_data"] == 1


def test_numpy_tables(folder, capsys):
    X, _ = make_circle(200, random_state=0)
    np.save("points.npy", X.astype(np.float32))
    works(capsys, "points.npy", "-o", "out.npy", "-n", "2")
    assert roundness(np.load("out.npy")) < 0.1


def test_the_seed_decides(circle, capsys):
    for name in ("a.npy", "b.npy"):
        works(capsys, "circle.csv", "-o", name, "--seed", "3", "--bandwidth", "semigroup")
    assert (np.load("a.npy") == np.load("b.npy")).all()


def test_wrong_usage(circle, capsys):
    for arguments, says in (
        (["-o", "out.png"], "rows are written as"),
        (["-o", "out.img"], "rows are written as"),
        (["-o", "out.csv", "--picture", "out.jpg"], ".png"),
        (["-o", "circle.csv", "--overwrite"], "read from"),
        (["-o", "out.csv", "--bandwidth", "wide"], "neither a number nor one of"),
        (["-o", "out.csv", "--time", "-1"], "time"),
        (["-o", "out.csv", "-n", "300"], "300 points"),
        (["-o", "none/out.csv"], "no folder"),
        (["-o", "out.csv", "--report", "out.csv"], "two outputs"),
    ):
        fails(capsys, "circle.csv", *arguments, code=2, says=says)


def test_bad_data(folder, capsys):
    for name, text, says in (
        (
            "words.csv",
            "a,b\n1,2\n3,four\n",
            "'four' in row 1 is no number as the others of column 'b'",
        ),
        ("ragged.csv", "1,2\n3\n", "Expected 2 columns, got 1: 3"),
        ("empty.csv", "", "the file is empty"),
        ("head.csv", "a,b\n", "no row of numbers"),
        ("equal.csv", "1,2\n" * 9, "all 9 points are equal"),
        ("holes.csv", "1,\n,2\n" * 9, "missing value"),
    ):
        (folder / name).write_text(text)
        fails(capsys, name, "-o", "out.csv", code=3, says=says)
    fails(capsys, "absent.csv", "-o", "out.csv", code=3, says="no such file")
    assert sorted(p.name for p in folder.iterdir() if p.name.startswith("out")) == []
