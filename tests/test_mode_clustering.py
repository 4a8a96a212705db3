"""Clusters around modes: the search for denser points beside its twin, and what users see."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from diffclass import DiffusionClustering, DiffusionMap, DiffusionModes, ParameterError
from diffclass.clustering import labels_of_modes, nearest_denser, neighbor_density
from diffclass.label_diffusion.maps import cut_of, leaving_probabilities
from diffclass.neighbors import neighbors_graph
from tests import naive


@parametrize_with_checks([DiffusionModes(3)])
def test_scikit_learns_contract(estimator, check):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the graph has .* components", UserWarning)
        check(estimator)


# --- the search


@pytest.mark.parametrize("n", [1, 2, 3, 17, 300])
@pytest.mark.parametrize("levels", [2, 1000])
def test_nearest_denser_is_that_of_its_twin(rng, n, levels):
    """Few levels: many points of one density, most of them far from a denser one."""
    points, density = rng.normal(size=(n, 3)), rng.integers(1, levels + 1, size=n).astype(float)
    denser, distance = nearest_denser(points, density)
    expected, far = naive.nearest_denser(points, density)
    np.testing.assert_array_equal(denser, expected)
    np.testing.assert_allclose(distance, far, rtol=1e-12)


@pytest.mark.parametrize("block", [1, 700, 2**22])
def test_points_that_the_tree_does_not_solve(rng, monkeypatch, block):
    """The denser point of a whole cluster lies beyond its other points, whatever the blocks."""
    monkeypatch.setattr("diffclass.clustering._NEIGHBORS", (4,))
    monkeypatch.setattr("diffclass.clustering._BLOCK_VALUES", block)
    points = np.concatenate([rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 50])
    density = np.concatenate([rng.random(60), rng.random(60) + 2])
    denser, distance = nearest_denser(points, density)
    expected, far = naive.nearest_denser(points, density)
    np.testing.assert_array_equal(denser, expected)
    np.testing.assert_allclose(distance, far, rtol=1e-12)
    assert (distance > 40).any()


def test_equal_points_are_all_led_to_the_first():
    denser, distance = nearest_denser(np.ones((500, 2)), np.ones(500))
    assert not distance.any()
    assert not labels_of_modes(denser, np.array([0])).any()


def test_density_is_the_kernel_sum_over_neighbors(rng):
    X = rng.normal(size=(80, 2))
    distances, mask = naive.neighbors_graph(X, 20)
    scale = np.median(naive.scales(distances, mask, 7))
    expected = naive.gaussian(distances, mask, scale**2).sum(axis=1)
    np.testing.assert_allclose(neighbor_density(neighbors_graph(X, 20)), expected, rtol=1e-6)


def test_modes_and_labels_are_those_of_the_twin(rng):
    X, _ = make_blobs(400, centers=5, cluster_std=1.2, random_state=3)
    found = DiffusionModes(5).fit(X)
    inside = ~found.outliers_
    density = neighbor_density(neighbors_graph(X, 20, random_state=0))[inside]
    modes, labels = naive.modes(found.embedding_.embedding_, density, 5)
    np.testing.assert_array_equal(found.modes_, np.flatnonzero(inside)[modes])
    np.testing.assert_array_equal(found.labels_[inside], labels)
    np.testing.assert_array_equal(found.labels_[found.modes_], np.arange(5))
    assert (np.diff(found.mode_scores_[1:]) <= 0).all()


# --- what it finds


@pytest.mark.parametrize("make", [make_moons, make_circles], ids=["moons", "circles"])
def test_curved_clusters(make):
    options = {"factor": 0.5} if make is make_circles else {}
    X, truth = make(600, noise=0.05, random_state=0, **options)
    found = DiffusionModes(2).fit(X)
    assert adjusted_rand_score(truth, found.labels_) > 0.98
    assert adjusted_rand_score(truth, found.predict(X)) > 0.97
    assert sorted(truth[found.modes_]) == [0, 1]


@pytest.mark.parametrize("sizes", [(100, 100, 100), (1000, 50, 50)], ids=["equal", "unequal"])
def test_blobs(sizes):
    X, truth = make_blobs(sizes, centers=[[0, 0], [7, 0], [3, 7]], random_state=0)
    assert adjusted_rand_score(truth, DiffusionModes(3).fit_predict(X)) > 0.95


def test_an_outlier_is_no_mode():
    X, truth = make_blobs(200, centers=[[0, 0], [8, 0]], random_state=0)
    X = np.vstack([X, [[100.0, 100.0], [-80.0, 40.0]]])
    found = DiffusionModes(2).fit(X)
    assert adjusted_rand_score(truth, found.labels_[:200]) > 0.95
    assert found.outliers_[200:].all()
    assert max(found.modes_) < 200


def test_the_number_is_that_of_the_gap():
    X, truth = make_blobs(300, centers=[[0, 0], [8, 0], [0, 8], [8, 8]], random_state=0)
    found = DiffusionModes("auto").fit(X)
    assert found.n_clusters_ == len(found.modes_) == 4
    assert "spectral gap" in found.reason_
    assert adjusted_rand_score(truth, found.labels_) > 0.95


def test_modes_of_an_affinity():
    K = np.zeros((60, 60))
    rng = np.random.default_rng(0)
    for block in range(3):
        place = slice(20 * block, 20 * block + 20)
        K[place, place] = rng.random((20, 20)) + 1
    K = np.maximum(K, K.T) + 0.001
    embedding = DiffusionMap(2, affinity="precomputed")
    for given in (K, sp.csr_array(K)):
        found = DiffusionModes(3, embedding=embedding).fit(given)
        assert adjusted_rand_score(np.repeat([0, 1, 2], 20), found.labels_) == 1


def test_it_does_not_depend_on_the_order(rng):
    X, _ = make_blobs(300, centers=3, random_state=1)
    order = rng.permutation(300)
    found, again = DiffusionModes(3).fit_predict(X), DiffusionModes(3).fit_predict(X[order])
    assert adjusted_rand_score(found[order], again) > 0.98


def test_refusals():
    with pytest.raises(ParameterError, match="there are 4 points"):
        DiffusionModes(5).fit(np.eye(4))
    with pytest.raises(ParameterError, match="n_clusters"):
        DiffusionModes("many").fit(np.eye(4))


# --- how well clusters hold the walk


@pytest.mark.parametrize(
    "estimator", [DiffusionClustering(3), DiffusionModes(3)], ids=["k-means", "modes"]
)
def test_staying_is_one_minus_the_cut(estimator):
    X, _ = make_blobs(240, centers=3, cluster_std=1.5, random_state=0)
    found = estimator.fit(X)
    A, inside = found.embedding_.operator_, ~found.outliers_
    member = np.eye(3)[found.labels_[inside]]
    flow = member.T @ (A.affinity.toarray() @ member)
    np.testing.assert_allclose(found.staying_, np.diag(flow) / flow.sum(axis=1), rtol=1e-5)
    cut = cut_of(A, found.labels_[inside], 3)
    assert cut.mean == pytest.approx(1 - found.staying_.mean(), rel=1e-5)


def test_a_class_without_points_is_one_that_every_step_leaves():
    A = DiffusionMap(1).fit(np.random.default_rng(0).normal(size=(50, 2))).operator_
    leaving = leaving_probabilities(A, np.zeros(50, dtype=int), 2)
    np.testing.assert_allclose(leaving, [0, 1], atol=1e-6)
