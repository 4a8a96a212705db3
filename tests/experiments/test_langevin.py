"""Paths of the Langevin equation: their stationary density, memory and crossings."""

from __future__ import annotations

import numpy as np
import pytest

from diffclass import MarkovOperator, ParameterError, leading_eigenpairs
from diffclass.operators.laplacians import generator_eigenvalues
from experiments.coifman_2005.langevin import double_well_path, langevin_path
from experiments.coifman_2005.potentials import double_well, fokker_planck_spectrum


def quadratic(n_points, step, thinning=1, **given):
    return langevin_path(
        n_points,
        potential=lambda x: 2 * x[0] ** 2 + x[1] ** 2 / 2,
        gradient=lambda x: x * [4.0, 1.0],
        step=step,
        thinning=thinning,
        **{"random_state": 0, "start": [0.0, 0.0], **given},
    )


@pytest.mark.parametrize("step", [0.05, 0.4])
def test_the_density_is_exact_whatever_the_step(step):
    X, _ = quadratic(20_000, step)
    np.testing.assert_allclose(X.var(axis=0), [0.25, 1.0], rtol=0.12)
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=0.12)


def test_memory_falls_as_the_equation_says():
    X, times = quadratic(20_000, 0.01, thinning=10)
    assert times[1] - times[0] == pytest.approx(0.1)
    for lag in (2, 5):
        expected = np.exp(-0.1 * lag * np.array([4.0, 1.0]))
        found = [np.corrcoef(x[:-lag], x[lag:])[0, 1] for x in X.T]
        np.testing.assert_allclose(found, expected, atol=0.05)


def test_relaxation_of_the_double_well_from_a_path():
    X, _ = double_well_path(2000, barrier=2.0, thinning=30, random_state=1)
    assert 0.25 < np.mean(X > 0) < 0.75
    known = fokker_planck_spectrum(lambda x: double_well(x, barrier=2.0), (-2.6, 2.6)).eigenvalues
    epsilon = 0.03
    K = np.exp(-((X - X.T) ** 2) / epsilon)
    pairs = leading_eigenpairs(MarkovOperator.from_affinity(K, alpha=0.5), 2)
    slowest = generator_eigenvalues(pairs.eigenvalues, epsilon)[1]
    assert slowest == pytest.approx(known[1], rel=0.3)


def test_bad_input():
    with pytest.raises(ParameterError, match="n_points"):
        double_well_path(0)
    with pytest.raises(ParameterError, match="barrier"):
        double_well_path(5, barrier=-1.0)
    with pytest.raises(ParameterError, match="thinning"):
        quadratic(5, 0.1, thinning=0)
    with pytest.raises(ParameterError, match="shorter steps"), np.errstate(all="ignore"):
        langevin_path(
            50,
            potential=lambda x: np.log(x[0]),
            gradient=lambda x: 1 / x,
            start=[0.0],
            step=0.1,
        )
    with pytest.raises(ParameterError, match=r"have to be \(\) and \(1,\)"):
        langevin_path(5, potential=lambda x: x, gradient=lambda x: x, start=[0.0], step=0.1)
