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

from ..writers import PLACE, save_envi

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
def scene(folder, cube, truth):
    bands = {"wavelength": [400 + 50 * band for band in range(12)], "wavelength units": "nm"}
    save_envi(folder, cube, metadata=bands | {"map info": list(PLACE)})
    np.save("truth.npy", np.where(np.arange(24) % 2, truth, 0).astype(np.uint8))
    return "scene.hdr"


# --- the command


@pytest.mark.parametrize(
    ("output", "method"), [("out.img", "kmeans"), ("out.tif", "modes"), ("out.npy", "kmeans")]
)
def test_fields_become_clusters(scene, works, truth, output, method):
    report = works("cluster", scene, "-o", output, "-k", "3", "--method", method)
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
def test_the_number_of_clusters_and_why(scene, works, method):
    report = works("cluster", scene, "-o", "out.npy", "--method", method)
    assert report["n_clusters"] == 3
    assert report["reason"].startswith("spectral gap: coordinate 3 decays")
    asked = works("cluster", scene, "-o", "two.npy", "-k", "2", "--method", method)
    assert asked["reason"] == "2 clusters were asked for"


def test_truth_gives_the_best_assignment(scene, works):
    arguments = ["-k", "3", "--truth", "truth.npy", "--report", "report.json"]
    report = works("cluster", scene, "-o", "out.npy", *arguments)
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
def test_quality_and_spectra_are_reported(scene, works, cube, method):
    words = ["-k", "3", "--method", method, "--spectra", "means.sli"]
    report = works("cluster", scene, "-o", "out.npy", *words)
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
def test_the_picture(scene, works, features):
    words = ["-k", "3", "--picture", "p.png", "--features", features]
    report = works("cluster", scene, "-o", "out.png", *words)
    assert report["features"] == features
    with Image.open("p.png") as picture:
        assert picture.size == (1350, 480)


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_map(scene, works, method):
    for name in ("a.npy", "b.npy"):
        works("cluster", scene, "-o", name, "--seed", "3", "--method", method)
    assert np.array_equal(np.load("a.npy"), np.load("b.npy"))


def test_bad_input_is_said(scene, fails):
    missing = np.arange(30)[:, None] == np.full(SHAPE, 10)
    for name, truth, says in (
        ("none", None, "none.npy"),
        ("small", np.ones((4, 4)), "4 rows x 4 columns"),
        ("empty", np.zeros(SHAPE), "nothing to compare"),
        ("missing", missing, "no pixel with data"),
    ):
        if truth is not None:
            np.save(f"{name}.npy", truth.astype(np.uint8))
        words = ("-o", "o.npy", "--truth", f"{name}.npy")
        fails("cluster", scene, *words, code=3, says=says)
    fails("cluster", "none.hdr", "-o", "o.npy", code=3, says="none.hdr")
    Path("out.npy").write_text("kept")
    for words, says in (
        ("-o out.npy", "--overwrite"),
        ("-o truth.npy --truth truth.npy --overwrite", "read from"),
        ("-o s.img --report s.img", "two outputs"),
        ("-o o.npy -k 721", "only 720 pixels"),
        ("-o o.npy -k 700", "only 695 pixels have data"),
        ("-o o.npy -k 1", "1 is not in the range"),
        ("-o o.npy --method luck", "luck"),
        ("-o o.txt", "no format for the ending"),
        ("-o o.npy --picture p.tif", ".png"),
    ):
        fails("cluster", scene, *words.split(), code=2, says=says)


@pytest.mark.parametrize("method", METHODS)
def test_scenes_without_information(folder, fails, method):
    for name, value, says in (("flat", 3.0, "constant"), ("void", np.nan, "no pixel has data")):
        np.save(f"{name}.npy", np.full((8, 9, 4), value))
        words = ("-o", "o.npy", "--method", method)
        fails("cluster", f"{name}.npy", *words, code=3, says=says)


@pytest.mark.parametrize("method", METHODS)
def test_equal_pixels_and_few(folder, works, method):
    """Two spectra, each in many pixels; and a scene of six pixels."""
    two = np.zeros((20, 20, 4))
    two[:, 7:] = [1, 2, 3, 4]
    six = np.random.default_rng(0).normal(size=(2, 3, 4))
    sizes = []
    for name, cube in (("two", two), ("six", six)):
        np.save(f"{name}.npy", cube)
        words = ("-o", f"{name}_map.npy", "-k", "2", "--method", method)
        sizes.append(
            [one["n_points"] for one in works("cluster", f"{name}.npy", *words)["clusters"]]
        )
    assert sizes[0] == [260, 140]
    assert sum(sizes[1]) == 6


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
