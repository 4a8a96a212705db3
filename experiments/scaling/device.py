"""What an NVIDIA device adds: products, neighbours, and whole fits beside the processor's.

    python -m experiments.scaling.device [--sizes 100000 1000000] [--products 10000000]

Run where there is a device and numba-cuda. Points are those of ``diffclass bench``, the leading 10
features of them: 16 classes of four blobs. In turn, medians: one step of 16 columns by all threads
of the processor and on the device, columns staying there; its bytes, each array counted once, in a
second. Neighbours by `default_search` and by `CudaSearch`, and which of the true ones the former
found. `DiffusionClassifier` with ``device="cpu"`` and ``"cuda"``, probabilities included. Sizes of
``--products`` are used for products and neighbours on the device alone. Compilation is not timed.
The figures go to device.csv, a row for each quantity.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numba import cuda

from diffclass import DiffusionClassifier, MarkovOperator, PointGraph, diffuse_labels
from diffclass._cuda import device
from diffclass.command_line.bench import _points
from diffclass.label_diffusion import LabelDiffusion
from diffclass.neighbors import CudaSearch, default_search
from diffclass.operators import Cuda
from diffclass.system.progress import stage_seconds
from experiments.markdown import write_rows

N_CLASSES, N_FEATURES, N_NEIGHBORS, REPEATS = 16, 10, 12, 15
OUTPUT = Path(__file__).with_name("device.csv")


def points(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points and labels, five of each class."""
    X, y = _points(n, N_CLASSES, 0)
    return np.ascontiguousarray(X[:, :N_FEATURES]), y


def seconds(work: Callable[[], object]) -> float:
    """Return how long some work takes, the device's included."""
    cuda.synchronize()
    start = time.perf_counter()
    work()
    cuda.synchronize()
    return time.perf_counter() - start


def products(operator: MarkovOperator) -> dict[str, float]:
    """Time a step of 16 columns on both."""
    f = np.random.default_rng(0).random((len(operator), N_CLASSES), dtype=np.float32)
    on_host, out = operator.in_local_order[1], np.empty_like(f)
    free = device.memory_bytes()[0]
    on_device = on_host.on(Cuda())
    columns, target = on_device.processor.place(f), on_device.processor.blank(out)
    on_device.step(columns, target)
    taken = free - device.memory_bytes()[0]
    on_host.step(f, out)
    found = on_device.processor.fetch(target, np.empty_like(f))
    runs = [
        (
            seconds(lambda: on_host.step(f, out)),
            seconds(lambda: [on_device.step(columns, target) for _ in range(20)]) / 20,
            seconds(lambda: on_device.backward(f, out)),
        )
        for _ in range(REPEATS)
    ]
    host, there, and_back = np.median(runs, axis=0)
    K = operator.affinity
    touched = 8 * K.nnz + 12 * len(operator) + 2 * f.nbytes
    return {
        "edges per point": K.nnz / len(operator),
        "product, processor, ms": 1e3 * host,
        "product, device, ms": 1e3 * there,
        "product, device, columns sent there and back, ms": 1e3 * and_back,
        "products per second, device": 1 / there,
        "product, device, GB per second": touched / there / 1e9,
        "product, device memory, GiB": taken / 2**30,
        "product, largest difference": float(np.abs(found - out).max()),
    }


def copy_rate() -> float:
    """Return the GB per second that a copy on the device reads and writes."""
    a = cuda.device_array(2**28, np.float32)
    b = cuda.device_array_like(a)
    runs = [seconds(lambda: b.copy_to_device(a)) for _ in range(10)]
    return 2 * a.nbytes / np.median(runs) / 1e9


def neighbors(X: np.ndarray) -> dict[str, float]:
    """Time both searches; the device's finds all."""
    CudaSearch(N_NEIGHBORS).fit_transform(X[:1000])
    default_search(X, N_NEIGHBORS, random_state=0).fit_transform(X[:: len(X) // 20_000])
    start = time.perf_counter()
    true = CudaSearch(N_NEIGHBORS).fit_transform(X)
    there = time.perf_counter() - start
    search = default_search(X, N_NEIGHBORS, random_state=0)
    start = time.perf_counter()
    found = search.fit_transform(X)
    host = time.perf_counter() - start
    sample = np.random.default_rng(0).choice(len(X), min(len(X), 20_000), replace=False)
    shared = sum(len(np.intersect1d(true[[x]].indices, found[[x]].indices)) for x in sample)
    return {
        "neighbors, processor, s": host,
        "neighbors, processor, recall": shared / (len(sample) * N_NEIGHBORS),
        "neighbors, device, s": there,
    }


def fit(classifier: DiffusionClassifier, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the probabilities of a fit."""
    return classifier.fit(X, y).label_distributions_


def fits(X: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Time fits with probabilities on both."""
    found: dict[str, LabelDiffusion] = {}
    rows: dict[str, float] = {}
    for name in ("cpu", "cuda"):
        classifier = DiffusionClassifier(device=name, random_state=0)
        few = (np.arange(len(X)) % (len(X) // 80_000) == 0) | (y >= 0)
        fit(classifier, X[few], y[few])  # loads what is compiled
        start = time.perf_counter()
        with stage_seconds() as stages:
            fit(classifier, X, y)
        rows[f"fit, {name}, s"] = time.perf_counter() - start
        for stage in ("neighbors", "affinities", "diffusion", "calibration"):
            rows[f"fit, {name}, {stage}, s"] = stages[stage]
    on_host = classifier.graph_.operator
    for name, operator in {"cpu": on_host, "cuda": on_host.on(Cuda())}.items():
        found[name] = diffuse_labels(operator, y)
    differ = found["cpu"].codes != found["cuda"].codes
    return rows | {
        "diffusion, same graph: points of another class": int(differ.sum()),
        "diffusion, same graph: largest margin of these": float(
            found["cpu"].margin[differ].max(initial=0)
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=[100_000, 1_000_000])
    parser.add_argument("--products", type=int, nargs="*", default=[10_000_000])
    arguments = parser.parse_args()
    print(device.describe(), os.cpu_count(), "processors")
    rows: list[dict[str, object]] = []

    def add(n: int, found: dict[str, float]) -> None:
        for quantity, value in found.items():
            rows.append({"points": n, "quantity": quantity, "value": f"{value:.4g}"})
            print(n, quantity, f"{value:.4g}", flush=True)

    add(0, {"copy, device, GB per second": copy_rate()})
    for n in (*arguments.sizes, *arguments.products):
        X, y = points(n)
        start = time.perf_counter()
        graph = PointGraph.from_points(X, search=CudaSearch(N_NEIGHBORS))
        add(n, {"graph, s": time.perf_counter() - start})
        add(n, products(graph.operator))
        del graph
        if n in arguments.sizes:
            add(n, neighbors(X))
            add(n, fits(X, y))
    if arguments.products:
        write_rows(OUTPUT, rows)


if __name__ == "__main__":
    main()
