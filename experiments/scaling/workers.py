"""Diffusion by workers: counted on this machine, and a model of larger clusters from the counts.

    python -m experiments.scaling.workers [--points 200000]

Labels of 16 classes diffuse for 32 steps over a graph that was built in 31 blocks, of ten features
of a synthetic scene: by 2, 4 and 8 dask workers on this machine, each of which joins its blocks to
one, by 8 workers that keep 31 blocks, and in this process. Halos are as deep as the walk chooses. A
plugin of the scheduler counts tasks and the bytes that go from block to block; seconds per task
are of the processor, of the process with client and scheduler. One row per run goes to workers.csv.

The model gives the time of one step with W workers and N points,

    t = (1 + h) N k C e / (16 W)  +  n_tasks s / depth  +  n_bytes / v  +  l / depth,

- product: k edges per point, C classes, and e, the seconds per edge and class of one thread,
  measured here; each worker has 16 threads, as has the one node without workers beside it;
- scheduler: it starts tasks one after the other, each in s seconds, as counted here. A worker has
  one task per exchange, and one for each block that it sends to. How many are adjacent is counted
  among 31 blocks, where nearly all are: 64 workers may have more, and their row is a lower bound;
- network: ghosts per point g, in both directions at once, at v = 1.25 GB/s, and l = 1 ms of
  latency. g falls with the points m of a worker as a power of m that is fitted to the rows;
- halos are as deep as the walk makes them: up to 8 edges, as long as (depth - 1) g is at most 0.5.
  Then an exchange serves so many steps, which take h = (depth - 1) g / 2 more rows.

Looks at the map are left out. Rows of the model go to workers_model.csv, with the points from which
W workers take less than one node, and less than a third.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from distributed.diagnostics.plugin import SchedulerPlugin

from diffclass.blocks import (
    BlockOperator,
    Engine,
    Scratch,
    SerialEngine,
    build_operator,
    diffuse_in_blocks,
)
from diffclass.blocks.dask_engine import DaskEngine, local_cluster
from diffclass.label_diffusion import DiffusionRules, Labels
from experiments.markdown import write_rows
from experiments.scaling.searches import points_of

N_BLOCKS, N_FEATURES, N_CLASSES, N_STEPS, MEMORY = 31, 10, 16, 32, 16e9
RUNS = ((0, 1), (2, 2), (4, 4), (8, 8), (8, N_BLOCKS))  # workers, and blocks of the walk
THREADS, BANDWIDTH, LATENCY = 16, 1.25e9, 1e-3  # of a worker: bytes per second, seconds
MODELLED, MODELLED_POINTS = (8, 64), 1e8
DEEPEST, MOST_HALO = 8, 0.5  # of `diffclass.blocks.block_graph` and `halo`
OUTPUT = Path(__file__).with_name("workers.csv")
MODEL = Path(__file__).with_name("workers_model.csv")
Numbers = dict[str, float]


class Counts(SchedulerPlugin):
    """Tasks that have ended, by name, and the bytes of what they return."""

    def __init__(self) -> None:
        self.tasks: Counter[str] = Counter()
        self.bytes: Counter[str] = Counter()

    def transition(self, key: Any, start: str, finish: str, *args: Any, **kwargs: Any) -> None:
        """Count, when a result is in the memory of a worker."""
        if start == "processing" and finish == "memory":
            name = str(key).rsplit("-", 1)[0]
            self.tasks[name] += 1
            self.bytes[name] += kwargs.get("nbytes") or 0


@contextlib.contextmanager
def counting(engine: Engine) -> Iterator[Counts]:
    """Count what goes through the scheduler of an engine; nothing without one."""
    counts = Counts()
    scheduler = engine.client.cluster.scheduler if isinstance(engine, DaskEngine) else None
    if scheduler is not None:
        scheduler.add_plugin(counts, name="counts")
    yield counts
    if scheduler is not None:
        scheduler.remove_plugin("counts")


@contextlib.contextmanager
def engine_of(n_workers: int) -> Iterator[Engine]:
    """Start an engine; with 0 workers this process does the work."""
    if n_workers:
        with local_cluster(n_workers, memory=MEMORY) as engine:
            yield engine
    else:
        yield SerialEngine(memory=MEMORY)


def measured(operator: BlockOperator, y: np.ndarray, n_workers: int, n_blocks: int) -> Numbers:
    """Diffuse labels, and return what it took."""
    cut = operator.joined(n_blocks)
    labels, name = Labels.of(y), f"{n_workers}-{n_blocks}"
    compiling, rules = (DiffusionRules.of(labels, tau=tau) for tau in (1, N_STEPS))
    with engine_of(n_workers) as engine:
        diffuse_in_blocks(cut, labels, compiling, engine=engine, name=f"compiling-{name}")
        with counting(engine) as counts:
            start, processor = time.perf_counter(), sum(os.times()[:2])
            found = diffuse_in_blocks(cut, labels, rules, engine=engine, name=name)
            seconds, processor = time.perf_counter() - start, sum(os.times()[:2]) - processor
    ghosts = [cut.ghosts(b) for b in range(cut.n_blocks)]
    beside = [len(np.unique(np.searchsorted(cut.starts, g, side="right"))) for g in ghosts]
    n_tasks, n_exchanges = sum(counts.tasks.values()), found.traffic.exchanges
    return {
        "workers": n_workers,
        "blocks": cut.n_blocks,
        "points": len(cut),
        "edges_per_point": sum(map(cut.n_edges, range(cut.n_blocks))) / len(cut),
        "ghosts_per_point": sum(map(len, ghosts)) / len(cut),
        "adjacent": float(np.mean(beside)),
        "exchanges": n_exchanges,
        "tasks": n_tasks,
        "tasks_per_exchange": (counts.tasks["walked"] + counts.tasks["_taken"]) / n_exchanges,
        "megabytes_per_exchange": counts.bytes["_taken"] / n_exchanges / 1e6,
        "task_milliseconds": 1e3 * processor / n_tasks if n_tasks else 0.0,
        "seconds": seconds,
    }


def edge_seconds(operator: BlockOperator, n_steps: int = 20) -> float:
    """Return the seconds per edge and class of a product, times the threads that share it."""
    import numba

    from diffclass.blocks.operator import OperatorBlock
    from diffclass.operators.processor import CompiledProduct

    block = OperatorBlock.load(operator.joined(1), 0)
    K = block.affinity
    walk = CompiledProduct(K.indptr, K.indices, K.data, (1 / block.degrees).astype(K.dtype))
    columns = np.ones((len(block), N_CLASSES), dtype=K.dtype)
    out = np.empty_like(columns)
    walk(columns, out)
    start = time.perf_counter()
    for _ in range(n_steps):
        walk(columns, out)
    seconds = (time.perf_counter() - start) * numba.get_num_threads()
    return seconds / (n_steps * K.nnz * N_CLASSES)


def modelled(n_workers: int, n_points: float, rows: list[Numbers], edge: float) -> Numbers:
    """Return the time of a step by the model, from the counts of measured rows."""
    joined = [row for row in rows if row["workers"] and row["blocks"] == row["workers"]]
    apart = rows[-1]
    small = np.array([[row["points"] / row["blocks"], row["ghosts_per_point"]] for row in rows[1:]])
    power, factor = np.polyfit(*np.log(small).T, 1)
    per_worker = n_points / n_workers
    ghosts = np.exp(factor) * per_worker**power
    adjacent = min(apart["adjacent"], n_workers - 1)
    tasks = n_workers * (1 + adjacent)
    one_node = n_points * apart["edges_per_point"] * N_CLASSES * edge / THREADS
    scheduler = tasks * 1e-3 * float(np.median([row["task_milliseconds"] for row in joined]))
    megabytes = ghosts * per_worker * N_CLASSES * 4 / 1e6
    depth = min(DEEPEST, 1 + int(MOST_HALO / ghosts))
    product = one_node / n_workers * (1 + (depth - 1) * ghosts / 2)
    scheduler /= depth
    network = megabytes * 1e6 / BANDWIDTH + LATENCY / depth
    return {
        "workers": n_workers,
        "points": n_points,
        "one_node_seconds": one_node,
        "product_seconds": product,
        "depth": depth,
        "tasks": tasks / depth,
        "scheduler_seconds": scheduler,
        "ghosts_per_point": float(ghosts),
        "megabytes_per_worker": float(megabytes),
        "network_seconds": float(network),
        "step_seconds": float(product + scheduler + network),
    }


def least_points(n_workers: int, rows: list[Numbers], edge: float, share: float) -> float:
    """Return from how many points on a step takes less than a share of one node's."""
    for n_points in np.geomspace(1e4, 1e12, 321):
        model = modelled(n_workers, float(n_points), rows, edge)
        if model["step_seconds"] < share * model["one_node_seconds"]:
            return float(n_points)
    return float("inf")


def labels_of(n: int, seed: int = 0) -> np.ndarray:
    """Return ten labels per class at random points."""
    y = np.full(n, -1)
    drawn = np.random.default_rng(seed).choice(n, 10 * N_CLASSES, replace=False)
    y[drawn] = np.arange(len(drawn)) % N_CLASSES
    return y


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=200_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "points.npy")
        np.save(path, points_of("scene", arguments.points, N_FEATURES))
        with Scratch.opened(Path(folder, "scratch"), job={}) as scratch:
            operator, _ = build_operator(
                path, scratch=scratch, engine=SerialEngine(memory=MEMORY), random_state=0,
                block_points=-(-arguments.points // N_BLOCKS),
            )  # fmt: skip
            rows = []
            for n_workers, n_blocks in RUNS:
                rows.append(measured(operator, labels_of(len(operator)), n_workers, n_blocks))
                print(rows[-1], flush=True)
            edge = edge_seconds(operator)
    write_rows(OUTPUT, rows)
    model = [
        modelled(n_workers, MODELLED_POINTS, rows, edge)
        | {
            "least_points": least_points(n_workers, rows, edge, 1),
            "least_points_of_a_third": least_points(n_workers, rows, edge, 1 / 3),
        }
        for n_workers in MODELLED
    ]
    for row in model:
        print(row)
    write_rows(MODEL, model)


if __name__ == "__main__":
    main()
