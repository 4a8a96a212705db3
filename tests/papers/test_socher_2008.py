"""Socher 2008, item by item."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse.csgraph import shortest_path
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.manifold import Isomap, LocallyLinearEmbedding
from sklearn.metrics import adjusted_rand_score

from diffclass import (
    DiffusionClustering,
    DiffusionMap,
    MarkovOperator,
    leading_eigenpairs,
    markov_operator,
    neighbors_graph,
)
from diffclass.exceptions import DataError
from diffclass.kernels import Gaussian, Isotropic
from diffclass.neighbors import RadiusSearch
from diffclass.operators import (
    dirichlet_energy,
    generator_eigenvalues,
    random_walk_laplacian,
    rayleigh_ritz,
    symmetric_laplacian,
    unnormalized_laplacian,
)
from diffclass.spectral import bumps, diffusion_distances, numerical_rank
from tests.papers.dense import affinity, circle, no_signs, points, squared_distances, walk
from tests.papers.items import deviation, item

K_NEAREST = 6


def nearest(X, k):
    """Return which points are among the k nearest others of each."""
    order = np.argsort(squared_distances(X) + np.diag(np.full(len(X), np.inf)), axis=1)
    is_near = np.zeros((len(X), len(X)), dtype=bool)
    np.put_along_axis(is_near, order[:, :k], True, axis=1)
    return is_near


def two_parts():
    """Return an affinity of two components, and the numbers of the points of each."""
    W = affinity()
    W[:15, 15:] = W[15:, :15] = 0
    return W, (np.arange(15), np.arange(15, len(W)))


def generalized(W):
    """Return eigenvalues and vectors of L v = lambda D v, y^T D y = 1."""
    D = np.diag(W.sum(axis=1))
    return eigh(D - W, D)


def edges(graph):
    return graph.astype(bool).toarray() | np.eye(graph.shape[0], dtype=bool)


# --- 1.1 principal components


@item("1.1", "PCA: mean, covariance, its eigenvectors, projection", "sklearn.decomposition.PCA")
def test_principal_components():
    X = points()
    B = X - X.mean(axis=0)
    _, V = np.linalg.eigh(B.T @ B / (len(X) - 1))
    expected = B @ V[:, ::-1][:, :2]
    return deviation(no_signs(PCA(2).fit_transform(X)), no_signs(expected))


@item(
    "Figure 2",
    "PCA folds the spiral (t cos t, t sin t) onto itself; a graph does not",
    "diffclass.DiffusionMap",
    agreement="rank correlation with t: PCA below 0.5, first coordinate above 0.99",
)
def test_spiral():
    t = 3 * np.pi / 2 * (1 + 2 * np.linspace(0, 1, 150))
    X = np.column_stack([t * np.cos(t), t * np.sin(t)])
    assert _rank_correlation(PCA(1).fit_transform(X)[:, 0], t) < 0.5
    assert _rank_correlation(DiffusionMap(1, n_neighbors=4).fit_transform(X)[:, 0], t) > 0.99


# --- 1.2 graphs


@item(
    "1.2",
    "epsilon-graph: joins points with |x_i - x_j|^2 < epsilon",
    "diffclass.neighbors.RadiusSearch(sqrt(epsilon))",
)
def test_epsilon_graph():
    X = points()
    graph = neighbors_graph(X, search=RadiusSearch(np.sqrt(0.8)))
    return deviation(edges(graph), squared_distances(X) < 0.8)


@item(
    "1.2",
    "fully connected graph, w_ij = exp(-|x_i - x_j|^2 / (2 sigma^2))",
    "diffclass.kernels.Gaussian(bandwidth=2 * sigma**2)",
    "diffclass.markov_operator(n_neighbors=n - 1)",
    differs="By default a point is joined to its 12 nearest (64 in `DiffusionMap`), and a kernel "
    "fits its width to them: memory grows with the points and not with the pairs.",
)
def test_fully_connected_graph():
    X, sigma = points(), 0.7
    A = markov_operator(X, n_neighbors=len(X) - 1, kernel=Gaussian(bandwidth=2 * sigma**2))
    return deviation(A.affinity.toarray(), np.exp(-squared_distances(X) / (2 * sigma**2)))


@item("1.2", "k nearest, with an edge in both directions", "diffclass.neighbors_graph")
def test_nearest_neighbours():
    is_near = nearest(points(), K_NEAREST)
    found = neighbors_graph(points(), K_NEAREST)
    return deviation(edges(found), is_near | is_near.T | np.eye(len(is_near), dtype=bool))


@item(
    "1.2",
    "k nearest, mutual neighbours only",
    "diffclass.neighbors_graph(mutual=True)",
    differs="Estimators join from either side: with the same k mutual neighbours lose up to 14 "
    "points with one label per class, since the graph falls apart (diffclass/DECISIONS.md).",
)
def test_mutual_neighbours():
    is_near = nearest(points(), K_NEAREST)
    found = neighbors_graph(points(), K_NEAREST, mutual=True)
    return deviation(edges(found), (is_near & is_near.T) | np.eye(len(is_near), dtype=bool))


@item(
    "Definition 1.2",
    "a kernel is symmetric and at least 0",
    "diffclass.MarkovOperator.from_affinity",
    agreement="others are refused",
)
def test_kernels_are_symmetric_and_positive():
    for change in (-2.0, 0.5):  # negative; not symmetric
        W = affinity()
        W[0, 1] += change
        if change < 0:
            W[1, 0] += change
        with pytest.raises(DataError):
            MarkovOperator.from_affinity(W)


# --- 1.3 and 1.4: locally linear embedding, Isomap


@item(
    "1.3",
    "LLE: weights of least |X_i - sum_j w_ij X_j|^2 with sum 1, then Y of least error by them",
    "sklearn.manifold.LocallyLinearEmbedding",
    within=1e-6,
    differs="Left to scikit-learn, which adds 0.001 of its trace to each Gram matrix; weights may "
    "be negative, as in the paper that the report cites.",
)
def test_locally_linear_embedding():
    X, W = points(), np.zeros((40, 40))
    for i, near in enumerate(nearest(X, K_NEAREST)):
        Z = X[near] - X[i]
        G = Z @ Z.T
        w = np.linalg.solve(G + 1e-3 * np.trace(G) * np.eye(K_NEAREST), np.ones(K_NEAREST))
        W[i, near] = w / w.sum()
    M = np.eye(40) - W
    expected = np.linalg.eigh(M.T @ M)[1][:, 1:3]
    found = LocallyLinearEmbedding(n_neighbors=K_NEAREST, eigen_solver="dense").fit_transform(X)
    return deviation(no_signs(found), no_signs(expected))


@item("1.4", "Isomap: shortest paths on the graph, then MDS", "sklearn.manifold.Isomap")
def test_isomap():
    X, _ = circle(40, density=0.0)
    is_near = nearest(X, 4)
    lengths = np.where(is_near | is_near.T, np.sqrt(squared_distances(X)), 0)
    D = shortest_path(lengths, directed=False)
    H = np.eye(40) - 1 / 40
    values, V = np.linalg.eigh(-H @ D**2 @ H / 2)
    expected = V[:, ::-1][:, :2] * np.sqrt(values[::-1][:2])
    found = Isomap(n_neighbors=4, eigen_solver="dense").fit_transform(X)
    return deviation(squared_distances(found), squared_distances(expected))


@item(
    "Figure 4",
    "two turns of a Swiss roll are near in space and far along the graph",
    "diffclass.neighbors_graph",
    "experiments.socher_2008.figure_4",
    agreement="path along the graph within 2 % of the known length, a straight line a third of it",
)
def test_geodesic_distances():
    t = np.linspace(2 * np.pi, 5 * np.pi, 400)
    X = np.column_stack([t * np.cos(t), t * np.sin(t)])
    arclength = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(X, axis=0), axis=1))])
    graph = neighbors_graph(X, 4).sqrt()
    ends = 0, int(np.argmin(np.abs(t - 4 * np.pi)))  # one turn apart
    along = shortest_path(graph, directed=False, indices=ends[0])[ends[1]]
    known = arclength[ends[1]]
    assert abs(along / known - 1) < 0.02
    assert np.linalg.norm(X[ends[1]] - X[0]) < known / 3


# --- 1.5 Laplacian eigenmaps


@item("(2)", "L = D - W", "diffclass.operators.unnormalized_laplacian")
def test_unnormalized_laplacian():
    W = affinity()
    L = unnormalized_laplacian(MarkovOperator.from_affinity(W))
    return deviation(L @ np.eye(len(W)), np.diag(W.sum(axis=1)) - W)


@item(
    "1.5.1",
    "the eigenvalue 0 of L is as multiple as there are connected components",
    "diffclass.MarkovOperator.n_connected_components",
)
def test_multiplicity_of_0():
    W, _ = two_parts()
    L = np.diag(W.sum(axis=1)) - W
    multiplicity = np.count_nonzero(np.linalg.eigvalsh(L) < 1e-12)
    return deviation(MarkovOperator.from_affinity(W).n_connected_components, multiplicity)


@item("(3)", "L_rw = D^-1 L = I - D^-1 W", "diffclass.operators.random_walk_laplacian")
def test_random_walk_laplacian():
    W = affinity()
    L_rw = random_walk_laplacian(MarkovOperator.from_affinity(W)) @ np.eye(len(W))
    return deviation(L_rw, np.eye(len(W)) - walk(W))


@item(
    "1.5.1 (i), (7)",
    "eigenvectors of L_rw solve L v = lambda D v",
    "diffclass.leading_eigenpairs",
)
def test_generalised_eigenproblem():
    W = affinity()
    pairs = leading_eigenpairs(MarkovOperator.from_affinity(W), len(W))
    v, D = pairs.right, np.diag(W.sum(axis=1))
    return deviation((D - W) @ v, D @ v * (1 - pairs.eigenvalues))


@item(
    "1.5.1 (ii), (iii)",
    "L_rw has real eigenvalues 0 = lambda_1 <= lambda_2 <= ..., the first vector constant",
    "diffclass.leading_eigenpairs",
    differs="Pairs are those of P, in the order of their moduli, by which its powers go; "
    '`which="algebraic"` orders them as here.',
)
def test_order_of_eigenvalues():
    W = affinity()
    pairs = leading_eigenpairs(MarkovOperator.from_affinity(W), len(W), which="algebraic")
    yield deviation(1 - pairs.eigenvalues, generalized(W)[0])
    yield deviation(pairs.right[:, 0], np.ones(40))


@item(
    "1.5.2, step 2",
    "W_ij = 1 for all connected vertices",
    "diffclass.kernels.Isotropic(numpy.ones_like)",
)
def test_binary_weights():
    X = points()
    graph = neighbors_graph(X, K_NEAREST)
    return deviation(Isotropic(np.ones_like).affinity(graph, X).toarray(), edges(graph))


@item(
    "1.5.2, step 2",
    "heat kernel w_ij = exp(-|x_i - x_j|^2 / t)",
    "diffclass.kernels.Gaussian(bandwidth=t)",
)
def test_heat_kernel():
    X, t = points(), 0.6
    graph = neighbors_graph(X, K_NEAREST)
    expected = np.where(edges(graph), np.exp(-squared_distances(X) / t), 0)
    return deviation(Gaussian(bandwidth=t).affinity(graph, X).toarray(), expected)


@item(
    "1.5.2, step 2; 1.3, step 1",
    "a graph that is not connected is embedded component by component",
    'diffclass.DiffusionMap(affinity="precomputed")',
    "diffclass.MarkovOperator.components",
    differs="The components are found, and each is embedded by a call of its own: `DiffusionMap` "
    "embeds the whole graph, whose first coordinates then tell components apart, and warns.",
)
def test_components_singly():
    W, parts = two_parts()
    A = MarkovOperator.from_affinity(W)
    for number, members in enumerate(parts):
        assert np.array_equal(np.flatnonzero(A.components == number), members)
        own = W[np.ix_(members, members)]
        map_ = DiffusionMap(2, alpha=0, time=0, affinity="precomputed")
        found = map_.fit_transform(A.affinity[members][:, members])
        expected = generalized(own)[1][:, 1:3] * np.sqrt(own.sum())
        yield deviation(no_signs(found), no_signs(expected))


@item(
    "1.5.2, step 3",
    "Psi: x_i -> (v_2(i), ..., v_d(i)) of L v = lambda D v",
    "diffclass.DiffusionMap(alpha=0, time=0)",
    differs="Here sum_i d_i v(i)^2 = sum_i d_i, not 1: coordinates do not shrink with the number "
    "of points. By default alpha = 1, which is the better for uneven points "
    "(experiments.socher_2008.figure_10), and time = 1, a diffusion map.",
)
def test_eigenmaps():
    W = affinity()
    found = DiffusionMap(3, alpha=0, time=0, affinity="precomputed").fit_transform(W)
    expected = generalized(W)[1][:, 1:4] * np.sqrt(W.sum())
    return deviation(no_signs(found), no_signs(expected))


@item(
    "(4), (5), (20)",
    "y^T L y = 1/2 sum_ij w_ij (y_i - y_j)^2",
    "diffclass.operators.unnormalized_laplacian",
    "diffclass.operators.dirichlet_energy",
    differs="`dirichlet_energy` is this over sum_i d_i, a mean over the steps of the walk.",
)
def test_smoothness():
    W, y = affinity(), points()[:, 1]
    A = MarkovOperator.from_affinity(W)
    expected = (W * (y[:, None] - y) ** 2).sum() / 2
    of_energy = dirichlet_energy(A, y) * W.sum()
    return deviation([y @ (unnormalized_laplacian(A) @ y), of_energy], [expected, expected])


@item(
    "(6), (24), (26)",
    "argmin y^T L y with y^T D y = 1 is the first eigenvector; its value the eigenvalue",
    "diffclass.operators.rayleigh_ritz",
)
def test_least_smoothness():
    W = affinity()
    found, _ = rayleigh_ritz(MarkovOperator.from_affinity(W), np.eye(len(W)))
    return deviation(found, generalized(W)[0])


@item(
    "(8)",
    "trace(Y^T L Y) = sum_ij |y_i - y_j|^2 w_ij",
    "diffclass.operators.dirichlet_energy",
    differs="The report leaves out the factor 1/2 that its equation 5 has; the test has it.",
)
def test_smoothness_of_a_map():
    W, Y = affinity(), points()
    expected = (W * squared_distances(Y)).sum() / 2
    return deviation(dirichlet_energy(MarkovOperator.from_affinity(W), Y).sum() * W.sum(), expected)


# --- 2 diffusion maps


@item("2", "P = D^-1 W, and P^t", "diffclass.MarkovOperator.apply")
def test_powers():
    W = affinity()
    P = walk(W)
    found = MarkovOperator.from_affinity(W).apply(np.eye(len(W)), 5)
    return deviation(found, np.linalg.matrix_power(P, 5))


@item("2, footnote 2", "lambda_P = 1 - lambda_L", "diffclass.leading_eigenpairs")
def test_eigenvalues_of_both():
    W = affinity()
    pairs = leading_eigenpairs(MarkovOperator.from_affinity(W), len(W), which="algebraic")
    return deviation(pairs.eigenvalues, 1 - generalized(W)[0])


@item(
    "2.1, figure 5",
    "the larger t, the coarser the clusters of P^t",
    "diffclass.spectral.numerical_rank",
    "diffclass.spectral.bumps",
    agreement="three, two and one cluster at growing t, by rows of P^t and by their rank",
)
def test_clusters_merge_with_time():
    X = np.repeat([[0.0, 0], [1.3, 0], [4.1, 0]], 20, axis=0)
    X += 0.1 * np.random.default_rng(0).normal(size=X.shape)
    A = markov_operator(X, n_neighbors=59, kernel=Gaussian(bandwidth=1.0))
    pairs, cluster = leading_eigenpairs(A, 6), np.repeat([0, 1, 2], 20)
    for t, merged in ((1, 1), (40, 2), (40_000, 3)):
        mass = np.bincount(cluster, bumps(A, [0], time=t)[0])
        assert np.count_nonzero(mass > 0.2) == merged
        assert numerical_rank(pairs, t, 0.1) == 4 - merged


@item(
    "(9)",
    "D_t^2(x, y) = sum_z (p(z, t|x) - p(z, t|y))^2 w(z), w = 1 / pi",
    "diffclass.spectral.diffusion_distances",
    differs="w is a weight of your choice in the report; there are w = 1 / pi, by which (10) "
    'holds, and w = 1 (`kind="unweighted"`).',
)
def test_diffusion_distance():
    W = affinity()
    P = np.linalg.matrix_power(walk(W), 3)
    pi = W.sum(axis=1) / W.sum()
    expected = np.sqrt(((P[:, None] - P[None]) ** 2 / pi).sum(axis=2))
    pairs = leading_eigenpairs(MarkovOperator.from_affinity(W), len(W))
    return deviation(diffusion_distances(pairs, np.arange(len(W)), time=3), expected)


@item(
    "Figure 6",
    "D_t(x, y) is small where many short paths join x and y",
    "diffclass.spectral.diffusion_distances",
    agreement="two points of one cluster are nearer than a nearer one across a bridge",
)
def test_many_short_paths():
    W = np.kron(np.eye(2), np.ones((6, 6)))
    W[5, 6] = W[6, 5] = 1.0  # the bridge
    pairs = leading_eigenpairs(MarkovOperator.from_affinity(W), len(W))
    D = diffusion_distances(pairs, np.arange(len(W)), time=4)
    assert D[6, 11] < 0.5 * D[5, 6]


@item(
    "(10), (12), appendix C",
    "Psi_t(x) = (lambda_1^t psi_1(x), ..., lambda_s^t psi_s(x))",
    "diffclass.DiffusionMap(alpha=0, time=t)",
)
def test_diffusion_map():
    W, t = affinity(), 4
    values, V = generalized(W)
    expected = (1 - values[1:4]) ** t * V[:, 1:4] * np.sqrt(W.sum())
    found = DiffusionMap(3, alpha=0, time=t, affinity="precomputed").fit_transform(W)
    return deviation(no_signs(found), no_signs(expected))


@item(
    "(11)",
    "1 = lambda_0 > |lambda_1| >= |lambda_2| >= ...",
    "diffclass.leading_eigenpairs",
)
def test_order_of_moduli():
    W = affinity() - np.eye(40) * 0.999  # some are negative
    expected = np.linalg.eigvals(walk(W)).real
    pairs = leading_eigenpairs(MarkovOperator.from_affinity(W), len(W))
    in_order = expected[np.argsort(-np.abs(expected))]
    return deviation(pairs.eigenvalues, in_order)


@item(
    "(13)",
    "|Psi_t(x) - Psi_t(y)| = D_t(x, y) but for the coordinates left out",
    "diffclass.DiffusionMap",
    "diffclass.spectral.diffusion_distances",
    agreement="with all coordinates to rounding, with two within |lambda_3|^t of the spread",
)
def test_distance_in_the_map():
    W, t = affinity(), 4
    P = np.linalg.matrix_power(walk(W), t)
    pi = W.sum(axis=1) / W.sum()
    D = np.sqrt(((P[:, None] - P[None]) ** 2 / pi).sum(axis=2))
    for s, bound in ((39, 1e-10), (2, None)):
        map_ = DiffusionMap(s, alpha=0, time=t, affinity="precomputed").fit(W)
        found = np.sqrt(squared_distances(map_.embedding_))
        if bound is None:
            left_out = np.sort(np.abs(np.linalg.eigvals(P)))[-1 - s - 1]
            bound = left_out * np.sqrt(2 / pi.min())
        assert np.abs(found - D).max() <= bound


@item(
    "2.3",
    "to eigenmaps it differs only by the scale of each coordinate, its eigenvalue",
    "diffclass.DiffusionMap",
)
def test_eigenmaps_scaled():
    eigenmaps, map_ = (
        DiffusionMap(3, alpha=0, time=t, affinity="precomputed").fit(affinity()) for t in (0, 2)
    )
    return deviation(map_.embedding_, eigenmaps.embedding_ * map_.eigenvalues_**2)


@item(
    "2.4",
    "spectral clustering: graph, normalised Laplacian, diffusion map, k-means",
    "diffclass.DiffusionClustering(k, embedding=DiffusionMap(k, alpha=0))",
    agreement="the same clusters",
    differs="By default k - 1 coordinates at their relaxation time, of a kernel that prefers dense "
    "places; outliers are set aside (experiments/results/scenes.md).",
)
def test_spectral_clustering():
    X = np.vstack([points(seed=s) + 3 * s for s in range(3)])
    kernel = Gaussian(bandwidth=2.0)
    map_ = DiffusionMap(3, alpha=0, time=1, kernel=kernel, n_neighbors=len(X) - 1)
    found = DiffusionClustering(3, embedding=map_).fit(X)
    values, V = generalized(np.exp(-squared_distances(X) / 2))
    Y = (1 - values[1:4]) * V[:, 1:4]
    expected = KMeans(3, n_init=10, random_state=0).fit_predict(Y)
    inside = ~found.outliers_
    assert inside.mean() > 0.9
    assert adjusted_rand_score(found.labels_[inside], expected[inside]) > 0.95


# --- 3 density


@item(
    "3.1, (14), (15), appendix D",
    "w_ij^(alpha) = w_ij / (q_i q_j)^alpha, P^(alpha) its rows over their sums",
    "diffclass.MarkovOperator.from_affinity(alpha=alpha)",
    differs="The report calls this anisotropic diffusion, and prints D^-1 L for D^-1 W.",
)
def test_density_exponent():
    W, alpha = affinity(), 0.7
    q = W.sum(axis=1)
    W_alpha = W / np.outer(q, q) ** alpha
    A = MarkovOperator.from_affinity(W, alpha=alpha)
    expected = walk(W_alpha)
    scale = W_alpha[0, 0] / A.affinity[0, 0]
    yield deviation(A @ np.eye(len(W)), expected)
    yield deviation(scale * A.affinity.toarray(), W_alpha)


@item("3.1", "alpha = 0 is the random walk as before", "diffclass.MarkovOperator")
def test_without_density_exponent():
    W = affinity()
    A = MarkovOperator.from_affinity(W, alpha=0.0)
    return deviation(A @ np.eye(len(W)), walk(W))


@item(
    "3.1, figure 10",
    "alpha = 1: a closed curve of any density becomes a circle",
    "diffclass.DiffusionMap(alpha=1)",
    "experiments.socher_2008.figure_10",
    agreement="radii within 5 % of each other; with alpha = 0 they are not",
)
def test_geometry_without_density():
    X, _ = circle(400, density=0.6)
    spreads = []
    for alpha in (1, 0):
        Y = DiffusionMap(2, alpha=alpha, n_neighbors=40).fit_transform(X)
        radii = np.linalg.norm(Y, axis=1)
        spreads.append(np.ptp(radii) / radii.mean())
    assert spreads[0] < 0.05 < 0.2 < spreads[1]


@item(
    "Definition 3.3",
    "a Hermitian operator, <L f, g> = <f, L g>, has orthonormal eigenfunctions",
    "diffclass.operators.symmetric_laplacian",
    "diffclass.spectral.Eigenpairs.symmetric",
)
def test_hermitian_operator():
    W = affinity()
    A = MarkovOperator.from_affinity(W)
    L_sym = symmetric_laplacian(A) @ np.eye(len(W))
    phi = leading_eigenpairs(A, len(W)).symmetric
    return max(deviation(L_sym, L_sym.T), deviation(phi.T @ phi, np.eye(len(W))))


@item(
    "Definition 3.4",
    "the Laplacian's first eigenfunction is constant, the next are sine and cosine",
    "diffclass.operators.generator_eigenvalues",
    within=0.02,
)
def test_eigenvalues_of_a_circle():
    X, _ = circle(300, density=0.0)
    A = markov_operator(X, n_neighbors=60, kernel=Gaussian(bandwidth=0.01))
    pairs = leading_eigenpairs(A, 5)
    waves = pairs.right[:, 1:3] @ np.linalg.lstsq(pairs.right[:, 1:3], X, rcond=None)[0]
    found = generator_eigenvalues(pairs.eigenvalues, 0.01)
    return max(deviation(found, [0, 1, 1, 4, 4]), deviation(waves, X))


@item(
    "(18), (19)",
    "L_rw tends to -Delta_s, Delta_s f = Delta f + (s / p) <grad p, grad f>, s = 2 (1 - alpha)",
    "diffclass.operators.generator_eigenvalues",
    within=0.15,
    differs="With exp(-d^2 / epsilon) it is (4 / epsilon) L_rw that tends to it.",
)
def test_density_exponent_in_the_limit():
    from scipy.stats import norm

    X = norm.ppf((np.arange(400) + 0.5) / 400)[:, None]  # Delta_s f = f'' - s x f'
    for alpha in (0.0, 0.5):
        A = markov_operator(X, n_neighbors=399, kernel=Gaussian(bandwidth=0.05), alpha=alpha)
        found = generator_eigenvalues(leading_eigenpairs(A, 3).eigenvalues, 0.05)
        s = 2 * (1 - alpha)
        yield deviation(found, [0, s, 2 * s]) / s


@item(
    "(21), (23)",
    "S(f) = int |grad f|^2 p^s, s = 2 (1 - alpha)",
    "diffclass.operators.dirichlet_energy(epsilon=epsilon)",
    within=0.05,
    differs="Here it is over int p^s, so that it does not depend on the number of points.",
)
def test_smoothness_in_the_limit():
    x = np.linspace(0, 1, 2001)[1:-1]
    p = 1 + 0.8 * np.cos(2 * np.pi * x)
    X = np.interp((np.arange(800) + 0.5) / 800, np.cumsum(p) / p.sum(), x)[:, None]
    f, slope = np.cos(np.pi * X[:, 0]), -np.pi * np.sin(np.pi * x)
    for alpha in (0.0, 0.5, 1.0):
        s = 2 * (1 - alpha)
        A = markov_operator(X, n_neighbors=300, kernel=Gaussian(bandwidth=0.001), alpha=alpha)
        expected = (slope**2 * p**s).sum() / (p**s).sum()
        yield deviation(dirichlet_energy(A, f, 0.001), expected) / expected


@item(
    "(22)",
    "eigenfunctions have the least int |grad f|^2 / int f^2",
    "diffclass.operators.rayleigh_ritz",
    within=0.02,
)
def test_rayleigh_quotient_in_the_limit():
    X, theta = circle(300, density=0.0)
    A = markov_operator(X, n_neighbors=60, kernel=Gaussian(bandwidth=0.01))
    trial = np.column_stack([np.cos(k * theta) for k in range(4)])
    return deviation(4 / 0.01 * rayleigh_ritz(A, trial)[0][:3], [0, 1, 4])


@item(
    "Appendix E",
    "weights exp(-d^2 / (2 * 2^2)) for 0 < d < 1.5; v_rw = D^-1/2 v_sym",
    "diffclass.leading_eigenpairs",
    differs="Kernels here keep k(x, x), without which a walk may have eigenvalues near -1; a "
    "precomputed affinity is taken as it is.",
)
def test_eigenvectors_of_both_laplacians():
    random = np.random.default_rng(0)
    t = np.sort(np.concatenate([c + random.normal(size=60) for c in (-1.5, 1.5)]))[:, None]
    d2 = squared_distances(t)
    W = np.exp(-d2 / (2 * 2**2)) * ((d2 < 1.5**2) & (d2 != 0))
    d = W.sum(axis=1)
    v_sym = np.linalg.eigh(np.eye(len(W)) - W / np.sqrt(np.outer(d, d)))[1][:, 1]
    v_rw = v_sym / np.sqrt(d)
    pairs = leading_eigenpairs(MarkovOperator.from_affinity(W), 2, which="algebraic")
    found = [pairs.symmetric[:, 1], pairs.right[:, 1] / np.linalg.norm(pairs.right[:, 1])]
    expected = np.array([v_sym, v_rw / np.linalg.norm(v_rw)])
    return deviation(no_signs(np.array(found).T), no_signs(expected.T))


@item(
    "Figure 9",
    "the second eigenvector of L_rw is flat where points are dense, that of L_sym is not",
    "diffclass.spectral.Eigenpairs",
    "experiments.socher_2008.figure_9",
    agreement="spread within a cluster below a fifth of that of L_sym",
)
def test_flat_eigenvector():
    random = np.random.default_rng(0)
    x = np.concatenate([c + random.normal(size=300) for c in (-3, 3)])[:, None]
    d2 = squared_distances(x)
    W = np.exp(-d2 / (2 * 2**2)) * ((d2 < 1.5**2) & (d2 != 0))
    pairs = leading_eigenpairs(MarkovOperator.from_affinity(W), 2, which="algebraic")
    spreads = []
    for v in (pairs.right[:, 1], pairs.symmetric[:, 1]):
        left, right = v[abs(x[:, 0] + 3) < 1], v[abs(x[:, 0] - 3) < 1]
        spreads.append((left.std() + right.std()) / abs(left.mean() - right.mean()))
    assert spreads[0] < spreads[1] / 5


@item(
    "Figure 8",
    "the first eigenfunction of a dumbbell tells its discs apart",
    "diffclass.DiffusionMap",
    "experiments.socher_2008.figure_8",
    agreement="by its sign, all points of both discs",
)
def test_dumbbell():
    grid = np.argwhere(np.ones((13, 37))) / 6.0 - [1, 3]
    discs = np.hypot(grid[:, 0], np.abs(grid[:, 1]) - 2) <= 1
    X = grid[discs | (np.abs(grid) <= [0.2, 2]).all(axis=1)]
    first = DiffusionMap(1, n_neighbors=12).fit_transform(X)[:, 0]
    side = np.sign(X[:, 1])[np.abs(X[:, 1]) > 1]
    found = np.sign(first)[np.abs(X[:, 1]) > 1]
    assert abs((found * side).sum()) == len(side)


def _rank_correlation(x, t):
    ranks = (np.argsort(np.argsort(values)) for values in (x, t))
    return abs(np.corrcoef(*ranks)[0, 1])
