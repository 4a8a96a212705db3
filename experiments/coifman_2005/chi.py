"""Coifman et al. 2005, section 3: chi_i scaled in L1, as there, and by the walk's measure pi.

At each time, and at the one that the margin chooses for each scale, the digits are classified by
free labels: how many points differ, and how many are right. In L1 the class whose labels have the
larger degrees takes more points the longer the walk; by pi all classes tend to the same constant.

    python -m experiments.coifman_2005.chi
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from diffclass import diffuse_labels
from experiments.few_labels.draws import BUDGETS, draw_labels
from experiments.markdown import Row, markdown_table, write_rows
from experiments.problems import default_operator, digits

TIMES = (10, 20, 50, 100, 200, "margin")
NAME = "coifman_2005/chi.csv"
OUTPUT = Path(__file__).with_suffix(".csv")


def compute(n_draws: int = 10) -> list[dict[str, object]]:
    """Return a row for each number of labels and time; shares in %."""
    problem = digits()
    operator, truth = default_operator(problem), problem.truth
    rows: list[dict[str, object]] = []
    for budget in BUDGETS:
        draws = [draw_labels(truth, budget, seed) for seed in range(n_draws)]
        for time in TIMES:
            found = np.array(
                [
                    [
                        diffuse_labels(operator, y, label_mode=mode, tau=time).codes[scored]
                        for mode in ("free", "free-l1")
                    ]
                    for y, scored in draws
                ]
            )
            known = np.array([truth[scored] - 1 for _, scored in draws])
            by_pi, in_l1 = (100 * (found[:, i] == known).mean(axis=1) for i in (0, 1))
            gain = by_pi - in_l1
            rows.append(
                {
                    "labels_per_class": budget,
                    "tau": time,
                    "by_pi": by_pi.mean(),
                    "in_l1": in_l1.mean(),
                    "gain": gain.mean(),
                    "half_interval": 1.96 * gain.std(ddof=1) / np.sqrt(n_draws),
                    "differ": 100 * (found[:, 0] != found[:, 1]).mean(),
                }
            )
    return rows


def table(rows: Sequence[Row]) -> list[str]:
    """Return the table of accuracies by labels per class and time."""
    head = ["labels per class", "tau", "by pi (`free`)", "L1 (`free-l1`)", "difference", "differ"]
    cells = [
        [
            row["labels_per_class"],
            row["tau"],
            *(f"{float(row[name]):.1f}" for name in ("by_pi", "in_l1")),
            f"{float(row['gain']):+.1f} ± {float(row['half_interval']):.1f}",
            f"{float(row['differ']):.1f} %",
        ]
        for row in rows
    ]
    return markdown_table(head, cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two draws, nothing written")
    is_quick = parser.parse_args().quick
    rows = compute(2 if is_quick else 10)
    if not is_quick:
        write_rows(OUTPUT, rows)
    print("\n".join(table([{name: str(value) for name, value in row.items()} for row in rows])))


if __name__ == "__main__":
    main()
