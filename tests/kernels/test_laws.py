"""What holds of every kernel: symmetry, precision, the order of points, and use by estimators."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from diffclass import DiffusionClassifier, DiffusionMap, markov_operator
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


def affinity_of(kernel, X, y):
    return markov_operator(X, n_neighbors=8, kernel=kernel, y=y).affinity


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
    X, y = (part[70:149] for part in cloud)  # all of them different
    order = np.random.default_rng(7).permutation(79)
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
    embedding = DiffusionMap(2, kernel=clone(kernel), n_neighbors=30).fit(X)
    assert np.isfinite(embedding.transform(new)).all()
    assert repr(clone(kernel)) == repr(kernel)
    nested = DiffusionClassifier(kernel=SharedNeighbors(clone(kernel)))
    for name, value in kernel.get_params(deep=False).items():
        nested.set_params(**{f"kernel__kernel__{name}": value})
    assert nested.fit(X, y).predict(new).shape == (20,)
