"""Scores of clusters: after the best of all assignments, and those that need none."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from diffclass import DataError
from diffclass.evaluation import classification_scores, cluster_scores


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
