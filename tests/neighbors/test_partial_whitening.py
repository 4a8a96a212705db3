"""Partial whitening against the singular value decomposition."""

from __future__ import annotations

import numpy as np
import pytest

from diffclass.exceptions import ParameterError
from diffclass.neighbors import PartialWhitening


@pytest.fixture
def points():
    rng = np.random.default_rng(3)
    return rng.normal(size=(80, 6)) @ np.diag([9, 4, 2, 1, 0.5, 0.1]) + 100


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
def test_scores_over_a_power_of_their_deviation(points, power):
    scores = PartialWhitening(4, power=power).fit_transform(points)
    centered = points - points.mean(axis=0)
    U, singular, _ = np.linalg.svd(centered, full_matrices=False)
    sigma = singular / np.sqrt(len(points) - 1)
    expected = (U * singular)[:, :4] / sigma[:4] ** power
    np.testing.assert_allclose(np.abs(scores), np.abs(expected), atol=1e-10)


def test_new_points_and_names(points):
    whitening = PartialWhitening(3).fit(points)
    np.testing.assert_allclose(
        whitening.transform(points[:5]), whitening.fit_transform(points)[:5], atol=1e-12
    )
    assert list(whitening.get_feature_names_out()) == [f"partialwhitening{i}" for i in range(3)]


def test_directions_without_variance_are_left_out(points):
    points = np.column_stack([points, np.ones(80), points[:, 0]])
    whitening = PartialWhitening(20).fit(points)
    assert whitening.n_components_ == 6
    assert np.isfinite(whitening.transform(points)).all()


def test_equal_points_are_all_at_zero():
    assert (PartialWhitening(2).fit_transform(np.ones((5, 3))) == 0).all()


@pytest.mark.parametrize("parameters", [{"power": -1}, {"n_components": 0}, {"n_components": 1.5}])
def test_bad_parameters(points, parameters):
    with pytest.raises(ParameterError, match=next(iter(parameters))):
        PartialWhitening(**parameters).fit(points)
