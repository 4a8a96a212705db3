"""From a file of points to blocks of near points: the file is read by slices, twice.

    true neighbours of sampled points      to choose which points overlap, see `cell_bins`
    cell, overlap and hash of each point    each slice is sorted by bin, and written
    blocks                                 the parts of a bin in all slices, next to one another

Every task writes files of its own, so that several machines never write into one.

A bin of cells is a block. A bin with more points than 1.5 blocks, because the sample misjudged it
or because it holds fillers, is cut into several. The places of a bin are consecutive, so a point's
place is its position in its slice plus a shift that slice and bin have.

*Duplicates* must not form islands. As in one process (`diffclass.neighbors.Search`), of more equal
points than a point has neighbours only one is searched, its *representative*; the others are joined
to it and to its neighbours. Where such points lie in several blocks, each block has a
representative of its own: the first one of the first block is searched, those of the other blocks
are joined to it, and the points of these blocks to theirs alone, so that no row grows longer than
the first block is.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.blocks.arrays import BlockArrays, place_dtype
from diffclass.blocks.cell_bins import CellBins, sample_size
from diffclass.blocks.engine import Engine
from diffclass.blocks.plan import MOST_OVERLAP
from diffclass.blocks.scratch import Scratch
from diffclass.exceptions import DataError
from diffclass.neighbors.cell_tree import nearest_points
from diffclass.neighbors.nodes import row_hashes
from diffclass.neighbors.number_range import check_spread

_BORDER_QUERIES = 1024  # points near borders by which the edges between blocks are measured
_LARGEST_BLOCK = 1.5  # times the points of a block
_AT_ONCE = 4_194_304  # hashes


def check_file(points: Path) -> tuple[int, int]:
    """Return the shape (n, p) of a ``.npy`` file of float32; `DataError` for others."""
    try:
        array = np.load(points, mmap_mode="r")
    except (OSError, ValueError) as error:
        raise DataError(
            f"{points} cannot be read as a .npy file ({error}); workers of other machines have to "
            "see it under the same path"
        ) from None
    if array.ndim != 2 or 0 in array.shape or array.dtype != np.float32:
        raise DataError(
            f"{points} holds {array.dtype} of shape {array.shape}; "
            "points are a table (points, features) of float32"
        )
    return array.shape


def make_blocks(
    scratch: Scratch,
    engine: Engine,
    points: Path,
    *,
    n_neighbors: int,
    block_points: int,
    seed: int,
) -> dict[str, Any]:
    """Sort the points of a file into blocks; return starts, n_overlap and n_searched.

    It writes "cells/order", the point of each place, and for each block b "cells/points.b",
    "cells/overlap.b" and "cells/border.b" (places of overlap points, and of some points that may
    have neighbours in other blocks, ascending) and "cells/representatives.b".
    """
    n, _ = check_file(points)
    slices = BlockArrays(scratch, _even_slices(n, block_points))
    _make_cells(slices, engine, points, n_neighbors, block_points, seed)
    bounds = slices.on_each(engine, "cells: sorting", sort_slice, points)
    layout = Layout.of_slices(np.array(bounds), block_points)
    scratch.save("cells/frequent", frequent_hashes(slices, n_neighbors))
    arrays = BlockArrays(scratch, layout.starts)
    found = arrays.on_each(engine, "cells: blocks", gather_block, layout)
    n_secondary = link_blocks(arrays)
    scratch.save("cells/order", arrays.all("cells/order"))
    arrays.drop("cells/order")
    parts = ("points", "order", "hashes", "least", "overlap", "gaps", "overlap_bounds")
    slices.drop(*(f"cells/slice.{part}" for part in parts))
    return {
        "starts": list(layout.starts),
        "n_overlap": sum(block["n_overlap"] for block in found),
        "n_searched": n - n_secondary - sum(block["n_joined"] for block in found),
    }


def _even_slices(n: int, slice_points: int) -> tuple[int, ...]:
    n_slices = -(-n // slice_points)
    return tuple(n * s // n_slices for s in range(n_slices + 1))


def _make_cells(
    slices: BlockArrays,
    engine: Engine,
    points: Path,
    n_neighbors: int,
    block_points: int,
    seed: int,
) -> None:
    """Write the cells."""
    n, random, scratch = len(slices), np.random.RandomState(seed), slices.scratch
    size = sample_size(n, block_points)
    chosen = np.arange(n) if size == n else np.unique(random.randint(n, size=size))
    sample = _read(points, chosen)
    check_spread(sample)
    cells = CellBins.of_sample(sample, n, block_points, random)
    if cells.n_bins > 1:
        # How far blocks have to overlap is measured on true neighbours, which takes one pass over
        # the file: each slice finds the nearest of its own points, and the lists are merged here.
        queries = cells.queries(sample, random)
        scratch.save("cells/queries", queries)
        k = min(n_neighbors, n - 1)
        name = "cells: sampled neighbours"
        slices.on_each(engine, name, find_sampled_neighbors, points, k)
        near = _nearest_of_slices(slices, queries, k)
        cells = cells.with_reach(queries, near)
    cells.save(scratch)


def find_sampled_neighbors(slices: BlockArrays, points: Path, k: int, s: int) -> None:
    """Write the k + 1 points of a slice nearest to each query, their distances and hashes.

    Of equal points one is taken: more than k equal ones would leave no others.
    """
    X = _read(points, slice(*slices.starts[s : s + 2]))
    hashes, first = np.unique(row_hashes(X), return_index=True)
    X = X[first]
    queries = np.array(slices.scratch.load("cells/queries"))
    found, squared = nearest_points(queries, X, k + 1)
    slices.save("cells/found", s, X[found])
    slices.save("cells/squared", s, squared)
    slices.save("cells/found_hashes", s, hashes[found])


def _nearest_of_slices(slices: BlockArrays, queries: np.ndarray, k: int) -> np.ndarray:
    """Return the k nearest other points of each query over all slices; itself where they end."""
    parts = ("squared", "found_hashes", "found")
    squared, hashes = (slices.all(f"cells/{part}", axis=1) for part in parts[:2])
    # A point that is equal to one of an earlier slice, or to the query itself, is no neighbour: the
    # searches leave out duplicates too.
    order = np.argsort(hashes, axis=1, kind="stable")
    sorted_hashes = np.take_along_axis(hashes, order, axis=1)
    again = np.zeros(hashes.shape, dtype=bool)
    np.put_along_axis(again, order[:, 1:], sorted_hashes[:, 1:] == sorted_hashes[:, :-1], 1)
    squared[again | (hashes == row_hashes(queries)[:, None])] = np.inf
    nearest = np.argsort(squared, axis=1, kind="stable")[:, :k]
    exists = np.isfinite(np.take_along_axis(squared, nearest, axis=1))
    out, start = np.repeat(queries[:, None], nearest.shape[1], axis=1), 0
    for s in range(slices.n_blocks):
        found = slices.load("cells/found", s)
        rows, columns = np.nonzero(exists & (nearest >= start) & (nearest < start + found.shape[1]))
        out[rows, columns] = found[rows, nearest[rows, columns] - start]
        start += found.shape[1]
    slices.drop(*(f"cells/{part}" for part in parts))
    return out


def sort_slice(slices: BlockArrays, points: Path, s: int) -> list[int]:
    """Write a slice sorted by bin and cell, with its overlap; return the bounds of the bins.

    Fillers form one more bin. Of equal ones, the first overlaps where they would belong.
    """
    cells = CellBins.load(slices.scratch)
    X = _read(points, slice(*slices.starts[s : s + 2]))
    hashes = row_hashes(X)
    is_filler = cells.is_filler(hashes)
    # Of equal fillers one alone may overlap: it is what they are joined to.
    may_overlap = ~is_filler
    fillers = np.flatnonzero(is_filler)
    may_overlap[fillers[np.unique(hashes[fillers], return_index=True)[1]]] = True
    cell, least = np.empty(len(X), dtype=np.int32), np.empty(len(X), dtype=np.float32)
    overlap = []
    for rows, nearest, gaps in cells.gaps(X):
        cell[rows] = nearest
        # In the overlap are the bins within reach, apart from the home of all that are no fillers.
        near = (gaps <= cells.reach) & may_overlap[rows, None]
        home = np.arange(len(gaps)), cells.bins[nearest]
        near[home] &= is_filler[rows]  # others are at home
        which, bins = np.nonzero(near)
        overlap.append((bins, rows.start + which, gaps[which, bins]))
        gaps[home] = np.inf
        least[rows] = gaps.min(axis=1)
    cell[is_filler] = len(cells.centers)
    # Fillers come last, as one more bin. Within a bin the cells stay together, so that a bin that
    # is cut into several blocks is cut between near points.
    order = np.argsort(cell, kind="stable")
    bins = np.append(cells.bins, cells.n_bins)[cell[order]]
    slices.save("cells/slice.points", s, X[order])
    slices.save("cells/slice.order", s, slices.starts[s] + order)
    slices.save("cells/slice.hashes", s, np.sort(hashes))
    slices.save("cells/slice.least", s, least[order])
    _save_overlap(slices, s, overlap, order, cells.n_bins)
    return np.searchsorted(bins, np.arange(cells.n_bins + 2)).tolist()


def _save_overlap(
    slices: BlockArrays,
    s: int,
    overlap: list[tuple[np.ndarray, np.ndarray, np.ndarray]],
    order: np.ndarray,
    n_bins: int,
) -> None:
    bins, rows, gaps = (np.concatenate(part) for part in zip(*overlap, strict=True))
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    by_bin = np.argsort(bins, kind="stable")
    slices.save("cells/slice.overlap", s, position[rows[by_bin]])
    slices.save("cells/slice.gaps", s, gaps[by_bin])
    bounds = np.searchsorted(bins[by_bin], np.arange(n_bins + 2))
    slices.save("cells/slice.overlap_bounds", s, bounds)


def gather_block(arrays: BlockArrays, layout: Layout, b: int) -> dict[str, int]:
    """Write the points of a block, the places of its overlap points, and the representatives."""
    parts, scratch = layout.parts(b), arrays.scratch
    X, order, least = (
        np.concatenate([scratch.load(f"cells/slice.{name}.{s}")[part] for s, part in parts])
        for name in ("points", "order", "least")
    )
    arrays.save("cells/points", b, X)
    arrays.save("cells/order", b, order)
    overlap = _overlap_points(scratch, layout, b)
    arrays.save("cells/overlap", b, overlap)
    border = layout.starts[b] + _at_border(least, _BORDER_QUERIES // layout.n_blocks, b)
    arrays.save("cells/border", b, border.astype(overlap.dtype))
    n_joined = represent_in_block(arrays, X, b)
    return {"n_overlap": len(overlap), "n_joined": n_joined}


def _at_border(least: np.ndarray, size: int, seed: int) -> np.ndarray:
    """Choose points of which neighbours may lie in another bin, or those nearest to one.

    The gap to a bin with a neighbour is 1 at most, whatever the reach is.
    """
    size = max(size, 1)
    within = np.flatnonzero(least <= 1)
    if len(within) <= size:
        return np.sort(np.argsort(least, kind="stable")[:size])
    return np.sort(np.random.RandomState(seed).choice(within, size, replace=False))


def _overlap_points(scratch: Scratch, layout: Layout, b: int) -> np.ndarray:
    i, found = layout.bin_of[b], [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32))]
    for s in range(len(layout.bounds)):
        part = slice(*scratch.load(f"cells/slice.overlap_bounds.{s}")[i : i + 2])
        places = layout.places(s, scratch.load(f"cells/slice.overlap.{s}")[part])
        found.append((places, scratch.load(f"cells/slice.gaps.{s}")[part]))
    places, gaps = (np.concatenate(part) for part in zip(*found, strict=True))
    n_own = layout.starts[b + 1] - layout.starts[b]
    # Where the overlap is too large for the memory, the points nearest to the block are kept.
    nearest = np.argsort(gaps, kind="stable")[: int(MOST_OVERLAP * n_own)]
    return np.sort(places[nearest]).astype(place_dtype(layout.starts[-1]))


def _read(points: Path, rows: slice | np.ndarray) -> np.ndarray:
    """Return rows of the file, all finite."""
    X = np.array(np.load(points, mmap_mode="r")[rows], order="C")
    finite = np.isfinite(X).all(axis=1)
    if not finite.all():
        numbers = np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows
        raise DataError(
            f"{points} holds NaN or infinity (first found in row {numbers[np.argmin(finite)]}); "
            "leave those points out or fill them in"
        )
    return X


@dataclass(frozen=True, eq=False)
class Layout:
    """Which parts of the slices make up which blocks."""

    starts: tuple[int, ...]  # place of the first point of each block; the last is n
    bin_of: tuple[int, ...]  # bin of each block
    # (n_slices, n_bins + 2), positions in a slice where bins begin, that of fillers last; length
    bounds: np.ndarray
    # (n_slices, n_bins + 1), place minus position of the points of each slice and bin
    shift: np.ndarray

    @classmethod
    def of_slices(cls, bounds: np.ndarray, block_points: int) -> Layout:
        """Cut the bins into blocks of about so many points."""
        counts = np.diff(bounds, axis=1)
        sizes = counts.sum(axis=0)
        bin_starts = np.cumsum(np.append(0, sizes))
        starts, bin_of = [0], []
        for i, (start, size) in enumerate(zip(bin_starts, sizes, strict=False)):
            fits = size <= _LARGEST_BLOCK * block_points
            n_parts = int(size > 0) if fits else -(-int(size) // block_points)
            starts += [int(start + size * (part + 1) // n_parts) for part in range(n_parts)]
            bin_of += [i] * n_parts
        # place = start of the bin + its points in earlier slices + position within this slice's bin
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


def frequent_hashes(slices: BlockArrays, most: int) -> np.ndarray:
    """Return the hashes that more than ``most`` points have, ascending.

    "cells/slice.hashes" holds the sorted hashes of each slice. They are compared in ranges of about
    four million.
    """
    of_slices = [slices.load("cells/slice.hashes", s) for s in range(slices.n_blocks)]
    n_ranges = -(-len(slices) // _AT_ONCE)
    # Hashes are spread evenly over 64 bits, so that ranges of equal width hold about equally many.
    limits = np.array([2**64 * i // n_ranges for i in range(1, n_ranges)], dtype=np.uint64)
    bounds = [[0, *np.searchsorted(hashes, limits), len(hashes)] for hashes in of_slices]
    frequent = [np.empty(0, dtype=np.uint64)]
    for i in range(n_ranges):
        parts = [h[cut[i] : cut[i + 1]] for h, cut in zip(of_slices, bounds, strict=True)]
        values, counts = np.unique(np.concatenate(parts), return_counts=True)
        frequent.append(values[counts > most])
    return np.concatenate(frequent)


def represent_in_block(arrays: BlockArrays, X: np.ndarray, b: int) -> int:
    """Write the place that represents each point of a block; return how many are joined.

    It writes "cells/representatives.b", and the representatives of frequent points as
    "cells/heads.b" with "cells/head_hashes.b".
    """
    hashes, start = row_hashes(X), arrays.starts[b]
    frequent = arrays.scratch.load("cells/frequent")
    rows = np.flatnonzero(np.isin(hashes, frequent))
    values, first, group = np.unique(hashes[rows], return_index=True, return_inverse=True)
    representative = arrays.own(b)
    heads = rows[first]
    equal = (X[rows] == X[heads[group]]).all(axis=1)  # hashes may collide
    representative[rows[equal]] = start + heads[group[equal]]
    arrays.save("cells/representatives", b, representative)
    arrays.save("cells/heads", b, start + heads)
    arrays.save("cells/head_hashes", b, values)
    return int(np.count_nonzero(equal) - len(heads))


def link_blocks(arrays: BlockArrays) -> int:
    """Join equal representatives of several blocks to the first; return how many are joined."""
    starts = arrays.starts
    heads, hashes = arrays.all("cells/heads"), arrays.all("cells/head_hashes")
    arrays.drop("cells/heads", "cells/head_hashes")
    _, first, group = np.unique(hashes, return_index=True, return_inverse=True)
    # `np.unique` returns the first of equal hashes: blocks are in order, so that it is the first
    # block's
    chief = heads[first[group]]
    n_joined = 0
    for b in range(arrays.n_blocks):
        within = (heads >= starts[b]) & (heads < starts[b + 1]) & (heads != chief)
        if within.any():
            n_joined += _join(arrays, b, heads[within], chief[within])
    return n_joined


def _join(arrays: BlockArrays, b: int, heads: np.ndarray, chiefs: np.ndarray) -> int:
    starts = arrays.starts
    representative = np.array(arrays.load("cells/representatives", b))
    X = arrays.load("cells/points", b)
    for head, chief in zip(heads, chiefs, strict=True):
        home = int(np.searchsorted(starts, chief, side="right")) - 1
        other = arrays.load("cells/points", home)[chief - starts[home]]
        if (X[head - starts[b]] == other).all():
            representative[head - starts[b]] = chief
    arrays.save("cells/representatives", b, representative)
    places = arrays.own(b)
    return int(np.count_nonzero(representative[heads - starts[b]] != places[heads - starts[b]]))
