"""CutSSL against dense algebra and against all partitions of a small graph."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import scipy.sparse as sp

from experiments.few_labels import benchmark
from experiments.few_labels.cut_ssl import STAGES, SizedMinimum, alternate, cut_ssl, laplacian_of
from experiments.few_labels.methods import OTHERS_SIZED
from experiments.few_labels.paired_table import sized_table
from experiments.problems import Problem


def dense_minimum(K: np.ndarray, R: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return X of the saddle point of all entries, row sums and column sums at once."""
    n, k = R.shape
    sums = np.vstack([np.kron(np.eye(n), np.ones(k)), np.kron(np.ones(n), np.eye(k))])
    saddle = np.block([[np.kron(K, np.eye(k)), sums.T], [sums, np.zeros((n + k, n + k))]])
    right = np.concatenate([R.ravel(), np.ones(n), sizes])
    return np.linalg.lstsq(saddle, right, rcond=None)[0][: n * k].reshape(n, k)


@pytest.fixture(scope="module")
def affinity() -> sp.csr_array:
    """Three noisy blocks of 3, 3 and 4 points."""
    random = np.random.default_rng(4)
    block = np.repeat([0, 1, 2], [3, 3, 4])
    weights = random.uniform(0, 0.04, (10, 10)) + (block[:, None] == block)
    return sp.csr_array((weights + weights.T) / 2)


@pytest.mark.parametrize("s", [0, 0.1])
def test_the_minimum_is_that_of_dense_algebra(affinity, s):
    laplacian, degrees = laplacian_of(affinity)
    np.testing.assert_allclose(laplacian.sum(axis=1), 0, atol=1e-12)
    K = sp.csr_array(laplacian - s * sp.diags_array(degrees) + sp.eye_array(10))
    R = np.random.default_rng(5).normal(size=(10, 3))
    sizes = np.array([1, 2.5, 6.5])
    found = SizedMinimum(K, sizes)(R, np.zeros((10, 3)))
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-3)
    np.testing.assert_allclose(found.sum(axis=0), sizes, atol=1e-3)
    np.testing.assert_allclose(found, dense_minimum(K.toarray(), R, sizes), atol=1e-3)


def test_points_get_one_class_each_and_classes_their_sizes(affinity):
    laplacian, degrees = laplacian_of(affinity)
    linear, sizes = np.zeros((10, 3)), np.array([3.0, 3, 4])
    linear[[0, 3, 6], [0, 1, 2]] = 1  # a label beside one point of each block
    X = np.tile(sizes / 10, (10, 1))
    for s, n_rounds in (*STAGES, (0.2, 400)):  # the more s, the nearer the corners
        quadratic = sp.csr_array(laplacian - s * sp.diags_array(degrees))
        X, Y = alternate(quadratic, linear, sizes, X, n_rounds)
    np.testing.assert_allclose(Y, np.eye(3)[Y.argmax(axis=1)], atol=1e-2)
    np.testing.assert_allclose(Y.sum(axis=0), sizes, atol=1e-2)


def test_no_partition_of_these_sizes_cuts_less(affinity):
    counts = (3, 3, 4)
    y = np.full(10, -1)
    y[[0, 3, 6]] = [2, 5, 7]

    def cut(classes):
        return affinity.toarray()[classes[:, None] != classes].sum()

    rest = np.repeat([2, 5, 7], np.subtract(counts, 1))
    every = np.tile(y, (5040, 1))
    every[:, y < 0] = list(permutations(rest))
    found = cut_ssl(affinity, y, np.array(counts) / 10)
    assert (found == y)[y >= 0].all()
    np.testing.assert_array_equal(np.bincount(found)[[2, 5, 7]], counts)
    assert cut(found) == pytest.approx(min(map(cut, np.unique(every, axis=0))))


def test_it_runs_in_the_benchmark_beside_the_methods_that_know_sizes(tmp_path):
    random = np.random.default_rng(6)
    truth = np.repeat([1, 2], [90, 30])
    points = np.eye(3)[truth] * 4 + random.normal(size=(120, 3))
    problem = Problem("pair", points, truth)
    results = benchmark.Results(tmp_path / "benchmark.csv")
    methods = ["graph alone", "graph alone with sizes", *OTHERS_SIZED]
    draws = list(benchmark.pending_draws(problem, methods, results, quick=True))[:2]
    benchmark.run_problem(benchmark.Setting(problem), draws, results)
    assert results.runs["pair", "equal", 1, 0, "CutSSL, our graph"] > 0.95
    assert "CutSSL, our graph" in sized_table(results.runs)[2]
