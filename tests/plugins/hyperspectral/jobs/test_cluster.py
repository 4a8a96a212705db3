"""``diffclass cluster`` as a user runs it: scenes in, maps of clusters and mean spectra out."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from diffclass import DataError, DiffusionClustering, DiffusionModes, ParameterError
from diffclass.command_line.main import run
from diffclass.evaluation import cluster_scores
from diffclass.jobs import agreement, cluster
from diffclass_hyperspectral import (
    LabelImage,
    Pixels,
    Scene,
    SceneFeatures,
    known_classes,
    mean_spectra,
    open_scene,
    read_labels,
)
from diffclass_hyperspectral.io.readers import read_library

from ..writers import save_envi

SHAPE = (30, 24)
METHODS = ["kmeans", "modes"]


@pytest.fixture
def truth():
    """Three fields of unequal width."""
    return np.repeat([1, 2, 5], [12, 8, 4])[None, :] + np.zeros((30, 1), dtype=np.uint8)


@pytest.fixture
def cube(rng, truth):
    """Three materials in smooth bands, with noise; a row and a pixel without data."""
    materials = np.cumsum(rng.normal(size=(6, 12)), axis=1)
    cube = 10 + materials[truth] + 0.1 * rng.normal(size=(*SHAPE, 12))
    cube[10] = cube[3, 5] = np.nan
    return cube.astype(np.float32)


@pytest.fixture
def scene(tmp_path, monkeypatch, cube, truth):
    monkeypatch.chdir(tmp_path)
    metadata = {
        "map info": ["UTM", 1, 1, 500000, 5400000, 30, 30, 33, "North", "WGS-84"],
        "wavelength": [str(400 + 50 * band) for band in range(12)],
        "wavelength units": "Nanometers",
    }
    save_envi(tmp_path, cube, metadata=metadata)
    np.save("truth.npy", np.where(np.arange(24) % 2, truth, 0).astype(np.uint8))
    return "scene.hdr"


def works(capsys, *arguments):
    assert run(["cluster", *arguments, "--json"]) == 0, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


def fails(capsys, *arguments, code, says):
    assert run(["cluster", *arguments, "-q"]) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert says in said.err
    assert "Traceback" not in said.err


# --- the command


@pytest.mark.parametrize(
    ("output", "method"), [("out.img", "kmeans"), ("out.tif", "modes"), ("out.npy", "kmeans")]
)
def test_fields_become_clusters(scene, capsys, truth, output, method):
    if output.endswith(".tif"):
        pytest.importorskip("rasterio")
    report = works(capsys, scene, "-o", output, "-k", "3", "--method", method)
    found = read_labels(output)
    assert found.shape == SHAPE
    with_data = np.ones(SHAPE, dtype=bool)
    with_data[10] = with_data[3, 5] = False
    assert not found.ids[~with_data].any()
    scores = cluster_scores(truth[with_data].astype(int), found.ids[with_data].astype(int))
    assert scores.adjusted_rand > 0.98
    assert [c["n_points"] for c in report["clusters"]] == sorted(
        (np.bincount(found.ids.ravel())[1:]).tolist(), reverse=True
    )
    assert report["n_without_data"] == 25
    if output != "out.npy":
        assert [entry.name for entry in found.table] == ["cluster 1", "cluster 2", "cluster 3"]
        assert found.map_info is not None


@pytest.mark.parametrize("method", METHODS)
def test_the_number_of_clusters_and_why(scene, capsys, method):
    report = works(capsys, scene, "-o", "out.npy", "--method", method)
    assert report["n_clusters"] == 3
    assert report["reason"].startswith("spectral gap: coordinate 3 decays")
    asked = works(capsys, scene, "-o", "two.npy", "-k", "2", "--method", method)
    assert asked["reason"] == "2 clusters were asked for"


def test_truth_gives_the_best_assignment(scene, capsys):
    arguments = ["-k", "3", "--truth", "truth.npy", "--report", "report.json"]
    report = works(capsys, scene, "-o", "out.npy", *arguments)
    found = report["agreement"]
    assert sorted(found["assignment"].values()) == [1, 2, 5]
    assert found["n_points"] == 12 * 29 - 1
    for name in ("overall_accuracy", "average_accuracy", "kappa"):
        assert found[name] > 0.98
    assert found["normalized_mutual_information"] > 0.95
    assert found["adjusted_rand_index"] > 0.98
    assert json.loads(Path("report.json").read_text())["agreement"] == found


def test_the_report_for_people(scene, capsys):
    arguments = ["-k", "3", "--method", "modes", "--truth", "truth.npy"]
    assert run(["cluster", scene, "-o", "out.npy", *arguments]) == 0
    said = capsys.readouterr()
    assert "3 clusters of 695 pixels (25 without data): 3 clusters were asked for" in said.out
    assert "a step stays with probability" in said.out
    assert "mode at row" in said.out
    assert "clusters as classes, the best assignment: 1 class 1, 2 class 2, 3 class 5" in said.out
    assert "kappa 1.000" in said.out
    assert "normalised mutual information 1.000, adjusted Rand index 1.000" in said.out
    assert "memory: about" in said.err


@pytest.mark.parametrize("method", METHODS)
def test_quality_and_spectra_are_reported(scene, capsys, cube, method):
    words = ["-k", "3", "--method", method, "--spectra", "means.sli"]
    report = works(capsys, scene, "-o", "out.npy", *words)
    ids, library = np.load("out.npy"), read_library("means.sli")
    assert library.names == ("cluster 1", "cluster 2", "cluster 3")
    means = [cluster["mean"] for cluster in report["clusters"]]
    np.testing.assert_allclose(library.spectra, means, rtol=1e-6)
    np.testing.assert_allclose(library.wavelengths, report["wavelengths_nm"])
    assert report["wavelengths_nm"] == [400 + 50 * band for band in range(12)]
    for one in report["clusters"]:
        inside = cube[ids == one["id"]].astype(float)
        np.testing.assert_allclose(one["mean"], inside.mean(axis=0), rtol=1e-5)
        np.testing.assert_allclose(one["standard_deviation"], inside.std(axis=0), rtol=1e-4)
        assert 0.9 < one["staying"] <= 1
        assert 0 <= one["retention"] <= 1 + 1e-6
        mode = one["mode"]
        assert (mode is None) == (method == "kmeans")
        assert mode is None or ids[mode["row"], mode["column"]] == one["id"]


@pytest.mark.parametrize("features", ["spectral", "spatial"])
def test_the_picture(scene, capsys, features):
    pytest.importorskip("matplotlib")
    report = works(
        capsys, scene, "-o", "out.png", "-k", "3", "--picture", "p.png", "--features", features
    )
    assert report["features"] == features
    with Image.open("p.png") as picture:
        assert picture.size == (1350, 480)


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_map(scene, capsys, method):
    for name in ("a.npy", "b.npy"):
        works(capsys, scene, "-o", name, "--seed", "3", "--method", method)
    assert np.array_equal(np.load("a.npy"), np.load("b.npy"))


def test_outputs_are_kept(scene, capsys):
    Path("out.npy").write_text("kept")
    fails(capsys, scene, "-o", "out.npy", code=2, says="--overwrite")
    assert Path("out.npy").read_text() == "kept"
    arguments = ["--truth", "truth.npy", "--overwrite"]
    fails(capsys, scene, "-o", "truth.npy", *arguments, code=2, says="read from")
    fails(capsys, scene, "-o", "s.img", "--report", "s.img", code=2, says="two outputs")


def test_bad_input_is_said(scene, capsys):
    fails(capsys, "none.hdr", "-o", "o.npy", code=3, says="none.hdr")
    fails(capsys, scene, "-o", "o.npy", "--truth", "none.npy", code=3, says="none.npy")
    np.save("small.npy", np.ones((4, 4), dtype=np.uint8))
    fails(capsys, scene, "-o", "o.npy", "--truth", "small.npy", code=3, says="4 rows x 4 columns")
    np.save("empty.npy", np.zeros(SHAPE, dtype=np.uint8))
    fails(capsys, scene, "-o", "o.npy", "--truth", "empty.npy", code=3, says="nothing to compare")
    only_missing = np.zeros(SHAPE, dtype=np.uint8)
    only_missing[10] = 1
    np.save("missing.npy", only_missing)
    fails(capsys, scene, "-o", "o.npy", "--truth", "missing.npy", code=3, says="no pixel with data")
    fails(capsys, scene, "-o", "o.npy", "-k", "721", code=2, says="only 720 pixels")
    fails(capsys, scene, "-o", "o.npy", "-k", "700", code=2, says="only 695 pixels have data")
    fails(capsys, scene, "-o", "o.npy", "-k", "1", code=2, says="1 is not in the range")
    fails(capsys, scene, "-o", "o.npy", "--method", "luck", code=2, says="luck")
    fails(capsys, scene, "-o", "o.txt", code=2, says="no format for the ending")
    fails(capsys, scene, "-o", "o.npy", "--picture", "p.tif", code=2, says=".png")
    assert not list(Path().glob("o.*"))


@pytest.mark.parametrize("method", METHODS)
def test_scenes_without_information(tmp_path, monkeypatch, capsys, method):
    monkeypatch.chdir(tmp_path)
    for name, value, says in (("flat", 3.0, "constant"), ("void", np.nan, "no pixel has data")):
        np.save(f"{name}.npy", np.full((8, 9, 4), value))
        fails(capsys, f"{name}.npy", "-o", "o.npy", "--method", method, code=3, says=says)


@pytest.mark.parametrize("method", METHODS)
def test_equal_pixels_and_few(tmp_path, monkeypatch, capsys, method):
    """Two spectra, each in many pixels; and a scene of six pixels."""
    monkeypatch.chdir(tmp_path)
    two = np.zeros((20, 20, 4))
    two[:, 7:] = [1, 2, 3, 4]
    np.save("two.npy", two)
    report = works(capsys, "two.npy", "-o", "o.npy", "-k", "2", "--method", method)
    assert [cluster["n_points"] for cluster in report["clusters"]] == [260, 140]
    np.save("six.npy", np.random.default_rng(0).normal(size=(2, 3, 4)))
    report = works(capsys, "six.npy", "-o", "six_o.npy", "-k", "2", "--method", method)
    assert sum(cluster["n_points"] for cluster in report["clusters"]) == 6


# --- its parts


def test_spectra_do_not_depend_on_blocks(cube, truth, monkeypatch):
    scene, ids = Scene.from_array(cube), np.where(np.isnan(cube[..., 0]), 0, np.minimum(truth, 3))
    whole = mean_spectra(scene, ids, 3)
    monkeypatch.setattr("diffclass_hyperspectral.io.rasters.BLOCK_VALUES", 700)
    parts = mean_spectra(scene, ids, 3)
    np.testing.assert_allclose(parts.means, whole.means, rtol=1e-12)
    np.testing.assert_allclose(parts.deviations, whole.deviations, rtol=1e-9)


def test_spectra_far_from_zero_keep_their_spread(cube, truth):
    ids = np.where(np.isnan(cube[..., 0]), 0, np.minimum(truth, 3))
    far = mean_spectra(Scene.from_array(cube.astype(np.float64) + 1000), ids, 3)
    near = mean_spectra(Scene.from_array(cube), ids, 3)
    np.testing.assert_allclose(far.deviations, near.deviations, rtol=1e-3)


def test_bad_and_empty_bands_are_left_out(cube):
    cube = cube.copy()
    cube[..., 4] = np.nan
    mask = np.ones(12, dtype=bool)
    mask[:2] = False
    scene = Scene.from_array(cube, band_mask=mask, wavelengths=np.arange(400.0, 412))
    with pytest.warns(UserWarning, match="no pixel has data in band 5"):
        found = cluster(Pixels(scene), DiffusionClustering(3))
    spectra = mean_spectra(scene, found.numbers, 3)
    assert spectra.bands.tolist() == [2, 3, 5, 6, 7, 8, 9, 10, 11]
    np.testing.assert_array_equal(spectra.wavelengths, 400 + spectra.bands)


def test_models_and_features_are_those_given(cube):
    scene, model = Scene.from_array(cube), DiffusionModes(4)
    features = SceneFeatures(5)
    found = cluster(Pixels(scene, features), model)
    assert found.model is model
    assert found.points.features is features
    assert len(found.order) == 4 == len(found.modes)
    assert cluster(Pixels(scene), DiffusionClustering(2)).modes is None
    with pytest.raises(ParameterError, match="n_clusters = 0"):
        cluster(Pixels(scene), DiffusionClustering(0))


def test_outliers_are_counted(cube):
    cube = cube.copy()
    cube[20, 20] += 500
    found = cluster(Pixels(Scene.from_array(cube)), DiffusionClustering(3))
    assert found.outliers[20, 20]
    assert found.numbers[20, 20] > 0


def test_truth_of_another_scene(cube):
    truth = LabelImage.from_array(np.ones((3, 3), dtype=np.uint8), path="truth")
    with pytest.raises(DataError, match="3 rows x 3 columns"):
        known_classes(truth, Scene.from_array(cube))


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("made", [DiffusionClustering, DiffusionModes], ids=METHODS)
def test_fields_of_salinas(data_folder, made):
    folder = data_folder / "salinas_a"
    scene = open_scene(folder / "SalinasA_corrected.mat")
    found = cluster(Pixels(scene), made(7))
    known = known_classes(read_labels(folder / "SalinasA_gt.mat"), scene)
    assert agreement(found, known).adjusted_rand > 0.75
