"""The spectrum: against dense LAPACK, known eigenvalues, and its own laws."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from diffclass import MarkovOperator, ParameterError, leading_eigenpairs, markov_operator
from diffclass.kernels import Gaussian
from diffclass.spectral import eigensolver, nystrom
from diffclass.spectral.eigensolver import make_orthonormal, project_out
from tests import naive


def random_affinity(rng, n=40, share=0.3):
    K = np.where(rng.random((n, n)) < share, rng.random((n, n)), 0)
    return K + K.T + np.eye(n)


def cycle(n, stay=0.5):
    """A walk on a cycle: eigenvalues stay + (1 - stay) cos(2 pi k / n), all but two double."""
    step = sp.diags_array([1.0, 1.0], offsets=[1, -1], shape=(n, n)).tolil()
    step[0, n - 1] = step[n - 1, 0] = 1
    return MarkovOperator.from_affinity(sp.csr_array((1 - stay) / 2 * step + stay * sp.eye(n)))


def cycle_spectrum(n, stay=0.5):
    return stay + (1 - stay) * np.cos(2 * np.pi * np.arange(n) / n)


@pytest.fixture
def by_filter(monkeypatch):
    monkeypatch.setattr(eigensolver, "DENSE_POINTS", 0)


# --- against dense


@pytest.mark.parametrize("solver", ["lapack", "filter"])
@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0, 1.5])
def test_pairs_are_lapacks(rng, alpha, solver, monkeypatch):
    if solver == "filter":
        monkeypatch.setattr(eigensolver, "DENSE_POINTS", 0)
    K = random_affinity(rng)
    A = MarkovOperator.from_affinity(K, alpha=alpha)
    found = leading_eigenpairs(A, 8, tolerance=1e-11)
    matrix = naive.markov_matrix(K, alpha)
    expected = np.linalg.eigvals(matrix).real
    expected = expected[np.argsort(-abs(expected))][:8]
    np.testing.assert_allclose(found.eigenvalues, expected, atol=1e-12)
    np.testing.assert_allclose(matrix @ found.right, found.right * found.eigenvalues, atol=1e-10)
    np.testing.assert_allclose(
        found.left.T @ matrix, (found.left * found.eigenvalues).T, atol=1e-10
    )


def test_all_pairs_make_the_powers_of_a(rng):
    K = random_affinity(rng)
    found = leading_eigenpairs(MarkovOperator.from_affinity(K, alpha=1))
    assert found.is_complete
    for t in (0, 1, 2, 5):
        power = (found.right * found.powers(t)) @ found.left.T
        expected = np.linalg.matrix_power(naive.markov_matrix(K, 1), t)
        np.testing.assert_allclose(power, expected, atol=1e-12)


def test_sparse_and_dense_agree_on_points(rng, by_filter):
    X = rng.normal(size=(300, 3))
    A = markov_operator(X, n_neighbors=299, kernel=Gaussian(bandwidth=1.0), alpha=1)
    K = np.exp(-np.minimum(naive.squared_distances(X), 60))
    dense = np.linalg.eigvals(naive.markov_matrix(K, 1)).real
    found = leading_eigenpairs(A, 10).eigenvalues
    np.testing.assert_allclose(found, np.sort(dense)[::-1][:10], atol=1e-12)


def test_single_precision_operators_have_double_precision_pairs(rng):
    X = rng.normal(size=(900, 3)).astype("f4")
    found = leading_eigenpairs(A := markov_operator(X), 6, tolerance=1e-10)
    assert A.dtype == np.float32
    assert found.right.dtype == np.float64
    S = A.symmetric_conjugate
    residual = S @ found.symmetric - found.symmetric * found.eigenvalues
    assert np.abs(residual).max() < 1e-9


# --- repeated, negative, crowded


def test_repeated_eigenvalues_come_in_full(by_filter):
    n = 700
    found = leading_eigenpairs(cycle(n), 21)
    expected = np.sort(cycle_spectrum(n))[::-1][:21]
    np.testing.assert_allclose(found.eigenvalues, expected, atol=1e-12)
    np.testing.assert_allclose(found.left.T @ found.right, np.eye(21), atol=1e-9)


@pytest.mark.parametrize("which", ["magnitude", "algebraic"])
def test_more_copies_than_columns_of_the_block(which, by_filter):
    A = star(n_arms=60, length=10)
    expected = np.linalg.eigvalsh(A.symmetric_conjugate @ np.eye(len(A)))[::-1][:25]
    assert np.ptp(expected[1:]) < 1e-12
    found = leading_eigenpairs(A, 25, which=which, tolerance=1e-10)
    np.testing.assert_allclose(found.eigenvalues, expected, atol=1e-12)
    np.testing.assert_allclose(found.left.T @ found.right, np.eye(25), atol=1e-12)


def test_crowded_eigenvalues():
    n = 4000  # the second eigenvalue is 1 - 6e-7
    found = leading_eigenpairs(cycle(n), 7, tolerance=1e-10)
    expected = np.sort(cycle_spectrum(n))[::-1][:7]
    np.testing.assert_allclose(found.eigenvalues, expected, atol=1e-12)
    angle = 2 * np.pi * np.arange(n) / n
    waves = np.sqrt(2) * np.stack([np.cos(angle), np.sin(angle)])
    np.testing.assert_allclose(np.linalg.svd(waves @ found.left[:, 1:3])[1], 1, atol=1e-6)


@pytest.mark.parametrize("which", ["magnitude", "algebraic"])
def test_equal_weights_leave_nothing_but_zeros(which, by_filter):
    found = leading_eigenpairs(MarkovOperator.from_affinity(np.ones((60, 60))), 4, which=which)
    np.testing.assert_allclose(found.eigenvalues, [1, 0, 0, 0], atol=1e-12)


def test_a_wrong_bound_of_the_spectrum_is_mended(rng, monkeypatch):
    A = cycle(900, stay=0.1)
    lanczos = eigensolver._lanczos
    monkeypatch.setattr(eigensolver, "_lanczos", lambda *args: (*lanczos(*args)[:2], 0.7))
    found = leading_eigenpairs(A, 7, which="algebraic", tolerance=1e-9)
    expected = np.sort(cycle_spectrum(900, 0.1))[::-1][:7]
    np.testing.assert_allclose(found.eigenvalues, expected, atol=1e-12)


def star(n_arms=30, length=20):
    """Equal paths that meet in a hub: each eigenvalue of a path n_arms - 1 times."""
    n = n_arms * length + 1
    K = sp.eye(n).tolil()
    for arm in range(n_arms):
        path = [0, *range(1 + arm * length, 1 + (arm + 1) * length)]
        for x, y in itertools.pairwise(path):
            K[x, y] = K[y, x] = 1
    return MarkovOperator.from_affinity(sp.csr_array(K))


def test_many_copies_come_in_full(by_filter):
    A = star()
    expected = np.linalg.eigvalsh(A.symmetric_conjugate @ np.eye(len(A)))[::-1][:25]
    assert np.ptp(expected[1:]) < 1e-12
    found = leading_eigenpairs(A, 25)
    np.testing.assert_allclose(found.eigenvalues, expected, atol=1e-10)
    np.testing.assert_allclose(found.left.T @ found.right, np.eye(25), atol=1e-9)


@pytest.mark.parametrize("solver", ["lapack", "filter"])
def test_negative_eigenvalues(solver, monkeypatch):
    if solver == "filter":
        monkeypatch.setattr(eigensolver, "DENSE_POINTS", 0)
    walk = cycle(60, stay=0.0)  # bipartite: -1 is an eigenvalue, all come in pairs of signs
    found = leading_eigenpairs(walk, 6, tolerance=1e-10)
    expected = np.sort(np.abs(cycle_spectrum(60, 0.0)))[::-1][:6]
    np.testing.assert_allclose(np.abs(found.eigenvalues), expected, atol=1e-12)
    assert found.eigenvalues.min() == pytest.approx(-1)
    A = walk.apply(np.eye(60))
    np.testing.assert_allclose(A @ found.right, found.right * found.eigenvalues, atol=1e-9)
    algebraic = leading_eigenpairs(walk, 6, which="algebraic").eigenvalues
    np.testing.assert_allclose(algebraic, np.sort(cycle_spectrum(60, 0.0))[::-1][:6], atol=1e-12)


def test_powers_of_negative_eigenvalues():
    found = leading_eigenpairs(cycle(4, stay=0.0))
    lowest = int(np.argmin(found.eigenvalues))
    assert found.powers(3)[lowest] == pytest.approx(-1)
    assert found.powers(2)[lowest] == pytest.approx(1)
    assert found.powers(2.5)[lowest] == pytest.approx(1)


@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-10])
def test_residuals_are_reported_and_below_the_tolerance(tolerance, rng):
    A = markov_operator(rng.normal(size=(1500, 3)))
    found = leading_eigenpairs(A, 9, tolerance=tolerance)
    S, phi = A.symmetric_conjugate, found.symmetric
    residuals = np.linalg.norm(S @ phi - phi * found.eigenvalues, axis=0)
    np.testing.assert_allclose(found.residuals, residuals, atol=1e-14)
    assert (found.residuals <= tolerance * np.abs(found.eigenvalues)).all()
    exact = leading_eigenpairs(A, 9, tolerance=1e-12).eigenvalues
    np.testing.assert_allclose(found.eigenvalues, exact, atol=max(tolerance, 1e-12))


def test_dependent_columns_become_orthonormal(rng):
    columns = rng.normal(size=(50, 6))
    columns[:, 4] = columns[:, 1] - columns[:, 2]
    known = np.linalg.qr(rng.normal(size=(50, 2)))[0]
    span = columns - known @ (known.T @ columns)
    make_orthonormal(columns, known)
    np.testing.assert_allclose(columns.T @ columns, np.eye(6), atol=1e-13)
    np.testing.assert_allclose(known.T @ columns, 0, atol=1e-13)
    np.testing.assert_allclose(columns @ (columns.T @ span), span, atol=1e-12)


# --- rounds for those that have not converged


def widths(monkeypatch):
    """Return a list that gets the number of columns of each filtered block."""
    found, filtered = [], eigensolver._filtered

    def noting(matrix, columns, *options):
        found.append(columns.shape[1])
        return filtered(matrix, columns, *options)

    monkeypatch.setattr(eigensolver, "_filtered", noting)
    return found


@pytest.mark.parametrize("which", ["magnitude", "algebraic"])
@pytest.mark.parametrize("tolerance", [1e-4, 1e-10])
def test_known_pairs_are_not_computed_again(which, tolerance, rng, monkeypatch):
    A = markov_operator(rng.normal(size=(1500, 3)))
    options = {"which": which, "tolerance": tolerance}
    exact = leading_eigenpairs(A, 60, which=which, tolerance=1e-12)
    half = leading_eigenpairs(A, 30, **options)
    filtered = widths(monkeypatch)
    found = leading_eigenpairs(A, 60, known=half, **options)
    assert max(filtered) < 60  # of 75 columns
    np.testing.assert_allclose(found.eigenvalues, exact.eigenvalues, atol=tolerance)
    S, phi = A.symmetric_conjugate, found.symmetric
    residuals = np.linalg.norm(S @ phi - phi * found.eigenvalues, axis=0)
    np.testing.assert_allclose(found.residuals, residuals, atol=1e-13)
    assert (residuals <= tolerance * np.abs(found.eigenvalues)).all()
    np.testing.assert_allclose(phi.T @ phi, np.eye(60), atol=1e-11)
    filtered.clear()
    again = leading_eigenpairs(A, 60, known=found, **options)
    assert not filtered
    np.testing.assert_allclose(again.right, found.right, atol=1e-12)


def test_known_pairs_of_a_disconnected_graph(rng, by_filter):
    blocks = [random_affinity(rng, n, 0.9) for n in (12, 60, 41)] + [np.eye(1)]
    A = MarkovOperator.from_affinity(sp.block_diag(blocks).toarray())
    exact = leading_eigenpairs(A, 20, tolerance=1e-10)
    for n_known in (1, 3, 4, 11):
        known = leading_eigenpairs(A, n_known, tolerance=1e-10)
        found = leading_eigenpairs(A, 20, tolerance=1e-10, known=known)
        np.testing.assert_allclose(found.eigenvalues, exact.eigenvalues, atol=1e-12)
        np.testing.assert_allclose(found.right, exact.right, atol=1e-7)


def test_columns_that_stay_hold_up_no_others(rng, monkeypatch):
    monkeypatch.setattr(eigensolver, "_SETTLED", 1.0)
    A = markov_operator(rng.normal(size=(1500, 3)))
    filtered = widths(monkeypatch)
    pairs = None
    for n_pairs in (20, 40, 80, 160):
        pairs = leading_eigenpairs(A, n_pairs, which="algebraic", tolerance=1e-4, known=pairs)
    assert len(filtered) < 40


@pytest.mark.parametrize("which", ["magnitude", "algebraic"])
def test_single_precision_meets_what_it_is_asked_for(which, rng, monkeypatch):
    A = markov_operator(rng.normal(size=(1500, 3)))
    exact = leading_eigenpairs(A, 200, which=which, tolerance=1e-10)
    precisions, product = [], eigensolver._product

    def noting(matrix, columns):
        precisions.append(columns.dtype)
        return product(matrix, columns)

    def projected(columns, known):
        precisions.extend([columns.dtype, known.dtype])
        return project_out(columns, known)

    monkeypatch.setattr(eigensolver, "_product", noting)
    monkeypatch.setattr(eigensolver, "project_out", projected)
    pairs = None
    for n_pairs, tolerance in ((50, 0.1), (200, 0.1), (200, 1e-5)):
        options = {"which": which, "tolerance": tolerance, "known": pairs}
        pairs = leading_eigenpairs(A, n_pairs, dtype="float32", **options)
        assert pairs.meet(tolerance)
        assert pairs.right.dtype == np.float64
    assert set(precisions) == {np.dtype(np.float32)}
    np.testing.assert_allclose(pairs.eigenvalues, exact.eigenvalues, atol=1e-5)
    S, phi = A.symmetric_conjugate, pairs.symmetric
    np.testing.assert_allclose(phi.T @ phi, np.eye(200), atol=1e-5)
    residuals = np.linalg.norm(S @ phi - phi * pairs.eigenvalues, axis=0)
    assert (residuals <= 2e-5 * np.abs(pairs.eigenvalues)).all()


def test_single_precision_has_its_bounds(rng):
    A = MarkovOperator.from_affinity(random_affinity(rng))
    with pytest.raises(ParameterError, match="single precision reaches 1e-05"):
        leading_eigenpairs(A, 3, dtype="float32")
    with pytest.raises(ParameterError, match="'float64' or 'float32'"):
        leading_eigenpairs(A, 3, dtype=int)


def test_the_first_pairs_of_more(rng):
    A = MarkovOperator.from_affinity(random_affinity(rng, 40))
    pairs = leading_eigenpairs(A, 9)
    few = pairs.first(4)
    np.testing.assert_array_equal(few.right, leading_eigenpairs(A, 4).right)
    assert len(few) == 4
    assert few.meet(1e-6)
    assert not replace(pairs, residuals=np.full(9, 1e-3)).meet(1e-6)


def test_refuses_known_pairs_of_something_else(rng):
    A, B = (MarkovOperator.from_affinity(random_affinity(rng, n)) for n in (40, 30))
    with pytest.raises(ParameterError, match="known has 9 eigenpairs of 40 points; at most 8 of"):
        leading_eigenpairs(A, 8, known=leading_eigenpairs(A, 9))
    with pytest.raises(ParameterError, match="known has 5 eigenpairs of 30 points"):
        leading_eigenpairs(A, 8, known=leading_eigenpairs(B, 5))


@pytest.mark.parametrize("closeness", [1.0, 1e-3, 1e-6])
def test_nearly_dependent_columns_become_orthonormal(closeness, rng):
    known, settled = np.split(np.linalg.qr(rng.normal(size=(300, 9)))[0], [2], axis=1)
    columns = rng.normal(size=(300, 1)) + closeness * rng.normal(size=(300, 20))
    columns += settled @ rng.normal(size=(7, 20)) / closeness
    make_orthonormal(columns, known, settled)
    every = np.hstack([known, settled, columns])
    np.testing.assert_allclose(every.T @ every, np.eye(29), atol=1e-12)


# --- components


def test_a_disconnected_graph_is_solved_by_component(rng, by_filter):
    blocks = [random_affinity(rng, n, 0.9) for n in (12, 30, 21)] + [np.eye(1)]
    K = sp.block_diag(blocks).toarray()
    order = rng.permutation(len(K))
    A = MarkovOperator.from_affinity(K[np.ix_(order, order)])
    found = leading_eigenpairs(A, 12)
    expected = np.linalg.eigvalsh(A.symmetric_conjugate @ np.eye(len(K)))
    expected = expected[np.argsort(-abs(expected))][:12]
    np.testing.assert_allclose(found.eigenvalues, expected, atol=1e-12)
    np.testing.assert_allclose(found.left.T @ found.right, np.eye(12), atol=1e-12)
    assert (found.right[:, 0] == 1).all()
    assert found.n_connected_components == 4
    for column in found.right[:, 1:4].T:  # contrasts are constant on each component
        for c in range(4):
            assert np.ptp(column[A.components == c]) < 1e-12
    for column in found.right[:, 4:].T:  # the others live on one
        assert len(np.unique(A.components[np.abs(column) > 1e-12])) == 1


def test_fewer_pairs_than_components():
    A = MarkovOperator.from_affinity(np.eye(5))
    found = leading_eigenpairs(A, 3)
    assert found.eigenvalues.tolist() == [1, 1, 1]
    np.testing.assert_allclose(found.left.T @ found.right, np.eye(3), atol=1e-14)
    assert len(leading_eigenpairs(A)) == 5


# --- laws


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 99), n=st.integers(2, 25), share=st.sampled_from([0.05, 0.3, 0.9]))
def test_laws(seed, n, share):
    rng = np.random.default_rng(seed)
    A = MarkovOperator.from_affinity(random_affinity(rng, n, share), alpha=rng.choice([0, 0.5, 1]))
    found = leading_eigenpairs(A)
    np.testing.assert_allclose(found.left.T @ found.right, np.eye(n), atol=1e-9)
    np.testing.assert_allclose(A @ found.right, found.right * found.eigenvalues, atol=1e-9)
    assert (np.abs(found.eigenvalues) <= 1 + 1e-12).all()
    assert (np.diff(np.abs(found.eigenvalues)) <= 1e-12).all()
    assert np.count_nonzero(found.eigenvalues > 1 - 1e-12) == A.n_connected_components


def test_the_seed_decides_and_signs_are_fixed(rng):
    A = markov_operator(rng.normal(size=(800, 3)))
    first, again = (leading_eigenpairs(A, 5, tolerance=1e-9, random_state=3) for _ in range(2))
    assert (first.right == again.right).all()
    other = leading_eigenpairs(A, 5, tolerance=1e-9, random_state=4)
    np.testing.assert_allclose(first.right, other.right, atol=1e-6)
    largest = np.abs(first.right).argmax(axis=0)
    assert (first.right[largest, np.arange(5)] > 0).all()


def test_numbering_does_not_matter(rng):
    X = rng.normal(size=(200, 3))
    order = rng.permutation(200)
    first, other = (leading_eigenpairs(markov_operator(points), 5) for points in (X, X[order]))
    np.testing.assert_allclose(first.eigenvalues, other.eigenvalues, atol=1e-12)
    np.testing.assert_allclose(first.right[order], other.right, atol=1e-9)


# --- where it does not converge


def test_no_convergence_warns_and_answers(by_filter):
    path = MarkovOperator.from_affinity(
        sp.diags_array([1.0, 1, 1], offsets=[-1, 0, 1], shape=(2000, 2000)).tocsr()
    )
    with pytest.warns(ConvergenceWarning, match=r"did not converge.*1 rounds.*residual is"):
        found = leading_eigenpairs(path, 4, max_rounds=1)
    assert found.right.shape == (2000, 4)
    np.testing.assert_allclose(found.left.T @ found.right, np.eye(4), atol=1e-9)
    S = path.symmetric_conjugate
    residual = S @ found.symmetric - found.symmetric * found.eigenvalues
    assert np.linalg.norm(residual, axis=0).max() < 1e-2


def test_tiny_eigenvalues_are_no_reason_to_warn(by_filter):
    X = np.linspace(0, 1, 400)[:, None]
    A = markov_operator(X, n_neighbors=399, kernel=Gaussian(bandwidth=4.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = leading_eigenpairs(A, 9)
    dense = np.linalg.eigvalsh(A.symmetric_conjugate @ np.eye(400))[::-1][:9]
    np.testing.assert_allclose(found.eigenvalues, dense, atol=1e-14)
    assert found.eigenvalues[-1] < 1e-10


@pytest.mark.parametrize("n_pairs", [0, -1, 2.5, 41, "all"])
def test_refuses_numbers_of_pairs(rng, n_pairs):
    with pytest.raises(ParameterError, match="n_pairs"):
        leading_eigenpairs(MarkovOperator.from_affinity(random_affinity(rng)), n_pairs)


@pytest.mark.parametrize(
    "bad", [{"which": "LM"}, {"tolerance": 0}, {"max_rounds": 0}, {"max_rounds": 1.5}]
)
def test_refuses_options(bad):
    with pytest.raises(ParameterError, match=next(iter(bad))):
        leading_eigenpairs(MarkovOperator.from_affinity(np.eye(3)), 2, **bad)


# --- new points


@pytest.mark.parametrize("time", [0, 1, 2.5])
def test_nystrom_of_the_fitted_points_is_the_eigenfunctions(rng, time):
    """A psi_l = lambda_l psi_l, whatever the rows of the weights sum to."""
    operator = MarkovOperator.from_affinity(random_affinity(rng) + 40 * np.eye(40))
    pairs = leading_eigenpairs(operator, 6)
    assert 0 < pairs.eigenvalues[5] < 1 - 1e-3
    weights = sp.csr_array(operator.affinity * rng.uniform(0.5, 2, 40)[:, None])
    expected = (pairs.right * pairs.eigenvalues**time)[:, 1:]
    np.testing.assert_allclose(nystrom(weights, pairs, time=time), expected, atol=1e-10)
