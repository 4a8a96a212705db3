"""Cells: regions of near points, and bins of cells that hold about as many points as a block.

A tree over a sample gives many small cells (`diffclass.neighbors.cell_tree`); each point belongs to
the nearest centre. Halving the cells again and again, across their longest extent, gives bins of
near cells with equal numbers of points. A point is in the *overlap* of another bin if it is so near
to one of that bin's cells that some of its neighbours may lie there. With c its own centre and c'
the other, the measure is its distance to the plane halfway between them in units of s_c, how far
apart neighbours are in its cell, the *gap*

    g = (|x - c'|^2 - |x - c|^2) / (2 |c - c'|) / s_c,

the least over the cells of the bin, 0 for its own bin. x and y are searched together if both have a
gap of at most ``reach`` to one and the same bin. A neighbour beyond the plane is farther than the
plane is: with s_c the distance to the farthest neighbour a reach of 1 loses none, and 1/2 where
neighbours are equally far on both sides, as one of the two is nearer to the plane than that.

Where few points lie at the borders of blocks (few dimensions, large blocks) so far a reach costs
next to nothing; where many do, it need not be so far, as planes lie athwart. So the reach is the
largest up to 1 that keeps the overlap small, and at least the one with which 99 % of the *crossing*
pairs, sampled points and their true neighbours in other bins, are searched together. A quantile of
all pairs would be 0 where blocks are so large that hardly any cross.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import numpy as np

from diffclass import _compiled
from diffclass.blocks.scratch import Scratch
from diffclass.neighbors.cell_tree import CellTree, nearest_points, padded
from diffclass.neighbors.nodes import row_hashes
from diffclass.neighbors.search import row_distances

_CELLS_PER_BIN, _SAMPLE_PER_CELL, _LEAST_SAMPLE = 16, 128, 16_384
_CELLS_AROUND = 32  # of each cell: in 20 dimensions 32 leave out bins within reach
_CHUNK_VALUES = 2**22  # of points, or of gaps
# Equal points that would take so much of a block are fillers: they get blocks of their own.
_FILLING_SHARE, _FILLING_SAMPLES = 0.125, 16
_TOGETHER = 0.99  # aimed share of true neighbours in other bins that are searched together
_SMALL_OVERLAP = 0.2  # per point
_QUERIES_PER_CELL, _LEAST_QUERIES, _MOST_QUERIES = 4, 1024, 4096


@dataclass(frozen=True, eq=False)
class CellBins:
    """Centres of cells, and the bins to which they belong."""

    offset: np.ndarray  # (p,), subtracted from points, so that differences keep their digits
    centers: np.ndarray  # (n_cells, p), in the order of their bins
    bins: np.ndarray  # (n_cells,), bin of each cell, ascending
    # hashes of points with so many duplicates that they fill blocks, such as pixels without data
    fillers: np.ndarray
    # (n_cells,), how far apart neighbours are in each cell: the unit of gaps from there
    spacing: np.ndarray
    reach: float = 0.0  # largest gap of an overlap point

    @classmethod
    def of_sample(
        cls,
        sample: np.ndarray,
        n_points: int,
        block_points: int,
        random: np.random.RandomState,
    ) -> CellBins:
        """Cut space into cells by a sample (m, p), and group them; the reach is still 0.

        A bin is to hold about ``block_points`` of all ``n_points``.
        """
        distinct, fillers, filling = _without_fillers(sample, n_points, block_points)
        offset = np.median(distinct, axis=0)  # far points do not move it
        centered = distinct - offset
        n_bins = max(1, math.ceil(n_points * (1 - filling) / block_points))
        if n_bins == 1:
            center = np.zeros_like(centered[:1])
            return cls(offset, center, np.zeros(1, dtype=int), fillers, np.ones_like(center[:, 0]))
        n_cells = max(1, min(_CELLS_PER_BIN * n_bins, len(centered) // 2))
        centers, weights = _cells(centered, n_cells, random)
        bins = _bins(centers, weights, min(n_bins, len(centers)))
        order = np.argsort(bins, kind="stable")
        return cls(offset, centers[order], bins[order], fillers, np.ones_like(centers[:, 0]))

    @property
    def n_bins(self) -> int:
        """Number of bins, that of fillers not counted."""
        return int(self.bins[-1]) + 1

    def gaps(self, points: np.ndarray) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Yield chunks of the points: which, the cell of each, and its gaps (m, n_bins)."""
        (around, scales), centers = self._cells_around(), padded(self.centers)
        size = max(256, _CHUNK_VALUES // max(self.n_bins, points.shape[1]))
        for start in range(0, len(points), size):
            rows = slice(start, min(start + size, len(points)))
            centered = padded(points[rows] - self.offset)
            own = _nearest(centered, centers, n_features=points.shape[1])
            gaps = np.empty((len(own), self.n_bins), dtype=np.float32)
            _compiled.cell_tree.gaps_to_bins(
                centered, centers, self.bins, own, around, scales, gaps
            )
            yield rows, own, gaps

    def gaps_of(self, points: np.ndarray) -> np.ndarray:
        """Return the gaps of few points, of shape (m, n_bins)."""
        return np.concatenate([gaps for _, _, gaps in self.gaps(points)])

    def _cells_around(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the nearest other cells of each cell, and what differences are divided by."""
        k = min(_CELLS_AROUND, len(self.centers) - 1)
        around, squared = nearest_points(self.centers, self.centers, k + 1)
        # each list begins with the cell itself, which is left out
        is_other = around != np.arange(len(around))[:, None]
        is_other[is_other.all(axis=1), -1] = False  # equal centres: one of them is taken for itself
        around, squared = (part[is_other].reshape(len(part), k) for part in (around, squared))
        return around, 2 * np.sqrt(np.maximum(squared, 1e-30)) * self.spacing[:, None]

    def queries(self, sample: np.ndarray, random: np.random.RandomState) -> np.ndarray:
        """Choose points for `with_reach`: as many of each cell, as far as there are."""
        size = min(max(_LEAST_QUERIES, _QUERIES_PER_CELL * len(self.centers)), _MOST_QUERIES)
        shuffled = random.permutation(len(sample))
        own = self._cell_of(sample)[shuffled]
        # By their rank within their cell, all first ones come before all second ones: every cell is
        # measured, dense or not.
        by_cell = np.argsort(own, kind="stable")
        rank = np.arange(len(own)) - np.searchsorted(own[by_cell], own[by_cell])
        return sample[shuffled[by_cell[np.argsort(rank, kind="stable")[:size]]]]

    def with_reach(self, points: np.ndarray, neighbors: np.ndarray) -> CellBins:
        """Measure the spacing of the cells and choose the reach.

        ``points`` (m, p) are as `queries` chooses them. ``neighbors`` (m, k, p) are the true ones
        of each, the point itself where there are fewer.
        """
        own = self._cell_of(points)
        cells = replace(self, spacing=self._measured_spacing(points, neighbors, own))
        gaps = cells.gaps_of(points)
        crossing = [np.zeros(0, dtype=np.float32)]
        for near in neighbors.swapaxes(0, 1):
            crosses = np.flatnonzero(self.bins[self._cell_of(near)] != self.bins[own])
            if len(crosses):
                # A pair is searched together in a bin that both are near enough to: the larger of
                # the two gaps, in the bin where that is least.
                both = np.maximum(gaps[crosses], cells.gaps_of(near[crosses]))
                crossing.append(both.min(axis=1))
        needed = _quantile(np.concatenate(crossing), _TOGETHER)
        # gaps of all points to all bins but their own: so far a reach costs next to nothing
        others = np.sort(gaps[np.arange(self.n_bins) != self.bins[own][:, None]])
        cheap = others[min(int(_SMALL_OVERLAP * len(points)), len(others) - 1)]
        return replace(cells, reach=max(needed, float(min(cheap, 1))))

    def _measured_spacing(
        self, points: np.ndarray, neighbors: np.ndarray, own: np.ndarray
    ) -> np.ndarray:
        """Return the largest distance to a neighbour in each cell, or in the nearest with one."""
        farthest = np.sqrt(row_distances(points, neighbors).max(axis=1))
        spacing = np.zeros(len(self.centers), dtype=np.float32)
        np.maximum.at(spacing, own, farthest)
        known = np.flatnonzero(spacing)
        if len(known) == 0:
            return np.ones_like(spacing)
        return spacing[known[_nearest(self.centers, self.centers[known])]]

    def _cell_of(self, points: np.ndarray) -> np.ndarray:
        return _nearest(np.ascontiguousarray(points - self.offset), self.centers)

    def is_filler(self, hashes: np.ndarray) -> np.ndarray:
        """Return which points are fillers, by their hashes."""
        return np.isin(hashes, self.fillers)

    def save(self, scratch: Scratch) -> None:
        """Write the cells."""
        for part, value in vars(self).items():
            scratch.save(f"cells/{part}", np.asarray(value))

    @classmethod
    def load(cls, scratch: Scratch) -> CellBins:
        """Read the cells."""
        parts = (np.array(scratch.load(f"cells/{part.name}")) for part in fields(cls))
        offset, centers, bins, fillers, spacing, reach = parts
        return cls(offset, centers, bins, fillers, spacing, float(reach))


def _quantile(values: np.ndarray, share: float) -> float:
    """Return the least value that so many are no larger than; of infinite ones the last before."""
    values = np.sort(values)
    if len(values) == 0:
        return 0.0
    found = values[int(np.ceil(share * len(values))) - 1]
    return float(found if np.isfinite(found) else values[np.isfinite(values)].max(initial=0))


def sample_size(n_points: int, block_points: int) -> int:
    """Return how many points are sampled for the cells."""
    n_cells = _CELLS_PER_BIN * -(-n_points // block_points)
    return min(n_points, max(_LEAST_SAMPLE, _SAMPLE_PER_CELL * n_cells))


def _without_fillers(
    sample: np.ndarray, n_points: int, block_points: int
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the other points of the sample, the hashes of fillers, and the share they fill."""
    hashes = row_hashes(sample)
    values, first, counts = np.unique(hashes, return_index=True, return_counts=True)
    share = counts / len(sample)
    fills = (share * n_points > _FILLING_SHARE * block_points) & (counts >= _FILLING_SAMPLES)
    fills &= n_points > block_points
    keep = ~np.isin(hashes, values[fills])
    keep[first[fills]] = True
    return sample[keep], values[fills], float(share[fills].sum())


def _cells(
    points: np.ndarray, n_cells: int, random: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Return the centres of cells, and how many of the points each has."""
    n_features = points.shape[1]
    found = CellTree.of(points, random, leaf_points=max(2, len(points) // n_cells))
    centers = np.ascontiguousarray(found.centers[:, :n_features])
    return centers, np.bincount(found.cell_of, minlength=len(centers))


def _nearest(
    points: np.ndarray, centers: np.ndarray, *, n_features: int | None = None
) -> np.ndarray:
    return nearest_points(points, centers, 1, n_features=n_features)[0].ravel()


def _bins(centers: np.ndarray, weights: np.ndarray, n_bins: int) -> np.ndarray:
    """Group cells: halve them, by weight, across the longest extent of their centres."""
    bins = np.zeros(len(centers), dtype=np.int64)
    pending = [(np.arange(len(centers)), 0, n_bins)]
    while pending:
        cells, first, n = pending.pop()
        bins[cells] = first
        if n == 1:
            continue
        sizes = np.maximum(weights[cells], 1)
        around = centers[cells] - np.average(centers[cells], axis=0, weights=sizes)
        # the first right singular vector is the direction of the largest weighted variance
        extent = np.linalg.svd(around * np.sqrt(sizes)[:, None], full_matrices=False)[2][0]
        cells = cells[np.argsort(around @ extent, kind="stable")]
        # n // 2 of n bins go to one side, so that all of them end with about equally many points
        filled = np.cumsum(np.maximum(weights[cells], 1))
        cut = int(np.argmin(np.abs(filled - filled[-1] * (n // 2) / n))) + 1
        cut = min(max(cut, n // 2), len(cells) - (n - n // 2))  # a cell for each bin
        pending += [(cells[:cut], first, n // 2), (cells[cut:], first + n // 2, n - n // 2)]
    return bins
