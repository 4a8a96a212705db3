"""Loops over columns: products with a sparse symmetric matrix K (n, n), and what is read off.

The edges of a row are summed in the same order, four at a time, for one column as for several.
Columns f, out are (n, n_columns), row_scale (n,).
"""

from __future__ import annotations

import numpy as np

from diffclass._compiled.loops import inlined, parallel, share

BLOCK = 512  # points whose values `read_off` keeps near the processor
# Values whose relative difference is below this are equal, so that rounding does not decide a tie.
# It is far below the rounding of single precision: late in a diffusion, when values are close to
# their limits, such small differences still count.
TIE = 1e-12
# unsigned, since an index with a sign might count from the end
ONE, TWO, THREE, FOUR = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)


@parallel
def row_scaled_product(part, indptr, indices, data, row_scale, f, out, total, n_terms):
    """out(x, c) = row_scale(x) sum_y K(x, y) f(y, c), and a running sum in the same pass.

    ``total`` (n, n_columns) gets nothing if n_terms is 0, out if it is 1, f + out if it is 2. Every
    second step of a walk adds its own value and the one before, which halves the passes over it.
    """
    for x in share(part, indptr.shape[0] - 1):
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
def row_scaled_column_product(part, indptr, indices, data, row_scale, f, out, total, n_terms):
    """`row_scaled_product` of one column (n,), whose sum stays in a register."""
    for x in share(part, indptr.shape[0] - 1):
        value = f.dtype.type(0)
        e = np.uint64(indptr[x])
        stop = np.uint64(indptr[x + 1])
        while e + FOUR <= stop:
            # the four sums of `add_row_product`, in its order: the same bits
            first = data[e] * f[np.uint64(indices[e])]
            second = data[e + ONE] * f[np.uint64(indices[e + ONE])]
            third = data[e + TWO] * f[np.uint64(indices[e + TWO])]
            fourth = data[e + THREE] * f[np.uint64(indices[e + THREE])]
            value += (first + second) + (third + fourth)
            e += FOUR
        while e < stop:
            value += data[e] * f[np.uint64(indices[e])]
            e += ONE
        out[x] = value * row_scale[x]
        if n_terms == 1:
            total[x] += out[x]
        elif n_terms == 2:
            total[x] += np.float64(f[x]) + np.float64(out[x])


@parallel
def scaled_product(part, indptr, indices, data, scale, f, out):
    """out(x, c) = scale(x, c) sum_y K(x, y) f(y, c); scale (n, n_columns)."""
    for x in share(part, indptr.shape[0] - 1):
        row_product(indices, data, np.uint64(indptr[x]), np.uint64(indptr[x + 1]), f, x, out)
        for c in range(f.shape[1]):
            out[x, c] *= scale[x, c]


@parallel
def recurrence_step(part, indptr, indices, data, weight, shift, f, previous):
    """Take previous <- weight (K f - shift f) - previous: a step of a three-term recurrence.

    weight, not 0, and shift are in the dtype of f; previous (n, n_columns).
    """
    # the sum goes straight into ``previous``, which therefore starts divided by the weight
    inverse = f.dtype.type(1) / weight
    for x in share(part, indptr.shape[0] - 1):
        for c in range(f.shape[1]):
            previous[x, c] = -(inverse * previous[x, c] + shift * f[x, c])
        add_row_product(
            indices, data, np.uint64(indptr[x]), np.uint64(indptr[x + 1]), f, x, previous
        )
        for c in range(f.shape[1]):
            previous[x, c] *= weight


@inlined
def row_product(indices, data, start, stop, f, x, out):
    """out(x, c) = sum_e K(e) f(y(e), c) over the edges start <= e < stop of row x."""
    for c in range(f.shape[1]):
        out[x, c] = 0
    add_row_product(indices, data, start, stop, f, x, out)


@inlined
def add_row_product(indices, data, start, stop, f, x, out):
    """out(x, c) += sum_e K(e) f(y(e), c) over the edges start <= e < stop of row x.

    Four edges at a time: each pass over ``out`` then does four multiplications, and the four rows
    of ``f`` are fetched side by side.
    """
    n_columns = f.shape[1]
    e = start
    while e + FOUR <= stop:
        y0 = np.uint64(indices[e])
        y1 = np.uint64(indices[e + ONE])
        y2 = np.uint64(indices[e + TWO])
        y3 = np.uint64(indices[e + THREE])
        k0 = data[e]
        k1 = data[e + ONE]
        k2 = data[e + TWO]
        k3 = data[e + THREE]
        for c in range(n_columns):
            out[x, c] += (k0 * f[y0, c] + k1 * f[y1, c]) + (k2 * f[y2, c] + k3 * f[y3, c])
        e += FOUR
    while e < stop:
        y = np.uint64(indices[e])
        k = data[e]
        for c in range(n_columns):
            out[x, c] += k * f[y, c]
        e += ONE


@parallel
def chebyshev_step(part, product, previous, coefficients, sums):
    """Take previous <- 2 product - previous, then sums(j) += coefficients(j) previous.

    With product = A T_k(A) f and previous = T_(k-1)(A) f this leaves T_(k+1)(A) f in ``previous``
    and adds it to the series of each requested time j; sums (n_series, n, n_columns).
    """
    for x in share(part, previous.shape[0]):
        for c in range(previous.shape[1]):
            previous[x, c] = product[x, c] + product[x, c] - previous[x, c]
        for j in range(coefficients.shape[0]):
            weight = coefficients[j]
            if weight != 0:
                for c in range(previous.shape[1]):
                    sums[j, x, c] += weight * previous[x, c]


@parallel
def moment_products(part, weight, before, now, first, second, out):
    """Products <f, g> = sum over the k-th chunk of x of weight(x) f(x) g(x), of pairs of columns.

    out(k, 0, p) = <before, now> and out(k, 1, p) = <now, now>, of the columns first(p) and
    second(p); weight (n,) and out (n_chunks, 2, n_pairs) are float64.
    """
    n, n_chunks = now.shape[0], out.shape[0]
    for k in share(part, n_chunks):
        out[k] = 0
        for x in range(n * k // n_chunks, n * (k + 1) // n_chunks):
            for p in range(first.shape[0]):
                a, b = np.uint64(first[p]), np.uint64(second[p])
                value = weight[x] * np.float64(now[x, b])
                out[k, 0, p] += value * np.float64(before[x, a])
                out[k, 1, p] += value * np.float64(now[x, a])


@parallel
def read_off(part, columns, limits, component, class_weight, codes, probability, margin):
    """codes(x) = the i of the largest p_i = w_i N_i / sum_j w_j N_j, with p_(1) and p_(1) - p_(2).

    N_i(x) = columns(i, x) + limits(component of x, i), added in double precision: late in a
    diffusion the columns are far smaller than the limits. Values below 0 are rounding and count as
    0; where all N_i are 0 the code is -1. A tie goes to the first class.

    columns (n_classes, n) may be strided, limits (n_components, n_classes), class_weight
    (n_classes,) holds the w_i; codes, probability and margin (n,) are written. The loop takes a
    block of points, class by class and without branches, so that the compiler can handle eight
    points in one instruction.
    """
    n_points = columns.shape[1]
    total, first, second = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    best = np.empty(BLOCK)
    for block in share(part, (n_points + BLOCK - 1) // BLOCK):
        start = block * BLOCK
        length = BLOCK if start + BLOCK < n_points else n_points - start
        for k in range(length):
            total[k], first[k], second[k], best[k] = 0.0, 0.0, 0.0, -1.0
        for i in range(columns.shape[0]):
            weight = class_weight[i]
            for k in range(length):
                x = start + k
                value = (limits[component[x], i] + columns[i, x]) * weight
                value = value if value > 0 else 0.0
                total[k] += value
                is_first = value > first[k] * (1 + TIE)
                # p_(1) and p_(2) so far; selections, which are one instruction without a branch
                lower = first[k] if is_first else value
                second[k] = lower if lower > second[k] else second[k]
                first[k] = value if is_first else first[k]
                best[k] = i if is_first else best[k]
        for k in range(length):
            whole = total[k] if total[k] > 0 else 1.0
            codes[start + k] = best[k]
            probability[start + k] = first[k] / whole
            lead = first[k] - second[k]
            margin[start + k] = (lead if lead > 0 else 0.0) / whole
