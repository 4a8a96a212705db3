"""Area estimates against the published worked examples and against sampling."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import binomtest

from diffclass.evaluation import stratified_areas
from diffclass.exceptions import DataError

# Olofsson et al. 2014, Table 8: rows are the map, columns the reference; deforestation, forest
# gain, stable forest, stable non-forest
MATRIX = np.array([[66, 0, 5, 4], [0, 55, 8, 12], [1, 0, 153, 11], [2, 1, 9, 313]])
MAPPED = {1: 200_000, 2: 150_000, 3: 3_200_000, 4: 6_450_000}
Z = 1.96  # as there
HECTARES = 0.09  # a Landsat pixel


def points_of(matrix):
    mapped, true = np.indices(matrix.shape) + 1
    return true.ravel().repeat(matrix.ravel()), mapped.ravel().repeat(matrix.ravel())


@pytest.fixture
def olofsson():
    return stratified_areas(*points_of(MATRIX), MAPPED)


def test_areas_are_those_that_olofsson_published(olofsson):
    assert olofsson.total == 1e7
    shares = [olofsson.area_share[c] for c in (1, 2, 3, 4)]
    pixels = [share.value * olofsson.total for share in shares]
    assert round(pixels[0]) == 235_086
    assert round(Z * shares[0].standard_error * olofsson.total) == 68_418
    np.testing.assert_allclose(
        np.multiply(pixels, HECTARES), [21_158, 11_686, 285_770, 581_386], atol=0.6
    )
    halves = [Z * share.standard_error * olofsson.total * HECTARES for share in shares]
    np.testing.assert_allclose(halves, [6_158, 3_756, 15_510, 16_282], rtol=1e-4)


def test_accuracies_are_those_that_olofsson_published(olofsson):
    overall = olofsson.overall_accuracy
    assert (round(overall.value, 2), round(Z * overall.standard_error, 2)) == (0.95, 0.02)
    users = [olofsson.users_accuracy[c] for c in (1, 2, 3, 4)]
    np.testing.assert_allclose([u.value for u in users], [0.88, 0.73, 0.93, 0.96], atol=0.005)
    np.testing.assert_allclose(
        [Z * u.standard_error for u in users], [0.07, 0.10, 0.04, 0.02], atol=0.005
    )
    producers = [olofsson.producers_accuracy[c] for c in (1, 2, 3, 4)]
    np.testing.assert_allclose([p.value for p in producers], [0.75, 0.85, 0.93, 0.96], atol=0.005)
    assert round(Z * producers[0].standard_error, 2) == 0.21


def test_producers_errors_are_equation_7(olofsson):
    sizes, n = np.array(list(MAPPED.values()), dtype=float), MATRIX.sum(axis=1)
    q = MATRIX / n[:, None]
    users, totals = q.diagonal(), sizes @ q
    producers = sizes * users / totals
    for j in range(4):
        spread = sizes**2 * q[:, j] * (1 - q[:, j]) / (n - 1)
        own = sizes[j] ** 2 * (1 - producers[j]) ** 2 * users[j] * (1 - users[j]) / (n[j] - 1)
        others = producers[j] ** 2 * (spread.sum() - spread[j])
        estimate = olofsson.producers_accuracy[j + 1]
        assert estimate.value == pytest.approx(producers[j])
        assert estimate.standard_error == pytest.approx(np.sqrt(own + others) / totals[j])


def test_strata_that_are_no_map_classes_are_stehmans():
    # Stehman 2014, table 2: ten points from each of four strata
    strata = np.repeat(list("ABCD"), 10)
    mapped = np.array(list("AAAAAAABBBABBBBBBBBBBBCCCCCCBBDDDDDDDDDD"))
    truth = np.array(list("AAAAACBABCABBBBBAABBCCCCCDDBBADDDDDDDCCB"))
    found = stratified_areas(
        truth, mapped, {"A": 40_000, "B": 30_000, "C": 20_000, "D": 10_000}, strata=strata
    )
    published = {
        found.area_share["A"]: (0.35, 0.082),
        found.area_share["C"]: (0.20, 0.064),
        found.overall_accuracy: (0.63, 0.085),
        found.users_accuracy["B"]: (0.574, 0.125),
        found.producers_accuracy["B"]: (0.794, 0.116),
    }
    for estimate, (value, error) in published.items():
        assert round(estimate.value, 3) == value
        assert estimate.standard_error == pytest.approx(error, abs=0.001)


def test_intervals_hold_the_truth_as_often_as_they_say():
    rng = np.random.default_rng(3)
    truth = rng.choice([1, 2, 3], 20_000, p=[0.1, 0.3, 0.6])
    mapped = np.where(rng.random(20_000) < 0.8, truth, rng.choice([1, 2, 3], 20_000))
    sizes = {c: int((mapped == c).sum()) for c in (1, 2, 3)}
    members = [np.flatnonzero(mapped == c) for c in (1, 2, 3)]
    hits = np.zeros(4)
    for _ in range(200):
        drawn = np.concatenate([rng.choice(m, 300, replace=False) for m in members])
        found = stratified_areas(truth[drawn], mapped[drawn], sizes)
        for i, (estimate, true) in enumerate(
            [
                (found.overall_accuracy, (truth == mapped).mean()),
                (found.area_share[1], (truth == 1).mean()),
                (found.users_accuracy[2], (truth == 2)[mapped == 2].mean()),
                (found.producers_accuracy[1], (mapped == 1)[truth == 1].mean()),
            ]
        ):
            lower, upper = estimate.interval(0.95)
            hits[i] += lower <= true <= upper
    assert (hits >= 0.9 * 200).all()
    assert (hits < 200).all()


def test_unsampled_strata_and_samples_of_one():
    found = stratified_areas([1, 1, 2, 3], [1, 1, 1, 2], {1: 30, 2: 10, 0: 5, 7: 0})
    assert found.not_sampled == {0: 5}
    assert found.total == 40
    assert found.users_accuracy[1].standard_error == pytest.approx(np.sqrt(2 / 9 / 2))
    assert np.isnan(found.area_share[1].standard_error)
    assert np.isnan(found.producers_accuracy[1].standard_error)  # more of class 1 may be there
    assert np.isnan(found.users_accuracy[3].value)  # nowhere on the map
    report = found.to_dict()
    assert json.loads(json.dumps(report, allow_nan=False)) == report
    assert report["per_class"]["1"]["area"]["value"] == pytest.approx(20)
    assert report["per_class"]["1"]["area"]["interval"] is None
    assert report["per_class"]["3"]["users_accuracy"]["value"] is None


def test_a_perfect_sample_has_exact_limits():
    found = stratified_areas([1] * 20 + [2] * 50, [1] * 20 + [2] * 50, {1: 3000, 2: 1000})
    rates = {c: 1 - binomtest(n, n).proportion_ci(0.95).low for c, n in ((1, 20), (2, 50))}
    for c, rate in rates.items():
        assert found.users_accuracy[c].interval(0.95) == (pytest.approx(1 - rate), 1)
    limits = 0.75 * (1 - rates[1]), 0.75 + 0.25 * rates[2]
    assert found.area_share[1].interval(0.95) == pytest.approx(limits)
    # a quarter of the area may hold missed pixels of class 1
    missed = 1000 * rates[2] / 3000
    assert found.producers_accuracy[1].interval(0.95) == (pytest.approx(1 - missed), 1)
    wrong = stratified_areas([1] * 20, [2] * 20, {2: 30})
    assert wrong.overall_accuracy.interval(0.95) == (0, pytest.approx(rates[1]))


@pytest.mark.parametrize("rates", [(0.02, 0.02, 0.02), (0.05, 0, 0), (0, 0.16, 0), (0, 0, 0.5)])
def test_limits_hold_however_errors_are_distributed(rates):
    """Maps of which samples without an error are drawn with a chance of more than 2.5 %."""
    sizes, counts = {1: 5000, 2: 3000, 3: 2000}, (60, 20, 5)
    points = np.repeat([1, 2, 3], counts)
    lower, _ = stratified_areas(points, points, sizes).overall_accuracy.interval(0.95)
    chance = np.prod((1 - np.array(rates)) ** counts)
    accuracy = 1 - np.dot(rates, [0.5, 0.3, 0.2])
    assert chance > 0.025
    assert lower <= accuracy


@pytest.mark.parametrize(
    ("sizes", "says"),
    [
        ({1: 10}, "stratum 2 has no size"),
        ({1: 10, 2: 0}, "2 points are drawn"),
        ({1: 10, 2: 10, 3: -1}, "stratum 3 has size -1"),
        ({1: np.inf, 2: 10}, "stratum 1 has size inf"),
        ({1: "10", 2: 10}, "stratum 1 has size '10'"),
    ],
)
def test_wrong_sizes(sizes, says):
    with pytest.raises(DataError, match=says):
        stratified_areas([1, 2, 2], [1, 2, 2], sizes)


@pytest.mark.parametrize("dtype", [str, "S1", float, np.uint8, object])
def test_classes_are_alike_whatever_their_type(dtype):
    truth, found = np.array([1, 1, 2, 2, 1, 2]), np.array([1, 1, 1, 2, 2, 2])
    expected = stratified_areas(truth, found, {1: 300, 2: 700})
    again = stratified_areas(truth.astype(dtype), found, {1: 300, 2: 700})
    assert again.overall_accuracy == expected.overall_accuracy
    assert list(again.area_share.values()) == list(expected.area_share.values())
    for unknown in (-1, np.nan, None):
        with pytest.raises(DataError, match="true class of 1 of 6 points is not known"):
            stratified_areas([unknown, *truth[1:]], found, {1: 300, 2: 700})
