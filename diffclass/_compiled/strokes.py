"""Columns of strokes: diffused to the same bits alone and among others, and the map of their sums.

Nothing is fused here, and a row's edges are summed in one order: a column does not depend on
which others were diffused beside it.
"""

from __future__ import annotations

import numpy as np

from diffclass._compiled._jit import exact_parallel, prange
from diffclass._compiled.products import row_product

BLOCK = 512


@exact_parallel
def column_product(indptr, indices, data, row_scale, f, out):
    """out(x) = row_scale(x) sum_y K(x, y) f(y), four edges at a time as `row_product` has them."""
    for x in prange(indptr.shape[0] - 1):
        total = f.dtype.type(0)
        e = np.uint64(indptr[x])
        stop = np.uint64(indptr[x + 1])
        while e + np.uint64(4) <= stop:
            first = data[e] * f[np.uint64(indices[e])]
            second = data[e + np.uint64(1)] * f[np.uint64(indices[e + np.uint64(1)])]
            third = data[e + np.uint64(2)] * f[np.uint64(indices[e + np.uint64(2)])]
            fourth = data[e + np.uint64(3)] * f[np.uint64(indices[e + np.uint64(3)])]
            total += (first + second) + (third + fourth)
            e += np.uint64(4)
        while e < stop:
            total += data[e] * f[np.uint64(indices[e])]
            e += np.uint64(1)
        out[x] = total * row_scale[x]


@exact_parallel
def block_product(indptr, indices, data, row_scale, f, out):
    """out(x, c) = row_scale(x) sum_y K(x, y) f(y, c)."""
    for x in prange(indptr.shape[0] - 1):
        row_product(indices, data, np.uint64(indptr[x]), np.uint64(indptr[x + 1]), f, x, out)
        scale = row_scale[x]
        for c in range(f.shape[1]):
            out[x, c] *= scale


@exact_parallel
def read_off(sums, class_weight, class_ids, ids, probability, margin):
    """ids(x) = the i of the largest p_i = w_i N_i / sum_j w_j N_j, p_(1) and p_(1) - p_(2).

    N_i(x) = sums(i, x); values below 0 are rounding and count as 0. Where all are, the id is 0.
    Some hundred points at a time, class by class, without branches: eight points a turn.
    """
    n_points = sums.shape[1]
    for block in prange((n_points + BLOCK - 1) // BLOCK):
        start = block * BLOCK
        length = min(BLOCK, n_points - start)
        total = np.zeros(BLOCK)
        first = np.zeros(BLOCK)
        second = np.zeros(BLOCK)
        best = np.zeros(BLOCK)
        for i in range(sums.shape[0]):
            weight = class_weight[i]
            class_id = float(class_ids[i])
            for k in range(length):
                value = sums[i, start + k] * weight
                value = value if value > 0 else 0.0
                total[k] += value
                is_first = value > first[k]
                lower = first[k] if is_first else value
                second[k] = lower if lower > second[k] else second[k]
                first[k] = value if is_first else first[k]
                best[k] = class_id if is_first else best[k]
        for k in range(length):
            share = 1 / total[k] if total[k] > 0 else 0.0
            ids[start + k] = best[k]
            probability[start + k] = first[k] * share
            margin[start + k] = (first[k] - second[k]) * share
