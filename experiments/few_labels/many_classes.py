"""Problems of hundreds of classes, of which each point keeps its largest few.

    python -m experiments.few_labels.many_classes [--draws N]

Clusters around points of a sphere, whose sizes fall with the root of their rank; the distances of
their points from the centre have long tails. For each problem and number of classes that are kept:
the accuracy on the other points in percent, the difference from that with all classes, paired over
the draws with a 95 % interval, how much the mean probability exceeds the accuracy, the points of
the same class as with all, the time tau, and the mean share of the walk that was dropped.

The number that commands keep was chosen on the problems in CHOOSING; the others only report.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from diffclass import DiffusionClassifier
from experiments.few_labels.paired_table import paired
from experiments.markdown import Row, markdown_table, replace_rows

OUTPUT = Path(__file__).with_name("many_classes.csv")
# classes, points, dimensions, spread, labels per class
CHOOSING = ((200, 20_000, 16, 0.18, 3), (200, 20_000, 16, 0.14, 1))
REPORTING = ((300, 10_000, 8, 0.12, 3), (500, 10_000, 32, 0.14, 5))
KEPT = (8, 16, 32, 64)


def make_points(
    n_classes: int, n_points: int, n_features: int, spread: float, per_class: int, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return points, their classes and the labels."""
    random = np.random.default_rng(seed)
    centres = random.normal(size=(n_classes, n_features))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    sizes = 1 / np.sqrt(np.arange(1, n_classes + 1))
    truth = random.choice(n_classes, n_points, p=sizes / sizes.sum())
    away = random.normal(size=(n_points, n_features)) * random.gamma(2, 0.5, (n_points, 1))
    y = np.full(n_points, -1)
    for k in range(n_classes):
        y[np.flatnonzero(truth == k)[:per_class]] = k
    return (centres[truth] + spread * away).astype(np.float32), truth, y


def title(problem: tuple[int, int, int, float, int]) -> str:
    """Return what tables call a problem."""
    n_classes, n_points, n_features, _, per_class = problem
    labels = f"{per_class} label{'s' * (per_class > 1)} each"
    return f"{n_classes} classes, {labels}, {n_points:,} points, {n_features} dimensions"


def run(problem: tuple[int, int, int, float, int], n_draws: int) -> list[Row]:
    """Return a row for each number of classes that are kept, and one for all."""
    found: dict[int, list[list[float]]] = {kept: [] for kept in (problem[0], *KEPT)}
    for seed in range(n_draws):
        X, truth, y = make_points(*problem, seed)
        others, graph, first = y < 0, None, None
        for kept, rows in found.items():
            model = DiffusionClassifier(
                random_state=seed, kept_classes=None if graph is None else kept
            )
            model.fit(X, y, graph=graph)
            graph = model.graph_
            first = model.transduction_ if first is None else first
            right = (model.transduction_ == truth)[others].mean()
            best = model.label_distributions_.max(axis=1)
            sure = np.asarray(best.toarray() if hasattr(best, "toarray") else best)[others].mean()
            dropped = model.diffusion_.dropped
            rows.append([
                right, sure - right, (model.transduction_ == first)[others].mean(), model.tau_,
                0 if dropped is None else dropped[others].mean(),
            ])  # fmt: skip
    whole = np.array(found[problem[0]])[:, 0]
    rows = []
    for kept, values in found.items():
        accuracy, excess, same, tau, dropped = np.array(values).T
        difference, half = paired(list(100 * accuracy), list(100 * whole))
        rows.append({
            "problem": title(problem), "kept": kept, "accuracy": 100 * accuracy.mean(),
            "spread": 100 * accuracy.std(ddof=1), "difference": difference, "half": half,
            "excess": 100 * excess.mean(), "same": 100 * same.mean(), "tau": tau.mean(),
            "dropped": 100 * dropped.mean(),
        })  # fmt: skip
    return rows


def table(rows: list[Row]) -> list[str]:
    """Return a row for each problem and number of classes."""
    head = [
        "problem", "kept", "accuracy (%)", "accuracy - that with all",
        "mean probability - accuracy", "same class (%)", "tau", "dropped (%)",
    ]  # fmt: skip
    cells = [
        [
            row["problem"], row["kept"],
            f"{float(row['accuracy']):.1f} ± {float(row['spread']):.1f}",
            f"{float(row['difference']):+.2f} ± {float(row['half']):.2f}",
            f"{float(row['excess']):+.1f}", f"{float(row['same']):.1f}",
            f"{float(row['tau']):.0f}", f"{float(row['dropped']):.0f}",
        ]
        for row in rows
    ]  # fmt: skip
    return markdown_table(head, cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=10)
    n_draws = parser.parse_args().draws
    problems = (*CHOOSING, *REPORTING)
    place = [title(problem) for problem in problems].index
    for problem in problems:
        rows = replace_rows(OUTPUT, run(problem, n_draws), "problem", place)
        print("\n".join(table(rows)), flush=True)


if __name__ == "__main__":
    main()
