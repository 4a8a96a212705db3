"""Products of a sparse matrix with several columns, steps around them, and nearest points.

Products are those of `diffclass._compiled.columns`, sums in the same order. Neighbouring threads
take the columns of a row, so that they read a row of ``f`` at once.

Nearest points are found by the distance to every other. A thread holds a few points and their
lists, and meets all others in the order of their numbers, some at a time in the memory that a block
of threads shares. What it reads there serves all its points. A point with more features than that
memory holds is met a part of its features after the other. Of equal distances the lower number
stays first.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numba import cuda, float32, float64, int32, int64

THREADS, _WARP = 128, 32
_COLUMNS = 4  # of a row that a thread takes, so that it reads an edge once for all of them
_SHARED_FLOATS = 8192  # of points that a block of threads meets at once
_MOST_HELD, _MOST_POINTS = 64, 2  # features, and points, that a thread keeps at hand


def launch(kernel: Any, shape: tuple[int, int], *arguments: Any, columns: int = 1) -> None:
    """Start a kernel over the rows and columns of an array, of which a thread takes ``columns``."""
    n_rows, n_columns = shape
    if not n_rows or not n_columns:
        return
    width = min(_WARP, 1 << (-(-n_columns // columns) - 1).bit_length())
    height = THREADS // width
    kernel[-(-n_rows // height), (width, height)](*arguments)


def scaled_product(matrix: tuple[Any, ...], f: Any, out: Any, total: Any, n_terms: int) -> None:
    """Start `row_scaled_product` of ``indptr, indices, data, row_scale``."""
    shape = matrix[-1].shape[0], f.shape[1]
    launch(row_scaled_product, shape, *matrix, f, out, total, n_terms, columns=_COLUMNS)


@cuda.jit
def row_scaled_product(indptr, indices, data, row_scale, f, out, total, n_terms):
    """As `diffclass._compiled.columns.row_scaled_product`, with indptr of 64 bits."""
    x = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    if x < row_scale.shape[0]:
        n_columns, width = f.shape[1], cuda.blockDim.x
        own = cuda.local.array(_COLUMNS, int64)
        value = cuda.local.array(_COLUMNS, row_scale.dtype)
        for c in range(cuda.threadIdx.x, n_columns, _COLUMNS * width):
            for i in range(_COLUMNS):
                own[i] = min(c + i * width, n_columns - 1)
                value[i] = 0
            e, stop = indptr[x], indptr[x + 1]
            while e + 4 <= stop:
                k0, k1, k2, k3 = data[e], data[e + 1], data[e + 2], data[e + 3]
                y0, y1, y2, y3 = indices[e], indices[e + 1], indices[e + 2], indices[e + 3]
                for i in range(_COLUMNS):
                    j = own[i]
                    value[i] += (k0 * f[y0, j] + k1 * f[y1, j]) + (k2 * f[y2, j] + k3 * f[y3, j])
                e += 4
            while e < stop:
                for i in range(_COLUMNS):
                    value[i] += data[e] * f[indices[e], own[i]]
                e += 1
            for i in range(_COLUMNS):
                j = c + i * width
                if j < n_columns:
                    product = value[i] * row_scale[x]
                    out[x, j] = product
                    if n_terms == 1:
                        total[x, j] += product
                    elif n_terms == 2:
                        total[x, j] += float64(f[x, j]) + float64(product)


@cuda.jit
def set_rows(points, passing, stopped, columns):
    """columns(x, c) = stopped(l, c) + passing(l) columns(x, c) at the points x of labels l."""
    label = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    if label < points.shape[0]:
        x = points[label]
        for c in range(cuda.threadIdx.x, columns.shape[1], cuda.blockDim.x):
            columns[x, c] = stopped[label, c] + passing[label, 0] * columns[x, c]


@cuda.jit
def add_term(columns, weights, k, sums):
    """sums(j, x, c) += weights(j, k) columns(x, c)."""
    x = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    if x < columns.shape[0]:
        for c in range(cuda.threadIdx.x, columns.shape[1], cuda.blockDim.x):
            for j in range(weights.shape[0]):
                sums[j, x, c] += weights[j, k] * columns[x, c]


@cuda.jit
def chebyshev_step(product, previous, weights, k, sums):
    """Previous <- 2 product - previous, then sums(j) += weights(j, k) previous."""
    x = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    if x < previous.shape[0]:
        for c in range(cuda.threadIdx.x, previous.shape[1], cuda.blockDim.x):
            value = product[x, c] + product[x, c] - previous[x, c]
            previous[x, c] = value
            for j in range(weights.shape[0]):
                sums[j, x, c] += weights[j, k] * value


def points_per_thread(n_features: int) -> int:
    """Return how many points a thread holds."""
    return max(1, min(_MOST_POINTS, _MOST_HELD // n_features))


@functools.cache
def nearest_kernel(n_features: int, k: int) -> Any:
    """Return the kernel for a number of features and of neighbours, which its loops know.

    ``kernel[blocks, THREADS](points, queries, start, stop, distances, found)`` goes on with the
    lists of queries (m, d) over the points start <= y < stop of points (n, d), in blocks of
    ``THREADS * points_per_thread(d)`` queries. distances (m, k) are squared, ascending in each row,
    infinite where nothing was found yet; found (m, k) are numbers of points, -1 there.
    """
    width = min(n_features, _SHARED_FLOATS)  # features that are met at once
    tile = max(1, min(THREADS, _SHARED_FLOATS // n_features))
    n_own, held = points_per_thread(n_features), min(n_features, _MOST_HELD)

    @cuda.jit
    def nearest(points, queries, start, stop, distances, found):
        met = cuda.shared.array((tile, width), float32)
        own = cuda.local.array((n_own, held), float32)
        distance = cuda.local.array(n_own, float32)
        worst = cuda.local.array(n_own, float32)  # of each list, in a register
        best = cuda.local.array((n_own, k), float32)
        number = cuda.local.array((n_own, k), int32)
        thread = cuda.threadIdx.x
        q0 = cuda.blockIdx.x * THREADS * n_own + thread
        for r in range(n_own):
            q = min(q0 + r * THREADS, queries.shape[0] - 1)
            for j in range(held):
                own[r, j] = queries[q, j]
            for i in range(k):
                best[r, i] = distances[q, i]
                number[r, i] = found[q, i]
            worst[r] = best[r, k - 1]
        for y0 in range(start, stop, tile):
            n_met = min(tile, stop - y0)
            for i in range(thread, n_met * width, THREADS):
                met[i // width, i % width] = points[y0 + i // width, i % width]
            cuda.syncthreads()
            for i in range(n_met):
                for r in range(n_own):
                    distance[r] = 0
                for j in range(held):
                    there = met[i, j]
                    for r in range(n_own):
                        difference = own[r, j] - there
                        distance[r] += difference * difference
                for j in range(held, width):  # a thread then holds one point
                    difference = queries[min(q0, queries.shape[0] - 1), j] - met[i, j]
                    distance[0] += difference * difference
                for part in range(width, n_features, width):  # then one point is met
                    size = min(width, n_features - part)
                    cuda.syncthreads()
                    for j in range(thread, size, THREADS):
                        met[0, j] = points[y0, part + j]
                    cuda.syncthreads()
                    for j in range(size):
                        difference = queries[min(q0, queries.shape[0] - 1), part + j] - met[0, j]
                        distance[0] += difference * difference
                for r in range(n_own):
                    if distance[r] < worst[r]:
                        place = k - 1
                        while place > 0 and best[r, place - 1] > distance[r]:
                            best[r, place] = best[r, place - 1]
                            number[r, place] = number[r, place - 1]
                            place -= 1
                        best[r, place] = distance[r]
                        number[r, place] = y0 + i
                        worst[r] = best[r, k - 1]
            cuda.syncthreads()
        for r in range(n_own):
            q = q0 + r * THREADS
            if q < queries.shape[0]:
                for i in range(k):
                    distances[q, i] = best[r, i]
                    found[q, i] = number[r, i]

    return nearest


def empty_lists(n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return distances and numbers in which nothing was found yet."""
    return np.full((n, k), np.inf, dtype=np.float32), np.full((n, k), -1, dtype=np.int32)
