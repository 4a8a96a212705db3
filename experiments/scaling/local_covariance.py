"""Affinities by local covariance on 111,104 points x 30 features, and by the isotropic kernel.

    python -m experiments.scaling.local_covariance -o local_covariance.json

The points are the features of the scene of `whole_scene`: 12 neighbours, rank 5, single precision.
Timed alternately, medians of --repeats runs: neighbours with the affinities of the self-tuning
Gaussian; the affinities of local covariance on the same graph. Imports and compilation are not
timed. Memory (Linux) is what these affinities add to the peak of a fresh process that holds the
graph, the points and the compiled code. The three figures of the table go to local_covariance.csv.
"""

from __future__ import annotations

import argparse
import json
import time
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from diffclass import neighbors_graph
from diffclass.kernels import Gaussian, LocalCovariance
from diffclass.system.memory import peak_memory_bytes
from diffclass_hyperspectral import SceneFeatures
from experiments.datasets import make_hyperspectral_scene
from experiments.markdown import write_rows
from experiments.scaling.whole_scene import fields

N_NEIGHBORS, N_FEATURES, RANK = 12, 30, 5
OUTPUT = Path(__file__).with_name("local_covariance.csv")


def isotropic(points: np.ndarray) -> tuple[sp.csr_array, dict[str, float]]:
    """Return the graph, and the seconds for neighbours and Gaussian affinities."""
    start = time.perf_counter()
    graph = neighbors_graph(points, N_NEIGHBORS, random_state=0)
    found = time.perf_counter()
    Gaussian().affinity(graph, points)
    end = time.perf_counter()
    return graph, {"neighbors": found - start, "gaussian": end - found, "total": end - start}


def local_covariance_seconds(graph: sp.csr_array, points: np.ndarray) -> float:
    start = time.perf_counter()
    LocalCovariance(rank=RANK).affinity(graph, points)
    return time.perf_counter() - start


def added_memory_bytes(graph: sp.csr_array, points: np.ndarray) -> int:
    """Return by how much the affinities raise the peak of a fresh process, code loaded."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(_added_memory_bytes, (graph, points))


def _added_memory_bytes(graph: sp.csr_array, points: np.ndarray) -> int:
    _load_compiled_code(points)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
    before = _status_bytes("VmRSS")
    LocalCovariance(rank=RANK).affinity(graph, points)
    return _status_bytes("VmHWM") - before


def _status_bytes(name: str) -> int:
    # getrusage would include the peak inherited from the parent process
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def _load_compiled_code(points: np.ndarray) -> None:
    graph, _ = isotropic(points[::50])
    local_covariance_seconds(graph, points[::50])


def compute(repeats: int) -> dict[str, Any]:
    points = SceneFeatures(N_FEATURES).fit_transform(make_hyperspectral_scene(fields()))
    _load_compiled_code(points)
    isotropic(points)
    runs: dict[str, list[float]] = {}
    for _ in range(repeats):
        graph, seconds = isotropic(points)
        seconds["local covariance"] = local_covariance_seconds(graph, points)
        for name, spent in seconds.items():
            runs.setdefault(name, []).append(spent)
    medians = {name: float(np.median(spent)) for name, spent in runs.items()}
    return {
        "points": points.shape,
        "dtype": points.dtype.name,
        "edges_per_point": graph.nnz / len(points),
        "seconds": medians,
        "times_the_isotropic_total": medians["local covariance"] / medians["total"],
        "added_memory_bytes": added_memory_bytes(graph, points),
        "peak_memory_bytes": peak_memory_bytes(),
    }


def csv_rows(report: dict[str, Any]) -> list[dict[str, object]]:
    """Return the quantities of the table."""
    found = {
        "neighbours and Gaussian affinities, s": report["seconds"]["total"],
        "local covariance, s": report["seconds"]["local covariance"],
        "added memory, MiB": report["added_memory_bytes"] / 2**20,
    }
    return [{"quantity": name, "value": value} for name, value in found.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    report = compute(options.repeats)
    text = json.dumps(report, indent=1)
    print(text)
    write_rows(OUTPUT, csv_rows(report))
    if options.output is not None:
        options.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
