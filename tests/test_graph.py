"""The one way from points to an operator, and from new points to the graph."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.neighbors import KNeighborsTransformer

from diffclass import (
    DiffusionClassifier,
    DiffusionMap,
    EigenfunctionRegressor,
    GeometricHarmonics,
    PointGraph,
    markov_operator,
)
from diffclass.exceptions import DataError, ParameterError
from diffclass.graph import Neighborhood, find_neighbors
from diffclass.kernels import (
    Correlation,
    Directed,
    Gaussian,
    LocalDiscriminant,
    SharedNeighbors,
    isotropic,
)
from diffclass.neighbors import (
    ExactSearch,
    NeighborSearch,
    NNDescentSearch,
    RadiusSearch,
)
from tests import naive


def first_column(X):
    return X[:, 0]


def name_of(kernel):
    """The kernel's text without addresses of functions, which differ between processes."""
    return re.sub(r"<function (\w+) at \w+>", r"\1", repr(kernel))


@pytest.fixture
def points(rng):
    return rng.normal(size=(80, 3))


@pytest.fixture
def labels(points):
    return np.where(np.arange(80) % 8 == 0, points[:, 0] > 0, -1)


# --- the graph


def test_steps_are_the_normalised_affinities(points, rng):
    new = rng.normal(size=(7, 3))
    kernel = Gaussian(bandwidth=0.7)
    graph = PointGraph.from_points(points, n_neighbors=79, kernel=kernel, alpha=0.5)
    K = naive.gaussian(*naive.neighbors_graph(points, 79), 0.7)
    k_new = np.exp(-naive.squared_distances(new, points) / 0.7)
    search = clone(graph.search).set_params(n_neighbors=80).fit(points)
    wide = dataclasses.replace(graph, search=search)
    np.testing.assert_allclose(wide.affinities_to(new).toarray(), k_new, rtol=1e-9)
    expected = k_new / np.sqrt(K.sum(axis=1))
    np.testing.assert_allclose(wide.step_weights(new).toarray(), expected, rtol=1e-9)
    assert len(graph) == 80


@pytest.mark.parametrize("kernel", [Gaussian(), SharedNeighbors()])
def test_distances_to_the_seventh_neighbour_are_found_once(points, kernel, monkeypatch):
    asked, found = [], isotropic.squared_neighbor_distances

    def counted(graph, neighbor, **named):
        asked.append(neighbor)
        return found(graph, neighbor, **named)

    monkeypatch.setattr(isotropic, "squared_neighbor_distances", counted)
    graph = PointGraph.from_points(points, kernel=kernel)
    assert asked == [7]
    monkeypatch.undo()
    squared = np.sort(naive.squared_distances(points, points), axis=1)[:, 7]
    assert graph.scales == pytest.approx(np.sqrt(squared), rel=1e-5)


def test_the_fitted_points_say_who_is_within_reach(points, rng):
    new = points[rng.integers(80, size=60)] + rng.normal(size=(60, 3)) * rng.choice([1, 9], (60, 1))
    graph = PointGraph.from_points(points, kernel=Gaussian(bandwidth=1e-3))
    novelty = graph.novelty(new)
    scales = np.sqrt(np.sort(naive.squared_distances(points, points), axis=1)[:, 7])
    distances = np.sqrt(naive.squared_distances(new, points))
    nearest = np.argsort(distances, axis=1)[:, :12]
    ratios = np.take_along_axis(distances / scales, nearest, axis=1)
    assert 5 < (novelty <= 5).sum() < 55
    np.testing.assert_allclose(novelty, ratios.min(axis=1), rtol=1e-5)


def test_graphs_are_frozen(points):
    graph = PointGraph.from_points(points)
    with pytest.raises(dataclasses.FrozenInstanceError):
        graph.kernel = None
    with pytest.raises(dataclasses.FrozenInstanceError):
        graph.kernel.scales = np.ones(80)


def test_precomputed_affinities(points):
    made = PointGraph.from_points(points, kernel=Gaussian(bandwidth="global"), alpha=1.0)
    graph = find_neighbors(points, Gaussian(), Neighborhood()).graph
    K = Gaussian(bandwidth="global").affinity(graph, points)
    for form in (K, K.toarray()):
        graph = PointGraph.from_affinity(form, alpha=1.0)
        np.testing.assert_allclose(graph.operator.affinity.data, made.operator.affinity.data)
        new = made.affinities_to(points[:9])
        np.testing.assert_allclose(
            graph.step_weights(new).toarray(), made.step_weights(points[:9]).toarray()
        )
    assert graph.kernel is graph.search is graph.recall is graph.scales is None
    assert not graph.novelty(new).any()
    with pytest.raises(DataError, match="affinities to 80 fitted points"):
        graph.step_weights(np.ones((2, 3)))
    with pytest.raises(DataError, match="negative"):
        graph.step_weights(sp.csr_array(-np.ones((2, 80))))


# --- kernels keep what they were told, and nothing else


class Counted(Gaussian):
    """Counts how often it places points, in all its copies."""

    placed = 0

    def place(self, X, *, y=None, scores=None):
        type(self).placed += 1
        return super().place(X, y=y, scores=scores)


class CountedField(Directed):
    """The same, along the earlier posteriors."""

    placed = 0

    def place(self, X, *, y=None, scores=None):
        type(self).placed += 1
        return super().place(X, y=y, scores=scores)


@pytest.mark.parametrize("inner", [Counted, CountedField])
@pytest.mark.parametrize("over", [lambda k: k, SharedNeighbors, LocalDiscriminant])
def test_points_are_placed_once_per_fit(points, labels, monkeypatch, inner, over):
    monkeypatch.setattr(inner, "placed", 0)
    kernel = over(inner())
    clf = DiffusionClassifier(kernel=kernel).fit(points, labels)
    assert inner.placed == 1
    clf.predict(points[:5])
    assert inner.placed == 1
    if not kernel.uses_scores:
        found = DiffusionMap(2, kernel=kernel).fit(points)
        assert inner.placed == 2
        EigenfunctionRegressor(found).fit(points, points[:, 0]).predict(points[:5])
        assert inner.placed == 3


# --- searches


class CountedSearch(KNeighborsTransformer):
    """Counts how often it is fitted, in all its copies."""

    fits = 0

    def fit(self, X, y=None):
        type(self).fits += 1
        return super().fit(X, y)


@pytest.fixture
def counted(monkeypatch):
    monkeypatch.setattr(CountedSearch, "fits", 0)
    return CountedSearch(n_neighbors=9)


@pytest.mark.parametrize("order", ["C", "F"])
def test_neighbours_found_before_are_taken_where_features_and_search_are_alike(
    points, labels, counted, order
):
    points = np.asarray(points, order=order)
    how = Neighborhood(search=counted)
    first = find_neighbors(points, Gaussian(), how)
    again = find_neighbors(points, LocalDiscriminant(), how, earlier=first)
    assert again.graph is first.graph
    assert again.search is first.search
    assert CountedSearch.fits == 1
    kernel = LocalDiscriminant()
    found = again.point_graph(kernel, alpha=0.5, y=labels)
    alone = markov_operator(points, kernel=kernel, search=counted, alpha=0.5, y=labels)
    np.testing.assert_array_equal(found.operator.affinity.data, alone.affinity.data)


@pytest.mark.parametrize(
    "changed",
    [
        {"kernel": Correlation(threshold=0.3)},
        {"kernel": Directed(first_column)},
        {"how": Neighborhood(search=CountedSearch(n_neighbors=8))},
        {"how": Neighborhood(search=KNeighborsTransformer(n_neighbors=9))},
        {"X": np.ones((80, 3)) * np.arange(80.0)[:, None]},
    ],
    ids=name_of,
)
def test_otherwise_they_are_searched_again(points, counted, changed):
    given = {"X": points, "kernel": Gaussian(), "how": Neighborhood(search=counted)}
    first = find_neighbors(**given)
    again = find_neighbors(**given | changed, earlier=first)
    assert again.search is not first.search
    np.testing.assert_array_equal(
        again.graph.toarray(), find_neighbors(**given | changed).graph.toarray()
    )


def test_a_given_search_is_copied(points, counted):
    graph = PointGraph.from_points(points, search=counted)
    assert not hasattr(counted, "n_features_in_")
    assert isinstance(graph.search, CountedSearch)
    assert graph.recall is None
    assert PointGraph.from_points(points, search=ExactSearch(3)).recall == 1.0


@pytest.mark.parametrize(
    "search",
    [
        ExactSearch(),
        NNDescentSearch(),
        RadiusSearch(1.0),
        KNeighborsTransformer(),
    ],
)
def test_searches_follow_the_protocol(search):
    assert isinstance(search, NeighborSearch)


@pytest.mark.parametrize("search", [3, "precomputed", BaseEstimator()])
def test_what_is_no_search_is_refused(points, labels, search):
    with pytest.raises(ParameterError, match="cannot search; pass a search"):
        markov_operator(points, search=search)
    with pytest.raises(ParameterError, match="cannot search; pass a search"):
        DiffusionClassifier(search=search).fit(points, labels)


# --- who uses it


def test_every_estimator_keeps_its_graph(points, labels):
    estimators = [
        DiffusionClassifier().fit(points, labels),
        DiffusionMap(2).fit(points),
        GeometricHarmonics().fit(points, points[:, 0]),
        EigenfunctionRegressor().fit(points, points[:, 0]).embedding_,
    ]
    for estimator in estimators:
        assert isinstance(estimator.graph_, PointGraph)
        assert len(estimator.graph_) == 80
        assert estimator.graph_.recall == 1.0


def test_a_graph_is_shown_in_a_line():
    graph = PointGraph.from_points(np.random.default_rng(0).normal(size=(3000, 4)))
    for shown in (repr(graph), repr(graph.operator)):
        assert "3,000 points" in shown
        assert len(shown) < 120
