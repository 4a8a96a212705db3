"""Laplacians, generators, the heat kernel and energies: identities, and limits that are known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm, truncnorm

from diffclass import (
    DataError,
    DiffusionMap,
    MarkovOperator,
    ParameterError,
    leading_eigenpairs,
    markov_operator,
)
from diffclass.kernels import Gaussian
from diffclass.operators.laplacians import (
    dirichlet_energy,
    generator,
    generator_eigenvalues,
    heat_steps,
    random_walk_laplacian,
    rayleigh_ritz,
    schroedinger_operator,
    schroedinger_potential,
    symmetric_laplacian,
    unnormalized_laplacian,
)
from experiments.coifman_2005.potentials import (
    double_well,
    fokker_planck_spectrum,
    ornstein_uhlenbeck_spectrum,
    sample_double_well,
    sample_ornstein_uhlenbeck,
)
from experiments.datasets import make_circle, make_flat_torus, make_interval, make_sphere
from tests import naive


def unlikeness(f, g):
    return 1 - abs(np.corrcoef(f, g)[0, 1])


# --- views


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_the_three_laplacians_are_their_definitions(rng, alpha):
    K = rng.random((20, 20))
    A = MarkovOperator.from_affinity(K + K.T, alpha=alpha)
    normalised, d = naive.normalised(K + K.T, alpha)
    unit = np.eye(20)
    L = np.diag(d) - normalised
    for view, expected in (
        (unnormalized_laplacian(A), L),
        (random_walk_laplacian(A), L / d[:, None]),
        (symmetric_laplacian(A), L / np.sqrt(np.outer(d, d))),
        (generator(A, 0.3), L / d[:, None] / 0.3),
    ):
        np.testing.assert_allclose(view @ unit, expected, atol=1e-12)
        np.testing.assert_allclose(view.H @ unit, expected.T, atol=1e-12)
        np.testing.assert_allclose(view @ unit[0], expected[:, 0], atol=1e-12)


def test_constants():
    assert heat_steps(0.5, 0.01) == 200
    assert generator_eigenvalues(np.array([1, 0.75]), 0.5).tolist() == [0, 2]
    with pytest.raises(ParameterError, match="epsilon"):
        heat_steps(1, 0)
    with pytest.raises(ParameterError, match="epsilon"):
        generator(MarkovOperator.from_affinity(np.eye(2)), -1)


# --- limits


def test_circle():
    X, angle = make_circle(2000, regular=True)
    found = DiffusionMap(6, bandwidth=0.005).fit(X)
    rates = generator_eigenvalues(found.eigenvalues_, 0.005)
    np.testing.assert_allclose(rates, [1, 1, 4, 4, 9, 9], rtol=0.02)
    exact = leading_eigenpairs(found.operator_, 7, tolerance=1e-9)
    for k in (1, 2, 3):
        plane = exact.right[:, 2 * k - 1 : 2 * k + 1]
        waves = np.column_stack([np.cos(k * angle), np.sin(k * angle)])
        left = waves - plane @ np.linalg.lstsq(plane, waves, rcond=None)[0]
        assert np.linalg.norm(left) < 1e-6 * np.linalg.norm(waves)


def test_flat_torus():
    X, _ = make_flat_torus(2500, regular=True)
    found = DiffusionMap(8, n_neighbors=80).fit(X)
    rates = generator_eigenvalues(found.eigenvalues_, found.epsilon_)
    np.testing.assert_allclose(rates, [1] * 4 + [2] * 4, rtol=0.05)


def test_interval():
    X, s = make_interval(2000, length=2 * np.pi, regular=True)
    found = DiffusionMap(4, bandwidth=0.005).fit(X)
    rates = generator_eigenvalues(found.eigenvalues_, 0.005)
    np.testing.assert_allclose(rates, [0.25, 1, 2.25, 4], rtol=0.05)
    for k in range(4):
        assert unlikeness(found.eigenpairs_.right[:, k + 1], np.cos((k + 1) * s / 2)) < 0.003


def test_a_non_uniform_interval_has_the_uniform_ones_spectrum():
    X, s = make_interval(2000, length=2 * np.pi, density=0.6, regular=True)
    for alpha, is_same in ((1.0, True), (0.0, False)):
        found = DiffusionMap(3, bandwidth=0.01, alpha=alpha).fit(X)
        rates = generator_eigenvalues(found.eigenvalues_, 0.01)
        assert np.allclose(rates, [0.25, 1, 2.25], rtol=0.1) == is_same
        unlike = [
            unlikeness(found.eigenpairs_.right[:, k + 1], np.cos((k + 1) * s / 2)) for k in range(3)
        ]
        assert (max(unlike) < 0.01) == is_same


def test_sphere():
    X, _ = make_sphere(4000, regular=True)
    found = DiffusionMap(8, n_neighbors=100).fit(X)
    rates = generator_eigenvalues(found.eigenvalues_, found.epsilon_)
    np.testing.assert_allclose(rates, [2] * 3 + [6] * 5, rtol=0.05)
    first = found.eigenpairs_.right[:, 1:4]
    for coordinate in X.T:
        fitted = first @ np.linalg.lstsq(first, coordinate, rcond=None)[0]
        assert unlikeness(fitted, coordinate) < 0.001


def test_ornstein_uhlenbeck():
    X, x = sample_ornstein_uhlenbeck(3000, theta=1.0, random_state=0)
    found = DiffusionMap(2, bandwidth=0.05, alpha=0.5).fit(X)
    rates = generator_eigenvalues(found.eigenvalues_, 0.05)
    expected, functions = ornstein_uhlenbeck_spectrum(x, n_pairs=3, theta=1.0)
    np.testing.assert_allclose(rates, expected[1:], rtol=0.1)
    assert unlikeness(found.eigenpairs_.right[:, 1], functions[:, 1]) < 0.01


@pytest.mark.parametrize(("alpha", "times"), [(0.5, 1), (0.0, 2)])
def test_double_well(alpha, times):
    """alpha = 1/2 sees the potential U, alpha = 0 sees it twice."""
    X, x = sample_double_well(4000, barrier=2.0, random_state=0)
    found = DiffusionMap(1, bandwidth=0.02, alpha=alpha).fit(X)
    rate = generator_eigenvalues(found.eigenvalues_, 0.02)[0]
    exact = fokker_planck_spectrum(
        lambda x: times * double_well(x, barrier=2.0), (x.min() - 0.2, x.max() + 0.2), n_pairs=2
    )
    assert rate == pytest.approx(exact.eigenvalues[1], rel=0.1)
    assert unlikeness(found.eigenpairs_.right[:, 1], exact.at(x)[:, 1]) < 0.01


def test_two_block_chain():
    stay, leave = 0.9, 0.1
    K = np.kron([[stay, leave], [leave, stay]], np.ones((4, 4)) / 4)
    found = leading_eigenpairs(MarkovOperator.from_affinity(K))
    np.testing.assert_allclose(found.eigenvalues[:2], [1, stay - leave], atol=1e-14)
    np.testing.assert_allclose(found.eigenvalues[2:], 0, atol=1e-14)
    np.testing.assert_allclose(np.abs(found.right[:, 1]), 1, atol=1e-14)


def test_powers_are_the_heat_kernel():
    """On the circle, exp(t Delta) cos(k theta) = exp(-k^2 t) cos(k theta)."""
    X, angle = make_circle(1000, regular=True)
    epsilon, t = 0.01, 0.3
    A = markov_operator(X, n_neighbors=100, kernel=Gaussian(bandwidth=epsilon), alpha=1)
    for k in (1, 2):
        wave = np.cos(k * angle)
        heat = A.apply(wave, heat_steps(t, epsilon))
        np.testing.assert_allclose(heat, np.exp(-(k**2) * t) * wave, atol=0.01)


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
