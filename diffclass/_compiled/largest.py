"""Columns of many classes of which each row keeps only its largest values.

A row has k slots, in any order: codes (n, k), all different, and values (n, k). A slot that is not
needed holds 0 for some class.
"""

from __future__ import annotations

import numpy as np

from diffclass._compiled.columns import TIE
from diffclass._compiled.loops import inlined, parallel, serial, share


@parallel
def largest_product(
    part, indptr, indices, data, row_scale, codes, values, starts, own, stopped, passing,
    n_classes, out_codes, out_values,
):  # fmt: skip
    """out(x, .) = the k largest of passing(x) row_scale(x) sum_y K(x, y) N(y, .) + labels(x, .).

    N has the slots codes and values. The labels at x, of different classes, are stopped in the
    classes own, both (n_labels,), from starts(x) to starts(x + 1), of shape (n + 1,); passing(x),
    (n,), is the share of the walk that goes on. Of equal values that of the first class is kept.
    Each sum is taken in the order of the edges.
    """
    k = out_codes.shape[1]
    sums = np.zeros(n_classes, dtype=values.dtype)
    seen = np.full(n_classes, -1)  # the row that last met a class: nothing is cleared in between
    found = np.empty(n_classes, dtype=np.int32)
    for x in share(part, indptr.shape[0] - 1):
        n_found = 0
        for e in range(indptr[x], indptr[x + 1]):
            y, weight = np.uint64(indices[e]), data[e]
            for j in range(codes.shape[1]):
                value = values[y, j]
                if value == 0:
                    continue
                i = np.uint64(codes[y, j])
                if seen[i] != x:
                    seen[i], sums[i] = x, 0
                    found[n_found] = i
                    n_found += 1
                sums[i] += weight * value
        scale = row_scale[x] * passing[x]
        for j in range(n_found):
            sums[found[j]] *= scale
        for e in range(starts[x], starts[x + 1]):
            i = np.uint64(own[e])
            if seen[i] != x:
                seen[i], sums[i] = x, 0
                found[n_found] = i
                n_found += 1
            sums[i] += stopped[e]
        if n_found > k:
            bring_forward(found, n_found, sums, k)
        for j in range(min(k, n_found)):
            out_codes[x, j] = found[j]
            out_values[x, j] = sums[found[j]]
        free = 0  # empty slots name classes that are not among the found ones
        for j in range(n_found, k):
            while seen[free] == x:
                free += 1
            out_codes[x, j] = free
            out_values[x, j] = 0
            free += 1


@inlined
def precedes(i, j, sums):
    """Whether class i is kept rather than class j."""
    return sums[i] > sums[j] or (sums[i] == sums[j] and i < j)


@serial
def bring_forward(found, n_found, sums, k):
    """Reorder the first n_found classes so that the k with the largest sums come first.

    This is C. A. R. Hoare's selection (Algorithm 65: Find, 1961).
    """
    low, high = 0, n_found - 1
    while low < high:
        pivot = found[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while precedes(found[i], pivot, sums):
                i += 1
            while precedes(pivot, found[j], sums):
                j -= 1
            if i <= j:
                found[i], found[j] = found[j], found[i]
                i += 1
                j -= 1
        if k - 1 <= j:
            high = j
        elif k - 1 >= i:
            low = i
        else:
            break


@parallel
def read_off_rows(part, indptr, indices, data, class_weight, codes, probability, margin):
    """As `columns.read_off`, of values in sparse rows, (n, n_classes), at least 0."""
    for x in share(part, indptr.shape[0] - 1):
        total = first = second = 0.0
        best = -1
        for e in range(indptr[x], indptr[x + 1]):
            i = indices[e]
            value = class_weight[i] * data[e]
            if value > 0:
                total += value
                is_first = value > first * (1 + TIE) or (value * (1 + TIE) >= first and i < best)
                second = max(second, first if is_first else value)
                if is_first:
                    first, best = value, i
        whole = total if total > 0 else 1.0
        codes[x] = best
        probability[x] = first / whole
        margin[x] = max(first - second, 0.0) / whole
