"""Commands of one name: the first file decides whether it is a scene's or a table's."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest

from diffclass.command_line.dispatch import is_table, takes_a_table
from diffclass.command_line.main import run
from diffclass_hyperspectral.commands import classify as of_scenes
from diffclass_hyperspectral.commands import suggest as suggest_of_scenes
from diffclass_tables.commands import classify as of_tables
from diffclass_tables.commands import suggest as suggest_of_tables

from .writers import FORMATS, write_csv, write_table


@pytest.fixture
def files(folder, blobs):
    np.save("cube.npy", np.zeros((4, 5, 6), np.float32))
    np.save("map.npy", np.ones((4, 5), np.uint8))
    np.save("row.npy", np.array(["a", "b"]))
    np.save("objects.npy", np.array([[1, "a"]], dtype=object), allow_pickle=True)
    np.savez("cubes.npz", scene=np.zeros((4, 5, 6)), wavelengths=np.zeros(6))
    np.savez("rows.npz", X=np.zeros((4, 2)), id=np.arange(4))
    np.savez("results.npz", row=np.arange(4), **{"class": np.arange(4)})
    for name in ("scene.hdr", "scene.tif", "scene.mat", "noise.npy", "noise.npz"):
        (folder / name).write_text("noise")
    with zipfile.ZipFile("other.npz", "w") as archive:
        archive.writestr("readme.txt", "no array")
    return folder


def test_what_is_a_table(files, blobs):
    for name in ("row.npy", "map.npy", "objects.npy", "rows.npz", "results.npz", "none.CSV"):
        assert is_table(name), name
    for name in (
        "cube.npy", "cubes.npz", "scene.hdr", "scene.tif", "scene.mat", "noise.npy", "noise.npz",
        "other.npz", "none.npy", "none", "-",
    ):  # fmt: skip
        assert not is_table(name), name
    for name in FORMATS:
        write_table(name, blobs[0])
        assert is_table(name), name


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("rows.npz", True),
        ("--labels l.tif rows.npz", True),
        ("--labels=l.tif rows.npz", True),
        ("-o c.csv cube.npy", False),
        ("-oc.csv cube.npy", False),
        ("-qo c.csv cube.npy", False),
        ("-q cube.npy", False),
        ("--json -v rows.npz", True),
        ("--seed 3 --kernel gaussian rows.npz --labels cube.npy", True),
        ("--labels t.csv scene.tif", False),
        ("--overwrite scene.hdr -o c.csv", False),
        ("--columns x*,y t.parquet", True),
        ("-- t.csv", True),
        ("-o c.csv -- cube.npy t.csv", False),
        ("", False),
        ("--help", False),
        ("--labels", False),
        ("cube.npy t.csv", False),
        ("noise.npz -o c.csv", True),
        ("none.npy --output=c.parquet", True),
        ("noise.npz -o map.tif", False),
        ("scene.tif -o c.csv", False),
    ],
)
def test_the_first_file_decides(words, expected, files):
    known = (of_scenes.classify, of_tables.classify)
    assert takes_a_table("classify", words.split(), known) == expected


@pytest.mark.parametrize(
    ("command", "words", "expected"),
    [
        ("evaluate", "map.npy map.npy", False),
        ("evaluate", "rows.npz", False),
        ("evaluate", "row.npy truth.npy", True),
        ("evaluate", "results.npz truth.npy", True),
        ("evaluate", "c.csv truth.csv", True),
        ("suggest", "map.npy", True),
        ("suggest", "map.npy --for-validation 5", False),
        ("suggest", "--for-validation 5 map.npy", False),
        ("suggest", "--for-validation=5 map.npy", False),
        ("suggest", "map.npy --number 5", True),
        ("suggest", "none.npy --labels none.npy -o out.csv", False),
        ("suggest", "none.npy --labels t.parquet -o out.csv", True),
    ],
)
def test_class_maps_are_no_tables(command, words, expected, files):
    known = (suggest_of_scenes.suggest, suggest_of_tables.suggest)
    assert takes_a_table(command, words.split(), known) == expected


@pytest.mark.parametrize("command", ["classify", "cluster", "anomaly", "suggest", "embed", "info"])
@pytest.mark.parametrize(
    ("first", "own"), [("t.csv", "--columns"), ("cube.npy", "--bands"), ("scene.tif", "--bands")]
)
def test_help(command, first, own, files, capsys):
    assert run([command, first, "--help"]) == 0
    said = capsys.readouterr().out
    assert own in said
    assert ("TABLE" in said) == (first == "t.csv")
    assert ("--graph" in said) == (first == "t.csv")


def test_scenes_still_go_to_scenes(files, works, capsys):
    rng = np.random.default_rng(0)
    truth = np.repeat([[1] * 10 + [2] * 10], 20, axis=0)
    np.save("scene.npy", rng.normal(size=(20, 20, 4)) + truth[..., None] * 3)
    labels = np.zeros((20, 20), np.uint8)
    labels[[3, 9, 12]] = truth[[3, 9, 12]]
    np.save("labels.npy", labels)
    np.save("truth.npy", truth.astype(np.uint8))
    report = works("classify", "-o", "found.npy", "--labels=labels.npy", "scene.npy", "--seed", "1")
    assert sum(one["pixels"] for one in report["classes"]) == 400
    report = works("evaluate", "found.npy", "truth.npy")
    assert report["overall_accuracy"] > 0.95
    works("suggest", "found.npy", "--for-validation=20", "-o", "visit.csv")
    assert works("info", "scene.npy")["bands"] == 4


def test_options_before_the_table(rows, works):
    words = ("-o", "c.csv", "--labels", "labels.csv", "--seed=1", "--metric=euclidean")
    assert works("classify", *words, "points.npy")["n_rows"] == 120


def test_wrong_calls(rows, fails):
    write_csv("t.csv", {"x": range(9)})
    fails("cluster", "t.csv", "points.npy", "-o", "c.csv", code=2, says="one table at a time")
    fails("cluster", "t.csv", "--bands=1", "-o", "c.csv", code=2, says="No such option")
    fails("classify", "t.csv", "-o", "c.csv", code=2, says="--labels")
    fails("classify", "t.csv", "--labels=labels.csv", code=2, says="--output")
    fails("evaluate", "t.csv", code=2, says="give the truth once")
    fails("evaluate", "t.csv", "labels.csv", "--labels=x", code=2, says="give the truth once")
    fails("suggest", "t.csv", "-o", "n.csv", "--rule=margin", code=2, says="without --labels")
    fails("info", "none.csv", code=3, says="no such file")
    fails("embed", "points.npy", "-o", "c.csv", "--time=x", code=2, says="neither a number")
