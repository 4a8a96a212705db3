"""Kernels along a field against dense twins, and where the field is 0 or has no sign."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from diffclass import DiffusionClassifier, markov_operator, neighbors_graph
from diffclass.exceptions import DataError, ParameterError
from diffclass.kernels import AlongField, SharedNeighbors
from diffclass.kernels.along_field import aligned_mean
from diffclass.neighbors import ExactSearch
from tests.kernels.test_directed import nearest_of, on_all_pairs, points, rotation

__all__ = ["points"]


def field_twin(X, v, epsilon, X_new=None, v_new=None):
    """D^2 of all pairs, from the definition."""
    length = np.sqrt(((X - X.mean(0)) ** 2).sum(1).mean())
    X_new, v_new = (X, v) if X_new is None else (X_new, v_new)
    D = np.empty((len(X_new), len(X)))
    for i in range(len(X_new)):
        for j in range(len(X)):
            delta = (X_new[i] - X[j]) / length
            s = v_new[i] + v[j] if v_new[i] @ v[j] >= 0 else v_new[i] - v[j]
            u = s / np.linalg.norm(s) if s.any() else s
            squared = delta @ delta
            D[i, j] = squared / epsilon + (squared - (u @ delta) ** 2) / epsilon**2
    return D


def test_field_kernel_is_the_papers(points):
    for field in (rotation, rotation(points)):
        K = on_all_pairs(AlongField(field, epsilon=0.5, bandwidth=1.0), points)
        twin = np.exp(-field_twin(points, rotation(points), 0.5))
        np.testing.assert_allclose(K, twin, atol=1e-13)
        np.testing.assert_array_equal(K, K.T)


def test_sign_speed_and_rest_of_a_field(points):
    X = points - 5  # across the middle of the rotation
    v = rotation(X)
    kernel = AlongField(v, epsilon=0.3, bandwidth=1.0)
    K = on_all_pairs(kernel, X)
    sign = np.where(np.arange(60) % 3 == 0, -1, 1)[:, None]
    np.testing.assert_array_equal(on_all_pairs(kernel.set_params(field=v * sign), X), K)
    tiny = on_all_pairs(kernel.set_params(field=v * 1e-200), X)
    np.testing.assert_allclose(tiny, K, rtol=1e-9, atol=1e-200)
    v[:30] = 0  # at rest: the other end's direction, or every direction slow
    at_rest = on_all_pairs(kernel.set_params(field=v), X)
    np.testing.assert_allclose(at_rest, np.exp(-field_twin(X, v, 0.3)), atol=1e-13)
    length = np.sqrt(((X - X.mean(0)) ** 2).sum(1).mean())
    d = np.linalg.norm(X[:30, None] - X[None, :30], axis=2) / length
    slow = np.exp(-(d**2) * (1 / 0.3 + 1 / 0.09))
    np.testing.assert_allclose(at_rest[:30, :30], slow, atol=1e-13)


def test_opposite_ends_are_on_one_line():
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    v = np.array([[0.0, 1.0], [0.0, -1.0], [1.0, 0.0], [-1.0, 0.0]])  # v(0) + v(1) = 0
    K = on_all_pairs(AlongField(v, epsilon=1.0, bandwidth=1.0), X)
    assert K[0, 1] == pytest.approx(np.exp(-4 - 4))  # across the common direction
    v[:2] = [[1.0, 0.0], [-1.0, 0.0]]
    K = on_all_pairs(AlongField(v, epsilon=1.0, bandwidth=1.0), X)
    assert K[0, 1] == pytest.approx(np.exp(-4))  # along it


def test_neighbours_are_the_nearest_along_the_field(points):
    v = rotation(points)
    kernel = AlongField(v, epsilon=0.2, candidates=12)  # 5 x 12 are all points
    features, _ = kernel.place(points)
    graph = neighbors_graph(features, search=kernel.search(features, 5)).toarray()
    np.testing.assert_allclose(graph, nearest_of(field_twin(points, v, 0.2), 5), rtol=1e-9)


def test_new_points_with_a_field(points):
    new = np.random.default_rng(4).normal(size=(7, 2)) + 5
    kernel = AlongField(rotation, epsilon=0.5)
    features, placing = kernel.place(points)
    search = kernel.search(features, 60).fit(features)
    graph = search.transform(placing(new)).toarray() ** 2
    twin = field_twin(points, rotation(points), 0.5, new, rotation(new))
    np.testing.assert_allclose(graph, twin, rtol=1e-9)


def test_a_field_array_is_continued_without_its_signs(points):
    v = rotation(points)
    sign = np.random.default_rng(0).choice([-1, 1], size=(60, 1))
    new = points[:5] + 0.01
    features = []
    for field in (v, v * sign):
        _, placing = AlongField(field).place(points)
        features.append(placing(new)[:, 2:])
    cross = np.linalg.det(np.stack(features, axis=1))
    np.testing.assert_allclose(cross, 0, atol=1e-14)
    assert (np.linalg.norm(features[1], axis=1) > 0.3).all()
    weights = np.full((1, 2), 0.5)
    opposite = np.array([[[1.0, 2.0], [-1.0, -2.0]]])
    np.testing.assert_array_equal(aligned_mean(weights, opposite), [[1.0, 2.0]])


def test_duplicates_are_no_islands():
    X = np.repeat(np.random.default_rng(0).normal(size=(20, 2)), 9, axis=0)
    for n_neighbors in (2, 5, 12):
        operator = markov_operator(X, n_neighbors=n_neighbors, kernel=AlongField(rotation))
        # nine of a place, and two or more others: not what falls into as many parts as places
        assert operator.n_connected_components < 10


def wrong_width(X):
    return np.ones((len(X), 3))


@pytest.mark.parametrize(
    ("kernel", "error", "message"),
    [
        (AlongField(np.ones((60, 3))), DataError, r"field has shape \(60, 3\)"),
        (AlongField(np.ones(60)), DataError, "field has shape"),
        (AlongField(wrong_width), DataError, "field has shape"),
        (AlongField(np.ones((59, 2))), DataError, "field has 59 rows"),
        (AlongField(np.full((60, 2), np.inf)), DataError, "field holds NaN or infinity"),
        (AlongField(np.zeros((60, 2))), DataError, "0 at every point"),
        (AlongField(rotation, candidates=0.5), ParameterError, "candidates"),
    ],
)
def test_what_is_wrong_is_said(points, kernel, error, message):
    with pytest.raises(error, match=message):
        markov_operator(points, kernel=kernel)


def test_no_other_search_is_taken(points):
    clf = DiffusionClassifier(kernel=AlongField(rotation), search=ExactSearch(5))
    y = np.where(np.arange(60) % 10 == 0, np.arange(60) % 20 == 0, -1)
    with pytest.raises(ParameterError, match="knows nothing of"):
        clf.fit(points, y)
    over = clone(clf).set_params(kernel=SharedNeighbors(clf.kernel))
    with pytest.raises(ParameterError, match="knows nothing of"):
        over.fit(points, y)
    clf.set_params(search=None, kernel__epsilon=0.4).fit(points, y)
    assert clf.graph_.search.epsilon == 0.4
