"""Cells: regions of near points, and bins of cells that hold about as many points as a block.

k-means on a sample gives many small cells; each point belongs to the nearest centre. Halving the
cells again and again, across their longest extent, gives bins of near cells with equal numbers of
points. A point is a *guest* in another bin if it is so near to one of its cells that neighbours of
its may lie there. With c its own centre and c' the other, the measure is its distance to the plane
halfway between them, the *gap*

    g = (|x - c'|^2 - |x - c|^2) / (2 |c - c'|) / |c - c'|^r,

the least over the cells of the bin, 0 for its own bin. x and y are searched together if both have a
gap of at most ``reach`` to one and the same bin. The reach is the least with which 98 % of the
true neighbours of sampled points are: the searches find 96 to 98 % of them. r is 0, 1/2 or 1,
whichever then needs the fewest guests: 0 where neighbours are equally far everywhere, as noise
makes them, and 1 where cells and distances to neighbours grow together.

Of scenes with 20 features in 8 blocks, each point was a guest of 0.5 blocks on average with r = 0
and of 0.7 with r = 1; with half of the points in a dense cluster of 1.6 and 0.4. Ratios of
distances need 1.2 and ranks of the cells 1.7 times as many guests as r = 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from diffclass import _compiled
from diffclass.blocks.scratch import Scratch
from diffclass.neighbors.cells import padded
from diffclass.neighbors.search import row_hashes

_CELLS_PER_BIN, _SAMPLE_PER_CELL, _LEAST_SAMPLE = 16, 128, 16_384
_LARGEST_CELL = 0.25  # of a bin
_SPLITTING_ROUNDS, _ROUNDS = 6, 10
_CELLS_AROUND = 32  # of each cell: in 20 dimensions 32 leave out bins within reach
_CHUNK_VALUES = 2**22  # of points, or of gaps
# Equal points that would take so much of a block are fillers: they get blocks of their own.
_FILLING_SHARE, _FILLING_SAMPLES = 0.125, 16
_POWERS = (0.0, 0.5, 1.0)
_TOGETHER = 0.98  # aimed share of true neighbours that are searched together


@dataclass(frozen=True, eq=False)
class Cells:
    """Centres of cells, and the bins to which they belong.

    Attributes
    ----------
    offset : ndarray of float32 of shape (p,)
        Subtracted from points, so that differences keep their digits.
    centers : ndarray of float32 of shape (n_cells, p)
        In the order of their bins.
    bins : ndarray of int64 of shape (n_cells,)
        Bin of each cell, ascending.
    fillers : ndarray of uint64 of shape (n_fillers,)
        Hashes of points with so many duplicates that they fill blocks, such as pixels without data;
        ascending.
    power : float
        The power r of the gaps.
    reach : float
        Largest gap of a guest.
    """

    offset: np.ndarray
    centers: np.ndarray
    bins: np.ndarray
    fillers: np.ndarray
    power: float = 0.0
    reach: float = 0.0

    @classmethod
    def of_sample(cls, sample: np.ndarray, n_points: int, block_points: int, *, seed: int) -> Cells:
        """Cut space into cells, and group them; the reach is still 0.

        Parameters
        ----------
        sample : ndarray of float32 of shape (m, p)
            Some of the points, or all.
        n_points, block_points : int
            Number of all points, and about how many a bin is to hold.
        seed : int
            Seeds k-means.
        """
        distinct, fillers, filling = _without_fillers(sample, n_points, block_points)
        offset = np.median(distinct, axis=0)  # far points do not move it
        centered = distinct - offset
        n_bins = max(1, math.ceil(n_points * (1 - filling) / block_points))
        if n_bins == 1:
            return cls(offset, np.zeros_like(centered[:1]), np.zeros(1, dtype=int), fillers)
        n_cells = max(1, min(_CELLS_PER_BIN * n_bins, len(centered) // 2))
        centers, weights = _balanced_cells(centered, n_cells, n_bins, seed)
        bins = _bins(centers, weights, min(n_bins, len(centers)))
        order = np.argsort(bins, kind="stable")
        return cls(offset, centers[order], bins[order], fillers)

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
            own = _nearest(centered, centers)
            gaps = np.empty((len(own), self.n_bins), dtype=np.float32)
            _compiled.bins.gaps_to_bins(centered, centers, self.bins, own, around, scales, gaps)
            yield rows, own, gaps

    def gaps_of(self, points: np.ndarray) -> np.ndarray:
        """Return the gaps of few points, of shape (m, n_bins)."""
        return np.concatenate([gaps for _, _, gaps in self.gaps(points)])

    def _cells_around(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the nearest other cells of each cell, and what differences are divided by."""
        import faiss

        k = min(_CELLS_AROUND, len(self.centers) - 1)
        squared, around = faiss.knn(self.centers, self.centers, k + 1)
        is_other = around != np.arange(len(around))[:, None]
        is_other[is_other.all(axis=1), -1] = False  # equal centres: one of them is taken for itself
        around, squared = (part[is_other].reshape(len(part), k) for part in (around, squared))
        return around, 2 * np.maximum(squared, 1e-30) ** ((1 + self.power) / 2)

    def with_reach(self, points: np.ndarray, neighbors: np.ndarray) -> tuple[Cells, float]:
        """Choose the power and the reach by sampled points.

        Parameters
        ----------
        points : ndarray of shape (m, p)
        neighbors : ndarray of shape (m, k, p)
            The true neighbours of each point.

        Returns
        -------
        cells : Cells
        share : float
            Share of these neighbours that are searched together with their points.
        """
        tried = [replace(self, power=power)._reaching(points, neighbors) for power in _POWERS]
        cells, share, _ = min(tried, key=lambda found: found[2])
        return cells, share

    def _reaching(self, points: np.ndarray, neighbors: np.ndarray) -> tuple[Cells, float, int]:
        """Return the cells with their reach, the share searched together, and the guests."""
        own = self.gaps_of(points)
        needed = np.concatenate(
            [np.maximum(own, self.gaps_of(near)).min(axis=1) for near in neighbors.swapaxes(0, 1)]
        )
        needed.sort()
        reach = needed[int(np.ceil(_TOGETHER * len(needed))) - 1]
        if not np.isfinite(reach):  # not among the nearest cells: all that are
            reach = needed[np.isfinite(needed)].max(initial=0)
        share = float(np.mean(needed <= reach))
        return replace(self, reach=float(reach)), share, int(np.count_nonzero(own <= reach))

    def is_filler(self, hashes: np.ndarray) -> np.ndarray:
        """Return which points are fillers, by their hashes."""
        return np.isin(hashes, self.fillers)

    def save(self, scratch: Scratch) -> None:
        """Write the cells."""
        for part, value in vars(self).items():
            scratch.save(f"cells/{part}", np.asarray(value))

    @classmethod
    def load(cls, scratch: Scratch) -> Cells:
        """Read the cells."""
        offset, centers, bins, fillers, power, reach = (
            np.array(scratch.load(f"cells/{part}"))
            for part in ("offset", "centers", "bins", "fillers", "power", "reach")
        )
        return cls(offset, centers, bins, fillers, float(power), float(reach))


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


def _balanced_cells(
    points: np.ndarray, n_cells: int, n_bins: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the centres of cells of which none holds much of a bin, and their sampled points."""
    centers, labels = _k_means(points, n_cells, seed)
    largest = _LARGEST_CELL * len(points) / n_bins
    for _ in range(_SPLITTING_ROUNDS):
        weights = np.bincount(labels, minlength=len(centers))
        large = np.flatnonzero(weights > max(largest, 4))
        if len(large) == 0:
            break
        kept = np.delete(centers, large, axis=0)
        parts = [
            _k_means(points[labels == cell], int(2 * weights[cell] / largest), seed)[0]
            for cell in large
        ]
        centers = np.concatenate([kept, *parts])
        labels = _nearest(points, centers)
    return centers, np.bincount(labels, minlength=len(centers))


def _k_means(points: np.ndarray, n_cells: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    import faiss

    n_cells = max(1, min(n_cells, len(points) // 2))
    trained = faiss.Kmeans(
        points.shape[1], n_cells, niter=_ROUNDS, seed=seed,
        min_points_per_centroid=1, max_points_per_centroid=len(points),
    )  # fmt: skip
    trained.train(np.ascontiguousarray(points))
    centers = np.asarray(trained.centroids)
    return centers, _nearest(points, centers)


def _nearest(points: np.ndarray, centers: np.ndarray) -> np.ndarray:
    import faiss

    return faiss.knn(points, centers, 1)[1].ravel()


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
        extent = np.linalg.svd(around * np.sqrt(sizes)[:, None], full_matrices=False)[2][0]
        cells = cells[np.argsort(around @ extent, kind="stable")]
        filled = np.cumsum(np.maximum(weights[cells], 1))
        cut = int(np.argmin(np.abs(filled - filled[-1] * (n // 2) / n))) + 1
        cut = min(max(cut, n // 2), len(cells) - (n - n // 2))  # a cell for each bin
        pending += [(cells[:cut], first, n // 2), (cells[cut:], first + n // 2, n - n // 2)]
    return bins
