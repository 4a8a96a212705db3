"""Unequal and wrong labels on Salinas-A: their cost against equal, clean ones.

    python -m experiments.few_labels.unequal [--quick]

The same total of labels is drawn three ways: equal shares of all classes; 500 in one class and 5
in each other; equal shares of which 10 % name a wrong class. Accuracy is on all other labelled
pixels, mean and standard deviation over ten draws; the large class takes turns. What is lost is the
difference from equal shares. The figures go to unequal.csv, the table to standard output.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from diffclass import diffuse_labels
from experiments.few_labels.draws import WRONG_SHARE, renamed
from experiments.markdown import markdown_table, write_rows
from experiments.problems import default_operator, salinas_a

LARGE, SMALL = 500, 5
OUTPUT = Path(__file__).with_name("unequal.csv")


def equal(truth: np.ndarray, random: np.random.Generator, turn: int) -> np.ndarray:
    classes = np.unique(truth[truth > 0])
    total = LARGE + SMALL * (len(classes) - 1)
    return _drawn(truth, dict.fromkeys(classes, total // len(classes)), random)


def unequal(truth: np.ndarray, random: np.random.Generator, turn: int) -> np.ndarray:
    classes = np.unique(truth[truth > 0])
    large = [c for c in classes if np.count_nonzero(truth == c) > LARGE]
    sizes = dict.fromkeys(classes, SMALL) | {large[turn % len(large)]: LARGE}
    return _drawn(truth, sizes, random)


def wrong(truth: np.ndarray, random: np.random.Generator, turn: int) -> np.ndarray:
    return renamed(equal(truth, random, turn), WRONG_SHARE, random)


def _drawn(truth: np.ndarray, sizes: dict, random: np.random.Generator) -> np.ndarray:
    y = np.full(len(truth), -1)
    for value, size in sizes.items():
        y[random.choice(np.flatnonzero(truth == value), size, replace=False)] = value
    return y


WAYS: dict[str, Callable[..., np.ndarray]] = {"equal": equal, "unequal": unequal, "wrong": wrong}


def compute(n_draws: int) -> Iterator[dict[str, object]]:
    """Yield a row for each kind of features, way to count labels and way to draw them."""
    for spatial in (False, True):
        problem = salinas_a(spatial=spatial)
        operator = default_operator(problem)
        for labels in ("summed", "free", "absorbing"):
            scores = {
                way: np.array(
                    [_score(operator, problem.truth, draw, s, labels) for s in range(n_draws)]
                )
                for way, draw in WAYS.items()
            }
            for way, values in scores.items():
                yield {
                    "features": problem.name,
                    "labels": labels,
                    "drawn": way,
                    "accuracy": f"{values.mean():.2f}",
                    "deviation": f"{values.std(ddof=1):.2f}",
                    "lost": f"{(scores['equal'] - values).mean():.2f}",
                }


def table(rows: Sequence[dict[str, str]]) -> list[str]:
    """Return the lines of a Markdown table."""
    by_kind: dict[tuple[str, str], dict[str, dict[str, str]]] = {}
    for row in rows:
        by_kind.setdefault((row["features"], row["labels"]), {})[row["drawn"]] = row
    head = ["features", "labels", "equal", f"{LARGE} and {SMALL}", "lost", "10 % wrong", "lost"]
    return markdown_table(head, [[*kind, *_cells(ways)] for kind, ways in by_kind.items()])


def _cells(ways: dict[str, dict[str, str]]) -> list[str]:
    cells = {way: f"{row['accuracy']} ± {row['deviation']}" for way, row in ways.items()}
    unequal, wrong = ways["unequal"]["lost"], ways["wrong"]["lost"]
    return [cells["equal"], cells["unequal"], unequal, cells["wrong"], wrong]


def _score(operator, truth: np.ndarray, draw: Callable, seed: int, labels: str) -> float:
    y = draw(truth, np.random.default_rng(seed), seed)
    result = diffuse_labels(operator, y, label_mode=labels, tau="margin")
    scored = (truth > 0) & (y < 0)
    return 100 * (result.classes[result.codes] == truth)[scored].mean()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two draws, nothing written")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore")
    rows = list(compute(2 if quick else 10))
    if not quick:
        write_rows(OUTPUT, rows)
    print("\n".join(table([{name: str(cell) for name, cell in row.items()} for row in rows])))


if __name__ == "__main__":
    main()
