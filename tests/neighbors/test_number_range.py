"""Maps, suggestions, coordinates and novelty do not depend on the unit of the points."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diffclass import (
    DiffusionAnomaly,
    DiffusionClassifier,
    DiffusionClustering,
    DiffusionMap,
    markov_operator,
    suggest,
)
from diffclass.acquisition import medoids
from diffclass.blocks import BlockClassifier
from diffclass.exceptions import DataError
from diffclass.kernels import Gaussian, LocalCovariance
from diffclass.neighbors import RadiusSearch
from diffclass.neighbors.number_range import Centred, NumberRange, fits, in_single_precision

RANDOM = np.random.default_rng(0)
# three clusters, of numbers that 1e9 can be added to without rounding
POINTS = np.round((RANDOM.normal(size=(90, 3)) + 3 * np.eye(3)[np.arange(90) % 3]) * 2**20) / 2**20
LABELS = np.where(np.arange(90) < 9, np.arange(90) % 3, -1)
NEW = POINTS[::7] + 2.0**-3


def results(X: np.ndarray, new: np.ndarray) -> dict[str, np.ndarray]:
    model = DiffusionClassifier(random_state=0).fit(X, LABELS)
    labelled = np.flatnonzero(LABELS >= 0)
    return {
        "map": model.raw_label_distributions_,
        "new points": model.predict_proba(new),
        "novelty": model.novelty(new),
        "suggestions": suggest(model.operator_, model.diffusion_, labelled, 4, features=X).points,
        "clusters": DiffusionClustering(3).fit(X).labels_,
        "coordinates": DiffusionMap(2, n_neighbors=30).fit_transform(X),
        "anomalies": DiffusionAnomaly(n_neighbors=10).fit(X).scores_,
        "covariances": markov_operator(X, kernel=LocalCovariance()).degrees,
    }


@pytest.fixture(scope="module")
def expected_results():
    return results(POINTS, NEW)


@settings(max_examples=8, deadline=None)
@given(exponent=st.integers(-1040, 1018))
def test_a_power_of_two_changes_nothing(expected_results, exponent):
    found = results(np.ldexp(POINTS, exponent), np.ldexp(NEW, exponent))
    for name, expected in expected_results.items():
        # where the points are denormal numbers, they have lost digits
        tolerance = 1e-3 if exponent < -1002 else 1e-9
        np.testing.assert_allclose(
            found[name], expected, rtol=tolerance, atol=tolerance, err_msg=name
        )


@pytest.mark.parametrize("offset", [2.0**30, -(2.0**32), 1e9])
def test_an_offset_changes_no_map(expected_results, offset):
    found = results(POINTS + offset, NEW + offset)
    for name, expected in expected_results.items():
        np.testing.assert_allclose(found[name], expected, rtol=1e-5, atol=1e-8, err_msg=name)


@settings(max_examples=8, deadline=None)
@given(exponent=st.integers(-120, 120))
def test_single_precision_at_any_scale(exponent):
    points = POINTS.astype(np.float32)
    found = DiffusionClassifier(random_state=0).fit(np.ldexp(points, exponent), LABELS)
    expected = DiffusionClassifier(random_state=0).fit(points, LABELS)
    np.testing.assert_array_equal(found.transduction_, expected.transduction_)
    np.testing.assert_allclose(found.margin_, expected.margin_, atol=1e-4)


def test_ordinary_points_stay_as_they_are():
    for dtype in (np.float32, np.float64):
        X = POINTS.astype(dtype)
        assert NumberRange.of(X)(X) is X
        assert NumberRange.of(np.zeros((3, 2), dtype)) == NumberRange()


def test_the_least_difference_keeps_its_digits():
    for dtype, exponent in ((np.float32, -26), (np.float64, -430)):
        X = np.ldexp(np.array([[0.5], [1.0], [1.0 - np.finfo(dtype).epsneg]], dtype), exponent)
        assert fits(X, dtype)
        square = np.square(X[1] - X[2])[0]
        assert square * 2 ** (-2 * exponent) == np.finfo(dtype).epsneg ** 2
        assert not fits(np.ldexp(X, -20), dtype)


def test_a_number_in_the_unit_of_the_points_is_not_scaled():
    for options in ({"kernel": Gaussian(bandwidth=1e-300)}, {"search": RadiusSearch(1e200)}):
        with pytest.raises(DataError, match="rescale the points"):
            markov_operator(POINTS * 1e200, **options)
    with pytest.raises(DataError, match="rescale the points"):
        DiffusionMap(bandwidth="semigroup").fit(POINTS * 1e-200)


def test_products_around_the_centre_lose_no_digits():
    X = 1e9 + np.array([[0.0, 1.0], [0.5, -1.0]])
    np.testing.assert_array_equal(np.diff(Centred(X)(X), axis=0), [[0.25, -1.0]])
    assert np.abs(Centred(X)(X)).max() <= 1
    expected = medoids(POINTS, 4)
    for features in (POINTS + 2.0**31, np.ldexp(POINTS, 800), np.ldexp(POINTS, -800)):
        found = medoids(features, 4)
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_allclose(found[1], expected[1])


@pytest.mark.parametrize(("factor", "offset"), [(1, 1e9), (1e-200, 0), (1e200, 0), (1e300, 0)])
def test_blocks_keep_the_differences_of_double_precision(factor, offset):
    expected = BlockClassifier(random_state=0).fit(POINTS, LABELS)
    found = BlockClassifier(random_state=0).fit(factor * POINTS + offset, LABELS)
    np.testing.assert_array_equal(found.transduction_, expected.transduction_)
    np.testing.assert_allclose(found.margin_, expected.margin_, atol=1e-4)


@pytest.mark.parametrize("exponent", [-140, -80, 0, 70, 120])
@pytest.mark.parametrize("given", ["array", "file", "map"])
def test_blocks_take_single_precision_at_any_scale(tmp_path, exponent, given):
    expected = BlockClassifier(random_state=0).fit(POINTS.astype(np.float32), LABELS)
    points = np.ldexp(POINTS.astype(np.float32), exponent)
    if given != "array":
        np.save(tmp_path / "points.npy", points)
        points = tmp_path / "points.npy"
    if given == "map":
        points = np.load(points, mmap_mode="r")
    found = BlockClassifier(random_state=0).fit(points, LABELS)
    if exponent > -126:  # below, numbers have lost digits
        np.testing.assert_array_equal(found.transduction_, expected.transduction_)
        np.testing.assert_allclose(found.margin_, expected.margin_, atol=1e-4)
    known = DiffusionClassifier(label_mode="absorbing", random_state=0).fit(
        np.ldexp(POINTS.astype(np.float32), exponent), LABELS
    )
    np.testing.assert_array_equal(found.transduction_, known.transduction_)


@pytest.mark.parametrize("fill", [1e30, 1e39, -1.7976931348623157e308])
def test_a_feature_that_is_constant_costs_no_digits_in_single_precision(fill):
    X = np.random.default_rng(0).normal(size=(50, 2))
    found = in_single_precision(np.c_[X, np.full(50, fill)]).astype(np.float64)
    assert np.isfinite(found).all()
    assert np.ptp(found[:, 2]) == 0
    differences = (found - found[0])[1:, :2] / (X - X[0])[1:]  # all by one power of two
    np.testing.assert_allclose(differences, differences[0, 0], rtol=1e-3)
