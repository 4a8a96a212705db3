"""When does a shaped kernel pay? Accuracy of each and of the classifier's own, on the same draws.

    python -m experiments.coifman_2005.kernels_ablation [--quick] [problem ...]

The classifier's own kernel is that of shared neighbours; isotropic is the self-tuning Gaussian
alone. The others see shared neighbours too. Kernels that need scores get those of the map of the
classifier's own kernel, and warping gets its posteriors; labels count, and tau is chosen, as by
default. Every run goes to kernels_ablation.csv, where the rows of a problem replace those that it
had; the table goes to standard output: mean and standard deviation of the classifier's own kernel,
then mean differences paired by draw with their 95 % intervals. What kernels and scores do by
default was chosen on the problems of `experiments.problems.CHOOSING`.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Iterator
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
from diffclass.label_diffusion import LabelDiffusion, map_scores
from experiments.few_labels.draws import BUDGETS, draw_labels
from experiments.markdown import read_rows
from experiments.problems import HALVES, PROBLEMS, REAL, TITLES, Problem, default_operator

NAMES = tuple(name for name in REAL if name != "cora")  # which has no points
OWN = "shared neighbours"
KERNELS: dict[str, Kernel] = {
    OWN: SharedNeighbors(),
    "isotropic": Gaussian(),
    "covariance": SharedNeighbors(LocalCovariance()),
    "directed": SharedNeighbors(Directed()),
    "discriminant": SharedNeighbors(LocalDiscriminant()),
    "directed and discriminant": SharedNeighbors(LocalDiscriminant(Directed())),
}
WARPED = {"warped": OWN, "directed and warped": "directed"}  # by the kernel's own posteriors
METHODS = (*KERNELS, *WARPED)
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
        for seed in range(2 if quick else 10):
            for budget in BUDGETS:
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
    """Yield each method's result; kernels shaped by the first map are rebuilt for each draw."""
    first = diffuse_labels(fixed[OWN], y)
    scores = map_scores(fixed[OWN], first.codes, len(first.classes))
    operators, results = dict(fixed), {OWN: first}
    for method, kernel in KERNELS.items():
        if method not in operators:
            operators[method] = markov_operator(
                problem.points, kernel=kernel, y=y, scores=scores, random_state=0
            )
        if method not in results:
            results[method] = diffuse_labels(operators[method], y)
        yield method, results[method]
    for method, kernel_name in WARPED.items():
        posteriors = results[kernel_name].posteriors
        yield method, diffuse_labels(warped_operator(operators[kernel_name], posteriors, y=y), y)


def table(rows: list[dict[str, Any]]) -> list[str]:
    """Return the rows of a Markdown table, with the means over the problems of each half."""
    others = METHODS[1:]
    lines = [
        f"| problem | labels per class | draws | {OWN} | {' | '.join(others)} |",
        "|---" * (4 + len(others)) + "|",
    ]
    groups: dict[tuple[str, int], dict[str, list[float]]] = {}
    for row in rows:
        group = groups.setdefault((row["problem"], int(row["labels_per_class"])), {})
        group.setdefault(row["method"], []).append(100 * float(row["accuracy"]))
    gains: dict[tuple[str, int], list[list[float]]] = {}
    for (problem, budget), methods in groups.items():
        scores = {method: np.array(values) for method, values in methods.items()}
        base = scores[OWN]
        cells = [f"{base.mean():.1f} ± {base.std(ddof=1):.1f}"]
        for method in others:
            gain = scores[method] - base
            half_width = 1.96 * gain.std(ddof=1) / np.sqrt(len(gain))
            cells.append(f"{gain.mean():+.1f} ± {half_width:.1f}")
        half = next(half for half, names in HALVES.items() if problem in names)
        means = [(scores[method] - base).mean() for method in others]
        gains.setdefault((half, budget), []).append(means)
        lines.append(f"| {problem} | {budget} | {len(base)} | {' | '.join(cells)} |")
    for (half, budget), values in sorted(gains.items()):
        cells = [f"{mean:+.1f}" for mean in np.mean(values, axis=0)]
        lines.append(f"| mean, {half} half | {budget} | | | {' | '.join(cells)} |")
    return lines


def merged(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of both, problem by problem; new rows of a problem replace its old ones."""
    renewed = {row["problem"] for row in new}
    titles = [TITLES.get(name, name) for name in PROBLEMS]
    rows = [row for row in old if row["problem"] not in renewed] + new
    return sorted(rows, key=lambda row: titles.index(row["problem"]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problems", nargs="*", default=list(NAMES))
    parser.add_argument("--quick", action="store_true", help="two draws, nothing written")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in arguments.problems:
        rows = list(compute([name], quick=arguments.quick))
        print("\n".join(table(rows)), flush=True)
        if not arguments.quick:
            _write(merged(read_rows("coifman_2005/kernels_ablation.csv"), rows))


def _write(rows: list[dict[str, Any]]) -> None:
    with OUTPUT.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(row | {"accuracy": f"{float(row['accuracy']):.5f}"} for row in rows)


if __name__ == "__main__":
    main()
