"""Points whose values have underflowed take those of their neighbours, front by front.

See `diffclass.label_diffusion.reach`; here a front may cross the borders of blocks.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from diffclass.blocks.graph import BlockGraph, Handles, first_of, rest_of
from diffclass.blocks.halo import WalkBlock


def fill_unreached(
    graph: BlockGraph, values: Handles, distance: Handles, *, n_steps: int | None, n_classes: int
) -> Handles:
    """Fill empty rows of values that are within reach of a label.

    Parameters
    ----------
    graph : BlockGraph
    values : list of handles
        N_i, at least 0.
    distance : list of handles
        Edges to the nearest label with a weight, -1 where no path leads to any.
    n_steps : int or None
        Only points within so many edges of a label are filled; with None all that can be.
    n_classes : int

    Returns
    -------
    list of handles
        Costs one exchange for each front.
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
    """Fill the lost points that are beside points with values."""
    values, lost = held
    if not len(lost):
        return held
    columns = block.with_ghosts(values, pieces)
    K = block.own_rows[lost].astype(np.float64)
    known = np.any(columns[: K.shape[1]], axis=1)
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
