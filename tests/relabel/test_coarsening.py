"""Graphs of aggregates: who joins whom, and the way between points and aggregates."""

from __future__ import annotations

import numpy as np
import pytest

from diffclass import MarkovOperator, markov_operator
from diffclass.exceptions import DataError, ParameterError
from diffclass.relabel.coarsening import aggregate_means, coarsen, neighbor_aggregates
from tests import naive

N = 600


def points():
    return np.random.default_rng(0).normal(size=(N, 2)).astype(np.float32)


@pytest.fixture(scope="module")
def operator():
    return markov_operator(points(), n_neighbors=15, random_state=0)


@pytest.fixture(scope="module")
def coarse(operator):
    return coarsen(operator, points(), n_neighbors=6, random_state=0)


def test_aggregates_are_neighbors_and_none_is_empty(operator, coarse):
    dense = operator.affinity.toarray()
    order = np.argsort(-(dense > 0).sum(axis=1), kind="stable")
    expected = naive.neighbor_aggregates(dense * (1 - np.eye(N)), order)
    assert coarse.aggregates.tolist() == expected
    assert np.bincount(coarse.aggregates).min() > 0
    assert len(coarse) < N / 4


def test_the_coarse_graph_is_that_of_the_means(operator, coarse):
    means = aggregate_means(points(), neighbor_aggregates(operator))
    expected = markov_operator(means, n_neighbors=6, random_state=0)
    assert (coarse.operator.affinity != expected.affinity).nnz == 0


def test_what_is_lifted_and_restricted_is_the_same(coarse):
    values = np.arange(len(coarse))
    assert coarse.lift(values)[coarse.first_points].tolist() == values.tolist()
    assert coarse.restrict(np.arange(N)).tolist() == values.tolist()
    assert coarse.restrict_labels(coarse.lift(values)).tolist() == values.tolist()
    assert coarse.lift(np.ones((len(coarse), 3))).shape == (N, 3)


def test_an_aggregate_has_the_label_of_its_last_labelled_point(coarse):
    y = np.full(N, -1)
    y[[0, 1, 300]] = 7, 7, 2
    labels = coarse.restrict_labels(y)
    assert set(np.flatnonzero(labels >= 0)) == set(coarse.restrict(np.array([0, 1, 300])))
    assert labels[coarse.aggregates[300]] == 2


@pytest.mark.parametrize(("given", "found"), [(np.float32, np.float32), (np.int64, np.float64)])
def test_means_of_aggregates(given, found):
    X = np.array([[0, 2], [4, 4], [3, 6]], dtype=given)
    means = aggregate_means(X, np.array([1, 0, 1]))
    assert means.tolist() == [[4, 4], [1.5, 4]]
    assert means.dtype == found


def test_what_cannot_be_coarsened_is_refused(operator):
    with pytest.raises(DataError, match=r"X has the shape \(3, 2\).* 600 points"):
        coarsen(operator, points()[:3])
    everyone = MarkovOperator.from_affinity(np.ones((5, 5)))
    with pytest.raises(ParameterError, match="all points are one aggregate"):
        coarsen(everyone, points()[:5])


@pytest.mark.parametrize(
    "kind", [lambda y: y.tolist(), lambda y: np.where(y < 0, None, "corn"), lambda y: y * 1.0]
)
def test_labels_of_any_kind_are_restricted(kind):
    X = np.random.default_rng(0).normal(size=(200, 2))
    y = np.where(np.arange(200) % 9, -1, 3)
    coarse = coarsen(markov_operator(X, n_neighbors=8), X, n_neighbors=8)
    numbers, others = coarse.restrict_labels(y), coarse.restrict_labels(kind(y))
    assert [x != -1 for x in others] == (numbers >= 0).tolist()
    with pytest.raises(DataError, match="y has 199 entries; there are 200 points"):
        coarse.restrict_labels(y[1:])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"operator": np.eye(50)}, "operator"),
        ({"X": np.full((50, 2), "a")}, "not a table of real numbers"),
        ({"X": np.full((50, 2), np.nan)}, "NaN"),
        ({"X": np.zeros((49, 2))}, "50 points"),
        ({"n_neighbors": "many"}, "n_neighbors"),
    ],
    ids=str,
)
def test_coarsening_refuses_what_is_no_graph_and_its_points(change, message):
    X = np.random.default_rng(0).normal(size=(50, 2))
    given = {"operator": markov_operator(X, n_neighbors=8), "X": X, "n_neighbors": 8} | change
    with pytest.raises((DataError, ParameterError, TypeError), match=message):
        coarsen(given.pop("operator"), given.pop("X"), **given)
