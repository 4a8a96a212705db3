"""Sampled manifolds, clusters and diffusions: the laws that their docstrings state."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from diffclass import datasets
from diffclass.datasets import (
    make_c_shape,
    make_circle,
    make_closed_curve,
    make_correlated_gaussian,
    make_dumbbell,
    make_flat_torus,
    make_interval,
    make_ordered_clusters,
    make_planar_roll,
    make_rotated_images,
    make_sphere,
    make_spiral,
    make_swiss_roll,
    make_three_clusters,
    make_torus_helix,
    make_two_gaussians,
)
from diffclass.exceptions import DataError, ParameterError
from experiments.coifman_2005.potentials import (
    double_well,
    fokker_planck_spectrum,
    ornstein_uhlenbeck_spectrum,
    sample_double_well,
    sample_ornstein_uhlenbeck,
    sample_potential,
)

ROLL_LENGTH, HELIX_LENGTH = 89.3733, 51.9914
CURVE_LENGTHS = {"flower": 10.6056, "trefoil": 28.8263}


def flat(x):
    return 0.5 * x**2


def sample_linear(n_points, *, random_state=None):
    return sample_potential(
        n_points, potential=lambda x: 3 * x, interval=(0, 9), random_state=random_state
    )


MAKERS = [
    make_c_shape,
    make_circle,
    make_closed_curve,
    make_correlated_gaussian,
    make_dumbbell,
    make_flat_torus,
    make_interval,
    make_ordered_clusters,
    make_planar_roll,
    make_rotated_images,
    make_sphere,
    make_spiral,
    make_swiss_roll,
    make_three_clusters,
    make_torus_helix,
    make_two_gaussians,
    sample_double_well,
    sample_linear,
    sample_ornstein_uhlenbeck,
]


def test_every_maker_of_points_is_tested_here():
    named = {name for name in datasets.__all__ if name.startswith("make_")}
    tested = {maker.__name__ for maker in MAKERS}
    assert named - tested == {"make_tissue_scene", "make_hyperspectral_scene"}


@pytest.mark.parametrize("maker", MAKERS)
def test_shapes_types_and_seeds(maker):
    X, parameters = maker(50, random_state=3)
    assert X.dtype == np.float64
    assert X.ndim == 2
    assert len(X) == len(parameters) == 50
    assert parameters.ndim in (1, 2)
    assert np.isfinite(X).all()
    again, same = maker(50, random_state=np.random.RandomState(3))
    np.testing.assert_array_equal(X, again)
    np.testing.assert_array_equal(parameters, same)
    assert (maker(50, random_state=4)[0] != X).any()
    # X and its parameters are separate arrays: to scale one must not change the other
    assert not np.shares_memory(X, parameters)


@pytest.mark.parametrize("maker", MAKERS)
def test_number_first_seed_last_and_bad_ones_refused(maker):
    names = list(inspect.signature(maker).parameters.values())
    assert names[0].name == "n_points"
    assert names[-1].name == "random_state"
    assert all(p.kind is p.KEYWORD_ONLY for p in names[1:])
    for wrong in (0, -3, 2.5, True, "10"):
        with pytest.raises(ParameterError, match="n_points"):
            maker(wrong)
    with pytest.raises(ParameterError, match="random_state"):
        maker(5, random_state="seed")


@pytest.mark.parametrize(
    ("maker", "wrong"),
    [
        (make_circle, {"density": 1.0}),
        (make_circle, {"density": -0.1}),
        (make_circle, {"noise": -1.0}),
        (make_circle, {"noise": np.nan}),
        (make_interval, {"length": 0.0}),
        (make_interval, {"density": 1.5}),
        (make_spiral, {"density": 1}),
        (make_spiral, {"noise": np.inf}),
        (make_torus_helix, {"noise": -0.1}),
        (make_closed_curve, {"shape": "square"}),
        (make_closed_curve, {"density": 2.0}),
        (make_swiss_roll, {"height": 0}),
        (make_dumbbell, {"bridge_width": 2.5}),
        (make_dumbbell, {"bridge_length": 0.0}),
        (make_c_shape, {"n_clusters": 1}),
        (make_c_shape, {"noise": -1}),
        (make_three_clusters, {"spread": -1}),
        (make_rotated_images, {"size": 7}),
        (sample_double_well, {"barrier": 0}),
        (sample_ornstein_uhlenbeck, {"theta": -1}),
    ],
)
def test_parameters_out_of_range_are_refused(maker, wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        maker(20, **wrong)


def cosine_law(contrast, length, w):
    """Return the distribution function of 1 + contrast * cos(w s / length) on [0, length]."""
    return lambda s: s / length + contrast * np.sin(w * s / length) / w


@pytest.mark.parametrize("contrast", [0.0, 0.6, 0.95])
@pytest.mark.parametrize(
    ("maker", "length", "w"),
    [
        (make_circle, 2 * np.pi, 2 * np.pi),
        (make_interval, 2 * np.pi, np.pi),
        (make_spiral, ROLL_LENGTH, np.pi),
        (make_torus_helix, HELIX_LENGTH, 2 * np.pi),
        (make_closed_curve, CURVE_LENGTHS["flower"], 2 * np.pi),
    ],
)
def test_curves_have_the_density_they_state(maker, length, w, contrast):
    _, s = maker(4000, density=contrast, random_state=1)
    law = cosine_law(contrast, length, w)
    assert stats.kstest(s, law).pvalue > 1e-3
    _, s = maker(500, density=contrast, regular=True)
    shift = 0.5 if w == np.pi else 0.0
    # the lengths above are known to six digits
    np.testing.assert_allclose(law(s), (np.arange(500) + shift) / 500, atol=5e-6)


@pytest.mark.parametrize(
    ("made", "curve", "start"),
    [
        (
            lambda n: make_spiral(n, regular=True),
            lambda t: (t * np.cos(t), t * np.sin(t)),
            1.5 * np.pi,
        ),
        (
            lambda n: make_torus_helix(n, noise=0.0, regular=True),
            lambda t: (
                ((2 + np.cos(8 * t)) * np.cos(t), (2 + np.cos(8 * t)) * np.sin(t), np.sin(8 * t))
            ),
            0.0,
        ),
        (
            lambda n: make_closed_curve(n, regular=True),
            lambda t: tuple((1 + 0.4 * np.cos(5 * t)) * f(t) for f in (np.cos, np.sin)),
            0.0,
        ),
        (
            lambda n: make_closed_curve(n, shape="trefoil", regular=True),
            lambda t: (
                np.sin(t) + 2 * np.sin(2 * t),
                np.cos(t) - 2 * np.cos(2 * t),
                -np.sin(3 * t),
            ),
            0.0,
        ),
    ],
)
def test_arclength_is_that_of_a_polygon_along_the_curve(made, curve, start):
    """Walk the curve in small chords: points must lie on it, where their parameter says."""
    X, s = made(200)
    width = 3 * np.pi if start else 2 * np.pi
    t = start + np.linspace(0, width, 400_001)
    path = np.column_stack(curve(t))
    walked = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    distance, node = cKDTree(path).query(X)
    step = np.diff(walked).max()
    assert distance.max() < step
    # a closed curve's first point is also its last
    np.testing.assert_allclose(walked[node[1:]], s[1:], atol=2 * step)


def test_stated_lengths():
    def length(maker, **choice):
        _, s = maker(1000, density=0.0, regular=True, **choice)
        return 1000 * (s[1] - s[0])

    assert length(make_spiral) == pytest.approx(ROLL_LENGTH, rel=1e-5)
    assert length(make_torus_helix) == pytest.approx(HELIX_LENGTH, rel=1e-5)
    for shape, stated in CURVE_LENGTHS.items():
        assert length(make_closed_curve, shape=shape) == pytest.approx(stated, rel=1e-5)

    def primitive(t):  # of sqrt(1 + t^2), the speed of (t cos t, t sin t)
        return 0.5 * (t * np.hypot(1, t) + np.arcsinh(t))

    exact = primitive(4.5 * np.pi) - primitive(1.5 * np.pi)
    assert length(make_spiral) == pytest.approx(exact, rel=1e-9)


def test_circle_lies_at_its_radius_and_noise_moves_only_the_radius():
    X, theta = make_circle(300, density=0.5, random_state=0)
    np.testing.assert_allclose(X, np.column_stack([np.cos(theta), np.sin(theta)]))
    assert ((theta >= 0) & (theta < 2 * np.pi)).all()
    X, theta = make_circle(20_000, noise=0.05, random_state=0)
    radius = np.hypot(*X.T)
    np.testing.assert_allclose(np.arctan2(X[:, 1], X[:, 0]) % (2 * np.pi), theta, atol=1e-9)
    assert radius.mean() == pytest.approx(1, abs=2e-3)
    assert radius.std() == pytest.approx(0.05, rel=0.03)


def test_regular_circle_and_interval_have_the_known_eigenvectors_exactly():
    n = 64
    _, theta = make_circle(n, regular=True)
    np.testing.assert_allclose(theta, 2 * np.pi * np.arange(n) / n)
    _, s = make_interval(n, length=3.0, regular=True)
    modes = np.cos(np.pi * np.outer(s / 3.0, np.arange(n)))
    gram = modes.T @ modes
    np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-9)


@pytest.mark.parametrize("maker", [make_torus_helix, make_spiral, make_swiss_roll])
def test_ambient_noise_has_its_size(maker):
    clean, s = maker(5000, noise=0.0, random_state=2)
    noisy, same = maker(5000, noise=0.1, random_state=2)
    np.testing.assert_array_equal(s, same)
    assert (noisy - clean).std() == pytest.approx(0.1, rel=0.03)


def test_planar_roll_is_even_in_the_angle():
    X, t = make_planar_roll(3000, random_state=0)
    np.testing.assert_allclose(X, np.column_stack([t * np.cos(t), t * np.sin(t)]))
    assert stats.kstest(t, "uniform", args=(1.5 * np.pi, 3 * np.pi)).pvalue > 1e-3


@pytest.mark.parametrize("regular", [False, True])
def test_flat_torus(regular):
    X, angles = make_flat_torus(2000, regular=regular, random_state=0)
    np.testing.assert_allclose(np.exp(1j * angles).view(float), X, atol=1e-12)
    for column in angles.T:
        assert stats.kstest(column / (2 * np.pi), "uniform").pvalue > 1e-3


@pytest.mark.parametrize("n", [50, 377, 1000, 2003])
def test_regular_torus_leaves_no_near_pairs(n):
    X, _ = make_flat_torus(n, regular=True)
    nearest = cKDTree(X).query(X, k=2)[0][:, 1]
    # a square grid of n points has the step 2 pi / sqrt(n); every point of a lattice is alike
    assert nearest.min() > 0.6 * 2 * np.pi / np.sqrt(n)
    assert np.ptp(nearest) < 1e-9


def test_sphere_is_uniform_and_its_angles_are_right():
    X, (polar, azimuth) = (lambda X, a: (X, a.T))(*make_sphere(4000, random_state=0))
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1)
    np.testing.assert_allclose(X[:, 2], np.cos(polar), atol=1e-12)
    np.testing.assert_allclose(X[:, 0], np.sin(polar) * np.cos(azimuth), atol=1e-7)
    for column in X.T:  # Archimedes: every coordinate is uniform
        assert stats.kstest(column, "uniform", args=(-1, 2)).pvalue > 1e-3


def test_fibonacci_sphere_integrates_harmonics():
    X, _ = make_sphere(2000, regular=True)
    x, y, z = X.T
    harmonics = np.array([np.ones_like(x), x, y, z, x * y, y * z, z * x, x**2 - y**2, 3 * z**2 - 1])
    gram = harmonics @ harmonics.T / len(X)
    np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=3e-3)
    nearest = cKDTree(X).query(X, k=2)[0][:, 1]
    assert nearest.min() > 0.7 * np.sqrt(4 * np.pi / 2000)


def test_swiss_roll_is_uniform_by_area_and_unrolls_isometrically():
    X, parameters = make_swiss_roll(4000, height=10.0, random_state=0)
    s, h = parameters.T
    np.testing.assert_array_equal(X[:, 1], h)
    assert stats.kstest(s, "uniform", args=(0, ROLL_LENGTH)).pvalue > 1e-3
    assert stats.kstest(h, "uniform", args=(0, 10)).pvalue > 1e-3
    t = np.hypot(X[:, 0], X[:, 2])
    np.testing.assert_allclose(X[:, 0], t * np.cos(t), atol=1e-9)
    # nearby points are as far apart on the rectangle as in space
    near = np.sort(cKDTree(parameters).query(parameters, k=2)[1], axis=1)
    flat_distance = np.linalg.norm(np.diff(parameters[near], axis=1)[:, 0], axis=1)
    distance = np.linalg.norm(np.diff(X[near], axis=1)[:, 0], axis=1)
    np.testing.assert_allclose(distance, flat_distance, rtol=0.02)


def test_dumbbell_is_uniform_with_landmarks_first():
    length, width = 1.4, 0.5
    X, part = make_dumbbell(20_000, bridge_length=length, bridge_width=width, random_state=0)
    np.testing.assert_allclose(X[:3], [[-1.7, 0], [0, 0], [-1.7, 1]])
    assert part[:3].tolist() == [0, 1, 0]
    for k, centre in ((0, -1.7), (2, 1.7)):
        assert (np.linalg.norm(X[part == k] - [centre, 0], axis=1) <= 1).all()
    bridge = X[part == 1]
    assert (abs(bridge[:, 1]) <= width / 2).all()
    assert (abs(bridge[:, 0]) <= 1.7).all()
    # the bridge begins at the rim x = length / 2 + 1 - sqrt(1 - y^2)
    area = integrate.quad(lambda y: length + 2 - 2 * np.sqrt(1 - y * y), -width / 2, width / 2)[0]
    shares = np.array([np.pi, area, np.pi]) / (2 * np.pi + area)
    counts = np.bincount(part)
    assert stats.chisquare(counts, shares * len(X)).pvalue > 1e-3
    with pytest.raises(ParameterError, match="n_points = 2"):
        make_dumbbell(2)


def diffusion_map(X, epsilon, *, alpha, n_functions):
    """Return eigenvalues and right eigenvectors of the dense operator, by the book."""
    K = np.exp(-cdist(X, X, "sqeuclidean") / epsilon)
    q = K.sum(axis=1) ** alpha
    K /= np.outer(q, q)
    root = np.sqrt(K.sum(axis=1))
    values, vectors = np.linalg.eigh(K / np.outer(root, root))
    vectors = vectors[:, ::-1][:, :n_functions] / root[:, None]
    return values[::-1][:n_functions], vectors / np.sqrt((vectors**2).mean(axis=0))


def test_dumbbell_landmarks_show_what_the_figure_says():
    X, part = make_dumbbell(1500, random_state=0)
    values, functions = diffusion_map(X, 0.03, alpha=1, n_functions=4)
    for t in (1, 30, 300):
        embedding = functions[:, 1:] * values[1:] ** t
        assert np.linalg.norm(embedding[0] - embedding[1]) < np.linalg.norm(
            embedding[2] - embedding[1]
        )
    first = functions[:, 1] * np.sign(functions[part == 2, 1].sum())
    assert (first[part == 0] < 0).all()
    assert (first[part == 2] > 0).all()


@pytest.mark.parametrize("maker", [make_c_shape, make_ordered_clusters])
def test_c_shape_has_the_papers_principal_components(maker):
    X, place = maker(1000, random_state=0)
    assert np.bincount(place).tolist() == [200] * 5
    assert (np.diff(place) >= 0).all()
    _, spread, axes = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    assert abs(axes[0, 2]) > 0.97
    assert abs(axes[1] @ [1, 1, 0]) / np.sqrt(2) > 0.97
    assert spread[1] > 1.2 * spread[2]


def test_order_of_clusters_shows_in_one_diffusion_coordinate_and_not_in_one_of_pca():
    X, place = make_ordered_clusters(500, random_state=0)
    _, functions = diffusion_map(X, 0.1, alpha=0, n_functions=2)
    means = np.array([functions[place == k, 1].mean() for k in range(5)])
    steps = np.diff(means) * np.sign(means[-1] - means[0])
    assert (steps > 0.04).all()
    z = np.array([X[place == k, 2].mean() for k in range(5)])
    assert min(np.diff(z)[[0, -1]]) < 0.04


def test_three_clusters_merge_one_after_the_other():
    X, cluster = make_three_clusters(600, random_state=0)
    assert np.bincount(cluster).tolist() == [200] * 3
    values, functions = diffusion_map(X, 0.7, alpha=0, n_functions=4)
    assert values[1] ** 64 > 0.3
    assert values[1] ** 1024 < 0.01
    assert values[2] ** 8 > 0.1
    assert values[2] ** 64 < 0.01
    # the slowest function tells the far cluster from the two near ones
    means = [functions[cluster == k, 1].mean() for k in range(3)]
    assert np.sign(means[0]) == np.sign(means[1]) != np.sign(means[2])


def test_two_gaussians():
    X, drawn_from = make_two_gaussians(4000, random_state=0)
    assert (np.diff(X[:, 0]) >= 0).all()
    for k, mean in ((0, -3), (1, 3)):
        assert stats.kstest(X[drawn_from == k, 0], "norm", args=(mean, 1)).pvalue > 1e-3


def test_correlated_gaussian():
    X, scores = make_correlated_gaussian(50_000, random_state=0)
    np.testing.assert_allclose(np.cov(X.T), [[4, 2.5], [2.5, 4]], atol=0.1)
    np.testing.assert_allclose(X.mean(axis=0), 2, atol=0.05)
    np.testing.assert_allclose(scores[:, 0], (X - 2) @ [1, 1] / np.sqrt(2), atol=1e-12)


def test_rotated_images_lie_on_a_circle_of_even_speed():
    X, angle = make_rotated_images(400, size=32, random_state=0)
    assert X.shape == (400, 1024)
    assert X.min() >= 0
    assert X.max() <= 1
    order = np.argsort(angle)
    speed = np.linalg.norm(np.diff(X[order], axis=0), axis=1) / np.diff(angle[order])
    assert speed.max() < 1.1 * speed.min()
    # no angle's picture comes again: the object has no symmetry
    apart = np.abs((angle[:, None] - angle[None] + np.pi) % (2 * np.pi) - np.pi) > 0.5
    assert cdist(X, X)[apart].min() > 0.4 * np.median(cdist(X, X))
    # the object keeps inside, so that nothing is cut off at any angle
    assert np.ptp(X.sum(axis=1)) < 0.02 * X.sum(axis=1).mean()


def test_rotated_images_turn_counterclockwise():
    from diffclass.datasets.rotated_images import _template

    X, angle = make_rotated_images(200, size=33, random_state=1)
    quarter = np.argmin(abs(angle - np.pi / 2))
    turned = X[quarter].reshape(33, 33)
    candidates = [np.rot90(_template(33), k) for k in range(4)]
    assert np.argmin([np.linalg.norm(turned - c) for c in candidates]) == 1


@pytest.mark.parametrize("size", [8, 255])
def test_rotated_images_of_other_sizes(size):
    X, _ = make_rotated_images(3, size=size, random_state=0)
    assert X.shape == (3, size * size)
    assert X.max() > 0.5


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


def test_a_diffusion_map_of_the_sample_finds_the_spectrum():
    """alpha = 1/2: (A - I) / epsilon with exp(-d^2 / (4 epsilon)) tends to f'' - U' f'."""
    X, x = sample_double_well(3000, random_state=0)
    epsilon = 0.004
    values, functions = diffusion_map(X, 4 * epsilon, alpha=0.5, n_functions=2)
    eigenpairs = fokker_planck_spectrum(double_well, (-2.3, 2.3), n_pairs=2)
    assert -np.log(values[1]) / epsilon == pytest.approx(eigenpairs.eigenvalues[1], rel=0.2)
    assert abs(np.corrcoef(functions[:, 1], eigenpairs.at(x)[:, 1])[0, 1]) > 0.995


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
