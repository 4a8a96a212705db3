"""Reliability curves, thresholds and intervals against naive twins and other libraries."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import roc_auc_score

from diffclass.evaluation import (
    classification_scores,
    clustered_interval,
    reliability_curve,
    threshold_table,
    wilson_interval,
)
from diffclass.evaluation.scores import kappa_standard_error
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


def test_intervals_of_scores():
    scores = classification_scores([1] * 10 + [2] * 30, [1] * 9 + [2] * 31)
    found = scores.intervals()
    assert found["per_class"]["1"]["recall"] == pytest.approx(
        list(binomtest(9, 10).proportion_ci(method="wilson"))
    )
    assert found["per_class"]["2"]["precision"] == pytest.approx(
        list(binomtest(30, 31).proportion_ci(method="wilson"))
    )
    lower, upper = found["average_accuracy"]
    assert lower < scores.average_accuracy < upper
    one, two = (found["per_class"][c]["recall"] for c in "12")
    assert lower == pytest.approx(0.95 - np.hypot(0.9 - one[0], 1 - two[0]) / 2)
    assert found["kappa"][0] < scores.kappa < found["kappa"][1]
    assert classification_scores([1, 1], [1, 0]).intervals()["per_class"]["0"]["recall"] is None
    assert classification_scores([1, 1], [1, 1]).intervals()["kappa"] is None


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


def test_the_error_of_kappa_is_the_spread_over_samples():
    rng = np.random.default_rng(0)
    p = np.array([[0.3, 0.05, 0.02], [0.04, 0.2, 0.06], [0.03, 0.05, 0.25]])
    kappas = []
    for confusion in rng.multinomial(400, p.ravel(), size=4000).reshape(-1, 3, 3):
        q = confusion / 400
        chance = q.sum(axis=0) @ q.sum(axis=1)
        kappas.append((q.trace() - chance) / (1 - chance))
    assert kappa_standard_error(p * 400) == pytest.approx(np.std(kappas), rel=0.05)


@pytest.fixture
def sample():
    rng = np.random.default_rng(1)
    certainty = rng.random(997).round(2)  # with ties
    return rng.random(997) < 0.3 + 0.6 * certainty, certainty


def test_bins_are_naive_ones(sample):
    right, certainty = sample
    curve = reliability_curve(right, certainty, n_bins=8)
    assert curve.counts.sum() == 997
    assert (curve.edges[1:, 0] > curve.edges[:-1, 1]).all()  # ties are together
    assert (np.abs(curve.counts - 997 / 8) < 20).all()
    for i, (low, high) in enumerate(curve.edges):
        inside = (certainty >= low) & (certainty <= high)
        assert inside.sum() == curve.counts[i]
        assert right[inside].mean() == pytest.approx(curve.accuracy[i])
        assert certainty[inside].mean() == pytest.approx(curve.certainty[i])
        assert curve.lower[i] < curve.accuracy[i] < curve.upper[i]
    assert curve.auc == pytest.approx(roc_auc_score(right, certainty))
    distance = np.abs(curve.accuracy - curve.certainty)
    assert curve.expected_calibration_error == pytest.approx((distance * curve.counts).sum() / 997)


def test_the_order_of_the_points_does_not_matter(sample):
    right, certainty = sample
    order = np.random.default_rng(2).permutation(997)
    one, other = (
        reliability_curve(right, certainty),
        reliability_curve(right[order], certainty[order]),
    )
    np.testing.assert_allclose(one.accuracy, other.accuracy)
    np.testing.assert_array_equal(one.counts, other.counts)


def test_few_points_and_equal_ones():
    curve = reliability_curve([True, False, True], [0.5, 0.5, 0.5])
    assert curve.counts.tolist() == [3]
    assert curve.auc == 0.5
    assert np.isnan(reliability_curve([True, True], [0.1, 0.2]).auc)
    report = reliability_curve([True], [0.1]).to_dict()
    assert json.loads(json.dumps(report, allow_nan=False)) == report
    assert report["auc"] is None
    assert report["bins"][0]["n_points"] == 1


def test_a_calibrated_probability_has_a_small_error():
    rng = np.random.default_rng(4)
    p = rng.random(20_000)
    right = rng.random(20_000) < p
    assert reliability_curve(right, p).expected_calibration_error < 0.015
    assert reliability_curve(right, p**3).expected_calibration_error > 0.15


def test_thresholds_are_naive_ones(sample):
    right, certainty = sample
    certainty = np.where(np.arange(997) % 50 == 0, -np.inf, certainty)
    everyone = np.concatenate([certainty, [0.2, 0.9, -np.inf]])
    table = threshold_table(right, certainty, thresholds=[0, 0.31, 0.9, 2], population=everyone)
    for i, limit in enumerate([0, 0.31, 0.9, 2]):
        kept = certainty >= limit
        assert table.n_kept[i] == kept.sum()
        assert table.share[i] == pytest.approx((everyone >= limit).mean())
        assert table.overall_accuracy[i] == pytest.approx((right & kept).mean())
        if kept.any():
            assert table.accuracy[i] == pytest.approx(right[kept].mean())
    assert np.isnan(table.accuracy[-1])
    assert table.to_dict()["rows"][-1]["accuracy"] is None
    json.dumps(table.to_dict(), allow_nan=False)


def test_default_thresholds_keep_the_shares_they_are_for():
    certainty = np.random.default_rng(5).random(1000)
    table = threshold_table(certainty > 0.5, certainty)
    assert table.thresholds[0] == 0
    np.testing.assert_allclose(
        table.share, [1, 0.99, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.25], atol=0.0011
    )
    assert threshold_table([True], [-np.inf]).share.tolist() == [0]


@pytest.mark.parametrize("call", [reliability_curve, threshold_table])
def test_what_cannot_be_ordered(call):
    for right, certainty in (([], []), ([1], [1, 2]), ([1, 0], [0.5, np.nan])):
        with pytest.raises(DataError):
            call(right, certainty)
    with pytest.raises(ParameterError, match="n_bins"):
        reliability_curve([True], [0.1], n_bins=0)
    with pytest.raises(DataError, match="population"):
        threshold_table([True], [0.1], population=[np.nan])
