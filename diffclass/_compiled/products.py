"""Products of a sparse symmetric matrix with several columns at once, parallel by rows."""

from __future__ import annotations

import numpy as np

from diffclass._compiled._jit import parallel, prange


@parallel
def row_scaled_product(indptr, indices, data, row_scale, f, out):
    """out(x, c) = row_scale(x) sum_y K(x, y) f(y, c).

    Four edges at a time: each pass over the row of ``out`` then does four multiplications, and
    the four rows of ``f`` are fetched side by side.
    """
    n_columns = f.shape[1]
    for x in prange(indptr.shape[0] - 1):
        start = np.uint64(indptr[x])
        stop = np.uint64(indptr[x + 1])
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
        scale = row_scale[x]
        for c in range(n_columns):
            out[x, c] *= scale
