"""``diffclass embed`` as a user runs it on a scene: coordinates out."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from diffclass.datasets import make_tissue_scene
from diffclass_hyperspectral import open_scene
from diffclass_hyperspectral.io.number_tables import read_table, write_table

from ..writers import save_envi


@pytest.fixture
def tissue(folder):
    tissue = make_tissue_scene(48, 48, n_bands=20, random_state=0)
    cube = tissue.cube.copy()
    cube[:2] = -1
    save_envi(folder, cube, metadata={"data ignore value": -1})
    return tissue


@pytest.mark.parametrize("features", ["spectral", "spatial"])
def test_a_scene(tissue, works, features):
    words = ["-o", "out.img", "--picture", "out.png", "--features", features]
    report = works("embed", "scene.hdr", *words)
    assert report["n_without_data"] == 96
    assert report["epsilon"] is None  # self-tuned: densities of pixels differ too much
    coordinates = np.array(open_scene("out.hdr").data)
    assert coordinates.shape == (48, 48, 3)
    assert np.isnan(coordinates[:2]).all()
    assert np.isfinite(coordinates[2:]).all()
    with Image.open("out.png") as picture:
        assert picture.size == (1100, 450)


@pytest.mark.parametrize("features", ["spectral", "spatial"])
def test_coordinates_of_a_scene_tell_its_tissues_apart(tissue, works, features):
    """Pixels near in four coordinates are of one tissue; of chance, four of ten would be."""
    works("embed", "scene.hdr", "-o", "out.npy", "-n", "4", "--features", features)
    coordinates = np.load("out.npy")[2:].reshape(-1, 4)
    truth = tissue.truth[2:].ravel()
    scores = cross_val_score(KNeighborsClassifier(15), coordinates, truth, cv=5)
    assert scores.mean() > 0.85


def test_pixels_as_rows(tissue, works):
    works("embed", "scene.hdr", "-o", "out.csv", "-n", "1")
    values, names = read_table("out.csv")
    assert names == ["row", "column", "diffusion 1"]
    assert values[-1, :2].tolist() == [47, 47]
    assert len(values) == 48 * 48


def test_wrong_usage(tissue, fails):
    for words, says in (
        ("-o out.png", "--picture"),
        ("-o out.csv --picture out.jpg", ".png"),
        ("-o scene.img --overwrite", "read from"),
        ("-o out.csv --bandwidth wide", "neither a number nor one of"),
        ("-o out.csv --time -1", "time"),
        ("-o out.csv -n 2304", "2304 points"),
        ("-o none/out.csv", "no folder"),
        ("-o out.csv --report out.csv", "two outputs"),
    ):
        fails("embed", "scene.hdr", *words.split(), code=2, says=says)


def test_tables_survive_a_round_trip(folder, rng):
    values = rng.normal(size=(5, 3))
    values[2, 1] = np.nan
    write_table("t.csv", values, ["a", "b", "c"])
    again, names = read_table("t.csv")
    np.testing.assert_allclose(again, values, rtol=1e-8)
    assert names == ["a", "b", "c"]
