"""NN-descent in cells: near cells first, then neighbours of neighbours.

Points are sorted into small cells, and each point looks into those nearest to it. Where that does
not find enough, rounds of refinement compare the neighbours of each point with one another, in both
directions of an edge.

Source: W. Dong, C. Moses and K. Li 2011, section 2 (local joins: section 2.3).
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
    N_AROUND_MANY,
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
# Cells around that of a point that are probed: the fewest with which a sample reaches the aim.
_N_PROBES, _N_PROBES_MANY = (6, 8, 12, 16, 24, 32), (6, 8, 12, 16, 24, 32, 48)
_LEAST_GAIN = 0.15  # share of the missing neighbours below which a round stalls
_MORE_NEIGHBORS = 4  # lists longer than the result find more
# Recall that is aimed at, and below which the search goes on. Maps of 10,000 to 110,000 points
# hardly change down to 0.95, but at 0.9 some lose 0.2 to 1.3 points (experiments.scaling.recalls).
_AIMED_RECALL, _LEAST_RECALL = 0.96, 0.955
_AIMED_RECALL_OF_NEW = 0.985
_PROBED_RECALL = 0.98  # at which fewer cells are probed: more take little time
_HARD_RECALL, _MORE_HARD_NEIGHBORS = 0.8, 12  # and still longer ones, where probes find few
_MOST_EXACT = 2**18  # points that are all compared where nothing else helps: some minutes
_LONGER, _LONGEST = 12, 96  # by which they grow where rounds stall, and the most
_POOLED, _POOLED_WHERE_HARD, _MOST_POOLED = 16, 20, 48  # entries of a list that a round uses
_JOINED, _WALKED = 3.0, 1.5  # times these are in a pool: the others have the point among theirs
_MOST_FOUND = 2**22  # entries that are found before they are entered: room of 50 MB
_LONGEST_WALK = 16
_AT_ONCE = 8192  # points that look into all cells, between two notes of progress
_HARD_FEATURES = 40  # from which lists are expected to grow
_SECONDS = 1.6e-6  # of a point's feature, among a million points


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

    @property
    def order(self) -> np.ndarray | None:
        """The indexed points by their cells, (n,); None where some stand for others."""
        return self._cells.order if len(self._searched) == len(self._X) else None

    def _index(self, X: np.ndarray) -> None:
        random = check_seed(self.random_state)
        self._single = SinglePrecision(X)
        self._width = self.n_neighbors + _MORE_NEIGHBORS
        self._cells = CellTree.of(self._single(X), random)
        self._lists: np.ndarray  # of the points in the order of their cells
        self.n_rounds_, self._n_pooled = 0, _POOLED
        self._walk_width = 0  # chosen when the first new points come
        self._search(random)
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
        n = len(self._cells.points)
        k = min(self.n_neighbors, n - 1)
        # one half says when to stop; the other, which had no say, what was reached
        chosen = random.permutation(n)[:512]
        choosing, reporting = (
            self._sample(part, k)
            for part in (chosen[: len(chosen) // 2], chosen[len(chosen) // 2 :])
        )
        self._probe(choosing)
        # where cells alone find few, neighbours of neighbours do too: give them longer lists
        if self._recall(choosing) < _HARD_RECALL:
            self._lengthen(self.n_neighbors + _MORE_HARD_NEIGHBORS)
            self._n_pooled = _POOLED_WHERE_HARD
        self._refine_until(_AIMED_RECALL, choosing)
        self.recall_ = self._refine_until(_LEAST_RECALL, reporting)
        self._walk_sample = choosing

    def _sample(self, points: np.ndarray, k: int) -> _Sample:
        points = np.sort(points)
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
                self._n_pooled = min(self._width, _MOST_POOLED)
            self._refine()
            reached = self._recall(sample)
            stalls = not stalls and reached - before < _LEAST_GAIN * (1 - before)
        return reached

    def _probe(self, sample: _Sample) -> None:
        """Look into the nearest cells of each point, as many as a sample of them needs."""
        cells = self._cells
        for n_probes in _N_PROBES_MANY if cells.n_around > N_AROUND else _N_PROBES:
            self.n_probes_ = min(n_probes, cells.n_around)
            if sample.share_within(self._probed(sample.points)) >= _PROBED_RECALL:
                break
        self._lists = self._probed(slice(None))

    def _probed(self, some: np.ndarray | slice) -> np.ndarray:
        """Return the lists of some points after a look into their nearest cells."""
        cells, numbers = self._cells, np.arange(len(self._cells.points))[some]
        lists = empty_lists(len(numbers), min(self._width, len(cells.points) - 1))
        cells.probe(
            cells.points[some], cells.cell_of[some], numbers, lists, n_probes=self.n_probes_
        )
        return lists

    def _refine(self) -> None:
        # a pool is B(v) of Dong et al.: the nearest of v, and points whose nearest v is
        pools, sizes = self._made_pools(self._n_pooled, _JOINED)
        # room for all pairs of 32 pools a row, of which hardly any is filled
        of_a_row = 32 * pools.shape[1] * (pools.shape[1] + 1)
        shape = max(1, min(32, _MOST_FOUND // of_a_row)), of_a_row
        found = np.empty(shape[0], np.int64), np.empty(shape, np.int32), np.empty(shape, np.uint64)
        loops, points, p = _compiled.neighbor_lists, self._cells.points, self._cells.n_features
        for first in range(0, len(pools), 32 * shape[0]):
            loops.join(points, p, pools, sizes, self._lists, first, *found)
            loops.enter_found(self._lists, *found)
        self.n_rounds_ += 1

    def _made_pools(self, n_pooled: int, size: float) -> tuple[np.ndarray, np.ndarray]:
        n, width = self._lists.shape
        n_nearest = min(width, n_pooled)
        pools = np.empty((n, int(size * n_nearest)), dtype=np.int32)
        sizes = np.empty(n, dtype=np.int32)
        _compiled.neighbor_lists.make_pools(self._lists, n_nearest, pools, sizes)
        _compiled.neighbor_lists.make_old(self._lists, n_nearest)
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
            self._pools = self._made_pools(_MOST_POOLED, _WALKED)
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


def search_cost(size: Size) -> Cost:
    """Return what a search costs: cells, lists and pools are kept; copies and rounds are not.

    Among many features most are noise, and lists grow.
    """
    n, p, k = size.points, size.features, size.neighbors
    is_hard = p >= _HARD_FEATURES
    padded, width = p + -p % 8, k + (3 * _LONGER if is_hard else _MORE_NEIGHBORS)
    of_a_cell = 8 * padded + 4 * N_AROUND_MANY
    cells = n * (4 * (padded + p) + 8) + of_a_cell * (2 * n // LEAF_POINTS)
    pooled = 4 * n * (min(width, _MOST_POOLED) if is_hard else _POOLED)
    kept = cells + n * (8 * width + 4) + _WALKED * pooled
    return Cost(kept + 8 * n * p + _JOINED * pooled, kept, _SECONDS * n * p * size.millions**0.4)
