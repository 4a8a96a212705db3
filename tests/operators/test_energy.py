"""The energy of functions, Rayleigh and Ritz's rule, and the Schroedinger form of the generator."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm, truncnorm

from diffclass import DataError, MarkovOperator, ParameterError, leading_eigenpairs
from diffclass.operators.laplacians import (
    dirichlet_energy,
    rayleigh_ritz,
    schroedinger_operator,
    schroedinger_potential,
)
from tests import naive

EPSILON = 0.02


@pytest.fixture
def walk(rng):
    K = rng.random((30, 30))
    K = np.where(K + K.T > 1.0, K + K.T, 0) + np.eye(30)
    return K, MarkovOperator.from_affinity(K, alpha=0.5)


def normal_walk(alpha, end=4.0, n=1000):
    """Quantiles of a normal cut at its ends, whose U is x^2 / 2, joined by a full kernel."""
    x = truncnorm.ppf((np.arange(n) + 0.5) / n, -end, end)
    K = np.exp(-((x[:, None] - x) ** 2) / EPSILON)
    return x, MarkovOperator.from_affinity(K, alpha=alpha)


def test_energy_is_its_double_sum(walk, rng):
    K, A = walk
    a = naive.markov_matrix(K, 0.5)
    _, d = naive.normalised(K, 0.5)
    f = rng.normal(size=(30, 2))
    pairs = (f[:, None, :] - f[None]) ** 2 * (d / d.sum())[:, None, None] * a[:, :, None] / 2
    np.testing.assert_allclose(dirichlet_energy(A, f), pairs.sum(axis=(0, 1)), rtol=1e-12)
    single = dirichlet_energy(A, f[:, 0])
    assert isinstance(single, float)
    assert dirichlet_energy(A, f[:, 0], 0.5) == pytest.approx(8 * single, rel=1e-14)
    assert dirichlet_energy(A, np.full(30, 3.0)) == 0


def test_energies_of_eigenfunctions(walk):
    _, A = walk
    pairs = leading_eigenpairs(A)
    np.testing.assert_allclose(dirichlet_energy(A, pairs.right), 1 - pairs.eigenvalues, atol=1e-12)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_energy_tends_to_its_integral(alpha):
    x, A = normal_walk(alpha, end=1.5)
    s = 2 * (1 - alpha)
    grid = np.linspace(-1.5, 1.5, 4001)
    weight = norm.pdf(grid) ** s
    expected = np.sum(np.cos(grid) ** 2 * weight) / weight.sum()
    assert dirichlet_energy(A, np.sin(x), EPSILON) == pytest.approx(expected, rel=0.05)


def test_ritz_values_are_energies_and_bounds(walk, rng):
    _, A = walk
    pairs = leading_eigenpairs(A, which="algebraic")
    trial = rng.normal(size=(30, 6))
    energies, functions = rayleigh_ritz(A, np.column_stack([trial, trial[:, 0] + trial[:, 1]]))
    assert energies.shape == (6,)
    assert (energies >= 1 - pairs.eigenvalues[:6] - 1e-12).all()
    pi = A.stationary_distribution[:, None]
    np.testing.assert_allclose(functions.T @ (pi * functions), np.eye(6), atol=1e-12)
    np.testing.assert_allclose(dirichlet_energy(A, functions), energies, atol=1e-12)
    energies, functions = rayleigh_ritz(A, pairs.right[:, :4] @ rng.normal(size=(4, 4)))
    np.testing.assert_allclose(energies, 1 - pairs.eigenvalues[:4], atol=1e-10)


def test_bad_functions(walk):
    _, A = walk
    with pytest.raises(DataError, match="29 rows"):
        dirichlet_energy(A, np.zeros(29))
    with pytest.raises(DataError, match="NaN"):
        rayleigh_ritz(A, np.full((30, 2), np.nan))
    with pytest.raises(DataError, match="all 0"):
        rayleigh_ritz(A, np.zeros((30, 2)))
    with pytest.raises(ParameterError, match="epsilon"):
        dirichlet_energy(A, np.zeros(30), -1.0)


def test_schroedinger_form_is_its_definition(walk):
    K, A = walk
    W = np.diag(K.sum(axis=1) ** 0.5)
    expected = 4 / 0.3 * W @ (np.eye(30) - naive.markov_matrix(K, 0.5)) @ np.linalg.inv(W)
    H = schroedinger_operator(A, 0.3)
    np.testing.assert_allclose(H @ np.eye(30), expected, atol=1e-11)
    np.testing.assert_allclose(H.H @ np.eye(30), expected.T, atol=1e-11)
    np.testing.assert_allclose(schroedinger_potential(A, 0.3), expected.sum(axis=1), atol=1e-11)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_schroedinger_potential_of_a_normal_density(alpha):
    x, A = normal_walk(alpha)
    s = 2 * (1 - alpha)
    inside = np.abs(x) < 1.2
    V = schroedinger_potential(A, EPSILON)[inside]
    np.testing.assert_allclose(V, s**2 / 4 * x[inside] ** 2 - s / 2, atol=0.06)
