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
from diffclass_hyperspectral.io.georeference import Georeference, map_info_of
from diffclass_hyperspectral.io.labels import label_regions
from diffclass_hyperspectral.io.maps import write_raster

FAST = ["--components", "6"]
ROWS, COLUMNS = 48, 52
UTM = Georeference((30.0, 0.0, 500000.0, 0.0, -30.0, 5400000.0), "EPSG:32633")


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
def files(tmp_path, tissue, ids):
    np.save(tmp_path / "scene.npy", tissue.cube)
    np.save(tmp_path / "labels.npy", ids)
    return tmp_path


@pytest.fixture
def suggest(files, capsys):
    def called(*words, scene="scene.npy", labels="labels.npy", output="out.csv", code=0):
        inputs = [str(files / scene), "--labels", str(files / labels)]
        words = [str(files / word) if word.endswith(".json") else word for word in words]
        outputs = ["-o", str(files / output)]
        got = run(["suggest", *inputs, *outputs, *FAST, *words, "--json", "-q"])
        said = capsys.readouterr()
        assert got == code, said.err
        return json.loads(said.out) if code in (0, 4) else said.err

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
def test_ranking_margins_and_map_agree(suggest, files, capsys, label_mode, rounds):
    """Also where the walk is warped: what is ranked is what is printed, and what classify maps."""
    walk = ["--label-mode", label_mode, "--rounds", rounds]
    suggest("--rule", "margin", "-n", "5", "--min-distance", "0", *walk)
    scene, labels = str(files / "scene.npy"), str(files / "labels.npy")
    words = ["classify", scene, "--labels", labels, "-o", str(files / "map.npy"), *FAST, "-q"]
    words += walk
    assert run([*words, "--margin", str(files / "m.npy")]) == 0
    capsys.readouterr()
    margin, found = np.load(files / "m.npy"), np.load(files / "map.npy")
    least = np.sort(margin[np.load(files / "labels.npy") == 0])[:5]
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


def test_the_same_twice(suggest, files):
    first = suggest("--seed", "3")["suggestions"]
    assert suggest("--seed", "3", "--overwrite")["suggestions"] == first
    assert len(first) == 10


def test_pixels_without_data_are_not_suggested(suggest, files, tissue):
    cube = tissue.cube.copy()
    cube[:, :10] = np.nan
    np.save(files / "holes.npy", cube)
    report = suggest(scene="holes.npy")
    assert min(pixel["column"] for pixel in report["suggestions"]) >= 10


def test_geojson_needs_coordinates(suggest, files):
    assert "write a .csv" in suggest("-n", "2", output="out.geojson", code=2)
    assert not (files / "out.geojson").exists()


def test_map_coordinates_and_filled_in_classes(suggest, files, tissue):
    pytest.importorskip("rasterio")
    pytest.importorskip("pyogrio")
    write_raster(files / "scene.img", tissue.cube, map_info=map_info_of(UTM))
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
    pixel = Suggestion(
        rank=1,
        point={"row": 3, "column": 4, "x": 15.25, "y": 48.5},
        rule="margin",
        score=0.5,
        current_class=2,
        current_name="corn",
        margin=0.5,
    )
    write_points(tmp_path / "p.geojson", [pixel], crs="EPSG:4326")
    written = json.loads((tmp_path / "p.geojson").read_text())
    assert written["features"][0]["geometry"]["coordinates"] == [15.25, 48.5]
    write_points(tmp_path / "none.geojson", [], crs="EPSG:32633")
    assert json.loads((tmp_path / "none.geojson").read_text())["features"] == []


def test_fewer_than_asked_for(suggest, files, capsys):
    report = suggest("-n", "9", "--min-distance", "45")
    assert 1 <= len(report["suggestions"]) < 9


def test_text_and_report(files, capsys):
    words = [str(files / "scene.npy"), "--labels", str(files / "labels.npy"), *FAST]
    outputs = ["-o", str(files / "out.csv"), "--report", str(files / "r.json")]
    assert run(["suggest", *words, *outputs, "-n", "3", "--min-distance", "45"]) == 0
    said = capsys.readouterr()
    assert "class now" in said.out
    report = json.loads((files / "r.json").read_text())
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
    ("words", "options", "code", "says"),
    [
        ([], {"output": "out.txt"}, 2, ".txt"),
        ([], {"output": "labels.npy"}, 2, ".npy"),
        ([], {"output": "nowhere.d/out.csv"}, 2, "nowhere.d"),
        (["--rule", "luck"], {}, 2, "luck"),
        (["-n", "0"], {}, 2, "0"),
        (["--min-distance", "-1"], {}, 2, "-1"),
        (["--neighbors", "99999"], {}, 2, "at most"),
        (["--report", "out.json"], {"output": "out.json"}, 2, "two outputs"),
        ([], {"scene": "none.npy"}, 3, "none.npy"),
        ([], {"labels": "none.npy"}, 3, "none.npy"),
        ([], {"labels": "full.npy"}, 3, "all pixels"),
        ([], {"labels": "empty.npy"}, 3, "no pixel is labelled"),
    ],
)
def test_what_cannot_work(words, options, code, says, suggest, files, tissue):
    np.save(files / "full.npy", tissue.truth)
    np.save(files / "empty.npy", np.zeros((ROWS, COLUMNS), dtype=int))
    before = sorted(files.iterdir())
    assert says in suggest(*words, code=code, **options)
    assert sorted(files.iterdir()) == before


def test_an_output_that_exists(suggest, files):
    (files / "out.csv").write_text("kept")
    assert "exists" in suggest(code=2)
    assert (files / "out.csv").read_text() == "kept"


@pytest.mark.data
def test_salinas_a(tmp_path, data_folder, capsys):
    folder = data_folder / "salinas_a"
    words = [
        "suggest", str(folder / "SalinasA_corrected.mat"),
        "--labels", str(folder / "SalinasA_gt.mat"),
        "-o", str(tmp_path / "points.csv"), "-n", "5", "--json",
    ]  # fmt: skip
    assert run(words) == 0
    truth = read_labels(folder / "SalinasA_gt.mat").ids
    for pixel in json.loads(capsys.readouterr().out)["suggestions"]:
        assert truth[pixel["row"], pixel["column"]] == 0


# Without any label


def first(files, *words):
    words = ["suggest", str(files / "scene.npy"), "-o", str(files / "first.csv"), *FAST, *words]
    return run([*words, "--json", "-q"])


def test_without_labels_pixels_stand_for_the_scene(files, tissue, capsys):
    assert first(files, "-n", "6") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["rule"] == "coverage"
    assert report["tau"] is None
    places = [(pixel["row"], pixel["column"]) for pixel in report["suggestions"]]
    assert len(set(places)) == len(places) == 6
    scores = [pixel["score"] for pixel in report["suggestions"]]
    assert 0 < sum(scores) < 1
    # six pixels find all three classes
    assert {tissue.truth[place] for place in places} >= {1, 2, 3}
    rows = list(csv.DictReader((files / "first.csv").read_text().splitlines()))
    assert [(int(row["row"]), int(row["column"])) for row in rows] == places
    assert {row["margin"] for row in rows} == {""}
    distances = [np.hypot(*np.subtract(p, q)) for p in places for q in places if p != q]
    assert min(distances) >= 5  # the default


def test_first_pixels_become_labels(files, tissue, capsys):
    write_raster(files / "scene.img", tissue.cube, map_info=map_info_of(UTM))
    words = ["suggest", str(files / "scene.img"), "-o", str(files / "first.geojson"), *FAST]
    assert run([*words, "-n", "3", "--json", "-q"]) == 0
    capsys.readouterr()
    found = json.loads((files / "first.geojson").read_text())
    assert {feature["properties"]["class"] for feature in found["features"]} == {None}
    assert {feature["properties"]["margin"] for feature in found["features"]} == {None}


def test_first_pixels_are_said_to_be_fewer(files, capsys):
    words = ["suggest", str(files / "scene.npy"), "-o", str(files / "few.csv"), *FAST]
    assert run([*words, "-n", "5", "--min-distance", "40"]) == 0
    said = capsys.readouterr()
    assert "pixels lie 40 pixels apart" in said.out + said.err
    assert "-  row" in said.out
