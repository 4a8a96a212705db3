"""Cells of functions that lie close together on a graph."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from diffclass.multiscale.panels import grouped


def cells_of(
    graph: sp.csr_array,
    centers: np.ndarray,
    components: np.ndarray,
    *,
    size: int,
    random: np.random.RandomState,
) -> list[np.ndarray]:
    """Group functions by the nearest of some centres, drawn at random.

    Parameters
    ----------
    graph : csr_array of shape (n, n)
        Symmetric; each edge counts as one hop.
    centers : ndarray of int of shape (m,)
        The point at which each function lies.
    components : ndarray of int of shape (m,)
        Component of the graph in which each function lies.
    size : int
        Mean size of a cell. Up to four times as many functions are one cell together.
    random : RandomState
        Draws the centres.

    Returns
    -------
    list of ndarray of int
        Numbers of the functions in each cell; unless there is but one, it lies in one component.
        Costs one search through the graph.
    """
    m = len(centers)
    if m <= 4 * size:
        return [np.arange(m)]
    drawn = random.permutation(m)[: m // size]
    first_of_each = np.unique(components, return_index=True)[1]
    missed = first_of_each[~np.isin(components[first_of_each], components[drawn])]
    seeds = np.unique(centers[np.concatenate([drawn, missed])])
    _, _, nearest = dijkstra(
        graph, unweighted=True, indices=seeds, min_only=True, return_predecessors=True
    )
    return [members for _, members in grouped(nearest[centers])]
