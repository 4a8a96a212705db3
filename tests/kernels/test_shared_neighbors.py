"""The shared-neighbours kernel against a dense twin."""

from __future__ import annotations

import numpy as np
import pytest

from diffclass import neighbors_graph
from diffclass.kernels import Correlation, Gaussian, SharedNeighbors
from diffclass.neighbors import ExactSearch, RadiusSearch
from tests import naive


@pytest.fixture
def points():
    return np.random.default_rng(5).normal(size=(70, 3))


@pytest.mark.parametrize("power", [0, 0.5, 1, 2.0, 4])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_affinities_are_the_dense_twins(points, power, dtype):
    X = points.astype(dtype)
    graph = neighbors_graph(X, 9)
    K = SharedNeighbors(Gaussian(bandwidth=0.7), power=power).affinity(graph, points)
    expected = naive.shared_neighbors(naive.gaussian(*naive.neighbors_graph(X, 9), 0.7), power)
    assert K.dtype == dtype
    assert abs(K - K.T).max() <= np.finfo(dtype).eps
    tolerance = {"rtol": 1e-10} if dtype == np.float64 else {"rtol": 2e-3, "atol": 1e-7}
    np.testing.assert_allclose(K.toarray(), expected, **tolerance)


def test_new_points(points):
    search = ExactSearch(6)
    kernel = SharedNeighbors(Gaussian(bandwidth=1.0))
    K, fitted = kernel.fit(neighbors_graph(points, search=search), points)
    new = np.random.default_rng(6).normal(size=(4, 3))
    graph = search.transform(new)
    graph.data **= 2
    extended = fitted.extend(graph, new).toarray()
    k_new = Gaussian(bandwidth=1.0)
    inner = k_new.affinity(neighbors_graph(points, 6), points).toarray()
    d = inner.sum(axis=1)
    row = np.where(graph.toarray() > 0, np.exp(-graph.toarray()), 0)
    a, b = row / np.sqrt(d), inner / np.sqrt(d)
    norms = np.outer(np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1))
    np.testing.assert_allclose(extended, row * (a @ b.T / norms) ** 2, atol=1e-13)
    assert K.shape == (70, 70)


def test_new_points_share_as_old_ones_do(points):
    """Off the diagonal, a new point where an old one is has its affinities."""
    graph = neighbors_graph(points, 69)
    affinity, fitted = SharedNeighbors(Gaussian(bandwidth=0.7)).fit(graph, points)
    K = affinity.toarray()
    extended = fitted.extend(graph[:10], points[:10]).toarray()
    off = ~np.eye(10, 70, dtype=bool)
    np.testing.assert_allclose(extended[off], K[:10][off], rtol=1e-12)
    np.testing.assert_allclose(extended.diagonal(), 1, rtol=1e-12)


@pytest.mark.parametrize("kernel", [None, Gaussian(), Gaussian(bandwidth="global")])
@pytest.mark.parametrize("distance", [10, 1e3, 1e9])
def test_an_outlier_keeps_its_edges(points, kernel, distance):
    X = np.concatenate([points, [[0, distance, 0]]]).astype("f4")
    graph = neighbors_graph(X)
    for K in (
        SharedNeighbors(kernel).affinity(graph, X),
        SharedNeighbors(Correlation(threshold=-1), power=1).affinity(graph, X),
    ):
        assert (K.data > 0).all()
        assert np.isfinite(K.data).all()
    _, shared = SharedNeighbors(kernel).fit(graph, X)
    far = np.array([[0, 2 * distance, 5 * distance]], dtype="f4")
    new = ExactSearch(5).fit(X).transform(far)
    new.data **= 2
    assert (shared.extend(new, far).data > 0).all()


def test_many_duplicates_do_not_take_quadratic_time(rng):
    """Its representative has a row of all duplicates: 30,000 squared would take a minute."""
    X = np.concatenate([rng.normal(size=(500, 2)), np.zeros((30000, 2))]).astype("f4")
    graph = neighbors_graph(X, 9)
    K = SharedNeighbors().affinity(graph, X)
    assert np.diff(K.indptr).max() > 30000
    assert (K.data > 0).all()
    assert abs(K - K.T).max() == 0


def test_a_point_by_itself_stays_put(points):
    graph = neighbors_graph(np.vstack([points, [[1e3, 0, 0]]]), search=RadiusSearch(10.0))
    shared = SharedNeighbors().affinity(graph, None)
    assert np.isfinite(shared.data).all()
    assert shared[70, 70] > 0
