"""What holds of every kernel: symmetry, precision, the order of points, and use by estimators."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from diffclass import DiffusionClassifier, DiffusionMap, PointGraph, markov_operator
from diffclass.exceptions import DataError
from diffclass.kernels import (
    AlongField,
    Correlation,
    DensityWeighted,
    Directed,
    Gaussian,
    Isotropic,
    LocalCovariance,
    LocalDiscriminant,
    SharedNeighbors,
    SmoothCorrelation,
)
from diffclass.kernels.local_discriminant import _SEED


def rational(u):
    return 1 / (1 + u)


def rotation(X):
    return np.roll(X, 1, axis=1) * np.where(np.arange(X.shape[1]) % 2, 1, -1)


def squares(X):
    return X**2


KERNELS = {
    "own scales": Gaussian(),
    "one bandwidth": Gaussian(bandwidth=2.0),
    "global bandwidth": Gaussian(bandwidth="global"),
    "attached": Gaussian(bandwidth="attached"),
    "profile": Isotropic(rational),
    "correlation": Correlation(threshold=0.5),
    "smooth correlation": SmoothCorrelation(),
    "density": DensityWeighted(Gaussian(bandwidth=2.0)),
    "shared": SharedNeighbors(),
    "covariance": LocalCovariance(rank=2),
    "discriminant": LocalDiscriminant(strength=1.0),
    "function": Directed(squares, epsilon=0.3),
    "field": AlongField(rotation, epsilon=0.3),
    "scores": Directed(),
    "nested": SharedNeighbors(LocalDiscriminant(Directed())),
}
pytestmark = [
    pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS),
    pytest.mark.filterwarnings("ignore:.*pairs within the radius or threshold"),
    pytest.mark.filterwarnings("ignore:.*max_degree"),
    pytest.mark.filterwarnings("ignore:the graph has .* components"),
]


@pytest.fixture
def cloud():
    """Two clouds that touch, a place with many points and one far away; every tenth labelled."""
    X = np.random.default_rng(2).normal(size=(150, 4))
    X[:, 0] += 4
    X[:60, 1] += 3
    X[60:70] = X[60]
    X[149] *= 1e3
    truth = (np.arange(150) < 60).astype(int)
    return X, np.where(np.arange(150) % 10 == 0, truth, -1)


DIFFERENT = np.r_[:60, 70:149]


def known_of(X, y):
    """What kernels may know of points: labels, and scores that go by a feature."""
    share = 1 / (1 + np.exp(-X[:, 0].astype(float)))
    return {"y": y, "scores": np.column_stack([1 - share, share])}


def affinity_of(kernel, X, y):
    return markov_operator(X, n_neighbors=8, kernel=kernel, **known_of(X, y)).affinity


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_affinities_are_symmetric_positive_and_of_the_points_precision(kernel, cloud, dtype):
    X, y = cloud
    K = affinity_of(kernel, X.astype(dtype), y)
    assert K.dtype == dtype
    assert (K != K.T).nnz == 0
    assert np.isfinite(K.data).all()
    assert (K.data > 0).all()
    exact = affinity_of(kernel, X.astype(dtype).astype(np.float64), y)
    np.testing.assert_allclose(K.toarray(), exact.toarray(), rtol=2e-3, atol=1e-6)


def test_the_order_of_the_points_does_not_matter(kernel, cloud):
    X, y = (part[DIFFERENT] for part in cloud)
    order = np.arange(139)
    # a discriminant's anchors are points at drawn places: those 8 stay, all others move
    others = np.random.RandomState(_SEED).permutation(139)[8:]
    order[others] = np.random.default_rng(7).permutation(others)
    K = affinity_of(kernel, X, y).toarray()
    permuted = affinity_of(kernel, X[order], y[order]).toarray()
    np.testing.assert_allclose(permuted, K[np.ix_(order, order)], atol=1e-12)


def test_embeds_classifies_pickles_and_clones(kernel, cloud):
    X, y = (part[:140] for part in cloud)
    new = np.random.default_rng(9).normal(4, size=(20, 4))
    clf = DiffusionClassifier(kernel=kernel).fit(X, y)
    again = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(again.predict_proba(new), clf.predict_proba(new))
    assert set(clf.predict(new)) <= {-1, 0, 1}
    if not kernel.uses_scores:
        embedding = DiffusionMap(2, kernel=clone(kernel), n_neighbors=30).fit(X)
        assert np.isfinite(embedding.transform(new)).all()
    assert repr(clone(kernel)) == repr(kernel)
    nested = DiffusionClassifier(kernel=SharedNeighbors(clone(kernel)))
    for name, value in kernel.get_params(deep=False).items():
        nested.set_params(**{f"kernel__kernel__{name}": value})
    assert nested.fit(X, y).predict(new).shape == (20,)


def test_a_graph_keeps_its_kernel_as_it_was_fitted(kernel, cloud):
    X, y = (part[DIFFERENT] for part in cloud)
    kernel, near = clone(kernel), X[:5] + 0.01
    before = vars(kernel).copy()
    graph = PointGraph.from_points(X, kernel=kernel, alpha=1.0, **known_of(X, y))
    walk = markov_operator(X, kernel=kernel, alpha=1.0, **known_of(X, y))
    np.testing.assert_array_equal(graph.operator.affinity.data, walk.affinity.data)
    weights = graph.step_weights(near)
    assert weights.shape == (5, 139)
    assert (weights.data >= 0).all()
    again = pickle.loads(pickle.dumps(graph))
    PointGraph.from_points(3 + 2 * X, kernel=kernel, **known_of(X, y))
    for one in (graph, again):
        np.testing.assert_array_equal(one.step_weights(near).toarray(), weights.toarray())
    assert vars(kernel).keys() == before.keys() == kernel.get_params(deep=False).keys()
    assert all(vars(kernel)[name] is value for name, value in before.items())
    with pytest.raises(DataError, match=r"2 features.* fitted to 4"):
        graph.step_weights(X[:, :2])
    with pytest.raises(DataError, match="X_new holds NaN"):
        graph.step_weights(np.full((2, 4), np.nan))
