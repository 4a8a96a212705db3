"""Large graphs in an order in which the points of an edge lie near each other in memory.

A step of the walk reads the values of a point for every edge, and waits for memory where neighbours
lie far apart. The order is that of the cells of the search for neighbours, or, where there were
none, that of reverse Cuthill and McKee. The edges of a row keep their own order, so that a step
gives the same bits.

Source: A. George and J. W. Liu, Computer Solution of Large Sparse Positive Definite Systems, 1981,
chapter 4.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


def local_order(graph: sp.csr_array) -> np.ndarray:
    """Return the numbers of points in an order in which those of an edge are near."""
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    return reverse_cuthill_mckee(graph, symmetric_mode=True)


def renumbered(graph: sp.csr_array, order: np.ndarray) -> sp.csr_array:
    """Return a graph whose point i is point order[i]; the edges of a row keep their order."""
    rows = graph[order]
    return sp.csr_array((rows.data, inverse(order)[rows.indices], rows.indptr), shape=graph.shape)


def inverse(order: np.ndarray) -> np.ndarray:
    """Return the place of each point in an order."""
    places = np.empty_like(order)
    places[order] = np.arange(len(order), dtype=order.dtype)
    return places
