"""Affinities against their formulas."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diffclass import markov_operator, neighbors_graph
from diffclass.exceptions import ParameterError
from diffclass.kernels import (
    DensityWeighted,
    Gaussian,
    Isotropic,
    SharedNeighbors,
)
from diffclass.kernels.isotropic import OwnScale
from diffclass.neighbors import ExactSearch
from tests import naive


def rational(u):
    return 1 / (1 + u)


def compact(u):
    return np.maximum(1 - u, 0)


@pytest.fixture
def points(rng):
    return rng.normal(size=(80, 3))


def graphs(X, k=9):
    return neighbors_graph(X, k), *naive.neighbors_graph(X, k)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("bandwidth", [0.7, np.float32(2), 3])
def test_gaussian_of_one_bandwidth(points, bandwidth, dtype):
    graph, distances, mask = graphs(points.astype(dtype))
    before = graph.data.copy()
    K = Gaussian(bandwidth=bandwidth).affinity(graph, points)
    assert K.dtype == dtype
    expected = naive.gaussian(distances, mask, float(bandwidth))
    np.testing.assert_allclose(K.toarray(), expected, rtol=1e-12 if dtype == np.float64 else 2e-4)
    assert (graph.data == before).all()


@pytest.mark.parametrize("neighbor", [1, 4, 7, 50])
def test_self_tuning(points, neighbor):
    graph, distances, mask = graphs(points)
    s = naive.scales(distances, mask, neighbor)
    K, fitted = Gaussian(neighbor=neighbor).fit(graph, points)
    np.testing.assert_allclose(fitted.scales, s, rtol=1e-12)
    np.testing.assert_allclose(
        K.toarray(), naive.gaussian(distances, mask, np.outer(s, s)), rtol=1e-12
    )
    assert abs(K - K.T).max() < 1e-15
    assert (K.diagonal() == 1).all()


def test_global_bandwidth_is_the_median(points):
    graph, distances, mask = graphs(points)
    epsilon = np.median(naive.scales(distances, mask, 7) ** 2)
    K = Gaussian(bandwidth="global").affinity(graph, points)
    np.testing.assert_allclose(K.toarray(), naive.gaussian(distances, mask, epsilon), rtol=1e-12)


@pytest.mark.parametrize("profile", [rational, compact])
def test_any_profile(points, profile):
    graph, distances, mask = graphs(points)
    K = Isotropic(profile, bandwidth=0.5).affinity(graph, points)
    np.testing.assert_allclose(K.toarray(), np.where(mask, profile(distances / 0.5), 0), rtol=1e-12)


def test_scales_where_neighbors_coincide():
    """A point with more duplicates than j takes its farthest neighbour's distance."""
    X = np.array([[0.0], [0.0], [0.0], [2.0], [7.0]])
    kernel = Gaussian(neighbor=1)
    _, fitted = kernel.fit(neighbors_graph(X, 4), X)
    assert fitted.scales.tolist() == [7, 7, 7, 2, 5]
    _, fitted = kernel.fit(neighbors_graph(np.zeros((6, 2)), 3), np.zeros((6, 2)))
    assert (fitted.scales == 1).all()


@pytest.mark.parametrize(
    "kernel", [Gaussian(), Gaussian(bandwidth=0.8), Gaussian(bandwidth="global")]
)
def test_extend_agrees_with_affinity(points, kernel):
    """A new point where an old one is, with the old one's neighbours, has its affinities."""
    graph = neighbors_graph(points, 79)
    K, fitted = kernel.fit(graph, points)
    if fitted.epsilon is None:  # the twin at distance 0 is the new point's nearest neighbour
        fitted = replace(fitted, rule=OwnScale(fitted.rule.neighbor + 1))
    extended = fitted.extend(graph[:10], points[:10])
    np.testing.assert_allclose(extended.toarray(), K.toarray()[:10], rtol=1e-12)


def test_extend_uses_both_scales(points, rng):
    new = rng.normal(size=(6, 3))
    _, fitted = Gaussian(neighbor=3).fit(neighbors_graph(points, 9), points)
    graph = ExactSearch(9).fit(points).transform(new)
    graph.data **= 2
    s = np.sqrt(np.sort(naive.squared_distances(new, points), axis=1)[:, 2])
    expected = naive.gaussian(
        naive.squared_distances(new, points), graph.toarray() > 0, np.outer(s, fitted.scales)
    )
    np.testing.assert_allclose(fitted.extend(graph, new).toarray(), expected, rtol=1e-10)


# --- the bandwidth that a graph carries


def test_the_graphs_bandwidth_keeps_every_points_seventh_neighbour(points):
    X = np.concatenate([points, [[30.0, 0, 0]]])
    graph, distances, mask = graphs(X, 40)
    K, fitted = Gaussian(bandwidth="attached").fit(graph, X)
    reach = np.sqrt(np.median(np.where(mask, distances, 0).max(axis=1)))
    s = naive.scales(distances, mask, 7)
    scale = max(reach / 3, np.median(s) / np.sqrt(2))
    t = np.maximum(scale, s**2 / (3 * scale))
    assert fitted.epsilon == pytest.approx(scale**2)
    expected = naive.gaussian(distances, mask, np.outer(t, t))
    np.testing.assert_allclose(K.toarray(), expected, rtol=1e-12)
    # from the 41st point, far away, the walk moves on
    A = markov_operator(X, n_neighbors=40, kernel=Gaussian(bandwidth="attached"), alpha=1)
    e = np.eye(81)[80]
    assert (A @ e)[80] < 0.95


def test_the_median_points_seventh_neighbour_counts_in_many_dimensions(rng):
    X = rng.normal(size=(300, 20))
    K = Gaussian(bandwidth="attached").affinity(neighbors_graph(X, 64), X)
    assert np.median(K.sum(axis=1) - 1) > 7 * np.exp(-3)


def test_new_points_get_the_scales_of_fitted_ones(points):
    X = np.concatenate([[[30.0, 0, 0]], points])
    graph = neighbors_graph(X, 80)
    K, fitted = Gaussian(bandwidth="attached").fit(graph, X)
    assert fitted.scales[0] > 2 * np.sqrt(fitted.epsilon)
    fitted = replace(fitted, rule=replace(fitted.rule, neighbor=8))  # the twin is the nearest
    extended = fitted.extend(graph[:10], X[:10])
    np.testing.assert_allclose(extended.toarray(), K.toarray()[:10], rtol=1e-12)


# --- density and shared neighbours


@pytest.mark.parametrize("power", [0, 1.5, 3])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_density_weighted(points, power, dtype):
    graph, distances, mask = graphs(points.astype(dtype))
    s = naive.scales(distances, mask, 4)
    s = (s / np.median(s)) ** power
    kernel = DensityWeighted(Gaussian(bandwidth=0.7), power=power, neighbor=4)
    K, fitted = kernel.fit(graph, points)
    assert K.dtype == dtype
    expected = naive.gaussian(distances, mask, 0.7) / np.outer(s, s)
    np.testing.assert_allclose(K.toarray(), expected, rtol=1e-10 if dtype == np.float64 else 2e-3)
    # a new point where an old one is: itself is the nearest
    new = replace(fitted, neighbor=5).extend(graph[:10], points[:10])
    np.testing.assert_allclose(new.toarray(), K.toarray()[:10], rtol=1e-5)


def test_duplicates_do_not_take_all_the_mass(rng):
    X = np.concatenate(
        [rng.normal(size=(100, 2)), np.zeros((20, 2)) + 1e-12 * rng.normal(size=(20, 2))]
    )
    A = markov_operator(X, kernel=DensityWeighted(power=1.0))
    assert np.isfinite(A.affinity.data).all()
    assert A.stationary_distribution.min() > 0


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 99), factor=st.sampled_from([1e-12, 1e-3, 7.0, 1e12]))
def test_self_tuning_has_no_units(seed, factor):
    X = np.random.default_rng(seed).normal(size=(30, 2))
    K, scaled = (Gaussian().affinity(neighbors_graph(Y, 5), Y) for Y in (X, factor * X))
    np.testing.assert_allclose(scaled.data, K.data, rtol=1e-9)


REFUSED = {
    "bandwidth": [
        Gaussian(bandwidth=value) for value in (0, -1.0, np.nan, np.inf, True, "wide", None, [1.0])
    ],
    "neighbor": [
        *(Gaussian(neighbor=value) for value in (0, -1, 1.5, "seventh")),
        DensityWeighted(neighbor=0),
    ],
    "power": [
        *(SharedNeighbors(power=value) for value in (-1, np.nan, "two", None)),
        *(DensityWeighted(power=value) for value in (-1, np.nan)),
    ],
    "profile": [
        Isotropic(lambda u: u * np.nan),
        Isotropic(lambda u: u - 1),
        Isotropic(lambda u: 1.0),
        Isotropic(lambda u: u[:-1]),
        Isotropic(lambda u: np.where(u > 0, 1, np.inf)),
    ],
}


@pytest.mark.parametrize(
    ("name", "kernel"), [(name, kernel) for name, some in REFUSED.items() for kernel in some]
)
def test_refuses_parameters(points, name, kernel):
    with pytest.raises(ParameterError, match=name):
        markov_operator(points, kernel=kernel)


@pytest.mark.parametrize("bandwidth", [1e-300, 1e-60, 1e60])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_extreme_bandwidths_stay_finite(points, bandwidth, dtype):
    A = markov_operator(points.astype(dtype), kernel=Gaussian(bandwidth=bandwidth))
    assert np.isfinite(A.affinity.data).all()
    np.testing.assert_allclose(A @ np.ones(80), 1, rtol=1e-6)
