"""Distance graphs against brute force."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.neighbors import KNeighborsTransformer
from threadpoolctl import threadpool_limits

from diffclass.exceptions import DataError, ParameterError
from diffclass.neighbors import (
    ExactSearch,
    NNDescentSearch,
    RadiusSearch,
    default_search,
    kept_edges,
    neighbors_graph,
)
from diffclass.neighbors.cell_tree import (
    CellTree,
    empty_lists,
    nearest_points,
    numbers_of,
    padded,
)
from tests import naive


def pattern(graph):
    """The mask of stored edges, those of length zero too."""
    ones = sp.csr_array((np.ones(graph.nnz), graph.indices, graph.indptr), shape=graph.shape)
    return ones.toarray() > 0


def assert_same_graph(graph, expected, mask, *, rtol=1e-12):
    assert (pattern(graph) == mask).all()
    np.testing.assert_allclose(graph.toarray(), expected, rtol=rtol, atol=0)


def assert_well_formed(graph):
    n = graph.shape[0]
    assert (graph.diagonal() == 0).all()
    assert pattern(graph).diagonal().all()
    assert (pattern(graph) == pattern(graph).T).all()
    assert abs(graph - graph.T).max() == 0
    for x in range(n):
        assert (np.diff(graph.indices[graph.indptr[x] : graph.indptr[x + 1]]) > 0).all()


# --- exact


@pytest.mark.parametrize("n_features", [2, 20])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_exact_graph_is_that_of_brute_force(rng, n_features, dtype):
    X = rng.normal(size=(150, n_features)).astype(dtype)
    graph = neighbors_graph(X, 6)
    assert graph.dtype == dtype
    assert graph.indices.dtype == np.int32
    assert_well_formed(graph)
    expected = naive.neighbors_graph(X, 6)
    assert_same_graph(graph, *expected, rtol=1e-12 if dtype == np.float64 else 1e-5)


@settings(max_examples=15, deadline=None)
@given(
    n=st.integers(1, 30),
    k=st.integers(1, 40),
    seed=st.integers(0, 99),
)
def test_any_size_and_number_of_neighbors(n, k, seed):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    graph = neighbors_graph(X, k)
    assert_well_formed(graph)
    assert_same_graph(graph, *naive.neighbors_graph(X, k))


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 99))
def test_numbering_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 2))
    order = rng.permutation(40)
    graph, permuted = neighbors_graph(X, 5), neighbors_graph(X[order], 5)
    assert (permuted.toarray() == graph.toarray()[np.ix_(order, order)]).all()
    assert (pattern(permuted) == pattern(graph)[np.ix_(order, order)]).all()


def test_one_point():
    graph = neighbors_graph([[2.0, 3.0]])
    assert graph.shape == (1, 1)
    assert pattern(graph).tolist() == [[True]]


@pytest.mark.parametrize("search", [ExactSearch, NNDescentSearch])
def test_all_points_equal(search):
    graph = neighbors_graph(np.ones((50, 4)), search=search(3))
    assert_well_formed(graph)
    assert graph.max() == 0
    assert sp.csgraph.connected_components(pattern(graph))[0] == 1


def test_an_isolated_point_still_has_neighbors(rng):
    X = np.concatenate([rng.normal(size=(20, 2)), [[1e4, 1e4]]])
    assert np.diff(neighbors_graph(X, 3).indptr)[-1] == 4


def test_few_duplicates_are_edges_of_length_zero():
    graph = neighbors_graph([[0.0], [0.0], [1.0], [5.0]], 1)
    assert_well_formed(graph)
    assert pattern(graph)[0].tolist() == [True, True, True, False]
    assert graph[0, 1] == 0


@pytest.mark.parametrize(
    "search",
    [ExactSearch(4), NNDescentSearch(4, random_state=0)],
)
def test_duplicates_are_no_island(rng, search):
    X = rng.normal(size=(120, 5))
    X[30:70] = X[10]
    X[[70, 80]] = X[[71, 81]]
    graph = neighbors_graph(X, search=search)
    assert_well_formed(graph)
    numbers = sp.csgraph.connected_components(pattern(graph))[1]
    alike = np.concatenate([[10], np.arange(30, 70)])
    assert (numbers[alike] == numbers[10]).all()
    assert np.count_nonzero(numbers == numbers[10]) > len(alike)
    assert (np.diff(graph.indptr) >= 4).all()


def test_zero_and_minus_zero_are_duplicates():
    X = np.concatenate([np.zeros((5, 1)), -np.zeros((5, 1)), [[1.0], [2.0]]])
    assert sp.csgraph.connected_components(pattern(neighbors_graph(X, 2)))[0] == 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_features", [3, 30])
def test_an_offset_costs_no_neighbors(rng, dtype, n_features):
    """Brute force by |x|^2 - 2 <x, y> + |y|^2 would lose them in rounding."""
    X = (rng.normal(size=(200, n_features)) + (1e9 if dtype == np.float64 else 1e4)).astype(dtype)
    expected = naive.neighbors_graph(X, 5)
    assert_same_graph(neighbors_graph(X, 5), *expected, rtol=1e-3)
    new = X[:20] + dtype(0.125)
    found = pattern(ExactSearch(1).fit(X).transform(new)).argmax(axis=1)
    assert (found == naive.squared_distances(new, X).argmin(axis=1)).all()


# --- other searches


def test_takes_any_transformer(rng):
    X = rng.normal(size=(60, 3))
    search = KNeighborsTransformer(n_neighbors=5)
    graph = neighbors_graph(X, search=search)
    assert_well_formed(graph)
    assert_same_graph(graph, *naive.neighbors_graph(X, 5), rtol=1e-6)


def test_a_foreign_search_keeps_single_precision(rng):
    X = rng.normal(size=(30, 3)).astype(np.float32)
    assert neighbors_graph(X, search=KNeighborsTransformer(n_neighbors=5)).dtype == np.float32
    assert neighbors_graph(X, search=RadiusSearch(1.0)).dtype == np.float32


@pytest.mark.parametrize("index_dtype", [np.int32, np.int64])
def test_precomputed_distances_unsorted_with_duplicates_of_zero(index_dtype):
    arrays = [2.0, 0.0, 3.0], np.array([2, 1, 0], index_dtype), np.array([0, 2, 3, 3], index_dtype)
    graph = neighbors_graph(sp.csr_array(arrays, shape=(3, 3)), search="precomputed")
    assert_well_formed(graph)
    assert graph.toarray().tolist() == [[0, 0, 4], [0, 0, 0], [4, 0, 0]]
    assert pattern(graph).tolist() == [[True, True, True], [True, True, False], [True, False, True]]


def test_where_both_hold_an_edge_the_shorter_counts():
    D = sp.csr_array(np.array([[0.0, 2.0], [1.0, 0.0]]))
    before = D.toarray()
    graph = neighbors_graph(D, search="precomputed")
    assert graph.toarray().tolist() == [[0, 1], [1, 0]]
    assert (D.toarray() == before).all()


def test_radius(rng):
    X = rng.normal(size=(80, 2))
    squared = naive.squared_distances(X)
    graph = neighbors_graph(X, search=RadiusSearch(0.5))
    assert_well_formed(graph)
    assert_same_graph(graph, np.where(squared <= 0.25, squared, 0), squared <= 0.25, rtol=1e-6)


def test_radius_with_a_bound_on_the_degree(rng):
    X = rng.normal(size=(80, 2))
    expected, mask = naive.neighbors_graph(X, 4)
    mask &= expected <= 0.25
    search = RadiusSearch(0.5, max_degree=4)
    with pytest.warns(UserWarning, match="max_degree = 4 leaves out"):
        graph = neighbors_graph(X, search=search)
    assert_well_formed(graph)
    assert_same_graph(graph, np.where(mask, expected, 0), mask)
    assert search.transform(X[:5] + 100).nnz == 0
    assert RadiusSearch(0.5).fit(X).transform(X[:5] + 100).nnz == 0


def test_out_of_sample_is_brute_force(rng):
    X, new = rng.normal(size=(100, 4)), rng.normal(size=(30, 4))
    graph = ExactSearch(7).fit(X).transform(new)
    squared = naive.squared_distances(new, X)
    mask = squared <= np.sort(squared, axis=1)[:, 6:7]
    assert_same_graph(graph, np.where(mask, np.sqrt(squared), 0), mask)


def test_kept_edges_keep_zeros():
    graph = sp.csr_array(([0.0, 2.0, 0.0, 3.0], [0, 1, 1, 0], [0, 2, 2, 4]), shape=(3, 2))
    kept = kept_edges(graph, graph.data < 2.5)
    assert kept.indices.tolist() == [0, 1, 1]
    assert kept.indptr.tolist() == [0, 2, 2, 3]


# --- searches of many points


@pytest.fixture(scope="module")
def many_points():
    rng = np.random.default_rng(5)
    mixing = rng.normal(size=(5, 12)) / np.sqrt(5)
    return (rng.normal(size=(12000, 5)) @ mixing + 0.1 * rng.normal(size=(12000, 12))).astype("f4")


@pytest.fixture(scope="module")
def large_search(many_points):
    search = NNDescentSearch(10, random_state=3)
    return search, search.fit_transform(many_points)


def test_default_search_follows_the_size(many_points):
    assert isinstance(default_search(many_points, 5), NNDescentSearch)
    assert isinstance(default_search(many_points[:, :3], 5), ExactSearch)
    assert isinstance(default_search(many_points[:4096], 5), ExactSearch)


def test_recall_is_as_reported(many_points, large_search):
    search, graph = large_search
    assert search.recall_ >= 0.98
    sample = np.random.default_rng(8).choice(len(many_points), 300, replace=False)
    squared = naive.squared_distances(many_points[sample], many_points)
    squared[np.arange(300), sample] = np.inf
    true = np.argsort(squared, axis=1)[:, :10]
    found = graph.indices.reshape(-1, 10)[sample]
    hits = sum(len(np.intersect1d(a, b)) for a, b in zip(true, found, strict=True))
    assert hits / 3000 >= 0.975
    expected = np.take_along_axis(np.sqrt(squared), found.astype(int), axis=1)
    np.testing.assert_allclose(graph.data.reshape(-1, 10)[sample], expected, rtol=1e-4)


def test_same_graph_for_any_number_of_threads(many_points, large_search, shared_by):
    search = clone(large_search[0])
    graphs = []
    for number in (1, 2):
        with shared_by(number), threadpool_limits(number):
            graphs.append(neighbors_graph(many_points, search=search))
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(graphs[0], name), getattr(graphs[1], name))


def test_out_of_sample_and_pickled(many_points, large_search):
    search, _ = large_search
    new = many_points[:200] + np.float32(0.01)
    graph = search.transform(new)
    squared = naive.squared_distances(new, many_points)
    farthest = np.sort(squared, axis=1)[:, 9:10] * (1 + 1e-4)
    found = np.take_along_axis(squared, graph.indices.reshape(-1, 10).astype(int), axis=1)
    assert (found <= farthest).mean() > 0.975
    copy = pickle.loads(pickle.dumps(search))
    again = copy.transform(new)
    assert (again.indices == graph.indices).all()
    assert (again.data == graph.data).all()


# --- descent


@pytest.mark.parametrize("n_neighbors", [1, 3, 60])
@pytest.mark.parametrize("n", [1, 2, 5, 250])
def test_descent_of_one_leaf_is_exact(rng, n, n_neighbors):
    X = rng.normal(size=(n, 4))
    search = NNDescentSearch(n_neighbors, random_state=0)
    assert_same_graph(neighbors_graph(X, search=search), *naive.neighbors_graph(X, n_neighbors))
    assert search.recall_ == 1
    assert search.transform(X[:1]).nnz == min(n_neighbors, n)


@pytest.mark.parametrize("n_features", [1, 2, 9])
@pytest.mark.parametrize("kind", ["noise", "clusters", "grid", "line"])
def test_descent_finds_neighbors_of_every_shape(rng, kind, n_features):
    n = 3000
    X = {
        "noise": lambda: rng.normal(size=(n, n_features)),
        "clusters": lambda: (
            50 * rng.normal(size=(30, n_features))[rng.integers(30, size=n)]
            + rng.normal(size=(n, n_features))
        ),
        "grid": lambda: rng.integers(0, 4000, size=(n, n_features)) / 4.0,  # ties, duplicates
        "line": lambda: rng.random((n, 1)) @ np.ones((1, n_features)),
    }[kind]()
    search = NNDescentSearch(8, random_state=0)
    graph = search.fit_transform(X)
    assert search.recall_ >= 0.955
    squared = naive.squared_distances(X)
    np.fill_diagonal(squared, np.inf)
    reach = np.partition(squared, 7, axis=1)[:, 7]
    rows = np.repeat(np.arange(n), np.diff(graph.indptr))
    found = squared[rows, graph.indices] <= reach[rows] * (1 + 1e-5) + 1e-12
    assert np.count_nonzero(found) >= 0.95 * 8 * n


@pytest.mark.parametrize(("n", "n_features"), [(5000, 40), (12_000, 14), (20_000, 20)])
def test_where_neighbors_are_hard_to_find_recall_is_as_reported(rng, n, n_features):
    k, X = 12, rng.normal(size=(n, n_features)).astype(np.float32)
    search = NNDescentSearch(k, random_state=0)
    graph = search.fit_transform(X)
    found = np.sort(graph.indices.reshape(n, k), axis=1)
    assert not (found == np.arange(n)[:, None]).any()  # none is its own neighbour
    assert (np.diff(found, axis=1) > 0).all()  # none comes twice
    sample = np.arange(0, n, n // 100)
    squared = naive.squared_distances(X[sample], X)
    squared[np.arange(len(sample)), sample] = np.inf
    true = np.argsort(squared, axis=1)[:, :k]
    hits = sum(len(np.intersect1d(a, b)) for a, b in zip(true, found[sample], strict=True))
    assert hits / true.size == pytest.approx(search.recall_, abs=0.025)


def test_where_probes_do_not_get_there_all_cells_are_searched(rng, monkeypatch):
    monkeypatch.setattr("diffclass.neighbors.nn_descent._LONGEST", 20)
    monkeypatch.setattr("diffclass.neighbors.nn_descent._N_PROBES", (1,))
    monkeypatch.setattr("diffclass.neighbors.cell_tree.N_AROUND", 1)
    monkeypatch.setattr("diffclass.neighbors.nn_descent._AT_ONCE", 1500)
    X, new = rng.normal(size=(2000, 40)), rng.normal(size=(1600, 40))
    search = NNDescentSearch(5, random_state=0)
    assert_same_graph(neighbors_graph(X, search=search), *naive.neighbors_graph(X, 5))
    assert search.recall_ == 1
    copy = pickle.loads(pickle.dumps(search))
    for one in (search, copy):
        found, true = one.transform(new), ExactSearch(5).fit(X).transform(new)
        assert (found.indices == true.indices).all()


def test_of_too_many_points_what_was_found_is_said(rng, monkeypatch):
    monkeypatch.setattr("diffclass.neighbors.nn_descent._LONGEST", 12)
    monkeypatch.setattr("diffclass.neighbors.nn_descent._N_PROBES", (1,))
    monkeypatch.setattr("diffclass.neighbors.nn_descent._MOST_EXACT", 3999)
    X = rng.normal(size=(4000, 40))
    search = NNDescentSearch(5, random_state=0)
    with pytest.warns(UserWarning, match=r"neighbours were found, not 95\.5%, among 4000 points"):
        graph = search.fit_transform(X)
    is_near = naive.nearest(X, 5)
    right = is_near[np.arange(4000)[:, None], graph.indices.reshape(4000, 5)].mean()
    assert right == pytest.approx(search.recall_, abs=0.06)
    assert right < 0.9


def test_new_points_of_noise_find_their_neighbors_too(rng):
    X, new = rng.normal(size=(6000, 20)), rng.normal(size=(200, 20))
    graph = NNDescentSearch(10, random_state=0).fit(X).transform(new)
    squared = naive.squared_distances(new, X)
    farthest = np.sort(squared, axis=1)[:, 9:10] * (1 + 1e-4)
    found = np.take_along_axis(squared, graph.indices.reshape(-1, 10).astype(int), axis=1)
    assert (found <= farthest).mean() > 0.975


# --- refusals


@pytest.mark.parametrize("n_neighbors", [0, -3, 2.5, True, "many", None])
def test_refuses_numbers_of_neighbors(n_neighbors):
    with pytest.raises(ParameterError, match="n_neighbors"):
        neighbors_graph(np.eye(4), n_neighbors)


@pytest.mark.parametrize("radius", [0, -1.0, np.nan, np.inf, "wide"])
def test_refuses_radii(radius):
    with pytest.raises(ParameterError, match="radius"):
        neighbors_graph(np.eye(4), search=RadiusSearch(radius))


def test_refuses_unknown_choices():
    with pytest.raises(ParameterError, match="'precomputed'"):
        neighbors_graph(np.eye(4), search="faiss")


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[1.0], [np.nan], [np.inf]], r"in 2 of 3 rows \(first: row 1\)"),
        ([1.0, 2.0], "a table"),
        (np.empty((0, 3)), "a table"),
        (np.empty((3, 0)), "a table"),
        ([["a"], ["b"]], "numbers"),
        (sp.csr_array(np.eye(3)), "sparse"),
        (np.eye(3) + 1j, "numbers"),
        ([[1.0, 2.0], [3.0]], "numbers"),
    ],
)
def test_refuses_points(X, message):
    with pytest.raises(DataError, match=message):
        neighbors_graph(X)


@pytest.mark.parametrize(
    ("D", "message"),
    [
        (sp.csr_array(np.ones((2, 3))), "square"),
        (sp.csr_array(np.array([[0, -1.0], [1, 0]])), "negative"),
        (sp.csr_array(np.array([[0, np.nan], [1, 0]])), "NaN"),
        ([1.0, 2.0], "square"),
    ],
)
def test_refuses_distance_graphs(D, message):
    with pytest.raises(DataError, match=message):
        neighbors_graph(D, search="precomputed")


@pytest.mark.parametrize(("dtype", "scale"), [("f4", 1e25), ("f4", 1e-25), ("f8", 1e200)])
@pytest.mark.parametrize("search", [ExactSearch, NNDescentSearch])
def test_refuses_scales_whose_squares_are_no_numbers(rng, dtype, scale, search):
    X = (rng.normal(size=(50, 4)) * scale).astype(dtype)
    with pytest.raises(DataError, match="rescale"):
        neighbors_graph(X, search=search(3))


@pytest.mark.parametrize("scale", [1e-30, 1e30])
@pytest.mark.parametrize(
    "search",
    [ExactSearch(4), NNDescentSearch(4, random_state=0)],
)
def test_scale_does_not_matter(rng, scale, search):
    X = rng.normal(size=(100, 4))
    graph, scaled = (neighbors_graph(Y, search=search) for Y in (X, X * scale))
    assert (pattern(graph) == pattern(scaled)).all()
    np.testing.assert_allclose(scaled.data, graph.data * scale**2, rtol=1e-12)


# --- arrays of every kind


@pytest.mark.parametrize(
    "change",
    [
        np.asfortranarray,
        lambda X: np.repeat(X, 2, axis=0)[::2],
        lambda X: X[:, ::-1],
        lambda X: X.astype(">f8"),
        lambda X: X.astype(np.longdouble),
        lambda X: X.tolist(),
        lambda X: X.astype(object),
    ],
    ids=["Fortran", "strided", "reversed", "big-endian", "long", "list", "object"],
)
def test_layout_does_not_matter(rng, change):
    X = rng.integers(-5000, 5000, size=(60, 3)) / 8.0
    graph, changed = neighbors_graph(X, 4), neighbors_graph(change(X), 4)
    np.testing.assert_allclose(changed.toarray(), graph.toarray(), rtol=1e-12)


def test_read_only_points_and_memory_maps(rng, tmp_path):
    X = rng.normal(size=(60, 3))
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    np.testing.assert_array_equal(
        neighbors_graph(mapped, 4).toarray(), neighbors_graph(X, 4).toarray()
    )


@pytest.mark.parametrize("dtype", [np.int16, np.uint8, bool, np.float16])
def test_other_numbers_become_double(rng, dtype):
    X = rng.integers(0, 2, size=(20, 8)).astype(dtype)
    assert neighbors_graph(X, 3).dtype == np.float64


@pytest.mark.parametrize("n_features", [3, 8, 21])
@pytest.mark.parametrize("scale", [1e-3, 1.0])
def test_a_round_compares_all_new_members_of_each_pool(rng, n_features, scale):
    """Lists after a round are the nearest of what they were and of what their pools offer."""
    X = padded(5 + scale * rng.normal(size=(3000, n_features)).astype(np.float32))
    search = NNDescentSearch(6, random_state=0)
    search._cells = cells = CellTree.of(X[:, :n_features], np.random.RandomState(0))
    X, n = cells.points, len(X)
    search._lists = empty_lists(n, 8)
    before = [rng.choice(np.delete(np.arange(n), x), 8, replace=False) for x in range(n)]
    for x, numbers in enumerate(before):
        for y in numbers:
            square = ((X[x] - X[y]) ** 2).sum()
            key = (int(np.float32(square).view(np.uint32)) << 32) + 2 * int(y) + 1
            search._lists[x, np.flatnonzero(numbers == y)] = key
    search._lists.sort(axis=1)
    search._n_pooled = 5
    search.n_rounds_ = 0
    pools, sizes = search._made_pools(5, 3)
    search._lists |= np.uint64(1)  # new again
    offered = [set(numbers) for numbers in before]
    for y in range(n):
        members = [y, *(max(z, -1 - z) for z in pools[y, : sizes[y]])]
        for x in members:
            offered[x] |= {z for z in members if z != x}
    search._refine()
    for x in range(0, n, 50):
        numbers = np.array(sorted(offered[x]))
        squares = ((X[x].astype(float) - X[numbers]) ** 2).sum(axis=1)
        found = numbers_of(search._lists[x : x + 1])[0]
        true = ((X[x].astype(float) - X[found]) ** 2).sum(axis=1)
        np.testing.assert_allclose(np.sort(true), np.sort(squares)[:8], rtol=1e-5)


@pytest.mark.parametrize(
    ("n", "p", "k"), [(0, 3, 2), (1, 1, 1), (5, 3, 9), (300, 7, 4), (257, 8, 1)]
)
def test_nearest_points_are_those_of_all_comparisons(rng, n, p, k):
    points = rng.normal(size=(n, p)).astype(np.float32)
    queries = np.concatenate([points[:3], rng.normal(size=(40, p)).astype(np.float32)])
    numbers, squared = nearest_points(queries, points, k)
    differences = queries[:, None].astype(float) - points
    expected = (differences**2).sum(axis=2)
    nearest = np.argsort(expected, axis=1, kind="stable")[:, :k]
    assert np.array_equal(numbers, nearest)
    np.testing.assert_allclose(squared, np.take_along_axis(expected, nearest, 1), rtol=1e-5)
