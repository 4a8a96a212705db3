"""Mean first-passage and commute times against dense solves."""

from __future__ import annotations

import numpy as np
import pytest

from diffclass import MarkovOperator, ParameterError, leading_eigenpairs, markov_operator
from diffclass.exceptions import DiffclassError
from diffclass.spectral.passage_times import commute_distances, mean_first_passage_times
from tests import naive


def dense_times(A):
    """h = 1 + A h off the target, one dense solve a target."""
    n = len(A)
    times = np.zeros((n, n))
    for y in range(n):
        rest = np.delete(np.arange(n), y)
        times[rest, y] = np.linalg.solve(np.eye(n - 1) - A[np.ix_(rest, rest)], np.ones(n - 1))
    return times


@pytest.fixture
def walk(rng):
    K = rng.random((25, 25))
    K = np.where(K + K.T > 1.3, K + K.T, 0) + 0.2 * np.eye(25)
    K[:-1, 1:] += np.eye(24)
    K[1:, :-1] += np.eye(24)
    return naive.markov_matrix(K, 0.5), MarkovOperator.from_affinity(K, alpha=0.5)


def test_first_passage_times_equal_dense_ones(walk):
    dense, A = walk
    expected = dense_times(dense)
    np.testing.assert_allclose(mean_first_passage_times(A, range(25)), expected, rtol=1e-7)
    np.testing.assert_allclose(mean_first_passage_times(A, 3), expected[:, [3]], rtol=1e-7)


def test_mean_return_times(walk):
    dense, A = walk
    back = 1 + np.sum(dense * mean_first_passage_times(A, range(25)).T, axis=1)
    np.testing.assert_allclose(back, 1 / A.stationary_distribution, rtol=1e-7)  # Kac


def test_commute_distances_are_both_ways_and_euclidean(walk):
    dense, A = walk
    there = dense_times(dense)
    found = commute_distances(leading_eigenpairs(A), range(25))
    np.testing.assert_allclose(found**2, there + there.T, rtol=1e-9, atol=1e-10)
    some = commute_distances(leading_eigenpairs(A), [4, 2], [1, 1, 0])
    np.testing.assert_allclose(some, found[np.ix_([4, 2], [1, 1, 0])], atol=1e-12)


def test_other_components_are_never_reached():
    K = np.kron(np.eye(2), np.ones((3, 3)))
    A = MarkovOperator.from_affinity(K)
    times = mean_first_passage_times(A, [0, 4])
    assert np.isinf(times[3:, 0]).all()
    assert np.isinf(times[:3, 1]).all()
    np.testing.assert_allclose(times[1:3, 0], 3)
    distances = commute_distances(leading_eigenpairs(A), range(6))
    np.testing.assert_allclose(distances[:3, :3], np.sqrt(6) * (1 - np.eye(3)), atol=1e-7)
    assert np.isinf(distances[:3, 3:]).all()
    lonely = MarkovOperator.from_affinity(np.eye(2))
    np.testing.assert_array_equal(mean_first_passage_times(lonely, [0])[:, 0], [0, np.inf])


def test_single_precision_and_a_long_way(rng):
    X = np.linspace(0, 1, 300, dtype=np.float32)[:, None]
    A = markov_operator(X, n_neighbors=4)
    times = mean_first_passage_times(A, [0])[:, 0]
    assert (np.diff(times) > 0).all()


def test_bad_input(walk, monkeypatch):
    _, A = walk
    with pytest.raises(ParameterError, match="numbered 0 to 24"):
        mean_first_passage_times(A, [25])
    with pytest.raises(ParameterError, match="tolerance"):
        mean_first_passage_times(A, [0], tolerance=0)
    with pytest.raises(ParameterError, match="numbered 0 to 24"):
        commute_distances(leading_eigenpairs(A), [-1])
    two = MarkovOperator.from_affinity(np.eye(2))
    with pytest.raises(ParameterError, match="2 components"):
        commute_distances(leading_eigenpairs(two, 1), [0])
    monkeypatch.setattr("diffclass.spectral.passage_times.cg", lambda *_, **__: (np.zeros(24), 7))
    with pytest.raises(DiffclassError, match="7 iterations"):
        mean_first_passage_times(A, [0])
