"""The truth that a map is compared with lies where the map does, and calls its classes the same."""

from __future__ import annotations

import json

import numpy as np
import pytest
import shapely

from diffclass.command_line.main import run
from diffclass_hyperspectral import write_class_map
from diffclass_hyperspectral.io.labels import ClassTable

from ..writers import place_at

LEFT, TOP, SIDE = 500_000.0, 5_400_000.0, 30.0
NAMES = {1: "corn", 2: "soy", 3: "wood"}
IDS = np.repeat([[1, 1, 2, 2, 3, 3]], 8, axis=0)


def save_shapes(path, columns_of):
    """Write a shape for each class over these columns of the map."""
    features = []
    for name, (a, b) in columns_of.items():
        shape = shapely.box(LEFT + SIDE * a, TOP - SIDE * 8, LEFT + SIDE * b, TOP)
        geometry = shapely.geometry.mapping(shape)
        features.append({"type": "Feature", "properties": {"class": name}, "geometry": geometry})
    crs = {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::32633"}}
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features, "crs": crs}))


@pytest.fixture
def facts(folder, capsys):
    write_class_map("map.tif", IDS, ClassTable.from_ids(NAMES, names=NAMES), map_info=place_at())

    def evaluated(*words, code=0):
        assert run(["evaluate", *words, "--json"]) == code
        out, err = capsys.readouterr()
        return (json.loads(out) if out else None), err

    return evaluated


@pytest.mark.parametrize("words", [["truth.tif"], ["map.tif", "--fitted", "truth.tif"]])
def test_a_truth_of_another_place_is_refused(facts, words):
    write_class_map("truth.tif", np.fliplr(IDS), map_info=place_at(column=13_000))
    _, err = facts("map.tif", *words, code=3)
    assert "truth.tif" in err
    assert "do not overlap" in err


def test_a_truth_of_another_grid_is_compared_where_it_lies(facts):
    write_class_map("truth.tif", IDS[:, 3:], map_info=place_at(column=3))
    found, err = facts("map.tif", "truth.tif")
    assert found["n_points"] == np.count_nonzero(IDS[:, 3:])
    assert found["overall_accuracy"] == 1
    assert "lie outside" not in err  # nothing of it is lost


def test_shapes_that_name_classes_are_compared_by_name(facts, tmp_path):
    save_shapes(tmp_path / "truth.geojson", {"wood": (4, 6), "soy": (2, 4)})
    found, err = facts("map.tif", "truth.geojson")
    assert found["overall_accuracy"] == 1
    assert {i for i, c in found["per_class"].items() if c["n_true"]} == {"2", "3"}
    assert "warning" not in err


def test_a_class_that_the_map_lacks_counts_as_wrong(facts, tmp_path):
    save_shapes(tmp_path / "truth.geojson", {"barley": (0, 1), "soy": (2, 4), "wood": (4, 6)})
    found, _ = facts("map.tif", "truth.geojson")
    assert found["per_class"]["4"]["recall"] == 0
    assert found["overall_accuracy"] == pytest.approx(4 / 5)


def test_names_that_have_nothing_in_common_are_said(facts, tmp_path):
    save_shapes(tmp_path / "truth.geojson", {"mais": (0, 2), "soja": (2, 4)})
    found, err = facts("map.tif", "truth.geojson")
    assert found["overall_accuracy"] == 1  # by number, as said
    assert "their names differ: 1 (mais) is 1 (corn), 2 (soja) is 2 (soy)" in " ".join(err.split())
    assert found["match"]["by"] == "ids"


def test_tiles_are_compared_by_name_too(facts, tmp_path):
    table = ClassTable.from_ids(NAMES, names=NAMES)
    write_class_map("west.tif", IDS[:, :3], table, map_info=place_at())
    write_class_map("east.tif", IDS[:, 3:], table, map_info=place_at(column=3))
    save_shapes(tmp_path / "truth.geojson", {"soy": (2, 4), "wood": (4, 6)})
    found, _ = facts("west.tif", "east.tif", "truth.geojson")
    assert found["overall_accuracy"] == 1


def test_a_truth_without_names_does_not_hide_those_of_the_map(facts, capsys):
    np.save("truth.npy", IDS)
    assert run(["evaluate", "map.tif", "truth.npy"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in NAMES.values())
    assert "class 1" not in out


@pytest.mark.parametrize("ending", ["gpkg", "geojson"])
def test_a_map_of_polygons_is_put_on_the_pixels_of_the_truth(facts, capsys, ending):
    table = ClassTable.from_ids(NAMES, names=NAMES)
    write_class_map(f"drawn.{ending}", IDS, table, map_info=place_at())
    found, _ = facts(f"drawn.{ending}", "map.tif")
    assert found["overall_accuracy"] == 1
    _, err = facts(f"drawn.{ending}", f"drawn.{ending}", "--match", "names", code=3)
    assert "polygons have no pixels" in " ".join(err.split())


def test_equal_names_of_two_classes_are_compared_by_their_ids(facts):
    table = ClassTable.from_ids(NAMES, names=dict.fromkeys(NAMES, "corn"))
    write_class_map("twins.tif", IDS, table, map_info=place_at())
    found, err = facts("twins.tif", "twins.tif")
    assert found["overall_accuracy"] == 1
    assert "are called 'corn'; they stay apart" in " ".join(err.split())


def test_names_are_no_numbers_of_a_map_without_names(facts, tmp_path):
    np.save("map.npy", IDS)
    (tmp_path / "truth.csv").write_text("row,column,class\n1,2,soy\n2,2,soy\n1,5,wood\n")
    found, _ = facts("map.npy", "truth.csv")
    assert found["match"]["by"] == "overlap"
    assert found["match"]["assignment"] == {"1": 2, "2": 3}
    assert found["overall_accuracy"] == 1
