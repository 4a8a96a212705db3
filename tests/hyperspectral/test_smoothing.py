"""Smoothing over the grid against a dense walk, and what edges and missing pixels do to it."""

from __future__ import annotations

import numpy as np
import pytest

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
