"""Reliability curves and thresholds against naive twins."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from diffclass.evaluation import (
    clustered_interval,
    default_thresholds,
    detection_curve,
    reliability_curve,
    threshold_table,
)
from diffclass.exceptions import DataError, ParameterError


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


@pytest.mark.parametrize("n", [1, 7, 10, 20, 99, 100, 1000])
def test_default_thresholds_keep_the_fewest_points_that_are_a_share(n):
    kept = {int(np.count_nonzero(np.arange(n) >= t)) for t in default_thresholds(np.arange(n))}
    # the least whole number that is not below the share
    assert kept == {-(-percent * n // 100) for percent in (100, 99, 95, 90, 80, 70, 60, 50, 25)}


@pytest.mark.parametrize("call", [reliability_curve, threshold_table])
def test_what_cannot_be_ordered(call):
    for right, certainty in (([], []), ([1], [1, 2]), ([1, 0], [0.5, np.nan])):
        with pytest.raises(DataError):
            call(right, certainty)
    with pytest.raises(ParameterError, match="n_bins"):
        reliability_curve([True], [0.1], n_bins=0)
    with pytest.raises(DataError, match="population"):
        threshold_table([True], [0.1], population=[np.nan])
    for thresholds, population in (
        (None, [[0.1]]),
        (None, np.ma.masked_less([0, 1], 1)),
        (np.nan, None),
    ):
        with pytest.raises(DataError):
            threshold_table([True], [0.1], thresholds=thresholds, population=population)


@pytest.mark.parametrize(
    "call", [reliability_curve, threshold_table, detection_curve, clustered_interval]
)
def test_only_true_and_false_say_what_is_right(call):
    values, right = [0.1, 0.4, 0.6, 0.9], np.array([False, True, False, True])
    expected = vars(call(right, values))
    for same in (right.tolist(), right.astype(int), right.astype("f4")):
        for name, value in vars(call(same, values)).items():
            np.testing.assert_array_equal(value, expected[name])
    for other in (
        right.astype(str),
        2 * right,
        np.where(right, 1, -1),
        [0, 1, np.nan, 1],
        [0, 1, 0, None],
    ):
        with pytest.raises(DataError, match="true and false"):
            call(other, values)
