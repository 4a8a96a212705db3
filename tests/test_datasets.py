from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from diffclass.datasets import make_tissue_scene
from diffclass.exceptions import ParameterError


@pytest.fixture(scope="module", params=[0, 1, 5])
def scene(request):
    return make_tissue_scene(random_state=request.param)


def whitened(cube, n_components=30):
    X = cube.reshape(-1, cube.shape[-1]).astype(float)
    X -= X.mean(axis=0)
    axes = np.linalg.eigh(X.T @ X / len(X)).eigenvectors
    scores = X @ axes[:, ::-1][:, :n_components]
    return scores / np.sqrt(scores.std(axis=0))


def test_shapes_and_types(scene):
    assert scene.cube.shape == (128, 128, 60)
    assert scene.cube.dtype == np.float32
    assert np.isfinite(scene.cube).all()
    assert scene.truth.shape == scene.labels.shape == (128, 128)
    assert scene.wavelengths.shape == (60,)
    assert (np.diff(scene.wavelengths) > 0).all()
    assert len(scene.class_names) == len(scene.class_colors) == 3


def test_same_seed_same_scene():
    first, again, other = (make_tissue_scene(64, 64, n_bands=10, random_state=s) for s in (3, 3, 4))
    for name in ("cube", "truth", "labels"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
    assert (first.cube != other.cube).any()
    assert (first.truth != other.truth).any()


@pytest.mark.parametrize("seed", range(6))
def test_every_class_is_common_and_labelled_by_strokes_of_its_own(seed):
    scene = make_tissue_scene(n_bands=8, random_state=seed)
    for k in (1, 2, 3):
        assert 0.15 < (scene.truth == k).mean() < 0.5
        mine = scene.labels == k
        assert (scene.truth[mine] == k).all()
        strokes, n = ndimage.label(mine, structure=np.ones((3, 3)))
        assert 1 <= n <= 3
        assert 15 <= mine.sum() / 3 <= 45
        # strokes of one class may touch, none may be a stray pixel
        assert np.bincount(strokes.ravel())[1:].min() >= 5
    rows = np.nonzero(scene.labels.any(axis=1))[0]
    assert rows.max() < 0.33 * scene.truth.shape[0]


def test_bottom_of_a_class_resembles_another_class_at_the_top(scene):
    strip = 24

    def mean(k, rows):
        chosen = scene.truth[rows] == k
        assert chosen.sum() > 20
        return scene.cube[rows][chosen].mean(axis=0)

    top = {k: mean(k, slice(None, strip)) for k in (1, 2, 3)}
    nearer_to_another = 0
    for k in (1, 2, 3):
        bottom = mean(k, slice(-strip, None))
        distances = {i: np.linalg.norm(bottom - top[i]) for i in top}
        nearer_to_another += min(distances, key=distances.get) != k
    assert nearer_to_another >= 2


def test_the_drift_is_gradual():
    scene = make_tissue_scene(debris=0.0, noise=0.0, random_state=0)
    for k in (1, 2, 3):
        means = [
            scene.cube[r : r + 8][scene.truth[r : r + 8] == k].mean(axis=0)
            for r in range(0, 128, 8)
            if (scene.truth[r : r + 8] == k).sum() > 20
        ]
        steps = np.linalg.norm(np.diff(means, axis=0), axis=1)
        assert len(steps) > 10
        assert steps.max() < 0.35 * steps.sum()


def test_nearest_neighbour_and_gaussians_fail(scene):
    X, y, truth = whitened(scene.cube), scene.labels.ravel(), scene.truth.ravel()
    given = y > 0
    for model in (
        KNeighborsClassifier(1),
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
        QuadraticDiscriminantAnalysis(reg_param=0.1),
        GaussianNB(),
    ):
        answer = model.fit(X[given], y[given]).predict(X[~given])
        assert (answer == truth[~given]).mean() < 0.80, model


@pytest.mark.parametrize(
    "wrong",
    [{"n_rows": 10}, {"n_bands": 2}, {"noise": -1.0}, {"noise": np.nan}, {"debris": 1.5}],
)
def test_tissue_scene_refuses(wrong):
    with pytest.raises(ParameterError, match=r"got"):
        make_tissue_scene(**wrong)
