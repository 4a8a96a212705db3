"""Scores of classes, clusters and detections against scikit-learn's, and their laws."""

from __future__ import annotations

import json
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn import metrics

from diffclass.evaluation import classification_scores, cluster_scores, detection_curve
from diffclass.evaluation.scores import kappa_standard_error
from diffclass.exceptions import DataError


def test_scores_are_scikit_learns():
    rng = np.random.default_rng(0)
    truth = rng.choice([2, 5, 9], 300)
    found = np.where(rng.random(300) < 0.7, truth, rng.choice([2, 5, 9], 300))
    scores = classification_scores(truth, found)
    assert scores.overall_accuracy == pytest.approx(metrics.accuracy_score(truth, found))
    assert scores.average_accuracy == pytest.approx(metrics.balanced_accuracy_score(truth, found))
    assert scores.kappa == pytest.approx(metrics.cohen_kappa_score(truth, found))
    precision, recall, _, support = metrics.precision_recall_fscore_support(truth, found)
    for i, value in enumerate([2, 5, 9]):
        score = scores.per_class[value]
        assert score.precision == pytest.approx(precision[i])
        assert score.recall == pytest.approx(recall[i])
        assert score.n_true == support[i]


def test_a_value_that_is_no_class_counts_as_wrong():
    scores = classification_scores([1, 1, 2, 2], [1, 0, 2, 0])
    assert scores.overall_accuracy == 0.5
    assert scores.average_accuracy == 0.5
    assert np.isnan(scores.per_class[0].recall)
    text = json.dumps(scores.to_dict(), allow_nan=False)
    assert json.loads(text)["per_class"]["0"]["recall"] is None


def test_one_class_only_has_no_kappa():
    assert np.isnan(classification_scores([1, 1], [1, 1]).kappa)


@pytest.mark.parametrize(("truth", "found"), [([], []), ([1], [1, 2]), ([[1]], [[1]])])
def test_scores_of_nothing(truth, found):
    with pytest.raises(DataError, match="the same points"):
        classification_scores(truth, found)


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


def test_the_error_of_kappa_is_the_spread_over_samples():
    rng = np.random.default_rng(0)
    p = np.array([[0.3, 0.05, 0.02], [0.04, 0.2, 0.06], [0.03, 0.05, 0.25]])
    kappas = []
    for confusion in rng.multinomial(400, p.ravel(), size=4000).reshape(-1, 3, 3):
        q = confusion / 400
        chance = q.sum(axis=0) @ q.sum(axis=1)
        kappas.append((q.trace() - chance) / (1 - chance))
    assert kappa_standard_error(p * 400) == pytest.approx(np.std(kappas), rel=0.05)


# Clusters


@pytest.mark.parametrize("n_clusters", [2, 3, 5])
def test_the_assignment_is_the_best_of_all(rng, n_clusters):
    truth, clusters = rng.integers(1, 5, size=200), 10 * rng.integers(0, n_clusters, size=200)
    found = cluster_scores(truth, clusters)
    names = np.unique(clusters).tolist()
    classes = [1, 2, 3, 4] + [-1] * max(n_clusters - 4, 0)
    best = max(
        np.mean(truth == np.array([order[names.index(c)] for c in clusters.tolist()]))
        for order in permutations(classes, n_clusters)
    )
    assert found.scores.overall_accuracy == pytest.approx(best)
    assert len(found.assignment) == min(n_clusters, 4)


def test_names_do_not_matter():
    truth = np.array([1, 1, 2, 2, 3, 3, 3])
    found = cluster_scores(truth, np.array([5, 5, 0, 0, 2, 2, 2]))
    assert found.assignment == {5: 1, 0: 2, 2: 3}
    assert found.scores.overall_accuracy == found.scores.kappa == 1
    assert found.mutual_information == found.adjusted_rand == pytest.approx(1)


def test_with_a_cluster_for_each_class_they_are_those_of_the_named_map(rng):
    truth, clusters = rng.integers(1, 4, size=100), rng.integers(1, 4, size=100)
    found = cluster_scores(truth, clusters)
    named = np.array([found.assignment[c] for c in clusters.tolist()])
    assert found.scores.kappa == classification_scores(truth, named).kappa


def test_clusters_too_many_and_too_few():
    split = cluster_scores([1, 1, 1, 1], [1, 1, 1, 2])
    assert split.scores.overall_accuracy == 0.75
    assert split.scores.per_class[-1].n_predicted == 1
    merged = cluster_scores([1, 1, 1, 2], [3, 3, 3, 3])
    assert merged.scores.overall_accuracy == 0.75
    assert merged.scores.average_accuracy == 0.5
    assert merged.mutual_information == 0
    assert merged.to_dict()["assignment"] == {"3": 1}


@pytest.mark.parametrize(
    ("truth", "clusters"),
    [([1, 2], [1]), ([], []), ([0.5, 1.0], [1, 2]), (["a", "b"], [1, 2]), ([-1, 1], [1, 2])],
    ids=["lengths", "empty", "numbers", "words", "negative"],
)
def test_refusals(truth, clusters):
    with pytest.raises(DataError):
        cluster_scores(truth, clusters)


# Detections


def test_ties_count_one_half():
    curve = detection_curve([1, 0, 1, 0], [2.0, 2.0, 2.0, 2.0])
    assert curve.area == 0.5
    np.testing.assert_array_equal(curve.false_alarms, [0, 1])
    np.testing.assert_array_equal(curve.detected, [0, 1])


@pytest.mark.parametrize("n_values", [5, 10_000])
def test_area_is_scikit_learns(rng, n_values):
    truth = rng.random(500) < 0.1
    scores = rng.integers(n_values, size=500) + truth
    assert detection_curve(truth, scores).area == pytest.approx(
        metrics.roc_auc_score(truth, scores)
    )


def test_detected_at_a_share_of_false_alarms():
    curve = detection_curve([1, 0, 1, 0, 0, 0], [6.0, 5, 4, 3, 2, 1])
    assert [curve.detected_at(share) for share in (0, 0.24, 0.25, 1)] == [0.5, 0.5, 1, 1]
    assert curve.to_dict()["n_anomalies"] == 2


@pytest.mark.parametrize(
    ("truth", "scores", "says"),
    [
        ([0, 0], [1.0, 2], "0 of 2 points are anomalies"),
        ([1, 1], [1.0, 2], "2 of 2 points are anomalies"),
        ([0, 1], [1.0, np.nan], "finite"),
        ([0, 1, 1], [1.0, 2], "shape"),
    ],
)
def test_refuses(truth, scores, says):
    with pytest.raises(DataError, match=says):
        detection_curve(truth, scores)
