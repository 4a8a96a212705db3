"""NN-descent: trees, then neighbours of neighbours. Its time grows little faster than n.

Each tree halves the points recursively, at the median along a random direction turned towards the
largest variance (Dasgupta and Freund 2008, section 2). Points of the same leaf become each other's
first neighbours. Rounds of refinement then compare each point with the neighbours of its
neighbours, in both directions of an edge (Dong, Moses and Li 2011, section 2), since these are
likely to be neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from diffclass import _compiled
from diffclass._validation import RandomState
from diffclass.neighbors.inverted_file import InvertedFileSearch
from diffclass.neighbors.recall import AIMED_RECALL, LEAST_RECALL, share_within, true_reach
from diffclass.neighbors.search import Search
from diffclass.neighbors.single_precision import SinglePrecision

# Measured on noise in 20 dimensions, which is as hard as the features of scenes get.
_TREES_AT_ONCE, _FIRST_TREES, _MOST_TREES = 4, 16, 48
_FIRST_RECALL = 0.85  # above this, rounds are cheaper than trees
_ROUNDS_AT_ONCE, _LEAST_CHANGE = 4, 0.002
_LEAF_POINTS = 256
_MORE_NEIGHBORS = 6  # lists longer than the result find more
_POOLED = 24  # at most so many entries of a list
_TREES_OF_NEW_POINTS, _LONGEST_WALK = 4, 16


class NNDescentSearch(Search):
    """Nearest neighbours by NN-descent: trees, refined by neighbours of neighbours.

    Parameters
    ----------
    n_neighbors : int, default=12
        Neighbours of a point, itself not counted.
    random_state : int, RandomState or None, default=None
        Seeds the trees and the samples.

    Attributes
    ----------
    recall_ : float
        Share of the true neighbours that were found, measured on 256 points. Trees and rounds are
        added until 256 other points find 99.3 %, and these 99 %. If 48 trees are not enough, an
        `InvertedFileSearch` is used instead.
    n_trees_, n_rounds_ : int
        Trees grown and rounds of refinement made.

    Notes
    -----
    Time: n log n for the trees and n for a round. Memory: about 300 bytes per point for 12
    neighbours. The result does not depend on the number of threads. New points start in leaves of
    the trees and walk over the lists of indexed points. Their own lists are long enough to find
    99.3 %, but at most 16 times the usual length.

    References
    ----------
    W. Dong, C. Moses, K. Li, Efficient k-nearest neighbor graph construction for generic
    similarity measures, 2011. S. Dasgupta, Y. Freund, Random projection trees and low dimensional
    manifolds, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.neighbors import NNDescentSearch
    >>> X = np.random.default_rng(0).normal(size=(2000, 5))
    >>> search = NNDescentSearch(6, random_state=0)
    >>> search.fit_transform(X).nnz, search.recall_ >= 0.99
    (12000, True)
    """

    def __init__(self, n_neighbors: int = 12, *, random_state: RandomState = None):
        self.n_neighbors = n_neighbors
        self.random_state = random_state

    def _index(self, X: np.ndarray) -> None:
        random = check_random_state(self.random_state)
        self._instead: InvertedFileSearch | None = None
        self._single = SinglePrecision(X)
        self._width = self.n_neighbors + _MORE_NEIGHBORS
        self._place_points(_padded(self._single(X)), random)
        self._lists = _Lists.empty(len(X), min(self._width, len(X) - 1))
        self.n_trees_, self.n_rounds_ = 0, 0
        self._search_until_found(X.shape[1], random)
        if self.recall_ < LEAST_RECALL:
            self._search_instead(X, random)

    def _place_points(self, points: np.ndarray, random: np.random.RandomState) -> None:
        """Store the points in the order of a tree, so that near ones lie near in memory."""
        tree = _Tree.grown(points, max(_LEAF_POINTS, 4 * self._width), random)
        self._order = tree.order
        self._points = points[tree.order]
        tree.order = np.arange(len(points), dtype=np.int32)
        self._trees = [tree]

    def _search_until_found(self, n_features: int, random: np.random.RandomState) -> None:
        n = len(self._points)
        k = min(self.n_neighbors, n - 1)
        chosen = random.permutation(n)[:512]
        choosing, reporting = (
            _Sample(sample, true_reach(self._points, sample, k), k)
            for sample in (chosen[: len(chosen) // 2], chosen[len(chosen) // 2 :])
        )
        self._grow(n_features, random)
        while self.n_trees_ < _FIRST_TREES and self._recall(choosing) < _FIRST_RECALL:
            self._grow(n_features, random)
        self._refine_until(AIMED_RECALL, choosing, n_features, random)
        self.recall_ = self._refine_until(LEAST_RECALL, reporting, n_features, random)
        self._make_pools()
        del self._trees[_TREES_OF_NEW_POINTS:]
        self._choose_walk(choosing)

    def _refine_until(
        self, recall: float, sample: _Sample, n_features: int, random: np.random.RandomState
    ) -> float:
        """Refine until the sample reaches the recall; grow new trees when rounds stall."""
        reached = self._recall(sample)
        while reached < recall:
            for _ in range(_ROUNDS_AT_ONCE):
                if reached >= recall or self._lists.is_new.mean() < _LEAST_CHANGE:
                    break
                self._refine()
                reached = self._recall(sample)
            if reached >= recall or self.n_trees_ >= _MOST_TREES:
                break
            self._grow(n_features, random)
            reached = self._recall(sample)
        return reached

    def _grow(self, n_features: int, random: np.random.RandomState) -> None:
        """Grow some trees and join the points of their leaves."""
        for _ in range(_TREES_AT_ONCE):
            if self.n_trees_ == len(self._trees):
                leaf_points = max(_LEAF_POINTS, 4 * self._width)
                self._trees.append(_Tree.grown(self._points, leaf_points, random))
            tree = self._trees[self.n_trees_]
            if self._lists.neighbors.shape[1]:
                _compiled.neighbor_lists.join_leaves(
                    self._points, n_features, tree.order, tree.starts, *self._lists.arrays
                )
            self.n_trees_ += 1

    def _refine(self) -> None:
        self._make_pools()
        _compiled.neighbor_lists.refine(self._points, self._pools, self._sizes, *self._lists.arrays)
        self.n_rounds_ += 1

    def _make_pools(self) -> None:
        n, width = self._lists.neighbors.shape
        n_nearest = min(width, _POOLED)
        self._pools = np.empty((n, n_nearest + n_nearest // 2), dtype=np.int32)
        self._sizes = np.empty(n, dtype=np.int32)
        _compiled.neighbor_lists.make_pools(
            self._lists.neighbors, self._lists.is_new, n_nearest, self._pools, self._sizes
        )

    def _recall(self, sample: _Sample) -> float:
        found = self._lists.neighbors[sample.points, : sample.k]
        return share_within(self._points, sample.points, found, sample.reach)

    def _search_instead(self, X: np.ndarray, random: np.random.RandomState) -> None:
        self._instead = InvertedFileSearch(self.n_neighbors, random_state=random)
        self._instead._index(X)
        self.recall_ = self._instead.recall_
        del self._points, self._lists, self._pools, self._sizes, self._trees, self._order

    def _nearest_of_each(self, X: np.ndarray, k: int) -> np.ndarray:
        if self._instead is not None:
            return self._instead._nearest_of_each(X, k)
        found = np.empty((len(self._order), k), dtype=np.int64)
        found[self._order] = self._order[self._lists.neighbors[:, :k]]
        return found

    def _nearest(self, X: np.ndarray, k: int) -> np.ndarray:
        if self._instead is not None:
            return self._instead._nearest(X, k)
        queries = _padded(self._single(X))
        found = self._walked(queries, np.full(len(X), -1), self._walk_width)
        return self._order[found[:, :k]]

    def _walked(self, queries: np.ndarray, without: np.ndarray, width: int) -> np.ndarray:
        """Find the nearest points: first in leaves of trees, then from neighbour to neighbour."""
        lists = _Lists.empty(len(queries), min(width, len(self._points)))
        for tree in self._trees[:_TREES_OF_NEW_POINTS]:
            _compiled.neighbor_lists.enter_leaves(
                queries, without, self._points, tree.order, tree.starts, tree.directions,
                tree.thresholds, *lists.arrays,
            )  # fmt: skip
        _compiled.neighbor_lists.ask_pools(
            queries, without, self._points, self._pools, self._sizes, *lists.arrays
        )
        return lists.neighbors

    def _choose_walk(self, sample: _Sample) -> None:
        """Lengthen the lists until the sample, treated as new points, finds its neighbours."""
        self._walk_width = self._width
        queries = self._points[sample.points]
        while self._walk_width < _LONGEST_WALK * self._width:
            found = self._walked(queries, sample.points, self._walk_width)[:, : sample.k]
            if share_within(self._points, sample.points, found, sample.reach) >= AIMED_RECALL:
                break
            self._walk_width *= 2


@dataclass
class _Sample:
    """Indices of points, and the squared distance of each to its true k-th neighbour."""

    points: np.ndarray
    reach: np.ndarray
    k: int


@dataclass
class _Lists:
    """Nearest points found so far for each point, nearest first; -1 where there is none yet."""

    neighbors: np.ndarray
    distances: np.ndarray
    is_new: np.ndarray

    @classmethod
    def empty(cls, n: int, width: int) -> _Lists:
        return cls(
            np.full((n, width), -1, dtype=np.int32),
            np.full((n, width), np.inf, dtype=np.float32),
            np.zeros((n, width), dtype=np.uint8),
        )

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.neighbors, self.distances, self.is_new


@dataclass
class _Tree:
    """Points in the order of the leaves, the starts of the leaves, and the splits from the root."""

    order: np.ndarray
    starts: np.ndarray
    directions: np.ndarray
    thresholds: np.ndarray

    @classmethod
    def grown(cls, points: np.ndarray, leaf_points: int, random: np.random.RandomState) -> _Tree:
        """Halve the points until no set has more than ``leaf_points``."""
        n, d = points.shape
        depth = max(0, int(np.ceil(np.log2(n / leaf_points))))
        directions = np.empty((2**depth - 1, d), dtype=np.float32)
        thresholds = np.empty(2**depth - 1, dtype=np.float32)
        order, spare = np.arange(n, dtype=np.int32), np.empty(n, dtype=np.int32)
        starts, projections = np.array([0, n]), np.empty(n, dtype=np.float32)
        for level in range(depth):
            nodes = slice(2**level - 1, 2 ** (level + 1) - 1)
            picks = random.randint(2**31 - 1, size=(2**level, 2))
            _compiled.neighbor_lists.halve(
                points, order, starts, picks, directions[nodes], thresholds[nodes],
                projections, spare,
            )  # fmt: skip
            order, spare = spare, order
            middles = starts[:-1] + np.diff(starts) // 2
            starts = np.append(np.stack([starts[:-1], middles], axis=1).ravel(), n)
        return cls(order, starts, directions, thresholds)


def _padded(points: np.ndarray) -> np.ndarray:
    """Pad the features with zeros to a multiple of 8, as the loops require."""
    return np.pad(points, ((0, 0), (0, -points.shape[1] % 8)))


def index_bytes(n_points: int, n_features: int, n_neighbors: int) -> int:
    """Return the memory in bytes of a fitted search: points, lists, pools and tree order."""
    width = n_neighbors + _MORE_NEIGHBORS
    points = 4 * (n_features + -n_features % 8)
    return n_points * (points + 9 * width + 24) + _pool_bytes(n_points, n_neighbors)


def searching_bytes(n_points: int, n_features: int, n_neighbors: int) -> int:
    """Return the memory in bytes that indexing needs beside its result: copies, trees, pools."""
    trees = 4 * n_points * _MOST_TREES // 2
    return 8 * n_points * n_features + trees + _pool_bytes(n_points, n_neighbors)


def _pool_bytes(n_points: int, n_neighbors: int) -> int:
    return 6 * n_points * min(n_neighbors + _MORE_NEIGHBORS, _POOLED)
