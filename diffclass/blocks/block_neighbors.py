"""Neighbours of all points, searched block by block.

Each block is searched together with its guests (see `cells`), so that a point has a list from each
block in which it was searched. The nearest of all its lists are its neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from diffclass.blocks.block_arrays import drop_blocks, on_each_block, place_dtype, read_places
from diffclass.blocks.engine import Engine
from diffclass.blocks.scratch import Scratch
from diffclass.neighbors import default_search
from diffclass.neighbors.recall import row_distances

_QUERIES = 256
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
        recall: share of the true neighbours that were found, measured on 256 points.
    """
    n_blocks, k = len(starts) - 1, min(n_neighbors, n_searched - 1)
    on_each_block(
        engine, "neighbors: searching", n_blocks, search_block, scratch, starts, n_neighbors, seed
    )
    on_each_block(engine, "neighbors: merging", n_blocks, merge_lists, scratch, starts, k)
    recall = _measured_recall(scratch, engine, starts, k, seed)
    parts = ("own", "guests", "found", "found_lengths")
    drop_blocks(scratch, n_blocks, *(f"neighbors/{part}" for part in parts))
    return {"recall": recall}


def search_block(
    scratch: Scratch, starts: Sequence[int], n_neighbors: int, seed: int, b: int
) -> None:
    """Search the neighbours of a block's own points and of its guests among all of these."""
    own = _searched(scratch, starts, np.arange(starts[b], starts[b + 1]))
    guests = _searched(scratch, starts, np.array(scratch.load(f"cells/guests.{b}")))
    X = np.concatenate(
        [read_places(scratch, "cells/points", starts, places) for places in (own, guests)]
    )
    places = np.concatenate([own, guests]).astype(place_dtype(starts[-1]))
    found = np.empty((len(places), 0), dtype=places.dtype)
    lengths = np.empty(found.shape, dtype=X.dtype)
    if len(places) > 1:
        search = default_search(X, n_neighbors, random_state=seed + b)
        found, lengths = _lists(search.fit_transform(X), places)
    scratch.save(f"neighbors/own.{b}", own)
    scratch.save(f"neighbors/guests.{b}", guests)
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
    guests = scratch.load(f"neighbors/guests.{a}")
    first, last = np.searchsorted(guests, [starts[b], starts[b + 1]])
    return guests[first:last] - starts[b], slice(len(own) + first, len(own) + last)


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


def _measured_recall(
    scratch: Scratch, engine: Engine, starts: Sequence[int], k: int, seed: int
) -> float:
    """Compare the lists of sampled points with exact search over all blocks."""
    if k == 0:
        return 1.0
    random, n_blocks = np.random.RandomState(seed), len(starts) - 1
    ends = np.cumsum([0, *(len(scratch.load(f"neighbors/own.{b}")) for b in range(n_blocks))])
    drawn = np.unique(random.randint(ends[-1], size=_QUERIES))
    chosen = read_places(scratch, "neighbors/own", ends.tolist(), drawn)
    scratch.save("neighbors/queries", read_places(scratch, "cells/points", starts, chosen))
    on_each_block(engine, "neighbors: recall", n_blocks, find_exactly, scratch, starts, k)
    names = [f"neighbors/exact.{b}" for b in range(n_blocks)]
    exact = np.concatenate([scratch.load(name) for name in names], axis=1)
    scratch.drop(*names, "neighbors/queries")
    reach = np.sort(exact, axis=1)[:, k]  # the first is the point itself
    found = np.square(read_places(scratch, "neighbors/lengths", starts, chosen))
    return float(np.mean(found <= reach[:, None] * (1 + 1e-5)))


def find_exactly(scratch: Scratch, starts: Sequence[int], k: int, b: int) -> None:
    """Write the squared distances from the queries to their k + 1 nearest points of a block."""
    import faiss

    queries = np.array(scratch.load("neighbors/queries"))
    own = scratch.load(f"neighbors/own.{b}") - starts[b]
    X = scratch.load(f"cells/points.{b}")[own]
    offset = queries.mean(axis=0)  # differences keep their digits
    _, found = faiss.knn(queries - offset, X - offset, min(k + 1, len(X)))
    scratch.save(f"neighbors/exact.{b}", row_distances(queries, X[found]))
