"""Products of a sparse symmetric matrix with several columns at once, parallel by rows."""

from __future__ import annotations

import numpy as np

from diffclass._compiled._jit import inlined, parallel, prange


@parallel
def row_scaled_product(indptr, indices, data, row_scale, f, out):
    """out(x, c) = row_scale(x) sum_y K(x, y) f(y, c)."""
    for x in prange(indptr.shape[0] - 1):
        row_product(indices, data, np.uint64(indptr[x]), np.uint64(indptr[x + 1]), f, x, out)
        scale = row_scale[x]
        for c in range(f.shape[1]):
            out[x, c] *= scale


@parallel
def row_scaled_product_summed(indptr, indices, data, row_scale, f, out, total):
    """`row_scaled_product`, and total(x, c) += out(x, c) while it is at hand."""
    for x in prange(indptr.shape[0] - 1):
        row_product(indices, data, np.uint64(indptr[x]), np.uint64(indptr[x + 1]), f, x, out)
        scale = row_scale[x]
        for c in range(f.shape[1]):
            out[x, c] *= scale
            total[x, c] += out[x, c]


@parallel
def scaled_product(indptr, indices, data, scale, f, out):
    """out(x, c) = scale(x, c) sum_y K(x, y) f(y, c)."""
    for x in prange(indptr.shape[0] - 1):
        row_product(indices, data, np.uint64(indptr[x]), np.uint64(indptr[x + 1]), f, x, out)
        for c in range(f.shape[1]):
            out[x, c] *= scale[x, c]


@inlined
def row_product(indices, data, start, stop, f, x, out):
    """out(x, c) = sum_e K(e) f(y(e), c) over the edges start <= e < stop of a row.

    Four edges at a time: each pass over ``out`` then does four multiplications, and the four rows
    of ``f`` are fetched side by side.
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
def row_scaled_vector_product(indptr, indices, data, row_scale, f, out):
    """out(x) = row_scale(x) sum_y K(x, y) f(y): a single column's sum stays in a register."""
    for x in prange(indptr.shape[0] - 1):
        total = 0.0
        for e in range(np.uint64(indptr[x]), np.uint64(indptr[x + 1])):
            total += data[e] * f[np.uint64(indices[e])]
        out[x] = row_scale[x] * total


@parallel
def chebyshev_step(product, previous, coefficients, sums):
    """Previous <- 2 product - previous, then sums(j) += coefficients(j) previous.

    With product = A T_k(A) f and previous = T_(k-1)(A) f this leaves T_(k+1)(A) f in ``previous``
    and adds it to the series of each requested time j.
    """
    for x in prange(previous.shape[0]):
        for c in range(previous.shape[1]):
            previous[x, c] = product[x, c] + product[x, c] - previous[x, c]
        for j in range(coefficients.shape[0]):
            weight = coefficients[j]
            if weight != 0:
                for c in range(previous.shape[1]):
                    sums[j, x, c] += weight * previous[x, c]
