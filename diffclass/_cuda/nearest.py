"""The nearest points of each point, by the distance to every other.

A thread holds a few points and their lists, and meets all others in the order of their numbers,
some at a time in the memory that a block of threads shares. What it reads there serves all its
points. Of equal distances the lower number stays first.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numba import cuda, float32, int32

THREADS = 128
_SHARED_FLOATS = 8192  # of points that a block of threads meets at once
_MOST_HELD, _MOST_POINTS = 64, 2  # features, and points, that a thread keeps at hand


def points_per_thread(n_features: int) -> int:
    """Return how many points a thread holds."""
    return max(1, min(_MOST_POINTS, _MOST_HELD // n_features))


@functools.cache
def nearest_kernel(n_features: int, k: int) -> Any:
    """Return the kernel for a number of features and of neighbours, which its loops know.

    Parameters
    ----------
    n_features, k : int
        At least 1.

    Returns
    -------
    CUDA kernel
        ``kernel[blocks, THREADS](points, queries, start, stop, distances, found)`` goes on with
        the lists of some queries over the points start <= y < stop, in blocks of ``THREADS *
        points_per_thread(n_features)`` queries:

        points, queries : float32 of shape (n, n_features), (m, n_features)
        distances : float32 of shape (m, k), written
            Squared; ascending in each row, infinite where nothing was found yet.
        found : int32 of shape (m, k), written
            Numbers of the nearest points, -1 where nothing was found yet.
    """
    tile = max(1, min(THREADS, _SHARED_FLOATS // n_features))
    n_own, held = points_per_thread(n_features), min(n_features, _MOST_HELD)

    @cuda.jit
    def nearest(points, queries, start, stop, distances, found):
        met = cuda.shared.array((tile, n_features), float32)
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
            for i in range(thread, n_met * n_features, THREADS):
                met[i // n_features, i % n_features] = points[y0 + i // n_features, i % n_features]
            cuda.syncthreads()
            for i in range(n_met):
                for r in range(n_own):
                    distance[r] = 0
                for j in range(held):
                    there = met[i, j]
                    for r in range(n_own):
                        difference = own[r, j] - there
                        distance[r] += difference * difference
                for j in range(held, n_features):  # a thread then holds one point
                    difference = queries[min(q0, queries.shape[0] - 1), j] - met[i, j]
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
