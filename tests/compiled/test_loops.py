"""Every compiled loop on small input: against NumPy, and against itself not compiled."""

from __future__ import annotations

import inspect
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import shortest_path

from diffclass import _compiled
from diffclass._compiled import (
    cell_tree,
    choices,
    columns,
    gaussians,
    graphs,
    largest,
    neighbor_lists,
)
from diffclass.neighbors.cell_tree import distances_of, numbers_of
from tests import naive


def small_graph(dtype=np.float64):
    rng = np.random.default_rng(7)
    dense = np.where(rng.random((13, 13)) < 0.4, rng.random((13, 13)), 0)
    dense[4] = 0
    return sp.csr_array(dense.astype(dtype)), rng


def small_cases():
    """Run every loop once; (name, result)s. Also run by a process without compilation."""
    graph, rng = small_graph()
    indptr, indices, data = graph.indptr, graph.indices, graph.data
    n, m = graph.shape[0], graph.nnz
    other = sp.csr_array(graph.T)
    X, f, scale = rng.normal(size=(n, 3)), rng.normal(size=(n, 5)), rng.random(n)
    cases = {}

    def out(name, shape, dtype=float):
        cases[name] = np.zeros(shape, dtype)
        return cases[name]

    graphs.squared_distances(indptr, indices, X, X, out("squared_distances", m))
    V, W = X[:, ::-1].copy(), np.where(np.arange(n)[:, None] % 4, X, 0)
    for name, field in (("other", W), ("own", V)):
        graphs.field_distances(
            indptr, indices, X, X, V, field, 2.0, 4.0, out(f"field_distances {name}", m)
        )
    for without in (False, True):
        graphs.kth_smallest(indptr, indices, data, 3, without, out(f"kth_smallest {without}", n))
    graphs.scaled_by_ends(indptr, indices, data, scale, 2 * scale, out("scaled_by_ends", m))
    pair = other.indptr, other.indices, other.data
    choices.gains(np.abs(f), scale[:5], np.abs(X).max(axis=1)[:5], out("gains", n))
    graphs.leaving_class(indptr, indices, data, np.arange(n) % 3, out("leaving_class", n))
    graphs.row_products(indptr, indices, data, *pair, n, out("row_products", m))
    both = (graph + graph.T).tocsr()
    both.sort_indices()
    arrays = both.indptr, both.indices, both.data
    graphs.symmetric_row_products(*arrays, out("symmetric_row_products", both.nnz))
    vectors = (
        np.eye(1, n)[0],
        indices[:1] * 0,
        np.ones(1),
        0,
        1,
        indices,
        data,
        indptr[0],
        indptr[1],
    )
    out("spread_product", 1)[0] = graphs.spread_product(*vectors)
    vectors = indices, data, indptr[1], indptr[2], indices, data, indptr[2], indptr[3]
    out("looked_up_product", 1)[0] = graphs.looked_up_product(*vectors)
    out("position", 1)[0] = graphs.first_not_below(np.array([1, 3, 3, 8]), 1, 4, 3)
    graphs.row_sums(indptr, data, out("row_sums", n))
    graphs.unit_rows(indptr, indices, data, 1 + scale, out("unit_rows", m))
    graphs.scaled_diagonal(indptr, indices, data, data**2, out("scaled_diagonal", m))
    lengths = out("lengths", n, int)
    graphs.merged_row_lengths(indptr, indices, other.indptr, other.indices, lengths)
    starts = out("starts", n + 1, int)
    np.cumsum(lengths, out=starts[1:])
    merged = out("merged indices", starts[-1], int), out("merged data", starts[-1])
    graphs.merged_rows(
        indptr, indices, data, other.indptr, other.indices, other.data, starts, *merged
    )
    sources = np.array([0, 1, -1, -1, 1, 2] + [-1] * (n - 6))
    graphs.hops_from_groups(indptr, indices, sources, 3, out("hops", (3, n), np.int32))
    both = sp.csr_array(abs(graph + graph.T))
    graphs.number_components(
        both.indptr, both.indices, np.empty(n, np.int32), out("components", n, np.int32)
    )
    is_seed = out("seeds", n, bool)
    choices.choose_seeds(both.indptr, both.indices, np.arange(n)[::-1].copy(), is_seed)
    of_seed = np.where(is_seed, np.cumsum(is_seed) - 1, -1).astype(np.int32)
    choices.join_seeds(
        both.indptr, both.indices, both.data, of_seed, out("aggregates", n, np.int32)
    )
    hops = out("spread hops", n, np.int32)
    hops[:] = -1
    hops[[0, n - 2, n - 1]] = 0, 3, 9
    rows = both[: n - 2]  # the last two points are those of other blocks
    graphs.spread_hops(rows.indptr, rows.indices, hops)
    empty, lost = np.arange(n) > 1, (np.arange(n) > 1) & (np.arange(n) != 5)
    fill = np.where(empty[:, None], 0, 1 + np.abs(f[:, :2]))
    graphs.fill_by_fronts(both.indptr, both.indices, both.data, empty, lost, fill)
    out("filled", (n, 2))[:] = fill
    limits, component = rng.random((2, 5)), np.arange(n) % 2
    decision = out("codes", n, int), out("probability", n), out("margins", n)
    values = f.T - 1
    values[:, 2] = -1
    columns.read_off(values, limits - 0.5, component, np.arange(1.0, 6), *decision)
    slots = np.argsort(f, axis=1)[:, :3].astype(np.int32), np.abs(f[:, :3])
    starts = np.cumsum([0, *(np.arange(n) % 3 == 0) * (1 + np.arange(n) % 2)])  # 0, 1 or 2 labels
    kept = out("kept classes", (n, 3), np.int32), out("kept values", (n, 3))
    own = np.arange(starts[-1], dtype=np.int32) % 5
    label = starts, own, 0.25 + 0.5 * (own > 1), 1 - 0.5 * (np.diff(starts) > 0)
    largest.largest_product(indptr, indices, data, scale, *slots, *label, 5, *kept)
    order = out("first classes", 5, np.int32)
    order[:] = np.arange(5)
    largest.bring_forward(order, 5, f[0], 2)
    cases["precedes"] = np.array([largest.precedes(0, i, f[0]) for i in range(5)])
    decision = out("row codes", n, int), out("row probability", n), out("row margins", n)
    largest.read_off_rows(indptr, indices, data, np.arange(1.0, n + 1), *decision)
    vector = indptr, indices, data, scale, f[:, 1].copy()
    for n_terms in (0, 1, 2):
        total = out(f"total {n_terms}", (n, 5))
        product = out(f"product {n_terms}", (n, 5))
        columns.row_scaled_product(indptr, indices, data, scale, f, product, total, n_terms)
        column = out(f"column {n_terms}", n), out(f"column total {n_terms}", n)
        columns.row_scaled_column_product(*vector, *column, n_terms)
    columns.scaled_product(indptr, indices, data, f, 2 * f, out("scaled product", (n, 5)))
    row = np.uint64(indptr[1]), np.uint64(indptr[2])
    columns.row_product(indices, data, *row, f, 1, out("row product", (n, 5)))
    summed = out("summed row product", (n, 5))
    summed[1] = f[1]
    columns.add_row_product(indices, data, *row, f, 1, summed)
    recurrence = out("recurrence", (n, 5))
    recurrence[:] = 2 * f
    columns.recurrence_step(indptr, indices, data, 1.5, 0.25, f, recurrence)
    previous, sums = out("chebyshev", (n, 5)), out("series", (2, n, 5))
    previous[:], sums[:] = f, 1
    columns.chebyshev_step(cases["product 0"], previous, np.array([0.0, 2.0]), sums)
    pairs = np.array([0, 1, 4]), np.array([0, 3, 2])
    columns.moment_products(scale, f, f**2, *pairs, out("moments", (3, 2, 3)))
    gaussian_cases(graph, X, out)
    neighbor_cases(out)
    return cases


def gaussian_cases(graph, X, out):
    """Run the loops over local Gaussians, which leave signs of directions open, for `small_cases`.

    Their helpers are reached through them and once by themselves.
    """
    n, (indptr, indices) = len(X), (graph.indptr, graph.indices)
    directions, variances, residual = np.zeros((n, 2, 3)), out("variances", (n, 2)), out("rest", n)
    gaussians.principal_directions(indptr, indices, X, directions, variances, residual)
    out("projections", (n, 3, 3))[:] = 2 + directions.transpose(0, 2, 1) @ directions
    centered = gaussians.centered_rows(X, indices[:4])
    out("centered", centered.shape)[:] = centered
    found = np.zeros((2, 3)), out("squares", 2)
    out("found", 1)[0] = gaussians.leading_components(centered, *found)
    full = centered[:3] @ np.diag([3.0, 2, 1]) + np.eye(3)
    factors = np.array([full[:2] * (1 + x) for x in range(n)])
    factors[:, 1] -= factors[:, 0] * (full[0] @ full[1] / (full[0] @ full[0]))  # orthogonal
    squares, noise = (factors**2).sum(axis=2), 0.5 + np.arange(n) / n
    ends = X, factors, squares, noise
    covariances = factors.transpose(0, 2, 1) @ factors + noise[:, None, None] * np.eye(3)
    base = np.linalg.slogdet(2 * covariances)[1] / 2
    energies = out("overlaps", graph.nnz)
    gaussians.overlap_energies(indptr, indices, *ends, base, *ends, base, False, energies)
    both = sp.csr_array(graph + graph.T)
    energies = out("mirrored", both.nnz)
    arrays = both.indptr, both.indices
    gaussians.overlap_energies(*arrays, *ends, base, *ends, base, True, energies)
    gaussians.mirror(*arrays, energies)
    out("owners", 1)[0] = gaussians.is_owner(2, 5) + 2 * gaussians.is_owner(5, 2)
    w = out("solution", 3)
    w[:] = 1, 2, 3
    out("log det", 1)[0] = gaussians.solve(centered[:3] @ centered[:3].T + np.eye(3), w)
    four = (neighbor_points()[:, :4] / 8).astype(np.float32)
    heights, slope = np.arange(22.0).reshape(11, 2) / 9, np.arange(8.0).reshape(4, 2) / 7
    gaussians.join(
        four[:13].astype(np.float64), slope, np.array([0.5, -1]), four[13:].T.copy(),
        np.float32(0.5), heights, two_shares(), 0.5, 1e-30,
        out("joined posteriors", (13, 2), np.float32),
    )  # fmt: skip
    out("dot", 1)[0] = gaussians.dot(np.arange(7.0), np.arange(7.0))


def two_shares():
    return np.array([[0.25, 0.75], [1.0, 0.0]])[np.arange(13) % 2]


def neighbor_points():
    """Whole numbers, whose sums single precision does not round; 8 columns, as the loops want."""
    return np.random.default_rng(3).integers(-9, 9, size=(24, 8)).astype(np.float32)


def neighbor_cases(out):
    """Run the loops that search neighbours, for `small_cases`."""
    X, n = neighbor_points(), 24
    order, spare = np.arange(n, dtype=np.int32), out("halved", n, np.int32)
    directions, thresholds = out("directions", (1, 8), np.float32), out("threshold", 1, np.float32)
    picks, sums = np.array([[3, 50]]), np.zeros(n, np.float32)
    cell_tree.halve(X, order, np.array([0, n]), picks, directions, thresholds, sums, spare)
    out("median", 1, np.float32)[0] = neighbor_lists.kth_value(sums.copy(), 12)
    cell_tree.turned_direction(X, order, picks[0], out("turned", 8, np.float32))
    cell_tree.leaves_of(X, directions, thresholds, out("leaves", n, np.int32))
    starts, column_starts = np.array([0, 12, 24]), np.array([0, 16, 32])
    columns = out("columns", 4 * 32, np.float32)
    cell_of = np.repeat(np.arange(2, dtype=np.int32), 12)
    centers, around = out("centers", (2, 8), np.float32), np.array([[0, 1], [1, 0]], np.int32)
    cell_tree.mean_centers(X, cell_of, centers)
    other, scales = around[:, 1:].astype(np.int64), np.array([[2.0], [3.0]], np.float32)
    bins, own_cell = np.arange(2), cell_of.astype(np.int64)
    gaps = out("gaps", (n, 3), np.float32)  # no cell is in the last bin
    cell_tree.gaps_to_bins(X, centers, bins, own_cell, other, scales, gaps)
    cell_tree.reassign(X, cell_of, around, centers, 8, out("reassigned", n, np.int32))
    cell_tree.fill_columns(X, starts, column_starts, columns)  # features may be left out
    out("block", (4, 16), np.float32)[:] = cell_tree.block_of(columns, column_starts, 1, 4)
    columns = np.empty(8 * 32, np.float32)
    cell_tree.fill_columns(X, starts, column_starts, columns)
    in_columns = starts, column_starts
    cell_tree.fill_center_columns(centers, around[1], out("center columns", (8, 2), np.float32))
    out("run", 2, np.int64)[:] = [cell_tree.end_of_run(cell_of, x, 20) for x in (3, 14)]
    rows, found = out("rows", (4, 8), np.float32), out("four", (4, 16), np.float32)
    words = np.zeros(2, np.uint64)
    cell_tree.take_rows(X, 2, 4, rows)
    neighbor_lists.four_distances(rows, cell_tree.block_of(columns, column_starts, 0, 8), found)
    own = np.full((n, 4), neighbor_lists.NONE)
    due, everyone = np.array([2, 5, 5, 5, 5]), np.arange(n)
    scratch = np.empty((4, 8), np.float32), np.empty((4, 16), np.float32), words
    cell_tree.enter_cell(X, everyone, due, 0, columns, *in_columns, *scratch, own)
    out("entered", (2, 4), np.uint64)[:] = own[[2, 5]]
    neighbor_lists.enter_row(own[7], found[0], 0, words)
    out("in an empty row", 4, np.uint64)[:] = own[7]
    neighbor_lists.mark_near(found[0], np.float32(90), words.view(np.uint8))
    out("near", 2, np.uint64)[:] = words
    neighbor_lists.mark_near_either(found[0], np.float32(60), found[1], words.view(np.uint8))
    out("near either", 2, np.uint64)[:] = words
    out("lanes", 2)[:] = [neighbor_lists.lane_limit(found[0], k) for k in (2, 9)]
    at_zero = np.uint64(neighbor_lists.key_of(np.uint32(0), 20))
    own = own[2]
    neighbor_lists.insert(own, at_zero)
    neighbor_lists.enter(own, at_zero)
    out("inserted", 4, np.int32)[:] = [neighbor_lists.number_of(key) for key in own]
    out("has", 2)[:] = [neighbor_lists.has(own, number) for number in (20, 23)]
    out("distances", 4)[:] = [neighbor_lists.distance_of(key) for key in own]
    lists, all_lists = np.full((2, n, 4), neighbor_lists.NONE)
    around_all = cell_of, around, centers, 1, columns, *in_columns
    cell_tree.enter_cells(X, everyone, *around_all, lists)
    everywhere = (
        np.zeros(n, np.int32),
        np.arange(2, dtype=np.int32)[None],
        np.zeros_like(centers),
        2,
    )
    cell_tree.enter_cells(X, everyone, *everywhere, columns, *in_columns, all_lists)
    out("joined", (n, 4), np.uint64)[:] = lists
    out("all", (n, 4), np.uint64)[:] = all_lists
    pools, sizes = out("pools", (n, 6), np.int32), out("sizes", n, np.int32)
    neighbor_lists.make_pools(lists, 4, pools, sizes)
    out("stand for", 2, np.int32)[:] = [neighbor_lists.in_pool(3, lists[0, 0] & ~np.uint64(1)),
                                        neighbor_lists.in_pool(3, lists[0, 0])]  # fmt: skip
    neighbor_lists.make_old(lists, 4)
    members = np.zeros(7, np.int32)
    in_pool, n_new = neighbor_lists.points_of_pool(0, pools, sizes, members)
    out("in pool", 8, np.int32)[:] = [*members, n_new]
    neighbor_lists.touch(X, members[:in_pool], out("touched", 6, np.float32))
    counts = np.zeros(1, np.int64)
    targets, keys = np.zeros((1, 32 * 42), np.int32), np.zeros((1, 32 * 42), np.uint64)
    neighbor_lists.join(X, 8, pools, sizes, lists, 0, counts, targets, keys)
    out("number found", 1, np.int64)[:] = counts
    out("found", keys.shape, np.uint64)[0, : counts[0]] = keys[0, : counts[0]]
    neighbor_lists.enter_found(lists, counts, targets, keys)
    out("lists", (n, 4), np.uint64)[:] = lists
    limits = np.full(16, 1e4, np.float32)
    written = neighbor_lists.write_pairs(
        0,
        np.arange(12, dtype=np.int32),
        found[0],
        limits,
        words,
        np.full_like(lists, neighbor_lists.NONE),
        0,
        targets[0],
        keys[0],
    )
    out("written", 22, np.uint64)[:written] = keys[0, :written]
    asked = np.full((5, 4), neighbor_lists.NONE)
    new, none = X[:5] + np.float32(0.5), np.array([-1, 1, -1, -1, -1])
    cell_tree.enter_cells(new, none, cell_of[:5], *around_all[1:], asked)
    neighbor_lists.ask_pools(new, none, X, pools, sizes, asked)
    out("asked", (5, 4), np.uint64)[:] = asked
    out("square", 1)[0] = neighbor_lists.squared_distance(X, 0, X, 1)
    bits = np.array([neighbor_lists.distance_bits(X, 0, X, 1)], np.uint32)
    out("square bits", 1)[0] = bits.view(np.float32)[0]
    out("row dot", 1)[0] = cell_tree.dot(X, 0, X, 1)
    mixed = np.array([-3, 5, -1, 0, -5], np.int32)
    out("holds", 3)[:] = [neighbor_lists.holds(mixed, 4, x) for x in (2, 5, 4)]
    neighbor_lists.put_new_first(mixed, out("old ones", 5, np.int32))
    out("new first", 5, np.int32)[:] = mixed


def names_of_loops():
    return {
        name
        for module in (getattr(_compiled, name) for name in _compiled.__all__ if name != "loops")
        for name, loop in vars(module).items()
        if callable(loop) and getattr(inspect.unwrap(loop), "__module__", "") == module.__name__
    }


def test_every_loop_has_a_case():
    source = (
        inspect.getsource(small_cases)
        + inspect.getsource(gaussian_cases)
        + inspect.getsource(neighbor_cases)
    )
    assert names_of_loops() >= {
        "squared_distances",
        "merged_rows",
        "read_off",
        "row_scaled_product",
    }
    for name in names_of_loops():
        assert f".{name}(" in source


def test_compiled_and_not_compiled_agree():
    code = (
        "import pickle, sys, test_loops;"
        "sys.stdout.buffer.write(pickle.dumps(test_loops.small_cases()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        cwd=os.path.dirname(__file__),
        capture_output=True,
        check=True,
    )
    interpreted = pickle.loads(done.stdout)
    for name, compiled in small_cases().items():
        rtol = 1e-5 if compiled.dtype == np.float32 else 1e-12
        np.testing.assert_allclose(compiled, interpreted[name], rtol=rtol, err_msg=name)


def test_shares_change_no_bit(cases, shared_by):
    for number in (2, 3):
        with shared_by(number):
            for name, values in small_cases().items():
                np.testing.assert_array_equal(values, cases[name], err_msg=name)


@pytest.fixture(scope="module")
def cases():
    return small_cases()


def test_edges_are_numpys(cases):
    graph, rng = small_graph()
    X, _, scale = rng.normal(size=(13, 3)), rng.normal(size=(13, 5)), rng.random(13)
    dense, rows = graph.toarray(), np.repeat(np.arange(13), np.diff(graph.indptr))
    squared = naive.squared_distances(X)[rows, graph.indices]
    np.testing.assert_allclose(cases["squared_distances"], squared, rtol=1e-12)
    V, W = X[:, ::-1], np.where(np.arange(13)[:, None] % 4, X, 0)
    delta = X[rows] - X[graph.indices]
    for name, field in (("other", W), ("own", V)):
        ends = V[rows], field[graph.indices]
        side = np.where(np.sum(ends[0] * ends[1], axis=1, keepdims=True) < 0, -1, 1)
        u = ends[0] + side * ends[1]
        u /= np.linalg.norm(u, axis=1, keepdims=True)
        beside = squared - np.sum(u * delta, axis=1) ** 2
        along = 2 * squared + 4 * beside
        np.testing.assert_allclose(cases[f"field_distances {name}"], along, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(cases["row_sums"], dense.sum(axis=1), rtol=1e-14)
    unit = dense / (1 + scale)
    unit /= np.maximum(np.linalg.norm(unit, axis=1, keepdims=True), 1e-300)
    np.testing.assert_allclose(cases["unit_rows"], unit[rows, graph.indices], rtol=1e-13)
    around = (dense - np.diag(np.diag(dense))).sum(axis=1)
    kept = (dense**2 - np.diag(np.diag(dense) ** 2)).sum(axis=1)
    ratio = np.divide(kept, around, out=np.ones(13), where=around > 0)
    expected = np.where(graph.indices == rows, graph.data * ratio[rows], graph.data**2)
    np.testing.assert_allclose(cases["scaled_diagonal"], expected, rtol=1e-13)
    scaled = (np.outer(scale, 2 * scale) * dense)[rows, graph.indices]
    np.testing.assert_allclose(cases["scaled_by_ends"], scaled, rtol=1e-14)
    np.testing.assert_allclose(cases["looked_up_product"], dense[1] @ dense[2], atol=1e-14)
    expected = (dense @ dense)[rows, graph.indices]
    np.testing.assert_allclose(cases["row_products"], expected, atol=1e-14)
    both = dense + dense.T
    expected = (both @ both)[np.nonzero(both)]
    np.testing.assert_allclose(cases["symmetric_row_products"], expected, atol=1e-14)
    np.testing.assert_allclose(cases["spread_product"], dense[0, 0], atol=1e-14)
    for without in (False, True):
        for x in range(13):
            row = dense[x].copy()
            row[x] = 0 if without else row[x]
            values = np.sort(row[row > 0])
            expected = values[min(3, len(values)) - 1] if len(values) else 0
            assert cases[f"kth_smallest {without}"][x] == expected


def test_graphs_are_scipys(cases):
    dense = small_graph()[0].toarray()
    either, both = np.where(dense > 0, dense, 9), np.where(dense.T > 0, dense.T, 9)
    least = np.minimum(either, both)
    np.fill_diagonal(least, 0)
    mask = (dense > 0) | (dense.T > 0)
    arrays = cases["merged data"], cases["merged indices"], cases["starts"]
    merged = sp.csr_array(arrays, (13, 13))
    assert (merged.toarray() == np.where(mask, least, 0)).all()
    assert merged.nnz == np.count_nonzero(mask | np.eye(13, dtype=bool))


def test_hops_spread_along_the_shortest_paths(cases):
    graph = small_graph()[0]
    lengths = (graph + graph.T).toarray() > 0
    lengths[11:] = False  # no path leads through points of other blocks, but from them
    from_start = np.array([0, 3, 9])[:, None] + shortest_path(
        lengths.T, unweighted=True, indices=[0, 11, 12]
    )
    expected = from_start.min(axis=0)
    expected[[11, 12]] = 3, 9
    found = np.where(cases["spread hops"] < 0, np.inf, cases["spread hops"])
    np.testing.assert_array_equal(found, expected)


def test_fronts_are_numpys(cases):
    graph, f, _, _ = drawn_columns()
    values = np.where(np.arange(13)[:, None] > 1, 0, 1 + np.abs(f[:, :2]))
    lost = (np.arange(13) > 1) & (np.arange(13) != 5)
    expected = naive.filled_by_fronts(abs(graph + graph.T).toarray(), lost, values)
    np.testing.assert_allclose(cases["filled"], expected, rtol=1e-13)
    assert expected[6:].any()


def drawn_columns():
    """The columns, scales and limits of `small_cases`, drawn again."""
    graph, rng = small_graph()
    rng.normal(size=(13, 3))
    f, scale = rng.normal(size=(13, 5)), rng.random(13)
    return graph, f, scale, rng.random((2, 5))


def test_decisions_are_numpys(cases):
    _, f, _, limits = drawn_columns()
    values = f - 1
    values[2] = -1
    N = np.maximum(limits[np.arange(13) % 2] - 0.5 + values, 0)
    p = naive.posteriors(N, np.arange(1.0, 6))
    p[N.sum(axis=1) == 0] = 0
    assert (cases["codes"] == np.where(p.any(axis=1), p.argmax(axis=1), -1)).all()
    assert cases["codes"][2] == -1
    np.testing.assert_allclose(cases["probability"], p.max(axis=1), atol=1e-14)
    np.testing.assert_allclose(cases["margins"], naive.margins(p), atol=1e-14)


def test_a_tie_goes_to_the_first_class_whatever_the_rounding():
    values = np.array([[1, 1, 0.5], [1, 1 + 1e-15, 0.5], [1 + 1e-15, 1, 0.5], [1, 1.001, 0.5]])
    codes, probability, margin = np.empty(4, int), np.empty(4), np.empty(4)
    arrays = np.zeros((1, 3)), np.zeros(4, int), np.ones(3)
    columns.read_off(values.T, *arrays, codes, probability, margin)
    assert codes.tolist() == [0, 0, 0, 1]
    assert (margin >= 0).all()
    np.testing.assert_allclose(margin, [0, 0, 0, 0.001 / 2.501], atol=1e-9)


def test_sparse_rows_are_read_off_as_dense_ones(cases):
    graph, _ = small_graph()
    dense, weight = graph.toarray(), np.arange(1.0, graph.shape[0] + 1)
    n = len(dense)
    codes, probability, margin = np.empty(n, int), np.empty(n), np.empty(n)
    nothing = np.zeros((1, n)), np.zeros(n, int)
    columns.read_off(dense.T, *nothing, weight, codes, probability, margin)
    np.testing.assert_array_equal(cases["row codes"], codes)
    np.testing.assert_allclose(cases["row probability"], probability)
    np.testing.assert_allclose(cases["row margins"], margin)


def test_products_are_numpys(cases):
    graph, f, scale, _ = drawn_columns()
    expected = scale[:, None] * (graph.toarray() @ f)
    for n_terms, total in enumerate((0 * f, expected, f + expected)):
        np.testing.assert_allclose(cases[f"product {n_terms}"], expected, atol=1e-14)
        np.testing.assert_allclose(cases[f"total {n_terms}"], total, atol=1e-14)
        for name in ("", "total "):  # to the last bit
            block = cases[f"{name}{n_terms}" if name else f"product {n_terms}"][:, 1]
            assert (cases[f"column {name}{n_terms}"] == block).all()
    product = graph.toarray() @ f
    np.testing.assert_allclose(cases["scaled product"], 2 * f * product, atol=1e-14)
    np.testing.assert_allclose(cases["row product"][1], product[1], atol=1e-14)
    np.testing.assert_allclose(cases["summed row product"][1], f[1] + product[1], atol=1e-14)
    step = 1.5 * (product - 0.25 * f) - 2 * f
    np.testing.assert_allclose(cases["recurrence"], step, atol=1e-14)
    after = 2 * expected - f
    np.testing.assert_allclose(cases["chebyshev"], after, atol=1e-14)
    np.testing.assert_allclose(cases["series"], [np.ones_like(f), 1 + 2 * after], atol=1e-14)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_column_has_the_same_bits_in_any_block(dtype):
    rng = np.random.default_rng(11)
    dense = np.where(rng.random((90, 90)) < 0.2, rng.random((90, 90)), 0).astype(dtype)
    graph, f = sp.csr_array(dense), rng.random((90, 33)).astype(dtype)
    arrays, alone = (graph.indptr, graph.indices, graph.data), np.empty(90, dtype)
    scale = rng.random(90).astype(dtype)
    for width in (1, 2, 3, 4, 7, 8, 16, 17, 31, 33):
        block, out = np.ascontiguousarray(f[:, :width]), np.empty((90, width), dtype)
        total, sums = np.zeros((90, width)), np.zeros(90)
        columns.row_scaled_product(*arrays, scale, block, out, total, 2)
        for c in range(width):
            sums[:] = 0
            columns.row_scaled_column_product(*arrays, scale, f[:, c].copy(), alone, sums, 2)
            assert (out[:, c] == alone).all()
            assert (total[:, c] == sums).all()


def test_gaussians_are_numpys(cases):
    graph, rng = small_graph()
    X = rng.normal(size=(13, 3))
    for x in range(13):
        members = X[graph.indices[graph.indptr[x] : graph.indptr[x + 1]]]
        centered = members - members.mean(axis=0) if len(members) else np.zeros((1, 3))
        values = np.linalg.svd(centered, compute_uv=False) ** 2 / max(len(members) - 1, 1)
        values = np.concatenate([values, np.zeros(3)])[:3]
        np.testing.assert_allclose(cases["variances"][x], values[:2], atol=1e-13)
        np.testing.assert_allclose(cases["rest"][x], values[2], atol=1e-13)
    assert cases["owners"][0] in (1, 2)  # one of both
    assert cases["dot"][0] == 91
    both = graph + graph.T
    mirrored = sp.csr_array((cases["mirrored"], both.indices, both.indptr), (13, 13))
    assert (mirrored != mirrored.T).nnz == 0
    rows = np.repeat(np.arange(13), np.diff(graph.indptr))
    np.testing.assert_allclose(mirrored[rows, graph.indices], cases["overlaps"], atol=1e-12)
    members = X[graph.indices[:4]]
    M = (members - members.mean(axis=0))[:3] @ (members - members.mean(axis=0))[:3].T + np.eye(3)
    np.testing.assert_allclose(cases["solution"], np.linalg.solve(M, [1, 2, 3]), rtol=1e-12)
    np.testing.assert_allclose(cases["log det"], np.linalg.slogdet(M)[1], rtol=1e-12)


def test_a_determinant_beyond_all_numbers_has_its_logarithm(rng):
    pivots, w = rng.permutation(np.logspace(38, 42, 9)), rng.normal(size=9)
    L = np.tril(rng.uniform(-0.5, 0.5, (9, 9)), -1) + np.eye(9)
    expected = np.linalg.solve(L.T, np.linalg.solve(L, w) / pivots)
    log_det = gaussians.solve(np.tril(L * pivots @ L.T), w)
    assert log_det == pytest.approx(360 * np.log(10), rel=1e-12)
    np.testing.assert_allclose(w, expected, rtol=1e-9)


@pytest.mark.parametrize("n_columns", [1, 2, 3, 4, 5, 17])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("index_dtype", [np.int32, np.int64])
def test_product_of_any_width(n_columns, dtype, index_dtype):
    graph, rng = small_graph(dtype)
    f, scale = rng.normal(size=(13, n_columns)).astype(dtype), rng.random(13).astype(dtype)
    out = np.full_like(f, np.nan)
    indptr, indices = graph.indptr.astype(index_dtype), graph.indices.astype(index_dtype)
    columns.row_scaled_product(indptr, indices, graph.data, scale, f, out, np.empty((0, 0)), 0)
    expected = scale[:, None] * (graph.toarray() @ f)
    np.testing.assert_allclose(out, expected, atol=1e-5 if dtype == "f4" else 1e-14)


def test_products_of_rows_of_very_different_lengths():
    rng = np.random.default_rng(3)
    dense = np.where(rng.random((200, 200)) < 0.03, rng.random((200, 200)), 0)
    dense[5] = dense[:, 7] = rng.random(200)
    graph = sp.csr_array(dense)
    arrays, out = (graph.indptr, graph.indices, graph.data), np.empty(graph.nnz)
    graphs.row_products(*arrays, *arrays, 200, out)
    rows = np.repeat(np.arange(200), np.diff(graph.indptr))
    np.testing.assert_allclose(out, (dense @ dense.T)[rows, graph.indices], atol=1e-13)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_products_of_pairs_are_those_of_both_directions_bit_by_bit(dtype):
    rng = np.random.default_rng(4)
    dense = np.where(rng.random((200, 200)) < 0.05, rng.random((200, 200)), 0)
    dense[5] = rng.random(200)
    graph = sp.csr_array((dense + dense.T).astype(dtype))
    arrays, out, expected = (
        (graph.indptr, graph.indices, graph.data),
        *np.empty((2, graph.nnz), dtype),
    )
    graphs.row_products(*arrays, *arrays, 200, expected)
    graphs.symmetric_row_products(*arrays, out)
    np.testing.assert_array_equal(out, expected)


def test_neighbors_are_numpys(cases):
    X = neighbor_points().astype(float)
    squared = naive.squared_distances(X)
    direction, halved = cases["directions"][0], cases["halved"]
    assert sorted(halved) == list(range(24))
    along = X @ direction
    assert along[halved[:12]].max() <= along[halved[12:]].min() * (1 + 1e-6)
    np.testing.assert_allclose(cases["threshold"], np.sort(along)[12], rtol=1e-5)
    assert cases["median"] == cases["threshold"]
    np.testing.assert_array_equal(cases["turned"], direction)
    mean = X.mean(axis=0)
    twice = X[50 % 24] - X[3]
    for _ in range(2):
        twice = (X - mean).T @ ((X - mean) @ -twice)
        twice /= np.abs(twice).max()
    parallel = abs(twice @ direction) / np.linalg.norm(twice) / np.linalg.norm(direction)
    assert parallel == pytest.approx(1, abs=1e-5)
    above = along - cases["threshold"][0]
    clear = np.abs(above) > 1e-4
    np.testing.assert_array_equal(cases["leaves"][clear], above[clear] > 0)
    centers = [X[:12].mean(axis=0), X[12:].mean(axis=0)]
    np.testing.assert_allclose(cases["centers"], centers, rtol=1e-6)
    np.testing.assert_array_equal(cases["center columns"].T, cases["centers"][::-1])
    nearest_center = naive.squared_distances(X, np.array(centers)).argmin(axis=1)
    np.testing.assert_array_equal(cases["reassigned"], nearest_center)
    to_center = np.sum((X[:, None] - cases["centers"]) ** 2, axis=2)
    own, other = np.repeat([0, 1], 12), np.repeat([1, 0], 12)
    gaps, rows = np.full((24, 3), np.inf), np.arange(24)
    gap = (to_center[rows, other] - to_center[rows, own]) / np.repeat([2, 3], 12)
    gaps[rows, own], gaps[rows, other] = 0, np.maximum(gap, 0)
    np.testing.assert_allclose(cases["gaps"], gaps, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(cases["block"][:, :12], X[12:, :4].T)
    assert (cases["block"][:, 12:] == np.inf).all()
    np.testing.assert_array_equal(cases["run"], [12, 20])
    np.testing.assert_array_equal(cases["rows"], X[[2, 3, 3, 3]])
    four = np.full((4, 16), np.inf)
    four[:, :12] = squared[[2, 3, 3, 3], :12]
    np.testing.assert_array_equal(cases["four"], four)
    np.testing.assert_array_equal(cases["near"].view(np.uint8), four[0] < 90)
    either = (four[0] < 60) | (four[0] < four[1])
    np.testing.assert_array_equal(cases["near either"].view(np.uint8), either)
    lanes = np.sort(four[0].reshape(4, 4).min(axis=0))
    assert cases["lanes"][0] == np.nextafter(np.float32(lanes[1]), np.float32(np.inf))
    assert cases["lanes"][1] == np.inf  # too few columns
    for x in range(24):
        cell = np.arange(12) + 12 * nearest_center[x]
        others = np.arange(24)[np.arange(24) != x]
        for name, members in (("joined", cell[cell != x]), ("all", others)):
            found, distances = numbers_of(cases[name][x]), distances_of(cases[name][x])
            np.testing.assert_array_equal(distances, np.sort(squared[x, members])[:4])
            np.testing.assert_array_equal(squared[x, found], distances)
    for x, entered in zip((2, 5), cases["entered"], strict=True):
        near = np.sort(np.delete(squared[x, :12], x))[:4]
        np.testing.assert_array_equal(distances_of(entered), near)
        np.testing.assert_array_equal(squared[x, numbers_of(entered)], near)
    np.testing.assert_array_equal(
        distances_of(cases["in an empty row"]), np.sort(squared[2, :12])[:4]
    )
    np.testing.assert_array_equal(cases["inserted"], [20, *numbers_of(cases["entered"][0])[:3]])
    np.testing.assert_array_equal(cases["has"], [1, 0])
    np.testing.assert_array_equal(cases["distances"][1:], distances_of(cases["entered"][0])[:3])
    np.testing.assert_array_equal(cases["stand for"], [-4, 3])
    written = {
        (number, float(distance))
        for number, distance in zip(
            numbers_of(cases["written"]), distances_of(cases["written"]), strict=True
        )
        if distance
    }
    assert written  # pairs of 0 with 1 ... 11, whose distances stand in the row of 2
    assert all(distance in squared[2, :12] for _, distance in written)
    assert cases["square"][0] == cases["square bits"][0] == squared[0, 1]
    assert cases["row dot"][0] == X[0] @ X[1]
    assert cases["holds"][0] == 1


def refined_naively(squared, lists, length):
    """One round in which every entry is new: pools of the list and of those that have x in it."""
    n, k = lists.shape
    pools = [list(row) for row in lists]
    for x in range(n):
        for y in lists[x]:
            if len(pools[y]) < length and x not in lists[y]:
                pools[y].append(x)
    offered = [set(row) for row in lists]
    for y in range(n):
        for x in (*pools[y], y):
            offered[x] |= {*pools[y], y} - {x}
    return np.array([np.sort(squared[x, list(offered[x])])[:k] for x in range(n)]), pools


def test_a_round_of_refinement_is_numpys(cases):
    squared = naive.squared_distances(neighbor_points().astype(float))
    before = numbers_of(cases["joined"])
    expected, pools = refined_naively(squared, before, 6)
    for x in range(24):
        assert list(cases["pools"][x, : cases["sizes"][x]]) == pools[x]
        assert len(set(numbers_of(cases["lists"][x]))) == 4
    np.testing.assert_array_equal(distances_of(cases["lists"]), expected)
    rows = np.take_along_axis(squared, numbers_of(cases["lists"]).astype(int), axis=1)
    np.testing.assert_array_equal(rows, expected)
    is_known = (numbers_of(cases["lists"])[:, :, None] == before[:, None, :]).any(axis=2)
    np.testing.assert_array_equal((cases["lists"] & np.uint64(1)).astype(bool), ~is_known)
    assert set(cases["in pool"][: cases["sizes"][0]]) == set(pools[0])
    assert cases["in pool"][-1] == len(pools[0])  # all are new
    assert cases["number found"][0] > 0


def test_walks_of_new_points_are_local_minima(cases):
    """No pool of an entry holds a point nearer than the farthest entry."""
    X = neighbor_points().astype(float)
    squared = naive.squared_distances(X[:5] + 0.5, X)
    squared[1, 1] = np.inf  # it was not to be seen
    for x, entries in enumerate(numbers_of(cases["asked"])):
        distances = squared[x, entries]
        np.testing.assert_array_equal(distances, distances_of(cases["asked"][x]))
        assert (np.diff(distances) >= 0).all()
        seen = {z for y in entries for z in cases["pools"][y, : cases["sizes"][y]]}
        others = [z for z in seen if z not in entries]
        assert squared[x, others].min(initial=np.inf) >= distances[-1]


def test_points_join_the_seed_they_are_most_like(cases):
    graph, _ = small_graph()
    dense = abs(graph + graph.T).toarray()
    assert cases["aggregates"].tolist() == naive.neighbor_aggregates(dense, range(13)[::-1])


def test_gains_are_numpys():
    rng = np.random.default_rng(0)
    distances, weight = rng.random((7, 9)).astype(np.float32), rng.random(9)
    nearest, found = rng.random(9).astype(np.float32), np.empty(7)
    choices.gains(distances, weight, nearest, found)
    np.testing.assert_allclose(found, np.maximum(nearest - distances, 0) @ weight, rtol=1e-6)


@pytest.mark.parametrize("n_values", [1, 2, 3, 10, 41, 2000])
@pytest.mark.parametrize("n_distinct", [1, 2, 5, 10**6])
def test_kth_value_of_any_order(n_values, n_distinct):
    rng = np.random.default_rng(n_values)
    random = rng.integers(n_distinct, size=n_values).astype(np.float32)
    ascending = np.sort(random)
    for values in (random, ascending, ascending[::-1], np.roll(ascending, n_values // 3)):
        for k in {0, n_values // 2, n_values - 1}:
            assert neighbor_lists.kth_value(values.copy(), k) == ascending[k]


def test_joined_posteriors_are_numpys(cases):
    points = neighbor_points()[:, :4] / 8
    squares = ((points[:13, None] - points[13:]) ** 2).sum(axis=-1)
    says = np.exp(-squares / 2) @ (np.arange(22.0).reshape(11, 2) / 9) + [0.5, -1]
    says += points[:13] @ (np.arange(8.0).reshape(4, 2) / 7)
    expected = np.exp(says) * np.sqrt(np.maximum(two_shares(), 1e-30))
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(cases["joined posteriors"], expected, rtol=1e-5)
