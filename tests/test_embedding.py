"""The diffusion map as a transformer: coordinates, time, bandwidth, new points, refusals."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.manifold import SpectralEmbedding
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from diffclass import (
    DataError,
    DiffusionMap,
    ParameterError,
    UnreachedWarning,
    leading_eigenpairs,
    markov_operator,
)
from diffclass.kernels import Correlation, Gaussian, SharedNeighbors
from diffclass.neighbors import ExactSearch, RadiusSearch
from diffclass.spectral import bumps
from diffclass.spectral.gap import spectral_gap
from experiments.datasets import make_circle, make_interval, make_swiss_roll
from tests import naive


@parametrize_with_checks(
    [
        DiffusionMap(),
        DiffusionMap(1, alpha=0.0, time="auto"),
        DiffusionMap(kind="symmetric"),
    ]
)
def test_scikit_learns_contract(estimator, check):
    with warnings.catch_warnings():
        # its random blobs fall into components on small graphs
        warnings.filterwarnings("ignore", "the graph has .* components", UserWarning)
        warnings.filterwarnings("ignore", "time='auto'", UserWarning)
        check(estimator)


@pytest.fixture
def circle():
    return make_circle(400, density=0.5, random_state=0)


# --- coordinates


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("time", [0, 1, 3, 2.5])
def test_coordinates_are_the_dense_ones(rng, alpha, time):
    X = rng.normal(size=(60, 2))
    found = DiffusionMap(3, n_neighbors=59, bandwidth=1.0, alpha=alpha, time=time).fit(X)
    matrix = naive.markov_matrix(np.exp(-naive.squared_distances(X)), alpha)
    values, vectors = np.linalg.eig(matrix)
    order = np.argsort(-values.real)[1:4]
    pi = found.operator_.stationary_distribution
    for j, l_ in enumerate(order):
        psi = vectors[:, l_].real / np.sqrt(pi @ vectors[:, l_].real ** 2)
        psi *= np.sign(psi[np.abs(psi).argmax()])
        expected = values[l_].real ** time * psi
        np.testing.assert_allclose(found.embedding_[:, j], expected, atol=1e-9)


def test_euclidean_distances_are_diffusion_distances(rng):
    X = rng.normal(size=(50, 2))
    found = DiffusionMap(49, n_neighbors=10, time=3).fit(X)
    exact = pdist(bumps(found.operator_, np.arange(50), time=3, kind="weighted"))
    np.testing.assert_allclose(pdist(found.embedding_), exact, atol=1e-9)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("time", [0, 0.5, 3])
@pytest.mark.parametrize("duplicates", [0, 25])
def test_symmetric_coordinates_are_the_dense_ones(rng, alpha, time, duplicates):
    """At the points, and at the same as new ones; equal points count each for themselves."""
    X = rng.normal(size=(50, 2))
    X = np.vstack([X, X[:duplicates]])
    K = np.exp(-naive.squared_distances(X))
    q = K.sum(axis=1) ** alpha
    K = K / np.outer(q, q)
    d = K.sum(axis=1)
    values, phi = np.linalg.eigh(K / np.sqrt(np.outer(d, d)))
    expected = phi * np.maximum(values, 0) ** time
    search = ExactSearch(50)
    found = DiffusionMap(50, bandwidth=1.0, alpha=alpha, time=time, kind="symmetric", search=search)
    found.fit(X)
    if not (time == 0 and duplicates):  # the other eigenvalues are 0, and 0^0 is 1
        np.testing.assert_allclose(pdist(found.embedding_), pdist(expected), atol=1e-7)
    assert found.eigenvalues_[0] == 1
    np.testing.assert_allclose(found.embedding_[:, 0], np.sqrt(d / d.sum()), atol=1e-12)
    few = DiffusionMap(5, bandwidth=1.0, alpha=alpha, time=time, kind="symmetric", search=search)
    np.testing.assert_allclose(few.fit(X).embedding_, found.embedding_[:, :5], atol=1e-6)
    np.testing.assert_allclose(few.transform(X), few.embedding_, atol=1e-9)


@pytest.mark.parametrize("time", [3, "auto", "relaxation"])
@pytest.mark.parametrize("n_components", [3, "auto"])
def test_the_kinds_have_the_same_eigenfunctions(rng, time, n_components):
    """phi_0 counts as a coordinate, and no choice looks at it."""
    X = rng.normal(size=(300, 2)) + np.repeat([[0, 0], [6, 0], [0, 6]], 100, axis=0)
    weighted = DiffusionMap(n_components, time=time).fit(X)
    n_of_phi = n_components if n_components == "auto" else n_components + 1
    symmetric = DiffusionMap(n_of_phi, time=time, kind="symmetric").fit(X)
    assert symmetric.n_components_ == weighted.n_components_ + 1
    assert symmetric.time_ == weighted.time_
    assert symmetric.reason_.endswith(", not counting phi_0")
    root = np.sqrt(symmetric.operator_.stationary_distribution)[:, None]
    expected = np.hstack([root, root * weighted.embedding_])
    np.testing.assert_allclose(symmetric.embedding_, expected, atol=1e-9)
    assert symmetric.get_feature_names_out().tolist()[0] == "diffusionmap0"
    assert len(symmetric.get_feature_names_out()) == symmetric.n_components_


def test_phi_0_alone_has_no_time(rng):
    X = rng.normal(size=(30, 2))
    for time in ("auto", "relaxation"):
        with pytest.raises(ParameterError, match="phi_0, never decays"):
            DiffusionMap(1, kind="symmetric", time=time).fit(X)
    late = DiffusionMap(30, kind="symmetric", time=10**9).fit(X).embedding_
    np.testing.assert_allclose(late[:, 1:], 0, atol=1e-12)


def test_laplacian_eigenmaps_are_the_special_case(circle):
    """scikit-learn's, on the same affinity: alpha = 0, t = 0, up to a column's scale."""
    X, _ = circle
    A = markov_operator(X, n_neighbors=10, kernel=Gaussian(bandwidth="global"))
    K = A.affinity.astype(np.float64) - sp.eye_array(400)  # theirs knows no self loops
    ours = DiffusionMap(3, affinity="precomputed", alpha=0.0, time=0).fit_transform(K)
    theirs = SpectralEmbedding(3, affinity="precomputed", random_state=0).fit_transform(K)
    for our, their in zip(ours.T, theirs.T, strict=True):
        assert abs(np.corrcoef(our, their)[0, 1]) > 1 - 1e-6


def test_alpha_one_undoes_the_density(circle):
    X, angle = circle
    waves = np.column_stack([np.cos(angle), np.sin(angle)])

    def share_left(alpha, kernel=None):
        found = DiffusionMap(2, alpha=alpha, kernel=kernel, n_neighbors=40).fit_transform(X)
        fit = found @ np.linalg.lstsq(found, waves, rcond=None)[0]
        return ((fit - waves) ** 2).sum() / (waves**2).sum()

    assert share_left(1.0) < 0.01
    assert share_left(0.0) > 0.03
    # which a self-tuned bandwidth cannot: DESIGN section 5
    assert share_left(1.0, Gaussian()) > 0.03


# --- bandwidth and time


def test_a_given_bandwidth_gets_a_graph_wide_enough():
    X, _ = make_circle(1000, regular=True)
    found = DiffusionMap(2, n_neighbors=5, bandwidth=0.01).fit(X)
    reach = np.sqrt(naive.squared_distances(X[:1], X[[found.n_neighbors_ // 2]]))[0, 0]
    assert reach == pytest.approx(0.3, abs=0.01)
    assert found.epsilon_ == pytest.approx(0.01)
    full = DiffusionMap(2, n_neighbors=999, bandwidth=0.01).fit(X)
    np.testing.assert_allclose(found.eigenvalues_, full.eigenvalues_, rtol=1e-4)


def test_the_graphs_bandwidth_is_a_third_of_its_reach():
    X, _ = make_circle(400, regular=True)
    found = DiffusionMap(2, n_neighbors=20, bandwidth="graph").fit(X)
    reach = 2 * np.sin(10 * np.pi / 400)
    assert found.epsilon_ == pytest.approx((reach / 3) ** 2)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("n_outliers", [0, 1, 2, 5])
def test_outliers_do_not_take_the_first_coordinate(rng, alpha, n_outliers):
    """By default; a coordinate's mass sum pi psi^2 = 1 is that of many points."""
    truth = np.repeat([0, 1, 2], 100)
    X = rng.normal(size=(300, 2)) + np.array([[0, 0], [6, 0], [3, 5]])[truth]
    X = np.vstack([X, [30.0, 30.0] + 0.3 * rng.normal(size=(n_outliers, 2))])
    found = DiffusionMap(2, alpha=alpha).fit(X)
    mass = found.operator_.stationary_distribution[:, None] * found.eigenpairs_.right[:, 1:3] ** 2
    assert np.sort(mass, axis=0)[-5:].sum(axis=0).max() < 0.2
    assert found.eigenvalues_[0] < 0.9999


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_nor_do_the_points_of_a_sparse_cluster(rng, alpha):
    X = np.array([0.4, 1, 3])[np.repeat([0, 1, 2], 200)][:, None] * rng.normal(size=(600, 2))
    X[:, 0] += np.repeat([0, 3, 12], 200)
    found = DiffusionMap(2, alpha=alpha).fit(X)
    mass = found.operator_.stationary_distribution[:, None] * found.eigenpairs_.right[:, 1:3] ** 2
    assert np.sort(mass, axis=0)[-5:].sum(axis=0).max() < 0.2


@pytest.mark.parametrize("bandwidth", ["semigroup", "slope"])
def test_chosen_bandwidths_keep_their_curve(bandwidth):
    X, _ = make_circle(500, random_state=1)
    found = DiffusionMap(2, bandwidth=bandwidth).fit(X)
    assert found.bandwidth_curve_.criterion == bandwidth
    assert found.epsilon_ == pytest.approx(found.bandwidth_curve_.epsilon)
    assert found.n_neighbors_ >= found.bandwidth_curve_.n_neighbors


def test_time_may_be_chosen():
    X, _ = make_swiss_roll(600, random_state=0)
    found = DiffusionMap(2, n_neighbors=20, time="auto").fit(X)
    kept, left = found.eigenvalues_[0], found.eigenpairs_.eigenvalues[3]
    assert (left / kept) ** found.time_ <= 0.1 < (left / kept) ** (found.time_ - 1)
    expected = found.eigenvalues_**found.time_ * found.eigenpairs_.right[:, 1:3]
    np.testing.assert_allclose(found.embedding_, expected, rtol=1e-10)


def test_coordinates_may_be_as_many_as_the_gap_says(rng):
    X = rng.normal(size=(300, 2)) + np.repeat([[0, 0], [6, 0], [0, 6]], 100, axis=0)
    found = DiffusionMap("auto", time="relaxation").fit(X)
    assert found.n_components_ == found.embedding_.shape[1] == 2
    assert found.transform(X[:5]).shape == (5, 2)
    assert "spectral gap: coordinate 3 decays" in found.reason_
    assert found.time_ == pytest.approx(1 / (1 - found.eigenvalues_[1]))
    both = DiffusionMap("auto", time="auto").fit(X)
    assert both.n_components_ == 2
    left, first = both.eigenpairs_.eigenvalues[3], both.eigenvalues_[0]
    assert (left / first) ** both.time_ <= 0.1 < (left / first) ** (both.time_ - 1)
    assert f"from t = {both.time_} on coordinate 3" in both.reason_


@pytest.mark.parametrize("time", [1, 5, 20])
def test_coordinates_may_be_as_many_as_count_at_a_time(time):
    X, _ = make_swiss_roll(600, random_state=0)
    found = DiffusionMap("auto", n_neighbors=20, time=time).fit(X)
    relative = (found.eigenpairs_.eigenvalues[1:] / found.eigenvalues_[0]) ** time
    assert found.n_components_ == max((relative > 0.1).sum(), 1)
    assert "numerical rank" in found.reason_


def test_the_reason_says_what_was_asked_for(circle):
    found = DiffusionMap(2, time=3).fit(circle[0])
    assert found.reason_ == "2 coordinates were asked for; t = 3 was asked for"


@pytest.mark.parametrize("clusters", [2, 3, 7])
def test_the_gap_of_nearly_separate_blocks(clusters):
    K = np.kron(np.eye(clusters), np.ones((20, 20))) + 1e-3
    values = leading_eigenpairs(DiffusionMap(affinity="precomputed").fit(K).operator_).eigenvalues
    assert spectral_gap(values)[0] == clusters - 1
    even = np.exp(-(np.arange(10) ** 2) / 50)
    clearness = float(spectral_gap(even)[1].split("clearness ")[1].split()[0])
    assert clearness < 0.5


def test_time_may_be_the_relaxation_time_of_the_last_coordinate():
    X, _ = make_swiss_roll(600, random_state=0)
    found = DiffusionMap(3, n_neighbors=20, time="relaxation").fit(X)
    assert found.time_ == pytest.approx(1 / (1 - found.eigenvalues_[2]))
    expected = found.eigenvalues_**found.time_ * found.eigenpairs_.right[:, 1:4]
    np.testing.assert_allclose(found.embedding_, expected, rtol=1e-10)


def test_time_chosen_where_none_tells_apart():
    pairs = [[0.0], [1], [100], [101], [200], [201]]
    with (
        pytest.warns(UserWarning, match="no time separates"),
        pytest.warns(UserWarning, match="3 components"),
    ):
        found = DiffusionMap(1, n_neighbors=1, time="auto").fit(pairs)
    assert found.time_ == 1


# --- new points


def test_nystrom():
    X, s = make_interval(1000, length=2 * np.pi, regular=True)
    found = DiffusionMap(3, n_neighbors=60).fit(X)
    new = np.random.default_rng(0).uniform(0.5, 5.8, size=(200, 1))
    new = np.hstack([new, np.zeros((200, X.shape[1] - 1))])
    coordinates = found.transform(new)
    for k in range(3):
        theirs = np.interp(new[:, 0], s, found.embedding_[:, k])
        assert np.abs(coordinates[:, k] - theirs).max() < 0.01 * np.abs(theirs).max()


def test_a_fitted_point_as_a_new_one(rng):
    """On the full graph a fitted point has as a new one the edges it has."""
    X = rng.normal(size=(80, 2))
    for time in (0, 1, 4):
        found = DiffusionMap(3, n_neighbors=79, time=time, search=ExactSearch(80)).fit(X)
        np.testing.assert_allclose(found.transform(X), found.embedding_, atol=1e-9)


@pytest.mark.parametrize("kernel", [Gaussian(), SharedNeighbors(), Gaussian(bandwidth="global")])
def test_any_kernel_can_be_embedded_and_extended(rng, kernel):
    X = rng.normal(size=(300, 2))
    found = DiffusionMap(2, n_neighbors=15, kernel=kernel, alpha=0.5).fit(X)
    assert found.epsilon_ is None
    again = found.transform(X)
    for column, fitted in zip(again.T, found.embedding_.T, strict=True):
        assert np.corrcoef(column, fitted)[0, 1] > 0.98


def test_a_point_far_away_is_given_the_mean(rng):
    X = rng.normal(size=(100, 3)) * 0.1 + [1, 0, 0]
    found = DiffusionMap(2, kernel=Correlation(threshold=0.9, max_degree=100)).fit(X)
    with pytest.warns(UnreachedWarning, match="1 of 2 new points"):
        coordinates = found.transform([[-1.0, 0, 0], X[0]])
    assert (coordinates[0] == 0).all()
    assert (coordinates[1] != 0).any()


def test_precomputed_affinities(circle):
    X, _ = circle
    K = np.exp(-naive.squared_distances(X) / 0.05)
    by_points = DiffusionMap(2, bandwidth=0.05, n_neighbors=399).fit(X)
    for affinity in (K, sp.csr_array(K)):
        found = DiffusionMap(2, affinity="precomputed").fit(affinity)
        np.testing.assert_allclose(found.embedding_, by_points.embedding_, atol=1e-6)
        np.testing.assert_allclose(found.transform(affinity[:7]), found.embedding_[:7], atol=1e-9)


# --- scikit-learn


def test_names_frames_and_pipelines(rng):
    frame = pd.DataFrame(rng.normal(size=(100, 3)), columns=["red", "green", "blue"])
    found = DiffusionMap(2).set_output(transform="pandas").fit(frame)
    out = found.transform(frame)
    assert out.columns.tolist() == ["diffusionmap0", "diffusionmap1"]
    assert found.get_feature_names_out().tolist() == ["diffusionmap0", "diffusionmap1"]
    assert found.feature_names_in_.tolist() == ["red", "green", "blue"]
    assert make_pipeline(StandardScaler(), clone(found)).fit_transform(frame).shape == (100, 2)
    with pytest.raises(ValueError, match="feature names"):
        found.transform(frame[["blue", "green", "red"]])


def test_pickles_and_repeats(circle):
    X, _ = circle
    found = DiffusionMap(2).fit(X)
    again = pickle.loads(pickle.dumps(found))
    assert (again.transform(X) == found.transform(X)).all()
    assert (DiffusionMap(2).fit_transform(X) == found.embedding_).all()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_single_precision_points(circle, dtype):
    X, _ = circle
    found = DiffusionMap(2).fit(X.astype(dtype))
    assert found.operator_.dtype == dtype
    np.testing.assert_allclose(found.embedding_, DiffusionMap(2).fit_transform(X), atol=1e-3)


# --- what cannot be embedded


def test_disconnected_graphs_are_said(rng):
    X = np.vstack([rng.normal(size=(30, 2)), rng.normal(size=(20, 2)) + 100])
    with pytest.warns(UserWarning, match="2 components"):
        found = DiffusionMap(3, n_neighbors=8).fit(X)
    assert found.eigenvalues_[0] == 1
    np.testing.assert_allclose(np.ptp(found.embedding_[:30, 0]), 0, atol=1e-12)
    assert found.embedding_[0, 0] * found.embedding_[40, 0] < 0
    assert np.isfinite(found.embedding_).all()


def test_ball_graphs(circle):
    X, _ = circle
    found = DiffusionMap(2, search=RadiusSearch(0.4), bandwidth=0.02).fit(X)
    waves = found.embedding_
    assert np.linalg.norm(waves, axis=1).std() < 0.1 * np.linalg.norm(waves, axis=1).mean()


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((10, 2)), "all 10 points are equal"),
        ([[0.0, np.nan]] * 5, "NaN"),
        ([[0.0, np.inf]] * 5, "infinity"),
    ],
)
def test_refuses_points(X, message):
    with pytest.raises(ValueError, match=message):
        DiffusionMap().fit(X)


def test_all_points_equal_is_a_data_error():
    with pytest.raises(DataError, match="no geometry"):
        DiffusionMap(kernel=Gaussian()).fit(np.ones((10, 2)))


@pytest.mark.parametrize("n_points", [1, 2, 3])
def test_refuses_fewer_points_than_components(rng, n_points):
    with pytest.raises(ParameterError, match=f"{n_points} points .* have at most {n_points - 1}"):
        DiffusionMap(3).fit(rng.normal(size=(n_points, 2)))


@pytest.mark.parametrize(
    ("K", "message"),
    [
        ([[1.0, 0.5], [0.4, 1.0]], "not symmetric"),
        ([[1.0, -0.5], [-0.5, 1.0]], "negative"),
        (np.ones((2, 3)), "square"),
    ],
)
def test_refuses_affinities(K, message):
    with pytest.raises(DataError, match=message):
        DiffusionMap(1, affinity="precomputed").fit(np.asarray(K))


@pytest.mark.parametrize(
    "bad",
    [
        {"n_components": 0},
        {"n_components": 1.5},
        {"n_components": "many"},
        {"n_neighbors": 0},
        {"bandwidth": "wide"},
        {"bandwidth": 0},
        {"bandwidth": np.nan},
        {"alpha": -1},
        {"time": -1},
        {"time": "late"},
        {"affinity": "rbf"},
        {"kind": "unweighted"},
    ],
)
def test_refuses_parameters(rng, bad):
    with pytest.raises(ParameterError, match=next(iter(bad))):
        DiffusionMap(**bad).fit(rng.normal(size=(20, 2)))


def test_duplicates_and_an_isolated_point(rng):
    X = np.vstack([np.zeros((60, 2)), rng.normal(size=(60, 2)), [[40.0, 40.0]]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = DiffusionMap(3, n_neighbors=10).fit(X)
    assert np.isfinite(found.embedding_).all()
    spread = np.ptp(found.embedding_, axis=0)
    assert (np.ptp(found.embedding_[:60], axis=0) < 0.02 * spread).all()


def test_the_whole_spectrum_of_few_points():
    found = DiffusionMap(2, n_neighbors=2).fit([[0.0], [1.0], [3.0]])
    assert len(leading_eigenpairs(found.operator_)) == 3
    assert found.embedding_.shape == (3, 2)
