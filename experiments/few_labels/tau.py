"""The cost of choosing the time: accuracy at tau against the best single time in hindsight.

    python -m experiments.few_labels.tau [--quick] [problem ...]

For each problem, way of drawing labels (`draws`; on real data at random places) and budget the best
time of absorbing labels, 1 to 1024, is the one with the highest mean accuracy over the draws. The
loss of a rule is that mean minus the mean accuracy of what it chooses in each draw: the margin rule
a time, the default also weights and summed labels, so it may gain. Ten draws, three of more than
15,000 points. The table goes to standard output, the accuracy at every time to tau.csv.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from diffclass import MarkovOperator, diffuse_labels
from experiments.few_labels.draws import BUDGETS, drawn
from experiments.few_labels.families import FAMILIES
from experiments.markdown import Row, markdown_table
from experiments.measures import mapped_classes
from experiments.problems import PROBLEMS, Problem, default_operator, problem_of

TIMES = np.unique(np.rint(2 ** np.arange(0, 10.01, 0.5)).astype(int))
RULES: dict[str, dict[str, str]] = {
    "margin": {"label_mode": "absorbing", "tau": "margin"},
    "default": {},
}
LARGE = 15_000  # points; fewer draws from here on
OUTPUT = Path(__file__).with_name("tau.csv")


def codes_at_times(operator: MarkovOperator, y: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the class of each point with tau at each of the times, by plain products."""
    classes, codes = np.unique(y[y >= 0], return_inverse=True)
    labelled = np.flatnonzero(y >= 0)
    state = np.zeros((len(y), len(classes)), dtype=operator.dtype)
    state[labelled, codes] = 1
    kept, time = state[labelled], 0
    for until in TIMES:
        for _ in range(until - time):
            state = operator @ state
            state[labelled] = kept
        time = until
        yield classes[state.argmax(axis=1)]


def compute(names: list[str], *, quick: bool = False) -> Iterator[dict[str, Any]]:
    """Yield one row per problem, way of drawing, budget and rule."""
    for name in names:
        runs: dict[tuple[str, int], list[tuple[list[float], dict[str, tuple[float, int]]]]] = {}
        seed, n_draws = 0, 2 if quick else FAMILIES[name].n_draws if name in FAMILIES else 10
        while seed < n_draws:
            problem = problem_of(name, seed)
            if len(problem.truth) > LARGE:
                n_draws = min(n_draws, 3)
            operator = _operator(problem)
            for way, budget in draws_of(name):
                y, scored = drawn(problem, way, budget, seed)
                runs.setdefault((way, budget), []).append(
                    _accuracies(operator, y, problem.truth, scored)
                )
            seed += 1
        for (way, budget), found in runs.items():
            mean = np.mean([by_time for by_time, _ in found], axis=0)
            for rule in RULES:
                chosen, taus = zip(*(of_rule[rule] for _, of_rule in found), strict=True)
                yield {
                    "problem": problem.name,
                    "drawn": way,
                    "labels_per_class": budget,
                    "rule": rule,
                    "best_time": int(TIMES[mean.argmax()]),
                    "best": 100 * mean.max(),
                    "median_tau": float(np.median(taus)),
                    "chosen": 100 * np.mean(chosen),
                    "loss": 100 * (mean.max() - np.mean(chosen)),
                    **{f"t{t}": 100 * m for t, m in zip(TIMES, mean, strict=True)},
                }


def draws_of(name: str) -> list[tuple[str, int]]:
    """Return the ways of drawing labels on a problem, with the labels per class."""
    ways = FAMILIES[name].ways if name in FAMILIES else {"equal": BUDGETS}
    return [(way, budget) for way, budgets in ways.items() for budget in budgets]


@lru_cache(maxsize=1)
def _operator(problem: Problem) -> MarkovOperator:
    return default_operator(problem)


def _accuracies(
    operator: MarkovOperator, y: np.ndarray, truth: np.ndarray, scored: np.ndarray
) -> tuple[list[float], dict[str, tuple[float, int]]]:
    """Return the accuracy at each time, and that of each rule with its tau."""
    known = truth[scored]
    by_time = [float((found[scored] == known).mean()) for found in codes_at_times(operator, y)]
    chosen = {rule: diffuse_labels(operator, y, **options) for rule, options in RULES.items()}
    by_rule = {
        rule: (float((mapped_classes(result)[scored] == known).mean()), result.tau)
        for rule, result in chosen.items()
    }
    return by_time, by_rule


def table(rows: list[dict[str, Any]]) -> list[str]:
    """Return a Markdown table, with the mean loss of each rule below it."""
    lines = [
        "| problem | drawn | labels per class | rule | best time | accuracy there | median tau "
        "| accuracy at tau | lost |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        lines.append(
            f"| {r['problem']} | {r['drawn']} | {r['labels_per_class']} | {r['rule']} "
            f"| {r['best_time']} | {r['best']:.1f} | {r['median_tau']:.0f} | {r['chosen']:.1f} "
            f"| {r['loss']:.2f} |"
        )
    for rule in RULES:
        losses = [r["loss"] for r in rows if r["rule"] == rule]
        lines.append(f"\n{rule}: mean loss {np.mean(losses):.2f}, worst {np.max(losses):.2f}")
    return lines


def losses(rows: list[Row]) -> list[str]:
    """Return the table of what is lost on each problem with each number of labels per class."""
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    budgets: dict[tuple[str, str], dict[str, None]] = {}
    for row in rows:
        key = row["problem"], row["drawn"]
        rules = found.setdefault(key, {rule: [] for rule in RULES})
        rules[row["rule"]].append(float(row["loss"]))
        budgets.setdefault(key, {})[row["labels_per_class"]] = None
    cells = [
        [*key, " / ".join(budgets[key])]
        + [" / ".join(f"{loss:.1f}" for loss in rules[rule]) for rule in RULES]
        for key, rules in found.items()
    ]
    for name, floor in (("mean", -np.inf), ("mean, gains as nothing", 0.0)):
        means = [
            np.mean([max(loss, floor) for rules in found.values() for loss in rules[rule]])
            for rule in RULES
        ]
        cells.append([name, "", "", *(f"{mean:.2f}" for mean in means)])
    return markdown_table(
        ["problem", "labels", "per class", *(f"lost by the {rule}" for rule in RULES)], cells
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problems", nargs="*")
    parser.add_argument("--quick", action="store_true", help="two draws, nothing written")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = list(compute(arguments.problems or list(PROBLEMS), quick=arguments.quick))
    if not arguments.quick:
        with OUTPUT.open("w", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(
                {k: f"{v:.3f}" if isinstance(v, float) else v for k, v in r.items()} for r in rows
            )
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main()
