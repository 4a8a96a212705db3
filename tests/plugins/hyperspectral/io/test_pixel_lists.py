"""Lists of pixels as labels: what suggest and validation_design write as ``.csv``, filled in."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from diffclass.command_line.main import run
from diffclass.datasets import make_tissue_scene
from diffclass.exceptions import DataError, ParameterError
from diffclass_hyperspectral import open_tiles, read_labels, read_tile_labels
from diffclass_hyperspectral.io.scenes import Scene

GRID = Scene.from_array(np.ones((4, 5, 2)))


def listed(folder, *lines, name="points.csv", header="rank,row,column,class"):
    (folder / name).write_text("\n".join([header, *lines]) + "\n")
    return folder / name


def test_numbers_and_names(tmp_path):
    labels = read_labels(listed(tmp_path, "1,0,2,7", "2,3,4,", "3,3,0,2"), grid=GRID)
    expected = np.zeros((4, 5), dtype=int)
    expected[0, 2], expected[3, 0] = 7, 2
    np.testing.assert_array_equal(labels.ids, expected)
    named = read_labels(listed(tmp_path, "1,0,2,wood", "2,1,1,corn"), grid=GRID)
    assert [(e.id, e.name) for e in named.table] == [(1, "corn"), (2, "wood")]
    assert (named.ids[1, 1], named.ids[0, 2]) == (1, 2)


def test_rows_of_several_scenes_are_those_of_the_joint_picture(tmp_path):
    tiles = open_tiles([GRID, GRID])
    labels = read_tile_labels(listed(tmp_path, "1,0,0,1", "2,5,1,2"), tiles)
    assert labels.ids[0, 0] == 1
    assert labels.ids[5, 1] == 2


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["1,4,0,1"], r"line 2: row 4, column 0 is beyond 4 rows x 5 columns"),
        (["1,0,0,1", "2,,3,1"], r"line 3: row '', column '3'; they are numbers from 0"),
        (["1,0,0,1", "2,0,0,2"], r"line 3: a second class of its pixel; keep one"),
        (["1,0,0,"], r"no pixel has a class in the column 'class'; fill it in"),
        (["1,0,0"], r"no pixel has a class in the column 'class'; fill it in"),
        ([], r"no pixel has a class"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, lines, says):
    with pytest.raises(DataError, match=says):
        read_labels(listed(tmp_path, *lines), grid=GRID)


def test_a_list_needs_its_scene_and_a_column_of_classes(tmp_path):
    with pytest.raises(ParameterError, match="pass grid=scene"):
        read_labels(listed(tmp_path, "1,0,0,1"))
    with pytest.raises(DataError, match="which field holds the class"):
        read_labels(listed(tmp_path, "1,0,0", header="rank,row,column"), grid=GRID)


def test_suggestions_and_a_visit_of_a_scene_without_coordinates(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tissue = make_tissue_scene(48, 52, n_bands=12)
    np.save("scene.npy", tissue.cube)

    def answer(path):
        with (tmp_path / path).open(newline="") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            row["class"] = tissue.truth[int(row["row"]), int(row["column"])]
        with (tmp_path / path).open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)

    def works(*words):
        assert run([*words, "-q"]) == 0

    works("suggest", "scene.npy", "-o", "first.csv", "-n", "12", "--components", "6")
    answer("first.csv")
    works("classify", "scene.npy", "--labels", "first.csv", "-o", "map.img", "--components", "6")
    assert (read_labels("map.img").ids == tissue.truth).mean() > 0.8
    works("suggest", "map.img", "--for-validation", "30", "-o", "visit.csv")
    answer("visit.csv")
    works("evaluate", "map.img", "visit.csv", "--areas", "--report", "found.json")
    assert json.loads(Path("found.json").read_text())["n_points"] == 30
