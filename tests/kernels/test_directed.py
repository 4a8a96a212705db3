"""Directed kernels against dense twins, and along curves that are known."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from diffclass import DiffusionClassifier, DiffusionMap, markov_operator, neighbors_graph
from diffclass.exceptions import DataError, ParameterError
from diffclass.kernels import AlongField, Directed, Gaussian, SharedNeighbors
from diffclass.neighbors import ExactSearch


def two_columns(X):
    return np.column_stack([X[:, 0] ** 2, 3 * X[:, 1]])


def first_column(X):
    return X[:, 0]


def rotation(X):
    return np.column_stack([-X[:, 1], X[:, 0]])


def function_twin(X, F, epsilon, X_new=None, F_new=None):
    """D^2 of all pairs, from the definition."""
    F = F.reshape(len(F), -1)
    length = np.sqrt(((X - X.mean(0)) ** 2).sum(1).mean())
    unit = F.std(axis=0) * np.sqrt(F.shape[1])
    X_new, F_new = (X, F) if X_new is None else (X_new, F_new.reshape(len(F_new), -1))
    d = np.linalg.norm((X_new[:, None] - X[None]) / length, axis=2)
    f = np.linalg.norm((F_new[:, None] - F[None]) / unit, axis=2)
    return d**2 / epsilon + f**2 / epsilon**2


def nearest_of(D, n_neighbors):
    """The union of each point's nearest, 0 elsewhere."""
    np.fill_diagonal(D, np.inf)
    near = np.sort(D, axis=1)[:, n_neighbors - 1, None] >= D
    return np.where(near | near.T, D, 0)


def on_all_pairs(kernel, X, **given):
    """The affinities of a complete graph."""
    features, _ = kernel.place(X, **given)
    search = kernel.search(features, len(X) - 1)
    return kernel.affinity(neighbors_graph(features, search=search), X).toarray()


@pytest.fixture
def points():
    return np.random.default_rng(3).normal(size=(60, 2)) + 5


@pytest.mark.parametrize("F", [first_column, two_columns])
@pytest.mark.parametrize("as_array", [False, True])
def test_function_kernel_is_the_formula(points, F, as_array):
    given = F(points) if as_array else F
    K = on_all_pairs(Directed(given, epsilon=0.5, bandwidth=1.0), points)
    np.testing.assert_allclose(K, np.exp(-function_twin(points, F(points), 0.5)), atol=1e-13)


@pytest.mark.parametrize("unit", [1e-3, 1.0, 40.0])
@pytest.mark.parametrize("epsilon", [0.5, 7.0])
def test_unscaled_its_units_are_those_of_points_and_values(points, unit, epsilon):
    """A change of the unit is one of epsilon, of the points by its square and of F as it is."""
    X, F = points * unit, two_columns(points) * unit**2
    squared = ((X[:, None] - X) ** 2).sum(2) / epsilon + ((F[:, None] - F) ** 2).sum(2) / epsilon**2
    kernel = Directed(F, epsilon=epsilon, bandwidth=1.0, scaled=False)
    assert kernel.has_unit
    np.testing.assert_allclose(on_all_pairs(kernel, X), np.exp(-np.minimum(squared, 60)), atol=1e-9)
    changed = Directed(two_columns(points), epsilon=epsilon / unit**2, bandwidth=1.0, scaled=False)
    np.testing.assert_allclose(on_all_pairs(changed, points), on_all_pairs(kernel, X), atol=1e-9)
    placing = kernel.place(X)[1]
    np.testing.assert_allclose(placing(X[:5])[:, :2], (X - X.mean(0))[:5] / np.sqrt(epsilon))


def test_unscaled_scores(points):
    scores = np.random.default_rng(1).dirichlet(np.ones(3), size=60)
    Z, _ = Directed(epsilon=0.5, scaled=False).place(points, scores=scores)
    np.testing.assert_allclose(Z[:, 2:], (scores - scores.mean(0)) / 0.5, rtol=1e-12)


def test_neighbours_are_the_nearest_in_the_joint_metric(points):
    F = two_columns(points)
    features, _ = Directed(F, epsilon=0.2).place(points)
    graph = neighbors_graph(features, 5).toarray()
    np.testing.assert_allclose(graph, nearest_of(function_twin(points, F, 0.2), 5), rtol=1e-9)


def test_new_points_with_a_function(points):
    new = np.random.default_rng(4).normal(size=(7, 2)) + 5
    kernel = Directed(two_columns, epsilon=0.5, bandwidth=1.0)
    features, placing = kernel.place(points)
    search = ExactSearch(60).fit(features)
    _, fitted = kernel.fit(neighbors_graph(features, 59), points)
    graph = search.transform(placing(new))
    graph.data **= 2
    twin = function_twin(points, two_columns(points), 0.5, new, two_columns(new))
    np.testing.assert_allclose(fitted.extend(graph, new).toarray(), np.exp(-twin), atol=1e-13)


def test_an_array_is_continued_by_the_values_near(points):
    new = np.random.default_rng(4).normal(size=(7, 2)) + 5
    F, n = two_columns(points), 4
    kernel = Directed(F, neighbor=n)
    features, placing = kernel.place(points)
    np.testing.assert_allclose(placing(points), features, atol=1e-12)
    d = np.linalg.norm(new[:, None] - points[None], axis=2)
    near = np.argsort(d, axis=1)[:, :n]
    d = np.sort(d, axis=1)[:, :n]
    w = np.exp(-(d**2) / (d[:, :1] * d[:, -1:]))
    means = np.einsum("mk,mkp->mp", w / w.sum(1, keepdims=True), F[near])
    unit = F.std(axis=0) * np.sqrt(2) * kernel.epsilon
    found = placing(new)[:, 2:]
    np.testing.assert_allclose(found, (means - F.mean(axis=0)) / unit, rtol=1e-9)


def test_posteriors_are_f_where_nothing_is_given(points):
    scores = np.random.default_rng(1).dirichlet(np.ones(3), size=60)
    kernel = Directed()
    assert kernel.uses_scores
    assert SharedNeighbors(kernel).uses_scores
    assert not Directed(first_column).uses_scores
    Z, placing = kernel.place(points, scores=scores)
    unit = np.sqrt(scores.var(axis=0).sum()) * kernel.epsilon
    np.testing.assert_allclose(Z[:, 2:], (scores - scores.mean(0)) / unit, rtol=1e-12)
    operator = markov_operator(points, kernel=kernel, scores=scores)
    assert np.isfinite(operator.degrees).all()
    assert placing(points[:2]).shape == (2, 5)
    uniform, _ = kernel.place(points, scores=np.full((60, 3), 1 / 3))
    assert not uniform[:, 2:].any()
    with pytest.raises(ParameterError, match="no earlier scores"):
        markov_operator(points, kernel=Directed())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("kind", "function"), [(Directed, two_columns), (AlongField, rotation)])
def test_precision_stays_and_offsets_do_no_harm(points, dtype, kind, function):
    X = points.astype(dtype)
    operator = markov_operator(X, n_neighbors=8, kernel=kind(function))
    assert operator.dtype == dtype
    assert (operator.affinity != operator.affinity.T).nnz == 0
    values = function(points)
    moved, scaled = (
        markov_operator(Z, n_neighbors=8, kernel=kind(values)).affinity.toarray()
        for Z in (X + dtype(64), X * dtype(1024))
    )
    tolerance = 1e-3 if dtype == np.float32 else 1e-9
    np.testing.assert_allclose(moved, operator.affinity.toarray(), atol=tolerance)
    np.testing.assert_allclose(scaled, operator.affinity.toarray(), atol=tolerance)


@pytest.mark.parametrize(("kind", "function"), [(Directed, two_columns), (AlongField, rotation)])
def test_values_of_the_points_serve_new_ones_too(kind, function):
    X = np.random.default_rng(2).normal(size=(150, 2))
    new = np.random.default_rng(9).normal(size=(20, 2))
    y = np.where(np.arange(150) % 10 == 0, np.linalg.norm(X, axis=1) > 1, -1)
    clf = DiffusionClassifier(kernel=kind(function(X), epsilon=0.3)).fit(X, y)
    again = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(again.predict_proba(new), clf.predict_proba(new))
    embedding = DiffusionMap(kernel=clone(clf.kernel), n_neighbors=30).fit(X)
    assert np.isfinite(embedding.transform(new)).all()
    inner = DiffusionClassifier(kernel=SharedNeighbors(kind(function(X)))).fit(X, y)
    assert inner.predict(new).shape == (20,)


def test_more_columns_than_a_scene_has(rng):
    X, F = rng.normal(size=(300, 30)), rng.dirichlet(np.ones(16), size=300)
    F[:, 3] = 0.0  # a class that nothing is in
    operator = markov_operator(X, kernel=Directed(F))
    assert np.isfinite(operator.affinity.data).all()
    assert operator.affinity.nnz < 300 * 30
    field = rng.normal(size=(300, 30))
    assert markov_operator(X, kernel=AlongField(field)).affinity.nnz < 300 * 30


def wider_for_few(X):
    return X[:, :1] if len(X) > 10 else X


@pytest.mark.parametrize(
    ("kernel", "error", "message"),
    [
        (Directed(np.arange(59.0)), DataError, "F has 59 rows; there are 60 points"),
        (Directed(np.r_[np.nan, np.arange(59.0)]), DataError, "F holds NaN .* row 0"),
        (Directed(np.ones(60)), DataError, "F is constant"),
        (Directed(np.ones((60, 2, 2))), DataError, "F has shape"),
        (Directed(np.array(["a"] * 60)), DataError, "F is not a table"),
        (Directed(first_column, epsilon=0), ParameterError, "epsilon"),
        (Directed(first_column, neighbor=0), ParameterError, "neighbor"),
        (Directed(first_column, bandwidth="wide"), ParameterError, "bandwidth"),
    ],
)
def test_what_is_wrong_is_said(points, kernel, error, message):
    with pytest.raises(error, match=message):
        markov_operator(points, kernel=kernel)


def test_what_is_wrong_with_new_points_is_said(points):
    _, placing = Directed(wider_for_few).place(points)
    with pytest.raises(DataError, match="2 columns for new points, 1 for the fitted"):
        placing(points[:3])
    with pytest.raises(DataError, match="1 features; the kernel was fitted to 2"):
        placing(points[:3, :1])
    with pytest.raises(DataError, match="scores has 3 rows"):
        Directed().place(points, scores=np.ones((3, 2)) / 2)


def test_extreme_points_and_values(points):
    for unit in (1e-150, 1e150):
        Z, _ = Directed(points[:, 0] * unit).place(points * unit)
        np.testing.assert_allclose(Z, Directed(points[:, 0]).place(points)[0], rtol=1e-9)
    assert np.isfinite(Directed(np.arange(4.0)).place(np.ones((4, 2)))[0]).all()


def test_first_eigenfunction_is_a_function_of_f():
    X = np.random.default_rng(0).random((600, 2))
    angle = 2 * X[:, 0] + 1.0
    F = X[:, 1] * np.cos(angle)
    psi, isotropic = (
        DiffusionMap(1, kernel=kernel, n_neighbors=40).fit_transform(X)[:, 0]
        for kernel in (Directed(F, epsilon=0.02, bandwidth="graph"), Gaussian(bandwidth="graph"))
    )
    order = np.argsort(F)

    def unexplained(f):
        return np.mean(np.diff(f[order]) ** 2) / (2 * f.var())

    assert unexplained(psi) < 0.01 < 0.2 < unexplained(isotropic)
