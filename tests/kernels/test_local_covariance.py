"""The local-covariance kernel against integrals, dense inverses and what geometry demands."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

from diffclass import DiffusionClassifier, neighbors_graph
from diffclass.exceptions import DataError, ParameterError
from diffclass.kernels import Gaussian, LocalCovariance, tangent_distances
from diffclass.kernels.local_covariance import LocalGaussians, local_gaussians, overlap_energies
from diffclass.neighbors import ExactSearch, RadiusSearch


@pytest.fixture
def points(rng):
    return rng.normal(size=(90, 6)) * [9, 5, 3, 1, 1, 1]


def dense_covariance(X, members, rank, least):
    """Twin of a point's covariance: NumPy's sample covariance, its lower end replaced."""
    p = X.shape[1]
    values, vectors = np.linalg.eigh(np.cov(X[members].T))
    rank = min(rank, p - 1)
    noise = max(values[: p - rank].mean(), least)
    top = vectors[:, p - rank :]
    beyond = np.maximum(values[p - rank :] - noise, 0)
    return top * beyond @ top.T + noise * np.eye(p)


def gaussians_of(n, p, rank, rng, ratio=100.0):
    """Gaussians with directions drawn at random, variances up to ``ratio`` times the noise."""
    directions = np.linalg.qr(rng.normal(size=(n, p, rank)))[0].transpose(0, 2, 1)
    noise = rng.uniform(0.5, 2, n)
    lengths = np.sqrt(ratio * rng.uniform(0.1, 1, (n, rank)))
    return LocalGaussians(rng.normal(size=(n, p)), directions * lengths[:, :, None], noise)


def everyone(n):
    return sp.csr_array(np.ones((n, n)))


def covariance(gaussians, x):
    W = gaussians.factors[x].astype(np.float64)
    return W.T @ W + gaussians.noise[x] * np.eye(W.shape[1])


def dense_energies(gaussians):
    """E of all pairs, with the inverse and the determinant of the dense covariances."""
    S = [covariance(gaussians, x) for x in range(len(gaussians.points))]
    return np.array(
        [
            [overlap_energy(x - z, S_x, S_z) for z, S_z in zip(gaussians.points, S, strict=True)]
            for x, S_x in zip(gaussians.points, S, strict=True)
        ]
    )


def overlap_energy(d, S_x, S_z):
    dets = [np.linalg.slogdet(C)[1] for C in ((S_x + S_z) / 2, S_x, S_z)]
    return dets[0] / 2 - (dets[1] + dets[2]) / 4 + d @ np.linalg.solve(S_x + S_z, d) / 2


def test_energies_are_integrals_in_two_dimensions(rng):
    gaussians = gaussians_of(6, 2, 1, rng, ratio=8.0)
    line = np.linspace(-32, 32, 801)
    grid = np.column_stack([axis.ravel() for axis in np.meshgrid(line, line)])
    p = []
    for x, center in enumerate(gaussians.points):
        S, d = covariance(gaussians, x), grid - center
        p.append(np.exp(-np.einsum("ij,jk,ik->i", d, np.linalg.inv(S), d) / 2))
        p[-1] /= np.sqrt(np.linalg.det(S))
    a = np.array(p) @ np.array(p).T
    normalised = a / np.sqrt(np.outer(np.diag(a), np.diag(a)))
    energies = overlap_energies(everyone(6), gaussians).toarray()
    np.testing.assert_allclose(np.exp(-energies), normalised, rtol=1e-6)


@pytest.mark.parametrize("ratio", [1e-3, 100.0, 1e6])
def test_energies_are_those_of_dense_inverses_in_200_dimensions(rng, ratio):
    gaussians = gaussians_of(7, 200, 5, rng, ratio)
    found = overlap_energies(everyone(7), gaussians).toarray()
    np.testing.assert_allclose(found, dense_energies(gaussians), rtol=0, atol=1e-8)


def test_small_noise_costs_no_accuracy_along_equal_factors():
    # both ends alike and d along their direction: d' S^-1 d = 9 / (2 (l + s)), beside |d|^2 / 2 s
    variance, noise = 4.0, 4e-6
    factors = np.tile(np.sqrt(variance) * np.eye(1, 3), (2, 1, 1))
    X = np.array([[0.0, 0, 0], [3.0, 0, 0]])
    energies = overlap_energies(everyone(2), LocalGaussians(X, factors, np.full(2, noise)))
    expected = 9 / (2 * (variance + noise)) / 2
    np.testing.assert_allclose(energies[0, 1], expected, rtol=1e-9)


@pytest.mark.parametrize("n_neighbors", [3, 5, 14])  # fewer and more points than features
@pytest.mark.parametrize("rank", [1, 3, 5, 9])
def test_covariances_are_numpys(points, rank, n_neighbors):
    graph = neighbors_graph(points, n_neighbors)
    gaussians, floor = local_gaussians(graph, points, rank=rank)
    assert floor > 0
    for x in range(len(points)):
        members = graph.indices[graph.indptr[x] : graph.indptr[x + 1]]
        least = max(floor, 1e-6 * np.linalg.eigvalsh(np.cov(points[members].T))[-1])
        expected = dense_covariance(points, members, rank, least)
        np.testing.assert_allclose(covariance(gaussians, x), expected, atol=1e-11)


def test_the_floor_is_a_share_of_the_pooled_residual(points):
    X = points * np.where(np.arange(90) < 30, 1e-3, 1.0)[:, None]
    gaussians, floor = local_gaussians(neighbors_graph(X, 9), X, rank=2)
    assert gaussians.noise.min() == floor
    assert 0.05 * np.median(gaussians.noise) < floor <= 0.1 * np.median(gaussians.noise)


def test_affinities_are_the_formulas(points):
    graph = neighbors_graph(points, 8)
    affinity, fitted = LocalCovariance(rank=2, neighbor=3).fit(graph, points)
    K, gaussians, mask = affinity.toarray(), fitted.gaussians, graph.toarray() > 0
    E = dense_energies(gaussians)
    h = np.sqrt(np.sort(np.where(mask, E, np.inf), axis=1)[:, 2])
    expected = np.where(mask, np.exp(-E / np.outer(h, h)), np.eye(90))
    np.testing.assert_allclose(K, expected, atol=1e-12)
    np.testing.assert_allclose(fitted.scales, h)
    sharp = LocalCovariance(rank=2, bandwidth=2.0).affinity(graph, points).toarray()
    capped = np.exp(-np.minimum(E / 2, 60))
    np.testing.assert_allclose(sharp, np.where(mask, capped, np.eye(90)), atol=1e-12)


@pytest.mark.parametrize("bandwidth", [1.0, 5.0, "self-tuning"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_without_normalisation_peaks_are_the_integrals(points, bandwidth, dtype):
    X = points.astype(dtype)
    graph = neighbors_graph(X, 8)
    plain = LocalCovariance(rank=2, bandwidth=bandwidth).affinity(graph, X)
    kernel = LocalCovariance(rank=2, bandwidth=bandwidth, normalized=False)
    K, fitted = kernel.fit(graph, X)
    dets = [
        np.linalg.det(4 * np.pi * covariance(fitted.gaussians, x)) ** -0.5 for x in range(len(X))
    ]
    expected = plain.toarray() * np.sqrt(np.outer(dets, dets))
    assert K.dtype == dtype
    assert (K != K.T).nnz == 0
    np.testing.assert_allclose(K.toarray(), expected, rtol=1e-4 if dtype == np.float32 else 1e-9)
    if bandwidth != "self-tuning":
        np.testing.assert_allclose(fitted.extend(graph, X).data, K.data, rtol=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances_of_densities(points, dtype):
    X = np.vstack([points, points[:4]]).astype(dtype)  # equal ones too
    graph = neighbors_graph(X, 8)
    K = LocalCovariance(rank=3, bandwidth=1.0, normalized=False).affinity(graph, X)
    D = tangent_distances(graph, X, rank=3)
    a = K.diagonal().astype(np.float64)
    rows = np.repeat(np.arange(94), np.diff(K.indptr))
    expected = a[rows] + a[K.indices] - 2 * K.data
    assert D.dtype == dtype
    rounding = 1e-5 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(D.data.astype(np.float64) ** 2, expected, atol=rounding * a.max())
    assert (D.diagonal() == 0).all()
    assert (D != D.T).nnz == 0


@pytest.mark.parametrize("scale", [1e-14, 1e14])
def test_integrals_that_no_number_holds(rng, scale):
    X = rng.normal(size=(60, 50)) * scale
    graph = neighbors_graph(X, 8)
    for integrals in (LocalCovariance(normalized=False).affinity, tangent_distances):
        with pytest.raises(DataError, match=r"reach from 10\^.* beyond float64"):
            integrals(graph, X)
    assert LocalCovariance().affinity(graph, X).data.max() == 1


def test_neither_units_nor_threads_matter(points, shared_by):
    graph = neighbors_graph(points, 7)
    K = LocalCovariance().affinity(graph, points)
    moved = LocalCovariance().affinity(graph, 1000 * points + 5)
    np.testing.assert_allclose(moved.data, K.data, rtol=1e-8)
    with shared_by(2):
        again = LocalCovariance().affinity(graph, points)
    np.testing.assert_array_equal(again.data, K.data)


def test_fitted_points_that_come_again(points):
    graph = neighbors_graph(points, 7)
    # one bandwidth: j counts the point itself among the neighbours of a new one
    K, fitted = LocalCovariance(rank=3, bandwidth=3.0).fit(graph, points)
    np.testing.assert_allclose(fitted.extend(graph, points).data, K.data, atol=1e-9)
    with pytest.raises(DataError, match="4 features"):
        fitted.extend(graph, points[:, :4])


def test_new_points_are_shaped_by_their_neighbours(points):
    search = ExactSearch(9)
    kernel = LocalCovariance(rank=2, neighbor=3)
    _, fitted = kernel.fit(neighbors_graph(points, search=search), points)
    new = points[:4] + 0.1
    graph = search.transform(new)
    K = fitted.extend(graph, new).toarray()
    for x in range(4):
        members = graph.indices[graph.indptr[x] : graph.indptr[x + 1]]
        S = dense_covariance(points, members, 2, fitted.noise_floor)
        E = [
            overlap_energy(new[x] - points[z], S, covariance(fitted.gaussians, z)) for z in members
        ]
        h = np.sqrt(np.sort(E)[2])
        expected = np.exp(-np.array(E) / (h * fitted.scales[members]))
        np.testing.assert_allclose(K[x, members], expected, atol=1e-11)


@pytest.mark.parametrize(
    "X",
    [
        np.zeros((20, 3)),
        np.full((20, 3), 0.1),
        np.repeat(np.random.default_rng(0).normal(size=(4, 3)), 8, axis=0),
        np.random.default_rng(1).normal(size=(20, 1)),
        np.random.default_rng(2).normal(size=(20, 2)) @ np.array([[1.0, 2, 0, 0], [0, 1, 0, 3]]),
        np.outer(np.arange(20.0), [1, 1, 0]),
        np.array([[1.0, 2.0]]),
        np.vstack([np.random.default_rng(3).normal(size=(20, 2)), [[1e6, 1e6]]]),
    ],
    ids=["zeros", "equal", "duplicates", "p = 1", "flat", "line", "one", "outlier"],
)
def test_singular_covariances(X):
    graph = neighbors_graph(X, 5)
    K, fitted = LocalCovariance().fit(graph, X)
    assert (K != K.T).nnz == 0
    assert ((K.data > 0) & (K.data <= 1)).all()
    extended = fitted.extend(graph, X)
    assert np.isfinite(extended.data).all()
    assert (extended.data > 0).all()


def test_constant_features_only_widen_the_noise(points):
    graph = neighbors_graph(points, 8)
    wide = np.column_stack([points, np.full((90, 2), 7.0)])
    gaussians, _ = local_gaussians(graph, points, rank=3)
    with_constants, _ = local_gaussians(graph, wide, rank=3)
    np.testing.assert_allclose(with_constants.noise, gaussians.noise * 3 / 5)  # p - r: 3, then 5


def test_isolated_points(points):
    X = np.vstack([points, [[1e3] * 6]])
    graph = neighbors_graph(X, search=RadiusSearch(10.0))
    K, fitted = LocalCovariance().fit(graph, X)
    assert K[90, 90] == 1
    alone = covariance(fitted.gaussians, 90)
    np.testing.assert_array_equal(alone, fitted.noise_floor * np.eye(6))


def test_bad_input_is_refused(points):
    graph = neighbors_graph(points, 5)
    for name, value in (
        ("rank", 0),
        ("rank", 2.5),
        ("bandwidth", "global"),
        ("bandwidth", -1.0),
        ("neighbor", 0),
    ):
        with pytest.raises(ParameterError, match=name):
            LocalCovariance(**{name: value}).affinity(graph, points)
    with pytest.raises(DataError, match="89 points"):
        LocalCovariance().affinity(graph, points[1:])
    with pytest.raises(DataError, match="NaN"):
        LocalCovariance().affinity(graph, np.where(points > 5, np.nan, points))
    one_way = sp.csr_array(np.triu(np.ones((90, 90))))
    with pytest.raises(DataError, match="reverse edge"):
        LocalCovariance().affinity(one_way, points)


def test_unsorted_rows_are_sorted(points):
    graph = neighbors_graph(points, 5)
    backwards = np.concatenate(
        [np.arange(b - 1, a - 1, -1) for a, b in zip(graph.indptr, graph.indptr[1:], strict=False)]
    )
    unsorted = sp.csr_array((graph.data, graph.indices[backwards], graph.indptr), graph.shape)
    K = LocalCovariance().affinity(graph, points).toarray()
    again = LocalCovariance().affinity(unsorted, points).toarray()
    np.testing.assert_allclose(again, K, atol=1e-12)


def few_labels(truth, per_class, seed):
    rng, y = np.random.default_rng(seed), np.full(len(truth), -1)
    for c in np.unique(truth):
        chosen = rng.choice(np.flatnonzero(truth == c), per_class, replace=False)
        y[chosen] = c
    return y


def accuracy(kernel, X, truth, y, **parameters):
    found = DiffusionClassifier(kernel=kernel, **parameters).fit(X, y).transduction_
    return (found == truth)[y < 0].mean()


def test_digits_with_five_labels():
    X, truth = load_digits(return_X_y=True)
    y = few_labels(truth, 5, seed=0)
    clf = DiffusionClassifier(kernel=LocalCovariance(), random_state=0).fit(X[:1700], y[:1700])
    assert (clf.transduction_ == truth[:1700])[y[:1700] < 0].mean() > 0.9
    assert (clf.predict(X[1700:]) == truth[1700:]).mean() > 0.8


def crossing_sheets(rng, n=600, noise=0.003):
    """Two squares in space that cross along the first axis."""
    flat, upright = rng.uniform(-1, 1, (n, 2)), rng.uniform(-1, 1, (n, 2))
    nothing = np.zeros(n)
    X = np.vstack([np.column_stack([flat, nothing]), np.insert(upright, 1, 0, axis=1)])
    return X + rng.normal(scale=noise, size=X.shape), np.repeat([0, 1], n)


def test_crossing_sheets_are_told_apart_a_little_better():
    gained = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, truth = crossing_sheets(rng)
        y = few_labels(truth, 5, seed)
        kernels = LocalCovariance(), Gaussian()
        local, isotropic = (accuracy(kernel, X, truth, y) for kernel in kernels)
        gained.append(local - isotropic)
    assert np.mean(gained) > 0
