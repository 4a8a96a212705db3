"""The encyclopedia's article, item by item."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from diffclass import (
    DiffusionAnomaly,
    DiffusionClustering,
    DiffusionMap,
    MarkovOperator,
    leading_eigenpairs,
    markov_operator,
)
from diffclass.kernels import Gaussian
from diffclass.neighbors import ExactSearch
from diffclass.operators import generator_eigenvalues
from diffclass.spectral import bumps, diffusion_distances, numerical_rank
from tests.papers.dense import affinity, points, squared_distances
from tests.papers.items import deviation, item


def normalized(L, alpha):
    """Return L^(alpha) = D^-alpha L D^-alpha."""
    d = L.sum(axis=1) ** alpha
    return L / np.outer(d, d)


def transition(L, alpha=0.0):
    """Return M = (D^(alpha))^-1 L^(alpha)."""
    L = normalized(L, alpha)
    return L / L.sum(axis=1, keepdims=True)


def stationary(L, alpha=0.0):
    d = normalized(L, alpha).sum(axis=1)
    return d / d.sum()


def squared_diffusion_distances(L, t, alpha=0.0):
    M = np.linalg.matrix_power(transition(L, alpha), t)
    return ((M[:, None] - M[None]) ** 2 / stationary(L, alpha)).sum(axis=2)


def all_pairs(L, alpha=0.0):
    return leading_eigenpairs(MarkovOperator.from_affinity(L, alpha=alpha), len(L))


# --- connectivity


@item(
    "Connectivity",
    "k(x, y) = exp(-||x - y||^2 / epsilon)",
    "diffclass.kernels.Gaussian(bandwidth=epsilon)",
)
def test_gaussian():
    X, epsilon = points(), 3.0
    A = markov_operator(X, kernel=Gaussian(bandwidth=epsilon), search=ExactSearch(len(X)))
    return deviation(A.affinity.toarray(), np.exp(-squared_distances(X) / epsilon))


@item(
    "Connectivity",
    "k(x, y) = k(y, x), k(x, y) >= 0; others are refused",
    "diffclass.MarkovOperator.from_affinity",
    agreement="a kernel without either is a DataError",
)
def test_kernels_without_the_properties_are_refused():
    for bad in ([[1.0, 0.5], [0.4, 1.0]], [[1.0, -0.5], [-0.5, 1.0]]):
        try:
            MarkovOperator.from_affinity(bad)
        except ValueError:
            continue
        raise AssertionError(bad)


@item(
    "Connectivity",
    "d(x) = sum_y k(x, y), p(x, y) = k(x, y) / d(x)",
    "diffclass.MarkovOperator",
)
def test_markov_chain():
    K = affinity()
    A = MarkovOperator.from_affinity(K)
    return max(deviation(A.degrees, K.sum(axis=1)), deviation(A @ np.eye(len(K)), transition(K)))


@item("Connectivity", "sum_y p(x, y) = 1", "diffclass.MarkovOperator")
def test_conservation():
    K = affinity()
    return deviation(MarkovOperator.from_affinity(K) @ np.ones(len(K)), np.ones(len(K)))


@item(
    "Connectivity",
    "the chain is reversible: d(x) p(x, y) = d(y) p(y, x)",
    "diffclass.MarkovOperator.stationary_distribution",
)
def test_reversible():
    A = MarkovOperator.from_affinity(affinity())
    flow = A.stationary_distribution[:, None] * (A @ np.eye(len(A)))
    return deviation(flow, flow.T)


# --- diffusion process


@item(
    "Diffusion process",
    "L^(alpha) = D^-alpha L D^-alpha",
    "diffclass.MarkovOperator.from_affinity(alpha=alpha)",
)
def test_density_normalization():
    L = affinity()
    for alpha in (0.0, 0.5, 1.0, 1.7):
        A = MarkovOperator.from_affinity(L, alpha=alpha)
        yield deviation(A.affinity.toarray(), normalized(L, alpha))


@item(
    "Diffusion process",
    "M = (D^(alpha))^-1 L^(alpha), D^(alpha) the row sums of L^(alpha)",
    "diffclass.MarkovOperator.from_affinity(alpha=alpha)",
    differs="`markov_operator` and the classifier have alpha = 0 by default, `DiffusionMap` "
    "alpha = 1 (diffclass/README.md, which kernel).",
)
def test_normalized_matrix():
    L = affinity()
    for alpha in (0.0, 0.5, 1.0, 1.7):
        A = MarkovOperator.from_affinity(L, alpha=alpha)
        yield deviation(A @ np.eye(len(L)), transition(L, alpha))


@item(
    "Diffusion process",
    "p(x_j, t | x_i) = M^t_ij",
    "diffclass.spectral.bumps(time=t)",
    "diffclass.MarkovOperator.apply(n_steps=t)",
)
def test_transition_in_t_steps():
    L, t = affinity(), 7
    A = MarkovOperator.from_affinity(L, alpha=0.5)
    expected = np.linalg.matrix_power(transition(L, 0.5), t)
    found = bumps(A, np.arange(len(L)), time=t), A.apply(np.eye(len(L)), t)
    return max(deviation(one, expected) for one in found)


@item(
    "Diffusion process",
    "a cluster is a region that the walk leaves with a low probability within the time",
    "diffclass.DiffusionClustering",
    differs="Its `staying_` is one minus this, at one step, `retention_` later.",
)
def test_probability_of_leaving_a_cluster():
    L = affinity()
    map_ = DiffusionMap(1, alpha=0, affinity="precomputed")
    found = DiffusionClustering(2, embedding=map_).fit(L)
    pi, M, cluster = stationary(L), transition(L), found.labels_
    expected = [
        pi[cluster == c] @ M[cluster == c][:, cluster != c].sum(axis=1) / pi[cluster == c].sum()
        for c in (0, 1)
    ]
    return deviation(1 - found.staying_, expected)


@item(
    "Diffusion process",
    "M^t_ij = sum_l lambda_l^t psi_l(x_i) phi_l(x_j)",
    "diffclass.spectral.Eigenpairs",
    "diffclass.spectral.Eigenpairs.left",
    "diffclass.spectral.Eigenpairs.powers(t)",
)
def test_eigendecomposition():
    L = affinity()
    pairs = all_pairs(L, 0.5)
    for t in (0, 1, 5):
        found = (pairs.right * pairs.powers(t)) @ pairs.left.T
        yield deviation(found, np.linalg.matrix_power(transition(L, 0.5), t))


@item(
    "Diffusion process",
    "psi_l and phi_l are the biorthogonal right and left eigenvectors",
    "diffclass.leading_eigenpairs",
)
def test_biorthogonal():
    L, pairs = affinity(), all_pairs(affinity())
    M, values = transition(L), pairs.eigenvalues
    yield deviation(M @ pairs.right, pairs.right * values)
    yield deviation(M.T @ pairs.left, pairs.left * values)
    yield deviation(pairs.left.T @ pairs.right, np.eye(len(L)))


@item(
    "Diffusion process",
    "few terms give the sum to a relative accuracy",
    "diffclass.spectral.numerical_rank",
    agreement="as many as the rank leave less than the accuracy, in the norm of L^2(pi)",
)
def test_few_terms():
    L, accuracy = affinity(), 1e-3
    pairs, pi = all_pairs(L), stationary(L)
    for t in (2, 8, 32):
        m = numerical_rank(pairs, t, accuracy)
        few = (pairs.right * pairs.powers(t))[:, :m] @ pairs.left[:, :m].T
        left = np.linalg.matrix_power(transition(L), t) - few
        assert np.linalg.norm(np.sqrt(pi)[:, None] * left / np.sqrt(pi), 2) <= accuracy
        assert m < len(L)


# --- the parameter alpha


@item(
    "Parameter alpha",
    "alpha = 1: Laplace-Beltrami, whatever the density; 1/2: Fokker-Planck; 0: graph Laplacian",
    "diffclass.markov_operator(alpha=alpha)",
    "diffclass.operators.generator_eigenvalues",
    agreement="on a line of density exp(-U) the first three eigenvalues above 0 are those of "
    "-f'' + 2 (1 - alpha) U' f' within 6 %",
)
def test_limits_of_alpha():
    n = 400
    cells = (np.arange(n) + 0.5) / n
    U = np.cos(np.pi * cells)  # on [0, 1]
    p = np.exp(-U) / np.exp(-U).sum()
    x = np.interp((np.arange(800) + 0.5) / 800, np.cumsum(p) - p / 2, cells)[:, None]
    epsilon = 0.0005
    for alpha in (0.0, 0.5, 1.0):
        weight = np.exp(-2 * (1 - alpha) * U)  # p^s, of the operator -(1/w) (w f')'
        wall = np.sqrt(weight[1:] * weight[:-1])
        L = np.diag(np.r_[wall, 0] + np.r_[0, wall]) - np.diag(wall, 1) - np.diag(wall, -1)
        known = np.linalg.eigvalsh(n**2 * L / np.sqrt(np.outer(weight, weight)))[1:4]
        A = markov_operator(x, n_neighbors=250, kernel=Gaussian(bandwidth=epsilon), alpha=alpha)
        found = generator_eigenvalues(leading_eigenpairs(A, 4).eigenvalues[1:], epsilon)
        np.testing.assert_allclose(found, known, rtol=0.06)


# --- diffusion distance and map


@item(
    "Diffusion distance",
    "D_t(x_i, x_j)^2 = sum_y (p(y, t | x_i) - p(y, t | x_j))^2 / phi_0(y)",
    "diffclass.spectral.diffusion_distances",
    'diffclass.spectral.bumps(kind="weighted")',
)
def test_diffusion_distance():
    L = affinity()
    everyone = np.arange(len(L))
    A = MarkovOperator.from_affinity(L, alpha=0.5)
    for t in (1, 2, 5):
        expected = squared_diffusion_distances(L, t, 0.5)
        by_pairs = diffusion_distances(all_pairs(L, 0.5), everyone, time=t)
        rows = bumps(A, everyone, time=t, kind="weighted")
        yield deviation(by_pairs**2, expected)
        yield deviation(cdist(rows, rows) ** 2, expected)


@item(
    "Stationary distribution",
    "pi(y) = d(y) / sum_z d(z)",
    "diffclass.MarkovOperator.stationary_distribution",
)
def test_stationary_distribution():
    K = affinity()
    d = K.sum(axis=1)
    return deviation(MarkovOperator.from_affinity(K).stationary_distribution, d / d.sum())


@item(
    "Stationary distribution",
    "phi_0 is the first left eigenvector of M",
    "diffclass.spectral.Eigenpairs.left",
)
def test_first_left_eigenvector():
    L, pairs = affinity(), all_pairs(affinity())
    values, vectors = np.linalg.eig(transition(L).T)
    first = vectors[:, values.real.argmax()].real
    yield deviation(pairs.left[:, 0], first / first.sum())
    yield deviation(pairs.left[:, 0], stationary(L))


@item(
    "Diffusion distance",
    "D_t is small if many short paths connect two points",
    "diffclass.spectral.diffusion_distances",
    agreement="it falls with each point that joins them",
)
def test_paths_bring_points_closer():
    distances = []
    for n_paths in range(1, 8):
        L = np.eye(2 + 7)
        L[0, 2 : 2 + n_paths] = L[1, 2 : 2 + n_paths] = 1
        L = np.maximum(L, L.T)[: 2 + n_paths, : 2 + n_paths]
        distances.append(diffusion_distances(all_pairs(L), [0], [1], time=1)[0, 0])
    assert (np.diff(distances) < 0).all()


@item(
    "Diffusion distance",
    "it is robust to noise, as it depends on all paths of length t",
    "diffclass.spectral.diffusion_distances",
    agreement="a short cut of weight 0.01 across a ring of 60 changes it by 11 %, the shortest "
    "path from 30 steps to 1",
)
def test_robust_to_a_short_cut():
    n, t = 60, 200
    ring = np.eye(n)
    ring[np.arange(n), (np.arange(n) + 1) % n] = 1
    ring = np.maximum(ring, ring.T)
    cut = ring.copy()
    cut[0, n // 2] = cut[n // 2, 0] = 0.01
    before, after = (squared_diffusion_distances(K, t)[0, n // 2] ** 0.5 for K in (ring, cut))
    found = diffusion_distances(all_pairs(cut), [0], [n // 2], time=t)[0, 0]
    assert abs(found - after) < 1e-10
    assert 0 < 1 - found / before < 0.12


@item(
    "Embedding",
    "D_t(x_i, x_j)^2 = sum_l lambda_l^2t (psi_l(x_i) - psi_l(x_j))^2",
    "diffclass.spectral.diffusion_distances",
)
def test_distance_by_eigenvectors():
    L, t = affinity(), 3
    values, vectors = np.linalg.eig(transition(L))
    psi = vectors.real / np.sqrt(stationary(L) @ vectors.real**2)
    expected = (values.real ** (2 * t) * (psi[:, None] - psi[None]) ** 2).sum(axis=2)
    found = diffusion_distances(all_pairs(L), np.arange(len(L)), time=t)
    return deviation(found**2, expected)


@item(
    "Embedding",
    "Psi_t(x) = (lambda_1^t psi_1(x), ..., lambda_k^t psi_k(x))",
    "diffclass.DiffusionMap(k, time=t)",
)
def test_diffusion_map():
    L, k = affinity(), 5
    values, vectors = np.linalg.eig(transition(L, 1.0))
    order = np.argsort(-values.real)[1 : k + 1]
    psi = vectors[:, order].real
    psi /= np.sqrt(stationary(L, 1.0) @ psi**2)
    for t in (0, 1, 4):
        expected = values[order].real ** t * psi
        found = DiffusionMap(k, affinity="precomputed", time=t).fit_transform(L)
        signs = np.sign((found * expected).sum(axis=0))
        yield deviation(found * signs, expected)


@item(
    "Embedding",
    "D_t(x_i, x_j)^2 = ||Psi_t(x_i) - Psi_t(x_j)||^2",
    "diffclass.DiffusionMap(n - 1, time=t)",
)
def test_euclidean_distance_is_diffusion_distance():
    L = affinity()
    for t in (1, 3):
        found = DiffusionMap(len(L) - 1, affinity="precomputed", time=t).fit_transform(L)
        expected = squared_diffusion_distances(L, t, 1.0)
        yield deviation(cdist(found, found) ** 2, expected)


@item(
    "Algorithm",
    "steps 1 to 5: L, L^(alpha), M, the k largest eigenvalues of M^t, Psi_t",
    'diffclass.DiffusionMap(k, alpha=alpha, time=t, affinity="precomputed")',
    "diffclass.DiffusionMap(k, alpha=alpha, time=t, bandwidth=epsilon)",
)
def test_algorithm():
    X, k, t, alpha, epsilon = points(), 4, 3, 0.5, 2.0
    L = np.exp(-squared_distances(X) / epsilon)
    values, vectors = np.linalg.eig(np.linalg.matrix_power(transition(L, alpha), t))
    order = np.argsort(-values.real)[1 : k + 1]
    psi = vectors[:, order].real
    psi /= np.sqrt(stationary(L, alpha) @ psi**2)
    expected = values[order].real * psi
    by_affinity = DiffusionMap(k, alpha=alpha, time=t, affinity="precomputed").fit_transform(L)
    by_points = DiffusionMap(
        k, alpha=alpha, time=t, bandwidth=epsilon, search=ExactSearch(len(X))
    ).fit_transform(X)
    return max(
        deviation(found * np.sign((found * expected).sum(axis=0)), expected)
        for found in (by_affinity, by_points)
    )


@item(
    "Application",
    "spectral clustering and anomaly detection",
    "diffclass.DiffusionClustering",
    "diffclass.DiffusionAnomaly",
    agreement="two rings and the point far from both are found",
)
def test_applications():
    angles = np.linspace(0, 2 * np.pi, 100, endpoint=False)
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    X = np.vstack([ring, 2 * ring, [[9.0, 0.0]]])
    labels = DiffusionClustering(2).fit(X).labels_
    assert len(set(labels[:100])) == len(set(labels[100:200])) == 1
    assert labels[0] != labels[100]
    assert DiffusionAnomaly().fit(X).scores_.argmax() == 200
