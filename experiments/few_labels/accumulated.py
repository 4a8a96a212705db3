"""Labels summed over the times of the diffusion, and labels at one time: accuracy by last time.

    python -m experiments.few_labels.accumulated [problem ...]

At each time t the points are classified by A^t chi_i, and by sum_{s <= t} A^s chi_i: how often the
walk from x has been at the labels of class i, scaled so that the visits of all classes have the
same mean over the graph. As t grows the sum tends, up to a constant, to a solution of Poisson's
equation (J. Calder et al., Poisson learning, 2020, up to the weights of the labels). The table goes
to standard output, means over ten draws to accumulated.csv.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from diffclass import MarkovOperator
from experiments.few_labels.draws import BUDGETS, draw_labels
from experiments.markdown import Row, markdown_table
from experiments.problems import REAL, default_operator

TIMES = 2 ** np.arange(3, 11)
WAYS = ("at t", "up to t")
OUTPUT = Path(__file__).with_name("accumulated.csv")


def codes_by_time(
    operator: MarkovOperator, codes: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield at each of TIMES the column of the largest value, and that of the largest sum."""
    labelled = np.flatnonzero(codes >= 0)
    chi = np.zeros((len(codes), codes.max() + 1))
    chi[labelled, codes[labelled]] = 1
    f = (chi / (operator.stationary_distribution @ chi)).astype(operator.dtype)
    total = f - 1.0  # of differences from the limit, 1 for every class, which would hide them
    for time, before in zip(TIMES, [0, *TIMES], strict=False):
        for _ in range(time - before):
            f = operator @ f
            total += f - 1
        yield f.argmax(axis=1), total.argmax(axis=1)


def compute(name: str) -> Iterator[list[object]]:
    """Yield one row per budget and way: problem, labels per class, way, accuracy (%) by time."""
    problem = REAL[name]()
    operator = default_operator(problem)
    for budget in BUDGETS:
        right: list[list[list[float]]] = []
        for seed in range(10):
            y, scored = draw_labels(problem.truth, budget, seed)
            classes = np.unique(y[y >= 0])
            codes = np.where(y >= 0, np.searchsorted(classes, y), -1)
            known = problem.truth[scored]
            right.append(
                [[(classes[found[scored]] == known).mean() for found in pair]
                 for pair in codes_by_time(operator, codes)]
            )  # fmt: skip
        for way, values in zip(WAYS, 100 * np.mean(right, axis=0).T, strict=True):
            yield [problem.name, budget, way, *(f"{value:.2f}" for value in values)]


def table(rows: Sequence[Row]) -> list[str]:
    """Return the table of accuracies by time, or by the end of the sum."""
    times = [f"t{time}" for time in TIMES]
    cells = [
        [row["problem"], row["labels_per_class"], row["classified_by"]]
        + [f"{float(row[time]):.1f}" for time in times]
        for row in rows
    ]
    head = ["problem", "labels per class", "classified by", *(f"t = {time}" for time in TIMES)]
    return markdown_table(head, cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problems", nargs="*", default=list(REAL))
    head = ["problem", "labels_per_class", "classified_by", *(f"t{time}" for time in TIMES)]
    with OUTPUT.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        for name in parser.parse_args().problems or list(REAL):
            for row in compute(name):
                writer.writerow(row)
                print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main()
