"""Very many steps: against eigenvectors, against single steps, and in how many products."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from diffclass import MarkovOperator, diffuse_labels, markov_operator, warped_operator
from diffclass.label_diffusion import long_walk
from diffclass.label_diffusion.free_walk import FreeColumns
from diffclass.label_diffusion.long_walk import LongWalk
from diffclass.label_diffusion.walk import HEIGHT
from diffclass.operators.chebyshev import power_coefficients, sum_coefficients
from diffclass.relabel.columns import Horizon, diffused_columns

from .chains import chain

MODES = pytest.mark.parametrize("label_mode", ["free", "summed", "absorbing"])
DTYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64])
N = 200


def labels():
    y = np.full(N, -1)
    y[[0, 150, 199]] = [0, 1, 1]
    return y


def polynomial(S, f, of):
    """p(S) f by the eigenvectors of a symmetric S."""
    values, vectors = np.linalg.eigh(S)
    return vectors @ (of(values)[:, None] * (vectors.T @ f))


def geometric(x, n):
    """1 + x + ... + x^(n - 1)."""
    near = np.abs(1 - x) < 1e-13
    return np.where(near, n, (1 - x**n) / np.where(near, 1, 1 - x))


def exact_values(label_mode, tau):
    """N_i of the chain's labels; the classes have 1.5 labels on average, so the sum is to 3 tau."""
    A, y = chain(), labels()
    pi, is_label = A.stationary_distribution, labels() >= 0
    S = A.affinity.toarray() / np.sqrt(np.outer(A.degrees, A.degrees))
    root = np.sqrt(pi)[:, None]
    hits = np.stack([y == 0, y == 1], axis=1).astype(float)
    if label_mode == "absorbing":
        free, values = ~is_label, hits.copy()
        first = (S @ (root * hits))[free]
        values[free] = polynomial(S[np.ix_(free, free)], first, lambda x: geometric(x, tau))
        values[free] /= root[free]
        return values
    of = {"free": lambda x: x**tau, "summed": lambda x: geometric(x, 3 * tau + 1)}[label_mode]
    return polynomial(S, root * hits / (pi @ hits), of) / root


@DTYPES
@MODES
@pytest.mark.parametrize("tau", [20_000, 100_000, 10**6])
def test_very_late_values_are_exact(label_mode, dtype, tau):
    result = diffuse_labels(chain(dtype=dtype), labels(), label_mode=label_mode, tau=tau)
    expected = exact_values(label_mode, tau)
    rtol = 1e-7 if dtype == np.float64 else 1e-3
    np.testing.assert_allclose(result.values, expected, rtol=rtol, atol=1e-9)
    posteriors = expected / expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(result.posteriors, posteriors, atol=rtol / 5)


@pytest.mark.parametrize("label_mode", ["free", "absorbing"])
def test_warped_walks_may_be_long_too(label_mode, rng, monkeypatch):
    scores = rng.random((N, 2))
    scores /= scores.sum(axis=1, keepdims=True)
    warped = warped_operator(chain(), scores, y=labels())
    far = diffuse_labels(warped, labels(), label_mode=label_mode, tau=40_000)
    monkeypatch.setattr(long_walk, "LONGEST_SERIES", 10**9)
    near = diffuse_labels(warped, labels(), label_mode=label_mode, tau=40_000)
    np.testing.assert_allclose(far.values, near.values, rtol=1e-6)


@pytest.mark.parametrize("weight", [1.0, 0.3])
def test_small_values_stay_accurate(weight, monkeypatch):
    """Of a chain so long that far values are 1e-40 of near ones when series begin."""
    monkeypatch.setattr(long_walk, "_LEAST_STEPS", 8)
    A, y = chain(900), np.full(900, -1)
    y[0], y[899] = 0, 1
    weights = np.full(900, weight)
    for label_mode in ("free", "absorbing"):
        options = {"label_mode": label_mode, "tau": 9000, "label_weight": weights}
        plain = diffuse_labels(A, y, **options)
        monkeypatch.setattr(long_walk, "LONGEST_SERIES", 16)
        series = diffuse_labels(A, y, **options)
        monkeypatch.setattr(long_walk, "LONGEST_SERIES", 4096)
        assert plain.values[plain.values > 0].min() < 1e-20
        np.testing.assert_allclose(series.values, plain.values, rtol=1e-5)


def test_a_far_end_keeps_its_digits_where_a_series_would_round_them_away():
    """Of a chain whose far end has 1e-66 of the near one after all steps."""
    A, hops = chain(1000), np.arange(1000)[:, None]
    expected = start = (hops == 0).astype(float)
    for _ in range(5000):
        expected = A.apply(expected, tolerance=0)
    found = LongWalk(A.backward, hops).free(start, 5000)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("is_sum", [False, True])
@DTYPES
def test_a_far_column_does_not_depend_on_those_beside_it(dtype, is_sum):
    A = markov_operator(np.random.default_rng(0).normal(size=(90, 2)).astype(dtype), n_neighbors=6)
    groups = [np.array([3]), np.arange(90), np.array([7, 80]), np.array([50])]
    horizon = Horizon(60_000, is_sum=is_sum)
    together = diffused_columns(A, groups, horizon)
    for points, column in zip(groups, together, strict=True):
        (alone,) = diffused_columns(A, [points], horizon)
        assert alone.values.tobytes() == column.values.tobytes()
        assert alone.limits.tobytes() == column.limits.tobytes()


def test_a_million_steps_take_few_products(monkeypatch):
    n_products = []
    plain = MarkovOperator.backward
    monkeypatch.setattr(
        MarkovOperator, "backward", lambda *call: (n_products.append(1), plain(*call))
    )
    for label_mode in ("free", "summed", "absorbing"):
        n_products.clear()
        diffuse_labels(chain(), labels(), label_mode=label_mode, tau=10**6)
        assert len(n_products) < 10**5


def test_a_column_at_its_limit_takes_no_more_steps(monkeypatch):
    A = markov_operator(np.random.default_rng(1).normal(size=(60, 2)), n_neighbors=8)
    walk = FreeColumns(A, np.array([4]), np.array([0]), 1, summed=True)
    walk.advance(4000)
    walk.advance(8000)
    assert not walk.state.any()
    before = walk.visits.copy()
    monkeypatch.setattr(MarkovOperator, "apply", None)
    monkeypatch.setattr(MarkovOperator, "expected_visits", None)
    walk.advance(10**9)
    np.testing.assert_array_equal(walk.visits, before)
    total = walk.visits + walk.visit_limits[0]
    mean = HEIGHT * A.stationary_distribution[4] * (10**9 + 1)
    np.testing.assert_allclose(total[:, 0], mean, rtol=1e-6)


def test_nothing_to_walk_to():
    """A column without labels in some component stays 0 there."""
    K = sp.block_diag([chain(30).affinity, chain(20).affinity])
    A = MarkovOperator.from_affinity(sp.csr_array(K))
    f = np.zeros((50, 1))
    f[0] = 1
    hops = A.hops(np.where(np.arange(50) == 0, 0, -1))
    found = LongWalk(A.backward, hops).free(f, 10**5)
    np.testing.assert_allclose(found[:30], A.degrees[0] / A.degrees[:30].sum(), rtol=1e-6)
    assert not found[30:].any()


@pytest.mark.parametrize("n_steps", [1, 2, 3, 40, 41, 700])
@pytest.mark.parametrize("tolerance", [0, 1e-9])
def test_coefficients_of_sums_are_the_sums_of_coefficients(n_steps, tolerance):
    found = sum_coefficients(n_steps, tolerance)
    expected = power_coefficients(range(1, n_steps + 1), 0).sum(axis=0)
    length = max(len(found), len(expected))
    found, expected = (np.pad(c, (0, length - len(c))) for c in (found, expected))
    assert np.abs(found - expected).sum() <= tolerance + 1e-11
    if tolerance and n_steps == 700:
        assert not found[250:].any()
