"""Neighbours of all points, searched block by block by the searches of `diffclass.neighbors`.

Each block is searched together with its overlap points (see `cell_bins`), so that a point has one
list from each block in which it was searched. The nearest points of all lists are its neighbours,
those as far as the last of them in or out together, as in a search of all points.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from diffclass.blocks.arrays import BlockArrays
from diffclass.blocks.engine import Engine
from diffclass.neighbors import default_search
from diffclass.neighbors.cell_tree import nearest_points
from diffclass.neighbors.search import TIED

_QUERIES = 256
_LEAST_CROSSING = 0.95  # of the edges between blocks, relative to what is found within them
_CUT_OFF, _ENOUGH_PAIRS = 0.5, 20  # share of its crossing edges below which a block counts as lost
NO_NEIGHBOR = -1


def find_neighbors(
    arrays: BlockArrays,
    engine: Engine,
    *,
    n_neighbors: int,
    n_searched: int,
    seed: int,
) -> dict[str, Any]:
    """Find the neighbours of each point that is searched.

    For each block b it writes "neighbors/places.b", of shape (n_own, k), and "neighbors/lengths.b",
    the distances, ascending. Where fewer are found, and for points that are joined to others (see
    `partition`), the place is `NO_NEIGHBOR`. Further neighbours, as far as the k-th, are in
    "neighbors/tied.b", of shape (n_tied, 2): place of the point, place of the neighbour; their
    distances are in "neighbors/tied_lengths.b".

    It returns the shares of neighbours that were found; see `build_operator`.
    """
    k = min(n_neighbors, n_searched - 1)
    # 1. lists of each block's points and overlap; 2. which blocks have lists of a block's points;
    # 3. the nearest of these lists
    reached = arrays.on_each(engine, "neighbors: searching", search_block, n_neighbors, seed)
    for b in range(arrays.n_blocks):
        searched_in = [a for a, blocks in enumerate(reached) if b in blocks]
        arrays.save("neighbors/searched_in", b, np.array(searched_in))
    arrays.on_each(engine, "neighbors: merging", merge_lists, k)
    recalls = _measured_recalls(arrays, engine, k, seed)
    parts = ("own", "overlap", "found", "found_lengths", "left_out", "searched_in")
    arrays.drop(*(f"neighbors/{part}" for part in parts))
    return recalls


def search_block(arrays: BlockArrays, n_neighbors: int, seed: int, b: int) -> set[int]:
    """Search a block with its overlap points for the neighbours of all; return whose these are."""
    own = _searched(arrays, arrays.own(b))
    overlap = _searched(arrays, np.array(arrays.load("cells/overlap", b)))
    X = np.concatenate([arrays.at("cells/points", places) for places in (own, overlap)])
    places = np.concatenate([own, overlap]).astype(arrays.place_dtype)
    found = np.empty((len(places), 0), dtype=places.dtype)
    lengths, left_out = np.empty(found.shape, dtype=X.dtype), np.full(len(places), np.inf)
    if len(places) > 1:
        search = default_search(X, n_neighbors, random_state=seed + b)
        found, lengths = _lists(search.fit_transform(X), places)
        left_out = search.left_out_
    arrays.save("neighbors/own", b, own)
    arrays.save("neighbors/overlap", b, overlap)
    arrays.save("neighbors/found", b, found)
    arrays.save("neighbors/found_lengths", b, lengths)
    arrays.save("neighbors/left_out", b, left_out.astype(lengths.dtype))
    return {b, *(np.searchsorted(arrays.starts, overlap, side="right") - 1).tolist()}


def _lists(graph: sp.csr_array, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of a graph as columns and distances, padded to one width."""
    degrees = np.diff(graph.indptr)
    exists = np.arange(degrees.max()) < degrees[:, None]
    found = np.full(exists.shape, NO_NEIGHBOR, dtype=places.dtype)
    lengths = np.full(exists.shape, np.inf, dtype=graph.dtype)
    found[exists], lengths[exists] = places[graph.indices], graph.data
    return found, lengths


def _searched(arrays: BlockArrays, places: np.ndarray) -> np.ndarray:
    """Return those of some places that represent themselves."""
    return places[arrays.at("cells/representatives", places) == places]


def merge_lists(arrays: BlockArrays, k: int, b: int) -> None:
    """Keep the k nearest of all lists of each point of a block, and those as far as the k-th."""
    n_own, width = arrays.starts[b + 1] - arrays.starts[b], 2 * k + 1
    places = np.full((n_own, width), NO_NEIGHBOR, dtype=arrays.place_dtype)
    lengths = np.full((n_own, width), np.inf, dtype=np.float32)
    left_out = np.full(n_own, np.inf, dtype=np.float32)
    n_known, searched_in = 0, arrays.load("neighbors/searched_in", b).tolist()
    for a in sorted(searched_in, key=lambda a: a != b):  # that of the block itself has all points
        # What is known so far competes with the next list; 2 k + 1 stay, so that ties can be
        # counted.
        rows, part = _rows_of(arrays, a, b)
        found = arrays.load("neighbors/found", a)[part]
        found_lengths = arrays.load("neighbors/found_lengths", a)[part]
        near, near_lengths = _nearest(
            np.concatenate([places[rows, :n_known], found], axis=1),
            np.concatenate([lengths[rows, :n_known], found_lengths], axis=1),
            width,
        )
        places[rows, : near.shape[1]], lengths[rows, : near.shape[1]] = near, near_lengths
        n_known = width
        beyond = arrays.load("neighbors/left_out", a)[part]
        left_out[rows] = np.minimum(left_out[rows], beyond)
    drop = ~_kept(lengths, left_out, k)
    places[drop], lengths[drop] = NO_NEIGHBOR, np.inf
    tied, columns = np.nonzero(np.isfinite(lengths[:, k:]))
    targets = places[tied, k + columns]
    edges = np.stack([arrays.starts[b] + tied, targets], axis=1).astype(places.dtype)
    arrays.save("neighbors/places", b, places[:, :k])
    arrays.save("neighbors/lengths", b, lengths[:, :k])
    arrays.save("neighbors/tied", b, edges)
    arrays.save("neighbors/tied_lengths", b, lengths[tied, k + columns])


def _kept(lengths: np.ndarray, left_out: np.ndarray, k: int) -> np.ndarray:
    """Return which of the 2 k + 1 nearest stay, as of `diffclass.neighbors.search.Search`.

    ``lengths`` (m, 2 k + 1) ascend; points at ``left_out`` (m,) or farther are not all known, and
    there are more than 2 k up to there.
    """
    if k == 0:
        return np.zeros(lengths.shape, dtype=bool)
    # Those as far as the k-th are in or out together. They are in if they are at most 2 k, and if a
    # search has left out none that is as near.
    kth = np.minimum(lengths[:, k - 1], left_out)
    as_near = lengths <= kth[:, None] * TIED
    are_in = (as_near.sum(axis=1) <= 2 * k) & (kth * TIED < left_out)
    keep = np.where(are_in[:, None], as_near, lengths * TIED < kth[:, None])
    keep[~keep.any(axis=1), :k] = True  # all are equally near
    return keep


def _rows_of(arrays: BlockArrays, a: int, b: int) -> tuple[np.ndarray, slice]:
    """Return which points of block b were searched in block a, and where their lists are."""
    own = arrays.load("neighbors/own", a)
    if a == b:
        return own - arrays.starts[b], slice(0, len(own))
    overlap = arrays.load("neighbors/overlap", a)
    first, last = np.searchsorted(overlap, arrays.starts[b : b + 2])
    return overlap[first:last] - arrays.starts[b], slice(len(own) + first, len(own) + last)


def _nearest(places: np.ndarray, lengths: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the k nearest distinct places of each row; of equal lengths, the first place."""
    # by place, so that a neighbour of two lists stands beside itself; then by length
    order = np.argsort(places, axis=1)
    places = np.take_along_axis(places, order, axis=1)
    lengths = np.take_along_axis(lengths, order, axis=1)
    again = places[:, 1:] == places[:, :-1]
    lengths[:, 1:][again] = np.inf
    order = np.argsort(lengths, axis=1, kind="stable")[:, :k]
    lengths = np.take_along_axis(lengths, order, axis=1)
    places = np.take_along_axis(places, order, axis=1)
    places[np.isinf(lengths)] = NO_NEIGHBOR
    return places, lengths


def _measured_recalls(arrays: BlockArrays, engine: Engine, k: int, seed: int) -> dict[str, Any]:
    """Compare the lists of sampled points with exact search over all blocks."""
    if k == 0:
        return {"recall": 1.0, "crossing_recall": 1.0, "crossing_bound": 0.0, "n_cut_off": 0}
    random = np.random.RandomState(seed)
    # searched points only: those that are joined to others have no list of their own
    ends = np.cumsum([0, *(len(arrays.load("neighbors/own", b)) for b in range(arrays.n_blocks))])
    searched = BlockArrays(arrays.scratch, tuple(ends.tolist()))
    drawn = np.unique(random.randint(ends[-1], size=_QUERIES))
    drawn = searched.at("neighbors/own", drawn)
    border = arrays.all("cells/border")
    chosen = np.union1d(drawn, _searched(arrays, border))
    true, squared = _true_neighbors(arrays, engine, chosen, k)
    lengths = np.square(arrays.at("neighbors/lengths", chosen))
    kth = squared[:, k - 1 : k]
    near = lengths <= kth * (1 + 1e-5)
    near |= np.isinf(lengths) & (squared[:, :k] * (1 + 1e-5) >= kth)  # those that are left out
    recall = float(near[np.isin(chosen, drawn)].mean())
    # the k-th neighbour is one of several where the next one is as far
    sure = squared[:, :k] * (1 + 1e-5) < squared[:, -1:]
    found = _are_joined(arrays, chosen, true[:, :k])
    return {"recall": recall} | _shares_of_crossing(arrays.starts, chosen, true[:, :k], found, sure)


def _true_neighbors(
    arrays: BlockArrays, engine: Engine, chosen: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the k + 1 nearest others of some points over all blocks, and squared distances."""
    arrays.scratch.save("neighbors/queries", arrays.at("cells/points", chosen))
    arrays.on_each(engine, "neighbors: recall", find_exactly, k + 2)
    parts = ("exact", "exact_squared")
    places, squared = (arrays.all(f"neighbors/{part}", axis=1) for part in parts)
    arrays.drop(*(f"neighbors/{part}" for part in parts))
    arrays.scratch.drop("neighbors/queries")
    squared[places == chosen[:, None]] = np.inf
    nearest = np.argsort(squared, axis=1, kind="stable")[:, : k + 1]
    return np.take_along_axis(places, nearest, 1), np.take_along_axis(squared, nearest, 1)


def _are_joined(arrays: BlockArrays, chosen: np.ndarray, true: np.ndarray) -> np.ndarray:
    """Return which neighbours of some points are joined to them: one of the two lists the other."""
    lists = arrays.at("neighbors/places", chosen)
    # An edge is there if either end lists the other: first the lists of the chosen points, then,
    # for what they lack, those of the other ends.
    found = (true[:, :, None] == lists[:, None, :]).any(axis=2)
    rows, columns = np.nonzero(~found)
    others, which = np.unique(true[rows, columns], return_inverse=True)
    lists = arrays.at("neighbors/places", others)
    found[rows, columns] = (lists[which] == chosen[rows, None]).any(axis=1)
    return found


def _shares_of_crossing(
    starts: tuple[int, ...],
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


def find_exactly(arrays: BlockArrays, k: int, b: int) -> None:
    """Write the places of the k points of a block nearest to the queries, and their distances."""
    queries = np.array(arrays.scratch.load("neighbors/queries"))
    own = arrays.load("neighbors/own", b)
    X = arrays.load("cells/points", b)[own - arrays.starts[b]]
    found, squared = nearest_points(queries, X, k)
    arrays.save("neighbors/exact", b, own[found])
    arrays.save("neighbors/exact_squared", b, squared)
