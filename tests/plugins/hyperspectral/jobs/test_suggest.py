"""``diffclass suggest``: pixels to label next, as a user asks for them."""

from __future__ import annotations

import csv
import json
import subprocess
import sys

import numpy as np
import pytest
from scipy import ndimage

import diffclass
from diffclass import DiffusionClassifier
from diffclass.acquisition import RULES
from diffclass.command_line.main import run
from diffclass.datasets import make_tissue_scene
from diffclass.jobs import Suggestion
from diffclass_hyperspectral import (
    LabelImage,
    Pixels,
    Scene,
    SceneFeatures,
    open_scene,
    read_labels,
    suggest_for_scene,
    write_points,
)
from diffclass_hyperspectral.commands.suggest import suggest as command
from diffclass_hyperspectral.io.labels import label_regions
from diffclass_hyperspectral.io.maps import write_raster

from ..writers import PLACE

FAST = ["--components", "6"]
ROWS, COLUMNS = 48, 52


@pytest.fixture(scope="module")
def tissue():
    return make_tissue_scene(ROWS, COLUMNS, n_bands=12)


@pytest.fixture(scope="module")
def ids(tissue):
    """Labels: ten pixels of two classes, none of the third."""
    labels = np.zeros((ROWS, COLUMNS), dtype=np.uint8)
    for class_id in (1, 2):
        members = np.argwhere(tissue.truth == class_id)[::17][:10]
        labels[tuple(members.T)] = class_id
    return labels


@pytest.fixture
def files(folder, tissue, ids):
    np.save("scene.npy", tissue.cube)
    np.save("labels.npy", ids)
    return folder


@pytest.fixture
def suggest(files, works):
    def called(*words, scene="scene.npy", labels="labels.npy", output="out.csv", code=0):
        given = [] if labels is None else ["--labels", labels]
        return works("suggest", scene, *given, "-o", output, *FAST, *words, code=code)

    return called


def table(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_help_explains_every_rule_and_loads_none():
    option = next(option for option in command.params if option.name == "rule")
    assert [rule for rule in RULES if rule not in option.help] == []
    code = (
        "import sys; from diffclass.command_line.main import run;"
        "code = run(['suggest', '--help']);"
        "sys.exit('loaded' if 'numpy' in sys.modules else code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "--label-mode MODE" in done.stdout


@pytest.mark.parametrize("rule", list(RULES))
def test_a_table(rule, suggest, files, ids):
    report = suggest("--rule", rule, "-n", "6", "--min-distance", "7")
    rows = table(files / "out.csv")
    assert list(rows[0]) == [
        "class", "rank", "row", "column", "x", "y", "rule", "score",
        "current_class", "current_name", "margin",
    ]  # fmt: skip
    assert [row["rank"] for row in rows] == list("123456")
    assert {row["rule"] for row in rows} == {rule} == {report["rule"]}
    places = np.array([[int(row["row"]), int(row["column"])] for row in rows])
    assert (ids[tuple(places.T)] == 0).all()
    apart = np.linalg.norm(places[:, None] - places[None], axis=2) + 99 * np.eye(6)
    assert apart.min() >= 7
    assert {row["current_class"] for row in rows} <= {"1", "2"}
    assert rows[0]["x"] == rows[0]["y"] == ""
    assert [pixel["row"] for pixel in report["suggestions"]] == places[:, 0].tolist()
    assert all(0 <= float(row["margin"]) <= 1 for row in rows)


@pytest.mark.parametrize("label_mode", ["summed", "absorbing"])
@pytest.mark.parametrize("rounds", ["0", "2"])
def test_ranking_margins_and_map_agree(suggest, files, works, label_mode, rounds):
    """Also where the walk is warped: what is ranked is what is printed, and what classify maps."""
    walk = ["--label-mode", label_mode, "--rounds", rounds]
    suggest("--rule", "margin", "-n", "5", "--min-distance", "0", *walk)
    words = ["--labels", "labels.npy", "-o", "map.npy", "--margin", "m.npy", *FAST]
    works("classify", "scene.npy", *words, *walk)
    margin, found = np.load("m.npy"), np.load("map.npy")
    least = np.sort(margin[np.load("labels.npy") == 0])[:5]
    rows = table(files / "out.csv")
    np.testing.assert_allclose([float(row["margin"]) for row in rows], least, atol=1e-6)
    for row in rows:
        assert found[int(row["row"]), int(row["column"])] == int(row["current_class"])
        assert float(row["score"]) == pytest.approx(1 - float(row["margin"]), abs=1e-6)


@pytest.mark.parametrize("rule", list(RULES))
def test_the_function_chooses_by_a_classifier_of_all_labels(rule, tissue, ids):
    """Label regions are groups, and the classifier by default that of the seed."""
    ids = np.where(ndimage.maximum_filter(ids, 3) == tissue.truth, tissue.truth, 0)  # of squares
    scene, labels = Scene.from_array(tissue.cube), LabelImage.from_array(ids)
    forecasts = []
    found = suggest_for_scene(
        scene, labels, 6, rule=rule, min_distance=7, features=SceneFeatures(6), random_state=3,
        before=forecasts.append,
    )  # fmt: skip
    pixels, y = Pixels(scene, SceneFeatures(6)), ids.ravel().astype(int)
    model = DiffusionClassifier(random_state=3)
    model.fit(pixels.points, np.where(y > 0, y, -1), groups=label_regions(ids).ravel())
    expected = diffclass.suggest(
        model.walk_, model.diffusion_, np.flatnonzero(y), 6, rule=rule, min_distance=7,
        features=pixels.points, coordinates=pixels.places, random_state=3,
    )  # fmt: skip
    places = [(one.point["row"], one.point["column"]) for one in found.suggestions]
    assert [row * COLUMNS + column for row, column in places] == expected.points.tolist()
    assert [one.score for one in found.suggestions] == pytest.approx(expected.scores)
    assert (found.rule, found.min_distance, found.tau) == (rule, 7, model.tau_)
    for one, point in zip(found.suggestions, expected.points, strict=True):
        assert one.current_name == f"class {model.transduction_[point]}"
        assert one.margin == pytest.approx(model.margin_[point])
    assert forecasts == [found.memory]


def test_pixels_without_data_are_not_suggested(suggest, files, tissue):
    cube = tissue.cube.copy()
    cube[:, :10] = np.nan
    np.save(files / "holes.npy", cube)
    report = suggest(scene="holes.npy")
    assert min(pixel["column"] for pixel in report["suggestions"]) >= 10


def test_map_coordinates_and_filled_in_classes(suggest, files, tissue):
    write_raster(files / "scene.img", tissue.cube, map_info=PLACE)
    report = suggest("-n", "8", scene="scene.img", output="out.geojson")
    for pixel in report["suggestions"]:
        assert pixel["x"] == pytest.approx(500000 + 30 * (pixel["column"] + 0.5))
        assert pixel["y"] == pytest.approx(5400000 - 30 * (pixel["row"] + 0.5))
    collection = json.loads((files / "out.geojson").read_text())
    for feature in collection["features"]:
        longitude, latitude = feature["geometry"]["coordinates"]
        assert 14.9 < longitude < 15.1  # the zone's middle
        assert 48.7 < latitude < 48.8
        feature["properties"]["class"] = 1 + feature["properties"]["rank"] % 3
    (files / "filled.geojson").write_text(json.dumps(collection))
    labels = read_labels(files / "filled.geojson", grid=open_scene(files / "scene.img"))
    assert np.count_nonzero(labels.ids) == 8
    for pixel in report["suggestions"]:
        assert labels.ids[pixel["row"], pixel["column"]] == 1 + pixel["rank"] % 3


def test_degrees_need_no_library(tmp_path):
    point = {"row": 3, "column": 4, "x": 15.25, "y": 48.5}
    pixel = Suggestion(1, point, "margin", 0.5, 2, "corn", 0.5)
    write_points(tmp_path / "p.geojson", [pixel], crs="EPSG:4326")
    written = json.loads((tmp_path / "p.geojson").read_text())
    assert written["features"][0]["geometry"]["coordinates"] == [15.25, 48.5]
    write_points(tmp_path / "none.geojson", [], crs="EPSG:32633")
    assert json.loads((tmp_path / "none.geojson").read_text())["features"] == []


def test_text_and_report(files, capsys):
    words = ["--labels", "labels.npy", "-o", "out.csv", "--report", "r.json", *FAST]
    assert run(["suggest", "scene.npy", *words, "-n", "9", "--min-distance", "45"]) == 0
    assert "class now" in capsys.readouterr().out
    report = json.loads((files / "r.json").read_text())
    assert 1 <= len(report["suggestions"]) < 9  # fewer than asked for
    assert report["rule"] == "coverage"
    assert {"suggestions", "total"} <= set(report["seconds"])


@pytest.mark.filterwarnings("default")
def test_too_short_a_time_is_code_4_with_the_pixels_written(suggest, files, ids):
    found = suggest("--max-time", "1", code=4)
    assert found["tau"] == 1
    places = [(int(row["row"]), int(row["column"])) for row in table(files / "out.csv")]
    assert places == [(pixel["row"], pixel["column"]) for pixel in found["suggestions"]]
    assert len(set(places)) == 10
    assert not any(ids[place] for place in places)


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        ("scene.npy --labels labels.npy -o out.txt", 2, ".txt"),
        ("scene.npy --labels labels.npy -o labels.npy", 2, ".npy"),
        ("scene.npy --labels labels.npy -o nowhere.d/out.csv", 2, "nowhere.d"),
        ("scene.npy --labels labels.npy -o out.geojson", 2, "write a .csv"),
        ("scene.npy --labels labels.npy -o kept.csv", 2, "exists"),
        ("scene.npy --labels labels.npy -o out.csv --rule luck", 2, "luck"),
        ("scene.npy --labels labels.npy -o out.csv -n 0", 2, "0"),
        ("scene.npy --labels labels.npy -o out.csv --min-distance -1", 2, "-1"),
        ("scene.npy --labels labels.npy -o out.csv --neighbors 99999", 2, "at most"),
        ("scene.npy --labels labels.npy -o out.json --report out.json", 2, "two outputs"),
        ("none.npy --labels labels.npy -o out.csv", 3, "none.npy"),
        ("scene.npy --labels none.npy -o out.csv", 3, "none.npy"),
        ("scene.npy --labels full.npy -o out.csv", 3, "all pixels"),
        ("scene.npy --labels empty.npy -o out.csv", 3, "no pixel is labelled"),
    ],
)
def test_what_cannot_work(words, code, says, files, fails, tissue):
    np.save("full.npy", tissue.truth)
    np.save("empty.npy", np.zeros((ROWS, COLUMNS), dtype=int))
    (files / "kept.csv").write_text("kept")
    fails("suggest", *words.split(), *FAST, code=code, says=says)


@pytest.mark.data
def test_salinas_a(folder, data_folder, works):
    scene, labels = (data_folder / f"salinas_a/SalinasA_{name}.mat" for name in ("corrected", "gt"))
    truth = read_labels(labels).ids
    report = works("suggest", scene, "--labels", labels, "-o", "points.csv", "-n", "5")
    for pixel in report["suggestions"]:
        assert truth[pixel["row"], pixel["column"]] == 0


# Without any label


def test_without_labels_pixels_stand_for_the_scene(suggest, files, tissue):
    report = suggest("-n", "6", labels=None)
    assert report["rule"] == "coverage"
    assert report["tau"] is None
    places = [(pixel["row"], pixel["column"]) for pixel in report["suggestions"]]
    assert len(set(places)) == len(places) == 6
    scores = [pixel["score"] for pixel in report["suggestions"]]
    assert 0 < sum(scores) < 1
    # six pixels find all three classes
    assert {tissue.truth[place] for place in places} >= {1, 2, 3}
    rows = table(files / "out.csv")
    assert [(int(row["row"]), int(row["column"])) for row in rows] == places
    assert {row["margin"] for row in rows} == {""}
    distances = [np.hypot(*np.subtract(p, q)) for p in places for q in places if p != q]
    assert min(distances) >= 5  # the default


def test_first_pixels_become_labels(suggest, files, tissue):
    write_raster("scene.img", tissue.cube, map_info=PLACE)
    suggest("-n", "3", scene="scene.img", labels=None, output="first.geojson")
    found = json.loads((files / "first.geojson").read_text())["features"]
    assert {(one["properties"]["class"], one["properties"]["margin"]) for one in found} == {
        (None, None)
    }


def test_first_pixels_are_said_to_be_fewer(files, capsys):
    words = ["suggest", "scene.npy", "-o", "few.csv", *FAST]
    assert run([*words, "-n", "5", "--min-distance", "40"]) == 0
    said = capsys.readouterr()
    assert "pixels differ and lie 40 pixels apart" in said.out + said.err
    assert "-  row" in said.out
