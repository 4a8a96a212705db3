"""The large synthetic scene: the same however many rows are made at a time, and readable."""

from __future__ import annotations

import numpy as np
import pytest

from diffclass_hyperspectral import open_scene, read_labels
from experiments.scaling import make_large_scene
from experiments.scaling.make_large_scene import LargeScene, sparse_labels, write_scene
from experiments.scaling.million import cells, class_of, fields

SIDE = 70


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("large")
    write_scene(folder, LargeScene(SIDE), labels_per_class=3)
    return folder


def test_the_file_is_a_scene_with_labels(folder):
    scene = open_scene(folder / "scene.hdr")
    assert (scene.shape, scene.data.dtype, scene.scale_factor) == ((SIDE, SIDE, 100), "<i2", 1e4)
    assert scene.wavelengths[[0, -1]].tolist() == [400, 2500]
    assert 0.1 < scene.spectra().mean() < 0.9
    truth, labels = np.load(folder / "truth.npy"), read_labels(folder / "labels.npy", grid=scene)
    np.testing.assert_array_equal(truth, fields(SIDE))
    np.testing.assert_array_equal(np.bincount(labels.ids.ravel())[1:], np.full(16, 3))
    assert (labels.ids[labels.ids > 0] == truth[labels.ids > 0]).all()


@pytest.mark.parametrize("values", [1, 9 * SIDE * 100])
def test_it_does_not_depend_on_the_rows_made_at_a_time(folder, monkeypatch, values):
    monkeypatch.setattr(make_large_scene, "VALUES_AT_ONCE", values)
    scene = LargeScene(SIDE)
    parts = np.concatenate([scene.stored(rows) for rows in scene.blocks()])
    whole = np.fromfile(folder / "scene.img", dtype="<i2").reshape(parts.shape)
    # sums of products may be rounded in another way
    assert np.abs(parts.astype(int) - whole).max() <= 1
    assert (parts != whole).mean() < 1e-3
    assert (parts != LargeScene(SIDE, seed=1).stored(range(SIDE))).mean() > 0.9


def test_classes_differ_and_noise_is_what_was_asked_for():
    rows = range(40)
    clean, noisy = (LargeScene(SIDE, noise).stored(rows) / 1e4 for noise in (0, 0.05))
    assert np.std(noisy - clean) == pytest.approx(0.05, rel=0.05)
    truth = LargeScene(SIDE).truth(rows)
    means = np.stack([clean[truth == i].mean(axis=0) for i in np.unique(truth)])
    apart = np.linalg.norm(means[:, None] - means, axis=-1)[np.triu_indices(len(means), 1)]
    assert apart.min() > 0.02


def test_rows_of_cells_are_those_of_the_whole():
    whole = cells(SIDE, range(SIDE))
    np.testing.assert_array_equal(cells(SIDE, range(13, 21)), whole[13:21])
    np.testing.assert_array_equal(class_of(whole), fields(SIDE))


def test_a_class_with_few_pixels_has_them_all():
    truth = np.array([[1, 1, 1], [1, 1, 2]], dtype=np.uint8)
    labels = sparse_labels(truth, 2)
    assert (np.count_nonzero(labels == 1), labels[1, 2]) == (2, 2)
