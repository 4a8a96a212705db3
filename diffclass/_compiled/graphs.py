"""Loops that make or walk the pattern of a graph."""

from __future__ import annotations

import numpy as np

from diffclass._compiled._jit import parallel, serial, share


@parallel
def merged_row_lengths(part, indptr, indices, other_indptr, other_indices, out):
    """out(x) = length of row x of `merged_rows`."""
    n = indptr.shape[0] - 1
    for x in share(part, n):
        a, a_stop = indptr[x], indptr[x + 1]
        b, b_stop = other_indptr[x], other_indptr[x + 1]
        length = 1
        while a < a_stop or b < b_stop:
            ya = indices[a] if a < a_stop else n
            yb = other_indices[b] if b < b_stop else n
            y = ya if ya < yb else yb
            if ya == y:
                a += 1
            if yb == y:
                b += 1
            if y != x:
                length += 1
        out[x] = length


@parallel
def merged_rows(
    part, indptr, indices, data, other_indptr, other_indices, other_data,
    out_indptr, out_indices, out_data,
):  # fmt: skip
    """Write the union of two patterns plus the diagonal; all rows are sorted by column.

    Where both hold an edge, the smaller distance counts; the diagonal has distance 0. out_indptr is
    given, from the lengths of `merged_row_lengths`.
    """
    n = indptr.shape[0] - 1
    for x in share(part, n):
        a, a_stop = indptr[x], indptr[x + 1]
        b, b_stop = other_indptr[x], other_indptr[x + 1]
        position = out_indptr[x]
        diagonal_is_due = True
        while a < a_stop or b < b_stop:
            ya = indices[a] if a < a_stop else n
            yb = other_indices[b] if b < b_stop else n
            y = ya if ya < yb else yb
            value = data[a] if ya == y else other_data[b]
            if ya == yb:
                value = data[a] if data[a] < other_data[b] else other_data[b]
            if ya == y:
                a += 1
            if yb == y:
                b += 1
            if diagonal_is_due and y >= x:
                out_indices[position] = x
                out_data[position] = 0
                position += 1
                diagonal_is_due = False
            if y != x:
                out_indices[position] = y
                out_data[position] = value
                position += 1
        if diagonal_is_due:
            out_indices[position] = x
            out_data[position] = 0


@serial
def number_components(indptr, indices, queue, out):
    """out(x) = number of the connected component of x, in the order of their first points.

    The graph is symmetric; queue (n,) is scratch memory.
    """
    out[:] = -1
    n_components = 0
    for first in range(out.shape[0]):
        if out[first] >= 0:
            continue
        out[first] = n_components
        queue[0] = first
        begin, end = 0, 1
        while begin < end:
            x = queue[begin]
            begin += 1
            for e in range(indptr[x], indptr[x + 1]):
                y = indices[e]
                if out[y] < 0:
                    out[y] = n_components
                    queue[end] = y
                    end += 1
        n_components += 1


@parallel
def hops_from_groups(part, indptr, indices, group_of, n_groups, out):
    """out(i, x) = edges between x and the nearest point of group i, -1 where no path leads there.

    A breadth-first search from each group; group_of (n,) is -1 for points of no group.
    """
    n = indptr.shape[0] - 1
    for i in share(part, n_groups):
        queue = np.empty(n, dtype=np.int32)
        end = 0
        for x in range(n):
            if group_of[x] == i:
                out[i, x] = 0
                queue[end] = x
                end += 1
            else:
                out[i, x] = -1
        begin = 0
        while begin < end:
            x = queue[begin]
            begin += 1
            for e in range(indptr[x], indptr[x + 1]):
                y = indices[e]
                if out[i, y] < 0:
                    out[i, y] = out[i, x] + 1
                    queue[end] = y
                    end += 1


@serial
def spread_hops(indptr, indices, hops):
    """Lower hops(x) to 1 + hops(y) along the edges from x to y, until nothing changes.

    The n rows of the graph are its first columns; hops (n_columns,) is -1 where no path is known,
    and only its first n are written. From x the search goes on to the rows among its columns: the
    matrix is symmetric there. A point may be lowered more than once, since searches start at
    different numbers of hops.
    """
    n = indptr.shape[0] - 1
    queue = np.empty(n, dtype=np.int32)  # a ring: no point is in it twice
    waits = np.zeros(n, dtype=np.bool_)
    begin, length = 0, 0
    for x in range(n):
        for e in range(indptr[x], indptr[x + 1]):
            known = hops[indices[e]]
            if known >= 0 and (hops[x] < 0 or hops[x] > known + 1):
                hops[x] = known + 1
        if hops[x] >= 0:
            queue[length] = x
            waits[x] = True
            length += 1
    while length > 0:
        x = queue[begin]
        begin = (begin + 1) % n
        length -= 1
        waits[x] = False
        for e in range(indptr[x], indptr[x + 1]):
            y = indices[e]
            if y < n and (hops[y] < 0 or hops[y] > hops[x] + 1):
                hops[y] = hops[x] + 1
                if not waits[y]:
                    queue[(begin + length) % n] = y
                    waits[y] = True
                    length += 1


@serial
def fill_by_fronts(indptr, indices, data, is_empty, is_lost, values):
    """Fill the rows of lost points with means of their neighbours' rows, front by front.

    The first front are the lost points next to points that are not empty, the next one those next
    to the first, and so on. With F the fronts before that of x, and the points that are not empty,

        values(x, c) = sum over y in F of K(x, y) values(y, c) / sum over y in F of K(x, y).

    values (n, n_columns) may be strided; is_empty (n,) marks rows of zeros only, is_lost (n,) which
    of them are to be filled; K is above 0.
    """
    n = indptr.shape[0] - 1
    front = np.zeros(n, dtype=np.int32)  # 0 for rows that are not empty, -1 for rows still empty
    queue = np.empty(n, dtype=np.int32)
    end = 0
    for x in range(n):
        front[x] = -1 if is_empty[x] else 0
    for x in range(n):
        if is_lost[x]:
            for e in range(indptr[x], indptr[x + 1]):
                if front[indices[e]] == 0:
                    front[x] = 1
                    queue[end] = x
                    end += 1
                    break
    begin = 0
    while begin < end:
        x = queue[begin]
        begin += 1
        largest = 0.0  # affinities relative to it neither underflow nor overflow
        for e in range(indptr[x], indptr[x + 1]):
            y = indices[e]
            if 0 <= front[y] < front[x]:
                largest = max(largest, np.float64(data[e]))
            elif front[y] < 0 and is_lost[y]:
                front[y] = front[x] + 1
                queue[end] = y
                end += 1
        total = 0.0
        for e in range(indptr[x], indptr[x + 1]):
            y = indices[e]
            if 0 <= front[y] < front[x]:
                weight = np.float64(data[e]) / largest
                total += weight
                for c in range(values.shape[1]):
                    values[x, c] += weight * values[y, c]
        for c in range(values.shape[1]):
            values[x, c] /= total


@serial
def choose_seeds(indptr, indices, order, is_seed):
    """Choose the points that have no earlier neighbour among those chosen.

    order (n,) holds all points, the first to be chosen first; is_seed (n,) is False at the start.
    """
    for x in order:
        is_seed[x] = True
        for e in range(indptr[x], indptr[x + 1]):
            if indices[e] != x and is_seed[indices[e]]:
                is_seed[x] = False
                break


@parallel
def join_seeds(part, indptr, indices, data, of_seed, out):
    """out(x) = aggregate of the seed to which x has the largest affinity, the first of equal ones.

    of_seed (n,) is -1 at points that are no seeds; each of them has a neighbour that is one. A seed
    is in its own aggregate.
    """
    for x in share(part, indptr.shape[0] - 1):
        out[x] = of_seed[x]
        if out[x] < 0:
            largest = data.dtype.type(-1)
            for e in range(indptr[x], indptr[x + 1]):
                aggregate = of_seed[indices[e]]
                if aggregate >= 0 and data[e] > largest:
                    largest = data[e]
                    out[x] = aggregate
