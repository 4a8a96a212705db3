"""How many points each task takes in a second, a minute, an hour and a night.

    python -m experiments.scaling.waiting [--most N] [task ...]

Points are features of synthetic scenes of 16 classes (`sizes`), up to 256,000; for wavelets up to
4,000. Each size has a process of its own that has loaded the compiled loops; seconds and
peak memory of the task go to waiting.csv. The law t = a n^b goes through the two largest sizes,
with b of 1 at least; memory grows in proportion to the points between them, and stays within
``--memory``. Sizes more than four times as large as the largest measured one are marked with ~; the
law is not followed beyond forty times, nor beyond 32 GB. Rows of a task replace those in
waiting.csv; the table stands in guide/how_long.md.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from diffclass import (
    DiffusionAnomaly,
    DiffusionClassifier,
    DiffusionClustering,
    leading_eigenpairs,
    markov_operator,
)
from diffclass.blocks import BlockClassifier
from diffclass.multiscale import diffusion_wavelets
from diffclass.system.memory import peak_memory_bytes
from diffclass_relabel.workspace import TableSettings, TableWorkspace, warm_up
from experiments.few_labels.draws import draw_labels
from experiments.markdown import Row, markdown_table, replace_rows
from experiments.scaling import sizes

OUTPUT = Path(__file__).with_suffix(".csv")
FACTOR, FARTHEST, FULL = 4, 40, 32.0  # FULL: GB
WAITS = {"a second": 1, "coffee: a minute": 60, "lunch: an hour": 3600, "a night": 8 * 3600}
N_CLUSTERS, N_PAIRS, BUDGET = 16, 10, 10**9


def labels_of(truth: np.ndarray) -> np.ndarray:
    """Return five labels per class, -1 elsewhere."""
    y = draw_labels(truth, sizes.LABELS_PER_CLASS, seed=0)[0]
    return np.where(y > 0, y, -1)


def classify(points: np.ndarray, truth: np.ndarray) -> None:
    assert (
        DiffusionClassifier(random_state=0).fit(points, labels_of(truth)).calibration_ is not None
    )


def classify_in_blocks(points: np.ndarray, truth: np.ndarray) -> None:
    with tempfile.TemporaryDirectory() as folder:
        model = BlockClassifier(memory=BUDGET, scratch=folder, random_state=0)
        model.fit(points, labels_of(truth))


def cluster(points: np.ndarray, truth: np.ndarray) -> None:
    DiffusionClustering(N_CLUSTERS, random_state=0).fit(points)


def anomaly(points: np.ndarray, truth: np.ndarray) -> None:
    DiffusionAnomaly(random_state=0).fit(points)


def eigenpairs(points: np.ndarray, truth: np.ndarray) -> None:
    leading_eigenpairs(markov_operator(points, n_neighbors=12, random_state=0), N_PAIRS)


def wavelets(points: np.ndarray, truth: np.ndarray) -> None:
    diffusion_wavelets(markov_operator(points, n_neighbors=12, random_state=0))


def page(points: np.ndarray, truth: np.ndarray) -> None:
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "table.npy", points)
        workspace = TableWorkspace.open(Path(folder) / "table.npy", TableSettings())
        warm_up(workspace)
        workspace.new_session().prepare()


TASKS: dict[str, Callable[[np.ndarray, np.ndarray], None]] = {
    "`classify`": classify,
    "`classify --memory 1GB`": classify_in_blocks,
    "`relabel` until the page is there": page,
    "`cluster`, 16 clusters": cluster,
    "`anomaly`": anomaly,
    "graph and 10 eigenpairs": eigenpairs,
    "diffusion wavelets": wavelets,
}
SIZES = dict.fromkeys(TASKS, (4000, 16_000, 64_000, 256_000)) | {
    "diffusion wavelets": (1000, 2000, 4000)
}


def measured(task: str, n: int) -> dict[str, Any]:
    """Return the row of a task of one size."""
    work = TASKS[task]
    work(*sizes.scene(sizes.LEAST))  # loads compiled code
    points, truth = sizes.scene(n)
    start = time.perf_counter()
    work(points, truth)
    seconds = time.perf_counter() - start
    return {"task": task, "n": len(points), "seconds": seconds, "peak": peak_memory_bytes() / 1e9}


def largest(rows: list[Row], seconds: float) -> tuple[float, float]:
    """Return the points that a task takes in so many seconds, and the gigabytes they need."""
    (n_0, t_0, m_0), (n_1, t_1, m_1) = (
        [float(row[name]) for name in ("n", "seconds", "peak")] for row in rows[-2:]
    )
    power = max(math.log(t_1 / t_0) / math.log(n_1 / n_0), 1.0)
    n = n_1 * (seconds / t_1) ** (1 / power)
    for row in rows:  # within what was measured, no larger than the first that took longer
        if float(row["seconds"]) > seconds:
            n = min(n, float(row["n"]))
    return n, m_1 + max(m_1 - m_0, 0.0) / (n_1 - n_0) * (n - n_1)


def table(rows: list[Row]) -> list[str]:
    """Return the lines of the guide's table."""
    lines = []
    for task in TASKS:
        own = [row for row in rows if row["task"] == task]
        lines.append([task, *(cell(own, task, seconds) for seconds in WAITS.values())])
    return markdown_table(("task", *WAITS), lines)


def cell(rows: list[Row], task: str, seconds: float) -> str:
    """Return how many points a task takes in so many seconds, as the table has it."""
    last = float(rows[-1]["n"])
    n, gigabytes = largest(rows, seconds)
    if n > FARTHEST * last:
        gigabytes *= FARTHEST * last / n
        n, sign = FARTHEST * last, "over "
    else:
        sign = "~" if n > FACTOR * last else ""
    if "--memory" in task:
        gigabytes = min(gigabytes, BUDGET / 1e9)
    if gigabytes > FULL:
        return f"{sign}{rounded(n * FULL / gigabytes)}, which fill {FULL:.0f} GB sooner"
    return f"{sign}{rounded(n)} ({gigabytes:.1f} GB)"


def rounded(n: float) -> str:
    """Return a number with one or two digits in thousands or millions."""
    digits = 10 ** max(math.floor(math.log10(n)) - 1, 0)
    n = math.floor(n / digits) * digits
    return f"{n / 1e6:.3g} million" if n >= 1e6 else f"{n:,.0f}"


def main() -> None:
    """Measure tasks, each size in its own process, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("tasks", nargs="*", metavar="task")
    parser.add_argument("--most", type=int, default=max(map(max, SIZES.values())))
    parser.add_argument("--one", nargs=2, metavar=("TASK", "N"), help="one size, as JSON")
    given = parser.parse_args()
    if given.one is not None:
        print(json.dumps(measured(given.one[0], int(given.one[1]))))
        return
    rows: list[Row] = []
    for task in given.tasks or TASKS:
        found = []
        for n in (size for size in SIZES[task] if size <= given.most):
            command = [sys.executable, "-m", "experiments.scaling.waiting", "--one", task, str(n)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            found.append(json.loads(done.stdout.splitlines()[-1]))
            print("  ".join(f"{key} {value}" for key, value in found[-1].items()), flush=True)
        rows = replace_rows(OUTPUT, found, "task", list(TASKS).index)
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main()
