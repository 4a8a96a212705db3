"""Loops over the edges of a graph, row by row."""

from __future__ import annotations

import numpy as np

from diffclass._compiled._jit import parallel, prange, serial


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
def field_distances(indptr, indices, X, Y, V, W, along, across, out):
    """out(e) = along |delta|^2 + across |delta - (u . delta) u|^2, delta = X(x) - Y(y).

    u is the unit vector of V(x) + W(y), W turned to the side of V; 0 where that sum is.
    """
    for x in prange(indptr.shape[0] - 1):
        zero = X[x, 0] - X[x, 0]
        for e in range(indptr[x], indptr[x + 1]):
            y = indices[e]
            product = zero
            for j in range(X.shape[1]):
                product += V[x, j] * W[y, j]
            flip = product < 0
            length, ahead, total, beside = zero, zero, zero, zero
            for j in range(X.shape[1]):
                direction = V[x, j] - W[y, j] if flip else V[x, j] + W[y, j]
                difference = X[x, j] - Y[y, j]
                length += direction * direction
                ahead += direction * difference
                total += difference * difference
            part = ahead / length if length > 0 else zero
            for j in range(X.shape[1]):
                direction = V[x, j] - W[y, j] if flip else V[x, j] + W[y, j]
                residual = X[x, j] - Y[y, j] - part * direction
                beside += residual * residual
            out[e] = along * total + across * beside


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
def row_products(indptr, indices, data, other_indptr, other_indices, other_data, out):
    """out(e) = <row x of one matrix, row y of the other> for the edge e = (x, y).

    The edges are the entries of the first matrix; rows of both are sorted by column. Where
    many points are duplicates one row is very long: the few entries of the others are looked up.
    """
    for x in prange(indptr.shape[0] - 1):
        a, a_stop = indptr[x], indptr[x + 1]
        for e in range(a, a_stop):
            b, b_stop = other_indptr[indices[e]], other_indptr[indices[e] + 1]
            if a_stop - a > 8 * (b_stop - b):
                out[e] = looked_up_product(
                    other_indices, other_data, b, b_stop, indices, data, a, a_stop
                )
            elif b_stop - b > 8 * (a_stop - a):
                out[e] = looked_up_product(
                    indices, data, a, a_stop, other_indices, other_data, b, b_stop
                )
            else:
                out[e] = merged_product(
                    indices, data, a, a_stop, other_indices, other_data, b, b_stop
                )


@serial
def merged_product(a_indices, a_data, a, a_stop, b_indices, b_data, b, b_stop):
    """Product of two sparse vectors sorted by index, walking along both."""
    total = 0.0
    while a < a_stop and b < b_stop:
        if a_indices[a] == b_indices[b]:
            total += a_data[a] * b_data[b]
            a += 1
            b += 1
        elif a_indices[a] < b_indices[b]:
            a += 1
        else:
            b += 1
    return total


@serial
def looked_up_product(a_indices, a_data, a, a_stop, b_indices, b_data, b, b_stop):
    """Product of two sparse vectors sorted by index, looking the first up in the second."""
    total = 0.0
    for i in range(a, a_stop):
        b += np.searchsorted(b_indices[b:b_stop], a_indices[i])
        if b < b_stop and b_indices[b] == a_indices[i]:
            total += a_data[i] * b_data[b]
    return total
