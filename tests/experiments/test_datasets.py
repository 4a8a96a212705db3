"""Sampled manifolds, clusters and scenes have the geometry that their docstrings state."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from experiments import datasets
from experiments.datasets import (
    make_circle,
    make_closed_curve,
    make_correlated_gaussian,
    make_dumbbell,
    make_flat_torus,
    make_hyperspectral_scene,
    make_interval,
    make_rotated_images,
    make_sphere,
    make_swiss_roll,
    make_torus_helix,
    make_two_gaussians,
)
from experiments.datasets.rotated_images import template

ROLL_LENGTH, HELIX_LENGTH = 89.3733, 51.9914
CURVE_LENGTHS = {"flower": 10.6056, "trefoil": 28.8263}
MAKERS = [
    getattr(datasets, name) for name in datasets.__all__ if name != "make_hyperspectral_scene"
]


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


def cosine_law(contrast, length, w):
    """Return the distribution function of 1 + contrast * cos(w s / length) on [0, length]."""
    return lambda s: s / length + contrast * np.sin(w * s / length) / w


@pytest.mark.parametrize("contrast", [0.0, 0.6, 0.95])
@pytest.mark.parametrize(
    ("maker", "length", "w"),
    [
        (make_circle, 2 * np.pi, 2 * np.pi),
        (make_interval, 2 * np.pi, np.pi),
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
    ("made", "curve"),
    [
        (
            lambda n: make_torus_helix(n, noise=0.0, regular=True),
            lambda t: (
                ((2 + np.cos(8 * t)) * np.cos(t), (2 + np.cos(8 * t)) * np.sin(t), np.sin(8 * t))
            ),
        ),
        (
            lambda n: make_closed_curve(n, regular=True),
            lambda t: tuple((1 + 0.4 * np.cos(5 * t)) * f(t) for f in (np.cos, np.sin)),
        ),
        (
            lambda n: make_closed_curve(n, shape="trefoil", regular=True),
            lambda t: (
                np.sin(t) + 2 * np.sin(2 * t),
                np.cos(t) - 2 * np.cos(2 * t),
                -np.sin(3 * t),
            ),
        ),
    ],
)
def test_arclength_is_that_of_a_polygon_along_the_curve(made, curve):
    """Walk the curve in small chords: points must lie on it, where their parameter says."""
    X, s = made(200)
    t = np.linspace(0, 2 * np.pi, 400_001)
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

    assert length(make_torus_helix) == pytest.approx(HELIX_LENGTH, rel=1e-5)
    for shape, stated in CURVE_LENGTHS.items():
        assert length(make_closed_curve, shape=shape) == pytest.approx(stated, rel=1e-5)


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
    X, angle = make_rotated_images(200, size=33, random_state=1)
    quarter = np.argmin(abs(angle - np.pi / 2))
    turned = X[quarter].reshape(33, 33)
    candidates = [np.rot90(template(33), k) for k in range(4)]
    assert np.argmin([np.linalg.norm(turned - c) for c in candidates]) == 1


def blocks():
    return np.kron([[1, 2, 0], [0, 7, 1]], np.ones((20, 20), dtype=np.uint8)).astype(np.uint8)


def test_hyperspectral_scene_is_float32_and_seeded():
    first = make_hyperspectral_scene(blocks(), n_bands=40, random_state=1)
    again = make_hyperspectral_scene(blocks(), n_bands=40, random_state=1)
    assert first.shape == (40, 60, 40)
    assert first.dtype == np.float32
    assert np.isfinite(first).all()
    np.testing.assert_array_equal(first, again)
    assert (first != make_hyperspectral_scene(blocks(), n_bands=40, random_state=2)).any()


def test_hyperspectral_classes_differ_and_vary():
    fields = blocks()
    cube = make_hyperspectral_scene(fields, n_bands=40, noise=0.0, random_state=0)
    means = np.array([cube[fields == i].mean(axis=0) for i in (1, 2, 7)])
    between = np.linalg.norm(means[:, None] - means[None], axis=-1)[np.triu_indices(3, 1)]
    assert between.min() > 0.05
    assert all(cube[fields == i].std(axis=0).max() > 0.003 for i in (1, 2, 7))


def test_hyperspectral_noise_has_the_size_asked_for_and_is_shared():
    quiet = make_hyperspectral_scene(blocks(), n_bands=60, noise=0.0, random_state=0)
    loud = make_hyperspectral_scene(blocks(), n_bands=60, noise=0.05, random_state=0)
    noise = (loud - quiet)[..., 10:-10]
    assert noise.std() == pytest.approx(0.05, rel=0.05)
    neighbours = np.corrcoef(noise[..., :-1].ravel(), noise[..., 1:].ravel())[0, 1]
    assert 0.3 < neighbours < 0.6


def test_hyperspectral_scene_of_background_or_without():
    assert make_hyperspectral_scene(np.zeros((9, 9), int), n_bands=8).shape == (9, 9, 8)
    assert make_hyperspectral_scene(np.ones((9, 9), int), n_bands=8).shape == (9, 9, 8)
