"""The operator against dense matrices, and its laws."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import shortest_path

from diffclass import MarkovOperator, diffuse_labels, markov_operator
from diffclass.exceptions import DataError, ParameterError
from diffclass.kernels import Gaussian, Isotropic
from diffclass.operators.chebyshev import power_coefficients
from diffclass.operators.processor import Processor
from tests import naive


def random_affinity(rng, n=40, degree=5):
    K = np.where(rng.random((n, n)) < degree / n, rng.random((n, n)), 0)
    K = K + K.T
    np.fill_diagonal(K, 1)
    return K


def two_cliques(m, weight):
    """Two blocks of m points; all weights 1 inside, ``weight`` between."""
    same = np.kron(np.eye(2), np.ones((m, m)))
    return same + weight * (1 - same)


def chain(n):
    return np.eye(n, k=1) + np.eye(n, k=-1)


def near(threshold):
    def profile(u):
        return (u < threshold) * 1.0

    return profile


@pytest.mark.parametrize("alpha", [0, 0.5, 1, np.float32(0.25), 2.0])
def test_alpha_family(rng, alpha):
    K = random_affinity(rng)
    A = MarkovOperator.from_affinity(sp.csr_array(K), alpha=alpha)
    expected, degrees = naive.normalised(K, float(alpha))
    np.testing.assert_allclose(A.affinity.toarray(), expected, rtol=1e-12)
    np.testing.assert_allclose(A.degrees, degrees, rtol=1e-12)
    np.testing.assert_allclose(A.density, K.sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(A @ np.eye(40), naive.markov_matrix(K, float(alpha)), atol=1e-14)


@pytest.mark.parametrize("t", [0, 1, 2, 7, 64])
@pytest.mark.parametrize("n_columns", [None, 1, 3, 9])
def test_powers(rng, t, n_columns):
    K = random_affinity(rng)
    A = MarkovOperator.from_affinity(K, alpha=0.5)
    power = np.linalg.matrix_power(naive.markov_matrix(K, 0.5), t)
    f = rng.normal(size=40 if n_columns is None else (40, n_columns))
    before = f.copy()
    np.testing.assert_allclose(A.apply(f, t), power @ f, atol=1e-12)
    np.testing.assert_allclose(A.forward(f, t), power.T @ f, atol=1e-12)
    assert A.apply(f, t).shape == f.shape
    assert (f == before).all()
    assert A.apply(f, t) is not f


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 99),
    n=st.integers(1, 30),
    alpha=st.sampled_from([0.0, 0.5, 1.0]),
    t=st.integers(0, 20),
)
def test_laws(seed, n, alpha, t):
    rng = np.random.default_rng(seed)
    A = MarkovOperator.from_affinity(random_affinity(rng, n), alpha=alpha)
    f, g, pi = rng.normal(size=n), rng.normal(size=n), A.stationary_distribution
    np.testing.assert_allclose(A.apply(np.ones(n), t), 1, atol=1e-12)
    np.testing.assert_allclose(A.forward(f, t).sum(), f.sum(), atol=1e-12 * n)
    np.testing.assert_allclose(A.forward(f, t) @ g, f @ A.apply(g, t), atol=1e-11)
    np.testing.assert_allclose(A.forward(pi, t), pi, atol=1e-12)
    np.testing.assert_allclose((pi * f) @ A.apply(g, t), (pi * A.apply(f, t)) @ g, atol=1e-12)
    np.testing.assert_allclose(A.apply(A.apply(f, 3), t), A.apply(f, t + 3), atol=1e-12)
    assert pi.sum() == pytest.approx(1, abs=1e-14)
    mass = A.forward(np.abs(f), t)
    assert (mass >= 0).all()
    values = A.apply(f, t)
    assert f.min() - 1e-12 <= values.min() <= values.max() <= f.max() + 1e-12


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 99))
def test_numbering_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    K, order, f = random_affinity(rng, 25), rng.permutation(25), rng.normal(size=25)
    A, B = (MarkovOperator.from_affinity(M, alpha=1) for M in (K, K[np.ix_(order, order)]))
    np.testing.assert_allclose(B.apply(f[order], 9), A.apply(f, 9)[order], atol=1e-12)


def test_symmetric_conjugate(rng):
    K = random_affinity(rng)
    A = MarkovOperator.from_affinity(K, alpha=1)
    S = A.symmetric_conjugate
    dense = S @ np.eye(40)
    np.testing.assert_allclose(dense, dense.T, atol=1e-14)
    np.testing.assert_allclose(S @ np.ones(40), dense.sum(axis=1), atol=1e-13)
    np.testing.assert_allclose(S.T @ np.ones(40), dense.sum(axis=1), atol=1e-13)
    np.testing.assert_allclose(
        np.linalg.eigvalsh(dense),
        np.sort(np.linalg.eigvals(naive.markov_matrix(K, 1)).real),
        atol=1e-12,
    )


def test_two_blocks_exactly():
    """A^t chi of two blocks: (1 + lambda^t) / 2 and (1 - lambda^t) / 2, lambda = (1-w)/(1+w)."""
    m, w = 5, 0.02
    A = MarkovOperator.from_affinity(two_cliques(m, w))
    chi = np.repeat([1.0, 0.0], m)
    for t in (1, 2, 10, 300):
        gap = ((1 - w) / (1 + w)) ** t
        expected = np.repeat([(1 + gap) / 2, (1 - gap) / 2], m)
        np.testing.assert_allclose(A.apply(chi, t), expected, atol=1e-13)


def test_a_bipartite_grid_keeps_its_eigenvalue_minus_one():
    K = np.kron(chain(8), np.eye(9)) + np.kron(np.eye(8), chain(9))
    A = MarkovOperator.from_affinity(K)
    checkerboard = (-1.0) ** np.add.outer(np.arange(8), np.arange(9)).ravel()
    np.testing.assert_allclose(A @ checkerboard, -checkerboard, atol=1e-14)
    values = np.linalg.eigvalsh(A.symmetric_conjugate @ np.eye(72))
    np.testing.assert_allclose(values, -values[::-1], atol=1e-12)
    assert values[0] == pytest.approx(-1)
    laplacian = 1 - values[::-1][:4]
    np.testing.assert_allclose(laplacian, np.sort(1 - values)[:4], atol=1e-12)
    assert (laplacian[1:] > 0.03).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtype_is_kept(rng, dtype):
    K = sp.csr_array(random_affinity(rng).astype(dtype))
    A = MarkovOperator.from_affinity(K, alpha=1)
    assert A.dtype == dtype
    assert A.affinity.indices.dtype == np.int32
    for f in (np.ones(40), np.ones(40, "f4"), np.ones(40, int), [1] * 40):
        assert A.apply(f, 2).dtype == dtype
        assert A.forward(f, 2).dtype == dtype
    assert A.stationary_distribution.dtype == np.float64
    np.testing.assert_allclose(A.apply(np.ones(40), 50), 1, atol=1e-14 if dtype == "f8" else 1e-4)


def test_a_frozen_value(rng):
    A = MarkovOperator.from_affinity(random_affinity(rng))
    with pytest.raises(AttributeError):
        A.alpha = 1
    f = rng.normal(size=40)
    for other in (pickle.loads(pickle.dumps(A)), copy.deepcopy(A)):
        assert (other @ f == A @ f).all()
    assert len(A) == 40
    assert A.shape == (40, 40)


# --- components and hops


def broken_affinity(rng, n=40):
    K = random_affinity(rng, n, degree=1.2)
    K[[3, 17]] = K[:, [3, 17]] = 0
    return K


def test_components_and_hops(rng):
    K = broken_affinity(rng)
    A = MarkovOperator.from_affinity(K)
    expected = naive.components(K)
    pairs = A.components[:, None] == A.components
    assert (pairs == (expected[:, None] == expected)).all()
    assert A.n_connected_components == expected.max() + 1
    groups = np.where(rng.random(40) < 0.15, rng.integers(0, 3, 40), -1)
    groups[:3] = [0, 1, 2]
    hops = A.hops(groups)
    assert hops.shape == (40, 3)
    assert (hops == naive.hops(K, groups)).all()
    paths = shortest_path(sp.csr_array(K > 0), unweighted=True)
    for i in range(3):
        nearest = paths[:, groups == i].min(axis=1)
        assert (hops[:, i] == np.where(np.isinf(nearest), -1, nearest)).all()


def test_no_groups(rng):
    assert MarkovOperator.from_affinity(np.eye(4)).hops([-1] * 4).shape == (4, 0)


def test_isolated_points_stay(rng):
    K = broken_affinity(rng)
    A = MarkovOperator.from_affinity(K, alpha=1)
    f = rng.normal(size=40)
    assert (A.apply(f, 5)[[3, 17]] == f[[3, 17]]).all()
    np.testing.assert_allclose(A @ np.ones(40), 1, atol=1e-14)
    empty = MarkovOperator.from_affinity(sp.csr_array((3, 3)))
    assert (empty @ [1, 2, 3] == [1, 2, 3]).all()


@pytest.mark.parametrize("check", [True, False])
def test_stored_zeros_are_no_edges(check):
    K = sp.csr_array(([1.0, 0.0, 0.0, 1.0], [0, 1, 0, 1], [0, 2, 4]), shape=(2, 2))
    A = MarkovOperator.from_affinity(K, check=check)
    assert A.n_connected_components == 2
    assert A.hops([0, -1]).ravel().tolist() == [0, -1]
    assert K.nnz == 4


def test_a_profile_that_ends_cuts_the_graph():
    X = np.array([[0.0], [1.0], [5.0], [6.0]])
    A = markov_operator(X, n_neighbors=3, kernel=Isotropic(near(2.0), bandwidth=1.0))
    assert A.n_connected_components == 2


def test_weights_too_small_to_invert():
    K = sp.block_diag([[[0, weight], [weight, 0]] for weight in (1e-41, 1)], format="csr")
    A = MarkovOperator.from_affinity(K.astype(np.float32))
    assert np.isfinite(A.apply([1, 2, 3, 4], 3)).all()
    np.testing.assert_allclose(A @ np.ones(4), 1)


# --- arrays of every kind


@pytest.mark.parametrize(
    "change",
    [
        sp.csr_matrix,
        sp.coo_array,
        sp.csc_array,
        lambda K: K.toarray(),
        lambda K: np.asfortranarray(K.toarray()),
        lambda K: K.toarray().astype(">f8"),
        lambda K: sp.csr_array(
            (K.data, K.indices.astype(np.int64), K.indptr.astype(np.int64)), K.shape
        ),
        lambda K: sp.csr_array(K.tocsc().T.tocsr()[:, ::-1][:, ::-1]),
    ],
    ids=["matrix", "coo", "csc", "dense", "Fortran", "big-endian", "int64", "unsorted"],
)
def test_any_matrix_will_do(rng, change):
    K = sp.csr_array(random_affinity(rng))
    f = rng.normal(size=40)
    np.testing.assert_allclose(
        MarkovOperator.from_affinity(change(K)) @ f,
        MarkovOperator.from_affinity(K) @ f,
        atol=1e-14,
    )


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64])
def test_whole_affinities(dtype):
    A = MarkovOperator.from_affinity(sp.csr_array(chain(4).astype(dtype)))
    assert (A @ [0, 1, 0, 1]).tolist() == [1, 0, 1, 0]


def test_any_columns_will_do(rng):
    A = MarkovOperator.from_affinity(random_affinity(rng))
    f = rng.normal(size=(40, 6))
    f.flags.writeable = False
    expected = A @ np.array(f)
    for g in (f, np.asfortranarray(f), f.astype(">f8"), f.tolist()):
        assert (A @ g == expected).all()
    assert (A @ np.repeat(f, 2, axis=1)[:, ::2] == expected).all()
    assert (A @ f)[:, 2].tolist() == (A @ f[:, 2]).tolist()
    assert A.apply(np.empty((40, 0)), 3).shape == (40, 0)


# --- refusals


@pytest.mark.parametrize(
    ("K", "message"),
    [
        ([[1, 2], [3, 1]], "not symmetric"),
        ([[1, -2], [-2, 1]], "negative"),
        ([[1, np.nan], [np.nan, 1]], "NaN"),
        ([[1, np.inf], [np.inf, 1]], "infinity"),
        ([[1, 2, 3], [2, 1, 3]], "square"),
        (np.empty((0, 0)), "square"),
    ],
)
def test_refuses_affinities(K, message):
    with pytest.raises(DataError, match=message):
        MarkovOperator.from_affinity(K)


@pytest.mark.parametrize("alpha", [-1, np.nan, "1", None, True])
def test_refuses_alpha(alpha):
    with pytest.raises(ParameterError, match="alpha"):
        MarkovOperator.from_affinity(np.eye(2), alpha=alpha)


@pytest.mark.parametrize("t", [-1, 1.5, True, "two", [3, -1]])
def test_refuses_steps(t):
    with pytest.raises(ParameterError, match="n_steps"):
        MarkovOperator.from_affinity(np.eye(2)).apply([1, 2], t)


@pytest.mark.parametrize("f", [[1], 3.0, np.ones((3, 2)), np.ones((2, 2, 2))])
def test_refuses_columns(f):
    A = MarkovOperator.from_affinity(np.eye(2))
    with pytest.raises(ParameterError, match="2 points"):
        A.apply(f)
    with pytest.raises(ParameterError, match="2 points"):
        A.forward(f)


# --- large times


@pytest.mark.parametrize(("dtype", "tolerance"), [("f4", 1e-6), ("f8", 1e-12), ("f8", 1e-4)])
@pytest.mark.parametrize("bipartite", [False, True])
def test_the_series_agrees_with_plain_powers(rng, dtype, tolerance, bipartite):
    K = random_affinity(rng, 60)
    if bipartite:  # an eigenvalue -1
        side = np.arange(60) % 2
        K = K * (side[:, None] != side) + 1e-3 * (np.abs(np.subtract.outer(side, side)) == 1)
    A = MarkovOperator.from_affinity(sp.csr_array(K.astype(dtype)))
    f = rng.normal(size=(60, 3)).astype(dtype)
    times = [500, 0, 37, 2000, 1, 37]
    powers = A.apply(f, times, tolerance=tolerance)
    degree = power_coefficients(times, tolerance).shape[1] - 1
    assert degree < 500
    size = np.sqrt(A.stationary_distribution @ f**2)
    rounding = 4 * degree * np.finfo(dtype).eps
    for t, power in zip(times, powers, strict=True):
        plain = A.apply(f, t, tolerance=0)
        error = np.sqrt(A.stationary_distribution @ (power - plain) ** 2)
        assert (error <= (tolerance + rounding) * size).all()
        assert power.dtype == dtype
    np.testing.assert_allclose(powers[2], powers[5])
    mass = rng.random(60).astype(dtype)
    moved = A.forward(mass, times)
    assert moved.shape == (6, 60)
    np.testing.assert_allclose(moved.sum(axis=1), mass.sum(), rtol=max(1e-11, rounding))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("t", [0, 1, 2, 9, 40, 300])
@pytest.mark.parametrize("n_columns", [None, 1, 3])
def test_expected_visits(rng, dtype, t, n_columns):
    K = random_affinity(rng)
    A = MarkovOperator.from_affinity(sp.csr_array(K.astype(dtype)))
    dense = naive.markov_matrix(K)
    f = rng.normal(size=40 if n_columns is None else (40, n_columns))
    total, last = A.expected_visits(f, t)
    powers = [np.linalg.matrix_power(dense, s) @ f for s in range(t + 1)]
    tolerance = {np.float32: 1e-4, np.float64: 1e-10}[dtype]
    np.testing.assert_allclose(last, powers[-1], atol=tolerance)
    np.testing.assert_allclose(total, sum(powers[1:], np.zeros_like(f)), atol=tolerance * (t + 1))
    assert (total.dtype, last.dtype) == (np.float64, dtype)
    plain, _ = A.expected_visits(f, t, tolerance=0)
    np.testing.assert_allclose(total, plain, atol=tolerance * (t + 1))


def test_the_series_takes_over_where_it_needs_fewer_products():
    products = []

    class Counting(Processor):
        def scaled_product(self, matrix, row_scale):
            product = super().scaled_product(matrix, row_scale)
            return lambda columns, out, **sums: (products.append(1), product(columns, out, **sums))

    A = MarkovOperator.from_affinity(np.eye(3) + 1).on(Counting())
    for t in (1, 10, 40, 100, 1000, 10_000):
        products.clear()
        A.apply([1.0, 0, 0], t)
        assert len(products) == min(t, power_coefficients([t], 1e-12).shape[1] - 1)
        assert len(products) <= max(np.ceil(np.sqrt(2 * t * np.log(2e12))), 1)
    assert len(products) < 1000


@pytest.mark.parametrize("t", [0, 1, 2, 5, 64, 1001, 100_000])
def test_chebyshev_coefficients_are_those_of_powers(t):
    x = np.array([-1, -0.9999, -0.3, 0, 0.5, 0.99, 1])
    coefficients = power_coefficients([t], 1e-13)[0]
    series = np.polynomial.chebyshev.chebval(x, coefficients)
    np.testing.assert_allclose(series, x**t, atol=3e-13)
    if t < 50:
        exact = np.polynomial.chebyshev.poly2cheb([0] * t + [1])
        np.testing.assert_allclose(power_coefficients([t], 0)[0], exact, rtol=1e-12)


@pytest.mark.parametrize("tolerance", [-1, np.nan, "small"])
def test_refuses_tolerances(tolerance):
    with pytest.raises(ParameterError, match="tolerance"):
        MarkovOperator.from_affinity(np.eye(2)).apply([1, 2], 5, tolerance=tolerance)


# --- threads


def test_the_number_of_threads_does_not_matter(rng, shared_by):
    X, y = rng.normal(size=(500, 3)).astype("f4"), np.where(np.arange(500) < 9, 1, -1)
    y[:4] = 0
    A = markov_operator(X, alpha=0.5)
    f = rng.normal(size=(500, 7)).astype("f4")
    expected = A.apply(f, 20)
    posteriors = diffuse_labels(A, y, label_mode="free").posteriors
    for number in (1, 2, 5):
        with shared_by(number):
            again = markov_operator(X, alpha=0.5)
            assert (again.affinity.data == A.affinity.data).all()
            assert (again.apply(f, 20) == expected).all()
            assert (diffuse_labels(again, y, label_mode="free").posteriors == posteriors).all()


def test_python_threads_may_share_an_operator(shared_by):
    rng = np.random.default_rng(0)
    A = markov_operator(rng.normal(size=(300, 3)))
    f, y = rng.normal(size=(300, 4)), np.where(np.arange(300) % 30, -1, np.arange(300) % 4)

    def work(i):
        return A.apply(f * i, 30), diffuse_labels(A, y, tau=20 + i).posteriors

    serial = [work(i) for i in range(8)]

    def shared_work(i):
        with shared_by(3):
            return work(i)

    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(shared_work, range(8)))
    for alone, beside in zip(serial, together, strict=True):
        assert (alone[0] == beside[0]).all()
        assert (alone[1] == beside[1]).all()


def test_markov_operator_is_neighbors_kernel_and_normalisation(rng):
    X = rng.normal(size=(50, 3))
    distances, mask = naive.neighbors_graph(X, 6)
    K = naive.gaussian(distances, mask, 0.8)
    A = markov_operator(X, n_neighbors=6, kernel=Gaussian(bandwidth=0.8), alpha=1)
    np.testing.assert_allclose(A @ np.eye(50), naive.markov_matrix(K, 1), atol=1e-13)


@pytest.mark.parametrize("alpha", [0, 1])
@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize(("dtype", "near", "far"), [(np.float32, 55, 90), (np.float64, 480, 700)])
def test_the_unit_of_affinities_does_not_matter(rng, dtype, near, far, sign, alpha):
    K, f = random_affinity(rng).astype(dtype), rng.normal(size=40)

    def walk(exponent):
        return MarkovOperator.from_affinity(sp.csr_array(np.ldexp(K, exponent)), alpha=alpha)

    np.testing.assert_allclose(walk(sign * near) @ f, walk(0) @ f, rtol=1e-4, atol=1e-6)
    with pytest.raises(DataError, match="divide it by its largest value"):
        walk(sign * far)


@pytest.mark.parametrize("verb", ["apply", "forward", "expected_visits"])
@pytest.mark.parametrize("n_steps", [10**12 + 1, 10**18, 2**63, 2**70, np.uint64(2**63)])
def test_walks_that_nobody_waits_for_are_refused_before_they_begin(verb, n_steps, rng):
    A = MarkovOperator.from_affinity(random_affinity(rng, 9))
    with pytest.raises(ParameterError, match="takes too long"):
        getattr(A, verb)(np.ones(9), n_steps)
    with pytest.raises(ParameterError, match="n_steps"):
        getattr(A, verb)(np.ones(9), [0, n_steps])
