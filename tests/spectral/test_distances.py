"""Diffusion distances: eigenpairs against bumps against dense sums."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from diffclass import MarkovOperator, ParameterError, leading_eigenpairs, markov_operator
from diffclass.kernels import Gaussian
from diffclass.neighbors import ExactSearch
from diffclass.spectral.distances import (
    KINDS,
    bumps,
    diffusion_coordinates,
    diffusion_distances,
    numerical_rank,
    probes,
    spanning_columns,
    squared_distances_to_equilibrium,
)
from tests import naive


@pytest.fixture
def walk(rng):
    K = rng.random((30, 30))
    K = np.where(K + K.T > 1.2, K + K.T, 0) + np.eye(30)
    return K, MarkovOperator.from_affinity(K, alpha=0.5)


def dense_distances(K, t, kind):
    """Each definition, one sum a pair."""
    A = naive.markov_matrix(K, 0.5)
    _, d = naive.normalised(K, 0.5)
    pi, power = d / d.sum(), np.linalg.matrix_power(A, t)
    rows = {
        "weighted": power / np.sqrt(pi),
        "unweighted": power,
        "symmetric": np.sqrt(pi)[:, None] * power / np.sqrt(pi),
    }[kind]
    return np.sqrt(((rows[:, None] - rows[None]) ** 2).sum(axis=2))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("t", [0, 1, 2, 3, 8])
def test_eigenpairs_bumps_and_sums_agree(walk, t, kind):
    K, A = walk
    expected = dense_distances(K, t, kind)
    everyone = np.arange(30)
    by_pairs = diffusion_distances(leading_eigenpairs(A), everyone, time=t, kind=kind)
    np.testing.assert_allclose(by_pairs, expected, atol=1e-12)
    rows = bumps(A, everyone, time=t, kind=kind)
    by_bumps = cdist(rows, rows)
    np.testing.assert_allclose(by_bumps, expected, atol=1e-12)
    some = diffusion_distances(leading_eigenpairs(A), [4, 2], [1, 1, 0], time=t, kind=kind)
    np.testing.assert_allclose(some, expected[np.ix_([4, 2], [1, 1, 0])], atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("t", [1, 3])
def test_equal_points_count_each_for_itself(rng, kind, t):
    """The eigenpairs are those of the nodes, the numbers those of all points."""
    X = rng.normal(size=(20, 2))[rng.integers(20, size=50)]
    A = markov_operator(X, kernel=Gaussian(bandwidth=1.0), alpha=0.5, search=ExactSearch(20))
    expected = dense_distances(np.exp(-naive.squared_distances(X)), t, kind)
    pairs, everyone = leading_eigenpairs(A), np.arange(50)
    assert len(pairs.right) < 50
    found = diffusion_distances(pairs, everyone, time=t, kind=kind)
    np.testing.assert_allclose(found, expected, atol=1e-10)
    some = diffusion_distances(pairs, [40, 3], [49, 0], time=t, kind=kind)
    np.testing.assert_allclose(some, expected[np.ix_([40, 3], [49, 0])], atol=1e-10)
    rows = bumps(A, everyone, time=t, kind=kind)
    np.testing.assert_allclose(cdist(rows, rows), expected, atol=1e-10)
    if kind == "unweighted":
        power = np.linalg.matrix_power(
            naive.markov_matrix(np.exp(-naive.squared_distances(X)), 0.5), t
        )
        np.testing.assert_allclose(rows, power, atol=1e-12)
    columns = spanning_columns(pairs, 10, 1e-3)
    assert len(np.unique(X[columns], axis=0)) == len(columns)


def test_bumps_are_rows_of_the_power(walk):
    K, A = walk
    power = np.linalg.matrix_power(naive.markov_matrix(K, 0.5), 5)
    rows = bumps(A, [3, 17], time=5)
    np.testing.assert_allclose(rows, power[[3, 17]], atol=1e-14)
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-13)


def test_what_left_out_pairs_cost_is_bounded(rng):
    A = markov_operator(rng.normal(size=(300, 2)), n_neighbors=10)
    full, t = leading_eigenpairs(A), 4
    exact = diffusion_distances(full, [0, 5], time=t)
    for n_pairs in (2, 5, 20, 100):
        part = leading_eigenpairs(A, n_pairs)
        short = diffusion_distances(part, [0, 5], time=t)
        pi = A.stationary_distribution
        bound = abs(full.eigenvalues[n_pairs]) ** t * np.sqrt(1 / pi[[0, 5], None] + 1 / pi)
        assert (short <= exact + 1e-12).all()
        # the squares differ by what the left out pairs add
        assert (exact**2 - short**2 <= bound**2 + 1e-12).all()


def test_counts_of_pairs_and_rank(rng):
    A = markov_operator(rng.normal(size=(200, 2)), n_neighbors=10)
    full = leading_eigenpairs(A)
    S = A.symmetric_conjugate @ np.eye(200)
    for t in (1, 4, 16):
        singular = np.linalg.svd(np.linalg.matrix_power(S, t), compute_uv=False)
        for delta in (0.5, 0.1, 1e-3):
            assert numerical_rank(full, t, delta) == np.count_nonzero(singular > delta)
    part = leading_eigenpairs(A, 30)
    assert numerical_rank(part, 16, 0.1) == numerical_rank(full, 16, 0.1)


def test_spanning_columns_span(rng):
    A = markov_operator(rng.normal(size=(200, 2)), n_neighbors=10)
    full = leading_eigenpairs(A)
    power = np.linalg.matrix_power(A.symmetric_conjugate @ np.eye(200), 8)
    for delta in (0.1, 0.01):
        columns = spanning_columns(full, 8, delta)
        assert len(np.unique(columns)) == len(columns) == numerical_rank(full, 8, delta)
        chosen = power[:, columns]
        left = power - chosen @ np.linalg.lstsq(chosen, power, rcond=None)[0]
        assert np.linalg.norm(left, 2) < 10 * delta
        random = power[:, rng.permutation(200)[: len(columns)]]
        worse = power - random @ np.linalg.lstsq(random, power, rcond=None)[0]
        assert np.linalg.norm(left, 2) < np.linalg.norm(worse, 2)


def test_spanning_columns_do_not_depend_on_the_order_of_the_pairs(rng):
    K = np.zeros((20, 20))
    K[:10, 10:] = rng.random((10, 10)) ** 3  # nearly bipartite: the last pairs count too
    A = MarkovOperator.from_affinity(K + K.T + 0.02 * np.eye(20))
    by_modulus, by_value = (
        spanning_columns(leading_eigenpairs(A, which=which), 3, 0.05)
        for which in ("magnitude", "algebraic")
    )
    assert by_value.tolist() == by_modulus.tolist()


@pytest.mark.parametrize("t", [1, 3])
def test_distances_to_equilibrium_are_dense_sums(rng, t):
    K = rng.random((30, 30))
    A = MarkovOperator.from_affinity(K + K.T)
    found = squared_distances_to_equilibrium(A, time=t, n_probes=30)
    np.testing.assert_allclose(found, naive.bumps_from_equilibrium(K + K.T, t), rtol=1e-9)


@pytest.mark.parametrize("n_probes", [70, 256, 300, 301])
def test_probes_are_of_mean_zero_and_of_unit_variance(rng, n_probes):
    """Sums of their products come near to diag(1 / pi) - 1, and are that with as many as points."""
    A = markov_operator(rng.normal(size=(300, 2)), n_neighbors=10)
    pi = A.stationary_distribution
    f = np.concatenate(list(probes(A, n_probes, 0)), axis=1)
    assert f.shape == (300, min(n_probes, 300))
    np.testing.assert_allclose(pi @ f, 0, atol=1e-12)
    products = f @ f.T / (1 if n_probes >= 300 else n_probes)
    off = np.sqrt(pi)[:, None] * (products - np.diag(1 / pi) + 1) * np.sqrt(pi)
    assert abs(off).max() < (1e-12 if n_probes >= 300 else 6 / np.sqrt(n_probes))
    assert abs(off.trace()) < 1


def test_too_short_a_spectrum_is_said(rng):
    part = leading_eigenpairs(markov_operator(rng.normal(size=(200, 2)), n_neighbors=10), 3)
    with pytest.raises(ParameterError, match="compute more"):
        numerical_rank(part, 1, 1e-3)


def test_refusals(walk):
    found = leading_eigenpairs(walk[1])
    with pytest.raises(ParameterError, match="kind"):
        diffusion_coordinates(found, kind="other")
    with pytest.raises(ParameterError, match="time"):
        diffusion_coordinates(found, -1)
    for points in ([30], [-1], [0.5], ["a"]):
        with pytest.raises(ParameterError, match="numbered 0 to 29"):
            diffusion_distances(found, points)
        with pytest.raises(ParameterError, match="numbered 0 to 29"):
            bumps(walk[1], points)
    for accuracy in (0, -1, "small"):
        with pytest.raises(ParameterError, match="accuracy"):
            numerical_rank(found, 1, accuracy)
