"""Loops that keep lists of nearest points, and refine them by NN-descent.

The list of a point holds its nearest points so far, nearest first, as keys that are compared as
whole numbers: the bits of the squared distance, then the number of the point, then whether the
entry came in since it was last looked at.

    lists : uint64 of shape (n, k)          distance 2^32 + 2 number + is_new, or `NONE`

Beside it, each point has a pool of points that its neighbours are offered:

    pools : int32 of shape (n, n_pooled)    number of a new entry y, -1 - y for an old one,
                                            new ones first
    sizes : int32 of shape (n,)             length of each pool

Points X, Q are float32 of shape (n, d), where d is a multiple of 8 (filled up with zeros). Their
codes are the same points in a quarter of the memory:

    codes : int8 of shape (n, d)            X = step codes, but for rounding and clipping
    step : float32
"""

from __future__ import annotations

import numpy as np

from diffclass._compiled.loops import inlined, parallel, serial, share

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


@serial
def insert(keys, key):
    """Put a key that is below the last one into a list ``keys`` (k,)."""
    for i in range(keys.shape[0] - 1, 0, -1):  # no branches: a register holds eight keys
        keys[i] = min(keys[i], max(keys[i - 1], key))
    keys[0] = min(keys[0], key)


@serial
def enter_row(keys, bits, start):
    """Put points into a list, unless they are there, where they are nearer than its last.

    ``bits`` (m,) are those of the distances of the points start, start + 1 ...
    """
    last = keys.shape[0] - 1
    farthest = np.uint32(keys[last] >> _HIGH)
    begin = 0
    while begin < bits.shape[0]:
        stop = min(begin + 32, bits.shape[0])
        any_is_near = np.uint32(0)
        for b in range(begin, stop):
            any_is_near |= np.uint32(bits[b] < farthest)
        if any_is_near:
            for b in range(begin, stop):
                if bits[b] < farthest:
                    enter(keys, key_of(bits[b], start + b))
                    farthest = np.uint32(keys[last] >> _HIGH)
        begin = stop


@inlined
def enter(keys, key):
    """Put a key that is below the last one into a list, unless its point is there."""
    is_there = False
    for i in range(keys.shape[0]):
        is_there |= number_of(keys[i]) == number_of(key)
    if not is_there:
        insert(keys, key)


@serial
def make_pools(lists, n_nearest, pools, sizes):
    """Fill each pool with the nearest of x's list, then with points that have x among theirs.

    The latter come nearest first, as many as there is room for. n_nearest entries of each list are
    used, at most n_pooled, and become old.
    """
    n = lists.shape[0]
    for x in range(n):
        sizes[x] = 0
        for i in range(n_nearest):
            pools[x, i] = x  # which no other point equals, where there is no entry
            if lists[x, i] != NONE:
                y = number_of(lists[x, i])
                pools[x, i] = y if lists[x, i] & _IS_NEW else -1 - y
                sizes[x] += 1
    for i in range(n_nearest):  # all first neighbours before all second ones: nearest first
        for x in range(n):
            if lists[x, i] != NONE:
                y = number_of(lists[x, i])
                if sizes[y] < pools.shape[1] and not holds(pools[y], n_nearest, x):
                    pools[y, sizes[y]] = x if lists[x, i] & _IS_NEW else -1 - x
                    sizes[y] += 1
    spare = np.empty(pools.shape[1], pools.dtype)
    for x in range(n):
        for i in range(n_nearest):
            lists[x, i] &= ~_IS_NEW
        put_new_first(pools[x, : sizes[x]], spare)


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
def refine(part, X, codes, step, pools, sizes, lists):
    """Enter into each list the pool of its point and the pools of the points in that pool.

    Of an old entry's pool only new entries are tried: the others were tried when it was new. Pools
    are those of the round before, and each list is written by one thread, so the number of threads
    changes nothing. Codes rule most points out: they are small enough to stay near the processor.
    """
    n, n_pooled, last = lists.shape[0], pools.shape[1], lists.shape[1] - 1
    for block in share(part, (n + 63) // 64):
        seen = np.empty(1024, np.int32)
        candidates = np.empty(n_pooled * (n_pooled + 1) + 1, np.int32)
        touched = np.empty(candidates.shape[0], np.int64)
        for x in range(64 * block, min(64 * block + 64, n)):
            n_points = points_of_pool(x, pools, sizes, candidates)
            touch(pools, candidates[:n_points], touched)
            n_candidates = collect(x, pools, sizes, lists[x], seen, candidates)
            touch(codes, candidates[:n_candidates], touched)
            farthest = code_limit(lists[x, last], step, X.shape[1])
            for z in candidates[:n_candidates]:
                # codes cost a quarter of the reads; only what they let through is measured
                if code_distance(codes, x, z) <= farthest:
                    key = key_of(distance_bits(X, x, X, z), z)
                    if key < lists[x, last]:
                        enter(lists[x], key)
                        farthest = code_limit(lists[x, last], step, X.shape[1])


@serial
def points_of_pool(x, pools, sizes, points):
    """Write the points of a pool, new or old; return their number."""
    for i in range(sizes[x]):
        points[i] = max(pools[x, i], -1 - pools[x, i])
    return sizes[x]


@serial
def touch(rows, points, touched):
    """Read both ends of some rows, so that what follows need not wait for memory row by row.

    The processor asks for many rows at once, as no branch depends on them. ``touched`` is scratch
    memory: what is read must go somewhere.
    """
    for i in range(points.shape[0]):
        touched[i] = np.int64(rows[points[i], 0]) + np.int64(rows[points[i], rows.shape[1] - 1])


@inlined
def code_distance(codes, x, z):
    """Return the squared distance of two rows of codes."""
    x, z, total = np.uint64(x), np.uint64(z), np.int32(0)
    for j in range(np.uint64(codes.shape[1])):  # sums of 32 bits: twice as many fit a register
        difference = np.int32(np.int32(codes[x, j]) - np.int32(codes[z, j]))
        total = np.int32(total + np.int32(difference * difference))
    return total


@serial
def code_limit(key, step, n_features):
    """Return the largest squared distance of codes at which a point may be nearer than a key says.

    Rounding moves the difference of two codes by 0.41 on average (the root of 1/6) along any
    direction; three times that is allowed. Clipping only brings codes nearer to each other.
    """
    reach = np.sqrt(np.uint32(key >> _HIGH).view(np.float32)) / step
    return (reach + np.float32(1.25)) * (reach + np.float32(1.25)) + np.float32(n_features / 6)


@serial
def collect(x, pools, sizes, keys, seen, candidates):
    """Write the points to be tried for the list of x, most of them once; return their number.

    x itself is none of them: others of its remainder may have been seen since.

    seen (1024,) is scratch memory, the point of each remainder that was seen last; candidates has
    the shape (n_pooled (n_pooled + 1) + 1,).
    """
    seen[:] = -1
    for key in keys:
        y = number_of(key)
        seen[y & 1023] = y
    n = 0
    for i in range(sizes[x]):
        y, y_is_new = pools[x, i], pools[x, i] >= 0
        if not y_is_new:
            y = -1 - y
        candidates[n] = y  # counted, or written over by the next one
        n += y_is_new & (seen[y & 1023] != y) & (y != x)
        seen[y & 1023] = y
        for j in range(sizes[y]):
            z = pools[y, j]
            if z < 0:
                if not y_is_new:
                    break
                z = -1 - z
            candidates[n] = z
            n += (seen[z & 1023] != z) & (z != x)
            seen[z & 1023] = z
    return n


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
