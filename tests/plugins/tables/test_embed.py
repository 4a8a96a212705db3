"""``diffclass embed`` as a user runs it on a table: coordinates out."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from diffclass import DiffusionMap
from diffclass.plots import EmbeddingDisplay
from experiments.datasets import make_circle

from .writers import read_csv, write_csv


def numbers(path):
    """The columns of a table of numbers; an empty cell is none."""
    return {name: np.array([float(cell or "nan") for cell in column])
            for name, column in read_csv(path).items()}  # fmt: skip


@pytest.fixture
def circle(folder):
    X, angle = make_circle(300, density=0.5, random_state=0)
    write_csv("circle.csv", dict(zip("xy", X.T, strict=True)))
    return X, angle


def roundness(coordinates):
    radii = np.linalg.norm(coordinates, axis=1)
    return radii.std() / radii.mean()


def test_a_table(circle, works):
    report = works("embed", "circle.csv", "-o", "out.csv", "-n", "2", "--report", "report.json")
    found = numbers("out.csv")
    assert list(found) == ["row", "diffusion 1", "diffusion 2"]
    assert found.pop("row").tolist() == list(range(300))
    assert roundness(np.column_stack([*found.values()])) < 0.1
    assert json.loads(Path("report.json").read_text())["eigenvalues"] == report["eigenvalues"]
    assert report["n_graph_components"] == 1
    assert report["epsilon"] > 0
    works("embed", "circle.csv", "-o", "out.npy", "-n", "2")
    np.testing.assert_allclose(np.load("out.npy").T, [*found.values()], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "bandwidth", ["attached", "graph", "semigroup", "slope", "self-tuning", "0.05"]
)
def test_bandwidths_and_pictures(circle, works, bandwidth):
    arguments = ["circle.csv", "-o", "out.npy", "--bandwidth", bandwidth, "--time", "auto"]
    report = works("embed", *arguments, "--picture", "out.png")
    assert (report["epsilon"] is None) == (bandwidth == "self-tuning")
    assert (report["bandwidth_curve"] is None) == (bandwidth not in ("semigroup", "slope"))
    with Image.open("out.png") as picture:
        assert picture.size[0] == (1650 if report["bandwidth_curve"] else 1100)


def test_a_picture_shows_the_first_coordinates(circle, works, monkeypatch):
    shown, plot = [], EmbeddingDisplay.plot

    def seen(self, *arguments):
        shown.append(list(self.components))
        return plot(self, *arguments)

    monkeypatch.setattr(EmbeddingDisplay, "plot", seen)
    for n in (1, 2, 3):
        works("embed", "circle.csv", "-o", f"{n}.npy", "-n", str(n), "--picture", f"{n}.png")
    assert shown == [[0], [0, 1], [0, 1]]


def test_symmetric_coordinates(circle, works, fails):
    words = ["-o", "out.npy", "--kind", "symmetric", "--picture", "o.png"]
    report = works("embed", "circle.csv", *words)
    expected = DiffusionMap(3, kind="symmetric").fit(circle[0])
    np.testing.assert_allclose(np.load("out.npy"), expected.embedding_, atol=1e-6)
    assert report["kind"] == "symmetric"
    assert report["eigenvalues"][0] == 1
    words = ["-o", "x.npy", "--kind", "unweighted"]
    fails("embed", "circle.csv", *words, code=2, says="unweighted")


def test_rows_with_missing_values_get_none(folder, circle, works):
    X, _ = circle
    X[7, 1] = np.nan
    np.savetxt("holes.csv", X, delimiter=",", header="x,y", comments="")
    report = works("embed", "holes.csv", "-o", "out.csv")
    found = numbers("out.csv")
    assert np.flatnonzero(np.isnan(found["diffusion 1"])).tolist() == [7]
    assert np.flatnonzero(np.isnan(found["diffusion 2"])).tolist() == [7]
    assert report["n_without_data"] == 1


def test_numpy_tables(folder, works):
    X, _ = make_circle(200, random_state=0)
    np.save("points.npy", X.astype(np.float32))
    works("embed", "points.npy", "-o", "out.npy", "-n", "2")
    assert roundness(np.load("out.npy")) < 0.1


def test_wrong_usage(circle, fails):
    for words, says in (
        ("-o out.png", "rows are written as"),
        ("-o out.img", "rows are written as"),
        ("-o out.csv --picture out.jpg", ".png"),
        ("-o circle.csv --overwrite", "read from"),
        ("-o out.csv --bandwidth wide", "neither a number nor one of"),
        ("-o out.csv --time -1", "time"),
        ("-o out.csv -n 300", "300 points"),
        ("-o none/out.csv", "no folder"),
        ("-o out.csv --report out.csv", "two outputs"),
    ):
        fails("embed", "circle.csv", *words.split(), code=2, says=says)


def test_bad_data(folder, fails):
    for name, text, says in (
        ("ragged.csv", "1,2\n3\n", "Expected 2 columns, got 1: 3"),
        ("empty.csv", "", "the file is empty"),
        ("head.csv", "a,b\n", "no row of numbers"),
        ("equal.csv", "1,2\n" * 9, "all 9 points are equal"),
        ("holes.csv", "1,\n,2\n" * 9, "missing value"),
        ("words.csv", "a,b\n1,2\n3,four\n", "is no number as the others of column 'b'"),
    ):
        (folder / name).write_text(text)
        fails("embed", name, "-o", "out.csv", code=3, says=says)
    fails("embed", "absent.csv", "-o", "out.csv", code=3, says="no such file")
