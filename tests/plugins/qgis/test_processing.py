"""The provider in QGIS itself, headless: ``qgis_process`` on a scene and labels in another CRS."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import rasterio

from diffclass.command_line.main import run
from diffclass_hyperspectral import read_labels
from experiments.potsdam.qgis_profile import PROCESS

from .conftest import LEFT, NAMES, PIXEL, SIDE, TOP

pytestmark = [
    pytest.mark.skipif(PROCESS is None, reason="needs qgis_process (Debian: qgis, python3-qgis)"),
    pytest.mark.slow,
]
# what QGIS shows of a map: its classes, place, and value at the centre of each pixel
_SHOWN = """
import json
from qgis.core import QgsPointXY, QgsRasterLayer
scene, classes, margin = (QgsRasterLayer(path, "layer") for path in sys.argv[1:])
def place(layer):
    box = layer.extent()
    sides = [box.xMinimum(), box.yMinimum(), box.xMaximum(), box.yMaximum()]
    return [layer.crs().authid(), layer.width(), layer.height(), *sides]
def values(layer):
    box, pixel = layer.extent(), layer.rasterUnitsPerPixelX()
    return [[layer.dataProvider().sample(QgsPointXY(box.xMinimum() + pixel * (column + 0.5),
                                                    box.yMaximum() - pixel * (row + 0.5)), 1)[0]
             for column in range(scene.width())] for row in range(scene.height())]
print(json.dumps({
    "places": [place(layer) for layer in (scene, classes, margin)],
    "values": [values(classes), values(margin)],
    "legend": [[int(one.value), one.label, one.color.name()]
               for one in classes.renderer().classes()],
}))
"""


@pytest.fixture(scope="module")
def maps(profile, scene) -> Path:
    """The map made by QGIS of labels in another CRS, its margins beside it."""
    done = profile.run(
        "classify",
        SCENE=scene / "tissue.tif",
        LABELS=scene / "labels.gpkg",
        FIELD="class",
        OUTPUT=scene / "map.tif",
        MARGIN=scene / "margin.tif",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "neighbors ..." in done.stdout
    assert "MEAN_MARGIN" in done.stdout
    return scene / "map.tif"


def test_the_map_lies_on_the_scene_exact_to_the_pixel(profile, scene, maps):
    margin = maps.with_name("margin.tif")
    said = profile.python(_SHOWN, scene / "tissue.tif", maps, margin)
    shown = json.loads(said.splitlines()[-1])
    assert shown["places"] == [
        ["EPSG:32633", SIDE, SIDE, LEFT, TOP - PIXEL * SIDE, LEFT + PIXEL * SIDE, TOP]
    ] * 3  # fmt: skip
    found = read_labels(maps)
    np.testing.assert_array_equal(shown["values"][0], found.ids)
    with rasterio.open(margin) as raster:
        np.testing.assert_array_equal(np.float32(shown["values"][1]), raster.read(1))
    assert (found.ids == read_labels(scene / "truth.tif").ids).mean() > 0.8
    assert [(value, name) for value, name, _ in shown["legend"]] == list(NAMES.items())
    assert len({color for _, _, color in shown["legend"]}) == 3
    assert margin.with_suffix(".qml").exists()


def test_evaluate(profile, scene, maps):
    truth = {"TRUTH": scene / "labels.gpkg", "TRUTH_FIELD": "class"}
    numbers = scene / "numbers.json"
    done = profile.run("evaluate", MAP=maps, **truth, REPORT=numbers)
    assert done.returncode == 0, done.stdout + done.stderr
    (shown_accuracy,) = re.findall(r"OVERALL_ACCURACY:\s*(\S+)", done.stdout)
    assert float(shown_accuracy) == json.loads(numbers.read_text())["overall_accuracy"]


@pytest.mark.parametrize(
    ("chosen", "options"),
    [
        (
            {"EXTENT": "500090,500990,5398800,5399700 [EPSG:32633]", "MASK": "clouds.tif"},
            ["--roi", "500090,5398800,500990,5399700", "--mask", "clouds.tif"],
        ),
        (
            {"ROI": "region.tif", "MASK": "labels.gpkg"},
            ["--roi", "region.tif", "--mask", "labels.gpkg"],
        ),
    ],
    ids=["rectangle and image", "image and shapes"],
)
def test_parts_of_several_scenes_as_the_command_takes_them(
    profile, scene, monkeypatch, chosen, options
):
    monkeypatch.chdir(scene)
    tiles = ["tiles/0.tif", "tiles/24.tif"]
    words = ["--labels", "truth.tif", "--labels-per-class", "5", "--bands", "2-20,24", *options]
    assert run(["classify", *tiles, *words, "-o", "expected.tif", "--overwrite", "-q"]) == 0
    # FURTHER: as somebody chooses who takes all tiles, the first one too
    given = {"SCENE": tiles[0], "FURTHER": tiles, "LABEL_IMAGE": "truth.tif"}
    given |= {"LABELS_PER_CLASS": 5, "BANDS": "2-20,24", "OUTPUT": "part.tif"}
    done = profile.run("classify", **given, **chosen)
    assert done.returncode == 0, done.stdout + done.stderr
    ids, expected = read_labels("part.tif").ids, read_labels("expected.tif").ids
    assert ids.shape == (SIDE, SIDE)
    assert 0 < (ids == 0).mean() < 1
    np.testing.assert_array_equal(ids, expected)


def test_suggestions_are_labels_to_fill_in(profile, scene):
    points = scene / "next.geojson"
    done = profile.run("suggest", SCENE=scene / "tissue.tif", NUMBER=4, OUTPUT=points)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(json.loads(points.read_text())["features"]) == 4
    assert "rank" in points.with_suffix(".qml").read_text()


def test_a_model_is_saved_applied_and_run_again(profile, scene):
    labels = {"LABELS": scene / "labels.gpkg", "FIELD": "class"}
    kept = {"SAVE": scene / "tissue.model", "REPORT": scene / "made.json"}
    made = profile.run(
        "classify", SCENE=scene / "tissue.tif", **labels, **kept, OUTPUT=scene / "made.tif",
        AMBIGUITY=scene / "ambiguity.tif",
    )  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr
    done = profile.run(
        "apply", SCENE=scene / "tiles" / "0.tif", MODEL=kept["SAVE"], OUTPUT=scene / "applied.tif",
        NOVELTY=scene / "novelty.tif",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    of_tile = read_labels(scene / "made.tif").ids[: SIDE // 2]
    assert (read_labels(scene / "applied.tif").ids == of_tile).mean() > 0.9
    for name, least, most in (("ambiguity", 1, 3), ("novelty", 0, 5)):
        with rasterio.open(scene / f"{name}.tif") as raster:
            assert least <= np.median(raster.read(1)) <= most
    again = profile.run("rerun", OF_REPORT=kept["REPORT"], INTO=scene / "again")
    assert again.returncode == 0, again.stdout + again.stderr
    assert "the same map" in again.stdout
    np.testing.assert_array_equal(
        read_labels(scene / "again" / "made.tif").ids, read_labels(scene / "made.tif").ids
    )


def test_points_of_a_validation(profile, scene, maps):
    points = scene / "visit.gpkg"
    done = profile.run("validation", MAP=maps, NUMBER=30, BY_CLASS=True, OUTPUT=points)
    assert done.returncode == 0, done.stdout + done.stderr
    layer = profile.python(
        "from qgis.core import QgsVectorLayer\n"
        "layer = QgsVectorLayer(sys.argv[1], 'points')\n"
        "print(layer.featureCount(), layer.crs().authid(), [f.name() for f in layer.fields()])",
        points,
    )
    assert "30 EPSG:32633" in layer
    assert "'class'" in layer


@pytest.mark.parametrize("algorithm", ["cluster", "anomaly", "embed"])
def test_algorithms_without_labels(profile, scene, algorithm):
    output = scene / f"{algorithm}.tif"
    done = profile.run(algorithm, SCENE=scene / "tissue.tif", OUTPUT=output)
    assert done.returncode == 0, done.stdout + done.stderr
    assert output.with_suffix(".qml").exists() == (algorithm != "embed")


def test_errors_are_the_one_line_of_the_command(profile, scene):
    output = scene / "none.tif"
    files = {"SCENE": scene / "tissue.tif", "LABELS": scene / "labels.gpkg"}
    done = profile.run("classify", **files, FIELD="nowhere", OUTPUT=output)
    assert done.returncode
    assert "labels.gpkg: no field 'nowhere'" in done.stdout + done.stderr
    assert not output.exists()
    done = profile.run("classify", SCENE=scene / "tissue.tif", OUTPUT=output)
    assert "give 'Labels as shapes' or 'Labels as an image'" in done.stdout + done.stderr
