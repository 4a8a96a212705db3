"""Weights of smoothed components against their definition, and what they do to fields."""

from __future__ import annotations

import numpy as np
import pytest

from diffclass_hyperspectral import SceneFeatures
from diffclass_hyperspectral.features.spatial_scales import field_weights

SHAPE = (30, 40)


@pytest.fixture
def fields():
    """Eight fields of two kinds, beside each other; their class, and where there is data."""
    kind = np.arange(8) % 2
    truth = np.repeat(np.repeat(kind.reshape(2, 4), 15, axis=0), 10, axis=1)
    valid = np.ones(SHAPE, dtype=bool)
    valid[3:6, 2:5] = False
    return truth, valid


@pytest.mark.parametrize("power", [0.5, 1.0, 1.5])
def test_the_weights_are_a_power_of_the_covariance(rng, power):
    taken = rng.normal(size=(500, 4)) @ rng.normal(size=(4, 4))
    within = np.cov(taken.T, bias=True)
    weights = field_weights(within, power)
    values, vectors = np.linalg.eigh(within / np.linalg.eigvalsh(within)[-1])
    expected = vectors @ np.diag(np.maximum(values, 1e-3) ** (-2 * power)) @ vectors.T
    np.testing.assert_allclose(weights @ weights.T, expected, rtol=1e-6)  # up to signs


def test_half_a_power_makes_fields_even(rng):
    taken = rng.normal(size=(500, 3)) * [3, 1, 0.5]
    weights = field_weights(np.cov(taken.T, bias=True), 0.5)
    within = np.cov((taken @ weights).T, bias=True)
    np.testing.assert_allclose(within, within[0, 0] * np.eye(3), atol=1e-6 * within[0, 0])


def test_nothing_smoothed_or_no_power_weighs_nothing(rng):
    np.testing.assert_array_equal(field_weights(np.zeros((3, 3)), 1.0), np.eye(3))
    np.testing.assert_array_equal(field_weights(np.diag([1.0, 2.0]), 0), np.eye(2))


def test_what_varies_within_fields_no_longer_hides_what_tells_them_apart(fields, rng):
    truth, valid = fields
    bands = np.linspace(0, 1, 12)
    light = rng.normal(size=SHAPE)[..., None] * bands * 40  # differs from pixel to pixel
    slope = np.linspace(-1, 1, SHAPE[1])[:, None] * bands * 60  # and slowly across the scene
    noise = rng.normal(size=(*SHAPE, 12)) * 0.3
    cube = truth[..., None] * np.cos(6 * bands) + light + slope + noise + 100
    cube[~valid] = np.nan

    def told_apart(power):
        features = SceneFeatures(4, spatial=True, field_power=power)
        smoothed = features.fit_transform(cube)[:, 4:][valid.ravel()]
        kinds = [smoothed[truth[valid] == kind] for kind in (0, 1)]
        between = np.linalg.norm(kinds[0].mean(axis=0) - kinds[1].mean(axis=0))
        return between / np.sqrt(sum(k.var(axis=0).sum() for k in kinds))

    assert told_apart(1.0) > 2 * told_apart(0)


def test_another_scene_is_weighed_as_the_one_fitted_to(fields, rng):
    truth, _ = fields
    cube = truth[..., None] * np.arange(1, 7) + rng.normal(size=(*SHAPE, 6))
    features = SceneFeatures(3, spatial=True)
    points = features.fit_transform(cube)
    weights = features.weights_.copy()
    np.testing.assert_array_equal(weights[0], np.eye(3))  # the picture as it is
    np.testing.assert_allclose(features.transform(cube), points, atol=1e-5)
    features.transform(cube[:, ::-1] * 2)
    np.testing.assert_array_equal(features.weights_, weights)
