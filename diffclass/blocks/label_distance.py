"""Where labels can get to over the borders of blocks, and the points that their values miss.

As `diffclass.label_diffusion.reach` in memory, by other algorithms, since a search or a front stops
at the border of its block: each block searches by itself until no block tells its neighbours
anything new, and points are filled by one exchange for each front.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from diffclass import _compiled
from diffclass.blocks.block_graph import BlockGraph, Handles, first_of, rest_of
from diffclass.blocks.halo import WalkBlock
from diffclass.label_diffusion.walk import coverage_of
from diffclass.system.progress import stage


class LabelDistance:
    """Numbers of edges to the nearest label, -1 where no path leads to any.

    If ``weighted``, labels of weight 0 do not count. ``get()`` returns handles of int32 arrays.
    """

    def __init__(self, graph: BlockGraph, *, weighted: bool):
        self._graph = graph
        held = graph.each(_start, values=(weighted,))
        beside = changed = list(range(len(held)))
        with stage("diffusion: label distance"):
            while changed:
                # Bellman and Ford by blocks: a block searches again if one that it has ghosts in
                # has changed.
                held = graph.exchanged(_relaxed, held, row_bytes=4, only=beside)
                flags = graph.gather(graph.apply(rest_of, held))
                changed = [b for b in beside if flags[b]]
                beside = graph.beside(changed)
        name = "weighted" if weighted else "distance"
        self.get: Callable[[], Handles] = graph.keep(graph.apply(first_of, held), name)

    def coverage(self) -> np.ndarray:
        """Return, for t = 0, 1, ..., the share of the reachable points within t distance."""
        counts = self._graph.gather(self._graph.each(_counts, self.get()))
        longest = max(map(len, counts))
        return coverage_of(np.sum([np.pad(c, (0, longest - len(c))) for c in counts], axis=0))


def _start(block: WalkBlock, weighted: bool) -> tuple[np.ndarray, bool]:
    distance = np.full(len(block), -1, dtype=np.int32)
    labels = block.labels.first(len(block))
    distance[labels.points[(labels.passing[:, 0] < 1) | (not weighted)]] = 0
    return distance, True


def _relaxed(
    block: WalkBlock, held: tuple[np.ndarray, bool], pieces: list[np.ndarray]
) -> tuple[np.ndarray, bool]:
    before, _ = held
    distance, rows = block.with_ghosts(before, pieces), block.own_rows
    _compiled.graphs.spread_hops(rows.indptr, rows.indices, distance)
    own = distance[: len(block)].copy()
    return own, bool((own != before).any())


def _counts(block: WalkBlock, distance: np.ndarray) -> np.ndarray:
    reached = distance >= 0
    return np.bincount(distance[reached], None if block.mass is None else block.mass[reached])


def fill_unreached(
    graph: BlockGraph, values: Handles, distance: Handles, *, n_steps: int | None, n_classes: int
) -> Handles:
    """Return values whose empty rows within reach of a label are filled, by one exchange per front.

    ``distance`` are edges to the nearest label with a weight. With ``n_steps``, only points within
    so many edges are filled.
    """
    limits = [n_steps] * len(values)
    held = graph.apply(_with_lost, values, distance, limits)
    n_lost = _n_lost(graph, held)
    while n_lost:
        before, n_lost = n_lost, 0
        held = graph.exchanged(_next_front, held, row_bytes=8 * n_classes)
        n_lost = _n_lost(graph, held)
        if n_lost == before:  # no path through points that may be filled
            break
    return graph.apply(first_of, held)


def _n_lost(graph: BlockGraph, held: Handles) -> int:
    return sum(map(len, graph.gather(graph.apply(rest_of, held))))


def _with_lost(
    values: np.ndarray, distance: np.ndarray, n_steps: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the values with the numbers of the points that are to be filled."""
    lost = ~values.any(axis=1) & (distance >= 0)
    if n_steps is not None:
        lost &= distance <= n_steps
    return values, np.flatnonzero(lost)


def _next_front(
    block: WalkBlock, held: tuple[np.ndarray, np.ndarray], pieces: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Fill the lost points that have neighbours with values."""
    values, lost = held
    if not len(lost):
        return held
    columns = block.with_ghosts(values, pieces)
    K = block.own_rows[lost].astype(np.float64)
    known = np.any(columns[: K.shape[1]], axis=1)
    # The mean over the neighbours that have values, weighed by affinity.
    K.data *= known[K.indices]  # affinities relative to the largest do not underflow
    largest = np.maximum.reduceat(K.data, K.indptr[:-1])  # no row is without an edge
    K.data /= np.repeat(np.where(largest > 0, largest, 1), np.diff(K.indptr))
    means = sp.csr_array(K) @ columns[: K.shape[1]]
    beside, alone = np.flatnonzero(largest), np.flatnonzero(largest == 0)
    totals = np.add.reduceat(K.data, K.indptr[:-1])
    means[beside] /= totals[beside, None]
    values = values.copy()
    values[lost[beside]] = means[beside]
    return values, lost[alone]
