"""The kernels of the correlation against their formulas."""

from __future__ import annotations

import numpy as np
import pytest

from diffclass import markov_operator, neighbors_graph
from diffclass.exceptions import ParameterError
from diffclass.kernels import Correlation, SmoothCorrelation
from tests import naive


@pytest.fixture
def points(rng):
    return rng.normal(size=(80, 3))


@pytest.mark.parametrize("threshold", [0.9, np.float32(0.5), 0, -0.5])
def test_correlation_is_the_thresholded_cosine(points, threshold):
    kernel = Correlation(threshold=threshold, max_degree=80)
    unit, _ = kernel.place(points)
    K = kernel.affinity(neighbors_graph(unit, search=kernel.search(unit, 3)), points)
    cosines = points @ points.T / np.outer(*[np.linalg.norm(points, axis=1)] * 2)
    assert (K.toarray() == (cosines > threshold)).all()


def test_correlation_bounds_the_degree_and_extends(points):
    kernel = Correlation(threshold=0.5, max_degree=4)
    unit, placing = kernel.place(points)
    search = kernel.search(unit, 3)
    with pytest.warns(UserWarning, match="pairs within the radius or threshold"):
        K, fitted = kernel.fit(neighbors_graph(unit, search=search), points)
    expected, mask = naive.neighbors_graph(unit, 4)
    assert (K.toarray() == (mask & (expected < 1))).all()
    with pytest.warns(UserWarning, match="max_degree = 4 leaves out"):
        graph = search.transform(placing(2.5 * points[:7]))
    graph.data **= 2
    assert set(fitted.extend(graph, points[:7]).data) == {1.0}


def test_smooth_correlation_is_the_exponential_of_the_cosine(points):
    A = markov_operator(points, n_neighbors=79, kernel=SmoothCorrelation(bandwidth=0.6))
    cosines = points @ points.T / np.outer(*[np.linalg.norm(points, axis=1)] * 2)
    np.testing.assert_allclose(A.affinity.toarray(), np.exp(-(1 - cosines) / 0.3), rtol=1e-6)
    brighter = points * np.linspace(1, 9, 80)[:, None]
    same = markov_operator(brighter, n_neighbors=79, kernel=SmoothCorrelation(bandwidth=0.6))
    np.testing.assert_allclose(same.affinity.toarray(), A.affinity.toarray(), rtol=1e-6)


def test_correlation_of_a_point_at_zero():
    X = np.concatenate([np.zeros((1, 3)), np.eye(3)])
    kernel = Correlation()
    assert np.isfinite(kernel.place(X)[0]).all()
    A = markov_operator(X, kernel=kernel)
    assert A.n_connected_components == 4


@pytest.mark.parametrize("threshold", [1, 1.5, -2, np.nan, "high", None])
def test_refuses_thresholds(points, threshold):
    with pytest.raises(ParameterError, match="threshold"):
        markov_operator(points, kernel=Correlation(threshold=threshold))
