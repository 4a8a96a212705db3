"""``diffclass anomaly`` as a user runs it: scenes in, score maps and ROC curves out."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import spectral
from PIL import Image
from scipy.spatial.distance import pdist

from diffclass import DataError, DiffusionAnomaly, ParameterError
from diffclass.command_line.main import run
from diffclass.jobs import detection_of
from diffclass.neighbors import PartialWhitening
from diffclass_hyperspectral import (
    LabelImage,
    Scene,
    known_anomalies,
    open_scene,
    read_labels,
    scene_anomalies,
)
from diffclass_hyperspectral.features.block_statistics import BandStatistics
from diffclass_hyperspectral.io.readers import read_image

from ..writers import PLACE, place_at, save_envi

SHAPE = (30, 26)
STRANGE = [(4, 5), (17, 20), (29, 0)]


@pytest.fixture
def cube(rng):
    """Two kinds of ground in correlated bands, three strange pixels and a row without data."""
    kind = np.arange(SHAPE[1]) // 13
    cube = np.array([0.0, 4.0])[kind][None, :, None] * np.linspace(1, 2, 12) + np.zeros((30, 1, 1))
    cube = cube + rng.normal(size=(*SHAPE, 3)) @ rng.normal(size=(3, 12))
    cube += 0.1 * rng.normal(size=cube.shape)
    for row, column in STRANGE:
        cube[row, column] += 6 * rng.normal(size=12)
    cube[10] = np.nan
    return cube.astype(np.float32)


@pytest.fixture
def scene(folder, cube):
    save_envi(folder, cube, metadata={"map info": list(PLACE)})
    truth = np.zeros(SHAPE, dtype=np.uint8)
    truth[tuple(np.transpose(STRANGE))] = 1
    np.save("truth.npy", truth)
    return "scene.hdr"


# --- the command


@pytest.mark.parametrize("output", ["out.img", "out.tif", "out.npy"])
def test_scores_are_written_as_maps_are(scene, works, output):
    works("anomaly", scene, "-o", output)
    read = read_image(output, n_axes=2)
    scores = np.array(read.data).reshape(SHAPE)
    expected = scene_anomalies(open_scene(scene)).scores
    np.testing.assert_allclose(scores, expected, rtol=1e-6)
    assert np.isnan(scores[10]).all()
    assert output == "out.npy" or read.map_info is not None


METHODS = ["diffusion", "rx", "isolation-forest"]


@pytest.mark.parametrize("method", METHODS)
def test_truth_gives_the_area_and_rx_beside_it(scene, works, method):
    words = ["--method", method, "--truth", "truth.npy", "--report", "report.json"]
    report = works("anomaly", scene, "-o", "out.npy", *words)
    assert list(report["detection"]) == list(dict.fromkeys([method, "rx"]))
    assert report["detection"][method]["area"] > 0.99
    assert report["detection"][method]["n_others"] == 29 * 26 - 3
    assert report["n_without_data"] == 26
    assert json.loads(Path("report.json").read_text())["detection"] == report["detection"]
    highest = {(pixel["row"], pixel["column"]) for pixel in report["highest"]}
    assert highest >= set(STRANGE) or method == "isolation-forest"
    assert report["highest"][0]["x"] == 500015 + 30 * report["highest"][0]["column"]


@pytest.mark.parametrize("method", METHODS)
def test_units_change_no_score(cube, method):
    """Also where values differ by less than scikit-learn takes for the same."""
    expected = scene_anomalies(Scene.from_array(cube.astype(np.float32)), method=method).scores
    for exponent in (-100, -60, -30, -20, -10, 20, 50):
        in_units = np.ldexp(cube.astype(np.float32), exponent)
        found = scene_anomalies(Scene.from_array(in_units), method=method).scores
        np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_the_report_for_people(scene, capsys):
    assert run(["anomaly", scene, "-o", "out.npy", "--truth", "truth.npy"]) == 0
    said = capsys.readouterr().out
    assert "diffusion: area under the ROC curve 1.0000; 100 % of 3 anomalies" in said
    assert "RX: area under the ROC curve" in said


@pytest.mark.parametrize("truth", [(), ("--truth", "truth.npy")])
def test_the_picture(scene, works, truth):
    works("anomaly", scene, "-o", "out.npy", "--picture", "out.png", *truth)
    with Image.open("out.png") as picture:
        assert picture.size == (1560 if truth else 1040, 480)


def test_a_later_time_and_the_seed(scene, works):
    few, later = ("--neighbors", "8"), ("--time", "4", "--seed", "3")
    for name, more in (("a.npy", later), ("b.npy", later), ("c.npy", ())):
        works("anomaly", scene, "-o", name, *few, *more)
    assert np.array_equal(np.load("a.npy"), np.load("b.npy"), equal_nan=True)
    assert not np.allclose(np.load("a.npy"), np.load("c.npy"), equal_nan=True)


def test_bad_input_is_said(scene, fails):
    missing = np.arange(30)[:, None] == np.full((30, 26), 10)
    for name, truth, says in (
        ("none", None, "none.npy"),
        ("small", np.ones((4, 4)), "4 rows x 4 columns"),
        ("empty", np.zeros(SHAPE), "marks none of the"),
        ("full", np.ones(SHAPE), "marks all of the"),
        ("missing", missing, "marks none"),
    ):
        if truth is not None:
            np.save(f"{name}.npy", truth.astype(np.uint8))
        words = ("-o", "o.npy", "--truth", f"{name}.npy")
        fails("anomaly", scene, *words, code=3, says=says)
    Path("out.npy").write_text("kept")
    for words, says in (
        (("-o", "out.npy"), "--overwrite"),
        (("-o", "truth.npy", "--truth", "truth.npy", "--overwrite"), "read from"),
        (("-o", "o.npy", "--neighbors", "754"), "at most 753"),
        (("-o", "o.npy", "--picture", "p.tif"), ".png"),
    ):
        fails("anomaly", scene, *words, code=2, says=says)


@pytest.mark.parametrize("method", METHODS)
def test_scenes_without_information(folder, fails, method):
    for name, value, says in (("flat", 3.0, "constant"), ("void", np.nan, "no pixel has data")):
        np.save(f"{name}.npy", np.full((8, 9, 4), value))
        words = ("-o", "o.npy", "--method", method)
        fails("anomaly", f"{name}.npy", *words, code=3, says=says)


def test_cubes_of_whole_numbers_and_masks(folder, works, cube):
    cube[10] = 0
    stored = np.round(1000 * cube).astype(np.int16)
    stored[10] = -9999
    save_envi(folder, stored, metadata={"data ignore value": -9999})
    report = works("anomaly", "scene.hdr", "-o", "out.npy")
    assert report["n_without_data"] == 26
    assert {(p["row"], p["column"]) for p in report["highest"][:3]} == set(STRANGE)


# --- its parts


def test_rx_is_that_of_spectral(cube):
    filled = np.delete(cube, 10, axis=0).astype(np.float64)
    found = scene_anomalies(Scene.from_array(cube), method="rx").scores
    np.testing.assert_allclose(np.delete(found, 10, axis=0), spectral.rx(filled), rtol=1e-5)


def test_a_repeated_band_changes_nothing(cube):
    twice = np.concatenate([cube, cube[..., :3]], axis=2)
    for method in ("rx", "diffusion"):
        once, found = (scene_anomalies(Scene.from_array(c), method=method) for c in (cube, twice))
        places = [[(p["row"], p["column"]) for p, _ in f.highest(3)] for f in (once, found)]
        assert set(places[0]) == set(places[1]) == set(STRANGE)


@pytest.mark.parametrize("method", METHODS)
def test_one_pixel_among_equals(method):
    cube = np.ones((20, 20, 5))
    cube[3, 4] = [1, 2, 3, 4, 5]
    pixel, _ = scene_anomalies(Scene.from_array(cube), method=method).highest(1)[0]
    assert (pixel["row"], pixel["column"]) == (3, 4)


def test_components_are_partly_whitened_ones(cube):
    scene = Scene.from_array(cube)
    spectra = scene.spectra()[scene.valid.ravel()]
    found = BandStatistics.from_scene(scene).whitened(scene, n_components=5)
    expected = PartialWhitening(5, random_state=0).fit_transform(spectra)
    np.testing.assert_allclose(pdist(found), pdist(expected), rtol=1e-3)


def test_statistics_do_not_depend_on_blocks(cube, monkeypatch):
    whole = BandStatistics.from_scene(Scene.from_array(cube))
    monkeypatch.setattr("diffclass_hyperspectral.io.rasters.BLOCK_VALUES", 700)
    parts = BandStatistics.from_scene(Scene.from_array(cube))
    np.testing.assert_allclose(parts.covariance, whole.covariance, rtol=1e-12)
    valid = np.isfinite(cube).all(axis=2)
    np.testing.assert_allclose(whole.covariance, np.cov(cube[valid].T.astype(float)), rtol=1e-9)


def test_the_model_decides(cube):
    scene = Scene.from_array(cube)
    found = scene_anomalies(scene, model=DiffusionAnomaly(n_neighbors=5)).scores
    assert not np.allclose(found, scene_anomalies(scene).scores, equal_nan=True)
    with pytest.raises(ParameterError, match="possible: 'diffusion', 'rx'"):
        scene_anomalies(scene, method="luck")


def test_highest_leaves_missing_pixels_out(cube):
    found = scene_anomalies(Scene.from_array(cube), method="rx")
    everything = found.highest(10_000)
    assert len(everything) == 29 * 26
    assert all(np.diff([score for *_, score in everything]) <= 0)


def test_truth_of_another_scene(cube):
    truth = LabelImage.from_array(np.zeros((3, 3), dtype=np.uint8), path="truth")
    with pytest.raises(DataError, match="3 rows x 3 columns"):
        known_anomalies(truth, Scene.from_array(cube))
    ids = np.eye(*cube.shape[:2], dtype=np.uint8)
    far = LabelImage.from_array(ids).placed(place_at(column=13_000))
    with pytest.raises(DataError, match="do not overlap"):
        known_anomalies(far, Scene.from_array(cube, map_info=PLACE))


@pytest.mark.data
@pytest.mark.slow
def test_planes_on_an_airport(data_folder):
    path = data_folder / "anomaly" / "abu-airport-2.mat"
    scene = open_scene(path)
    marked = known_anomalies(read_labels(path), scene)
    area = {
        m: detection_of(scene_anomalies(scene, method=m), marked).area for m in ("diffusion", "rx")
    }
    assert area["diffusion"] > 0.97
    assert area["rx"] == pytest.approx(0.8404, abs=1e-3)  # `spectral` gives 0.84038
