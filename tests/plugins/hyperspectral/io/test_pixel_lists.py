"""Lists of pixels as labels: what suggest and validation_design write as ``.csv``, filled in."""

import csv

import numpy as np
import pytest

from diffclass.datasets import make_tissue_scene
from diffclass.exceptions import DataError, ParameterError
from diffclass_hyperspectral import open_tiles, read_labels, read_tile_labels
from diffclass_hyperspectral.io.labels import is_pixel_list
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


@pytest.mark.parametrize(
    "text",
    [
        "row,column,class\n0,2,7\n3,0,12\n",
        "id,row,column,class\n4,0.0,2.0,7.0\n5,3.0,0.0,12.0\n6,1.0,1.0,\n",
        "\ufeffRow;Column;Class\r\n0;2;7\r\n3;0;12\r\n",
        "sep=|\nrow|column|class\n0|2|7\n3|0|12\n",
        "row;column;class\n0;2;7,0\n3;0;12,0\n1;1;\n",
        "ROW\t COLUMN \tCLASS\n0\t2\t7\n\n3\t0\t12\n",
    ],
)
def test_as_pandas_and_spreadsheets_write_it(tmp_path, text):
    path = tmp_path / "points.csv"
    path.write_bytes(text.encode())
    assert is_pixel_list(path)
    labels = read_labels(path, grid=GRID)
    assert (labels.table.ids, labels.ids[0, 2], labels.ids[3, 0]) == ((7, 12), 7, 12)
    wide = tmp_path / "wide.txt"
    wide.write_text(text.removeprefix("\ufeff"), "utf-16")
    np.testing.assert_array_equal(read_labels(wide, grid=GRID).ids, labels.ids)


def test_names_keep_what_divides_columns(tmp_path):
    path = listed(tmp_path, '1,0,2,"water, deep"', "2,1,1,b")
    assert [e.name for e in read_labels(path, grid=GRID).table] == ["b", "water, deep"]
    with pytest.raises(DataError, match="line 2: 5 cells for 4 columns; put a text"):
        read_labels(listed(tmp_path, "1,0,2,water, deep"), grid=GRID)
    with pytest.raises(DataError, match="two columns are called 'row'"):
        read_labels(listed(tmp_path, "1,0,2,b", header="row,row,column,class"), grid=GRID)
    (tmp_path / "points.csv").write_bytes("row,column,class\n0,0,\u00e9\n".encode("latin-1"))
    with pytest.raises(DataError, match="no text in UTF-8"):
        read_labels(tmp_path / "points.csv", grid=GRID)


def test_names_beside_numbers(tmp_path):
    path = listed(tmp_path, "0,2,1,corn", "1,1,2,soy", header="row,column,class,class_name")
    assert [e.name for e in read_labels(path, grid=GRID).table] == ["corn", "soy"]


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


def test_suggestions_and_a_visit_of_a_scene_without_coordinates(folder, works):
    tissue = make_tissue_scene(48, 52, n_bands=12)
    np.save("scene.npy", tissue.cube)
    few = ["--components", "6"]

    def answer(path):
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            row["class"] = tissue.truth[int(row["row"]), int(row["column"])]
        with open(path, "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)

    works("suggest", "scene.npy", "-o", "first.csv", "-n", "12", *few)
    answer("first.csv")
    works("classify", "scene.npy", "--labels", "first.csv", "-o", "map.img", *few)
    assert (read_labels("map.img").ids == tissue.truth).mean() > 0.8
    works("suggest", "map.img", "--for-validation", "30", "-o", "visit.csv")
    answer("visit.csv")
    assert works("evaluate", "map.img", "visit.csv", "--areas")["n_points"] == 30
