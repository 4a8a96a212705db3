"""Diffusion by workers: measured on this machine, and a model of larger clusters.

    python -m experiments.scaling.workers [--points 200000] [--blocks 8]

Points of ten clusters on surfaces of dimension 3 in 10 features are ordered by cells and cut into
blocks; labels diffuse for 32 steps, with one look at each time of the curve, in this process and by
1 and 2 workers. Tasks and bytes per step are counted, not estimated; seconds are of the diffusion
alone, after a small one has compiled everything. They go to standard output and to workers.csv.

The model gives the time of one step with W workers and N points,

    t = N k C e / (W T)  +  n_tasks s  +  n_bytes / v  +  l,

- product: k edges per point, C classes, T threads per worker, and e, the seconds per edge and class
  of one thread, measured here without workers;
- scheduler: it starts tasks one after the other, each in s seconds; n_tasks per step is that of one
  block per worker, each of which gets a piece from every adjacent one; a block is adjacent to at
  most A others (all of them here, where blocks are few);
- network: n_bytes per worker and step, both directions at once, at v bytes per second; l seconds of
  latency per exchange. The share of a block's points that others need falls with its size m like
  m^(-1/d), with the dimension d of the points: the border of a cell. It is measured here at one
  size and bounded by 1.

All workers are alike, none waits for another, halos have depth 1, and looks are left out. The rows
of the model go to workers_model.csv.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.cluster import MiniBatchKMeans

from diffclass import MarkovOperator, markov_operator
from diffclass.blocks import BlockOperator, Engine, Scratch, SerialEngine, diffuse_in_blocks
from diffclass.blocks.dask_engine import local_cluster
from diffclass.label_diffusion import Labels
from diffclass.label_diffusion.parameters import DiffusionRules
from experiments.markdown import write_rows

N_CLASSES, DIMENSION, N_STEPS, MEMORY = 10, 3, 32, 8 * 2**30
OUTPUT = Path(__file__).with_name("workers.csv")
MODEL = Path(__file__).with_name("workers_model.csv")


@dataclass(frozen=True)
class Cluster:
    """What the model assumes of a cluster."""

    threads: int = 8  # per worker
    task_seconds: float = 5e-4  # of the scheduler, per task
    bandwidth: float = 1.25e9  # bytes per second and worker: 10 Gbit/s
    latency: float = 1e-3  # seconds per exchange
    adjacent: int = 16  # blocks beside a block, at most


def drawn(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return points in the order of their cells, and labels, five per class."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(N_CLASSES, size=n)
    centers = rng.normal(size=(N_CLASSES, 10))
    axes = rng.normal(size=(N_CLASSES, DIMENSION, 10))
    inside = np.einsum("nd,ndf->nf", rng.normal(size=(n, DIMENSION)), axes[truth])
    X = 2 * centers[truth] + inside
    X += 0.05 * rng.normal(size=X.shape)
    cells = MiniBatchKMeans(64, random_state=0, n_init=1).fit(X)
    near = cells.cluster_centers_ @ np.linalg.svd(cells.cluster_centers_)[2][0]
    order = np.argsort(near.argsort().argsort()[cells.labels_], kind="stable")
    truth = truth[order]
    y = np.full(n, -1)
    for c in range(N_CLASSES):
        y[rng.choice(np.flatnonzero(truth == c), 5, replace=False)] = c
    return X[order].astype(np.float32), y


@contextlib.contextmanager
def engine_of(n_workers: int) -> Iterator[Engine]:
    """Start an engine; with 0 workers this process does the work."""
    if n_workers:
        with local_cluster(n_workers, memory=MEMORY) as engine:
            yield engine
    else:
        yield SerialEngine(memory=MEMORY)


def measured(
    operator: MarkovOperator, y: np.ndarray, n_workers: int, n_blocks: int
) -> dict[str, object]:
    """Diffuse labels and return what it took."""
    starts = np.linspace(0, len(y), n_blocks + 1).astype(int)
    with tempfile.TemporaryDirectory() as folder, engine_of(n_workers) as engine:
        cut = BlockOperator.from_operator(operator, starts, Scratch(Path(folder)))
        labels = Labels.of(y)
        one, rules = (DiffusionRules.of(labels, tau=tau) for tau in (1, N_STEPS))
        diffuse_in_blocks(cut, labels, one, engine=engine, depth=1, name="compiling")
        start = time.perf_counter()
        found = diffuse_in_blocks(cut, labels, rules, engine=engine, depth=1)
        seconds = time.perf_counter() - start
        places = [np.load(f) for f in Path(folder, "operator").glob("*.ghosts.npy")]
    return {
        "workers": n_workers,
        "points": len(y),
        "edges_per_point": f"{operator.affinity.nnz / len(y):.1f}",
        "blocks": n_blocks,
        "seconds": f"{seconds:.2f}",
        "tasks_per_step": f"{found.traffic.tasks / N_STEPS:.1f}",
        "bytes_per_step": f"{found.traffic.bytes / N_STEPS:.0f}",
        "border_share": f"{len(np.unique(np.concatenate(places))) / len(y):.4f}",
    }


def edge_seconds(operator: MarkovOperator, n_steps: int = 5) -> float:
    """Return the seconds per edge and class of a product, times the threads that share it."""
    import numba

    columns = np.ones((len(operator), N_CLASSES), dtype=operator.dtype)
    out = np.empty_like(columns)
    operator.backward(columns, out)
    start = time.perf_counter()
    for _ in range(n_steps):
        operator.backward(columns, out)
    seconds = (time.perf_counter() - start) * numba.get_num_threads()
    return seconds / (n_steps * operator.affinity.nnz * N_CLASSES)


def modelled(
    n_workers: int, n_points: float, *, row: dict[str, object], edge: float, cluster: Cluster
) -> dict[str, object]:
    """Return the time of a step by the model, from the counts of a measured row."""
    per_point = float(str(row["edges_per_point"]))
    block = n_points / n_workers
    small = int(str(row["points"])) / int(str(row["blocks"]))
    border = min(1.0, float(str(row["border_share"])) * (small / block) ** (1 / DIMENSION))
    product = block * per_point * N_CLASSES * edge / cluster.threads
    n_tasks = n_workers * (1 + min(cluster.adjacent, n_workers - 1))
    n_bytes = border * block * N_CLASSES * 4
    network = n_bytes / cluster.bandwidth + cluster.latency
    return {
        "workers": n_workers,
        "points": f"{n_points:.0e}",
        "product_seconds": f"{product:.3f}",
        "tasks": n_tasks,
        "scheduler_seconds": f"{n_tasks * cluster.task_seconds:.3f}",
        "megabytes_per_worker": f"{n_bytes / 1e6:.1f}",
        "network_seconds": f"{network:.3f}",
        "step_seconds": f"{product + n_tasks * cluster.task_seconds + network:.3f}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=200_000)
    parser.add_argument("--blocks", type=int, default=8)
    arguments = parser.parse_args()
    X, y = drawn(arguments.points)
    operator = markov_operator(X, n_neighbors=15)
    rows = []
    for n_workers in (0, 1, 2):
        rows.append(measured(operator, y, n_workers, arguments.blocks))
        print(rows[-1], flush=True)
    write_rows(OUTPUT, rows)
    edge = edge_seconds(operator)
    model = [
        modelled(n_workers, 1e8, row=rows[-1], edge=edge, cluster=Cluster())
        for n_workers in (8, 64)
    ]
    for row in model:
        print(row)
    write_rows(MODEL, model)


if __name__ == "__main__":
    main()
