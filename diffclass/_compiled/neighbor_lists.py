"""Loops that find neighbours: trees that halve sets of points, and NN-descent.

Each point has a list of its nearest points so far, nearest first:

    neighbors : int32 of shape (n, k)      their numbers, -1 where there is none yet
    distances : float32 of shape (n, k)    squared distances, infinite where there is none
    is_new : uint8 of shape (n, k)         whether an entry came in since it was last looked at

and a pool of points that its neighbours are offered:

    pools : int32 of shape (n, n_pooled)   number of a new entry y, -1 - y for an old one
    sizes : int32 of shape (n,)            length of each pool

Points X, Q are float32 of shape (n, d), where d is a multiple of 8 (filled up with zeros). A tree
of n_nodes nodes sorts the points into n_nodes + 1 leaves: node i leads to 2 i + 1 and 2 i + 2, and
the leaves follow the nodes.

    order : int32 of shape (n,)            numbers of the points, leaf by leaf
    starts : int64 of shape (n_leaves + 1,)
    directions : float32 of shape (n_nodes, d)
    thresholds : float32 of shape (n_nodes,)

Arguments of these names are not repeated in the docstrings of single loops.
"""

from __future__ import annotations

import numpy as np

from diffclass._compiled._jit import inlined, parallel, serial, share


@parallel
def halve(part, X, order, starts, picks, directions, thresholds, projections, out):
    """Halve each set order[starts(i) : starts(i + 1)] at the median along a direction of its own.

    The direction leads from one of the picked members to the other, turned towards the largest
    variance by two power steps. Lower halves come first in ``out``.

    Parameters
    ----------
    X, order, starts
        See the module; ``starts`` are those of the sets of one level of the tree.
    picks : int64 of shape (n_sets, 2)
        Random numbers, at least 0.
    directions, thresholds
        See the module, of this level; written.
    projections : float32 of shape (n,)
        Scratch memory.
    out : int32 of shape (n,)
        The new ``order``.
    """
    for i in share(part, starts.shape[0] - 1):
        start, stop = starts[i], starts[i + 1]
        half = (stop - start) // 2
        turned_direction(X, order[start:stop], picks[i], directions[i])
        for e in range(start, stop):
            projections[e] = dot(X, order[e], directions, i)
        median = np.partition(projections[start:stop], half)[half]
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
    """Write the difference of two members after two power steps on up to 128 members.

    Parameters
    ----------
    X : float32 of shape (n, d)
    members : int32 of shape (n_members,)
    picks : int64 of shape (2,)
    direction : float32 of shape (d,), written
    """
    n = members.shape[0]
    first, second = members[picks[0] % n], members[picks[1] % n]
    for j in range(X.shape[1]):
        direction[j] = X[first, j] - X[second, j]
    n_used = min(n, 128)
    mean, turned = np.zeros(X.shape[1], X.dtype), np.empty(X.shape[1], X.dtype)
    begin = picks[0] % (n - n_used + 1)
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


@parallel
def join_leaves(part, X, n_features, order, starts, neighbors, distances, is_new):
    """Enter all points of order[starts(i) : starts(i + 1)] into the lists of one another.

    A point lies in one set, so each list is written by one thread.

    Parameters
    ----------
    X, order, starts
        See the module.
    n_features : int
        Columns of X that are not filled up.
    neighbors, distances, is_new
        See the module; written.
    """
    for i in share(part, starts.shape[0] - 1):
        members = order[starts[i] : starts[i + 1]]
        n = members.shape[0]
        columns, row = np.empty((n_features, n), X.dtype), np.empty(n, X.dtype)
        for a in range(n):
            for j in range(n_features):
                columns[j, a] = X[members[a], j]
        for a in range(n):
            x = members[a]
            row_distances(columns, a, row)
            enter_members(members, a, row, neighbors[x], distances[x], is_new[x])


@serial
def row_distances(columns, a, row):
    """Write the squared distances from point a to all points.

    Points are columns, so that the inner loop runs over them.

    Parameters
    ----------
    columns : float32 of shape (n_features, n_members)
    a : int
    row : float32 of shape (n_members,), written
    """
    row[:] = 0
    j = 0
    while j + 4 <= columns.shape[0]:
        first, second, third, fourth = columns[j], columns[j + 1], columns[j + 2], columns[j + 3]
        p, q, r, s = first[a], second[a], third[a], fourth[a]
        for b in range(row.shape[0]):
            dp, dq, dr, ds = first[b] - p, second[b] - q, third[b] - r, fourth[b] - s
            row[b] += (dp * dp + dq * dq) + (dr * dr + ds * ds)
        j += 4
    while j < columns.shape[0]:
        for b in range(row.shape[0]):
            difference = columns[j, b] - columns[j, a]
            row[b] += difference * difference
        j += 1


@serial
def enter_members(members, a, row, neighbors, distances, is_new):
    """Enter the members at the distances ``row`` into the list of member a.

    Parameters
    ----------
    members : int32 of shape (n_members,)
    a : int
    row : float32 of shape (n_members,)
    neighbors, distances, is_new
        One row of those of the module; written.
    """
    farthest = distances[distances.shape[0] - 1]
    for b in range(members.shape[0]):
        if row[b] < farthest and b != a:
            farthest = enter(neighbors, distances, is_new, members[b], row[b])


@serial
def enter(neighbors, distances, is_new, z, distance):
    """Put z into a list whose last entry is farther, unless it is there; return the last distance.

    Parameters
    ----------
    neighbors, distances, is_new
        One row of those of the module; written.
    z : int
    distance : float32

    Returns
    -------
    float32
    """
    last = distances.shape[0] - 1
    is_there = False
    for i in range(last + 1):
        is_there |= neighbors[i] == z
    if not is_there:
        i = last
        while i > 0 and distances[i - 1] > distance:
            neighbors[i] = neighbors[i - 1]
            distances[i] = distances[i - 1]
            is_new[i] = is_new[i - 1]
            i -= 1
        neighbors[i] = z
        distances[i] = distance
        is_new[i] = 1
    return distances[last]


@serial
def make_pools(neighbors, is_new, n_nearest, pools, sizes):
    """Fill each pool with the nearest of x's list, then with points that have x in theirs.

    The latter come nearest first, as many as there is room for. All entries of the lists become
    old.

    Parameters
    ----------
    neighbors, is_new
        See the module; ``is_new`` is written.
    n_nearest : int
        Entries of each list that are used, at most n_pooled.
    pools, sizes
        See the module; written.
    """
    n = neighbors.shape[0]
    for x in range(n):
        for i in range(n_nearest):
            y = neighbors[x, i]
            pools[x, i] = y if is_new[x, i] else -1 - y
        sizes[x] = n_nearest
    for i in range(n_nearest):
        for x in range(n):
            y = neighbors[x, i]
            if sizes[y] < pools.shape[1] and not holds(neighbors[y], n_nearest, x):
                pools[y, sizes[y]] = x if is_new[x, i] else -1 - x
                sizes[y] += 1
    is_new[:] = 0


@inlined
def holds(entries, n_entries, x):
    """Return whether x is among the first entries.

    Parameters
    ----------
    entries : int32 of shape (k,)
    n_entries, x : int
    """
    found = False
    for i in range(n_entries):
        found |= entries[i] == x
    return found


@parallel
def refine(part, X, pools, sizes, neighbors, distances, is_new):
    """Enter into each list the pool of its point and the pools of the points in that pool.

    Of an old entry's pool only new entries are tried: the others were tried when it was new. Pools
    are those of the round before, and each list is written by one thread, so the number of threads
    changes nothing.

    Parameters
    ----------
    X, pools, sizes
        See the module.
    neighbors, distances, is_new
        See the module; written.
    """
    last = neighbors.shape[1] - 1
    for x in share(part, neighbors.shape[0]):
        farthest = distances[x, last]
        for i in range(sizes[x]):
            y = pools[x, i]
            y_is_new = y >= 0
            if not y_is_new:
                y = -1 - y
            if y_is_new:
                distance = squared_distance(X, x, X, y)
                if distance < farthest:
                    farthest = enter(neighbors[x], distances[x], is_new[x], y, distance)
            for j in range(sizes[y]):
                z = pools[y, j]
                if z < 0:
                    if not y_is_new:
                        continue
                    z = -1 - z
                if z != x:
                    distance = squared_distance(X, x, X, z)
                    if distance < farthest:
                        farthest = enter(neighbors[x], distances[x], is_new[x], z, distance)


@parallel
def enter_leaves(
    part, Q, without, X, order, starts, directions, thresholds, neighbors, distances, is_new
):  # fmt: skip
    """Enter into the list of each point of Q the leaf of a tree in which it falls.

    Parameters
    ----------
    Q, X, order, starts, directions, thresholds
        See the module.
    without : int64 of shape (n_queries,)
        A point of X that Q(x) must not find, such as itself; -1 for none.
    neighbors, distances, is_new
        See the module, of shape (n_queries, k); written.
    """
    n_nodes, last = thresholds.shape[0], neighbors.shape[1] - 1
    for x in share(part, Q.shape[0]):
        node = 0
        while node < n_nodes:
            node = 2 * node + (1 if dot(Q, x, directions, node) < thresholds[node] else 2)
        for e in range(starts[node - n_nodes], starts[node - n_nodes + 1]):
            distance = squared_distance(Q, x, X, order[e])
            if distance < distances[x, last] and order[e] != without[x]:
                enter(neighbors[x], distances[x], is_new[x], order[e], distance)


@parallel
def ask_pools(part, Q, without, X, pools, sizes, neighbors, distances, is_new):
    """Enter into the list of each point of Q the pools of its entries, until no entry is new.

    Parameters
    ----------
    Q, X, pools, sizes
        See the module.
    without : int64 of shape (n_queries,)
        As in `enter_leaves`.
    neighbors, distances, is_new
        See the module, of shape (n_queries, k); written.
    """
    last = neighbors.shape[1] - 1
    for x in share(part, Q.shape[0]):
        i = 0
        while i <= last:
            if not is_new[x, i] or neighbors[x, i] < 0:
                i += 1
                continue
            y = neighbors[x, i]
            is_new[x, i] = 0
            for j in range(sizes[y]):
                z = pools[y, j] if pools[y, j] >= 0 else -1 - pools[y, j]
                distance = squared_distance(Q, x, X, z)
                if distance < distances[x, last] and z != without[x]:
                    enter(neighbors[x], distances[x], is_new[x], z, distance)
            i = 0  # a nearer one may have been entered


@inlined
def squared_distance(X, x, Y, y):
    """Return the squared distance of two rows, in eight sums that fit a register.

    Parameters
    ----------
    X, Y : float32 of shape (n, d)
    x, y : int

    Returns
    -------
    float32
    """
    a, b, c, d = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
    e, f, g, h = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
    for j in range(0, X.shape[1], 8):
        da, db = X[x, j] - Y[y, j], X[x, j + 1] - Y[y, j + 1]
        dc, dd = X[x, j + 2] - Y[y, j + 2], X[x, j + 3] - Y[y, j + 3]
        de, df = X[x, j + 4] - Y[y, j + 4], X[x, j + 5] - Y[y, j + 5]
        dg, dh = X[x, j + 6] - Y[y, j + 6], X[x, j + 7] - Y[y, j + 7]
        a += da * da
        b += db * db
        c += dc * dc
        d += dd * dd
        e += de * de
        f += df * df
        g += dg * dg
        h += dh * dh
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@inlined
def dot(X, x, Y, y):
    """Return the product of two rows.

    Parameters
    ----------
    X, Y : float32 of shape (n, d)
    x, y : int

    Returns
    -------
    float32
    """
    total = np.float32(0)
    for j in range(X.shape[1]):
        total += X[x, j] * Y[y, j]
    return total
