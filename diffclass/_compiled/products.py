"""Products of a sparse symmetric matrix with one or several columns, parallel by rows.

A matrix K of n rows comes as CSR: ``indptr`` int (n + 1,), ``indices`` int (n_edges,) and ``data``
float (n_edges,). Columns ``f`` and results ``out`` are float (n, m), or (n,) where there is one.

A row's edges are summed in one order, four at a time, with one column as with several.
"""

from __future__ import annotations

import numpy as np

from diffclass._compiled._jit import inlined, parallel, prange


@parallel
def row_scaled_product(indptr, indices, data, row_scale, f, out, total, n_terms):
    """out(x, c) = row_scale(x) sum_y K(x, y) f(y, c), and a running sum while it is at hand.

    row_scale : float (n,)
    f, out : float (n, m)
    total : float64 (n, m), or any (0, 0) array where ``n_terms`` is 0
    n_terms : int; 0 adds nothing, 1 adds out, 2 adds f + out: every second step of a walk adds
        its own value and the one before, which halves the passes over ``total``
    """
    for x in prange(indptr.shape[0] - 1):
        row_product(indices, data, np.uint64(indptr[x]), np.uint64(indptr[x + 1]), f, x, out)
        scale = row_scale[x]
        for c in range(f.shape[1]):
            out[x, c] *= scale
        if n_terms == 1:
            for c in range(f.shape[1]):
                total[x, c] += out[x, c]
        elif n_terms == 2:
            for c in range(f.shape[1]):
                total[x, c] += np.float64(f[x, c]) + np.float64(out[x, c])


@parallel
def row_scaled_column_product(indptr, indices, data, row_scale, f, out, total, n_terms):
    """`row_scaled_product` of a single column, whose sum stays in a register.

    row_scale, f, out : float (n,)
    total : float64 (n,), or any (0,) array where ``n_terms`` is 0
    n_terms : int; as in `row_scaled_product`
    """
    for x in prange(indptr.shape[0] - 1):
        value = f.dtype.type(0)
        e = np.uint64(indptr[x])
        stop = np.uint64(indptr[x + 1])
        while e + np.uint64(4) <= stop:
            first = data[e] * f[np.uint64(indices[e])]
            second = data[e + np.uint64(1)] * f[np.uint64(indices[e + np.uint64(1)])]
            third = data[e + np.uint64(2)] * f[np.uint64(indices[e + np.uint64(2)])]
            fourth = data[e + np.uint64(3)] * f[np.uint64(indices[e + np.uint64(3)])]
            value += (first + second) + (third + fourth)
            e += np.uint64(4)
        while e < stop:
            value += data[e] * f[np.uint64(indices[e])]
            e += np.uint64(1)
        out[x] = value * row_scale[x]
        if n_terms == 1:
            total[x] += out[x]
        elif n_terms == 2:
            total[x] += np.float64(f[x]) + np.float64(out[x])


@parallel
def scaled_product(indptr, indices, data, scale, f, out):
    """out(x, c) = scale(x, c) sum_y K(x, y) f(y, c).

    scale, f, out : float (n, m)
    """
    for x in prange(indptr.shape[0] - 1):
        row_product(indices, data, np.uint64(indptr[x]), np.uint64(indptr[x + 1]), f, x, out)
        for c in range(f.shape[1]):
            out[x, c] *= scale[x, c]


@inlined
def row_product(indices, data, start, stop, f, x, out):
    """out(x, c) = sum_e K(e) f(y(e), c) over the edges start <= e < stop of a row.

    Four edges at a time: each pass over ``out`` then does four multiplications, and the four rows
    of ``f`` are fetched side by side.

    start, stop : uint64; x : int; f, out : float (n, m)
    """
    n_columns = f.shape[1]
    for c in range(n_columns):
        out[x, c] = 0
    e = start
    while e + np.uint64(4) <= stop:
        y0 = np.uint64(indices[e])
        y1 = np.uint64(indices[e + np.uint64(1)])
        y2 = np.uint64(indices[e + np.uint64(2)])
        y3 = np.uint64(indices[e + np.uint64(3)])
        k0 = data[e]
        k1 = data[e + np.uint64(1)]
        k2 = data[e + np.uint64(2)]
        k3 = data[e + np.uint64(3)]
        for c in range(n_columns):
            out[x, c] += (k0 * f[y0, c] + k1 * f[y1, c]) + (k2 * f[y2, c] + k3 * f[y3, c])
        e += np.uint64(4)
    while e < stop:
        y = np.uint64(indices[e])
        k = data[e]
        for c in range(n_columns):
            out[x, c] += k * f[y, c]
        e += np.uint64(1)


@parallel
def chebyshev_step(product, previous, coefficients, sums):
    """Previous <- 2 product - previous, then sums(j) += coefficients(j) previous.

    With product = A T_k(A) f and previous = T_(k-1)(A) f this leaves T_(k+1)(A) f in ``previous``
    and adds it to the series of each requested time j.

    product, previous : float (n, m)
    coefficients : float (n_series,)
    sums : float (n_series, n, m)
    """
    for x in prange(previous.shape[0]):
        for c in range(previous.shape[1]):
            previous[x, c] = product[x, c] + product[x, c] - previous[x, c]
        for j in range(coefficients.shape[0]):
            weight = coefficients[j]
            if weight != 0:
                for c in range(previous.shape[1]):
                    sums[j, x, c] += weight * previous[x, c]
