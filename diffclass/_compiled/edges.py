"""Loops over the edges of a graph, row by row."""

from __future__ import annotations

import numpy as np

from diffclass._compiled._jit import parallel, prange


@parallel
def squared_distances(indptr, indices, X, Y, out):
    """out(e) = |X(x) - Y(y)|^2 for the edge e from x to y."""
    for x in prange(indptr.shape[0] - 1):
        for e in range(indptr[x], indptr[x + 1]):
            y = indices[e]
            total = X[x, 0] - X[x, 0]
            for j in range(X.shape[1]):
                difference = X[x, j] - Y[y, j]
                total += difference * difference
            out[e] = total


@parallel
def kth_smallest(indptr, indices, data, k, without_diagonal, out):
    """out(x) = k-th smallest value of row x, or its largest where it has fewer; 0 if it has none.

    The k smallest are kept sorted by insertion: rows are short and k is small.
    """
    for x in prange(indptr.shape[0] - 1):
        smallest = np.full(k, np.inf, dtype=data.dtype)
        found = 0
        for e in range(indptr[x], indptr[x + 1]):
            if without_diagonal and indices[e] == x:
                continue
            value = data[e]
            if value < smallest[k - 1]:
                position = k - 1
                while position > 0 and smallest[position - 1] > value:
                    smallest[position] = smallest[position - 1]
                    position -= 1
                smallest[position] = value
            found += 1
        out[x] = smallest[min(found, k) - 1] if found > 0 else 0


@parallel
def scaled_by_ends(indptr, indices, data, row_scale, column_scale, out):
    """out(e) = data(e) row_scale(x) column_scale(y) for the edge e from x to y."""
    for x in prange(indptr.shape[0] - 1):
        scale = row_scale[x]
        for e in range(indptr[x], indptr[x + 1]):
            out[e] = data[e] * (scale * column_scale[indices[e]])


@parallel
def row_sums(indptr, data, out):
    """out(x) = sum of row x, added in double precision."""
    for x in prange(indptr.shape[0] - 1):
        total = 0.0
        for e in range(indptr[x], indptr[x + 1]):
            total += data[e]
        out[x] = total
