"""How far probabilities are from the truth, before and after calibration.

    python -m experiments.few_labels.calibration [--draws N] [problem ...]

For each problem, way of drawing labels (`draws`) and budget: the expected calibration error of the
largest probability over the scored points (fifteen bins of equal counts), the Brier score summed
over the classes, and the share of the prediction sets at 0.9 that hold the true class, with their
mean size. All are means over the draws, ten by default, three on problems of more than 15,000
points. The numbers go to calibration.csv, the rows of the problems that are named replaced in it,
and the points by certainty to calibration_bins.csv, from which calibration.png is drawn (with
``--figure`` nothing else is done). The steps and the spread of
`diffclass.label_diffusion.calibration` were chosen on the choosing half.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from diffclass import DiffusionClassifier, diffuse_labels
from diffclass.evaluation import reliability_curve
from diffclass.label_diffusion import Labels, calibrate
from diffclass.targets import encode_labels
from experiments.few_labels.draws import drawn
from experiments.few_labels.methods import Setting
from experiments.markdown import Row, markdown_table, read_rows
from experiments.problems import HALVES, PROBLEMS, Problem, problem_of

OUTPUT = Path(__file__).with_name("calibration.csv")
BINS_OUTPUT = Path(__file__).with_name("calibration_bins.csv")
FIGURE = Path(__file__).with_name("calibration.png")
BUDGETS = (1, 3, 5, 10)
N_BINS = 15
LEVEL = 0.9
LARGE = 15_000  # points; fewer draws from here on
GOALS = {3: 0.10, 5: 0.05, 10: 0.05}  # expected calibration error by labels per class
Measured = dict[str, float]


def draws_of(name: str, problem: Problem) -> list[tuple[str, int]]:
    """Return the ways of drawing labels on a problem, with the labels per class."""
    if name.startswith("one-sided"):
        return [("one-sided", 5)]
    in_pictures = [("strokes", 10), ("blocks", 5), ("blocks", 10)]
    at_random = [("equal", budget) for budget in BUDGETS]
    return at_random + (in_pictures if problem.shape is not None else [])


def measured(
    setting: Setting, way: str, y: np.ndarray, scored: np.ndarray
) -> tuple[Measured, dict[str, np.ndarray]]:
    """Return the measures of one draw, and the points by certainty, before and after."""
    classes, codes = encode_labels(y)
    groups = setting.groups_of(y, in_blocks=way == "blocks")
    if setting.points is None:
        found = diffuse_labels(setting.operator, codes, groups=groups)
        calibration = calibrate(setting.operator, Labels.of(codes, groups=groups), found)
        posteriors = found.posteriors
    else:
        model = DiffusionClassifier(random_state=0)
        model.fit(setting.points, codes, groups=groups, graph=setting.graph)
        calibration, posteriors = model.calibration_, model.diffusion_.posteriors
    truth = setting.problem.truth
    scored = scored & np.isin(truth, classes)  # in blocks, a class may have no label
    known = np.searchsorted(classes, truth[scored])
    raw = posteriors[scored].astype(np.float64)
    after = calibration.apply(raw)
    sets = calibration.sets(after, level=LEVEL)
    right = raw.argmax(axis=1) == known
    row = {
        "accuracy": float(right.mean()),
        "temperature": calibration.temperature,
        "left_out": calibration.n_held_out,
        "covered": float(sets[np.arange(len(known)), known].mean()),
        "set_size": float(sets.sum(axis=1).mean()),
    }
    for when, p in (("before", raw), ("after", after)):
        sure = p.max(axis=1)
        curve = reliability_curve(right, sure, n_bins=N_BINS)
        row[f"ece_{when}"] = curve.expected_calibration_error
        row[f"brier_{when}"] = float(((p - np.eye(len(classes))[known]) ** 2).sum(axis=1).mean())
    return row, {when: _binned(p, right) for when, p in (("before", raw), ("after", after))}


def _binned(p: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return share of points, of their certainty and of right ones by bin of certainty."""
    sure = p.max(axis=1)
    bins = np.minimum((sure * N_BINS).astype(int), N_BINS - 1)
    sums = [np.bincount(bins, w, N_BINS) for w in (np.ones(len(sure)), sure, right)]
    return np.array(sums) / len(sure)


def compute(name: str, n_draws: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the rows of a problem for both files."""
    runs: dict[tuple[str, int], list[tuple[Measured, dict[str, np.ndarray]]]] = {}
    setting = None
    seed = 0
    while seed < n_draws:
        problem = problem_of(name, seed)
        if setting is None or setting.problem is not problem:
            setting = Setting(problem)
        if len(problem.truth) > LARGE:
            n_draws = min(n_draws, 3)
        for way, budget in draws_of(name, problem):
            y, scored = drawn(problem, way, budget, seed)
            runs.setdefault((way, budget), []).append(measured(setting, way, y, scored))
        seed += 1
    half = next(half for half, names in HALVES.items() if problem.name in names)
    head = [
        {"problem": problem.name, "half": half, "drawn": way, "labels_per_class": budget}
        for way, budget in runs
    ]
    rows = [
        key | {"draws": len(found)} | {m: np.mean([r[m] for r, _ in found]) for m in found[0][0]}
        for key, found in zip(head, runs.values(), strict=True)
    ]
    return rows, [
        key | {"when": when, "bin": b, "share": share, "certainty": sure, "right": right}
        for key, found in zip(head, runs.values(), strict=True)
        for when in ("before", "after")
        for b, (share, sure, right) in enumerate(np.mean([s[when] for _, s in found], axis=0).T)
    ]


def table(rows: Sequence[Row]) -> list[str]:
    """Return the means over the problems of each half, for each way of drawing and budget."""
    groups: dict[tuple[str, str, int], list[Row]] = {}
    for row in rows:
        key = row["half"], row["drawn"], int(row["labels_per_class"])
        groups.setdefault(key, []).append(row)
    names = ("ece_before", "ece_after", "brier_before", "brier_after")
    cells = []
    for key, found in sorted(groups.items()):
        goal = GOALS.get(key[2])
        met = sum(float(row["ece_after"]) <= goal for row in found) if goal else 0
        worst = max(found, key=lambda row: float(row["ece_after"]))
        cells.append(
            [*key, len(found)]
            + [f"{np.mean([float(row[name]) for row in found]):.3f}" for name in names]
            + [f"{met} at most {goal:g}" if goal else "-"]
            + [f"{worst['problem']}, {float(worst['ece_after']):.2f}"]
            + [f"{np.mean([float(row['covered']) for row in found]):.3f}"]
        )
    head = ["half", "labels", "per class", "problems", "error before", "after", "Brier before"]
    return markdown_table(
        [*head, "after", "problems at the goal", "worst after", f"in the sets at {LEVEL:g}"], cells
    )


def each_table(rows: Sequence[Row]) -> list[str]:
    """Return the table of all problems of the reporting half."""
    cells = [
        [row["problem"], row["drawn"], row["labels_per_class"], f"{float(row['accuracy']):.3f}"]
        + [f"{float(row[f'{m}_{w}']):.3f}" for m in ("ece", "brier") for w in ("before", "after")]
        + [f"{float(row['covered']):.3f}", f"{float(row['set_size']):.2f}"]
        for row in rows
        if row["half"] == "reporting"
    ]
    head = ["problem", "labels", "per class", "accuracy", "error before", "after"]
    head = ["half", "labels", "per class", "problems", "error before", "after", "Brier before"]
    return markdown_table(
        [*head, "Brier before", "after", "in the sets", "classes in a set"], cells
    )


def draw_figure(bins: Sequence[Row]) -> None:
    """Draw accuracy against certainty, a panel per half and budget, all problems alike."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 5.8), layout="constrained")
    panels = figure.subplots(2, len(BUDGETS), sharex=True, sharey=True)
    for axes, half in zip(panels, HALVES, strict=True):
        for ax, budget in zip(axes, BUDGETS, strict=True):
            ax.plot([0, 1], [0, 1], color="0.7", lw=1)
            for when, color in (("before", "C1"), ("after", "C0")):
                found = [
                    [float(row[name]) for name in ("share", "certainty", "right")]
                    for row in bins
                    if (row["half"], row["when"], row["drawn"]) == (half, when, "equal")
                    and int(row["labels_per_class"]) == budget
                ]
                sums = np.reshape(found, (-1, N_BINS, 3)).mean(axis=0)
                share, sure, right = sums[sums[:, 0] > 0.001].T
                size = 10 + 150 * share
                ax.plot(sure / share, right / share, color=color, lw=1, label=when)
                ax.scatter(sure / share, right / share, size, color=color, lw=0)
            ax.set_title(f"{half}, {budget} per class", fontsize=9)
    figure.supxlabel("mean probability of the class given (areas: share of the points)")
    figure.supylabel("share of right points")
    panels[0, 0].legend(frameon=False)
    figure.savefig(FIGURE, dpi=80)


def _merged(path: Path, rows: list[dict[str, Any]]) -> list[Row]:
    """Put the rows of one problem into a file, instead of those that it has of it."""
    kept: list[Row] = []
    if path.exists():
        with path.open(newline="") as file:
            kept = [row for row in csv.DictReader(file) if row["problem"] != rows[0]["problem"]]
    kept += [
        {k: f"{v:.5g}" if isinstance(v, float) else str(v) for k, v in r.items()} for r in rows
    ]
    order = {problem: i for i, problem in enumerate(_titles())}
    kept.sort(key=lambda row: order[row["problem"]])
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept)
    return kept


def _titles() -> Iterator[str]:
    from experiments.problems import TITLES

    return (TITLES.get(name, name) for name in PROBLEMS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problems", nargs="*")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--figure", action="store_true", help="only draw the figure")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.figure:
        draw_figure(read_rows("few_labels/calibration_bins.csv"))
        return
    for name in arguments.problems or list(PROBLEMS):
        rows, bins = compute(name, arguments.draws)
        print("\n".join(table(_merged(OUTPUT, rows))), flush=True)
        kept = _merged(BINS_OUTPUT, bins)
    draw_figure(kept)


if __name__ == "__main__":
    main()
