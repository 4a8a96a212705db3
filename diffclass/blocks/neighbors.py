"""Neighbours of all points, searched block by block.

Each block is searched together with its overlap points (see `cell_bins`), so that a point has one
list from each block in which it was searched. The nearest points of all lists are its neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from diffclass.blocks.arrays import drop_blocks, on_each_block, place_dtype, read_places
from diffclass.blocks.engine import Engine
from diffclass.blocks.scratch import Scratch
from diffclass.neighbors import default_search
from diffclass.neighbors.search import row_distances

_QUERIES = 256
_LEAST_CROSSING = 0.95  # of the edges between blocks, relative to what is found within them
_CUT_OFF, _ENOUGH_PAIRS = 0.5, 20  # share of its crossing edges below which a block counts as lost
NOBODY = -1


def find_neighbors(
    scratch: Scratch,
    engine: Engine,
    starts: Sequence[int],
    *,
    n_neighbors: int,
    n_searched: int,
    seed: int,
) -> dict[str, Any]:
    """Find the neighbours of each point that is searched.

    For each block b it writes "neighbors/places.b", of shape (n_own, k), and "neighbors/lengths.b",
    the distances, ascending. Where fewer are found, and for points that are joined to others (see
    `duplicates`), the place is `NOBODY`.

    Parameters
    ----------
    scratch : Scratch
        With what `slices.make_blocks` writes.
    engine : Engine
    starts : sequence of int
        Place of the first point of each block; the last is n.
    n_neighbors : int
    n_searched : int
        Points that are searched.
    seed : int
        Seeds the searches and the sample.

    Returns
    -------
    dict
        recall: share of the true neighbours that were found, measured on 256 points;
        crossing_recall: share of the true edges between blocks that were found, measured on about
        1,024 points near borders; crossing_bound: the least that is aimed at, 95 % of the share
        found within blocks; n_cut_off: blocks with less than half of theirs.
    """
    n_blocks, k = len(starts) - 1, min(n_neighbors, n_searched - 1)
    on_each_block(
        engine, "neighbors: searching", n_blocks, search_block, scratch, starts, n_neighbors, seed
    )
    on_each_block(engine, "neighbors: merging", n_blocks, merge_lists, scratch, starts, k)
    recalls = _measured_recalls(scratch, engine, starts, k, seed)
    parts = ("own", "overlap", "found", "found_lengths")
    drop_blocks(scratch, n_blocks, *(f"neighbors/{part}" for part in parts))
    return recalls


def search_block(
    scratch: Scratch, starts: Sequence[int], n_neighbors: int, seed: int, b: int
) -> None:
    """Search a block's own and overlap points for the neighbours of all of these."""
    own = _searched(scratch, starts, np.arange(starts[b], starts[b + 1]))
    overlap = _searched(scratch, starts, np.array(scratch.load(f"cells/overlap.{b}")))
    X = np.concatenate(
        [read_places(scratch, "cells/points", starts, places) for places in (own, overlap)]
    )
    places = np.concatenate([own, overlap]).astype(place_dtype(starts[-1]))
    found = np.empty((len(places), 0), dtype=places.dtype)
    lengths = np.empty(found.shape, dtype=X.dtype)
    if len(places) > 1:
        search = default_search(X, n_neighbors, random_state=seed + b)
        found, lengths = _lists(search.fit_transform(X), places)
    scratch.save(f"neighbors/own.{b}", own)
    scratch.save(f"neighbors/overlap.{b}", overlap)
    scratch.save(f"neighbors/found.{b}", found)
    scratch.save(f"neighbors/found_lengths.{b}", lengths)


def _lists(graph: sp.csr_array, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of a graph as places and lengths, filled up with nobody."""
    degrees = np.diff(graph.indptr)
    exists = np.arange(degrees.max()) < degrees[:, None]
    found = np.full(exists.shape, NOBODY, dtype=places.dtype)
    lengths = np.full(exists.shape, np.inf, dtype=graph.dtype)
    found[exists], lengths[exists] = places[graph.indices], graph.data
    return found, lengths


def _searched(scratch: Scratch, starts: Sequence[int], places: np.ndarray) -> np.ndarray:
    """Return those of some places that represent themselves."""
    return places[read_places(scratch, "cells/representatives", starts, places) == places]


def merge_lists(scratch: Scratch, starts: Sequence[int], k: int, b: int) -> None:
    """Keep the k nearest of all lists of each point of a block."""
    n_own = starts[b + 1] - starts[b]
    places = np.full((n_own, k), NOBODY, dtype=place_dtype(starts[-1]))
    lengths = np.full((n_own, k), np.inf, dtype=np.float32)
    for a in range(len(starts) - 1):
        rows, part = _rows_of(scratch, starts, a, b)
        if len(rows) == 0:
            continue
        found = scratch.load(f"neighbors/found.{a}")[part]
        found_lengths = scratch.load(f"neighbors/found_lengths.{a}")[part]
        places[rows], lengths[rows] = _nearest(
            np.concatenate([places[rows], found], axis=1),
            np.concatenate([lengths[rows], found_lengths], axis=1),
            k,
        )
    scratch.save(f"neighbors/places.{b}", places)
    scratch.save(f"neighbors/lengths.{b}", lengths)


def _rows_of(scratch: Scratch, starts: Sequence[int], a: int, b: int) -> tuple[np.ndarray, slice]:
    """Return which points of block b were searched in block a, and where their lists are."""
    own = scratch.load(f"neighbors/own.{a}")
    if a == b:
        return own - starts[b], slice(0, len(own))
    overlap = scratch.load(f"neighbors/overlap.{a}")
    first, last = np.searchsorted(overlap, [starts[b], starts[b + 1]])
    return overlap[first:last] - starts[b], slice(len(own) + first, len(own) + last)


def _nearest(places: np.ndarray, lengths: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the k nearest distinct places of each row; of equal lengths, the first place."""
    order = np.argsort(places, axis=1)
    places = np.take_along_axis(places, order, axis=1)
    lengths = np.take_along_axis(lengths, order, axis=1)
    again = places[:, 1:] == places[:, :-1]
    lengths[:, 1:][again] = np.inf
    order = np.argsort(lengths, axis=1, kind="stable")[:, :k]
    lengths = np.take_along_axis(lengths, order, axis=1)
    places = np.take_along_axis(places, order, axis=1)
    places[np.isinf(lengths)] = NOBODY
    return places, lengths


def _measured_recalls(
    scratch: Scratch, engine: Engine, starts: Sequence[int], k: int, seed: int
) -> dict[str, Any]:
    """Compare the lists of sampled points with exact search over all blocks."""
    if k == 0:
        return {"recall": 1.0, "crossing_recall": 1.0, "crossing_bound": 0.0, "n_cut_off": 0}
    random, n_blocks = np.random.RandomState(seed), len(starts) - 1
    ends = np.cumsum([0, *(len(scratch.load(f"neighbors/own.{b}")) for b in range(n_blocks))])
    drawn = np.unique(random.randint(ends[-1], size=_QUERIES))
    drawn = read_places(scratch, "neighbors/own", ends.tolist(), drawn)
    border = np.concatenate([scratch.load(f"cells/border.{b}") for b in range(n_blocks)])
    chosen = np.union1d(drawn, _searched(scratch, starts, border))
    true, squared = _true_neighbors(scratch, engine, starts, chosen, k)
    lengths = np.square(read_places(scratch, "neighbors/lengths", starts, chosen))
    near = lengths <= squared[:, k - 1 : k] * (1 + 1e-5)
    recall = float(near[np.isin(chosen, drawn)].mean())
    # the k-th neighbour is one of several where the next one is as far
    sure = squared[:, :k] * (1 + 1e-5) < squared[:, -1:]
    found = _are_joined(scratch, starts, chosen, true[:, :k])
    return {"recall": recall} | _shares_of_crossing(starts, chosen, true[:, :k], found, sure)


def _true_neighbors(
    scratch: Scratch, engine: Engine, starts: Sequence[int], chosen: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the k + 1 nearest others of some points over all blocks, and squared distances."""
    n_blocks = len(starts) - 1
    scratch.save("neighbors/queries", read_places(scratch, "cells/points", starts, chosen))
    on_each_block(engine, "neighbors: recall", n_blocks, find_exactly, scratch, starts, k + 2)
    parts = ("exact", "exact_squared")
    places, squared = (
        np.concatenate([scratch.load(f"neighbors/{part}.{b}") for b in range(n_blocks)], axis=1)
        for part in parts
    )
    drop_blocks(scratch, n_blocks, *(f"neighbors/{part}" for part in parts))
    scratch.drop("neighbors/queries")
    squared[places == chosen[:, None]] = np.inf
    nearest = np.argsort(squared, axis=1, kind="stable")[:, : k + 1]
    return np.take_along_axis(places, nearest, 1), np.take_along_axis(squared, nearest, 1)


def _are_joined(
    scratch: Scratch, starts: Sequence[int], chosen: np.ndarray, true: np.ndarray
) -> np.ndarray:
    """Return which neighbours of some points are joined to them: one of the two lists the other."""
    lists = read_places(scratch, "neighbors/places", starts, chosen)
    found = (true[:, :, None] == lists[:, None, :]).any(axis=2)
    rows, columns = np.nonzero(~found)
    others, which = np.unique(true[rows, columns], return_inverse=True)
    lists = read_places(scratch, "neighbors/places", starts, others)
    found[rows, columns] = (lists[which] == chosen[rows, None]).any(axis=1)
    return found


def _shares_of_crossing(
    starts: Sequence[int],
    chosen: np.ndarray,
    true: np.ndarray,
    found: np.ndarray,
    sure: np.ndarray,
) -> dict[str, Any]:
    """Return how many of the edges between blocks were found, and how many are aimed at."""
    block, other = (np.searchsorted(starts, places, side="right") for places in (chosen, true))
    crosses = sure & (other != block[:, None])
    within = sure & ~crosses
    pairs, kept = (
        np.bincount(block, values.sum(axis=1), minlength=len(starts) + 1)
        for values in (crosses, crosses & found)
    )
    bound = _LEAST_CROSSING * (found[within].mean() if within.any() else 1)
    return {
        "crossing_recall": float(kept.sum() / pairs.sum()) if pairs.any() else 1.0,
        "crossing_bound": float(bound),
        "n_cut_off": int(np.count_nonzero((pairs >= _ENOUGH_PAIRS) & (kept < _CUT_OFF * pairs))),
    }


def find_exactly(scratch: Scratch, starts: Sequence[int], k: int, b: int) -> None:
    """Write the places of the k points of a block nearest to the queries, and their distances."""
    import faiss

    queries = np.array(scratch.load("neighbors/queries"))
    own = scratch.load(f"neighbors/own.{b}")
    X = scratch.load(f"cells/points.{b}")[own - starts[b]]
    offset = queries.mean(axis=0)  # differences keep their digits
    _, found = faiss.knn(queries - offset, X - offset, min(k, len(X)))
    scratch.save(f"neighbors/exact.{b}", own[found])
    scratch.save(f"neighbors/exact_squared.{b}", row_distances(queries, X[found]))
