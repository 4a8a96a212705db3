"""Edges between each point and the nearest label, over the borders of blocks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from diffclass import _compiled
from diffclass.blocks.graph import BlockGraph, Handles, first_of, rest_of
from diffclass.blocks.halo import WalkBlock
from diffclass.label_diffusion.stopping_time import coverage_of
from diffclass.progress import stage


class LabelDistance:
    """Numbers of edges to the nearest label, -1 where no path leads to any.

    Each block searches by itself and tells the others of its border, until nothing changes: about
    as many rounds as the shortest paths cross borders.

    Parameters
    ----------
    graph : BlockGraph
    weighted : bool
        Whether labels of weight 0 do not count.

    Attributes
    ----------
    get : callable
        Returns handles of arrays of int32 of shape (n_own,).
    """

    def __init__(self, graph: BlockGraph, *, weighted: bool):
        self._graph = graph
        held = graph.each(_start, values=(weighted,))
        beside = changed = list(range(len(held)))
        with stage("diffusion: label distance"):
            while changed:
                held = graph.exchanged(_relaxed, held, row_bytes=4, only=beside)
                flags = graph.gather(graph.apply(rest_of, held))
                changed = [b for b in beside if flags[b]]
                beside = graph.beside(changed)
        name = "weighted" if weighted else "distance"
        self.get: Callable[[], Handles] = graph.keep(graph.apply(first_of, held), name)

    def coverage(self) -> np.ndarray:
        """Return, for t = 0, 1, ..., the share of the reachable points within t distance."""
        counts = self._graph.gather(self._graph.apply(_counts, self.get()))
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


def _counts(distance: np.ndarray) -> np.ndarray:
    return np.bincount(distance[distance >= 0])
