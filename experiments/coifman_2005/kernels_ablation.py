"""When does a shaped kernel pay? Accuracy of each and of the isotropic one, on the same draws.

    python -m experiments.coifman_2005.kernels_ablation [--quick] [problem ...]

Isotropic is the self-tuning Gaussian. The others use shared neighbours unless they are called
plain. Kernels that need earlier posteriors, and warping, get those of the classifier's default
(shared neighbours). Every run goes to kernels_ablation.csv, the table to standard output: mean and
standard deviation of the isotropic kernel, then mean differences paired by draw with their 95 %
intervals. Parameters are the defaults of the library, chosen on digits, tissue and Jasper Ridge.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from diffclass import MarkovOperator, diffuse_labels, markov_operator, warped_operator
from diffclass.kernels import (
    Directed,
    Gaussian,
    Kernel,
    LocalCovariance,
    LocalDiscriminant,
    SharedNeighbors,
)
from diffclass.label_diffusion import LabelDiffusion
from experiments.few_labels.draws import BUDGETS, draw_labels
from experiments.problems import PROBLEMS, Problem, default_operator

NAMES = ("digits", "tissue", "jasper", "salinas-spectral", "pines-spectral", "pines-spatial")
KERNELS: dict[str, Kernel] = {
    "isotropic": Gaussian(),
    "shared": SharedNeighbors(),
    "covariance, plain": LocalCovariance(),
    "covariance": SharedNeighbors(LocalCovariance()),
    "directed, plain": Directed(),
    "directed": SharedNeighbors(Directed()),
    "discriminant": SharedNeighbors(LocalDiscriminant()),
    "directed and discriminant": SharedNeighbors(LocalDiscriminant(Directed())),
}
WARPED = {"warped": "shared", "directed and warped": "directed"}  # by the kernel's own posteriors
METHODS = (*KERNELS, *WARPED)
free_labels = partial(diffuse_labels, label_mode="free", max_time=256)
OUTPUT = Path(__file__).with_name("kernels_ablation.csv")


def compute(names: list[str], *, quick: bool = False) -> Iterator[dict[str, Any]]:
    """Yield one row per problem, budget, draw and method."""
    for name in names:
        problem = PROBLEMS[name]()
        fixed = {
            method: default_operator(problem, kernel)
            for method, kernel in KERNELS.items()
            if not kernel.uses_scores
        }
        for budget in BUDGETS:
            for seed in range(2 if quick else 10):
                y, scored = draw_labels(problem.truth, budget, seed)
                for method, found in _classified(problem, fixed, y):
                    right = found.classes[found.codes] == problem.truth
                    accuracy = np.where(found.reached, right, False)[scored].mean()
                    yield {
                        "problem": problem.name,
                        "labels_per_class": budget,
                        "seed": seed,
                        "method": method,
                        "accuracy": accuracy,
                        "tau": found.tau,
                    }


def _classified(
    problem: Problem, fixed: dict[str, MarkovOperator], y: np.ndarray
) -> Iterator[tuple[str, LabelDiffusion]]:
    """Yield each method's result; those shaped by posteriors are rebuilt for each draw."""
    first = free_labels(fixed["shared"], y)
    operators, results = dict(fixed), {"shared": first}
    for method, kernel in KERNELS.items():
        if method not in operators:
            operators[method] = markov_operator(
                problem.points, kernel=kernel, y=y, scores=first.posteriors, random_state=0
            )
        if method not in results:
            results[method] = free_labels(operators[method], y)
        yield method, results[method]
    for method, kernel_name in WARPED.items():
        scores = results[kernel_name].posteriors
        yield method, free_labels(warped_operator(operators[kernel_name], scores, y=y), y)


def table(rows: list[dict[str, Any]]) -> list[str]:
    """Return the rows of a Markdown table."""
    others = METHODS[1:]
    lines = [
        f"| problem | labels per class | isotropic | {' | '.join(others)} |",
        "|---" * (3 + len(others)) + "|",
    ]
    groups: dict[tuple[str, int], dict[str, list[float]]] = {}
    for row in rows:
        group = groups.setdefault((row["problem"], int(row["labels_per_class"])), {})
        group.setdefault(row["method"], []).append(100 * float(row["accuracy"]))
    gains: dict[int, list[list[float]]] = {}
    for (problem, budget), methods in groups.items():
        scores = {method: np.array(values) for method, values in methods.items()}
        base = scores["isotropic"]
        cells = [f"{base.mean():.1f} ± {base.std(ddof=1):.1f}"]
        for method in others:
            gain = scores[method] - base
            half = 1.96 * gain.std(ddof=1) / np.sqrt(len(gain))
            cells.append(f"{gain.mean():+.1f} ± {half:.1f}")
        gains.setdefault(budget, []).append([(scores[m] - base).mean() for m in others])
        lines.append(f"| {problem} | {budget} | {' | '.join(cells)} |")
    for budget, values in gains.items():
        cells = [f"{mean:+.1f}" for mean in np.mean(values, axis=0)]
        lines.append(f"| mean | {budget} | | {' | '.join(cells)} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problems", nargs="*", default=list(NAMES))
    parser.add_argument("--quick", action="store_true", help="two draws, nothing written")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name in arguments.problems:
        rows += list(compute([name], quick=arguments.quick))
        print("\n".join(table(rows)), flush=True)
    if not arguments.quick:
        with OUTPUT.open("w", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(row | {"accuracy": f"{row['accuracy']:.5f}"} for row in rows)


if __name__ == "__main__":
    main()
