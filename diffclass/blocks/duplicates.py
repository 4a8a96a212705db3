"""Duplicates, which must not form islands, wherever they lie.

As in one process (`diffclass.neighbors.Search`), of more equal points than a point has neighbours
only one is searched, its *representative*; the others are joined to it and to its neighbours. Where
such points lie in several blocks, each block has a representative of its own: the first one of the
first block is searched, those of the other blocks are joined to it, and the points of these blocks
to theirs alone, so that no row grows longer than the first block is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from diffclass.blocks.scratch import Scratch
from diffclass.neighbors.search import row_hashes

_AT_ONCE = 4_194_304  # hashes


def frequent_hashes(scratch: Scratch, edges: Sequence[int], most: int) -> np.ndarray:
    """Return the hashes that more than ``most`` points have, ascending.

    Parameters
    ----------
    scratch : Scratch
        "cells/slice.hashes.s" holds the sorted hashes of the slices.
    edges : sequence of int
        Number of the first point of each slice; the last is n.
    most : int

    Notes
    -----
    They are compared in ranges of about four million.
    """
    slices = [scratch.load(f"cells/slice.hashes.{s}") for s in range(len(edges) - 1)]
    n_ranges = -(-edges[-1] // _AT_ONCE)
    limits = np.array([2**64 * i // n_ranges for i in range(1, n_ranges)], dtype=np.uint64)
    bounds = [[0, *np.searchsorted(hashes, limits), len(hashes)] for hashes in slices]
    frequent = [np.empty(0, dtype=np.uint64)]
    for i in range(n_ranges):
        parts = [h[cut[i] : cut[i + 1]] for h, cut in zip(slices, bounds, strict=True)]
        values, counts = np.unique(np.concatenate(parts), return_counts=True)
        frequent.append(values[counts > most])
    return np.concatenate(frequent)


def represent_in_block(scratch: Scratch, X: np.ndarray, start: int, b: int) -> int:
    """Write the place that represents each point of a block; return how many are joined.

    It writes "cells/representatives.b", and the representatives of frequent points as
    "cells/heads.b" with "cells/head_hashes.b".
    """
    hashes = row_hashes(X)
    frequent = scratch.load("cells/frequent")
    rows = np.flatnonzero(np.isin(hashes, frequent))
    values, first, group = np.unique(hashes[rows], return_index=True, return_inverse=True)
    representative = np.arange(start, start + len(X))
    heads = rows[first]
    equal = (X[rows] == X[heads[group]]).all(axis=1)  # hashes may collide
    representative[rows[equal]] = start + heads[group[equal]]
    scratch.save(f"cells/representatives.{b}", representative)
    scratch.save(f"cells/heads.{b}", start + heads)
    scratch.save(f"cells/head_hashes.{b}", values)
    return int(np.count_nonzero(equal) - len(heads))


def link_blocks(scratch: Scratch, starts: Sequence[int]) -> int:
    """Join equal representatives of several blocks to the first; return how many are joined."""
    n_blocks = len(starts) - 1
    heads = np.concatenate([scratch.load(f"cells/heads.{b}") for b in range(n_blocks)])
    hashes = np.concatenate([scratch.load(f"cells/head_hashes.{b}") for b in range(n_blocks)])
    scratch.drop(
        *(f"cells/{name}.{b}" for name in ("heads", "head_hashes") for b in range(n_blocks))
    )
    _, first, group = np.unique(hashes, return_index=True, return_inverse=True)
    chief = heads[first[group]]
    n_joined = 0
    for b in range(n_blocks):
        within = (heads >= starts[b]) & (heads < starts[b + 1]) & (heads != chief)
        if within.any():
            n_joined += _join(scratch, starts, b, heads[within], chief[within])
    return n_joined


def _join(
    scratch: Scratch, starts: Sequence[int], b: int, heads: np.ndarray, chiefs: np.ndarray
) -> int:
    representative = np.array(scratch.load(f"cells/representatives.{b}"))
    X = scratch.load(f"cells/points.{b}")
    for head, chief in zip(heads, chiefs, strict=True):
        home = int(np.searchsorted(starts, chief, side="right")) - 1
        other = scratch.load(f"cells/points.{home}")[chief - starts[home]]
        if (X[head - starts[b]] == other).all():
            representative[head - starts[b]] = chief
    scratch.save(f"cells/representatives.{b}", representative)
    places = np.arange(starts[b], starts[b + 1])
    return int(np.count_nonzero(representative[heads - starts[b]] != places[heads - starts[b]]))
