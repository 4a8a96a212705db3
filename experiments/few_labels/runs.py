"""The runs of the benchmark, and the CSV files that hold them.

A file has a row for each problem, way of drawing, number of labels per class and draw, and a column
for each method, which holds its accuracy; where a method was not run the cell is empty.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path

from diffclass.system.output import replacing
from experiments.markdown import Row

Key = tuple[str, str, int, int, str]  # problem, way, budget, seed, method
Runs = Mapping[Key, float]  # accuracies, 0 to 1

_OF_A_DRAW = ("problem", "drawn", "labels_per_class", "seed")


class Results:
    """The runs of a file, to which runs are added."""

    def __init__(self, path: Path):
        self._path = path
        self.runs: dict[Key, float] = {}
        if path.exists():
            with path.open(newline="", encoding="utf-8") as file:
                self.runs = runs_of(csv.DictReader(file))

    def add(self, key: Key, accuracy: float) -> None:
        """Keep a run, in the file too, so that a benchmark that is broken off loses none."""
        self.runs[key] = accuracy
        with replacing(self._path, overwrite=True) as temporary:
            write_runs(temporary, self.runs)


def runs_of(rows: Iterable[Row]) -> dict[Key, float]:
    """Return the accuracies in the rows of a file."""
    return {
        (row["problem"], row["drawn"], int(row["labels_per_class"]), int(row["seed"]), method): (
            float(accuracy)
        )
        for row in rows
        for method, accuracy in row.items()
        if method not in _OF_A_DRAW and accuracy
    }


def write_runs(path: Path, runs: Runs) -> None:
    """Write runs; an accuracy keeps five digits: one point of 100,000."""
    methods = dict.fromkeys(method for *_, method in runs)
    rows: dict[tuple[object, ...], dict[str, float]] = {}
    for (*draw, method), accuracy in runs.items():
        rows.setdefault(tuple(draw), {})[method] = round(accuracy, 5)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*_OF_A_DRAW, *methods])
        writer.writerows([*draw, *map(found.get, methods)] for draw, found in rows.items())
