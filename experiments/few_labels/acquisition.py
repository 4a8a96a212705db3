"""Accuracy against the number of labels: what to label next by each rule, and at random.

    python -m experiments.few_labels.acquisition [--quick] [--held-out] [problem ...]

Each draw starts from one random label per class and adds batches of as many labels as there are
classes, at least ten, two hops apart, among the points whose class is known; the truth is the
answer. Accuracy is that of free labels at the tau chosen by margin, on the known points that are
not yet labelled. Rules that ask for the hardest points take them out of that set. With --held-out,
half of the known points, drawn at random, are never asked for, and all scores are on them.

Every run goes to acquisition.csv (acquisition_held_out.csv), the picture beside it, the table to
standard output. "40 against 100" is the mean accuracy at 40 labels less that of random at 100.
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

from diffclass import Eigenpairs, MarkovOperator, StoppingRule, diffuse_labels, suggest
from diffclass.acquisition import RULES, process_eigenpairs
from experiments.few_labels.draws import draw_labels
from experiments.measures import mapped_classes
from experiments.problems import PROBLEMS, Problem, default_operator

BUDGETS = (10, 20, 40, 60, 100, 200)
RANDOM, DEFAULT = "random", "hybrid"
NAMES = ("digits", "salinas-spectral", "pines-spatial")
LEAST_BATCH, HOPS_APART = 10, 2
free_labels = partial(diffuse_labels, label_mode="free", tau=StoppingRule(max_time=256))
OUTPUT = Path(__file__).with_name("acquisition.csv")

Row = dict[str, Any]


def compute(names: list[str], *, quick: bool = False, held_out: bool = False) -> Iterator[Row]:
    """Yield one row per problem, rule, draw and number of labels."""
    budgets = [budget for budget in BUDGETS if not quick or budget <= 40]
    for name in names:
        problem = PROBLEMS[name]()
        operator = default_operator(problem)
        eigenpairs = process_eigenpairs(operator)
        for rule in (RANDOM, *RULES):
            for seed in range(2 if quick else 10):
                head = {"problem": problem.name, "rule": rule, "seed": seed}
                run = Run(problem, operator, eigenpairs, seed=seed, held_out=held_out)
                for n_labels, accuracy in run.label(rule, budgets):
                    yield head | {"n_labels": n_labels, "accuracy": accuracy}


class Run:
    """One draw's labels, growing by a rule."""

    def __init__(
        self,
        problem: Problem,
        operator: MarkovOperator,
        eigenpairs: Eigenpairs,
        *,
        seed: int,
        held_out: bool,
    ):
        self.truth, self.operator, self.eigenpairs = problem.truth, operator, eigenpairs
        self.y, _ = draw_labels(problem.truth, 1, seed)
        self.random = np.random.default_rng(seed)
        self.batch = max(LEAST_BATCH, int(np.count_nonzero(self.y >= 0)))
        self.diffusion = free_labels(operator, self.y)
        self.scored = problem.truth > 0
        self.asked = self.scored.copy()
        if held_out:
            self.scored &= (self.random.random(len(self.y)) < 0.5) & (self.y < 0)
            self.asked &= ~self.scored

    def label(self, rule: str, budgets: list[int]) -> Iterator[tuple[int, float]]:
        """Yield the number of labels and the accuracy at each budget that can be met."""
        for budget in budgets:
            while (n_labels := np.count_nonzero(self.y >= 0)) < budget:
                new = self._chosen(rule, min(self.batch, budget - n_labels))
                self.y[new] = self.truth[new]
                if rule != RANDOM or len(new) + n_labels == budget:
                    self.diffusion = free_labels(self.operator, self.y)
            if n_labels == budget:
                yield budget, self._accuracy()

    def _chosen(self, rule: str, n_points: int) -> np.ndarray:
        free = self.asked & (self.y < 0)
        if rule == RANDOM:
            return self.random.choice(np.flatnonzero(free), n_points, replace=False)
        labelled = np.flatnonzero(self.y >= 0)
        self.eigenpairs = process_eigenpairs(
            self.operator, labelled, n_points, known=self.eigenpairs
        )
        return suggest(
            self.operator,
            self.diffusion,
            labelled,
            n_points,
            rule=rule,
            eigenpairs=self.eigenpairs,
            candidates=free,
            min_distance=HOPS_APART,
        ).points

    def _accuracy(self) -> float:
        found = mapped_classes(self.diffusion)
        return float((found == self.truth)[self.scored & (self.y < 0)].mean())


def grouped(rows: list[Row]) -> dict[str, dict[str, dict[int, np.ndarray]]]:
    """Return accuracies in percent by problem, rule and number of labels."""
    groups: dict[str, dict[str, dict[int, list[float]]]] = {}
    for row in rows:
        budgets = groups.setdefault(row["problem"], {}).setdefault(row["rule"], {})
        budgets.setdefault(int(row["n_labels"]), []).append(100 * float(row["accuracy"]))
    return {
        problem: {
            rule: {budget: np.array(values) for budget, values in budgets.items()}
            for rule, budgets in rules.items()
        }
        for problem, rules in groups.items()
    }


def table(rows: list[Row]) -> list[str]:
    """Return the rows of a Markdown table."""
    budgets = sorted({int(row["n_labels"]) for row in rows})
    goal = 100 in budgets
    lines = [
        f"| problem | rule | {' | '.join(map(str, budgets))} |" + " 40 against 100 |" * goal,
        "|---|---|" + "---|" * (len(budgets) + goal),
    ]
    for problem, rules in grouped(rows).items():
        for rule, found in rules.items():
            cells = [_cell(found.get(budget)) for budget in budgets]
            if goal:
                cells.append(f"{found[40].mean() - rules[RANDOM][100].mean():+.1f}")
            lines.append(f"| {problem} | {rule} | {' | '.join(cells)} |")
    return lines


def _cell(values: np.ndarray | None) -> str:
    return "" if values is None else f"{values.mean():.1f} ± {values.std(ddof=1):.1f}"


def plot(rows: list[Row]) -> Any:
    """Draw one panel per problem: random in black, its accuracy at 100 labels dotted."""
    from matplotlib.figure import Figure

    from diffclass.plots import DEFAULT_PALETTE

    groups = grouped(rows)
    figure = Figure(figsize=(3.8 * len(groups), 4), layout="constrained")
    for axes, (problem, rules) in zip(
        np.atleast_1d(figure.subplots(1, len(groups))), groups.items(), strict=True
    ):
        axes.axhline(rules[RANDOM][100].mean(), color="black", linestyle=":", linewidth=1)
        for place, (rule, found) in enumerate(rules.items()):
            color = "black" if rule == RANDOM else DEFAULT_PALETTE[(place - 1) % 8]
            means = [values.mean() for values in found.values()]
            width = 2.5 if rule in (RANDOM, DEFAULT) else 1.2
            axes.plot(
                list(found), means, color=color, linewidth=width, marker="o", markersize=3,
                label=rule,
            )  # fmt: skip
        axes.set(xscale="log", title=problem, xlabel="labels")
        axes.set_xticks(BUDGETS, [str(budget) for budget in BUDGETS])
        axes.minorticks_off()
    figure.axes[0].set_ylabel("accuracy on unlabelled points, %")
    handles, names = axes.get_legend_handles_labels()
    figure.legend(
        handles, names, loc="outside lower center", ncols=min(len(names), 5 * len(groups) // 2)
    )
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problems", nargs="*")
    parser.add_argument("--quick", action="store_true", help="two draws, nothing written")
    parser.add_argument("--held-out", action="store_true", help="half is never asked for")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    names = arguments.problems or list(NAMES)
    rows = list(compute(names, quick=arguments.quick, held_out=arguments.held_out))
    if not arguments.quick:
        output = OUTPUT.with_stem("acquisition_held_out") if arguments.held_out else OUTPUT
        with output.open("w", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(row | {"accuracy": f"{row['accuracy']:.5f}"} for row in rows)
        plot(rows).savefig(output.with_suffix(".png"), dpi=80)
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main()
