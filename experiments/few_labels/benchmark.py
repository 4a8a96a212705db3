"""Few labels: ours compared with common classifiers and graph methods, on the same draws.

    python -m experiments.few_labels.benchmark [--peer PYTHON] [--quick] [--problems NAME ...]
        [--methods NAME ...] [-o FOLDER]

Problems x ways of drawing labels x labels per class x draws x methods: ways in `draws`, methods in
`methods`; those of GraphLearning in `graphlearning_peer` are left out without ``--peer``, the
Python of an environment that has it (python3 -m venv .peers && .peers/bin/pip install graphlearning
annoy). There are fifty draws with one label per class at random places, and ten of all others. All
methods get the same features, all graph methods get all points, also those of unknown class;
accuracy is on points of known class away from the labels. GraphLearning runs beside the others,
each on one thread.

Every run is a row of FOLDER/benchmark.csv (beside this script by default), written at once: an
interrupted benchmark continues where it stopped, and after adding a method only that one runs.
Delete the file after changing a method. The table goes to standard output, the seconds of each
method to standard error. ``--quick`` (two draws, one and ten labels) needs ``-o``.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import numba
import numpy as np
from threadpoolctl import threadpool_limits

from experiments.few_labels.draws import IN_PICTURES, WAYS, Shape
from experiments.few_labels.graphlearning_peer import METHODS as PEERS
from experiments.few_labels.methods import METHODS, Setting
from experiments.few_labels.paired_table import table
from experiments.problems import PROBLEMS, Problem

BUDGETS = {
    "equal": (1, 3, 5, 10),
    "blocks": (1, 3, 5, 10),
    "proportional": (10,),
    "strokes": (10,),
    "wrong": (10,),
}
SHAPES: dict[str, Shape] = {
    "digits": None,
    "tissue": (128, 128),
    "jasper": (100, 100),
    "salinas-spectral": (83, 86),
    "salinas-spatial": (83, 86),
    "pines-spectral": (145, 145),
    "pines-spatial": (145, 145),
}
FIELDS = ("problem", "drawn", "labels_per_class", "seed", "method", "accuracy")
Key = tuple[str, str, int, int, str]  # a row without the accuracy


@dataclass(frozen=True)
class Draw:
    """Labels, the points on which they are scored, and the methods still to run on them."""

    way: str
    budget: int
    seed: int
    y: np.ndarray
    scored: np.ndarray
    methods: tuple[str, ...]


class Results:
    """The rows of a CSV file, to which rows are appended."""

    def __init__(self, path: Path):
        self._path = path
        self.rows: dict[Key, float] = {}
        if path.exists():
            with path.open(newline="") as file:
                for row in csv.DictReader(file):
                    key = row["problem"], row["drawn"], int(row["labels_per_class"])
                    self.rows[(*key, int(row["seed"]), row["method"])] = float(row["accuracy"])
        else:
            self._append(FIELDS)

    def add(self, key: Key, accuracy: float) -> None:
        self.rows[key] = accuracy
        self._append((*key, f"{accuracy:.5f}"))

    def _append(self, row: Sequence[object]) -> None:
        with self._path.open("a", newline="") as file:
            csv.writer(file, lineterminator="\n").writerow(row)


def n_draws(way: str, budget: int, *, quick: bool = False) -> int:
    if quick:
        return 2
    return 50 if way == "equal" and budget == 1 else 10


def pending_draws(
    problem: Problem, shape: Shape, methods: Sequence[str], results: Results, *, quick: bool = False
) -> Iterator[Draw]:
    """Yield the draws of a problem on which some method has not run yet."""
    for way, budgets in BUDGETS.items():
        if way in IN_PICTURES and shape is None:
            continue
        for budget in budgets:
            if quick and budget not in (1, 10):
                continue
            for seed in range(n_draws(way, budget, quick=quick)):
                key = problem.name, way, budget, seed
                missing = tuple(m for m in methods if (*key, m) not in results.rows)
                if missing:
                    y, scored = WAYS[way](problem.truth, shape, budget, seed)
                    yield Draw(way, budget, seed, y, scored, missing)


class Peer(AbstractContextManager):
    """GraphLearning's methods in their own process, which answers draw by draw."""

    def __init__(self, python: str, setting: Setting, draws: Sequence[Draw]):
        self._setting = setting
        self._methods = [m for m in PEERS if any(m in draw.methods for draw in draws)]
        self._draws = [draw for draw in draws if set(self._methods) & set(draw.methods)]
        self._folder = tempfile.TemporaryDirectory()
        if self._draws:
            self._write_task()
            script = Path(__file__).with_name("graphlearning_peer.py")
            command = [python, str(script), self._folder.name]
            environment = os.environ | {"OMP_NUM_THREADS": "1"}
            self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)

    def __exit__(self, *_: object) -> None:
        if self._draws and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()

    def _write_task(self) -> None:
        affinity = self._setting.operator.affinity
        np.savez(
            Path(self._folder.name) / "task.npz",
            points=self._setting.points,
            data=affinity.data.astype(np.float64),
            indices=affinity.indices,
            indptr=affinity.indptr,
            y=np.array([draw.y for draw in self._draws]),
            methods=self._methods,
        )

    def collect(self, results: Results) -> None:
        """Add the answers since the last call."""
        for answer in Path(self._folder.name).glob("*.npy"):
            draw = self._draws[int(answer.stem)]
            for method, classes in zip(self._methods, np.load(answer), strict=True):
                if method in draw.methods:
                    _keep(results, self._setting.problem, draw, method, classes[draw.scored])
            answer.unlink()

    def finish(self, results: Results) -> None:
        """Wait for the last answer.

        Raises
        ------
        subprocess.CalledProcessError
            If the peer failed; its messages go to standard error.
        """
        if not self._draws:
            return
        while self._process.poll() is None:
            self.collect(results)
            time.sleep(0.2)
        self.collect(results)
        if self._process.returncode:
            raise subprocess.CalledProcessError(self._process.returncode, self._process.args)


def run(
    names: Sequence[str],
    methods: Sequence[str],
    results: Results,
    *,
    peer: str | None = None,
    quick: bool = False,
) -> None:
    """Add all missing runs to the results."""
    for name in names:
        problem = PROBLEMS[name]()
        draws = list(pending_draws(problem, SHAPES[name], methods, results, quick=quick))
        start = time.perf_counter()
        seconds = run_problem(Setting(problem), draws, results, peer=peer)
        for method, spent in seconds.items():
            print(f"{problem.name}: {method}: {spent:.1f} s", file=sys.stderr)
        total = time.perf_counter() - start
        print(f"{problem.name}: {len(draws)} draws: {total:.1f} s", file=sys.stderr, flush=True)


def run_problem(
    setting: Setting, draws: Sequence[Draw], results: Results, *, peer: str | None = None
) -> dict[str, float]:
    """Run all methods draw by draw, the peer's in parallel; return the seconds of each of ours."""
    seconds: dict[str, float] = defaultdict(float)
    with nullcontext() if peer is None else Peer(peer, setting, draws) as beside:
        for draw in draws:
            at = np.flatnonzero(draw.scored)
            for method in draw.methods:
                if method in METHODS:
                    start = time.perf_counter()
                    found = METHODS[method](setting, draw.y, at)
                    seconds[method] += time.perf_counter() - start
                    _keep(results, setting.problem, draw, method, found)
            if beside is not None:
                beside.collect(results)
        if beside is not None:
            beside.finish(results)
    return dict(seconds)


def _keep(results: Results, problem: Problem, draw: Draw, method: str, found: np.ndarray) -> None:
    accuracy = float((found == problem.truth[draw.scored]).mean())
    results.add((problem.name, draw.way, draw.budget, draw.seed, method), accuracy)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peer", help="Python of an environment that has graphlearning")
    parser.add_argument("--quick", action="store_true", help="two draws, one and ten labels")
    parser.add_argument("--problems", nargs="+", choices=list(PROBLEMS), default=list(PROBLEMS))
    every = [*METHODS, *PEERS]
    parser.add_argument("--methods", nargs="+", choices=every, default=every)
    parser.add_argument("-o", "--output", type=Path, help="folder of the results")
    options = parser.parse_args(arguments)
    if options.quick and options.output is None:
        parser.error("--quick needs -o FOLDER: its numbers are not those to keep")
    methods = options.methods
    if options.peer is None and any(method in PEERS for method in methods):
        print("without --peer PYTHON: GraphLearning's methods are left out", file=sys.stderr)
        methods = [method for method in methods if method not in PEERS]
    warnings.simplefilter("ignore")  # LabelPropagation's 1000 steps are seldom enough
    # two processes on as many cores: a second thread would wait for its turn longer than it works
    numba.set_num_threads(1)
    results = Results((options.output or Path(__file__).parent) / "benchmark.csv")
    with threadpool_limits(1):
        run(options.problems, methods, results, peer=options.peer, quick=options.quick)
    print("\n".join(table(results.rows)))


if __name__ == "__main__":
    main()
