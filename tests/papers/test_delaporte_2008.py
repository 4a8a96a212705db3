"""de la Porte et al. 2008, item by item."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

from diffclass import (
    DiffusionMap,
    MarkovOperator,
    leading_eigenpairs,
    markov_operator,
    neighbors_graph,
)
from diffclass.kernels import Gaussian
from diffclass.neighbors import ExactSearch, RadiusSearch
from diffclass.spectral import bumps, diffusion_coordinates, diffusion_distances
from experiments.coifman_2005.circular import angles_about_middle, circular_correlation
from experiments.datasets import make_c_shape, make_rotated_images
from experiments.delaporte_2008.order import keeps_order, share_told_apart
from tests.papers.dense import affinity, points, squared_distances
from tests.papers.items import deviation, item


def diffusion_matrix(K):
    """Return P of (5), which is D^-1 K of (10)."""
    return K / K.sum(axis=1, keepdims=True)


def lemma_1(K):
    """Return P' of (12), its eigenvalues from the largest down and its eigenvectors x'."""
    root = np.sqrt(K.sum(axis=1))
    P = K / np.outer(root, root)
    values, vectors = np.linalg.eigh(P)
    return P, values[::-1], vectors[:, ::-1]


def all_pairs(K):
    return leading_eigenpairs(MarkovOperator.from_affinity(K), len(K))


def signs(found, expected):
    return np.sign((found * expected).sum(axis=0))


# --- 3.1 and 3.2: connectivity and the diffusion process


@item(
    "(1), (2)",
    "connectivity(x, y) = p(x, y), proportional to k(x, y)",
    "diffclass.MarkovOperator",
)
def test_connectivity():
    K = affinity()
    p = MarkovOperator.from_affinity(K) @ np.eye(len(K))
    return deviation(p / p[:, :1], K / K[:, :1])


@item(
    "(3)",
    "k(x, y) = exp(-|x - y|^2 / alpha)",
    "diffclass.kernels.Gaussian(bandwidth=alpha)",
    differs="Their alpha is the bandwidth; `alpha` here is the density exponent, 0 in this paper.",
)
def test_gaussian():
    X = points()
    A = markov_operator(X, kernel=Gaussian(bandwidth=1.7), search=ExactSearch(len(X)))
    return deviation(A.affinity.toarray(), np.exp(-squared_distances(X) / 1.7))


@item(
    "3.1",
    "the neighbourhood of x: all y with k(x, y) >= epsilon",
    "diffclass.neighbors.RadiusSearch(sqrt(alpha log(1 / epsilon)), max_degree=n)",
    agreement="the same edges",
)
def test_neighbourhoods():
    X, alpha, epsilon = points(), 1.7, 0.2
    search = RadiusSearch(np.sqrt(alpha * np.log(1 / epsilon)), max_degree=len(X))
    found = neighbors_graph(X, search=search)
    kept = np.zeros((len(X), len(X)), dtype=bool)
    kept[np.repeat(np.arange(len(X)), np.diff(found.indptr)), found.indices] = True
    assert (kept == (np.exp(-squared_distances(X) / alpha) >= epsilon)).all()


@item("(4), (5)", "p(x, y) = k(x, y) / d_X, whose sum over y is 1", "diffclass.MarkovOperator")
def test_normalization():
    K = affinity()
    A = MarkovOperator.from_affinity(K)
    P = A @ np.eye(len(K))
    return max(deviation(P, diffusion_matrix(K)), deviation(P.sum(axis=1), np.ones(len(K))))


@item(
    "3.1",
    "P^t_ij sums the probabilities of all paths of length t from i to j",
    "diffclass.spectral.bumps(time=t)",
)
def test_sum_over_paths():
    K = affinity(7)
    p = diffusion_matrix(K)
    three = sum(p[0, i] * p[i, j] * p[j, 6] for i in range(7) for j in range(7))
    A = MarkovOperator.from_affinity(K)
    yield deviation(bumps(A, [0], time=2)[0, 6], sum(p[0, i] * p[i, 6] for i in range(7)))
    yield deviation(bumps(A, [0], time=3)[0, 6], three)


@item(
    "Figure 3",
    "the path from node 1 by node 2 to node 6 has the probability p(1, 2) p(2, 6)",
    "diffclass.spectral.bumps(time=2)",
    agreement="the likeliest of the paths of two jumps; `experiments.delaporte_2008.figure_3`",
)
def test_a_path_of_two_jumps():
    nodes = np.array([[0.0, 0.0], [1.0, 0.8], [0.7, -0.8], [2.0, -0.9], [2.9, -0.1], [2.2, 0.6]])
    A = MarkovOperator.from_affinity(np.exp(-squared_distances(nodes)))
    P = bumps(A, np.arange(6), time=1)
    paths = P[0] * P[:, 5]
    assert paths.argmax() == 1
    assert paths[1] < bumps(A, [0], time=2)[0, 5] < 2 * paths[1]


def c_curve(n=120, seed=0):
    """Return points along a C in its order, and their angles from the opening."""
    random = np.random.default_rng(seed)
    angle = np.sort(random.uniform(0.45, 2 * np.pi - 0.45, n))
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    return X + 0.03 * random.standard_normal((n, 2)), angle


@item(
    "Figure 4",
    "with the time the paths along the structure are those that count",
    "diffclass.spectral.bumps(time=t)",
    agreement="between the ends of a C no walk of 8 steps and 0.999 of those of 128 go along it; "
    "`experiments.delaporte_2008.figure_4`",
)
def test_walks_along_the_curve():
    X, angle = c_curve()
    K = np.exp(-squared_distances(X) / 0.02)
    along = diffusion_matrix(K) * (np.abs(angle[:, None] - angle) < np.pi)
    A, shares = MarkovOperator.from_affinity(K), []
    for t in (8, 128):
        walked = np.linalg.matrix_power(along, t)[0, -1]
        shares.append(walked / bumps(A, [0], time=t)[0, -1])
    assert shares[0] < 1e-3
    assert shares[1] > 0.999


# --- 3.3 and 3.4: distance and map


@item(
    "(6), (7)",
    "D_t(X_i, X_j)^2 = sum_k |P^t_ik - P^t_jk|^2",
    'diffclass.spectral.diffusion_distances(kind="unweighted")',
    differs='By default `kind="weighted"`, which divides by pi(k): only that distance has the '
    "eigenvectors as coordinates (section 8), and for it the paper's (9) holds.",
)
def test_unweighted_distance():
    K = affinity()
    pairs = all_pairs(K)
    for t in (1, 3, 8):
        P = np.linalg.matrix_power(diffusion_matrix(K), t)
        expected = ((P[:, None] - P[None]) ** 2).sum(axis=2)
        found = diffusion_distances(pairs, np.arange(len(K)), time=t, kind="unweighted")
        yield deviation(found**2, expected)


@item(
    "(8)",
    "Y_i = (p_t(X_i, X_1), ..., p_t(X_i, X_N)), with D_t as Euclidean distance",
    'diffclass.spectral.bumps(kind="unweighted")',
    'diffclass.spectral.diffusion_coordinates(kind="unweighted")',
)
def test_rows_as_coordinates():
    K, t = affinity(), 3
    P = np.linalg.matrix_power(diffusion_matrix(K), t)
    rows = bumps(MarkovOperator.from_affinity(K), np.arange(len(K)), time=t)
    few = diffusion_coordinates(all_pairs(K), t, kind="unweighted")
    return max(deviation(rows, P), deviation(cdist(few, few), cdist(P, P)))


@item(
    "(9)",
    "Y'_i = (lambda_1^t psi_1(i), ..., lambda_n^t psi_n(i)), psi the eigenvectors of P",
    "diffclass.DiffusionMap(n, alpha=0, time=t)",
    differs="(9) leaves the length of psi open; here sum pi psi^2 = 1, and psi is v of (19) times "
    "the root of the sum of all k. The constant psi_0 is left out. The paper says that the "
    "Euclidean distance is (7); it is (22), whose metric is D^-1.",
)
def test_diffusion_map():
    K, n = affinity(), 5
    _, values, x = lemma_1(K)
    psi = x / np.sqrt(K.sum(axis=1) / K.sum())[:, None]
    for t in (1, 3):
        expected = (values**t * psi)[:, 1 : n + 1]
        found = DiffusionMap(n, affinity="precomputed", alpha=0, time=t).fit_transform(K)
        yield deviation(found * signs(found, expected), expected)


@item(
    "3.4",
    "the dominant eigenvectors keep the distances best",
    "diffclass.DiffusionMap(n, alpha=0, time=t)",
    agreement="no other two eigenvectors come nearer to the distances in mean square",
)
def test_dominant_eigenvectors_are_best():
    K, t = affinity(12), 2
    rows = diffusion_coordinates(all_pairs(K), t)
    weights = np.outer(K.sum(axis=1), K.sum(axis=1))
    exact = cdist(rows, rows) ** 2

    def left(pair):
        return (weights * (exact - cdist(rows[:, pair], rows[:, pair]) ** 2)).sum()

    pairs = [(i, j) for j in range(11) for i in range(j)]
    assert min(pairs, key=left) == (0, 1)


@item(
    "Algorithm 1",
    "kernel matrix, its rows divided by their sums, eigenvectors, the map of (9)",
    "diffclass.DiffusionMap(d, alpha=0, time=t, bandwidth=alpha)",
    differs="By default alpha = 1 and a bandwidth that fits 64 neighbours (diffclass/README.md).",
)
def test_algorithm_1():
    X, d, t, epsilon = points(), 3, 2, 1.5
    K = np.exp(-squared_distances(X) / epsilon)
    values, vectors = np.linalg.eig(diffusion_matrix(K))
    order = np.argsort(-values.real)[1 : d + 1]
    psi = vectors[:, order].real
    psi /= np.sqrt(K.sum(axis=1) / K.sum() @ psi**2)
    expected = values[order].real ** t * psi
    chart = DiffusionMap(d, alpha=0, time=t, bandwidth=epsilon, search=ExactSearch(len(X)))
    found = chart.fit_transform(X)
    return deviation(found * signs(found, expected), expected)


# --- 4 to 6: experiments


def c_maps(epsilon, times):
    X, place = make_c_shape(200, random_state=0)
    K = np.exp(-squared_distances(X) / epsilon)
    return [
        DiffusionMap(2, affinity="precomputed", alpha=0, time=t).fit_transform(K) for t in times
    ], place


@item(
    "Figures 5, 6",
    "five clusters at t = 1, one line in the order of the C at t = 3, nearly a point at t = 10",
    "diffclass.DiffusionMap(2, alpha=0, time=t)",
    agreement="95 % told apart at t = 1; the order at t = 3, the second coordinate 0.4 of its "
    "share at t = 1; at t = 10 0.3 of the size with that epsilon, 0.03 with twice as much, which "
    "does not tell the clusters apart; `experiments.delaporte_2008.figure_6`",
)
def test_c_shape_over_time():
    (first, third, tenth), place = c_maps(0.5, (1, 3, 10))
    middles = np.array([first[place == k].mean(axis=0) for k in range(5)])
    assert (cdist(first, middles).argmin(axis=1) == place).mean() > 0.9
    assert keeps_order(third[:, 0], place)
    flat = [Y[:, 1].std() / Y[:, 0].std() for Y in (first, third)]
    assert flat[1] < 0.5 * flat[0]
    assert tenth.std() < 0.35 * first.std()
    (early, late), _ = c_maps(1.0, (1, 10))
    assert late.std() < 0.05 * early.std()


@item(
    "Figures 7, 10",
    "PCA loses the order of the clusters in one dimension, a diffusion map keeps it",
    "diffclass.DiffusionMap(1, alpha=0)",
    agreement="so it is, with 63 % and 96 % of the points nearest to their own cluster's median; "
    "for MDS and Isomap (scikit-learn has them) see `experiments.delaporte_2008.figure_10`",
)
def test_order_of_the_clusters():
    X, place = make_c_shape(150, noise=0.1, random_state=0)
    chart = DiffusionMap(1, alpha=0, bandwidth=0.5, search=ExactSearch(len(X)))
    ours, linear = chart.fit_transform(X)[:, 0], PCA(1).fit_transform(X)[:, 0]
    assert keeps_order(ours, place)
    assert share_told_apart(ours, place) > 0.9 > 0.7 > share_told_apart(linear, place)


@item(
    "Figures 12, 13",
    "randomly rotated images are organised by their angle",
    "diffclass.DiffusionMap(2)",
    agreement="circular r of angle and place above 0.99; `experiments.delaporte_2008.figure_13`",
)
def test_rotated_images():
    X, angle = make_rotated_images(200, size=24, random_state=0)
    found = angles_about_middle(DiffusionMap(2).fit_transform(X))
    assert abs(circular_correlation(angle, found)) > 0.99


@item(
    "6.1",
    "K-means is likely to do better in diffusion space than on the data",
    "diffclass.DiffusionMap",
    agreement="of two rings it finds none on the data and both in diffusion space",
)
def test_k_means_in_diffusion_space():
    turns = np.linspace(0, 2 * np.pi, 100, endpoint=False)
    ring = np.column_stack([np.cos(turns), np.sin(turns)])
    X, truth = np.vstack([ring, 3 * ring]), np.repeat([0, 1], 100)
    Y = DiffusionMap(1, alpha=0, bandwidth=0.3).fit_transform(X)
    for space, least, most in ((X, 0.0, 0.8), (Y, 1.0, 1.0)):
        found = KMeans(2, n_init=4, random_state=0).fit_predict(space)
        agreement = max((found == truth).mean(), (found != truth).mean())
        assert least <= agreement <= most


# --- 8: the proof


@item("(10)", "P = D^-1 K", "diffclass.MarkovOperator.from_affinity")
def test_diffusion_matrix():
    K = affinity()
    P = np.linalg.inv(np.diag(K.sum(axis=1))) @ K
    return deviation(MarkovOperator.from_affinity(K) @ np.eye(len(K)), P)


@item(
    "(11) to (13)",
    "P' = D^1/2 P D^-1/2 = D^-1/2 K D^-1/2, symmetric",
    "diffclass.MarkovOperator.symmetric_conjugate",
)
def test_conjugate():
    K = affinity()
    root = np.diag(np.sqrt(K.sum(axis=1)))
    found = MarkovOperator.from_affinity(K).symmetric_conjugate @ np.eye(len(K))
    second = root @ diffusion_matrix(K) @ np.linalg.inv(root)
    return max(deviation(found, form) for form in (lemma_1(K)[0], second))


@item(
    "(14) to (16)",
    "P' = S Lambda S^T, P = Q Lambda Q^-1: the same eigenvalues",
    "diffclass.leading_eigenpairs",
    "diffclass.spectral.Eigenpairs.symmetric",
)
def test_eigendecompositions():
    K, pairs = affinity(), all_pairs(affinity())
    P, values, _ = lemma_1(K)
    S, Q = pairs.symmetric, pairs.right
    yield deviation(pairs.eigenvalues, values)
    yield deviation((S * pairs.eigenvalues) @ S.T, P)
    yield deviation((Q * pairs.eigenvalues) @ np.linalg.inv(Q), diffusion_matrix(K))


@item(
    "(17) to (20)",
    "right eigenvectors v_k = D^-1/2 x'_k, left ones e_k = D^1/2 x'_k",
    "diffclass.spectral.Eigenpairs",
    "diffclass.spectral.Eigenpairs.left",
    differs="D is divided by its sum here, so that v_0 = 1 and e_0 = pi: v is right / sqrt(sum d), "
    "e is left * sqrt(sum d).",
)
def test_left_and_right_eigenvectors():
    K, n = affinity(), 8
    d, pairs = K.sum(axis=1), all_pairs(affinity())
    _, _, x = lemma_1(K)
    v, e = x / np.sqrt(d)[:, None], x * np.sqrt(d)[:, None]
    right, left = pairs.right / np.sqrt(d.sum()), pairs.left * np.sqrt(d.sum())
    turned = signs(right, e)
    yield deviation((right * turned)[:, :n], v[:, :n])
    yield deviation((left * turned)[:, :n], e[:, :n])


@item("(21)", "P = sum_k lambda_k v_k e_k^T", "diffclass.spectral.Eigenpairs")
def test_sum_of_eigenvectors():
    K, pairs = affinity(), all_pairs(affinity())
    return deviation((pairs.right * pairs.eigenvalues) @ pairs.left.T, diffusion_matrix(K))


@item(
    "8",
    "the left eigenvectors are orthonormal in the metric D^-1",
    "diffclass.spectral.Eigenpairs.left",
)
def test_metric():
    K, pairs = affinity(), all_pairs(affinity())
    e = pairs.left * np.sqrt(K.sum())
    return deviation(e.T @ np.diag(1 / K.sum(axis=1)) @ e, np.eye(len(K)))


@item(
    "(22) to (25)",
    "D_t^2 = |p_t(x_i, .) - p_t(x_j, .)|^2 in l2(R^n, D^-1) = sum lambda_k^2t (v_k[i] - v_k[j])^2",
    "diffclass.spectral.diffusion_distances",
    "diffclass.DiffusionMap(n - 1, alpha=0, time=t)",
    differs="The metric is 1 / pi here, 1 / d there: theirs are these, divided by the root of the "
    "sum of all k.",
)
def test_weighted_distance():
    K = affinity()
    d, (_, values, x) = K.sum(axis=1), lemma_1(K)
    v = x / np.sqrt(d)[:, None]
    for t in (1, 4):
        P = np.linalg.matrix_power(diffusion_matrix(K), t)
        first = ((P[:, None] - P[None]) ** 2 / d).sum(axis=2)
        third = (values ** (2 * t) * (v[:, None] - v[None]) ** 2).sum(axis=2)
        by_pairs = diffusion_distances(all_pairs(K), np.arange(len(K)), time=t)
        M = DiffusionMap(len(K) - 1, affinity="precomputed", alpha=0, time=t).fit_transform(K)
        for found in (by_pairs**2, cdist(M, M) ** 2):
            yield from (deviation(found / d.sum(), form) for form in (first, third))
