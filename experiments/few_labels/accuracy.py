"""Accuracy with 1, 5 and 10 labels per class: summed, absorbing and Laplace learning.

    python -m experiments.few_labels.accuracy [--quick] [--kernel gaussian] [problem ...]

Every run goes to accuracy.csv, the table to standard output. Means and standard deviations are
over seeded draws; "vs Laplace" is the mean difference on the same draws and the same graph, with
its 95 % interval.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from diffclass import diffuse_labels
from diffclass.kernels import Gaussian, Kernel
from experiments.few_labels.draws import draw_labels
from experiments.few_labels.laplace import laplace_learning
from experiments.problems import PROBLEMS, default_operator

BUDGETS = (1, 5, 10)
MODES = ("summed", "absorbing")
KERNELS: dict[str, Kernel | None] = {"shared": None, "gaussian": Gaussian()}  # None: the default
OUTPUT = Path(__file__).with_name("accuracy.csv")


def n_draws(problem: str, n_per_class: int, *, quick: bool) -> int:
    """Ten draws; fifty of digits at one label per class, where the spread is wide."""
    if quick:
        return 2
    return 50 if problem == "digits" and n_per_class == 1 else 10


def compute(
    names: list[str], *, kernel: Kernel | None = None, quick: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield one row a problem, budget, draw and method."""
    for name in names:
        problem = PROBLEMS[name]()
        operator = default_operator(problem, kernel)
        for budget in BUDGETS:
            for seed in range(n_draws(name, budget, quick=quick)):
                y, scored = draw_labels(problem.truth, budget, seed)
                row = {"problem": problem.name, "labels_per_class": budget, "seed": seed}
                for mode in MODES:
                    result = diffuse_labels(operator, y, labels=mode)
                    found = np.where(result.reached, result.classes[result.codes], 0)
                    accuracy = (found == problem.truth)[scored].mean()
                    yield row | {"method": mode, "accuracy": accuracy, "tau": result.tau}
                found = laplace_learning(operator, y)
                accuracy = (found == problem.truth)[scored].mean()
                yield row | {"method": "Laplace", "accuracy": accuracy, "tau": ""}


def table(rows: list[dict[str, Any]]) -> list[str]:
    """Return the rows of a Markdown table."""
    lines = [
        "| problem | labels per class | draws | summed | absorbing | Laplace, same graph "
        "| summed vs Laplace | absorbing vs Laplace |",
        "|---|---|---|---|---|---|---|---|",
    ]
    groups: dict[tuple[str, int], dict[str, list[float]]] = {}
    for row in rows:
        group = groups.setdefault((row["problem"], int(row["labels_per_class"])), {})
        group.setdefault(row["method"], []).append(100 * float(row["accuracy"]))
    for (problem, budget), methods in groups.items():
        scores = {method: np.array(values) for method, values in methods.items()}
        cells = [f"{v.mean():.1f} ± {v.std(ddof=1):.1f}" for v in scores.values()]
        for method in MODES:
            difference = scores[method] - scores["Laplace"]
            half = 1.96 * difference.std(ddof=1) / np.sqrt(len(difference))
            cells.append(f"{difference.mean():+.1f} ± {half:.1f}")
        draws = len(scores["Laplace"])
        lines.append(f"| {problem} | {budget} | {draws} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problems", nargs="*", default=list(PROBLEMS))
    parser.add_argument("--quick", action="store_true", help="two draws, nothing written")
    parser.add_argument("--kernel", choices=list(KERNELS), default="shared")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    names, kernel = arguments.problems or list(PROBLEMS), KERNELS[arguments.kernel]
    rows = list(compute(names, kernel=kernel, quick=arguments.quick))
    if not arguments.quick:
        output = OUTPUT.with_stem("accuracy" if kernel is None else f"accuracy_{arguments.kernel}")
        with output.open("w", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(row | {"accuracy": f"{row['accuracy']:.5f}"} for row in rows)
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main()
