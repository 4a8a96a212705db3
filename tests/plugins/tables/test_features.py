"""Rows as points: metrics, components, rows that are no points."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist
from sklearn.decomposition import PCA

from diffclass.exceptions import DataError, ParameterError
from diffclass_tables import features
from diffclass_tables.features import row_points, usual_metric

PATH = Path("t.npy")


@pytest.fixture(name="X")
def wide_rows(rng):
    """Rows (300, 40) with five strong directions."""
    strong = rng.normal(size=(300, 5)) * [9, 7, 5, 4, 3] @ rng.normal(size=(5, 40))
    return (strong + 3 + 0.1 * rng.normal(size=(300, 40))).astype(np.float32)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "correlation"])
@pytest.mark.parametrize("block", [1, 300, 2**24])
def test_distances_are_those_of_scipy(metric, block, X, monkeypatch):
    monkeypatch.setattr(features, "_BLOCK", block)
    made = row_points(X, PATH, metric=metric)
    assert (made.metric, made.n_components) == (metric, None)
    expected = pdist(X.astype(float), metric)
    if metric != "euclidean":
        expected = np.sqrt(2 * expected)
    np.testing.assert_allclose(pdist(made.points.astype(float)), expected, rtol=1e-4, atol=1e-5)


def test_cosine_is_euclidean_on_unit_rows(X):
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert usual_metric(unit) == "cosine"
    assert usual_metric(X) == "euclidean"
    made = [row_points(unit, PATH, metric=m).points for m in ("cosine", "euclidean")]
    np.testing.assert_allclose(*made, atol=1e-6)


def stored(kind, X):
    if kind == "float16":
        return X.astype(np.float16)
    if kind == "sparse":
        return sp.csr_array(X * (X > 3))
    if kind == "whole":
        return np.round(X).astype(np.int64)
    return X.astype(kind)


@pytest.mark.parametrize("kind", ["float32", "float64", "float16", "sparse", "whole"])
@pytest.mark.parametrize("block", [1, 1234, 2**24])
def test_components_are_those_of_scikit_learn(kind, block, X, monkeypatch):
    values = stored(kind, X)
    monkeypatch.setattr(features, "_BLOCK", block)
    made = row_points(values, PATH, metric="euclidean", n_components=5)
    dense = (values.toarray() if sp.issparse(values) else values).astype(float)
    expected = PCA(5).fit_transform(dense)
    assert made.points.shape == (300, 5)
    assert made.points.dtype == np.float32
    # as coordinates, each up to its sign
    signs = np.sign((made.points * expected).sum(axis=0))
    error = np.abs(made.points * signs - expected).max()
    assert error < (0.02 if kind == "sparse" else 0.005) * np.abs(expected).max()


def test_components_of_rows_with_missing_values(X, monkeypatch):
    X[::7, 3] = np.nan
    X[:64] = np.nan
    monkeypatch.setattr(features, "_BLOCK", 640)
    made = row_points(X, PATH, n_components=5)
    rest = ~np.isnan(X).any(axis=1)
    np.testing.assert_array_equal(made.valid, rest)
    expected = PCA(5).fit_transform(X[rest].astype(float))
    signs = np.sign((made.points * expected).sum(axis=0))
    np.testing.assert_allclose(made.points * signs, expected, atol=0.05)


def test_many_rows_of_many_features_get_components(rng):
    X = rng.normal(size=(4097, 65)).astype(np.float32)
    assert row_points(X, PATH).points.shape == (4097, 64)
    assert row_points(X[:4096], PATH).points.shape == (4096, 65)
    assert row_points(X[:, :64], PATH).n_components is None


@pytest.mark.parametrize("scale", [1e-30, 1e-20, 1e19, 3e38])
def test_extreme_rows_have_a_direction(scale, X):
    unit = X / np.abs(X).max()
    expected = row_points(unit, PATH, metric="cosine").points
    scaled = (unit * np.float32(scale)).astype(np.float32)
    np.testing.assert_allclose(
        row_points(scaled, PATH, metric="cosine").points, expected, atol=1e-5
    )
    assert usual_metric(scaled) == "euclidean"


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e6 + 0.3, -7.7])
def test_constant_rows_have_no_correlation(value, X):
    X[17] = value
    with pytest.raises(DataError, match="equal values only in row 17"):
        row_points(X, PATH, metric="correlation")
    row_points(X, PATH, metric="cosine")


def test_zero_rows_have_no_direction(X, monkeypatch):
    X[17] = 0
    X[3, 5] = np.nan
    monkeypatch.setattr(features, "_BLOCK", 400)
    for values in (X, sp.csr_array(X)):
        with pytest.raises(DataError, match="only zeros in row 17"):
            row_points(values, PATH, metric="cosine")
        assert row_points(values, PATH, metric="euclidean").valid.sum() == 299


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e300])
def test_infinite_rows(value, X, monkeypatch):
    values = X.astype(np.float64)
    values[17, 3] = value
    monkeypatch.setattr(features, "_BLOCK", 400)
    for metric in (None, "cosine", "correlation"):
        with pytest.raises(DataError, match=r"infinite values .* in row 17"):
            row_points(values, PATH, metric=metric)


def test_wrong_parameters(X):
    for n_components in (0, 41, -1):
        with pytest.raises(ParameterError, match="300 rows and 40 features"):
            row_points(X, PATH, n_components=n_components)
    with pytest.raises(DataError, match="every row has a missing value"):
        row_points(X * np.nan, PATH)


def test_rows_of_one_feature(rng):
    X = rng.normal(size=(50, 1)).astype(np.float32)
    np.testing.assert_array_equal(row_points(X, PATH).points, X)
    with pytest.raises(DataError, match="equal values only in row 0"):
        row_points(X, PATH, metric="correlation")


def test_the_seed_decides(X):
    one, same, other = (
        row_points(X, PATH, n_components=3, random_state=s).points for s in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


@settings(max_examples=80, deadline=None)
@given(
    offset=st.sampled_from([0, 1, 300, 2**17, 2**24, 2**30, 1_700_000_000, 2**40]),
    power=st.integers(-60, 60),
    metric=st.sampled_from(["euclidean", "correlation"]),
    missing=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_what_is_far_from_zero_or_in_another_unit_has_the_same_distances(
    offset, power, metric, missing, seed
):
    """Times in seconds, coordinates in metres, fluxes: differences count."""
    random = np.random.default_rng(seed)
    X = random.integers(-1000, 1000, (30, 4)) / 64.0  # exact beside the offsets
    far = np.array([offset, 0, offset, -offset]) if metric == "euclidean" else offset
    scaled = np.ldexp(X + far, power)
    valid = np.ones(30, dtype=bool)
    if missing:
        scaled[3, 1], valid[3] = np.nan, False
    found = row_points(scaled, PATH, metric=metric)
    np.testing.assert_array_equal(found.valid, valid)
    points, expected = found.points.astype(float), np.ldexp(X, power)[valid]
    if metric == "correlation":
        expected = expected - expected.mean(axis=1, keepdims=True)
        expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    largest = np.abs(expected).max()
    for row in range(3):
        np.testing.assert_allclose(
            points - points[row], expected - expected[row], atol=2e-3 * largest, rtol=0
        )
    assert len(np.unique(points, axis=0)) == len(np.unique(expected, axis=0))


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint64, np.longdouble, np.float64])
def test_whole_numbers_of_any_size_keep_their_differences(dtype):
    X = np.array([[0, 3], [1, 3], [2, 5]]).astype(dtype) + dtype(2**30)
    points = row_points(X, PATH).points
    np.testing.assert_array_equal(points - points[0], [[0, 0], [1, 0], [2, 2]])


def test_values_that_single_precision_has_not_are_refused():
    with pytest.raises(DataError, match="multiply them by a power of ten"):
        row_points(np.array([[1e-50, 0], [2e-50, 1e-51]]), PATH)
    equal = row_points(np.full((3, 2), 1e-50), PATH)  # as they are: nothing is lost
    assert not equal.points.any()


@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_half_precision_of_one_or_two_columns_is_no_embedding(n_columns):
    X = np.linspace(1, 9, 4 * n_columns).reshape(4, n_columns).astype(np.float16)
    assert usual_metric(X) == ("cosine" if n_columns == 3 else "euclidean")
