"""What stands on diffusion maps: clustering, anomalies, regression, geometric harmonics."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score, roc_auc_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from diffclass import (
    DataError,
    DiffusionAnomaly,
    DiffusionClustering,
    DiffusionMap,
    EigenfunctionRegressor,
    GeometricHarmonics,
    MarkovOperator,
    ParameterError,
)
from diffclass.clustering import DiffusionModes
from diffclass.neighbors import ExactSearch
from diffclass.spectral.distances import squared_distances_to_equilibrium
from experiments.datasets import make_interval, make_swiss_roll
from tests import naive


@parametrize_with_checks(
    [
        DiffusionClustering(3),
        DiffusionAnomaly(),
        EigenfunctionRegressor(),
        GeometricHarmonics(),
    ]
)
def test_scikit_learns_contract(estimator, check):
    with warnings.catch_warnings():
        # its random blobs fall into components on small graphs
        warnings.filterwarnings("ignore", "the graph has .* components", UserWarning)
        check(estimator)


# --- clustering


@pytest.mark.parametrize("make", [make_moons, make_circles])
def test_clusters_that_k_means_cannot_see(make):
    options = {"factor": 0.5} if make is make_circles else {}
    X, truth = make(600, noise=0.05, random_state=0, **options)
    found = DiffusionClustering(2).fit(X)
    assert adjusted_rand_score(truth, found.labels_) > 0.98
    assert adjusted_rand_score(truth, found.predict(X)) > 0.97


def three_blobs(random_state):
    rng = np.random.default_rng(random_state)
    truth = np.repeat([0, 1, 2], 100)
    return rng.normal(size=(300, 2)) + np.array([[0, 0], [6, 0], [3, 5]])[truth], truth


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_outliers", [0, 1, 2, 6])
def test_three_blobs_with_and_without_outliers(seed, n_outliers):
    """k-means is near the best there is: 0.95 and more."""
    X, truth = three_blobs(seed)
    strange = [20.0, 30.0] + 0.3 * np.random.default_rng(seed).normal(size=(n_outliers, 2))
    X = np.vstack([X, strange])
    found = DiffusionClustering(3).fit(X)
    assert adjusted_rand_score(truth, found.labels_[:300]) > 0.95
    assert found.outliers_[300:].all()
    assert found.outliers_[:300].mean() < 0.02
    # outliers go with the nearest point's cluster, fitted or new
    inner = ~found.outliers_
    nearest = naive.squared_distances(X[300:], X[inner]).argmin(axis=1) if n_outliers else []
    np.testing.assert_array_equal(found.labels_[300:], found.labels_[inner][nearest])
    np.testing.assert_array_equal(found.predict(X[300:]), found.labels_[300:]) if n_outliers else 0
    assert (found.retention_ > 0.9).all()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_clusters_of_unequal_size_and_density(seed):
    """Where a normalised cut of an evened-out graph halves the large cluster."""
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1], [1000, 50])
    X = rng.normal(size=(1050, 2)) + 5 * truth[:, None] * [1, 0]
    assert adjusted_rand_score(truth, DiffusionClustering(2).fit_predict(X)) > 0.9
    truth = np.repeat([0, 1, 2], 300)
    X = np.array([0.4, 1, 3])[truth, None] * rng.normal(size=(900, 2))
    X[:, 0] += np.array([0, 3, 12])[truth]
    assert adjusted_rand_score(truth, DiffusionClustering(3).fit_predict(X)) > 0.9


def test_retention_is_that_of_the_walk(rng):
    """With all eigenpairs, at the relaxation time of the last of them."""
    X = rng.normal(size=(40, 2)) + np.repeat([[0, 0], [4, 0]], 20, axis=0)
    found = DiffusionClustering(2, embedding=DiffusionMap(39, n_neighbors=8, time=0)).fit(X)
    assert not found.outliers_.any()
    A, pairs = found.embedding_.operator_, found.embedding_.eigenpairs_
    t = 1 / (1 - abs(pairs.eigenvalues[-1]))
    stayed = A.stationary_distribution[:, None] * (pairs.right * pairs.powers(t)) @ pairs.left.T
    for c in range(2):
        inside = found.labels_ == c
        mass = A.stationary_distribution[inside].sum()
        assert found.retention_[c] == pytest.approx(stayed[np.ix_(inside, inside)].sum() / mass)


@pytest.mark.parametrize("clusters", [2, 3, 5])
def test_the_number_of_clusters_may_be_left_to_the_spectrum(rng, clusters):
    angles = 2 * np.pi * np.arange(clusters) / clusters
    centers = 8 * np.column_stack([np.cos(angles), np.sin(angles)])
    truth = np.repeat(np.arange(clusters), 100)
    found = DiffusionClustering("auto").fit(rng.normal(size=(len(truth), 2)) + centers[truth])
    assert found.n_clusters_ == clusters
    assert found.reason_.startswith("spectral gap: coordinate")
    assert adjusted_rand_score(truth, found.labels_) > 0.98
    with pytest.raises(ParameterError, match="n_clusters"):
        DiffusionClustering("many").fit(centers)


@pytest.mark.parametrize("cluster", [DiffusionClustering, DiffusionModes])
def test_symmetric_coordinates_have_the_same_clusters(rng, cluster):
    X = rng.normal(size=(300, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 100, axis=0)
    found = [
        cluster("auto", embedding=DiffusionMap("auto", time="relaxation", kind=kind)).fit(X)
        for kind in ("weighted", "symmetric")
    ]
    assert found[0].n_clusters_ == found[1].n_clusters_ == 3
    assert adjusted_rand_score(found[0].labels_, found[1].labels_) > 0.98
    np.testing.assert_allclose(
        np.sort(found[0].retention_), np.sort(found[1].retention_), atol=0.02
    )


def test_small_clusters_are_outliers_too():
    K = np.kron(np.eye(2), np.ones((100, 100))) + 1e-3
    K[0] = K[:, 0] = 0
    K[0, 0] = 1
    embedding = DiffusionMap(1, affinity="precomputed")
    found = DiffusionClustering(2, embedding=embedding).fit(K)
    assert np.flatnonzero(found.outliers_).tolist() == [0]
    assert adjusted_rand_score(np.repeat([0, 1], 100)[1:], found.labels_[1:]) == 1
    assert (found.predict(K[1:50]) == found.labels_[1:50]).all()


def test_components_are_clusters(rng):
    X = np.vstack([rng.normal(size=(40, 2)) + shift for shift in (0, 50, 100)])
    found = DiffusionClustering(3, embedding=DiffusionMap(2, n_neighbors=5)).fit(X)
    assert adjusted_rand_score(np.repeat([0, 1, 2], 40), found.labels_) == 1


def test_clusters_of_an_affinity():
    K = np.kron(np.eye(3), np.ones((10, 10))) + 1e-3
    found = DiffusionClustering(3, embedding=DiffusionMap(2, affinity="precomputed")).fit(K)
    assert adjusted_rand_score(np.repeat([0, 1, 2], 10), found.labels_) == 1


def test_clustering_refuses():
    with pytest.raises(ParameterError, match="n_clusters = 5; there are 4 points"):
        DiffusionClustering(5).fit([[0.0], [1], [2], [3]])


# --- anomalies


def dense_graph(X, n_neighbors):
    """Affinities on the naive graph, with one bandwidth for all."""
    distances, mask = naive.neighbors_graph(X, n_neighbors)
    epsilon = np.median(naive.scales(distances, mask, 7) ** 2)
    return naive.gaussian(distances, mask, epsilon), epsilon


@pytest.mark.parametrize("time", [1, 2, 5])
def test_the_score_is_the_distance_of_the_bump(rng, time):
    X = rng.normal(size=(60, 2))
    found = DiffusionAnomaly(n_neighbors=10, time=time, n_probes=60).fit(X)
    K, _ = dense_graph(X, 10)
    np.testing.assert_allclose(found.scores_, naive.bumps_from_equilibrium(K, time), rtol=1e-9)


def test_random_probes_come_near(rng):
    X = np.vstack([rng.normal(size=(300, 2)), [[60.0, 60.0]]])
    exact = DiffusionAnomaly(time=3, n_probes=1000).fit(X).scores_
    found = DiffusionAnomaly(time=3, n_probes=256).fit(X).scores_
    assert np.std(found / exact - 1) < np.sqrt(2 / 256)
    assert found[-1] == pytest.approx(exact[-1], rel=1e-3)  # its walk stays: no chance in it


@pytest.mark.parametrize("time", [1, 3])
def test_new_points_join_by_steps_of_one_way(rng, time):
    X, new = rng.normal(size=(50, 2)), np.array([[0.1, 0.2], [2.0, 2.0], [9.0, 9.0]])
    found = DiffusionAnomaly(n_neighbors=49, time=time, n_probes=50).fit(X)
    K, epsilon = dense_graph(X, 49)
    expected = []
    for x in new:
        k = np.exp(-naive.squared_distances([x], X)[0] / epsilon)
        d = 1 + k.sum()
        A = np.block([[naive.markov_matrix(K), np.zeros((50, 1))], [k / d, np.array([[1 / d]])]])
        pi = np.append(K.sum(axis=1), d) / K.sum()
        expected.append((np.linalg.matrix_power(A, time)[-1] ** 2 / pi).sum() - 1)
    np.testing.assert_allclose(-found.score_samples(new), expected, rtol=1e-8)


@pytest.mark.parametrize("name", ["time", "n_probes"])
def test_distances_to_equilibrium_refuse(name):
    A = MarkovOperator.from_affinity(np.eye(3) + 1)
    with pytest.raises(ParameterError, match=name):
        squared_distances_to_equilibrium(A, **({"time": 2} | {name: 0}))


def test_strange_digits_are_found():
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    areas = []
    for digit in range(10):
        strange = rng.choice(np.flatnonzero(y != digit), 12, replace=False)
        points = np.vstack([X[y == digit], X[strange]])
        scores = DiffusionAnomaly().fit(points).scores_
        areas.append(roc_auc_score(np.arange(len(points)) >= np.sum(y == digit), scores))
    assert np.mean(areas) > 0.98


def test_anomalies_among_new_points(rng):
    found = DiffusionAnomaly(contamination=0.02).fit(rng.normal(size=(500, 2)))
    assert (found.predict([[0.0, 0], [0.5, -0.5]]) == 1).all()
    assert np.mean(found.fit_predict(rng.normal(size=(500, 2))) == -1) == pytest.approx(0.02)


@pytest.mark.parametrize("contamination", [0, -0.1, 0.6, "auto", np.nan])
def test_anomaly_refuses(rng, contamination):
    with pytest.raises(ParameterError, match="contamination"):
        DiffusionAnomaly(contamination=contamination).fit(rng.normal(size=(20, 2)))


# --- regression


def test_a_function_of_a_roll_from_few_values(rng):
    X, (s, _) = (lambda X, p: (X, p.T))(*make_swiss_roll(1500, random_state=0))
    f = np.cos(s / 12)
    known = rng.permutation(1500)[:60]
    y = np.full(1500, np.nan)
    y[known] = f[known]
    found = EigenfunctionRegressor(DiffusionMap(40, n_neighbors=15)).fit(X, y)
    assert np.corrcoef(found.fitted_, f)[0, 1] > 0.97
    assert np.corrcoef(found.predict(X), f)[0, 1] > 0.97


@pytest.mark.parametrize("n_equal", [1, 3])
def test_leaving_one_out_is_what_it_says(rng, n_equal):
    X, s = (
        np.repeat(values, n_equal, axis=0) for values in make_interval(80, length=3.0, regular=True)
    )
    n = len(X)
    y = np.cos(2 * s) + 0.05 * rng.normal(size=n)
    found = EigenfunctionRegressor(DiffusionMap(20, n_neighbors=20)).fit(X, y)
    basis = found.embedding_.operator_.at_points(found.embedding_.eigenpairs_.right)
    for m in (0, 3, 12):
        errors = []
        for i in range(n):
            others = s != s[i]  # equal points are left out together
            coef = np.linalg.lstsq(basis[others, : m + 1], y[others], rcond=None)[0]
            errors.append((basis[i, : m + 1] @ coef - y[i]) ** 2)
        assert found.leave_one_out_[m] == pytest.approx(np.mean(errors))
    assert found.leave_one_out_[found.n_components_] == found.leave_one_out_.min()


def test_an_eigenfunction_is_its_own_regression(rng):
    X = rng.normal(size=(200, 2))
    psi = DiffusionMap(5, n_neighbors=20).fit(X).eigenpairs_.right[:, 3]
    found = EigenfunctionRegressor(DiffusionMap(5, n_neighbors=20), n_components=4).fit(X, psi)
    np.testing.assert_allclose(found.coef_, [0, 0, 0, 1, 0], atol=1e-9)


def test_regression_refuses(rng):
    X = rng.normal(size=(30, 2))
    for y, message in (
        (np.full(30, np.nan), "no known value"),
        (np.ones(29), "30 points"),
        (np.full(30, np.inf), "infinity"),
    ):
        with pytest.raises(DataError, match=message):
            EigenfunctionRegressor().fit(X, y)
    with pytest.warns(UserWarning, match="n_components = 50"):
        EigenfunctionRegressor(n_components=50).fit(X, X[:, 0])


# --- geometric harmonics


@pytest.mark.parametrize("dtype", ["f4", "f2", "u1", "i2", "i8", ">f8", object, "U8"])
@pytest.mark.parametrize("made", [EigenfunctionRegressor(), GeometricHarmonics(bandwidth=0.3)])
def test_the_type_of_values_does_not_matter(made, dtype):
    X, s = make_interval(200, length=6.0, regular=True)
    y = np.round(100 + 100 * np.sin(s))  # squares exceed half precision and small integers
    expected, found = (clone(made).fit(X, values) for values in (y, y.astype(dtype)))
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))
    name = "unexplained_" if isinstance(made, GeometricHarmonics) else "leave_one_out_"
    np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


@pytest.mark.parametrize("made", [EigenfunctionRegressor(), GeometricHarmonics()])
def test_values_that_are_no_numbers_are_refused(made, rng):
    X = rng.normal(size=(30, 2))
    for bad in (1j, "red", np.datetime64("2024-01-01"), np.inf):
        with pytest.raises(DataError, match="y "):
            made.fit(X, np.full(30, bad))
    if isinstance(made, GeometricHarmonics):
        with pytest.raises(DataError, match="NaN or no value"):
            made.fit(X, [None, *range(29)])


def test_harmonics_reproduce_smooth_functions_and_extend_them(rng):
    X, s = make_interval(500, length=6.0, regular=True)
    f = np.column_stack([np.sin(s), np.cos(2 * s)])
    found = GeometricHarmonics(bandwidth=0.3, condition=1e6).fit(X, f)
    assert found.condition_ <= 1e6
    assert (found.unexplained_ < 1e-5).all()
    inside = np.zeros((50, X.shape[1]))
    inside[:, 0] = rng.uniform(0.5, 5.5, 50)
    expected = np.column_stack([np.sin(inside[:, 0]), np.cos(2 * inside[:, 0])])
    np.testing.assert_allclose(found.predict(inside), expected, atol=0.01)


def test_the_condition_bounds_what_errors_become(rng):
    """f off by e in norm moves the extension by at most |e| times the condition over mu_0."""
    X, s = make_interval(300, length=6.0, regular=True)
    errors = rng.normal(size=300)
    extended = []
    for condition in (10, 1e3, 1e6):
        found = GeometricHarmonics(bandwidth=0.3, condition=condition, search=ExactSearch(300)).fit(
            X, np.sin(s)
        )
        noisy = GeometricHarmonics(bandwidth=0.3, condition=condition, search=ExactSearch(300)).fit(
            X, np.sin(s) + errors
        )
        change = np.linalg.norm(noisy.predict(X) - found.predict(X))
        assert change <= np.linalg.norm(errors) * (1 + 1e-9)  # on the points: a projection
        between = X + 0.01 * (np.arange(X.shape[1]) == 0)
        extended.append(np.abs(noisy.predict(between) - found.predict(between)).max())
        bound = np.linalg.norm(errors) * condition / found.eigenvalues_[0]
        assert extended[-1] <= bound * np.sqrt(300)
        assert len(found.eigenvalues_) < 300
    assert extended[0] < extended[-1]


def test_harmonics_vanish_far_away():
    X, s = make_interval(300, length=6.0, regular=True)
    found = GeometricHarmonics(bandwidth=0.3).fit(X, np.sin(s))
    far = np.zeros((1, X.shape[1]))
    far[0, 0] = 100
    assert abs(found.predict(far)[0]) < 1e-6


def test_rough_functions_are_said_not_to_fit(rng):
    X, s = make_interval(300, length=6.0, regular=True)
    rough = GeometricHarmonics(bandwidth=0.3, condition=100).fit(X, np.sign(np.sin(40 * s)))
    assert rough.unexplained_ > 0.5


@pytest.mark.parametrize("condition", [1, 0.5, -1, "large"])
def test_harmonics_refuse(rng, condition):
    with pytest.raises(ParameterError, match="condition"):
        GeometricHarmonics(condition=condition).fit(rng.normal(size=(20, 2)), np.arange(20.0))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("cluster", [DiffusionClustering, DiffusionModes])
@pytest.mark.parametrize("n_neighbors", [2, 5, 20])
def test_fitted_points_keep_their_clusters(cluster, n_neighbors):
    """Few points, copies, and points between clusters: predict has the clusters of fit."""
    for seed in range(12):
        random = np.random.default_rng(seed)
        X = random.normal(size=(int(random.integers(5, 40)), 2))
        X = np.repeat(X, random.integers(1, 4, len(X)), axis=0)
        embedding = DiffusionMap(2, n_neighbors=n_neighbors, random_state=0)
        found = cluster(3, embedding=embedding).fit(X)
        inside = ~found.outliers_
        np.testing.assert_array_equal(found.predict(X)[inside], found.labels_[inside])
