"""The features beside the graph: what they gain, ungated, and where labels left out speak for it.

    python -m experiments.few_labels.joined_features [--draws N] [problem ...]

For each problem, way of drawing labels (`draws`) and budget: the accuracy of the graph (the
library's default), of the features' Gaussian process alone, of both joined in every draw, and of
`join_features`, which joins them where labels left out say so; in how many draws they did; and its
difference from the graph, paired by draw, with a 95 % interval. The rows of the problems that are
named are replaced in joined_features.csv. The width of the kernel, its noise, the sharpness and the
gate of `diffclass.label_diffusion.feature_opinion` were chosen on the choosing half.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from diffclass import MarkovOperator, diffuse_labels
from diffclass.label_diffusion import Labels, join_features
from diffclass.targets import encode_labels
from experiments.few_labels.draws import drawn
from experiments.few_labels.families import FAMILIES
from experiments.few_labels.paired_table import paired
from experiments.markdown import Row, markdown_table, replace_rows
from experiments.problems import HALVES, PROBLEMS, TITLES, Problem, default_operator, problem_of

OUTPUT = Path(__file__).with_name("joined_features.csv")
OF_POINTS = [name for name in PROBLEMS if name != "cora"]  # it has no features here
BUDGETS = (3, 5, 10)  # with one label per class nothing is left out
MEASURES = ("graph", "features", "always", "gated")


def draws_of(problem: Problem) -> list[tuple[str, int]]:
    """Return the ways of drawing labels and the budgets of a problem."""
    if problem.name in FAMILIES:
        ways = FAMILIES[problem.name].ways
        return [(way, n) for way, budgets in ways.items() for n in budgets if n > 1]
    strokes = [("strokes", 10)] if problem.shape is not None else []
    return [("equal", n) for n in BUDGETS] + strokes + [("wrong", 10)]


def measured(
    problem: Problem, operator: MarkovOperator, y: np.ndarray, scored: np.ndarray
) -> dict[str, float]:
    """Return the accuracies (%) of one draw, and whether the features counted."""
    classes, codes = encode_labels(y)
    by_graph = diffuse_labels(operator, codes)
    opinion, joined, _ = join_features(operator, problem.points, Labels.of(codes), by_graph)
    at = np.flatnonzero(scored)
    values = opinion.values(problem.points[at])
    always = replace(opinion, gain=1.0, error=0.0).joined(
        by_graph.posteriors[at], problem.points[at]
    )
    found = {
        "graph": by_graph.codes[at],
        "features": values.argmax(axis=1),
        "always": always.argmax(axis=1),
        "gated": joined.codes[at],
    }
    known = np.searchsorted(classes, problem.truth[at])
    right = {name: 100 * float((codes == known).mean()) for name, codes in found.items()}
    return right | {"counted": float(opinion.counts)}


def compute(name: str, n_draws: int) -> list[dict[str, Any]]:
    """Return the rows of a problem."""
    runs: dict[tuple[str, int], list[dict[str, float]]] = {}
    operator, last = None, None
    for seed in range(n_draws):
        problem = problem_of(name, seed)
        if operator is None or problem is not last:
            operator, last = default_operator(problem), problem
        for way, budget in draws_of(problem):
            y, scored = drawn(problem, way, budget, seed)
            runs.setdefault((way, budget), []).append(measured(problem, operator, y, scored))
    half = next(half for half, names in HALVES.items() if problem.name in names)
    return [
        {"problem": problem.name, "half": half, "drawn": way, "labels_per_class": budget}
        | _summary(found)
        for (way, budget), found in runs.items()
    ]


def _summary(found: Sequence[dict[str, float]]) -> dict[str, Any]:
    by_draw = {name: [run[name] for run in found] for name in (*MEASURES, "counted")}
    gain, half = paired(by_draw["gated"], by_draw["graph"])
    worst = min(np.subtract(by_draw["gated"], by_draw["graph"]))
    means = {name: float(np.mean(values)) for name, values in by_draw.items()}
    return {"draws": len(found)} | means | {"gain": gain, "interval": half, "worst": worst}


def table(rows: Sequence[Row]) -> list[str]:
    """Return the rows where the features counted in some draw, and the others of real problems."""
    families = {TITLES.get(name, name) for name in FAMILIES}
    cells = [
        [row["half"], row["problem"], row["drawn"], row["labels_per_class"]]
        + [f"{float(row[name]):.1f}" for name in MEASURES]
        + [
            f"{float(row['counted']):.1f}",
            f"{float(row['gain']):+.2f} ± {float(row['interval']):.2f}",
        ]
        for row in rows
        if row["problem"] not in families or float(row["counted"]) > 0
    ]
    head = ["half", "problem", "labels", "per class", "graph", "features", "both, always"]
    head += ["where labels say so", "share of draws", "gain over the graph"]
    return markdown_table(head, cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problems", nargs="*")
    parser.add_argument("--draws", type=int, default=10)
    arguments = parser.parse_args()
    order = [TITLES.get(name, name) for name in PROBLEMS]
    for name in arguments.problems or OF_POINTS:
        rows = compute(name, arguments.draws)
        print("\n".join(table(replace_rows(OUTPUT, rows, "problem", order.index))), flush=True)


if __name__ == "__main__":
    main()
