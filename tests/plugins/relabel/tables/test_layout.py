"""The drawing of a graph: a cell for each point, near those that are near in the graph."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.neighbors import NearestNeighbors

from diffclass import markov_operator
from diffclass.kernels import SharedNeighbors
from diffclass_relabel.workspace.layout import drawn, graph_coordinates, settled


def walk(X, n_neighbors=12):
    return markov_operator(X, n_neighbors=n_neighbors, kernel=SharedNeighbors(), random_state=0)


def purity(places, y, k=8):
    """Return the share of the nearest places that are of the same class."""
    nearest = NearestNeighbors(n_neighbors=k + 1).fit(places).kneighbors(return_distance=False)
    return (y[nearest[:, 1:]] == y[:, None]).mean()


def naive_cells(places, order, rows, columns):
    """Give each point the free cell nearest to its place, looking at all of them."""
    middles = np.stack(np.divmod(np.arange(rows * columns), columns), axis=1) + 0.5
    is_free, cells = np.ones(len(middles), dtype=bool), np.empty(len(order), dtype=int)
    for i in order:
        squares = ((middles - places[i]) ** 2).sum(axis=1)
        cells[i] = np.where(is_free, squares, np.inf).argmin()
        is_free[cells[i]] = False
    return cells, middles


@pytest.mark.parametrize("make", ["uniform", "together", "line", "two heaps"])
@pytest.mark.parametrize("n", [2, 9, 150])
def test_each_point_has_the_nearest_free_cell(make, n):
    rng = np.random.default_rng(n)
    places = {
        "uniform": rng.random((n, 2)),
        "together": np.zeros((n, 2)),
        "line": np.outer(np.arange(n), [1.0, 0.0]),
        "two heaps": np.repeat([[0.0, 0.0], [5.0, 3.0]], [n - n // 2, n // 2], axis=0),
    }[make]
    cells, (rows, columns) = settled(places, random_state=4)
    assert len(np.unique(cells)) == n
    assert 5 * n <= rows * columns
    assert cells.min() >= 0
    assert cells.max() < rows * columns
    # the naive twin, at the places that `settled` scales to the raster
    low, high = np.quantile(places, [0.005, 0.995], axis=0)
    inner = np.clip((places - low) / np.maximum(high - low, np.finfo(float).tiny), 0, 1)
    wanted = (0.94 * inner + 0.03)[:, ::-1] * [rows, columns]
    order = np.random.default_rng(4).permutation(n)
    twin, middles = naive_cells(wanted, order, rows, columns)
    away = np.linalg.norm(middles[cells] - wanted, axis=1)
    # of cells equally far away any will do, after which the next ones differ
    assert np.sort(away) == pytest.approx(
        np.sort(np.linalg.norm(middles[twin] - wanted, axis=1)), abs=1.0
    )
    assert away.sum() == pytest.approx(
        np.linalg.norm(middles[twin] - wanted, axis=1).sum(), rel=0.02
    )


@pytest.mark.parametrize(("n_classes", "n_features"), [(2, 2), (5, 3), (12, 20)])
def test_what_is_near_in_the_graph_is_near_on_the_raster(n_classes, n_features):
    X, y = make_blobs(600, n_features, centers=n_classes, cluster_std=0.6, random_state=1)
    operator = walk(X.astype(np.float32))
    coordinates = graph_coordinates(operator)
    cells, (_, columns) = settled(drawn(operator, coordinates))
    on_raster = np.column_stack(np.divmod(cells, columns))
    assert purity(on_raster, y) > 0.95 * purity(X, y)


def test_a_drawing_tells_more_clusters_apart_than_two_coordinates():
    X, y = make_blobs(600, 20, centers=12, cluster_std=1.0, random_state=2)
    operator = walk(X.astype(np.float32))
    coordinates = graph_coordinates(operator)
    places = drawn(operator, coordinates)
    assert purity(places, y) > 0.95
    assert purity(coordinates[:, :2], y) < 0.8


def test_the_same_graph_gives_the_same_drawing():
    X = make_blobs(300, 4, centers=3, random_state=0)[0].astype(np.float32)
    operator = walk(X)
    coordinates = graph_coordinates(operator)
    first, again = (drawn(operator, coordinates, random_state=7) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, drawn(operator, coordinates, random_state=8))
    assert np.isfinite(first).all()


@pytest.mark.parametrize("n", [2, 3, 5])
def test_few_points_are_drawn_too(n):
    operator = walk(np.arange(2 * n, dtype=np.float32).reshape(n, 2), n_neighbors=1)
    coordinates = graph_coordinates(operator)
    assert coordinates.shape == (n, 3)
    cells, _ = settled(drawn(operator, coordinates))
    assert len(set(cells.tolist())) == n
