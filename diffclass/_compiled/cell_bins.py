"""Loops over points and the bins of cells near to them; see `diffclass.blocks.cell_bins`."""

from __future__ import annotations

import numpy as np

from diffclass._compiled._jit import parallel, share
from diffclass._compiled.neighbor_lists import squared_distance


@parallel
def gaps_to_bins(part, X, centers, bins, own, around, scales, out):
    """out(x, b) = least (|x - c'|^2 - |x - c|^2) / scale(c, c') of the cells c' of bin b near c.

    c is the own cell of x. Rounding below 0 becomes 0, as does the own bin; bins without a cell
    near c become infinite.

    Parameters
    ----------
    X : float32 of shape (n, d)
        d is a multiple of 8 (filled up with zeros).
    centers : float32 of shape (n_cells, d)
    bins : int64 of shape (n_cells,)
        Bin of each cell.
    own : int64 of shape (n,)
        Cell of each point.
    around : int64 of shape (n_cells, k)
        Other cells near to each.
    scales : float32 of shape (n_cells, k)
    out : float32 of shape (n, n_bins)
    """
    for x in share(part, X.shape[0]):
        c = own[x]
        nearest = squared_distance(X, x, centers, c)
        for b in range(out.shape[1]):
            out[x, b] = np.inf
        for j in range(around.shape[1]):
            b = bins[around[c, j]]
            gap = (squared_distance(X, x, centers, around[c, j]) - nearest) / scales[c, j]
            out[x, b] = min(out[x, b], max(gap, np.float32(0)))
        out[x, bins[c]] = 0
