"""Loops that keep lists of nearest points, and refine them by NN-descent.

The list of a point holds its nearest points so far, nearest first, as keys that are compared as
whole numbers: the bits of the squared distance, then the number of the point, then whether the
entry came in since it was last looked at.

    lists : uint64 of shape (n, k)          distance 2^32 + 2 number + is_new, or `NONE`

Beside it, each point has a pool of points that its neighbours are offered:

    pools : int32 of shape (n, n_pooled)    number of a new entry y, -1 - y for an old one,
                                            new ones first
    sizes : int32 of shape (n,)             length of each pool

Points X, Q are float32 of shape (n, d), where d is a multiple of 8 (filled up with zeros).
"""

from __future__ import annotations

import numpy as np

from diffclass._compiled.loops import (
    fused,
    inlined,
    parallel,
    parallel_over_results,
    serial,
    share,
)

NONE = np.uint64(0x7F800000FFFFFFFE)  # no entry: at an infinite distance, and not new
_IS_NEW, _NUMBER, _HIGH = np.uint64(1), np.uint64(0x7FFFFFFF), np.uint64(32)
# unsigned, since an index with a sign might count from the end, which takes the time of the sums
_0, _1, _2, _3, _4, _5, _6, _7, _8 = (np.uint64(i) for i in range(9))


@inlined
def key_of(distance_bits, number):
    """Return the key of a new entry."""
    return (np.uint64(distance_bits) << _HIGH) | (np.uint64(number) << _IS_NEW) | _IS_NEW


@inlined
def number_of(key):
    """Return the number of the point of an entry."""
    return np.int32((key >> _IS_NEW) & _NUMBER)


@inlined
def distance_of(key):
    """Return the squared distance of an entry."""
    return np.uint32(key >> _HIGH).view(np.float32)


@serial
def insert(keys, key):
    """Put a key that is below the last one into a list ``keys`` (k,)."""
    for i in range(keys.shape[0] - 1, 0, -1):  # no branches: a register holds eight keys
        keys[i] = min(keys[i], max(keys[i - 1], key))
    keys[0] = min(keys[0], key)


@serial
def enter_row(keys, distances, start, words):
    """Put points into a list that has none of them, where they are nearer than its last.

    ``distances`` (m,) are those of the points start, start + 1 ..., squared; m is a multiple of 16.
    ``words`` (at least m / 8,) is scratch memory.
    """
    last = keys.shape[0] - 1
    limit = distance_of(keys[last])
    if keys[last] == NONE:
        limit = lane_limit(distances, keys.shape[0])
    mark_near(distances, limit, words.view(np.uint8))
    for w in range(distances.shape[0] // 8):
        if words[w] == 0:  # a word shows whether any of eight is near
            continue
        for b in range(8 * w, 8 * w + 8):
            if distances[b] < limit:
                insert(keys, key_of(np.float32(distances[b]).view(np.uint32), start + b))
                limit = min(limit, distance_of(keys[last]))


@serial
def mark_near(distances, limit, is_near):
    """Write which distances are below a limit; a loop of its own, which registers can take."""
    for b in range(distances.shape[0]):
        is_near[b] = np.uint8(distances[b] < limit)


@serial
def mark_near_either(distances, limit, limits, is_near):
    """Write which distances are below one limit or below their own."""
    for b in range(distances.shape[0]):
        is_near[b] = np.uint8((distances[b] < limit) | (distances[b] < limits[b]))


@serial
def lane_limit(distances, k):
    """Return a distance below which there are at least k, or infinity.

    It is beyond the k-th of the least distances in each of 2 k lanes: nearly the k-th of all, at
    the price of one pass.
    """
    n_lanes = 2 * k
    if distances.shape[0] < 2 * n_lanes:
        return np.float32(np.inf)
    lanes = distances[:n_lanes].copy()
    for b in range(n_lanes, distances.shape[0] - n_lanes + 1, n_lanes):
        for lane in range(n_lanes):
            lanes[lane] = min(lanes[lane], distances[b + lane])
    found = kth_value(lanes, k - 1)
    return found if found == np.inf else np.nextafter(found, np.float32(np.inf))


@serial
def kth_value(values, k):
    """Return the value that has place k, from 0, in ascending order; values are reordered.

    Hoare's FIND, Algorithm 65 of the CACM, 1961. `numpy.partition` takes Numba nine seconds to
    compile.
    """
    low, high = 0, values.shape[0] - 1
    while low < high:
        first, middle, last = values[low], values[(low + high) // 2], values[high]
        pivot = max(min(first, middle), min(max(first, middle), last))
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if k <= j:
            high = j
        elif k >= i:
            low = i
        else:
            break
    return values[k]


@fused
def four_distances(rows, columns, out):
    """Write the squared distances of four points (4, p) from columns (p, m), p a multiple of 4.

    ``out`` (4, at least m) is whole in memory: where rows lie apart, registers take single values.
    A column that is read serves four points. Sums follow the order of the features and are fused
    with their products, so that a pair has the same bits wherever it is met.
    """
    for u in range(4):
        for b in range(columns.shape[1]):
            out[u, b] = 0
    for j in range(0, columns.shape[0], 4):
        a0, a1, a2, a3 = rows[0, j], rows[0, j + 1], rows[0, j + 2], rows[0, j + 3]
        b0, b1, b2, b3 = rows[1, j], rows[1, j + 1], rows[1, j + 2], rows[1, j + 3]
        c0, c1, c2, c3 = rows[2, j], rows[2, j + 1], rows[2, j + 2], rows[2, j + 3]
        d0, d1, d2, d3 = rows[3, j], rows[3, j + 1], rows[3, j + 2], rows[3, j + 3]
        for b in range(columns.shape[1]):
            x0, x1, x2, x3 = columns[j, b], columns[j + 1, b], columns[j + 2, b], columns[j + 3, b]
            out[0, b] = (((out[0, b] + (x0 - a0) * (x0 - a0)) + (x1 - a1) * (x1 - a1))
                         + (x2 - a2) * (x2 - a2)) + (x3 - a3) * (x3 - a3)  # fmt: skip
            out[1, b] = (((out[1, b] + (x0 - b0) * (x0 - b0)) + (x1 - b1) * (x1 - b1))
                         + (x2 - b2) * (x2 - b2)) + (x3 - b3) * (x3 - b3)  # fmt: skip
            out[2, b] = (((out[2, b] + (x0 - c0) * (x0 - c0)) + (x1 - c1) * (x1 - c1))
                         + (x2 - c2) * (x2 - c2)) + (x3 - c3) * (x3 - c3)  # fmt: skip
            out[3, b] = (((out[3, b] + (x0 - d0) * (x0 - d0)) + (x1 - d1) * (x1 - d1))
                         + (x2 - d2) * (x2 - d2)) + (x3 - d3) * (x3 - d3)  # fmt: skip


@inlined
def enter(keys, key):
    """Put a key that is below the last one into a list, unless its point is there."""
    if not has(keys, number_of(key)):
        insert(keys, key)


@inlined
def has(keys, number):
    """Return whether a point is in a list."""
    found = False
    for i in range(keys.shape[0]):
        found |= number_of(keys[i]) == number
    return found


@parallel_over_results
def make_pools(part, lists, n_nearest, pools, sizes):
    """Fill each pool with the nearest of x's list, then with points that have x among theirs.

    The latter come nearest first, as many as there is room for. n_nearest entries of each list are
    used, at most n_pooled.
    """
    n, mine = lists.shape[0], share(part, lists.shape[0])
    for x in mine:
        sizes[x] = 0
        for i in range(n_nearest):
            pools[x, i] = x  # which no other point equals, where there is no entry
            if lists[x, i] != NONE:
                pools[x, i] = in_pool(number_of(lists[x, i]), lists[x, i])
                sizes[x] += 1
    for first in range(0, n_nearest, 8):  # eight at a time, as they lie in memory: nearest first
        for x in range(n):
            for i in range(first, min(first + 8, n_nearest)):
                y = number_of(lists[x, i])
                if (
                    mine.start <= y < mine.stop
                    and lists[x, i] != NONE
                    and sizes[y] < pools.shape[1]
                    and not holds(pools[y], n_nearest, x)
                ):
                    pools[y, sizes[y]] = in_pool(x, lists[x, i])
                    sizes[y] += 1
    spare = np.empty(pools.shape[1], pools.dtype)
    for x in mine:
        put_new_first(pools[x, : sizes[x]], spare)


@inlined
def in_pool(x, key):
    """Return what stands for a point in a pool."""
    return x if key & _IS_NEW else -1 - x


@parallel
def make_old(part, lists, n_nearest):
    """Mark the nearest of each list as looked at."""
    for x in share(part, lists.shape[0]):
        for i in range(n_nearest):
            lists[x, i] &= ~_IS_NEW


@inlined
def put_new_first(pool, spare):
    """Sort the new entries of a pool before the old ones; ``spare`` is scratch memory."""
    n_new, n_old = 0, 0
    for i in range(pool.shape[0]):
        entry = pool[i]
        pool[n_new] = entry
        spare[n_old] = entry
        n_new += entry >= 0
        n_old += entry < 0
    for i in range(n_old):
        pool[n_new + i] = spare[i]


@inlined
def holds(pool, n_first, x):
    """Return whether x is among the first entries of a pool, new or old."""
    found = False
    for i in range(n_first):
        found |= (pool[i] == x) | (pool[i] == -1 - x)
    return found


@parallel
def join(part, X, n_features, pools, sizes, lists, first, counts, targets, keys):
    """Compare the members of some pools, new ones with all, and write who is nearer to whom.

    Pool y belongs to row i of counts (n_rows,), targets and keys (n_rows, n_found) where y - first
    lies in 32 i, ..., 32 i + 31: key(i, f) is to be entered into the list of target(i, f). Lists
    are only read, so neither the order of the pools nor the number of threads changes anything.
    n_features, a multiple of 4, are the columns of X that are not filled up.
    """
    widest = 16 * (pools.shape[1] // 16 + 1)
    for i in share(part, counts.shape[0]):
        members, limits = np.empty(widest + 4, np.int32), np.empty(widest, np.float32)
        columns = np.empty(n_features * widest, np.float32)
        rows, found = np.empty((4, n_features), np.float32), np.empty((4, widest), np.float32)
        words, touched = np.empty(widest // 8, np.uint64), np.empty(widest, np.float32)
        counts[i] = 0
        for y in range(first + 32 * i, min(first + 32 * i + 32, lists.shape[0])):
            n_members, n_new = points_of_pool(y, pools, sizes, members)
            if n_new == 0:
                continue
            members[n_members] = y  # an old member of its own pool
            n_members += 1
            touch(X, members[:n_members], touched)
            n_columns = n_members + -n_members % 16
            block = columns[: n_features * n_columns].reshape((n_features, n_columns))
            for b in range(n_members):
                limits[b] = distance_of(lists[members[b], lists.shape[1] - 1])
                for j in range(n_features):
                    block[j, b] = X[members[b], j]
            for b in range(n_members, n_columns):
                limits[b] = 0
                for j in range(n_features):
                    block[j, b] = np.inf
            for t in range(0, n_new, 4):
                for u in range(4):
                    for j in range(n_features):
                        rows[u, j] = block[j, min(t + u, n_new - 1)]
                four_distances(rows, block, found)
                for u in range(min(4, n_new - t)):
                    counts[i] = write_pairs(
                        t + u, members[:n_members], found[u, :n_columns], limits, words, lists,
                        counts[i], targets[i], keys[i],
                    )  # fmt: skip


@serial
def write_pairs(a, members, distances, limits, words, lists, n_found, targets, keys):
    """Write the pairs of member a with those after it that are nearer than a list's last."""
    x, limit = members[a], limits[a]
    mark_near_either(distances, limit, limits, words.view(np.uint8))
    for w in range((a + 1) // 8, distances.shape[0] // 8):
        if words[w] == 0:
            continue
        for b in range(max(8 * w, a + 1), min(8 * w + 8, members.shape[0])):
            y, bits = members[b], np.float32(distances[b]).view(np.uint32)
            if distances[b] < limit and y != x and not has(lists[x], y):
                targets[n_found], keys[n_found] = x, key_of(bits, y)
                n_found += 1
            if distances[b] < limits[b] and y != x and not has(lists[y], x):
                targets[n_found], keys[n_found] = y, key_of(bits, x)
                n_found += 1
    return n_found


@parallel_over_results
def enter_found(part, lists, counts, targets, keys):
    """Enter what `join` has written into the lists, each thread into those of its own."""
    mine = share(part, lists.shape[0])
    last = lists.shape[1] - 1
    for i in range(counts.shape[0]):
        for f in range(counts[i]):
            x = targets[i, f]
            if mine.start <= x < mine.stop and keys[i, f] < lists[x, last]:
                enter(lists[x], keys[i, f])


@serial
def points_of_pool(x, pools, sizes, points):
    """Write the points of a pool, the new ones first; return how many, and how many are new."""
    n_new = 0
    for i in range(sizes[x]):
        points[i] = max(pools[x, i], -1 - pools[x, i])
        n_new += pools[x, i] >= 0
    return sizes[x], n_new


@serial
def touch(rows, points, touched):
    """Read both ends of some rows, so that what follows need not wait for memory row by row.

    The processor asks for many rows at once, as no branch depends on them. ``touched`` is scratch
    memory: what is read must go somewhere.
    """
    for i in range(points.shape[0]):
        touched[i] = rows[points[i], 0] + rows[points[i], rows.shape[1] - 1]


@parallel
def ask_pools(part, Q, without, X, pools, sizes, lists):
    """Enter into the list of each point of Q the pools of its entries, until no entry is new.

    without(x), if not -1, is a point of X that Q(x) must not find, such as itself.
    """
    last = lists.shape[1] - 1
    for x in share(part, Q.shape[0]):
        keys = lists[x]
        i = 0
        while i <= last:
            if not keys[i] & _IS_NEW:
                i += 1
                continue
            keys[i] &= ~_IS_NEW
            y = number_of(keys[i])
            for j in range(sizes[y]):
                z = pools[y, j] if pools[y, j] >= 0 else -1 - pools[y, j]
                key = key_of(distance_bits(Q, x, X, z), z)
                if key < keys[last] and z != without[x]:
                    enter(keys, key)
            i = 0  # a nearer one may have been entered


@inlined
def distance_bits(X, x, Y, y):
    """Return the bits of the squared distance of two rows."""
    return np.float32(squared_distance(X, x, Y, y)).view(np.uint32)


@inlined
def squared_distance(X, x, Y, y):
    """Return the squared distance of two rows, in eight sums that fit a register."""
    a, b, c, d = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
    e, f, g, h = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
    for j in range(_0, np.uint64(X.shape[1]), _8):
        da, db = X[x, j] - Y[y, j], X[x, j + _1] - Y[y, j + _1]
        dc, dd = X[x, j + _2] - Y[y, j + _2], X[x, j + _3] - Y[y, j + _3]
        de, df = X[x, j + _4] - Y[y, j + _4], X[x, j + _5] - Y[y, j + _5]
        dg, dh = X[x, j + _6] - Y[y, j + _6], X[x, j + _7] - Y[y, j + _7]
        a += da * da
        b += db * db
        c += dc * dc
        d += dd * dd
        e += de * de
        f += df * df
        g += dg * dg
        h += dh * dh
    return ((a + b) + (c + d)) + ((e + f) + (g + h))
