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


@parallel
def row_cosines(indptr, indices, data, other_indptr, other_indices, other_data, out):
    """out(e) = cosine between row x of one matrix and row y of the other, for the edge e = (x, y).

    The edges are the entries of the first matrix; rows of both are sorted by column.
    """
    for x in prange(indptr.shape[0] - 1):
        start, stop = indptr[x], indptr[x + 1]
        own = 0.0
        for e in range(start, stop):
            own += data[e] * data[e]
        for e in range(start, stop):
            y = indices[e]
            a, b, b_stop = start, other_indptr[y], other_indptr[y + 1]
            product = 0.0
            other = 0.0
            for f in range(b, b_stop):
                other += other_data[f] * other_data[f]
            while a < stop and b < b_stop:
                if indices[a] == other_indices[b]:
                    product += data[a] * other_data[b]
                    a += 1
                    b += 1
                elif indices[a] < other_indices[b]:
                    a += 1
                else:
                    b += 1
            norms = np.sqrt(own * other)
            out[e] = product / norms if norms > 0 else 0.0
