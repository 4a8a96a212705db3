"""Points drawn from Boltzmann densities, and the spectra of their diffusions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from diffclass.exceptions import DataError, ParameterError
from experiments.coifman_2005.potentials import (
    double_well,
    fokker_planck_spectrum,
    ornstein_uhlenbeck_spectrum,
    sample_double_well,
    sample_ornstein_uhlenbeck,
    sample_potential,
)


def flat(x):
    return 0.5 * x**2


@pytest.mark.parametrize("barrier", [0.5, 3.0, 20.0])
def test_double_well_sample_follows_boltzmann(barrier):
    _, x = sample_double_well(4000, barrier=barrier, random_state=0)
    grid = np.linspace(-5, 5, 100_001)
    cdf = integrate.cumulative_trapezoid(
        np.exp(-double_well(grid, barrier=barrier)), grid, initial=0
    )
    assert stats.kstest(x, lambda s: np.interp(s, grid, cdf / cdf[-1])).pvalue > 1e-3


def test_ornstein_uhlenbeck_sample():
    _, x = sample_ornstein_uhlenbeck(5000, theta=4.0, random_state=0)
    assert stats.kstest(x, "norm", args=(0, 0.5)).pvalue > 1e-3


@pytest.mark.parametrize("theta", [0.3, 1.0, 7.0])
def test_fokker_planck_against_hermite(theta):
    end = 7.5 / np.sqrt(theta)
    computed = fokker_planck_spectrum(lambda x: theta * x**2 / 2, (-end, end), n_pairs=6)
    np.testing.assert_allclose(computed.eigenvalues / theta, np.arange(6), atol=1e-3)
    x = np.linspace(-2.5, 2.5, 41) / np.sqrt(theta)
    values, functions = ornstein_uhlenbeck_spectrum(x, n_pairs=6, theta=theta)
    np.testing.assert_allclose(values, theta * np.arange(6))
    np.testing.assert_allclose(computed.at(x), functions, atol=1e-3)


def test_hermite_functions_are_orthonormal():
    nodes, weights = np.polynomial.hermite_e.hermegauss(30)
    _, functions = ornstein_uhlenbeck_spectrum(nodes / np.sqrt(2.0), n_pairs=8, theta=2.0)
    weights = weights / weights.sum()
    np.testing.assert_allclose(functions.T @ (weights[:, None] * functions), np.eye(8), atol=1e-9)


def test_fokker_planck_of_no_potential_is_the_neumann_interval():
    eigenpairs = fokker_planck_spectrum(np.zeros_like, (0.0, 3.0), n_pairs=5)
    np.testing.assert_allclose(eigenpairs.eigenvalues, (np.arange(5) * np.pi / 3) ** 2, rtol=1e-4)
    exact = np.cos(np.outer(eigenpairs.grid, np.arange(5)) * np.pi / 3) * np.sqrt(2)
    exact[:, 0] = 1
    exact *= np.sign(exact[-1])
    np.testing.assert_allclose(eigenpairs.eigenfunctions, exact, atol=1e-4)


def test_fokker_planck_errors_fall_with_the_square_of_the_step():
    # not tested on a parabola, where the terms of h^2 cancel
    values = [
        fokker_planck_spectrum(double_well, (-2, 2), n_grid=n, n_pairs=3).eigenvalues[2]
        for n in (100, 200, 400, 6400)
    ]
    errors = np.subtract(values[:-1], values[-1])
    np.testing.assert_allclose(errors[:-1] / errors[1:], 4, rtol=0.05)


def test_fokker_planck_pairs_are_orthonormal_and_constant_first():
    eigenpairs = fokker_planck_spectrum(double_well, (-2.3, 2.3), n_pairs=4)
    f, w = eigenpairs.eigenfunctions, eigenpairs.weights
    assert w.sum() == pytest.approx(1)
    np.testing.assert_allclose(f.T @ (w[:, None] * f), np.eye(4), atol=1e-9)
    assert eigenpairs.eigenvalues[0] == 0
    np.testing.assert_allclose(f[:, 0], 1, rtol=1e-9)
    # the constant is dropped; the others change sign as often as their number says
    changes = (np.diff(np.sign(f), axis=0) != 0).sum(axis=0)
    assert changes.tolist() == [0, 1, 2, 3]


def test_crossing_rate_of_a_high_barrier_is_that_of_kramers():
    barrier = 12.0
    eigenpairs = fokker_planck_spectrum(
        lambda x: double_well(x, barrier=barrier), (-1.9, 1.9), n_pairs=3
    )
    # Kramers for G = f'' - U' f': sqrt(U''(1) |U''(0)|) / (2 pi) exp(-barrier) each way
    rate = np.sqrt(8 * barrier * 4 * barrier) / (2 * np.pi) * np.exp(-barrier)
    assert eigenpairs.eigenvalues[1] == pytest.approx(2 * rate, rel=0.15)
    # nearly constant on each well
    assert eigenpairs.at([-1.0, 1.0])[:, 1] == pytest.approx([-1, 1], abs=0.01)


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: fokker_planck_spectrum(flat, (1.0, 1.0)), "interval"),
        (lambda: fokker_planck_spectrum(flat, (2.0, -1.0)), "interval"),
        (lambda: fokker_planck_spectrum(flat, (0.0, np.inf)), "interval"),
        (lambda: fokker_planck_spectrum(flat, 3.0), "interval"),
        (lambda: fokker_planck_spectrum(flat, (0.0, 1.0), n_grid=5), "n_grid"),
        (lambda: fokker_planck_spectrum(flat, (0.0, 1.0), n_pairs=0), "n_pairs"),
        (lambda: fokker_planck_spectrum(lambda x: 1.0, (0.0, 1.0)), "potential"),
        (
            lambda: fokker_planck_spectrum(lambda x: np.where(x < 0, np.nan, x), (-1, 1)),
            "not finite at -",
        ),
        (
            lambda: sample_potential(9, potential=lambda x: x * np.inf, interval=(1, 2)),
            "not finite",
        ),
        (lambda: ornstein_uhlenbeck_spectrum([0.0], n_pairs=0), "n_pairs"),
        (lambda: ornstein_uhlenbeck_spectrum([0.0], theta=0), "theta"),
        (lambda: double_well([0.0], barrier=-1), "barrier"),
    ],
)
def test_spectra_refuse(call, names):
    with pytest.raises(ParameterError, match=names):
        call()


def test_hermite_refuses_places_that_are_none():
    with pytest.raises(DataError, match="x holds NaN"):
        ornstein_uhlenbeck_spectrum([0.0, np.nan])
