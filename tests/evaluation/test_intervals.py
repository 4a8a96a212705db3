"""Intervals of proportions against scipy's and against simulations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from diffclass.evaluation import clustered_interval, wilson_interval
from diffclass.exceptions import DataError, ParameterError


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_wilson_is_scipys(level):
    right, n = np.array([0, 1, 9, 10, 250]), np.array([10, 1, 10, 10, 1000])
    lower, upper = wilson_interval(right, n, level=level)
    for i in range(5):
        other = binomtest(right[i], n[i]).proportion_ci(level, method="wilson")
        assert lower[i] == pytest.approx(other.low, abs=1e-12)
        assert upper[i] == pytest.approx(other.high, abs=1e-12)


def test_wilson_of_nothing_and_of_too_much():
    assert np.isnan(wilson_interval(0, 0)).all()
    with pytest.raises(DataError, match="at most n"):
        wilson_interval(3, 2)
    with pytest.raises(ParameterError, match="level"):
        wilson_interval(1, 2, level=95)


def beta_binomial(rng, p, n_clusters, *, rho, equal):
    """Right points and size of each cluster; points of one are correlated by rho."""
    spread = np.ones(n_clusters) if equal else rng.lognormal(-0.5, 1, n_clusters)
    sizes = np.maximum(1, np.rint(40 * spread)).astype(int)
    shares = rng.beta(p * (1 / rho - 1), (1 - p) * (1 / rho - 1), n_clusters)
    return rng.binomial(sizes, shares), sizes


def points_of(n_right, sizes):
    right = [np.arange(size) < k for k, size in zip(n_right, sizes, strict=True)]
    return np.concatenate(right), np.repeat(np.arange(len(sizes)), sizes)


def coverage(p, n_clusters, **how):
    rng = np.random.default_rng(6)
    found = [
        clustered_interval(*points_of(*beta_binomial(rng, p, n_clusters, **how)))
        for _ in range(200)
    ]
    return np.mean([one.lower <= p <= one.upper for one in found])


def test_clustered_intervals_hold_the_truth_as_often_as_they_say():
    hits = [
        coverage(p, n_clusters, rho=rho, equal=equal)
        for p in (0.8, 0.95, 0.99)
        for n_clusters in (5, 15, 60)
        for rho in (0.05, 0.3)
        for equal in (True, False)
    ]
    assert np.mean(hits) > 0.95
    assert min(hits) > 0.9


def test_points_as_if_independent_hold_it_less_often():
    rng = np.random.default_rng(6)
    hits = 0
    for _ in range(200):
        n_right, sizes = beta_binomial(rng, 0.8, 40, rho=0.2, equal=True)
        lower, upper = wilson_interval(n_right.sum(), sizes.sum())
        hits += lower <= 0.8 <= upper
    assert hits / 200 < 0.6


def test_where_all_are_right_the_clusters_count():
    clusters = np.repeat(np.arange(12), 30)
    found = clustered_interval(np.ones(360), clusters)
    np.testing.assert_allclose((found.lower, found.upper), wilson_interval(12, 12))
    assert found.effective_n == pytest.approx(12)
    none = clustered_interval(np.zeros(360), clusters)
    assert (none.lower, none.upper) == pytest.approx((1 - found.upper, 1 - found.lower))
    # one wrong point more does not make the rest known
    one_wrong = clustered_interval(np.arange(360) > 0, clusters)
    assert found.lower - 0.05 < one_wrong.lower < 0.9
    sure = clustered_interval(np.ones(360), clusters, level=0.99)
    assert sure.lower < found.lower


def test_clusters_of_one_point_are_nearly_wilsons_interval():
    right = np.random.default_rng(7).random(400) < 0.7
    found = clustered_interval(right, np.arange(400))
    expected = wilson_interval(right.sum(), 400)
    np.testing.assert_allclose((found.lower, found.upper), expected, atol=1e-3)
    assert found.n_clusters == 400
    alone = clustered_interval([1, 0], [3, 3])
    assert np.isnan([alone.lower, alone.upper, alone.effective_n]).all()
    with pytest.raises(DataError, match="same points"):
        clustered_interval([1, 0], [1])
