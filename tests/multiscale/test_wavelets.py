"""Diffusion wavelets: compressed powers against dense ones, and the laws of their bases."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diffclass import MarkovOperator, ParameterError, leading_eigenpairs, markov_operator
from diffclass.multiscale import diffusion_wavelets, levels
from diffclass.spectral.distances import numerical_rank
from experiments.datasets import make_swiss_roll
from experiments.multiscale import powers
from tests import naive

ACCURACY = 1e-7


def roll(n=300):
    return np.asarray(make_swiss_roll(n, random_state=0)[0], dtype=np.float64)


def affinity(name):
    """Affinities of graphs that are wide, in pieces, bipartite or full."""
    rng = np.random.default_rng(7)
    if name == "roll":
        return markov_operator(roll(), n_neighbors=10).affinity.toarray()
    if name == "two rolls and a lonely point":
        part = markov_operator(roll(150), n_neighbors=8).affinity.toarray()
        K = np.zeros((301, 301))
        K[:150, :150] = K[150:300, 150:300] = part
        K[300, 300] = 1.0
        return K
    if name == "bipartite":
        block = rng.random((20, 30)) * (rng.random((20, 30)) < 0.4) + 1e-3
        return np.block([[np.zeros((20, 20)), block], [block.T, np.zeros((30, 30))]])
    K = rng.random((60, 60)) ** 6
    return K + K.T


GRAPHS = ("roll", "two rolls and a lonely point", "bipartite", "full")


@pytest.fixture(scope="module", params=GRAPHS)
def case(request):
    """An affinity, its operator and its wavelets, of small cells."""
    K = affinity(request.param)
    operator = MarkovOperator.from_affinity(K)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(levels, "CELL_SIZE", 40)
        return K, operator, diffusion_wavelets(operator, accuracy=ACCURACY)


def norm(operator, f):
    """Norms of the columns of f in the weights pi."""
    return np.sqrt(operator.stationary_distribution @ f**2)


@pytest.mark.parametrize("t", [0, 1, 2, 3, 4, 7, 8, 21, 64, 1000, 2**20 + 5])
def test_powers_equal_dense_ones(case, t, rng):
    K, operator, found = case
    A = naive.markov_matrix(K)
    f = rng.normal(size=(len(K), 3))
    f /= norm(operator, f)
    exact = np.linalg.matrix_power(A, t) @ f
    assert norm(operator, found.apply(f, t) - exact).max() < ACCURACY


def test_several_times_and_a_single_column(case, rng):
    _, _, found = case
    f = rng.normal(size=len(found))
    at_once = found.apply(f, [3, 0, 50])
    np.testing.assert_array_equal(at_once[0], found.apply(f, 3))
    np.testing.assert_allclose(at_once[1], f, atol=1e-12)
    np.testing.assert_allclose(at_once[2], found.apply(f[:, None], 50)[:, 0], atol=1e-14)


def test_scaling_functions_and_wavelets_are_orthonormal(case):
    _, operator, found = case
    pi = operator.stationary_distribution[:, None]
    last = len(found.levels)
    basis = [found.wavelets(level) for level in range(1, last + 1)]
    basis = np.concatenate([*basis, found.scaling_functions(last)], axis=1)
    assert basis.shape == (len(found), len(found))
    np.testing.assert_allclose(basis.T @ (pi * basis), np.eye(len(found)), atol=1e-11)
    for level in range(last + 1):
        scaling = found.scaling_functions(level)
        assert scaling.shape[1] == found.ranks[level]
        np.testing.assert_allclose(scaling.T @ (pi * scaling), np.eye(scaling.shape[1]), atol=1e-11)


def test_transform_and_inverse(case, rng):
    _, operator, found = case
    f = rng.normal(size=(len(found), 2))
    coefficients = found.transform(f)
    np.testing.assert_allclose(found.inverse_transform(coefficients), f, atol=1e-11)
    energy = sum((part**2).sum(axis=0) for part in coefficients)
    np.testing.assert_allclose(energy, norm(operator, f) ** 2, rtol=1e-12)
    single = found.transform(f[:, 0])
    assert all(part.ndim == 1 for part in single)
    np.testing.assert_allclose(found.inverse_transform(single), f[:, 0], atol=1e-11)


def test_powers_do_not_see_wavelets(case):
    _, operator, found = case
    for j, level in enumerate(found.levels[:8]):
        unseen = found.wavelets(j + 1)
        if unseen.shape[1]:
            erased = operator.apply(unseen, level.time, tolerance=0)
            assert norm(operator, erased).max() < 2 * ACCURACY


def test_constants_of_components_stay(case):
    _, operator, found = case
    constant = operator.components + 1.5
    assert found.ranks[-1] >= operator.n_connected_components
    for t in (1, 2, 1023, 2**40):
        np.testing.assert_allclose(found.apply(constant, t), constant, rtol=1e-12)
    for level in range(len(found.levels) + 1):
        np.testing.assert_allclose(found.smooth(constant, level), constant, rtol=1e-10)


def test_smoothing_is_a_projection_on_nested_spaces(case, rng):
    _, _, found = case
    f = rng.normal(size=len(found))
    last = len(found.levels)
    np.testing.assert_allclose(found.smooth(f, 0), f, atol=1e-12)
    for fine, coarse in ((2, 5), (4, last), (last, last)):
        expected = found.smooth(f, coarse)
        np.testing.assert_allclose(
            found.smooth(found.smooth(f, fine), coarse), expected, atol=1e-11
        )
        np.testing.assert_allclose(
            found.smooth(found.smooth(f, coarse), fine), expected, atol=1e-11
        )


def test_ranks_fall_to_the_numerical_rank(case):
    _, operator, found = case
    assert (np.diff(found.ranks) <= 0).all()
    pairs = leading_eigenpairs(operator)
    for level in range(1, len(found.levels)):
        time = found.levels[level - 1].time
        assert found.ranks[level] >= numerical_rank(pairs, time, 2 * ACCURACY)
        if found.ranks[level - 1] <= 160:  # one cell: nothing is lost at borders of cells
            assert found.ranks[level] <= numerical_rank(pairs, time, ACCURACY / 20)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**16), n=st.integers(1, 30), t=st.integers(0, 500))
def test_any_graph_at_any_time(seed, n, t):
    rng = np.random.default_rng(seed)
    K = rng.random((n, n)) * (rng.random((n, n)) < 0.2)
    K = K + K.T + np.diag(rng.random(n) < 0.5) + np.diag(np.full(n, 1e-9))
    operator = MarkovOperator.from_affinity(K)
    found = diffusion_wavelets(operator, accuracy=1e-8)
    f = rng.normal(size=(n, 2))
    exact = np.linalg.matrix_power(naive.markov_matrix(K), t) @ f
    difference = norm(operator, found.apply(f, t) - exact)
    assert (difference <= 1e-8 * norm(operator, f)).all()
    back = found.inverse_transform(found.transform(f))
    root = np.sqrt(operator.stationary_distribution)[:, None]
    np.testing.assert_allclose(root * back, root * f, atol=1e-12 * np.abs(root * f).max())


@pytest.mark.parametrize("accuracy", [1e-3, 1e-6, 1e-10])
def test_slow_modes_are_as_accurate(accuracy, rng):
    # what is left out of an early power counts t times in a mode that hardly decays
    K = markov_operator(np.linspace(0, 1, 200)[:, None], n_neighbors=6).affinity.toarray()
    K[:100, 100:] *= 1e-6
    K[100:, :100] *= 1e-6
    operator = MarkovOperator.from_affinity(K)
    found = diffusion_wavelets(operator, accuracy=accuracy)
    f = rng.normal(size=(200, 3)) + (np.arange(200) < 100)[:, None]
    f /= norm(operator, f)
    for t in (10**2, 10**4, 10**6, 10**7):
        exact = np.linalg.matrix_power(naive.markov_matrix(K), t) @ f
        assert norm(operator, found.apply(f, t) - exact).max() < max(accuracy, 1e-8)


def test_same_seed_same_wavelets(rng):
    operator = markov_operator(roll(), n_neighbors=8)
    f = rng.normal(size=300)
    first, second = (diffusion_wavelets(operator, random_state=3).apply(f, 9) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_few_levels_reach_no_further():
    operator = markov_operator(roll(), n_neighbors=8)
    found = diffusion_wavelets(operator, max_levels=3)
    assert [level.time for level in found.levels] == [1, 2, 4]
    exact = operator.apply(np.eye(300)[:, 0], 7)
    np.testing.assert_allclose(found.apply(np.eye(300)[:, 0], 7), exact, atol=1e-6)
    with pytest.raises(ParameterError, match=r"below 2\^3"):
        found.apply(np.zeros(300), 8)


def test_bad_input():
    operator = MarkovOperator.from_affinity(affinity("full"))
    found = diffusion_wavelets(operator)
    for accuracy in (0.0, 1e-14, 0.5, np.nan):
        with pytest.raises(ParameterError, match="accuracy"):
            diffusion_wavelets(operator, accuracy=accuracy)
    with pytest.raises(ParameterError, match="loosen accuracy"):
        diffusion_wavelets(operator, max_entries=1000)
    with pytest.raises(ParameterError, match="60 distinct points"):
        found.apply(np.zeros(61))
    with pytest.raises(ParameterError, match="n_steps"):
        found.apply(np.zeros(60), -1)
    with pytest.raises(ParameterError, match="level = 99"):
        found.smooth(np.zeros(60), 99)
    for level in (0, len(found.levels) + 1, 99, 1.0):
        with pytest.raises(ParameterError, match=f"level = {level}"):
            found.wavelets(level)
    with pytest.raises(ParameterError, match="functions are numbered 0 to 59"):
        found.scaling_functions(0, [60])
    with pytest.raises(ParameterError, match="coefficients"):
        found.inverse_transform(found.transform(np.zeros(60))[1:])


def test_the_experiment_measures_errors_below_the_accuracy():
    row = powers.measured("roll, 3,000", markov_operator(roll(), n_neighbors=8), 1e-3)
    assert 0 < row["error"] < 1e-3
    assert row["rank_64"] > row["rank_4096"] >= row["rank_262144"] == 1
    assert len(powers.table([{name: str(value) for name, value in row.items()}])) == 3
