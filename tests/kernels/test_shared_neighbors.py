"""The shared-neighbours kernel against a dense twin."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from diffclass import DiffusionClassifier, neighbors_graph
from diffclass.exceptions import ParameterError
from diffclass.kernels import Gaussian, SharedNeighbors
from diffclass.neighbors import ExactSearch, RadiusSearch


def dense_twin(K, power):
    d = K.sum(axis=1)
    bumps = K / d[:, None]  # a(x, .)
    pi = d / d.sum()
    products = (bumps / pi) @ bumps.T
    norms = np.sqrt(np.diag(products))
    cosine = products / np.outer(norms, norms)
    shared = K * cosine**power
    around = K.sum(axis=1) - np.diag(K)
    kept = shared.sum(axis=1) - np.diag(shared)
    np.fill_diagonal(
        shared, np.diag(K) * np.where(around > 0, kept / np.maximum(around, 1e-300), 1)
    )
    return shared


@pytest.fixture
def points():
    return np.random.default_rng(5).normal(size=(70, 3))


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0, 3.5])
def test_affinities_are_the_dense_twins(points, power):
    graph = neighbors_graph(points, 6)
    inner = Gaussian(neighbor=4)
    K = inner.affinity(graph, points).toarray()
    shared = SharedNeighbors(Gaussian(neighbor=4), power=power).affinity(graph, points).toarray()
    np.testing.assert_allclose(shared, dense_twin(K, power), atol=1e-13)
    np.testing.assert_array_equal(shared, shared.T)


def test_single_precision_stays(points):
    graph = neighbors_graph(points.astype(np.float32), 6)
    shared = SharedNeighbors().affinity(graph, points)
    assert shared.dtype == np.float32
    assert (shared != shared.T).nnz == 0


def test_the_order_of_the_points_does_not_matter(points):
    order = np.random.default_rng(7).permutation(len(points))
    K, permuted = (
        SharedNeighbors().affinity(neighbors_graph(X, 6), X).toarray()
        for X in (points, points[order])
    )
    assert (K >= 0).all()
    np.testing.assert_allclose(permuted, K[np.ix_(order, order)], atol=1e-14)


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


def test_isolated_points_and_parameters(points):
    graph = neighbors_graph(np.vstack([points, [[1e3, 0, 0]]]), search=RadiusSearch(10.0))
    shared = SharedNeighbors().affinity(graph, None)
    assert np.isfinite(shared.data).all()
    assert shared[70, 70] > 0
    clf = DiffusionClassifier(kernel=SharedNeighbors(Gaussian()))
    clf.set_params(kernel__power=1.0, kernel__kernel__bandwidth=2.0)
    assert clf.kernel.kernel.bandwidth == 2.0
    y = np.where(np.arange(70) % 10 == 0, points[:, 0] > 0, -1)
    again = pickle.loads(pickle.dumps(clf.fit(points, y)))
    np.testing.assert_array_equal(again.predict(points), clf.predict(points))
    with pytest.raises(ParameterError, match="power"):
        SharedNeighbors(power=-1).affinity(graph, None)
