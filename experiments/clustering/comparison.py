"""Clusters without labels: DiffusionClustering beside k-means, spectral clustering and HDBSCAN.

    python -m experiments.clustering.comparison [set ...] [--methods METHOD ...] [--draws N]

Every method has its own defaults; all but HDBSCAN, which takes none, are given the true number of
clusters. "modes" is DiffusionModes. Agreement with the truth is the adjusted Rand index, for which
HDBSCAN's noise is a cluster. Ten draws: those of the synthetic families are new points, of the
others new samples of 2,000 points. All defaults were chosen on the first half of the sets, the
other half is only reported; the halves were fixed before. Rows of the sets and methods run replace
those in comparison.csv. Spectral clustering is stopped after 20 seconds of computing and counts as
0; where that happened in the first three draws it is not run again.
"""

from __future__ import annotations

import argparse
import signal
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score

from diffclass import DiffusionClustering, DiffusionModes
from experiments.markdown import Row, markdown_table, read_rows, write_rows
from experiments.problems import problem_of

HALVES = {
    "choosing": (
        *("unbalanced-blobs", "touching-blobs", "shares-1000", "overlapping", "six-sizes"),
        *("one-sided", "twenty-blobs", "unequal-density", "strips", "moons", "moons-in-20"),
        *("swiss-roll", "digits", "tissue", "jasper"),
    ),
    "reporting": (
        *("three-blobs", "unbalanced-space", "touching-three", "overlapping-skew", "eight-sizes"),
        *("dense-in-wide", "strips-three", "circles", "one-sided-rings", "nested-rings", "spirals"),
        *("mnist", "salinas-spectral", "salinas-spatial", "pines-spectral", "potsdam-spectral"),
    ),
}
SETS = [name for names in HALVES.values() for name in names]
N_POINTS = 2000
LIMIT = 20  # seconds of computing
OURS, MODES = "diffusion", "modes"
OTHERS = ("spectral", "k-means", "HDBSCAN")
SHOWN = (OURS, MODES, *OTHERS)
METHODS: dict[str, Callable[[int, int], Any]] = {
    OURS: lambda k, draw: DiffusionClustering(k, random_state=draw),
    MODES: lambda k, draw: DiffusionModes(k, random_state=draw),
    "spectral": lambda k, draw: SpectralClustering(k, random_state=draw),
    "k-means": lambda k, draw: KMeans(k, random_state=draw),
    "HDBSCAN": lambda k, draw: HDBSCAN(copy=True),
}
NAME = "clustering/comparison.csv"
OUTPUT = Path(__file__).with_name("comparison.csv")


def sample(name: str, draw: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points whose class is known, at most N_POINTS of them, and the classes."""
    problem = problem_of(name, draw)
    assert problem.points is not None
    known = np.flatnonzero((problem.truth > 0) & np.isfinite(problem.points).all(axis=1))
    if len(known) > N_POINTS:
        known = np.sort(np.random.default_rng(draw).choice(known, N_POINTS, replace=False))
    return problem.points[known].astype(np.float64), problem.truth[known]


def compute(name: str, methods: Sequence[str], n_draws: int) -> Iterator[dict[str, object]]:
    """Yield one row per draw and method."""
    half = next(half for half, names in HALVES.items() if name in names)
    stopped = dict.fromkeys(methods, 0)
    for draw in range(n_draws):
        X, truth = sample(name, draw)
        k = len(np.unique(truth))
        for method in methods:
            labels = None
            if stopped[method] < 3:
                labels = _labels(METHODS[method](k, draw), X)
                stopped[method] += labels is None
            yield {
                "half": half,
                "set": name,
                "draw": draw,
                "points": len(X),
                "k": k,
                "method": method,
                "found": "" if labels is None else len(np.unique(labels[labels >= 0])),
                "adjusted_rand": 0.0 if labels is None else adjusted_rand_score(truth, labels),
            }


def _labels(method: Any, X: np.ndarray) -> np.ndarray | None:
    """Return a method's labels, or None where it takes too long."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not isinstance(method, SpectralClustering):
            return method.fit_predict(X)
        try:
            with _limited():
                return method.fit_predict(X)
        except TimeoutError:
            return None


@contextmanager
def _limited() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def means(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """Return the mean index by set and method."""
    values: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        by_method = values.setdefault(row["set"], {})
        by_method.setdefault(row["method"], []).append(float(row["adjusted_rand"]))
    return {
        name: {method: float(np.mean(found)) for method, found in values[name].items()}
        for name in SETS
        if name in values
    }


def table(rows: Sequence[Row]) -> list[str]:
    """Return the mean index of each set and method, and ours less the best other's."""
    found, size = means(rows), {row["set"]: (row["points"], row["k"]) for row in rows}
    cells = []
    for half, names in HALVES.items():
        for name in names:
            of_set = found[name]
            lead = of_set[OURS] - max(of_set[other] for other in OTHERS)
            values = [f"{of_set[method]:.3f}" for method in SHOWN]
            cells.append([half, name, *size[name], *values, f"{lead:+.3f}"])
        average = {m: np.mean([found[name][m] for name in names]) for m in SHOWN}
        lead = np.mean([found[n][OURS] - max(found[n][o] for o in OTHERS) for n in names])
        values = [f"{average[method]:.3f}" for method in SHOWN]
        cells.append([half, "mean", "", "", *values, f"{lead:+.3f}"])
    head = ["half", "set", "points", "k", *SHOWN, "diffusion - best other"]
    return markdown_table(head, cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--draws", type=int, default=10)
    arguments = parser.parse_args()
    for name in arguments.sets or SETS:
        rows = [*compute(name, arguments.methods, arguments.draws)]
        kept: list[Any] = read_rows(NAME) if OUTPUT.exists() else []
        run = {(row["set"], row["method"]) for row in rows}
        kept = [row for row in kept if (row["set"], row["method"]) not in run]
        write_rows(OUTPUT, sorted(kept + rows, key=lambda row: SETS.index(row["set"])))
        scores = means([{key: str(value) for key, value in row.items()} for row in rows])[name]
        print(name, *(f"{method} {score:.3f}" for method, score in scores.items()), flush=True)


if __name__ == "__main__":
    main()
