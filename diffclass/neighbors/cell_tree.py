"""Cells: about two hundred near points each, with the cells around each of them.

A tree halves the points recursively, at the median along a random direction turned towards the
largest variance (Dasgupta and Freund 2008, section 2). Its leaves are the start of the cells: each
point then moves to the nearest centre, as in k-means, but it looks only among the cells around its
leaf. So the time grows little faster than the number of points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diffclass import _compiled

LEAF_POINTS = 256  # at most
N_AROUND = 128
N_AROUND_MANY = 256  # of a cell among so many points that cells are small beside their surroundings
_MANY = 200_000  # points
_MOVES = 2  # of the points to the nearest centre
_BLOCK = 256  # points that are compared at a time
_TOGETHER = 16  # columns of a cell are filled up to a multiple: registers hold so many


@dataclass
class CellTree:
    """Points sorted by cell, and the cells that a search of their neighbours probes.

    order (n,) has the numbers of the points, sorted by cell; points (n, d) are in this order,
    filled up with zeros to a multiple of 8 features. The other arrays are those of
    `_compiled.cell_tree`.
    """

    order: np.ndarray
    points: np.ndarray
    starts: np.ndarray
    cell_of: np.ndarray
    columns: np.ndarray
    column_starts: np.ndarray
    centers: np.ndarray
    around: np.ndarray
    tree: tuple[np.ndarray, np.ndarray]

    @classmethod
    def of(
        cls, points: np.ndarray, random: np.random.RandomState, *, leaf_points: int = LEAF_POINTS
    ) -> CellTree:
        """Sort points (n, d) of single precision into cells."""
        n_features = points.shape[1] + -points.shape[1] % 4
        points = padded(points)
        # the tree's leaves stand for cells until points have moved to the nearest centre
        order, starts, directions, thresholds = _grown_tree(points, random, leaf_points)
        n_around = N_AROUND if len(points) <= _MANY else N_AROUND_MANY
        leaf_of = np.empty(len(points), dtype=np.int32)
        leaf_of[order] = np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))
        centers = np.zeros((len(starts) - 1, points.shape[1]), dtype=np.float32)
        cell_of = _moved(points, n_features, order, leaf_of, centers, n_around)
        # points of a cell lie together in memory: a probe reads them in one go
        order = np.argsort(cell_of, kind="stable").astype(np.int32)
        starts = np.searchsorted(cell_of[order], np.arange(len(centers) + 1))
        points, cell_of = points[order], cell_of[order]
        columns = _columns_of(points, starts, n_features)
        around, tree = _around(centers, n_features, n_around), (directions, thresholds)
        return cls(order, points, starts, cell_of, *columns, centers, around, tree)

    @property
    def n_features(self) -> int:
        """Features of the columns: a multiple of 4."""
        return len(self.columns) // int(self.column_starts[-1])

    @property
    def n_around(self) -> int:
        """Number of cells around each cell, itself counted: the most that can be probed."""
        return self.around.shape[1]

    def probe(
        self,
        queries: np.ndarray,
        cell_of: np.ndarray,
        without: np.ndarray,
        lists: np.ndarray,
        *,
        n_probes: int,
    ) -> None:
        """Enter the points of the nearest cells into lists."""
        _compiled.cell_tree.enter_cells(
            queries, without, cell_of, self.around, self.centers, n_probes, self.columns,
            self.starts, self.column_starts, lists,
        )  # fmt: skip

    def nearest(self, queries: np.ndarray, without: np.ndarray, k: int) -> np.ndarray:
        """Return lists of the k nearest points among all, for padded queries of shape (m, d)."""
        lists = empty_lists(len(queries), k)
        _enter_all(queries, without, self.columns, self.starts, self.column_starts, lists)
        return lists

    def located(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return new points (m, p), padded, and their cells."""
        queries = padded(X)
        # down the tree to a leaf, then to the nearest of the centres around it
        leaves, cell_of = np.empty((2, len(X)), dtype=np.int32)
        _compiled.cell_tree.leaves_of(queries, *self.tree, leaves)
        _compiled.cell_tree.reassign(
            queries, leaves, self.around, self.centers, self.n_features, cell_of
        )
        return queries, cell_of


def _grown_tree(
    points: np.ndarray, random: np.random.RandomState, leaf_points: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Halve the points until no set is too large; return leaf order, starts and the splits."""
    n, d = points.shape
    depth = max(0, int(np.ceil(np.log2(n / leaf_points))))
    directions = np.empty((2**depth - 1, d), dtype=np.float32)
    thresholds = np.empty(2**depth - 1, dtype=np.float32)
    order, spare = np.arange(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    starts, projections = np.array([0, n]), np.empty(n, dtype=np.float32)
    for level in range(depth):
        nodes = slice(2**level - 1, 2 ** (level + 1) - 1)
        picks = random.randint(2**31 - 1, size=(2**level, 2))
        _compiled.cell_tree.halve(
            points, order, starts, picks, directions[nodes], thresholds[nodes],
            projections, spare,
        )  # fmt: skip
        order, spare = spare, order
        middles = starts[:-1] + np.diff(starts) // 2
        starts = np.append(np.stack([starts[:-1], middles], axis=1).ravel(), n)
    return order, starts, directions, thresholds


def _moved(
    points: np.ndarray,
    n_features: int,
    order: np.ndarray,
    leaf_of: np.ndarray,
    centers: np.ndarray,
    n_around: int,
) -> np.ndarray:
    """Move points to the nearest centre around their leaf, and centres to the mean of theirs."""
    loops = _compiled.cell_tree
    loops.mean_centers(points, leaf_of, centers)
    around = _around(centers, n_features, n_around)
    in_order, leaves = points[order], leaf_of[order]
    found, cell_of = np.empty_like(leaf_of), np.empty_like(leaf_of)
    for _ in range(_MOVES):
        loops.reassign(in_order, leaves, around, centers, n_features, found)
        loops.mean_centers(in_order, found, centers)
    cell_of[order] = found
    return cell_of


def _around(centers: np.ndarray, n_features: int, n_around: int) -> np.ndarray:
    """Return the nearest cells of each cell, itself first."""
    return nearest_points(centers, centers, n_around, n_features=n_features)[0]


def _columns_of(
    points: np.ndarray, starts: np.ndarray, n_features: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return points, sorted by cell, as columns of each cell, and where these start."""
    sizes = np.diff(starts)
    column_starts = np.concatenate([[0], np.cumsum(sizes + -sizes % _TOGETHER)])
    columns = np.empty(column_starts[-1] * n_features, dtype=np.float32)
    _compiled.cell_tree.fill_columns(points, starts, column_starts, columns)
    return columns, column_starts


def nearest_points(
    queries: np.ndarray, points: np.ndarray, k: int, *, n_features: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the k nearest points of each query, and squared distances, by comparing all.

    queries (m, p) and points (n, p) are float32; both results have the shape (m, min(k, n)).
    n_features are the columns that are not filled up to a multiple of 8.
    """
    n, p = len(points), n_features or points.shape[1]
    lists = empty_lists(len(queries), min(n, k))
    if n:
        queries, points = padded(queries), padded(points)
        starts = np.minimum(np.arange(0, n + _BLOCK, _BLOCK), n)
        columns, column_starts = _columns_of(points, starts, p + -p % 4)
        without = np.full(len(queries), -1)
        _enter_all(queries, without, columns, starts, column_starts, lists)
    return numbers_of(lists), distances_of(lists)


def _enter_all(
    queries: np.ndarray,
    without: np.ndarray,
    columns: np.ndarray,
    starts: np.ndarray,
    column_starts: np.ndarray,
    lists: np.ndarray,
) -> None:
    """Enter the points of all cells into empty lists."""
    n_cells = len(starts) - 1
    around = np.arange(n_cells, dtype=np.int32)[None]
    centers = np.zeros((n_cells, queries.shape[1]), dtype=np.float32)  # none is nearer than others
    cell_of = np.zeros(len(queries), dtype=np.int32)
    _compiled.cell_tree.enter_cells(
        queries, without, cell_of, around, centers, n_cells, columns, starts, column_starts, lists
    )


def padded(points: np.ndarray) -> np.ndarray:
    """Fill up the features of points (n, d) with zeros to a multiple of 8, as loops require."""
    if points.shape[1] % 8 == 0:
        return np.ascontiguousarray(points)
    return np.pad(points, ((0, 0), (0, -points.shape[1] % 8)))


def empty_lists(n: int, width: int) -> np.ndarray:
    """Return n lists without entries, as a uint64 array of shape (n, width)."""
    return np.full((n, width), _compiled.neighbor_lists.NONE)


def numbers_of(lists: np.ndarray) -> np.ndarray:
    """Return the numbers of the points in the lists as int32, -1 where there is none."""
    numbers = ((lists >> np.uint64(1)) & np.uint64(2**31 - 1)).astype(np.int32)
    numbers[lists == _compiled.neighbor_lists.NONE] = -1
    return numbers


def distances_of(lists: np.ndarray) -> np.ndarray:
    """Return the squared distances of the points in the lists, infinite where there is none."""
    return (lists >> np.uint64(32)).astype(np.uint32).view(np.float32)
