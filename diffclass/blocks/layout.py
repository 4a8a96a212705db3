"""Where the points of sorted slices lie in the blocks.

A bin of cells is a block. A bin with more points than 1.5 blocks, because the sample misjudged it
or because it holds fillers, is cut into several. The places of a bin are consecutive, so a point's
place is its position in its slice plus a shift that slice and bin have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_LARGEST_BLOCK = 1.5  # times the points of a block


@dataclass(frozen=True, eq=False)
class Layout:
    """Which parts of the slices make up which blocks.

    Attributes
    ----------
    starts : tuple of int of length n_blocks + 1
        Place of the first point of each block; the last is n.
    bin_of : tuple of int of length n_blocks
        Bin of each block.
    bounds : ndarray of int of shape (n_slices, n_bins + 2)
        Positions in its slice at which the bins begin, that of fillers last, and its length.
    shift : ndarray of int of shape (n_slices, n_bins + 1)
        Place minus position of the points of each slice and bin.
    """

    starts: tuple[int, ...]
    bin_of: tuple[int, ...]
    bounds: np.ndarray
    shift: np.ndarray

    @classmethod
    def of_slices(cls, bounds: np.ndarray, block_points: int) -> Layout:
        """Cut the bins into blocks.

        Parameters
        ----------
        bounds : ndarray
            As the attribute.
        block_points : int
            About so many points per block.
        """
        counts = np.diff(bounds, axis=1)
        sizes = counts.sum(axis=0)
        bin_starts = np.cumsum(np.append(0, sizes))
        starts, bin_of = [0], []
        for i, (start, size) in enumerate(zip(bin_starts, sizes, strict=False)):
            fits = size <= _LARGEST_BLOCK * block_points
            n_parts = int(size > 0) if fits else -(-int(size) // block_points)
            starts += [int(start + size * (part + 1) // n_parts) for part in range(n_parts)]
            bin_of += [i] * n_parts
        earlier = np.cumsum(counts, axis=0) - counts
        shift = bin_starts[:-1] + earlier - bounds[:, :-1]
        return cls(tuple(starts), tuple(bin_of), bounds, shift)

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return len(self.bin_of)

    def parts(self, b: int) -> list[tuple[int, slice]]:
        """Return the slices that have points in a block, and the positions of these."""
        i, parts = self.bin_of[b], []
        for s, shift in enumerate(self.shift[:, i]):
            start = max(self.starts[b] - shift, self.bounds[s, i])
            stop = min(self.starts[b + 1] - shift, self.bounds[s, i + 1])
            if start < stop:
                parts.append((s, slice(int(start), int(stop))))
        return parts

    def places(self, s: int, positions: np.ndarray) -> np.ndarray:
        """Return the places of some positions in a slice."""
        bins = np.searchsorted(self.bounds[s], positions, side="right") - 1
        return positions + self.shift[s, bins]  # of empty bins and the next one, the last counts
