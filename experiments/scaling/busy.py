"""Many small fits on a busy machine: with all threads beside one, alone and beside busy loops.

    python -m experiments.scaling.busy [--fits 120] [--checkout FOLDER]

Fits `DiffusionClassifier` to two moons of 650 to 750 points and 30 features (28 are noise, so that
the neighbours are found by brute force), with five labels per class, in a process of its own: with
one thread and with as many as there are cores, in turn, first alone, then beside as many endless
loops as there are cores. Every process fits once before its clock starts, so that compilation does
not count. Twice each; the shorter times are written to ``busy.csv`` and printed. ``--checkout``
measures another checkout of the project, and only prints.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from experiments.markdown import write_rows

SMALLEST, LARGEST, LABELS = 650, 750, 5
VARIABLES = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
FITS = """
import sys, time, warnings
import numpy as np
from sklearn.datasets import make_moons
from diffclass import DiffusionClassifier

warnings.simplefilter("ignore")

def fit(n):
    moons, truth = make_moons(n, noise=0.1, random_state=n)
    X = np.hstack([moons, 0.1 * np.random.default_rng(n).normal(size=(n, 28))])
    y = np.full(n, -1)
    for k in (0, 1):
        y[np.flatnonzero(truth == k)[:LABELS]] = k
    DiffusionClassifier(random_state=0).fit(X, y)

fit(SMALLEST)
sizes = np.linspace(SMALLEST, LARGEST, int(sys.argv[1])).astype(int)
start = time.perf_counter()
for n in sizes:
    fit(n)
print(time.perf_counter() - start)
"""


def seconds(n_fits: int, n_threads: int, checkout: Path) -> float:
    """Return how long the fits take in a process with so many threads."""
    code = FITS.replace("SMALLEST", str(SMALLEST)).replace("LARGEST", str(LARGEST))
    threads = dict.fromkeys(VARIABLES, str(n_threads))
    done = subprocess.run(
        [sys.executable, "-c", code.replace("LABELS", str(LABELS)), str(n_fits)],
        env=os.environ | threads | {"PYTHONPATH": str(checkout)},
        cwd=checkout,
        stdout=subprocess.PIPE,
        check=True,
    )
    return float(done.stdout)


@contextmanager
def busy_loops(number: int) -> Iterator[None]:
    """Keep so many cores busy inside a ``with`` block."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def compute(n_fits: int, checkout: Path) -> list[dict[str, object]]:
    """Measure all four cases, those of one load in turn, and keep the shorter of two times."""
    cores = len(os.sched_getaffinity(0))
    rows = []
    for n_loops in (0, cores):
        with busy_loops(n_loops):
            times = [[seconds(n_fits, n, checkout) for n in (1, cores)] for _ in range(2)]
        for n_threads, pair in zip((1, cores), zip(*times, strict=True), strict=True):
            best = round(min(pair), 1)
            rows.append({"busy_loops": n_loops, "threads": n_threads, "seconds": best})
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fits", type=int, default=120)
    parser.add_argument("--checkout", type=Path)
    options = parser.parse_args(arguments)
    here = Path(__file__).resolve()
    rows = compute(options.fits, options.checkout or here.parents[2])
    for row in rows:
        print("  ".join(f"{name} {value}" for name, value in row.items()))
    if options.checkout is None:
        write_rows(here.with_suffix(".csv"), rows)


if __name__ == "__main__":
    main()
