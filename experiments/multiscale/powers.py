"""Compressed powers beside Chebyshev series: time, memory and error.

    python -m experiments.multiscale.powers [PROBLEM ...]

A^t of 16 random functions (two where there are 100,000 points) by `diffusion_wavelets` and by
`MarkovOperator.apply` with a tolerance that equals the accuracy. The error is the largest over two
functions and over t = 1, 2, 4, ..., 2^18 and 100, in the weights pi, relative to the function; the
reference is the series with a tolerance of 1e-12. Seconds are those of the processor, on one
thread. "Pays from" is the number of functions from which building the wavelets and applying them
costs less than Chebyshev series at t = 4096. The rows of a problem replace those that the file had.
The roll of 100,000 points takes more than half an hour.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from diffclass import DiffusionWavelets, MarkovOperator, diffusion_wavelets, markov_operator
from experiments import problems
from experiments.datasets import make_swiss_roll, make_torus_helix
from experiments.markdown import Row, markdown_table, read_rows, write_rows

OUTPUT = Path(__file__).with_name("powers.csv")
TIMES = (64, 4096, 262_144)
FUNCTIONS = 16, 2
MANY_POINTS = 100_000


def _of_points(X: np.ndarray) -> MarkovOperator:
    return markov_operator(X, n_neighbors=12, random_state=0).in_double_precision()


def _helix(n: int) -> MarkovOperator:
    return _of_points(make_torus_helix(n, random_state=0)[0])


def _roll(n: int) -> MarkovOperator:
    return _of_points(make_swiss_roll(n, random_state=0)[0])


PROBLEMS: dict[str, tuple[Callable[[], MarkovOperator], tuple[float, ...]]] = {
    "helix, 10,000": (lambda: _helix(10_000), (1e-3, 1e-6)),
    "helix, 100,000": (lambda: _helix(100_000), (1e-3,)),
    "roll, 3,000": (lambda: _roll(3_000), (1e-3, 1e-6)),
    "roll, 10,000": (lambda: _roll(10_000), (1e-3, 1e-6)),
    "roll, 100,000": (lambda: _roll(100_000), (1e-3,)),
    "digits": (lambda: _of_points(problems.digits().points), (1e-3, 1e-6)),
    "Salinas-A, spectral": (
        lambda: _of_points(problems.salinas_a(spatial=False).points),
        (1e-3, 1e-6),
    ),
}


def measured(problem: str, operator: MarkovOperator, accuracy: float) -> dict[str, object]:
    """Return one row of the file."""
    start = time.process_time()
    found = diffusion_wavelets(operator, accuracy=accuracy)
    build = time.process_time() - start
    f = _functions(operator)
    row: dict[str, object] = {
        "problem": problem,
        "n": len(operator),
        "edges_per_point": operator.affinity.nnz / len(operator),
        "accuracy": accuracy,
        "build_s": build,
        "stored_mb": found.n_entries * 8 / 1e6,
        "graph_mb": operator.affinity.nnz * 12 / 1e6,
        "error": _largest_error(operator, found, f),
    }
    for t in TIMES:
        row[f"rank_{t}"] = int(found.ranks[min(int(np.log2(t)), len(found.levels))])
        row[f"wavelets_ms_{t}"] = _milliseconds(lambda t=t: found.apply(f, t))
        row[f"chebyshev_ms_{t}"] = _milliseconds(
            lambda t=t: operator.apply(f, t, tolerance=accuracy)
        )
    return row


def _functions(operator: MarkovOperator) -> np.ndarray:
    n_functions = FUNCTIONS[len(operator) >= MANY_POINTS]
    f = np.random.default_rng(0).normal(size=(len(operator), n_functions))
    return f / np.sqrt(operator.stationary_distribution @ f**2)


def _largest_error(operator: MarkovOperator, found: DiffusionWavelets, f: np.ndarray) -> float:
    times = [100, *(2**j for j in range(19))]
    off = found.apply(f[:, :2], times) - operator.apply(f[:, :2], times)
    return float(np.sqrt(operator.stationary_distribution @ off**2).max())


def _milliseconds(work: Callable[[], np.ndarray]) -> float:
    """Return the processor's milliseconds per function."""
    start = time.process_time()
    n_functions = work().shape[1]
    return 1000 * (time.process_time() - start) / n_functions


def table(rows: list[Row]) -> list[str]:
    """Return the table of the guide."""
    head = ["graph", "accuracy", "error", "rank at 64, 4096", "build, s", "stored, graph, MB"]
    head += [f"t = {t}: ours, Chebyshev, ms" for t in TIMES]
    return markdown_table([*head, "pays from"], [_cells(row) for row in rows])


def _cells(row: Row) -> list[str]:
    """Return the cells of one row."""
    each = [
        f"{float(row[f'wavelets_ms_{t}']):.3g}, {float(row[f'chebyshev_ms_{t}']):.3g}"
        for t in TIMES
    ]
    saved = float(row["chebyshev_ms_4096"]) - float(row["wavelets_ms_4096"])
    least = f"{1000 * float(row['build_s']) / saved:,.0f} functions" if saved > 0 else "never"
    return [
        row["problem"],
        f"{float(row['accuracy']):.0e}",
        f"{float(row['error']):.0e}",
        f"{row['rank_64']}, {row['rank_4096']}",
        f"{float(row['build_s']):.0f}",
        f"{float(row['stored_mb']):.0f}, {float(row['graph_mb']):.1f}",
        *each,
        least,
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problems", nargs="*", default=list(PROBLEMS))
    _of_points(np.random.default_rng(0).random((100, 2))).apply(np.ones(100), 1000)  # compiles
    for name in parser.parse_args().problems:
        make, accuracies = PROBLEMS[name]
        operator = make()
        rows: list[dict[str, object]] = []
        for accuracy in accuracies:
            rows.append(measured(name, operator, accuracy))
            print(rows[-1], flush=True)
        old = read_rows("multiscale/powers.csv") if OUTPUT.exists() else []
        kept = [dict[str, object](row) for row in old if row["problem"] != name]
        write_rows(
            OUTPUT, sorted(kept + rows, key=lambda row: list(PROBLEMS).index(row["problem"]))
        )


if __name__ == "__main__":
    main()
