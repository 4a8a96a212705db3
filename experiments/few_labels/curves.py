"""Accuracy against labels on every real problem, beside the five strongest other methods.

    python -m experiments.few_labels.curves

Drawn from benchmark.csv: labels drawn alike from each class. The line is the mean over the draws,
the band its standard deviation. The five are those of the best mean over the problems in which
they and the default were run, at all numbers of labels, so that they are the same in all panels;
where one was not run its line is missing, and a problem without any (Potsdam) has no panel.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.figure import save
from experiments.markdown import Row, read_rows
from experiments.problems import HALVES

OUTPUT = Path(__file__).with_suffix(".png")
OURS = "default"
OWN = {OURS, "graph alone", "free", "absorbing", "summed", "graph alone with sizes"}
NO_METHODS = {"problem", "drawn", "labels_per_class", "seed"}
N_PEERS, COLUMNS, LEAST_PROBLEMS = 5, 4, 6
COLORS = ("#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")
MARKS = ("o", "s", "^", "v", "D", "P")

Curve = dict[int, np.ndarray]  # accuracies (%) of the draws, by labels per class


def curve_of(rows: list[Row], problem: str, method: str) -> Curve:
    """Return a method's accuracies on a problem where each draw has one."""
    own = [row for row in rows if row["problem"] == problem and row[method]]
    labels = sorted({int(row["labels_per_class"]) for row in own})
    return {
        n: 100 * np.array([float(r[method]) for r in own if int(r["labels_per_class"]) == n])
        for n in labels
    }


def strongest(rows: list[Row], problems: list[str]) -> list[str]:
    """Return the methods that are least behind the default on average."""
    behind: dict[str, float] = {}
    for method in (name for name in rows[0] if name not in NO_METHODS | OWN):
        gaps = []
        for problem in problems:
            ours, other = (curve_of(rows, problem, name) for name in (OURS, method))
            shared = ours.keys() & other.keys()
            gaps += [np.mean([ours[n].mean() - other[n].mean() for n in shared])] if shared else []
        if len(gaps) >= LEAST_PROBLEMS:
            behind[method] = float(np.mean(gaps))
    return sorted(behind, key=lambda name: behind[name])[:N_PEERS]


def plot(results: dict[str, Any]) -> Figure:
    """Draw a panel for each problem."""
    rows: list[Row] = results["rows"]
    present = {row["problem"] for row in rows if row["SVM"] or row["GL Poisson, our graph"]}
    halves = [[name for name in sorted(half) if name in present] for half in HALVES.values()]
    problems = [name for half in halves for name in half]
    methods = [OURS, *strongest(rows, problems)]
    lines = -(-len(problems) // COLUMNS)
    figure = Figure(figsize=(11, 2.4 * lines), layout="constrained")
    panels = figure.subplots(lines, COLUMNS, squeeze=False).ravel()
    for panel, problem in zip(panels, problems, strict=False):
        for method, color, mark in zip(methods, COLORS, MARKS, strict=True):
            curve = curve_of(rows, problem, method)
            if not curve:
                continue
            n, mean = list(curve), np.array([draws.mean() for draws in curve.values()])
            spread = np.array([draws.std() for draws in curve.values()])
            panel.plot(n, mean, marker=mark, markersize=4, color=color, label=method, lw=1.3)
            panel.fill_between(n, mean - spread, mean + spread, color=color, alpha=0.1, lw=0)
        half = "chose" if problem in halves[0] else "reports"
        panel.set_title(f"{problem} ({half})", fontsize=9)
        panel.set(xscale="log", xticks=n, xticklabels=n)
        panel.minorticks_off()
        panel.grid(alpha=0.3)
    for panel in panels[len(problems) :]:
        panel.set_axis_off()
    handles, names = panels[0].get_legend_handles_labels()
    known = dict(zip(names, handles, strict=True))
    for panel in panels:
        known |= dict(zip(*reversed(panel.get_legend_handles_labels()), strict=True))
    figure.legend(known.values(), known, loc="outside lower center", ncols=3, fontsize=9)
    for k, panel in enumerate(panels[: len(problems)]):
        panel.set_xlabel("labels per class" if k + COLUMNS >= len(problems) else "")
        panel.set_ylabel("accuracy on the other points, %" if k % COLUMNS == 0 else "")
    return figure


def main() -> None:
    rows = [row for row in read_rows("few_labels/benchmark.csv") if row["drawn"] == "equal"]
    save(plot, {"rows": rows}, OUTPUT)


if __name__ == "__main__":
    main()
