"""Directed kernels against dense twins, and along curves that are known."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from diffclass import DiffusionClassifier, DiffusionMap, markov_operator, neighbors_graph
from diffclass.exceptions import DataError, ParameterError
from diffclass.kernels import Directed, Gaussian, SharedNeighbors
from diffclass.kernels.directed_field import FieldSearch, aligned_mean
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


def field_twin(X, v, epsilon, X_new=None, v_new=None):
    """D^2 of all pairs, from the definition."""
    length = np.sqrt(((X - X.mean(0)) ** 2).sum(1).mean())
    X_new, v_new = (X, v) if X_new is None else (X_new, v_new)
    D = np.empty((len(X_new), len(X)))
    for i in range(len(X_new)):
        for j in range(len(X)):
            delta = (X_new[i] - X[j]) / length
            s = v_new[i] + v[j] if v_new[i] @ v[j] >= 0 else v_new[i] - v[j]
            u = s / np.linalg.norm(s) if s.any() else s
            squared = delta @ delta
            D[i, j] = squared / epsilon + (squared - (u @ delta) ** 2) / epsilon**2
    return D


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
def test_function_kernel_is_the_papers(points, F, as_array):
    given = F(points) if as_array else F
    K = on_all_pairs(Directed(given, epsilon=0.5, bandwidth=1.0), points)
    np.testing.assert_allclose(K, np.exp(-function_twin(points, F(points), 0.5)), atol=1e-13)


def test_field_kernel_is_the_papers(points):
    for field in (rotation, rotation(points)):
        K = on_all_pairs(Directed(field=field, epsilon=0.5, bandwidth=1.0), points)
        twin = np.exp(-field_twin(points, rotation(points), 0.5))
        np.testing.assert_allclose(K, twin, atol=1e-13)
        np.testing.assert_array_equal(K, K.T)


def test_sign_speed_and_rest_of_a_field(points):
    X = points - 5  # across the middle of the rotation
    v = rotation(X)
    kernel = Directed(field=v, epsilon=0.3, bandwidth=1.0)
    K = on_all_pairs(kernel, X)
    sign = np.where(np.arange(60) % 3 == 0, -1, 1)[:, None]
    np.testing.assert_array_equal(on_all_pairs(kernel.set_params(field=v * sign), X), K)
    tiny = on_all_pairs(kernel.set_params(field=v * 1e-200), X)
    np.testing.assert_allclose(tiny, K, rtol=1e-9, atol=1e-200)
    v[:30] = 0  # at rest: the other end's direction, or every direction slow
    at_rest = on_all_pairs(kernel.set_params(field=v), X)
    np.testing.assert_allclose(at_rest, np.exp(-field_twin(X, v, 0.3)), atol=1e-13)
    length = np.sqrt(((X - X.mean(0)) ** 2).sum(1).mean())
    d = np.linalg.norm(X[:30, None] - X[None, :30], axis=2) / length
    slow = np.exp(-(d**2) * (1 / 0.3 + 1 / 0.09))
    np.testing.assert_allclose(at_rest[:30, :30], slow, atol=1e-13)


def test_opposite_ends_are_on_one_line():
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    v = np.array([[0.0, 1.0], [0.0, -1.0], [1.0, 0.0], [-1.0, 0.0]])  # v(0) + v(1) = 0
    K = on_all_pairs(Directed(field=v, epsilon=1.0, bandwidth=1.0), X)
    assert K[0, 1] == pytest.approx(np.exp(-4 - 4))  # across the common direction
    v[:2] = [[1.0, 0.0], [-1.0, 0.0]]
    K = on_all_pairs(Directed(field=v, epsilon=1.0, bandwidth=1.0), X)
    assert K[0, 1] == pytest.approx(np.exp(-4))  # along it


def test_neighbours_are_the_nearest_in_the_joint_metric(points):
    F = two_columns(points)
    features, _ = Directed(F, epsilon=0.2).place(points)
    graph = neighbors_graph(features, 5).toarray()
    np.testing.assert_allclose(graph, nearest_of(function_twin(points, F, 0.2), 5), rtol=1e-9)


def test_neighbours_are_the_nearest_along_the_field(points):
    v = rotation(points)
    kernel = Directed(field=v, epsilon=0.2, candidates=12)  # 5 x 12 are all points
    features, _ = kernel.place(points)
    graph = neighbors_graph(features, search=kernel.search(features, 5)).toarray()
    np.testing.assert_allclose(graph, nearest_of(field_twin(points, v, 0.2), 5), rtol=1e-9)


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


def test_new_points_with_a_field(points):
    new = np.random.default_rng(4).normal(size=(7, 2)) + 5
    kernel = Directed(field=rotation, epsilon=0.5)
    features, placing = kernel.place(points)
    search = kernel.search(features, 60).fit(features)
    graph = search.transform(placing(new)).toarray() ** 2
    twin = field_twin(points, rotation(points), 0.5, new, rotation(new))
    np.testing.assert_allclose(graph, twin, rtol=1e-9)


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


def test_a_field_array_is_continued_without_its_signs(points):
    v = rotation(points)
    sign = np.random.default_rng(0).choice([-1, 1], size=(60, 1))
    new = points[:5] + 0.01
    features = []
    for field in (v, v * sign):
        _, placing = Directed(field=field).place(points)
        features.append(placing(new)[:, 2:])
    cross = np.linalg.det(np.stack(features, axis=1))
    np.testing.assert_allclose(cross, 0, atol=1e-14)
    assert (np.linalg.norm(features[1], axis=1) > 0.3).all()
    weights = np.full((1, 2), 0.5)
    opposite = np.array([[[1.0, 2.0], [-1.0, -2.0]]])
    np.testing.assert_array_equal(aligned_mean(weights, opposite), [[1.0, 2.0]])


def test_posteriors_are_f_where_nothing_is_given(points):
    scores = np.random.default_rng(1).dirichlet(np.ones(3), size=60)
    kernel = Directed()
    assert kernel.uses_scores
    assert SharedNeighbors(kernel).uses_scores
    assert not Directed(first_column).uses_scores
    assert not Directed(field=rotation).uses_scores
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
@pytest.mark.parametrize("given", [{"F": two_columns}, {"field": rotation}])
def test_precision_stays_and_offsets_do_no_harm(points, dtype, given):
    X = points.astype(dtype)
    operator = markov_operator(X, n_neighbors=8, kernel=Directed(**given))
    assert operator.dtype == dtype
    assert (operator.affinity != operator.affinity.T).nnz == 0
    values = {name: f(points) for name, f in given.items()}
    moved, scaled = (
        markov_operator(Z, n_neighbors=8, kernel=Directed(**values)).affinity.toarray()
        for Z in (X + dtype(64), X * dtype(1024))
    )
    tolerance = 1e-3 if dtype == np.float32 else 1e-9
    np.testing.assert_allclose(moved, operator.affinity.toarray(), atol=tolerance)
    np.testing.assert_allclose(scaled, operator.affinity.toarray(), atol=tolerance)


@pytest.mark.parametrize("given", [{"F": two_columns}, {"field": rotation}])
@pytest.mark.parametrize("as_array", [False, True])
def test_embeds_classifies_pickles_and_clones(given, as_array):
    X = np.random.default_rng(2).normal(size=(150, 2))
    new = np.random.default_rng(9).normal(size=(20, 2))
    truth = np.linalg.norm(X, axis=1) > 1
    y = np.where(np.arange(150) % 10 == 0, truth, -1)
    values = {name: f(X) if as_array else f for name, f in given.items()}
    clf = DiffusionClassifier(kernel=Directed(**values, epsilon=0.3)).fit(X, y)
    assert clf.predict(new).shape == (20,)
    again = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(again.predict_proba(new), clf.predict_proba(new))
    embedding = DiffusionMap(kernel=clone(clf.kernel), n_neighbors=30).fit(X)
    assert np.isfinite(embedding.transform(new)).all()
    clf.set_params(kernel__epsilon=0.2)
    assert clone(clf).kernel.epsilon == 0.2
    inner = DiffusionClassifier(kernel=SharedNeighbors(Directed(**values))).fit(X, y)
    assert inner.predict(new).shape == (20,)


def test_duplicates_are_no_islands():
    X = np.repeat(np.random.default_rng(0).normal(size=(20, 2)), 9, axis=0)
    for n_neighbors in (2, 5, 12):
        operator = markov_operator(X, n_neighbors=n_neighbors, kernel=Directed(field=rotation))
        # nine of a place, and two or more others: not what falls into as many parts as places
        assert operator.n_connected_components < 10


def test_more_columns_than_a_scene_has(rng):
    X, F = rng.normal(size=(300, 30)), rng.dirichlet(np.ones(16), size=300)
    F[:, 3] = 0.0  # a class that nothing is in
    operator = markov_operator(X, kernel=Directed(F))
    assert np.isfinite(operator.affinity.data).all()
    assert operator.affinity.nnz < 300 * 30
    field = rng.normal(size=(300, 30))
    assert markov_operator(X, kernel=Directed(field=field)).affinity.nnz < 300 * 30


def wrong_width(X):
    return np.ones((len(X), 3))


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
        (Directed(field=np.ones((60, 3))), DataError, r"field has shape \(60, 3\)"),
        (Directed(field=np.ones(60)), DataError, "field has shape"),
        (Directed(field=wrong_width), DataError, "field has shape"),
        (Directed(field=np.ones((59, 2))), DataError, "field has 59 rows"),
        (Directed(field=np.full((60, 2), np.inf)), DataError, "field holds NaN or infinity"),
        (Directed(field=np.zeros((60, 2))), DataError, "0 at every point"),
        (Directed(first_column, field=rotation), ParameterError, "not both"),
        (Directed(first_column, epsilon=0), ParameterError, "epsilon"),
        (Directed(first_column, neighbor=0), ParameterError, "neighbor"),
        (Directed(first_column, bandwidth="wide"), ParameterError, "bandwidth"),
        (Directed(field=rotation, candidates=0.5), ParameterError, "candidates"),
    ],
)
def test_what_is_wrong_is_said(points, kernel, error, message):
    with pytest.raises(error, match=message):
        markov_operator(points, kernel=kernel)


def test_what_is_wrong_with_new_points_and_searches_is_said(points):
    _, placing = Directed(wider_for_few).place(points)
    with pytest.raises(DataError, match="2 columns for new points, 1 for the fitted"):
        placing(points[:3])
    with pytest.raises(DataError, match="1 features; the kernel was fitted to 2"):
        placing(points[:3, :1])
    clf = DiffusionClassifier(kernel=Directed(field=rotation), search=ExactSearch(5))
    y = np.where(np.arange(60) % 10 == 0, np.arange(60) % 20 == 0, -1)
    with pytest.raises(ParameterError, match="knows no field"):
        clf.fit(points, y)
    over = clone(clf).set_params(kernel=SharedNeighbors(clf.kernel))
    with pytest.raises(ParameterError, match="knows no field"):
        over.fit(points, y)
    clf.set_params(search=FieldSearch(5), kernel__epsilon=0.4).fit(points, y)
    assert clf.graph_.search.epsilon == 0.4
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
