"""The cost of choosing the time: accuracy at tau against the best single time in hindsight.

    python -m experiments.few_labels.tau [--quick] [problem ...]

For each problem, way of drawing labels (`draws`; on real data at random places), budget and way of
counting labels the best time is the one with the highest mean
accuracy over the draws, and the loss is that mean minus the mean accuracy at the tau chosen in each
draw. Times go from 1 to 1024 for absorbing labels, and for summed ones as far as the sum ends by
step 1536: to 512, or 256 with one label per class. The table goes to standard output, the accuracy
at every time to tau.csv.
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
from diffclass.label_diffusion.stopping_time import sum_end
from diffclass.targets import encode_labels, labels_per_class
from experiments.few_labels.draws import BUDGETS, drawn
from experiments.few_labels.families import FAMILIES
from experiments.markdown import Row, markdown_table
from experiments.problems import PROBLEMS, Problem, default_operator, problem_of

TIMES = np.unique(np.rint(2 ** np.arange(0, 10.01, 0.5)).astype(int))
LAST_STEP = 1536  # of plain products; the sums of summed labels end at several tau
KINDS = ("summed", "absorbing")
OUTPUT = Path(__file__).with_name("tau.csv")


def ends_of(labels: str, y: np.ndarray) -> np.ndarray:
    """Return how far the walk goes for each tau of TIMES, for those that are not too far."""
    if labels == "absorbing":
        return TIMES
    ends = TIMES * sum_end(1, labels_per_class(encode_labels(y)[1]))
    return ends[ends <= LAST_STEP]


def codes_at_times(operator: MarkovOperator, y: np.ndarray, labels: str) -> Iterator[np.ndarray]:
    """Yield the class of each point with tau at each of the times, by plain products."""
    classes, codes = np.unique(y[y >= 0], return_inverse=True)
    labelled = np.flatnonzero(y >= 0)
    chi = np.zeros((len(y), len(classes)))
    chi[labelled, codes] = 1
    if labels == "summed":
        chi /= operator.stationary_distribution @ chi
    state, time = chi.astype(operator.dtype), 0
    total, kept = state.copy(), state[labelled]
    for until in ends_of(labels, y):
        for _ in range(until - time):
            state = operator @ state
            if labels == "absorbing":
                state[labelled] = kept
            else:
                total += state
        time = until
        yield classes[(state if labels == "absorbing" else total).argmax(axis=1)]


def compute(names: list[str], *, quick: bool = False) -> Iterator[dict[str, Any]]:
    """Yield one row per problem, way of drawing, budget and way of counting labels."""
    for name in names:
        runs: dict[tuple[str, int, str], list[tuple[list[float], float, int]]] = {}
        n_draws = FAMILIES[name].n_draws if name in FAMILIES else 10
        for seed in range(2 if quick else n_draws):
            problem = problem_of(name, seed)
            operator = _operator(problem)
            for way, budget in draws_of(name):
                y, scored = drawn(problem, way, budget, seed)
                for labels in KINDS:
                    run = _accuracies(operator, y, labels, problem.truth, scored)
                    runs.setdefault((way, budget, labels), []).append(run)
        for (way, budget, labels), found in runs.items():
            by_time, chosen, taus = zip(*found, strict=True)
            mean = np.mean(by_time, axis=0)
            yield {
                "problem": problem.name,
                "drawn": way,
                "labels_per_class": budget,
                "labels": labels,
                "best_time": int(TIMES[mean.argmax()]),
                "best": 100 * mean.max(),
                "median_tau": float(np.median(taus)),
                "chosen": 100 * np.mean(chosen),
                "loss": 100 * (mean.max() - np.mean(chosen)),
                **dict.fromkeys((f"t{t}" for t in TIMES), ""),
                **{f"t{t}": 100 * m for t, m in zip(TIMES, mean, strict=False)},
            }


def draws_of(name: str) -> list[tuple[str, int]]:
    """Return the ways of drawing labels on a problem, with the labels per class."""
    ways = FAMILIES[name].ways if name in FAMILIES else {"equal": BUDGETS}
    return [(way, budget) for way, budgets in ways.items() for budget in budgets]


@lru_cache(maxsize=1)
def _operator(problem: Problem) -> MarkovOperator:
    return default_operator(problem)


def _accuracies(
    operator: MarkovOperator, y: np.ndarray, labels: str, truth: np.ndarray, scored: np.ndarray
) -> tuple[list[float], float, int]:
    """Return the accuracy at each time and at the chosen tau, and that tau."""
    known = truth[scored]
    by_time = [
        float((found[scored] == known).mean()) for found in codes_at_times(operator, y, labels)
    ]
    result = diffuse_labels(operator, y, label_mode=labels, tau="margin")
    found = np.where(result.reached, result.classes[result.codes], 0)
    return by_time, float((found[scored] == known).mean()), result.tau


def table(rows: list[dict[str, Any]]) -> list[str]:
    """Return a Markdown table, with the mean loss of each way of counting labels below it."""
    lines = [
        "| problem | drawn | labels per class | labels | best time | accuracy there | median tau "
        "| accuracy at tau | lost |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        lines.append(
            f"| {r['problem']} | {r['drawn']} | {r['labels_per_class']} | {r['labels']} "
            f"| {r['best_time']} | {r['best']:.1f} | {r['median_tau']:.0f} | {r['chosen']:.1f} "
            f"| {r['loss']:.2f} |"
        )
    for kind in KINDS:
        losses = [r["loss"] for r in rows if r["labels"] == kind]
        lines.append(f"\n{kind}: mean loss {np.mean(losses):.2f}, worst {np.max(losses):.2f}")
    lines.append(f"\nboth: mean loss {np.mean([r['loss'] for r in rows]):.2f}")
    return lines


def losses(rows: list[Row]) -> list[str]:
    """Return the table of what is lost on each problem with each number of labels per class."""
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    budgets: dict[tuple[str, str], dict[str, None]] = {}
    for row in rows:
        key = row["problem"], row["drawn"]
        kinds = found.setdefault(key, {kind: [] for kind in KINDS})
        kinds[row["labels"]].append(float(row["loss"]))
        budgets.setdefault(key, {})[row["labels_per_class"]] = None
    cells = [
        [*key, " / ".join(budgets[key])]
        + [" / ".join(f"{loss:.1f}" for loss in kinds[kind]) for kind in KINDS]
        for key, kinds in found.items()
    ]
    for name, floor in (("mean", -np.inf), ("mean, gains as nothing", 0.0)):
        means = [
            np.mean([max(loss, floor) for kinds in found.values() for loss in kinds[kind]])
            for kind in KINDS
        ]
        cells.append([name, "", "", *(f"{mean:.2f}" for mean in means)])
    head = ["problem", "labels", "per class", *(f"lost with {kind} labels" for kind in KINDS)]
    return markdown_table(head, cells)


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
