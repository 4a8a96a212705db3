"""NN-descent in cells: near cells first, then neighbours of neighbours.

Points are sorted into small cells, and each point looks into those nearest to it. Rounds of
refinement then compare it with the neighbours of its neighbours, in both directions of an edge.

Source: W. Dong, C. Moses and K. Li 2011, section 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diffclass import _compiled
from diffclass._validation import RandomState, check_seed
from diffclass.exceptions import warn_user
from diffclass.neighbors.cell_tree import (
    LEAF_POINTS,
    N_AROUND,
    CellTree,
    distances_of,
    empty_lists,
    numbers_of,
    padded,
)
from diffclass.neighbors.search import Search, SinglePrecision
from diffclass.system.costs import Cost, Size
from diffclass.system.progress import in_parts

# Measured on the features of scenes, and on noise in 10 to 40 dimensions, which is harder.
_N_PROBES = 16
_LEAST_GAIN = 0.15  # share of the missing neighbours below which a round stalls
_MORE_NEIGHBORS = 4  # lists longer than the result find more
# Recall that is aimed at, and below which the search goes on. Maps of 10,000 to 110,000 points
# hardly change down to 0.95, but at 0.9 some lose 0.2 to 1.3 points (experiments.scaling.recalls).
_AIMED_RECALL, _LEAST_RECALL = 0.96, 0.955
_AIMED_RECALL_OF_NEW = 0.985
_HARD_RECALL, _MORE_HARD_NEIGHBORS = 0.9, 12  # and still longer ones, where probes find few
_MOST_EXACT = 2**18  # points that are all compared where nothing else helps: some minutes
_LONGER, _LONGEST = 12, 96  # by which they grow where rounds stall, and the most
# Entries of a list that the first round uses, by which it grows, the most, and that of lists that
# have grown.
_POOLED, _POOLED_WHERE_HARD, _MORE_POOLED, _MOST_POOLED, _MOST_OF_LONG = 8, 20, 4, 24, 48
_LONGEST_WALK = 16
_AT_ONCE = 8192  # points that look into all cells, between two notes of progress
_LARGEST_CODE, _QUANTIZED_SAMPLE = 127, 10_000
_CLIPPED = 0.001  # share of the values beyond the largest code: outliers do not coarsen the others
_HARD_FEATURES = 40  # from which lists are expected to grow
_SECONDS = 2.3e-6  # of a point's feature, among a million points


class NNDescentSearch(Search):
    """Nearest neighbours by NN-descent: near cells, refined by neighbours of neighbours.

    Parameters
    ----------
    n_neighbors : int, default=12
        Neighbours of a point, itself not counted.
    random_state : int, RandomState or None, default=None
        Seeds the cells and the samples.

    Attributes
    ----------
    recall_ : float
        Share of the true neighbours that were found, measured on 256 points: at least 95.5 %, if
        need be by comparing all points. Of more than 262,144 points that takes too long; a warning
        says what was found.
    n_probes_, n_rounds_ : int
        Cells probed per point, and rounds of refinement made.

    See Also
    --------
    ExactSearch : For few points, or up to three features.
    CudaSearch : Exact, on an NVIDIA device.

    Notes
    -----
    Time: somewhat more than n log n for the cells and n for a round. Memory: about 500 bytes per
    point for 12 neighbours and 20 features, 1,200 with 50 features of which most are noise. The
    result does not depend on the number of threads. A list holds n_neighbors + 4 points or more;
    where it ends among points as far as the n_neighbors-th, these are left out.

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
    >>> search.fit_transform(X).nnz, search.recall_ >= 0.955
    (12000, True)
    """

    def __init__(self, n_neighbors: int = 12, *, random_state: RandomState = None):
        self.n_neighbors = n_neighbors
        self.random_state = random_state

    def _index(self, X: np.ndarray) -> None:
        random = check_seed(self.random_state)
        self._single = SinglePrecision(X)
        self._width = self.n_neighbors + _MORE_NEIGHBORS
        self._cells = CellTree.of(self._single(X), random)
        self._lists = empty_lists(len(X), min(self._width, len(X) - 1))
        self.n_rounds_, self._n_pooled, self._most_pooled = 0, _POOLED, _MOST_POOLED
        self._walk_width = 0  # chosen when the first new points come
        self._codes: tuple[np.ndarray, np.float32] | None = None  # made for the first round
        self._search(random)
        self._codes = None
        if self.recall_ < _LEAST_RECALL and len(X) <= _MOST_EXACT:
            self._search_all_cells()
        elif self.recall_ < _LEAST_RECALL:
            warn_user(
                f"{self.recall_:.1%} of the true neighbours were found, not {_LEAST_RECALL:.1%}, "
                f"among {len(X)} points with {X.shape[1]} features, too many to compare all; take "
                "fewer features, without those that are mostly noise",
                UserWarning,
            )

    def _search(self, random: np.random.RandomState) -> None:
        n = len(self._lists)
        k = min(self.n_neighbors, n - 1)
        # one half says when to stop; the other, which had no say, what was reached
        chosen = random.permutation(n)[:512]
        choosing, reporting = (
            self._sample(part, k)
            for part in (chosen[: len(chosen) // 2], chosen[len(chosen) // 2 :])
        )
        self._probe()
        # where cells alone find few, neighbours of neighbours do too: give them longer lists
        if self._recall(choosing) < _HARD_RECALL:
            self._lengthen(self.n_neighbors + _MORE_HARD_NEIGHBORS)
            self._n_pooled = _POOLED_WHERE_HARD
        self._refine_until(_AIMED_RECALL, choosing)
        self.recall_ = self._refine_until(_LEAST_RECALL, reporting)
        self._walk_sample = choosing

    def _sample(self, points: np.ndarray, k: int) -> _Sample:
        nearest = self._cells.nearest(self._cells.points[points], points, k)
        return _Sample(points, distances_of(nearest)[:, -1:], k)

    def _lengthen(self, width: int) -> None:
        longer = empty_lists(len(self._lists), min(width, len(self._lists) - 1))
        longer[:, : self._lists.shape[1]] = self._lists
        self._width, self._lists = width, longer

    def _refine_until(self, recall: float, sample: _Sample) -> float:
        """Refine until the sample reaches the recall, with longer lists when rounds stall."""
        reached, stalls = self._recall(sample), False
        while reached < recall:
            before = reached
            if stalls:  # two rounds in turn would gain nothing: more entries, not more rounds
                if self._width >= min(_LONGEST, len(self._lists) - 1):
                    break
                self._lengthen(self._width + _LONGER)
                self._most_pooled = _MOST_OF_LONG
                self._n_pooled = min(self._width, _MOST_OF_LONG)
            self._refine()
            reached = self._recall(sample)
            stalls = not stalls and reached - before < _LEAST_GAIN * (1 - before)
        return reached

    def _probe(self) -> None:
        """Look into the nearest cells of each point."""
        cells = self._cells
        self.n_probes_ = min(_N_PROBES, cells.n_around)
        cells.probe(
            cells.points, cells.cell_of, np.arange(len(self._lists)), self._lists,
            n_probes=self.n_probes_,
        )  # fmt: skip

    def _refine(self) -> None:
        # a pool is B(v) of Dong et al.: the nearest of v, and points whose nearest v is
        pools, sizes = self._made_pools(self._n_pooled)
        self._n_pooled = min(self._n_pooled + _MORE_POOLED, self._most_pooled)
        # 8-bit codes say of most pairs that they are too far, at a quarter of the memory read
        self._codes = quantized(self._cells.points) if self._codes is None else self._codes
        _compiled.neighbor_lists.refine(self._cells.points, *self._codes, pools, sizes, self._lists)
        self.n_rounds_ += 1

    def _made_pools(self, n_pooled: int) -> tuple[np.ndarray, np.ndarray]:
        n, width = self._lists.shape
        n_nearest = min(width, n_pooled)
        pools = np.empty((n, n_nearest + n_nearest // 2), dtype=np.int32)
        sizes = np.empty(n, dtype=np.int32)
        _compiled.neighbor_lists.make_pools(self._lists, n_nearest, pools, sizes)
        return pools, sizes

    def _recall(self, sample: _Sample) -> float:
        return sample.share_within(self._lists[sample.points])

    def _search_all_cells(self) -> None:
        self._lists = self._nearest_of_all(self._cells.points, np.arange(len(self._lists)))
        self.n_probes_, self.recall_ = len(self._cells.centers), 1.0

    def _nearest_of_all(self, queries: np.ndarray, without: np.ndarray) -> np.ndarray:
        width = min(self._width, len(self._lists))
        starts = range(0, len(queries), _AT_ONCE)
        return np.concatenate([
            self._cells.nearest(queries[a : a + _AT_ONCE], without[a : a + _AT_ONCE], width)
            for a in in_parts("neighbors: all cells", starts)
        ])  # fmt: skip

    def _others(self, X: np.ndarray, rows: np.ndarray | None, k: int) -> np.ndarray:
        if rows is not None:  # lists know more than k
            k = min(k, int((self._lists != _compiled.neighbor_lists.NONE).all(axis=0).sum()))
        order = self._cells.order  # lists are in the order of the cells
        found = np.empty((len(order), k), dtype=np.int64)
        found[order] = order[numbers_of(self._lists[:, :k])]
        return found if rows is None else found[rows]

    def _nearest(self, X: np.ndarray, k: int) -> np.ndarray:
        if self.n_probes_ == len(self._cells.centers) > self._cells.n_around:
            queries = padded(self._single(X))
            found = self._nearest_of_all(queries, np.full(len(X), -1))
            return self._cells.order[numbers_of(found[:, :k])]
        if self._walk_width == 0:  # the first new points: how long have their lists to be?
            self._pools = self._made_pools(_MOST_POOLED)
            self._choose_walk()
        queries, cell_of = self._cells.located(self._single(X))
        found = self._walked(queries, cell_of, np.full(len(X), -1), self._walk_width)
        return self._cells.order[numbers_of(found[:, :k])]

    def _walked(
        self, queries: np.ndarray, cell_of: np.ndarray, without: np.ndarray, width: int
    ) -> np.ndarray:
        """Find the nearest points: first in near cells, then from neighbour to neighbour."""
        lists = empty_lists(len(queries), min(width, len(self._lists)))
        self._cells.probe(queries, cell_of, without, lists, n_probes=self.n_probes_)
        _compiled.neighbor_lists.ask_pools(
            queries, without, self._cells.points, *self._pools, lists
        )
        return lists

    def _choose_walk(self) -> None:
        """Lengthen the lists until the sample, treated as new points, finds its neighbours."""
        width, sample = self._width, self._walk_sample
        queries, cell_of = self._cells.points[sample.points], self._cells.cell_of[sample.points]
        while width < _LONGEST_WALK * self._width:
            found = self._walked(queries, cell_of, sample.points, width)
            if sample.share_within(found) >= _AIMED_RECALL_OF_NEW:
                break
            width *= 2
        self._walk_width = width


@dataclass
class _Sample:
    """Indices of points, and the squared distance of each to its true k-th neighbour."""

    points: np.ndarray
    reach: np.ndarray
    k: int

    def share_within(self, lists: np.ndarray) -> float:
        """Share of the k first entries of their lists that are within the reach."""
        if self.reach.size == 0:
            return 1.0
        return float((distances_of(lists[:, : self.k]) <= self.reach * (1 + 1e-5)).mean())


def quantized(points: np.ndarray) -> tuple[np.ndarray, np.float32]:
    """Return 8-bit codes (n, d) and a step: points = step codes, up to rounding and clipping.

    The codes take a quarter of the memory, and show of most candidates that they are too far.
    """
    sample = np.abs(points[:: 1 + len(points) // _QUANTIZED_SAMPLE])
    largest = np.quantile(sample, 1 - _CLIPPED) or sample.max() or 1
    step = np.float32(largest / _LARGEST_CODE)
    codes = np.empty(points.shape, dtype=np.int8)
    for start in range(0, len(points), 2**16):
        rows = slice(start, start + 2**16)
        codes[rows] = np.rint(np.clip(points[rows], -largest, largest) / step)
    return codes, step


def search_cost(size: Size) -> Cost:
    """Return what a search costs: cells, lists and pools are kept; copies, codes, pools are not.

    Among many features most are noise, and lists grow.
    """
    n, p, k = size.points, size.features, size.neighbors
    is_hard = p >= _HARD_FEATURES
    padded, width = p + -p % 8, k + (3 * _LONGER if is_hard else _MORE_NEIGHBORS)
    of_a_cell = 8 * padded + 4 * N_AROUND
    cells = n * (4 * (padded + p) + 8) + of_a_cell * (2 * n // LEAF_POINTS)
    pools = 6 * n * min(width, _MOST_OF_LONG if is_hard else _MOST_POOLED)
    kept = cells + n * (8 * width + 4) + pools
    return Cost(kept + 9 * n * p + pools, kept, _SECONDS * n * p * size.millions**0.4)
