"""Smoothing over the grid against a dense walk, and what edges and missing pixels do to it."""

from __future__ import annotations

import numpy as np
import pytest

from diffclass.datasets import make_tissue_scene
from diffclass.exceptions import ParameterError
from diffclass_hyperspectral import SceneFeatures
from diffclass_hyperspectral.features.smoothing import GaussianSmoothing, GridDiffusion


def image_of(rows=7, columns=6, k=3, seed=0):
    return np.random.default_rng(seed).normal(size=(rows, columns, k)).astype(np.float32)


def everywhere(image):
    return np.ones(image.shape[:2], dtype=bool)


def dense_walk(guide, valid, quantile):
    """A of the module's docstring, pixel by pixel."""
    rows, columns = valid.shape
    n = rows * columns
    row, column = np.divmod(np.arange(n), columns)
    near = (np.abs(row[:, None] - row) <= 1) & (np.abs(column[:, None] - column) <= 1)
    near &= valid.ravel()[:, None] & valid.ravel()
    points = guide.reshape(n, -1).astype(float)
    squares = np.square(points[:, None] - points).sum(axis=-1)
    pairs = np.sort(squares[np.triu(near, 1)])
    h = pairs[int(quantile * len(pairs))]
    affinity = np.where(near, np.exp(-squares / h), 0)
    np.fill_diagonal(affinity, 1)
    return affinity / affinity.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("n_steps", [1, 5, 300])
@pytest.mark.parametrize("quantile", [0.25, 0.6])
def test_the_walk_is_the_dense_one(n_steps, quantile):
    image = image_of()
    valid = everywhere(image)
    valid[2, 3] = valid[0, 0] = False
    smoothing = GridDiffusion(n_steps, sigma=0, quantile=quantile)
    walk = np.linalg.matrix_power(dense_walk(image, valid, quantile), n_steps)
    expected = (walk @ np.where(valid.ravel()[:, None], image.reshape(-1, 3), 0)).reshape(7, 6, 3)
    found = smoothing.smooth(image, valid)
    np.testing.assert_allclose(found[valid], expected[valid], rtol=1e-4, atol=1e-5)


def test_the_guide_is_smoothed_first():
    image = image_of(9, 8)
    valid = everywhere(image)
    guide = GaussianSmoothing(1.2).smooth(image, valid)
    expected = dense_walk(guide, valid, 0.25) @ image.reshape(72, 3)
    found = GridDiffusion(1, sigma=1.2).smooth(image, valid)
    np.testing.assert_allclose(found.reshape(72, 3), expected, rtol=1e-4, atol=1e-5)


def test_a_border_stays_where_a_gaussian_blurs_it():
    random = np.random.default_rng(1)
    field = np.repeat([0.0, 20.0], 12)
    image = (field[None, :, None] + random.normal(size=(24, 24, 4))).astype(np.float32)
    valid = everywhere(image)
    means = np.broadcast_to(field[None, :, None], image.shape)

    def error(smoothing):
        return np.abs(smoothing.smooth(image, valid) - means)[:, 10:14].mean()

    assert error(GridDiffusion()) < 0.6 * error(GaussianSmoothing(0))  # noise goes
    assert error(GridDiffusion()) < 0.1 * error(GaussianSmoothing(2))  # the border stays


def dense_weight_beyond(walk, shape, n):
    row, column = np.divmod(np.arange(len(walk)), shape[1])
    apart = np.maximum(np.abs(row[:, None] - row), np.abs(column[:, None] - column))
    return [np.where(apart > r, walk, 0).sum(axis=1).mean() for r in range(n)]


def test_the_reach_of_a_walk_is_the_dense_ones():
    image = image_of()
    valid = everywhere(image)
    walk = np.linalg.matrix_power(dense_walk(image, valid, 0.25), 9)
    found = GridDiffusion(9, sigma=0).weight_beyond(image, valid)
    expected = dense_weight_beyond(walk, valid.shape, len(found))
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_the_reach_follows_the_picture():
    random = np.random.default_rng(2)
    noise = random.normal(size=(60, 60, 4)).astype(np.float32)
    fields = noise + 50 * np.add.outer(np.arange(60) // 10, np.arange(60) // 10 % 2)[..., None]
    open_ground, cut_up = (
        GridDiffusion().weight_beyond(i.astype(np.float32), everywhere(i)) for i in (noise, fields)
    )
    assert open_ground[6] > 0.3
    assert cut_up[9] < 0.02  # fields of ten pixels
    missing = np.ones((60, 60), dtype=bool)
    missing[::4] = missing[:, ::4] = False
    assert GridDiffusion().weight_beyond(noise, missing)[2] < 1e-6


@pytest.mark.parametrize("sigma", [0.5, 2.0])
def test_the_reach_of_a_gaussian_is_that_of_a_point(sigma):
    point = np.zeros((61, 61, 1), dtype=np.float32)
    point[30, 30] = 1
    weights = GaussianSmoothing(sigma).smooth(point, everywhere(point)).ravel()
    row, column = np.divmod(np.arange(61 * 61), 61)
    apart = np.maximum(np.abs(row - 30), np.abs(column - 30))
    found = GaussianSmoothing(sigma).weight_beyond(point, everywhere(point))
    expected = [weights[apart > r].sum() for r in range(len(found))]
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert GaussianSmoothing(0).weight_beyond(point, everywhere(point)).tolist() == [0]


def test_features_reach_as_far_as_their_widest_scale():
    cube = make_tissue_scene(48, 48, random_state=0).cube
    assert SceneFeatures().fit(cube).weight_beyond(cube).tolist() == [0]
    narrow, wide, both = (
        SceneFeatures(spatial=True, scales=scales).fit(cube).weight_beyond(cube)
        for scales in ((0, 1.0), (GridDiffusion(),), (1.0, GridDiffusion()))
    )
    assert len(narrow) == 5
    np.testing.assert_array_equal(both, np.maximum(wide, np.pad(narrow, (0, len(wide) - 5))))


def test_missing_pixels_give_nothing():
    image = image_of()
    valid = everywhere(image)
    valid[3, :] = False
    changed = np.where(valid[..., None], image, np.float32(1e6))
    for smoothing in (GridDiffusion(9), GaussianSmoothing(1.5)):
        first, second = (smoothing.smooth(i, valid)[valid] for i in (image, changed))
        np.testing.assert_allclose(first, second, rtol=1e-6)
        np.testing.assert_array_equal(changed[3], np.float32(1e6))  # left as it is


def test_the_upper_half_does_not_see_the_lower_across_missing_rows():
    image = image_of(9, 5)
    valid = everywhere(image)
    valid[4] = False
    other = image.copy()
    other[5:] += np.float32(0.5)  # differences within stay, so does the bandwidth
    first, second = (GridDiffusion(30, sigma=0).smooth(i, valid) for i in (image, other))
    np.testing.assert_allclose(first[:4], second[:4], atol=1e-4)


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (2, 2)])
def test_small_and_flat_pictures(shape):
    image = np.ones((*shape, 2), dtype=np.float32)
    np.testing.assert_allclose(GridDiffusion().smooth(image, everywhere(image)), image, rtol=1e-5)


def test_where_most_neighbours_are_alike_only_they_are_joined():
    image = np.zeros((6, 8, 1), dtype=np.float32)
    image[:, 4:] = 1
    found = GridDiffusion(sigma=0).smooth(image, everywhere(image))
    np.testing.assert_allclose(found, image, atol=1e-5)


def test_the_mean_over_the_degrees_is_kept():
    image = image_of(12, 11)
    valid = everywhere(image)
    smoothing = GridDiffusion()
    pi = smoothing.operator(image, valid).stationary_distribution
    before, after = image.reshape(-1, 3), smoothing.smooth(image, valid).reshape(-1, 3)
    np.testing.assert_allclose(pi @ after, pi @ before, atol=1e-5)


@pytest.mark.parametrize("wrong", [{"n_steps": 0}, {"quantile": 0}, {"quantile": 1.5}])
def test_walks_that_cannot_be(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        GridDiffusion(**wrong)


def test_scales_of_features():
    image = image_of(20, 18, 6)
    features = SceneFeatures(4, spatial=True, scales=(0, 1, GridDiffusion(8)), field_power=0)
    points = features.fit_transform(image)
    components = SceneFeatures(4).fit_transform(image).reshape(20, 18, 4)
    smooth = GridDiffusion(8).smooth(components, everywhere(image)).reshape(360, 4)
    np.testing.assert_allclose(
        points[:, 8:], smooth / np.sqrt(np.mean(smooth**2)), rtol=1e-4, atol=1e-5
    )
