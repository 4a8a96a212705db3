"""What to label next: coverage and margin against dense twins, and the choice well apart."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from diffclass import (
    DiffusionClassifier,
    MarkovOperator,
    Warp,
    diffuse_labels,
    markov_operator,
    suggest,
    warped_operator,
)
from diffclass.acquisition import RULES, coverage, medoids, well_apart
from diffclass.acquisition.coverage import one_by_one
from diffclass.acquisition.selection import closeness
from diffclass.exceptions import DataError, ParameterError
from experiments.few_labels.acquisition import Run, plot, table
from experiments.few_labels.acquisition_rules import OF_FEATURES
from experiments.few_labels.acquisition_rules import RULES as COMPARED
from experiments.problems import Problem

N, LABELLED = 60, np.array([3, 20, 41])


@pytest.fixture(scope="module")
def points():
    return np.random.default_rng(3).normal(size=(N, 2))


@pytest.fixture(scope="module")
def operator(points):
    return markov_operator(points, n_neighbors=8)


@pytest.fixture(scope="module")
def y():
    labels = np.full(N, -1)
    labels[LABELLED] = [0, 1, 0]
    return labels


@pytest.fixture(scope="module")
def diffusion(operator, y):
    return diffuse_labels(operator, y, tau=3)


def cost(features, doubt, labels):
    """What is left to learn, densely."""
    distances = cdist(features, features)
    return doubt @ np.minimum(distances[:, labels].min(axis=1), np.quantile(distances, 0.9))


# Coverage


def test_one_by_one_takes_the_largest_gain(points, diffusion):
    doubt = closeness(diffusion)
    distances = cdist(points, points).astype(np.float32)
    nearest = distances[:, LABELLED].min(axis=1)
    chosen, gains = one_by_one(distances, doubt, nearest, 4)
    labels = [*LABELLED]
    for point, gain in zip(chosen, gains, strict=True):
        before = doubt @ distances[:, labels].min(axis=1)
        after = [doubt @ distances[:, [*labels, other]].min(axis=1) for other in range(N)]
        assert after[point] == pytest.approx(min(after), rel=1e-5)
        assert gain == pytest.approx(before - after[point], abs=1e-4)
        labels.append(point)


def test_medoids_are_nearly_the_best_there_are(points):
    """Within 1 - 1/e of the gain of the best three; one by one costs hardly less."""
    doubt = np.random.default_rng(0).random(N)
    found, gains = medoids(points, 3, doubt=doubt, labelled=[3])
    before = cost(points, doubt, [3])
    best = min(cost(points, doubt, [3, *three]) for three in combinations(range(N), 3))
    reached = cost(points, doubt, [3, *found])
    assert before - reached >= (1 - 1 / np.e) * (before - best)
    assert gains.sum() == pytest.approx((before - reached) / before, rel=1e-4)
    distances = cdist(points, points).astype(np.float32)
    greedy, _ = one_by_one(distances, doubt, distances[3], 3)
    assert reached <= cost(points, doubt, [3, *greedy]) * 1.1


def test_of_points_that_cost_hardly_more_the_most_typical_is_taken():
    """A wide cloud with a dense place off its middle."""
    rng = np.random.default_rng(4)
    X = np.concatenate([rng.normal(size=(300, 2)), [0.6, 0.4] + 0.05 * rng.normal(size=(25, 2))])
    distances = cdist(X, X)
    distances = np.minimum(distances, np.quantile(distances, 0.9))
    costs = distances.sum(axis=1)
    near = np.sort(distances, axis=1)[:, 1:21].mean(axis=1)
    expected = np.where(costs <= 1.1 * costs.min(), near, np.inf).argmin()
    found = medoids(X, 1)[0]
    assert found.tolist() == [expected]
    assert expected >= 300  # in the dense place
    assert costs.argmin() < 300


def test_three_of_three_blobs_are_their_middles():
    centres = np.repeat([[0, 0], [9, 0], [0, 9]], [50, 100, 20], axis=0)
    X = np.random.default_rng(1).normal(size=(170, 2)) + centres
    found = medoids(X, 3)[0]
    assert sorted(np.searchsorted([50, 150], found, side="right")) == [0, 1, 2]
    assert np.linalg.norm(X[found] - centres[found], axis=1).max() < 0.7
    # one is the middle of all, which is in the largest
    assert 50 <= medoids(X, 1)[0][0] < 150


def test_odd_points_come_late():
    X = np.random.default_rng(2).normal(size=(200, 2))
    X[:3] = [[60, 0], [0, 60], [-60, 0]]
    assert not np.isin(medoids(X, 8)[0], [0, 1, 2]).any()


def test_where_nothing_is_in_doubt_everything_is():
    X = np.random.default_rng(2).normal(size=(50, 2))
    without = medoids(X, 4, labelled=[7])
    certain = medoids(X, 4, doubt=np.zeros(50), labelled=[7])
    np.testing.assert_array_equal(without[0], certain[0])


def test_labels_are_where_doubt_is():
    X = np.random.default_rng(5).random((400, 2))
    found = medoids(X, 8, doubt=(X[:, 0] > 0.8).astype(float))[0]
    assert (X[found, 0] > 0.75).all()


def test_many_points_are_drawn_by_their_doubt(monkeypatch):
    """A hundredth of the points is in doubt, and nearly all that are drawn are of it."""
    X = np.random.default_rng(6).random((20_000, 3)).astype(np.float32)
    doubt = np.where(X[:, 0] < 0.01, 1.0, 1e-5)
    drawn = []
    draw = coverage._drawn

    def noting(*given):
        drawn.append(draw(*given))
        return drawn[-1]

    monkeypatch.setattr(coverage, "_drawn", noting)
    found, gains = medoids(X, 5, doubt=doubt)
    for (numbers, weight), most in zip(
        drawn, (coverage.N_SUMMED, coverage.N_CANDIDATES), strict=True
    ):
        assert weight.sum() == pytest.approx(most)
        assert (X[numbers, 0] < 0.01) @ weight > 0.9 * most
    assert (X[found, 0] < 0.02).all()
    assert (np.diff(gains) <= 1e-9).all()
    np.testing.assert_array_equal(found, medoids(X, 5, doubt=doubt)[0])
    assert found.tolist() != medoids(X, 5, doubt=doubt, random_state=1)[0].tolist()


def test_many_labels():
    X = np.random.default_rng(7).random((40_000, 2)).astype(np.float32)
    labelled = np.flatnonzero(X[:, 0] < 0.7)
    assert len(labelled) > coverage._MOST_LABELS
    assert (X[medoids(X, 3, labelled=labelled)[0], 0] > 0.7).all()


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 70), st.integers(0, 2**31), st.integers(1, 10), st.floats(1e-4, 1e4))
def test_laws_of_medoids(n, seed, n_points, unit):
    """Free points only, each once, gains between 0 and 1, and none of it by the unit."""
    rng = np.random.default_rng(seed)
    X, free = rng.normal(size=(n, 2)), rng.random(n) < 0.5
    doubt = rng.random(n) * (rng.random(n) < 0.7)
    found, gains = medoids(X, n_points, doubt=doubt, labelled=[0], free=free)
    assert free[found].all()
    assert len(set(found.tolist())) == len(found) == min(n_points, free.sum())
    assert (gains >= 0).all()
    assert gains.sum() <= 1 + 1e-5
    _, again = medoids(unit * X, n_points, doubt=doubt, labelled=[0], free=free)
    np.testing.assert_allclose(again, gains, atol=1e-4)


# The margin


def test_margin_takes_the_least(operator, diffusion):
    np.testing.assert_allclose(closeness(diffusion), 1 - diffusion.margin)
    found = suggest(operator, diffusion, LABELLED, 5, rule="margin")
    margins = diffusion.margin.copy()
    margins[LABELLED] = 2
    assert found.points.tolist() == np.argsort(margins, kind="stable")[:5].tolist()
    np.testing.assert_allclose(found.scores, 1 - margins[found.points])


def test_equal_margins_go_by_number():
    walk = markov_operator(np.arange(12.0)[:, None], n_neighbors=2)
    labels = np.full(12, -1)
    labels[[0, 11]] = [0, 1]
    found = suggest(walk, diffuse_labels(walk, labels, tau=64), [0, 11], 2, rule="margin")
    assert found.points.tolist() == [5, 6]


def test_margins_are_those_of_the_map_with_its_prior_and_warping():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(240, 2)) + np.repeat([[0, 0], [3, 0], [0, 3], [3, 3]], 60, axis=0)
    y = np.where(np.arange(240) % 20 == 0, np.arange(240) // 60, -1)
    order = {}
    for name, options in {
        "plain": {},
        "prior": {"class_prior": [1.3, 1, 1, 1]},
        "warped": {"warp": Warp(rounds=2)},
    }.items():
        clf = DiffusionClassifier(label_mode="free", **options).fit(X, y)
        labelled = np.flatnonzero(y >= 0)
        found = suggest(clf.walk_, clf.diffusion_, labelled, 20, rule="margin").points
        np.testing.assert_allclose(clf.margin_[found], np.sort(clf.margin_[y < 0])[:20], atol=1e-5)
        order[name] = found.tolist()
    assert order["plain"] != order["prior"]
    assert order["plain"] != order["warped"]


# The choice


def test_candidates_only_and_no_more_than_there_are(operator, diffusion):
    candidates = np.zeros(N, dtype=bool)
    candidates[[3, 5, 6]] = True
    for rule in RULES:
        found = suggest(operator, diffusion, LABELLED, 9, rule=rule, candidates=candidates)
        assert sorted(found.points.tolist()) == [5, 6]
        assert len(found) == 2
    assert candidates.sum() == 3  # as it was


@pytest.mark.parametrize("rule", RULES)
def test_distances_in_the_plane(rule, operator, diffusion, points):
    found = suggest(
        operator, diffusion, LABELLED, 6, rule=rule, features=points,
        coordinates=points, min_distance=0.9,
    )  # fmt: skip
    chosen = points[found.points]
    apart = np.linalg.norm(chosen[:, None] - chosen[None], axis=2)[np.triu_indices(len(found), 1)]
    assert apart.min() >= 0.9
    assert len(found) == 6  # others come in the place of those too near
    assert not np.isin(found.points, LABELLED).any()
    assert found.rule == rule


@pytest.mark.parametrize("hops", [1, 2, 3])
@pytest.mark.parametrize("rule", RULES)
def test_distances_in_hops(rule, hops, operator, diffusion):
    found = suggest(operator, diffusion, LABELLED, 5, rule=rule, min_distance=hops)
    for place, point in enumerate(found.points[:-1]):
        group = np.where(np.arange(N) == point, 0, -1)
        assert operator.hops(group)[found.points[place + 1 :], 0].min() >= hops


@pytest.mark.parametrize("in_plane", [True, False])
@pytest.mark.parametrize("rule", RULES)
def test_a_point_just_as_far_as_asked_for_is_far_enough(rule, in_plane):
    places = np.arange(12.0)[:, None]
    chain = MarkovOperator.from_affinity((abs(places - places.T) <= 1).astype(float))
    given = {"coordinates": places, "features": places} if in_plane else {}
    diffusion = diffuse_labels(chain, np.array([0, *[-1] * 10, 1]), tau=20)
    given["candidates"] = np.isin(np.arange(12), [4, 7])
    for distance, n_found in ((3, 2), (4, 1)):
        found = suggest(chain, diffusion, [0, 11], 2, rule=rule, min_distance=distance, **given)
        assert len(found) == n_found


def test_who_is_too_near_makes_room_for_others():
    asked = []

    def choice(chosen, free, n):
        asked.append((list(chosen), n))
        points = np.flatnonzero(free)[:n]
        return points, -points.astype(float)

    def near(point):
        return abs(np.arange(10) - point) < 3

    points, scores = well_apart(choice, np.ones(10, dtype=bool), 5, near)
    assert points.tolist() == [0, 3, 6, 9]
    assert scores.tolist() == [0, -3, -6, -9]
    assert asked[:3] == [([], 5), ([0, 3], 3), ([0, 3, 6], 1)]


@pytest.mark.parametrize("rule", RULES)
def test_the_order_of_the_points_does_not_matter(rule, operator, points, y):
    order = np.random.default_rng(8).permutation(N)
    permuted = markov_operator(points[order], n_neighbors=8)
    found = suggest(operator, diffuse_labels(operator, y), LABELLED, 5, rule=rule, features=points)
    labelled = np.flatnonzero(y[order] >= 0)
    again = suggest(
        permuted, diffuse_labels(permuted, y[order]), labelled, 5, rule=rule,
        features=points[order],
    )  # fmt: skip
    assert order[again.points].tolist() == found.points.tolist()


@pytest.mark.parametrize("with_features", [True, False])
def test_a_blob_without_labels_is_found(with_features):
    centres = np.repeat([[0, 0], [6, 0], [3, 6]], 40, axis=0)
    X = (np.random.default_rng(1).normal(size=(120, 2)) + centres).astype(np.float32)
    labels = np.full(120, -1)
    labels[[0, 1, 40, 41]] = [0, 0, 1, 1]
    walk = markov_operator(X, n_neighbors=10)
    features = X if with_features else None
    diffusion = diffuse_labels(walk, labels)
    found = suggest(walk, diffusion, [0, 1, 40, 41], 2, features=features)
    assert found.points.max() >= 80
    first = suggest(walk, n_points=6, features=features)
    assert len(set((first.points // 40).tolist())) == 3
    assert len(suggest(walk, None, first.points, 4, features=features)) == 4


@pytest.mark.parametrize("rule", RULES)
def test_a_component_without_labels(rule):
    X = np.random.default_rng(2).normal(size=(60, 2)) + np.repeat([[0, 0], [99, 0]], 30, axis=0)
    labels = np.full(60, -1)
    labels[[0, 1]] = [0, 1]
    walk = markov_operator(X, n_neighbors=5)
    assert walk.n_connected_components == 2
    found = suggest(walk, diffuse_labels(walk, labels), [0, 1], 3, rule=rule, min_distance=2)
    assert np.isfinite(found.scores).all()
    assert (found.points >= 30).any()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"rule": "luck"}, "rule"),
        ({"n_points": 0}, "n_points"),
        ({"min_distance": -1.0}, "min_distance"),
        ({"candidates": np.ones(3, dtype=bool)}, "candidates"),
        ({"candidates": np.ones(N)}, "candidates"),
        ({"coordinates": np.ones((3, 2))}, "coordinates"),
        ({"features": np.ones((3, 2))}, "features"),
        ({"labelled": [N]}, "labelled"),
        ({"labelled": [0.5]}, "labelled"),
    ],
)
def test_wrong_parameters(options, says, operator, diffusion):
    given = {"labelled": LABELLED, "n_points": 2} | options
    with pytest.raises(ParameterError, match=says):
        suggest(operator, diffusion, **given)


def test_wrong_data(operator, points):
    with pytest.raises(DataError, match="label at least one point"):
        suggest(operator, rule="margin")
    for name in ("features", "coordinates"):
        with pytest.raises(DataError, match=f"{name} holds NaN"):
            suggest(operator, **{name: np.where(points > 1, np.nan, points)})


@pytest.mark.parametrize("dtype", ["u1", "u8", "i2", "f2", ">f4"])
def test_the_type_of_places_does_not_matter(dtype, operator):
    places = np.random.default_rng(0).integers(0, 255, (N, 2))
    expected, found = (
        suggest(operator, n_points=9, features=of, coordinates=of, min_distance=60)
        for of in (places.astype(float), places.astype(dtype))
    )
    np.testing.assert_array_equal(found.points, expected.points)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("label_mode", ["free", "summed", "absorbing"])
def test_single_and_double_precision_ask_for_the_same_points(rule, label_mode):
    """Blobs on a line: at the far ones nearly nothing arrives, in single precision nothing."""
    rng = np.random.default_rng(5)
    X = np.column_stack([np.linspace(0, 90, 900), rng.random(900)])
    y = np.full(900, -1)
    y[[10, 60, 120]] = [0, 1, 0]
    found = []
    for dtype in (np.float32, np.float64):
        walk = markov_operator(X.astype(dtype), n_neighbors=8)
        diffusion = diffuse_labels(walk, y, label_mode=label_mode, tau=200)
        found.append(
            suggest(
                walk, diffusion, [10, 60, 120], 8, rule=rule, features=X, min_distance=3
            ).points.tolist()
        )
    assert found[0] == found[1]


@pytest.mark.parametrize("rule", RULES)
def test_a_warped_walk_is_merged(rule, operator, y):
    scores = np.random.default_rng(0).random((N, 2))
    scores /= scores.sum(axis=1, keepdims=True)
    warped = warped_operator(operator, scores, y=y)
    K, s = operator.affinity.toarray(), warped.scores
    np.testing.assert_allclose(warped.merged().affinity.toarray(), K * (s @ s.T), rtol=1e-12)
    diffusion = diffuse_labels(warped, y, tau=3)
    found = suggest(warped, diffusion, LABELLED, 4, rule=rule).points
    again = suggest(warped.merged(), diffusion, LABELLED, 4, rule=rule).points
    np.testing.assert_array_equal(found, again)


# The experiment


@pytest.mark.parametrize("rule", list(COMPARED))
def test_a_run_asks_until_it_has_its_labels(rule):
    centres = np.repeat([[0, 0], [9, 0], [0, 9]], 60, axis=0)
    X = np.random.default_rng(4).normal(size=(180, 2)) + centres
    truth = np.repeat([1, 2, 3], 60)
    truth[::5] = 0
    walk = markov_operator(X, n_neighbors=8)
    run = Run(Problem("blobs", X, truth), walk, rule, seed=1)
    for budget in (3, 10, 25):
        accuracy = run.label(budget)
        labelled = run.y >= 0
        assert labelled.sum() == budget
        np.testing.assert_array_equal(run.y[labelled], truth[labelled])
        assert not (labelled & run.scored).any()
        assert not (run.scored[run.seen]).any()
    assert accuracy > 0.95
    assert 3 <= run.met_at <= 25
    assert set(OF_FEATURES) < set(COMPARED)


def test_the_table_has_a_row_for_each_rule():
    rows = [
        {
            "problem": "digits", "rule": rule, "seed": seed, "n_classes": 10, "n_labels": n,
            "accuracy": value + seed / 100, "met_at": met,
        }
        for rule, n, value, met in [
            ("random", 10, 0.5, 0), ("random", 100, 0.7, 0),
            ("coverage", 10, 0.8, 12), ("coverage", 100, 0.9, 12),
        ]
        for seed in (0, 1)
    ]  # fmt: skip
    lines = table(rows)
    assert lines[2:] == [
        "| choosing | digits | random | 50.5 ± 0.7 |  |  | 70.5 ± 0.7 | > 100 |",
        "| choosing | digits | coverage | 80.5 ± 0.7 |  |  | 90.5 ± 0.7 | 12 |",
    ]
    assert len(plot(rows).axes[0].lines) == 2


@pytest.mark.parametrize("power", [-100, 100])
def test_the_unit_of_features_does_not_matter(power):
    features = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    points, gains = medoids(features, 4, labelled=[0])
    again = medoids(np.ldexp(features, power), 4, labelled=[0])
    np.testing.assert_array_equal(again[0], points)
    np.testing.assert_allclose(again[1], gains, rtol=1e-5)


def test_a_diffusion_of_other_points_is_refused():
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.where(np.arange(60) % 9, -1, np.arange(60) % 2)
    other = diffuse_labels(markov_operator(X, n_neighbors=5), y)
    operator = markov_operator(X[:50], n_neighbors=5)
    with pytest.raises(DataError, match="diffusion is of 60 points, the operator of 50"):
        suggest(operator, other, n_points=2)
    with pytest.raises(ParameterError, match="diffusion"):
        suggest(operator, y[:50], n_points=2)
