"""Loops over a graph: its pattern, the values of its edges, and the paths along them."""

from __future__ import annotations

import numpy as np

from diffclass._compiled.loops import parallel, serial, share


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
            if diagonal_is_due and y >= x:  # here, so that the row stays sorted
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


@parallel
def squared_distances(part, indptr, indices, X, Y, out):
    """out(e) = |X(x) - Y(y)|^2 for the edge e from x to y; X (n, d), Y (n_columns, d)."""
    for x in share(part, indptr.shape[0] - 1):
        for e in range(indptr[x], indptr[x + 1]):
            y = indices[e]
            total = X[x, 0] - X[x, 0]
            for j in range(X.shape[1]):
                difference = X[x, j] - Y[y, j]
                total += difference * difference
            out[e] = total


@parallel
def field_distances(part, indptr, indices, X, Y, V, W, along, across, out):
    """out(e) = along |delta|^2 + across |delta - (u . delta) u|^2, delta = X(x) - Y(y).

    V, W are the field at X, Y. u is the unit vector of V(x) + W(y), where W(y) is turned to the
    side of V(x); 0 where that sum is 0.
    """
    for x in share(part, indptr.shape[0] - 1):
        zero = X[x, 0] - X[x, 0]  # of the precision of X, which a literal 0.0 would widen
        for e in range(indptr[x], indptr[x + 1]):
            y = indices[e]
            product = zero
            for j in range(X.shape[1]):
                product += V[x, j] * W[y, j]
            flip = product < 0
            length, ahead, total, sideways = zero, zero, zero, zero
            for j in range(X.shape[1]):
                direction = V[x, j] - W[y, j] if flip else V[x, j] + W[y, j]
                difference = X[x, j] - Y[y, j]
                length += direction * direction
                ahead += direction * difference
                total += difference * difference
            # <u, delta> u = (<v, delta> / <v, v>) v for v = V + W, so no root is taken
            part = ahead / length if length > 0 else zero
            for j in range(X.shape[1]):
                direction = V[x, j] - W[y, j] if flip else V[x, j] + W[y, j]
                residual = X[x, j] - Y[y, j] - part * direction
                sideways += residual * residual
            out[e] = along * total + across * sideways


@parallel
def kth_smallest(part, indptr, indices, data, k, without_diagonal, out):
    """out(x) = k-th smallest value of row x, its largest if it has fewer than k, 0 if it has none.

    The k smallest are kept sorted by insertion: rows are short and k is small. With
    ``without_diagonal`` the edges from a point to itself do not count.
    """
    smallest = np.empty(k, dtype=data.dtype)
    for x in share(part, indptr.shape[0] - 1):
        for i in range(k):
            smallest[i] = np.inf
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
        out[x] = smallest[(found if found < k else k) - 1] if found > 0 else 0


@parallel
def scaled_by_ends(part, indptr, indices, data, row_scale, column_scale, out):
    """out(e) = data(e) row_scale(x) column_scale(y) for the edge e from x to y.

    row_scale (n,), column_scale (n_columns,).
    """
    for x in share(part, indptr.shape[0] - 1):
        scale = row_scale[x]
        for e in range(indptr[x], indptr[x + 1]):
            out[e] = data[e] * (scale * column_scale[indices[e]])


@parallel
def unit_rows(part, indptr, indices, data, column_size, out):
    """out(e) = data(e) / column_size(y), divided by the length of its row of these; 0 stays 0.

    Squares are added in double precision: those of outliers are too small for single.
    """
    for x in share(part, indptr.shape[0] - 1):
        total = 0.0
        for e in range(indptr[x], indptr[x + 1]):
            out[e] = data[e] / column_size[indices[e]]
            total += np.float64(out[e]) * np.float64(out[e])
        length = data.dtype.type(np.sqrt(total) if total > 0 else 1)
        for e in range(indptr[x], indptr[x + 1]):
            out[e] /= length


@parallel
def scaled_diagonal(part, indptr, indices, data, changed, out):
    """out(e) = changed(e); the diagonal keeps its share of each row, that it has in ``data``.

    ``data`` and ``changed`` (m,) are two matrices with the same entries.
    """
    for x in share(part, indptr.shape[0] - 1):
        around, kept = 0.0, 0.0
        for e in range(indptr[x], indptr[x + 1]):
            if indices[e] != x:
                around += data[e]
                kept += changed[e]
        ratio = kept / around if around > 0 else 1.0
        for e in range(indptr[x], indptr[x + 1]):
            out[e] = changed[e] if indices[e] != x else data[e] * ratio


@parallel
def row_sums(part, indptr, data, out):
    """out(x) = sum of row x, added in double precision; out float64."""
    for x in share(part, indptr.shape[0] - 1):
        total = 0.0
        for e in range(indptr[x], indptr[x + 1]):
            total += data[e]
        out[x] = total


@parallel
def leaving_class(part, indptr, indices, affinity, codes, out):
    """out(x) = sum of K(x,y) over the y of another class than x; codes (n,), out float64."""
    for x in share(part, indptr.shape[0] - 1):
        total = 0.0
        for e in range(indptr[x], indptr[x + 1]):
            if codes[indices[e]] != codes[x]:
                total += affinity[e]
        out[x] = total


@parallel
def row_products(
    part, indptr, indices, data, other_indptr, other_indices, other_data, n_columns, out
):
    """out(e) = <row x of one matrix, row y of the other> for the edge e = (x, y) of the first.

    Both have n_columns columns, and their rows are sorted by column. Row x of the first is spread
    over an array of all columns, where the entries of each row y meet it.
    """
    spread = np.zeros(n_columns, dtype=data.dtype)
    for x in share(part, indptr.shape[0] - 1):
        start, stop = indptr[x], indptr[x + 1]
        for a in range(start, stop):
            spread[indices[a]] = data[a]
        for e in range(start, stop):
            b, b_stop = other_indptr[indices[e]], other_indptr[indices[e] + 1]
            out[e] = spread_product(
                spread, indices, data, start, stop, other_indices, other_data, b, b_stop
            )
        for a in range(start, stop):
            spread[indices[a]] = 0


@parallel
def symmetric_row_products(part, indptr, indices, data, out):
    """out(e) = <row x, row y> of one matrix for its edges e = (x, y), which go both ways.

    As `row_products` of the matrix with itself, bit by bit, in half the time: each pair is met
    once, and its product written to both of its edges. Rows are sorted by column.
    """
    n = indptr.shape[0] - 1
    spread = np.zeros(n, dtype=data.dtype)
    for x in share(part, n):
        start, stop = indptr[x], indptr[x + 1]
        for a in range(start, stop):
            spread[indices[a]] = data[a]
        for e in range(first_not_below(indices, start, stop, x), stop):  # y >= x only
            b, b_stop = indptr[indices[e]], indptr[indices[e] + 1]
            out[e] = spread_product(spread, indices, data, start, stop, indices, data, b, b_stop)
            back = first_not_below(indices, b, b_stop, x)
            if back < b_stop:  # no other share writes it: x is the lower end of this pair alone
                out[back] = out[e]
        for a in range(start, stop):
            spread[indices[a]] = 0


@serial
def spread_product(spread, a_indices, a_data, a, a_stop, b_indices, b_data, b, b_stop):
    """Return the product of two sparse vectors sorted by index, the first also given in full.

    The row of a point with many duplicates is as long as their number; the few entries of the other
    row are then looked up in it.
    """
    if b_stop - b > 8 * (a_stop - a):  # so many steps a look-up takes
        return looked_up_product(a_indices, a_data, a, a_stop, b_indices, b_data, b, b_stop)
    total = 0.0
    for i in range(b, b_stop):
        total += spread[b_indices[i]] * b_data[i]
    return total


@serial
def looked_up_product(a_indices, a_data, a, a_stop, b_indices, b_data, b, b_stop):
    """Return the product of two sparse vectors, looking up the first in the second.

    Their entries are a <= i < a_stop and b <= i < b_stop of the arrays, sorted by index.
    """
    total = 0.0
    for i in range(a, a_stop):
        b = first_not_below(b_indices, b, b_stop, a_indices[i])
        if b < b_stop and b_indices[b] == a_indices[i]:
            total += a_data[i] * b_data[b]
    return total


@serial
def first_not_below(values, start, stop, value):
    """Return the first start <= i < stop with values(i) >= value, stop if there is none.

    ``values`` is sorted from start to stop. NumPy's searchsorted takes half a second to compile.
    """
    while start < stop:
        middle = (start + stop) // 2
        if values[middle] < value:
            start = middle + 1
        else:
            stop = middle
    return start


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
    for x in range(n):  # what the columns that are no rows bring, from other blocks
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
            if 0 <= front[y] < front[x]:  # not the front of x itself: its order must not matter
                weight = np.float64(data[e]) / largest
                total += weight
                for c in range(values.shape[1]):
                    values[x, c] += weight * values[y, c]
        for c in range(values.shape[1]):
            values[x, c] /= total
