"""Loops that sort points into cells, and search the cells near to each point.

A tree of n_nodes nodes sorts the points into n_nodes + 1 leaves: node i leads to 2 i + 1 and 2 i +
2, and the leaves follow the nodes. Leaf c is the start of cell c, whose points are then moved to
the nearest centre.

    X, Q : float32 of shape (n, d)         points; d is a multiple of 8 (filled up with zeros)
    directions : float32 of shape (n_nodes, d)
    thresholds : float32 of shape (n_nodes,)
    centers : float32 of shape (n_cells, d)
    around : int32 of shape (n_cells, n_around)    the nearest cells of each cell, by their centres
    cell_of : int32 of shape (n,)          the cell of each point, or one near to it
    starts : int64 of shape (n_cells + 1,)  where the points of a cell start, sorted by cell
    columns : float32 of shape (n_columns n_features,)    the points of each cell as an array of
                                           shape (n_features, n_columns), cell by cell; both are
                                           filled up, to multiples of 4 and 16
    column_starts : int64 of shape (n_cells + 1,)    where the columns of a cell start
    without : int64 of shape (n,)          a point that Q(x) must not find, such as itself, or -1
    lists : uint64 of shape (n, k)         see `neighbor_lists`
"""

from __future__ import annotations

import numpy as np

from diffclass._compiled.loops import inlined, parallel, serial, share
from diffclass._compiled.neighbor_lists import (
    enter_row,
    four_distances,
    kth_value,
    squared_distance,
)


@parallel
def halve(part, X, order, starts, picks, directions, thresholds, projections, out):
    """Halve each set order[starts(i) : starts(i + 1)] at the median along a direction of its own.

    The direction leads from one of two members, the random numbers picks(i) (n_sets, 2), to the
    other, turned towards the largest variance by two power steps. ``out`` is the new ``order``
    (n,), lower halves first; directions and thresholds are those of this level; projections (n,) is
    scratch memory.
    """
    for i in share(part, starts.shape[0] - 1):
        start, stop = starts[i], starts[i + 1]
        half = (stop - start) // 2
        turned_direction(X, order[start:stop], picks[i], directions[i])
        for e in range(start, stop):
            projections[e] = dot(X, order[e], directions, i)
        median = kth_value(projections[start:stop].copy(), half)
        thresholds[i] = median
        ties = half  # points at the median fill up the lower half
        for e in range(start, stop):
            if projections[e] < median:
                ties -= 1
        low, high = start, start + half
        for e in range(start, stop):
            is_low = projections[e] < median
            if projections[e] == median and ties > 0:
                is_low = True
                ties -= 1
            if is_low:
                out[low] = order[e]
                low += 1
            else:
                out[high] = order[e]
                high += 1


@serial
def turned_direction(X, members, picks, direction):
    """Write the difference of two members after two power steps on up to 128 members."""
    n = members.shape[0]
    first, second = members[picks[0] % n], members[picks[1] % n]
    for j in range(X.shape[1]):
        direction[j] = X[first, j] - X[second, j]
    n_used = min(n, 128)
    mean, turned = np.zeros(X.shape[1], X.dtype), np.empty(X.shape[1], X.dtype)
    begin = picks[0] % (n - n_used + 1)  # 128 members in a row: they tell the covariance enough
    for x in members[begin : begin + n_used]:
        for j in range(X.shape[1]):
            mean[j] += X[x, j] / np.float32(n_used)
    for _ in range(2):
        turned[:] = 0
        for x in members[begin : begin + n_used]:
            along = np.float32(0)
            for j in range(X.shape[1]):
                along += (X[x, j] - mean[j]) * direction[j]
            for j in range(X.shape[1]):
                turned[j] += along * (X[x, j] - mean[j])
        largest = np.max(np.abs(turned))
        if largest == 0:
            break
        for j in range(X.shape[1]):
            direction[j] = turned[j] / largest


@inlined
def dot(X, x, Y, y):
    """Return the product of two rows, in eight sums that fit a register."""
    a, b, c, d = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
    e, f, g, h = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
    for j in range(0, X.shape[1], 8):
        a += X[x, j] * Y[y, j]
        b += X[x, j + 1] * Y[y, j + 1]
        c += X[x, j + 2] * Y[y, j + 2]
        d += X[x, j + 3] * Y[y, j + 3]
        e += X[x, j + 4] * Y[y, j + 4]
        f += X[x, j + 5] * Y[y, j + 5]
        g += X[x, j + 6] * Y[y, j + 6]
        h += X[x, j + 7] * Y[y, j + 7]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@parallel
def leaves_of(part, Q, directions, thresholds, out):
    """out(x) = leaf of the tree in which Q(x) falls."""
    n_nodes = thresholds.shape[0]
    for x in share(part, Q.shape[0]):
        node = 0
        while node < n_nodes:
            node = 2 * node + (1 if dot(Q, x, directions, node) < thresholds[node] else 2)
        out[x] = node - n_nodes


@serial
def mean_centers(X, cell_of, centers):
    """Write the mean of the points of each cell; a cell without points keeps its centre."""
    sizes = np.zeros(centers.shape[0], np.int64)
    for x in range(X.shape[0]):
        c = cell_of[x]
        if sizes[c] == 0:
            centers[c] = 0
        sizes[c] += 1
        for j in range(X.shape[1]):
            centers[c, j] += X[x, j]
    for c in range(centers.shape[0]):
        for j in range(X.shape[1]):
            centers[c, j] /= np.float32(max(sizes[c], 1))


@parallel
def fill_columns(part, X, starts, column_starts, columns):
    """Write the points of each cell as columns; X is sorted by cell."""
    n_features = columns.shape[0] // max(column_starts[column_starts.shape[0] - 1], 1)
    for c in share(part, starts.shape[0] - 1):
        block = block_of(columns, column_starts, c, n_features)
        size = starts[c + 1] - starts[c]
        for j in range(n_features):
            for b in range(size):
                block[j, b] = X[starts[c] + b, j]
            for b in range(size, block.shape[1]):
                block[j, b] = np.inf  # a column that is nowhere near


@inlined
def block_of(columns, column_starts, c, n_features):
    """Return the columns of a cell, (n_features, n_columns)."""
    start, stop = column_starts[c], column_starts[c + 1]
    return columns[start * n_features : stop * n_features].reshape((n_features, stop - start))


@serial
def fill_center_columns(centers, cells, columns):
    """Write the centres of some cells as columns (n_features, n_columns)."""
    for j in range(columns.shape[0]):
        for b in range(columns.shape[1]):
            columns[j, b] = centers[cells[b], j]


@parallel
def reassign(part, Q, cell_of, around, centers, n_features, out):
    """out(x) = that of the cells around cell_of(x) whose centre is nearest to Q(x).

    n_features are the columns of Q that are not filled up to a multiple of 4.
    """
    n, n_around = Q.shape[0], around.shape[1]
    for block in share(part, (n + 255) // 256):
        near = np.empty((n_features, n_around), np.float32)
        rows, four = np.empty((4, n_features), np.float32), np.empty((4, n_around), np.float32)
        first, end = 256 * block, min(256 * block + 256, n)
        while first < end:
            stop = end_of_run(cell_of, first, end)
            fill_center_columns(centers, around[cell_of[first]], near)
            for x in range(first, stop, 4):
                take_rows(Q, x, stop, rows)
                four_distances(rows, near, four)
                for u in range(min(4, stop - x)):
                    out[x + u] = around[cell_of[first], np.argmin(four[u])]
            first = stop


@inlined
def end_of_run(cell_of, first, end):
    """Return where the points in the cell of the first one end."""
    stop = first + 1
    while stop < end and cell_of[stop] == cell_of[first]:
        stop += 1
    return stop


@inlined
def take_rows(Q, x, stop, rows):
    """Copy the points x, x + 1 ... below ``stop``, the last one again where fewer than four are."""
    for u in range(4):
        for j in range(rows.shape[1]):
            rows[u, j] = Q[min(x + u, stop - 1), j]


@parallel
def enter_cells(
    part, Q, without, cell_of, around, centers, n_probes, columns, starts, column_starts, lists
):
    """Enter the points of the n_probes cells nearest to each point of Q into its empty list.

    n_probes is at most n_around.
    """
    n, n_around = Q.shape[0], around.shape[1]
    n_features = columns.shape[0] // column_starts[column_starts.shape[0] - 1]
    longest = np.max(column_starts[1:] - column_starts[:-1])
    for block in share(part, (n + 255) // 256):
        near, gaps = np.empty((n_features, n_around), np.float32), np.empty(n_around, np.float32)
        rows, four = np.empty((4, n_features), np.float32), np.empty((4, n_around), np.float32)
        is_due, due = np.empty((256, n_around), np.bool_), np.empty(256 + 3, np.int64)
        found, words = np.empty((4, longest), np.float32), np.empty(longest // 8, np.uint64)
        first, end = 256 * block, min(256 * block + 256, n)
        while first < end:  # the queries of one cell, which share the cells around it
            stop = end_of_run(cell_of, first, end)
            cells = around[cell_of[first]]
            fill_center_columns(centers, cells, near)
            for x in range(first, stop, 4):
                take_rows(Q, x, stop, rows)
                four_distances(rows, near, four)
                for u in range(min(4, stop - x)):
                    for i in range(n_around):  # a slice takes Numba two seconds to compile
                        gaps[i] = four[u, i]
                    farthest = kth_value(gaps, n_probes - 1)
                    for i in range(n_around):
                        is_due[x + u - first, i] = four[u, i] <= farthest
            for i in range(n_around):  # one cell for all of them, while it is near the processor
                n_due = 0
                for x in range(first, stop):
                    due[n_due] = x
                    n_due += is_due[x - first, i]
                for t in range(n_due, n_due + 3):
                    due[t] = due[max(n_due - 1, 0)]
                enter_cell(
                    Q, without, due[: n_due + 3], cells[i], columns, starts, column_starts,
                    rows, found, words, lists,
                )  # fmt: skip
            first = stop


@inlined
def enter_cell(Q, without, due, c, columns, starts, column_starts, rows, found, words, lists):
    """Enter the points of cell c into the lists of some points of Q.

    ``due`` has their numbers, the last one three times more. ``rows`` (4, n_features), ``found``
    (4, at least as many as the columns of the cell) and ``words`` (an eighth of that) are scratch
    memory.
    """
    members = block_of(columns, column_starts, c, rows.shape[1])
    for t in range(0, due.shape[0] - 3, 4):
        for u in range(4):
            for j in range(rows.shape[1]):
                rows[u, j] = Q[due[t + u], j]
        four_distances(rows, members, found)
        for u in range(min(4, due.shape[0] - 3 - t)):
            x = due[t + u]
            if starts[c] <= without[x] < starts[c + 1]:
                found[u, without[x] - starts[c]] = np.inf
            enter_row(lists[x], found[u, : members.shape[1]], starts[c], words)


@parallel
def gaps_to_bins(part, X, centers, bins, own, around, scales, out):
    """out(x, b) = least (|x - c'|^2 - |x - c|^2) / scale(c, c') of the cells c' of bin b near c.

    c = own(x) is the cell of x; around (n_cells, k) has the other cells near to each, scales
    (n_cells, k) their scales, bins (n_cells,) the bin of each cell. Rounding below 0 becomes 0, as
    does the own bin; bins without a cell near c become infinite. d is a multiple of 8 (filled up
    with zeros).
    """
    for x in share(part, X.shape[0]):
        c = own[x]
        nearest = squared_distance(X, x, centers, c)
        for b in range(out.shape[1]):
            out[x, b] = np.inf
        for j in range(around.shape[1]):
            b = bins[around[c, j]]
            gap = (squared_distance(X, x, centers, around[c, j]) - nearest) / scales[c, j]
            out[x, b] = min(out[x, b], max(gap, np.float32(0)))
        out[x, bins[c]] = 0
