"""From diffused columns to each point's class, probability and margin."""

from __future__ import annotations

import numpy as np

from diffclass._compiled._jit import parallel, share

BLOCK = 512
# Values whose relative difference is below this are equal, so that rounding does not decide a tie.
# It is far below the rounding of single precision: late in a diffusion, when values are close to
# their limits, such small differences still count.
TIE = 1e-12


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
