"""Accuracy against the number of labels: which points to label, from none to 100, by each rule.

    python -m experiments.few_labels.acquisition [--quick] [problem ...]

Half of the known points, drawn at random, are never asked about, and accuracy is measured on them.
Each rule chooses among all others, also among those whose class nobody knows: these are asked about
in vain. Asked for are as many points as give the labels wanted, by the share of the points whose
class is known. Budgets are as many labels as classes, three times as many, 48 and 100; the map at
each budget decides what is asked next. Labels diffuse by default, with times up to 256. The rules
are in `acquisition_rules`; "3 per class" are three random labels of each class, listed with as many
labels as classes.

Every run goes to acquisition.csv, the picture beside it, the table to standard output. "met at" is
the median number of labels with which every class has one, more than 100 where they do not.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from diffclass import MarkovOperator, StoppingRule, diffuse_labels
from diffclass.label_diffusion import LabelDiffusion
from experiments.few_labels.acquisition_rules import COVERAGE, OF_FEATURES, RANDOM, RULES
from experiments.few_labels.draws import draw_labels
from experiments.measures import mapped_classes
from experiments.problems import HALVES, REAL, Problem, default_operator, problem_of

BUDGETS = (48, 100)
THREE = "3 per class"
FAMILIES = ("three-blobs", "unbalanced-blobs", "moons", "six-sizes", "eight-sizes")
OUTPUT = Path(__file__).with_name("acquisition.csv")

Row = dict[str, Any]


class Run:
    """One draw's labels, growing by a rule."""

    def __init__(self, problem: Problem, operator: MarkovOperator, rule: str, seed: int):
        self.problem, self.operator, self.rule, self.seed = problem, operator, rule, seed
        self.truth, n = problem.truth, len(problem.truth)
        self.random = np.random.default_rng(seed)
        known = self.truth > 0
        self.scored = known & (self.random.random(n) < 0.5)
        self.free = ~self.scored
        self.answered = (known & self.free).sum() / self.free.sum()
        self.seen = np.zeros(0, dtype=np.intp)
        self.y = np.full(n, -1)
        self.met_at = 0  # number of labels when every class had one
        self.diffusion: LabelDiffusion | None = None

    def label(self, budget: int) -> float:
        """Ask until there are so many labels, and return the accuracy, 0 to 1."""
        while (missing := budget - self.n_labels) > 0 and self.free.any():
            n_asked = int(np.ceil(missing / self.answered))
            for point in RULES[self.rule](self, n_asked).tolist():
                if self.n_labels < budget:
                    self._ask(point)
        self.diffusion = _diffused(self.operator, self.y)
        return self.accuracy(self.diffusion)

    def accuracy(self, diffusion: LabelDiffusion) -> float:
        """Return the accuracy of a map on the points never asked about."""
        return float((mapped_classes(diffusion) == self.truth)[self.scored].mean())

    @property
    def n_labels(self) -> int:
        return int(np.count_nonzero(self.y >= 0))

    def _ask(self, point: int) -> None:
        self.seen, self.free[point] = np.append(self.seen, point), False
        if self.truth[point] > 0:
            self.y[point] = self.truth[point]
            n_classes = len(np.unique(self.truth[self.truth > 0]))
            if not self.met_at and len(np.unique(self.y[self.y >= 0])) == n_classes:
                self.met_at = self.n_labels


def _diffused(operator: MarkovOperator, y: np.ndarray) -> LabelDiffusion:
    return diffuse_labels(operator, y, tau=StoppingRule(max_time=256))


def compute(name: str, *, quick: bool = False) -> Iterator[Row]:
    """Yield one row per rule, draw and number of labels of a problem."""
    for seed in range(2 if quick else 10):
        problem = problem_of(name, seed)
        if seed == 0 or name not in REAL:
            operator = default_operator(problem)
        n_classes = len(np.unique(problem.truth[problem.truth > 0]))
        budgets = sorted({n_classes, 3 * n_classes, *BUDGETS[: 1 if quick else None]})
        known = int(np.count_nonzero(problem.truth))
        budgets = [budget for budget in budgets if budget < known / 3]  # half is never asked about
        for rule in RULES:
            if problem.points is None and rule in OF_FEATURES:
                continue
            run = Run(problem, operator, rule, seed)
            head = {"problem": problem.name, "rule": rule, "seed": seed}
            rows = [
                head | {"n_classes": n_classes, "n_labels": budget, "accuracy": run.label(budget)}
                for budget in budgets
            ]
            yield from (row | {"met_at": run.met_at} for row in rows)
        asked = np.where(run.scored, 0, problem.truth)  # of the same points
        labels = draw_labels(asked, 3, seed)[0]
        accuracy = run.accuracy(_diffused(operator, labels))
        yield head | {
            "rule": THREE, "n_classes": n_classes, "n_labels": n_classes, "accuracy": accuracy,
            "met_at": 0,
        }  # fmt: skip


def table(rows: Sequence[Row]) -> list[str]:
    """Return the rows of a Markdown table."""
    lines = [
        "| half | problem | rule | one for each class | three | 48 | 100 | met at |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for problem in dict.fromkeys(row["problem"] for row in rows):
        half = next(name for name, titles in HALVES.items() if problem in titles)
        here = [row for row in rows if row["problem"] == problem]
        n_classes = int(here[0]["n_classes"])
        for rule in dict.fromkeys(row["rule"] for row in here):
            own = [row for row in here if row["rule"] == rule]
            cells = [_cell(own, budget) for budget in (n_classes, 3 * n_classes, *BUDGETS)]
            met = [int(row["met_at"]) or np.inf for row in own]
            median = np.median(met)
            cells.append("" if rule == THREE else f"{median:.0f}" if median < np.inf else "> 100")
            lines.append(f"| {half} | {problem} | {rule} | {' | '.join(cells)} |")
    return lines


def _cell(rows: Sequence[Row], budget: int) -> str:
    found = [100 * float(row["accuracy"]) for row in rows if int(row["n_labels"]) == budget]
    return f"{np.mean(found):.1f} ± {np.std(found, ddof=1):.1f}" if found else ""


def plot(rows: Sequence[Row]) -> Any:
    """Draw accuracy against labels, one panel per problem, with bands of one standard error."""
    from matplotlib.figure import Figure

    from diffclass.plots import DEFAULT_PALETTE

    problems = list(dict.fromkeys(row["problem"] for row in rows))
    n_columns = min(4, len(problems))
    n_rows = -(-len(problems) // n_columns)
    figure = Figure(figsize=(3.6 * n_columns, 3.0 * n_rows), layout="constrained")
    panels = np.atleast_1d(figure.subplots(n_rows, n_columns)).ravel()
    for axes, problem in zip(panels, problems, strict=False):
        for place, rule in enumerate(RULES):
            own = [row for row in rows if (row["problem"], row["rule"]) == (problem, rule)]
            if not own:
                continue
            budgets = sorted({int(row["n_labels"]) for row in own})
            found = np.array(
                [
                    [100 * float(row["accuracy"]) for row in own if int(row["n_labels"]) == budget]
                    for budget in budgets
                ]
            )
            mean, error = found.mean(axis=1), found.std(axis=1, ddof=1) / np.sqrt(found.shape[1])
            color = "black" if rule == RANDOM else DEFAULT_PALETTE[place]
            width = 2.5 if rule == COVERAGE else 1.2
            axes.plot(budgets, mean, color=color, linewidth=width, label=rule)
            axes.fill_between(budgets, mean - error, mean + error, color=color, alpha=0.2, lw=0)
        axes.set(xscale="log", title=problem)
        axes.set_xticks(budgets, [str(budget) for budget in budgets])
        axes.minorticks_off()
    for axes in panels[len(problems) :]:
        axes.set_axis_off()
    figure.supxlabel("labels")
    figure.supylabel("accuracy on points never asked about, %")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=len(names))
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problems", nargs="*")
    parser.add_argument("--quick", action="store_true", help="two draws, nothing written")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    rows: list[Row] = []
    for name in arguments.problems or [*REAL, *FAMILIES]:
        found = list(compute(name, quick=arguments.quick))
        rows += found
        print("\n".join(table(found)), flush=True)
    if not arguments.quick:
        with OUTPUT.open("w", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(row | {"accuracy": f"{row['accuracy']:.5f}"} for row in rows)
        plot(rows).savefig(OUTPUT.with_suffix(".png"), dpi=80)


if __name__ == "__main__":
    main()
