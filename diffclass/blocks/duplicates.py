"""Duplicates, which must not form islands, wherever they lie.

As in one process (`diffclass.neighbors.Search`), of more equal points than a point has neighbours
only one is searched, its *representative*; the others are joined to it and to its neighbours. Where
such points lie in several blocks, each block has a representative of its own: the first one of the
first block is searched, those of the other blocks are joined to it, and the points of these blocks
to theirs alone, so that no row grows longer than the first block is.
"""

from __future__ import annotations

import numpy as np

from diffclass.blocks.arrays import BlockArrays
from diffclass.neighbors.search import row_hashes

_AT_ONCE = 4_194_304  # hashes


def frequent_hashes(slices: BlockArrays, most: int) -> np.ndarray:
    """Return the hashes that more than ``most`` points have, ascending.

    Parameters
    ----------
    slices : BlockArrays
        "cells/slice.hashes" holds the sorted hashes of each slice.
    most : int

    Notes
    -----
    They are compared in ranges of about four million.
    """
    of_slices = [slices.load("cells/slice.hashes", s) for s in range(slices.n_blocks)]
    n_ranges = -(-len(slices) // _AT_ONCE)
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
