"""The provider in QGIS itself, headless: ``qgis_process`` on a scene and labels in another CRS."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from diffclass.datasets import make_tissue_scene
from diffclass_hyperspectral import read_labels, write_raster
from diffclass_hyperspectral.io.georeference import Georeference, map_info_of

ROOT = Path(__file__).resolve().parents[2]
# Debian's script qgis_process passes an option that the program itself does not know
QGIS = shutil.which("qgis_process.bin") or shutil.which("qgis_process")
pytestmark = [
    pytest.mark.skipif(QGIS is None, reason="needs qgis_process (Debian: qgis, python3-qgis)"),
    pytest.mark.slow,
]
NAMES = {1: "water", 2: "woods", 3: "yard"}  # alphabetical, as texts are numbered

Processing = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def settings(tmp_path_factory) -> dict[str, str]:
    """A profile of QGIS with the plugin and, in its settings, an environment."""
    folder = tmp_path_factory.mktemp("qgis")
    program = folder / "environment" / "bin" / "diffclass"
    program.parent.mkdir(parents=True)
    code = "from diffclass.command_line.main import main; main()"
    # the plugin takes PYTHONPATH away, and a worktree is found by nothing else
    program.write_text(
        f"#!/bin/sh\nexport PYTHONPATH='{ROOT}:{ROOT / 'plugins'}'\n"
        f"exec '{sys.executable}' -c '{code}' \"$@\"\n"
    )
    program.chmod(0o755)
    profile = folder / "profiles" / "default" / "QGIS" / "QGIS3.ini"
    profile.parent.mkdir(parents=True)
    profile.write_text(
        "[PythonPlugins]\ndiffclass_qgis=true\n\n[Processing]\n"
        f"Configuration\\DIFFCLASS_ENVIRONMENT={program.parents[1]}\n"
    )
    plugins = folder / "plugins"
    plugins.mkdir()
    shutil.copytree(ROOT / "plugins" / "diffclass_qgis", plugins / "diffclass_qgis")
    runtime = folder / "runtime"
    runtime.mkdir(mode=0o700)
    return {
        "QGIS_CUSTOM_CONFIG_PATH": str(folder),
        "QGIS_PLUGINPATH": str(plugins),
        "QT_QPA_PLATFORM": "offscreen",
        "XDG_RUNTIME_DIR": str(runtime),
    }


@pytest.fixture(scope="module")
def processing(settings) -> Processing:
    """Runs an algorithm with parameters."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    kept["PATH"] = f"/usr/bin:{kept['PATH']}"  # QGIS takes its Python from the first one there

    def run(algorithm: str, **parameters: object) -> subprocess.CompletedProcess[str]:
        words = [f"{name}={value}" for name, value in parameters.items()]
        command = [str(QGIS), "run", f"diffclass:{algorithm}", "--", *words]
        return subprocess.run(
            command, env=kept | settings, capture_output=True, text=True, timeout=500
        )

    return run


@pytest.fixture(scope="module")
def scene(tmp_path_factory) -> Path:
    """A folder with a scene in UTM and, in degrees, squares of its truth as labels."""
    import pyogrio.raw
    import shapely
    from rasterio.warp import transform_geom

    folder = tmp_path_factory.mktemp("scene")
    tissue = make_tissue_scene(48, 48)
    grid = Georeference((30.0, 0.0, 500_000.0, 0.0, -30.0, 5_400_000.0), "EPSG:32633")
    write_raster(folder / "scene.tif", tissue.cube, map_info=map_info_of(grid))
    np.save(folder / "truth.npy", tissue.truth)
    squares, names = [], []
    for row, column in np.argwhere(tissue.labels > 0):
        x, y = 500_000 + 30 * column, 5_400_000 - 30 * row
        square = shapely.box(x + 5, y - 25, x + 25, y - 5)
        degrees = transform_geom("EPSG:32633", "EPSG:4326", shapely.geometry.mapping(square))
        squares.append(shapely.to_wkb(shapely.geometry.shape(degrees)))
        names.append(NAMES[int(tissue.labels[row, column])])
    pyogrio.raw.write(
        folder / "labels.gpkg",
        np.array(squares, dtype=object),
        [np.array(names, dtype=object)],
        ["cover"],
        geometry_type="Polygon",
        crs="EPSG:4326",
    )
    return folder


def legend(path: Path, settings: dict[str, str]) -> list[list[object]]:
    """Return the classes that QGIS shows for a layer: value, name, colour."""
    code = (
        "import json, sys; from qgis.core import QgsApplication, QgsRasterLayer\n"
        "app = QgsApplication([], False); app.initQgis()\n"
        "layer = QgsRasterLayer(sys.argv[1], 'map'); assert layer.isValid()\n"
        "print(json.dumps([[int(one.value), one.label, one.color.name()]\n"
        "                  for one in layer.renderer().classes()]))\n"
    )
    python = "/usr/bin/python3"  # that of python3-qgis
    done = subprocess.run(
        [python, "-c", code, str(path)],
        env={"PATH": os.environ["PATH"]} | settings,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def test_classify_with_labels_in_another_crs(processing, scene, settings):
    maps = scene / "map.tif"
    done = processing(
        "classify",
        SCENE=scene / "scene.tif",
        LABELS=scene / "labels.gpkg",
        FIELD="cover",
        OUTPUT=maps,
        MARGIN=scene / "margin.tif",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "neighbors ..." in done.stdout
    assert "MEAN_MARGIN" in done.stdout
    found = read_labels(maps)
    assert (found.ids == np.load(scene / "truth.npy")).mean() > 0.8
    shown = legend(maps, settings)
    assert [(value, name) for value, name, _ in shown] == list(NAMES.items())
    assert len({color for _, _, color in shown}) == 3
    assert (scene / "margin.qml").exists()

    labels = scene / "labels.gpkg"
    numbers = scene / "numbers.json"
    done = processing("evaluate", MAP=maps, TRUTH=labels, TRUTH_FIELD="cover", REPORT=numbers)
    assert done.returncode == 0, done.stdout + done.stderr
    (shown_accuracy,) = re.findall(r"OVERALL_ACCURACY:\s*(\S+)", done.stdout)
    assert float(shown_accuracy) == json.loads(numbers.read_text())["overall_accuracy"]


def test_suggestions_are_labels_to_fill_in(processing, scene):
    points = scene / "next.geojson"
    done = processing("suggest", SCENE=scene / "scene.tif", NUMBER=4, OUTPUT=points)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(json.loads(points.read_text())["features"]) == 4
    assert "rank" in points.with_suffix(".qml").read_text()


@pytest.mark.parametrize("algorithm", ["cluster", "anomaly"])
def test_algorithms_without_labels(processing, scene, algorithm):
    output = scene / f"{algorithm}.tif"
    done = processing(algorithm, SCENE=scene / "scene.tif", OUTPUT=output)
    assert done.returncode == 0, done.stdout + done.stderr
    assert output.with_suffix(".qml").exists()


def test_errors_are_the_one_line_of_the_command(processing, scene):
    output = scene / "none.tif"
    files = {"SCENE": scene / "scene.tif", "LABELS": scene / "labels.gpkg"}
    done = processing("classify", **files, FIELD="nowhere", OUTPUT=output)
    assert done.returncode
    assert "labels.gpkg: no field 'nowhere'" in done.stdout + done.stderr
    assert not output.exists()
    done = processing("classify", SCENE=scene / "scene.tif", OUTPUT=output)
    assert "give 'Labels as shapes' or 'Labels as an image'" in done.stdout + done.stderr
