"""Few labels: ours compared with common classifiers and graph methods, on the same draws.

    python -m experiments.few_labels.benchmark [--peer PYTHON] [--quick] [--problems NAME ...]
        [--methods NAME ...] [-o FOLDER]

Problems x ways of drawing labels x labels per class x draws x methods: ways in `draws`, methods in
`methods`; those of GraphLearning and scikit-network in `graph_peers` are left out without
``--peer``, the Python of an environment that has them (python3 -m venv .peers && .peers/bin/pip
install graphlearning annoy scikit-network). On real data there are fifty draws with one label per
class at random places, and ten of all others and of the methods that know the class sizes;
synthetic families say how many and of what they have. All methods get the same features, all graph
methods get all points, also those of unknown class; accuracy is on points of known class away from
the labels. Where only a graph is given, methods that need points are left out, and those in
TOO_SLOW on the problems named there. The peers run beside the others, each on one thread.

Every run is kept in FOLDER/benchmark.csv, or families.csv for the synthetic ones (beside this
script by default; `runs`), at once: an interrupted benchmark continues where it stopped, and after
adding a method only that one runs. Delete a method's column after changing it. The tables go to
standard output, the seconds of each method to standard error. ``--quick`` (two draws, one and ten
labels) needs ``-o``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from experiments.few_labels.draws import IN_PICTURES, drawn
from experiments.few_labels.families import FAMILIES
from experiments.few_labels.graph_peers import METHODS as PEERS
from experiments.few_labels.methods import (
    METHODS,
    OF_POINTS,
    OTHERS_SIZED,
    OURS_SIZED,
    Setting,
)
from experiments.few_labels.paired_table import leads, shortfalls, sized_table, table
from experiments.few_labels.runs import Key, Results
from experiments.problems import PROBLEMS, REAL, Problem, problem_of

BUDGETS = {
    "equal": (1, 3, 5, 10),
    "blocks": (1, 3, 5, 10),
    "proportional": (10,),
    "strokes": (10,),
    "wrong": (10,),
}
_PINES = frozenset({"8-bit Indian Pines, spectral", "8-bit Indian Pines, spatial"})
_LARGE_OR_LONG = _PINES | {"Potsdam, spectral", "Potsdam, spatial", "shares-20000"}
_LARGE_OR_LONG |= {"strips", "strips-three"}
TOO_SLOW = {  # more than 20 seconds per draw: problems by method
    "LabelPropagation": {"Salinas-A, spatial", "8-bit Indian Pines, spatial", "Potsdam, spatial"},
    "GL Poisson with sizes, own graph": _PINES,
    "GL Poisson with sizes, our graph": _PINES,
    "GL PoissonMBO, own graph": _LARGE_OR_LONG,
    "GL PoissonMBO, our graph": _LARGE_OR_LONG,
    "CutSSL, our graph": _LARGE_OR_LONG - {"strips", "strips-three"} | {"MNIST"},
}
_EQUAL_POINTS = {"three-values", "two-values", "small-counts"}  # fewer rows of the graph than of y


@dataclass(frozen=True)
class Draw:
    """Labels, the points on which they are scored, and the methods still to run on them."""

    way: str
    budget: int
    seed: int
    y: np.ndarray
    scored: np.ndarray
    methods: tuple[str, ...]


def ways_of(problem: Problem) -> Mapping[str, Sequence[int]]:
    """Return the labels per class by way of drawing them."""
    if problem.name in FAMILIES:
        return FAMILIES[problem.name].ways
    in_picture = problem.shape is not None
    return {way: n for way, n in BUDGETS.items() if in_picture or way not in IN_PICTURES}


def n_draws(problem: Problem, way: str, budget: int) -> int:
    if problem.name in FAMILIES:
        return FAMILIES[problem.name].n_draws
    return 50 if way == "equal" and budget == 1 else 10


def pending_draws(
    problem: Problem,
    methods: Sequence[str],
    results: Results,
    *,
    only: int | None = None,
    quick: bool = False,
) -> Iterator[Draw]:
    """Yield the draws of a problem, or only one seed's, on which some method has not run yet."""
    methods = [method for method in methods if can_run(method, problem)]
    for way, budgets in ways_of(problem).items():
        for budget in budgets:
            if quick and budget not in (1, 10):
                continue
            n = 2 if quick else n_draws(problem, way, budget)
            for seed in range(n) if only is None else {only} & set(range(n)):
                key = problem.name, way, budget, seed
                wanted = [m for m in methods if seed < most_draws(m, problem)]
                missing = tuple(m for m in wanted if (*key, m) not in results.runs)
                if missing:
                    y, scored = drawn(problem, way, budget, seed)
                    yield Draw(way, budget, seed, y, scored, missing)


def most_draws(method: str, problem: Problem) -> float:
    sized = method in OURS_SIZED | OTHERS_SIZED or (method in PEERS and PEERS[method].sized)
    return 10 if sized and problem.name not in FAMILIES else np.inf


def can_run(method: str, problem: Problem) -> bool:
    """Return whether a method can do with what a problem gives, and in time."""
    if problem.name in TOO_SLOW.get(method, ()):
        return False
    if method == "CutSSL, our graph" and problem.name in _EQUAL_POINTS:
        return False
    needs_points = PEERS[method].needs_points if method in PEERS else method in OF_POINTS
    return problem.points is not None or not needs_points


class Peer(AbstractContextManager):
    """Other libraries' graph methods in their own process, which answers draw by draw."""

    def __init__(self, python: str):
        script = Path(__file__).with_name("graph_peers.py")
        self.process = subprocess.Popen(
            [python, str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            text=True,
        )

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def ask(self, setting: Setting, draws: Sequence[Draw]) -> Answers:
        """Ask for the classes that the peer's methods find."""
        answers = Answers(self.process, setting.problem, draws)
        if answers.draws:
            answers.write_task(setting)
            with suppress(BrokenPipeError):  # said when the answers are waited for
                self.process.stdin.write(f"{answers.folder}\n")
                self.process.stdin.flush()
        return answers


class Answers(AbstractContextManager):
    """What a peer finds on the draws of one problem, as it comes."""

    def __init__(self, process: subprocess.Popen[str], problem: Problem, draws: Sequence[Draw]):
        self._process = process
        self._problem = problem
        self._methods = [m for m in PEERS if any(m in draw.methods for draw in draws)]
        self.draws = [draw for draw in draws if set(self._methods) & set(draw.methods)]
        self._missing = len(self.draws)
        self._temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self._temporary.name)

    def __exit__(self, *_: object) -> None:
        self._temporary.cleanup()

    def write_task(self, setting: Setting) -> None:
        affinity = setting.operator.affinity
        classes, shares = setting.class_shares
        np.savez(
            self.folder / "task.npz",
            data=affinity.data.astype(np.float64),
            indices=affinity.indices,
            indptr=affinity.indptr,
            y=np.array([draw.y for draw in self.draws]),
            classes=classes,
            shares=shares,
            methods=self._methods,
            **({} if setting.points is None else {"points": setting.points}),
        )

    def collect(self, results: Results) -> None:
        """Add the answers since the last call."""
        for answer in self.folder.glob("*.npy"):
            draw = self.draws[int(answer.stem)]
            for method, classes in zip(self._methods, np.load(answer), strict=True):
                if method in draw.methods:
                    _keep(results, self._problem, draw, method, classes[draw.scored])
            answer.unlink()
            self._missing -= 1

    def finish(self, results: Results) -> None:
        """Wait for the last answer.

        Raises
        ------
        subprocess.CalledProcessError
            If the peer failed; its messages go to standard error.
        """
        self.collect(results)
        while self._missing:
            ended = self._process.poll() is not None
            self.collect(results)
            if ended and self._missing:
                raise subprocess.CalledProcessError(self._process.returncode, self._process.args)
            time.sleep(0.2 if self._missing else 0)


def run(
    names: Sequence[str],
    methods: Sequence[str],
    results: Results,
    *,
    peer: Peer | None = None,
    quick: bool = False,
) -> None:
    """Add all missing runs to the results."""
    for name in names:
        seconds: dict[str, float] = defaultdict(float)
        start = time.perf_counter()
        # points of a family are those of one draw
        for only in range(FAMILIES[name].n_draws) if name in FAMILIES else [None]:
            problem = problem_of(name, only or 0)
            draws = list(pending_draws(problem, methods, results, only=only, quick=quick))
            if draws:
                for method, spent in run_problem(Setting(problem), draws, results, peer).items():
                    seconds[method] += spent
        for method, spent in seconds.items():
            print(f"{name}: {method}: {spent:.1f} s", file=sys.stderr)
        print(f"{name}: {time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)


def run_problem(
    setting: Setting, draws: Sequence[Draw], results: Results, peer: Peer | None = None
) -> dict[str, float]:
    """Run all methods draw by draw, the peer's in parallel; return the seconds of each of ours."""
    seconds: dict[str, float] = defaultdict(float)
    with nullcontext() if peer is None else peer.ask(setting, draws) as beside:
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
    parser.add_argument("--peer", help="Python of an environment that has the peers")
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
        print("without --peer PYTHON: the methods of graph_peers are left out", file=sys.stderr)
        methods = [method for method in methods if method not in PEERS]
    warnings.simplefilter("ignore")  # LabelPropagation's 1000 steps are seldom enough
    folder = options.output or Path(__file__).parent
    runs: dict[Key, float] = {}
    with (
        threadpool_limits(1),  # two processes on as many cores: a second thread would only wait
        nullcontext() if options.peer is None else Peer(options.peer) as peer,
    ):
        for file, kind in (("benchmark.csv", REAL), ("families.csv", FAMILIES)):
            names = [name for name in options.problems if name in kind]
            if names:
                results = Results(folder / file)
                run(names, methods, results, peer=peer, quick=options.quick)
                runs |= results.runs
    for lines in (table(runs), sized_table(runs), leads(runs), shortfalls(runs)):
        print("\n".join(lines), end="\n\n")


if __name__ == "__main__":
    main()
