"""One neighbour search of another library, run in the environment that has it.

    python search_peer.py SEARCH POINTS.npy K FOUND.npy SETTING [THREADS]

Prints the seconds of one run: on one thread those of the processor, on more those of the clock.
(That of pynndescent after a small run, which compiles.) Saves the numbers of the K nearest of each
point, itself perhaps among them; of the exact search, for the first SETTING points only. Imports
nothing of diffclass.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np


def faiss_exact(X: np.ndarray, k: int, setting: int, threads: int) -> np.ndarray:
    import faiss

    faiss.omp_set_num_threads(threads)
    index = faiss.IndexFlatL2(X.shape[1])
    index.add(X)
    return index.search(X[:setting], k)[1]


def faiss_inverted_file(X: np.ndarray, k: int, setting: int, threads: int) -> np.ndarray:
    import faiss

    faiss.omp_set_num_threads(threads)
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(X.shape[1]), X.shape[1], int(3 * len(X) ** 0.5))
    index.cp.niter, index.cp.max_points_per_centroid = 8, 50
    index.cp.min_points_per_centroid = 1
    index.train(X)
    index.add(X)
    index.nprobe = setting
    return index.search(X, k)[1]


def faiss_hnsw(X: np.ndarray, k: int, setting: int, threads: int) -> np.ndarray:
    import faiss

    faiss.omp_set_num_threads(threads)
    index = faiss.IndexHNSWFlat(X.shape[1], 16)
    index.hnsw.efConstruction, index.hnsw.efSearch = max(setting, 40), setting
    index.add(X)
    return index.search(X, k)[1]


def hnswlib(X: np.ndarray, k: int, setting: int, threads: int) -> np.ndarray:
    import hnswlib

    index = hnswlib.Index(space="l2", dim=X.shape[1])
    index.init_index(len(X), M=16, ef_construction=max(setting, 40), random_seed=0)
    index.set_num_threads(threads)
    index.add_items(X)
    index.set_ef(max(setting, k))
    return index.knn_query(X, k)[0]


def pynndescent(X: np.ndarray, k: int, setting: int, threads: int) -> np.ndarray:
    import pynndescent

    index = pynndescent.NNDescent(X, n_neighbors=setting, random_state=0, n_jobs=threads)
    return index.neighbor_graph[0][:, :k]


SEARCHES: dict[str, Any] = {
    "faiss_exact": faiss_exact,
    "faiss_inverted_file": faiss_inverted_file,
    "faiss_hnsw": faiss_hnsw,
    "hnswlib": hnswlib,
    "pynndescent": pynndescent,
}


def main() -> None:
    search, points, k, result, setting, *more = sys.argv[1:]
    threads = int(more[0]) if more else 1
    X = np.load(points)
    if search == "pynndescent":
        pynndescent(X[:2000], int(k), int(setting), threads)
    clock = time.process_time if threads == 1 else time.perf_counter
    start = clock()
    found = SEARCHES[search](X, int(k), int(setting), threads)
    print(clock() - start)
    np.save(result, found)


if __name__ == "__main__":
    main()
