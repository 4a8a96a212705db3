"""What the recall of the neighbour search means for the map: accuracy from 5 labels per class.

    python -m experiments.scaling.recalls [--problems jasper mnist] [--sides 1000] [--draws 10]

Each graph is that of `NNDescentSearch`, stopped after looking into so many cells and so many rounds
of refinement; kernel and diffusion are the defaults. The problems are real scenes and digits (see
`experiments.problems`), and square synthetic scenes (see `million`). A row is the mean accuracy
over the draws, and its difference from the most thorough search with the standard error. The rows
of a problem go to standard output and to recalls.csv, where they replace those it had. A million
pixels take some twenty seconds for each search and ten for each draw.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from diffclass import MarkovOperator, PointGraph, StoppingRule, diffuse_labels
from diffclass.kernels import SharedNeighbors
from diffclass.neighbors import NNDescentSearch
from diffclass_hyperspectral import Scene, SceneFeatures
from experiments.datasets import make_hyperspectral_scene
from experiments.few_labels.draws import draw_labels
from experiments.markdown import read_rows, write_rows
from experiments.problems import problem_of
from experiments.scaling.million import N_BANDS, fields

OUTPUT = Path(__file__).with_name("recalls.csv")
SEARCHES = ((64, 3), (32, 2), (16, 1), (16, 0), (8, 0), (4, 0), (2, 0))  # cells, rounds
PROBLEMS = ("jasper", "mnist", "pines-spectral", "pines-spatial", "potsdam-spectral")
SIDES, LABELS_PER_CLASS, MOST_STEPS = (354, 1000), 5, 256


class StoppedSearch(NNDescentSearch):
    """NN-descent that looks into so many cells and makes so many rounds, whatever it finds."""

    def __init__(self, n_neighbors: int = 12, *, n_cells: int = 16, n_rounds: int = 0):
        super().__init__(n_neighbors, random_state=0)
        self.n_cells, self.n_rounds = n_cells, n_rounds

    def _search(self, random: np.random.RandomState) -> None:
        n, cells = len(self._lists), self._cells
        sample = self._sample(random.permutation(n)[:1024], min(self.n_neighbors, n - 1))
        self.n_probes_ = min(self.n_cells, cells.n_around)
        cells.probe(cells.points, cells.cell_of, np.arange(n), self._lists, n_probes=self.n_probes_)
        for _ in range(self.n_rounds):
            self._refine()
        self.recall_ = self._recall(sample)
        self._walk_sample = sample

    def _search_all_cells(self) -> None:
        """Keep what was found."""


def points_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return points in single precision, and the class of each."""
    if not name.isdigit():
        problem = problem_of(name)
        assert problem.points is not None
        return problem.points.astype(np.float32), problem.truth
    truth = fields(int(name))
    scene = Scene.from_array(make_hyperspectral_scene(truth, n_bands=N_BANDS))
    return SceneFeatures().fit_transform(scene).reshape(truth.size, -1), truth.ravel()


def rows_of(name: str, draws: int) -> Iterator[dict[str, object]]:
    """Yield a row for each search."""
    X, truth = points_of(name)
    most_thorough = None
    for n_cells, n_rounds in SEARCHES:
        search = StoppedSearch(n_cells=n_cells, n_rounds=n_rounds)
        graph = PointGraph.from_points(X, kernel=SharedNeighbors(), search=search)
        accuracy = np.array([accuracy_of(graph.operator, truth, seed) for seed in range(draws)])
        most_thorough = accuracy if most_thorough is None else most_thorough
        difference = accuracy - most_thorough
        yield {
            "problem": name,
            "points": len(X),
            "features": X.shape[1],
            "cells": n_cells,
            "rounds": n_rounds,
            "draws": draws,
            "recall": f"{graph.recall:.3f}",
            "accuracy": f"{accuracy.mean():.2f}",
            "difference": f"{difference.mean():.2f}",
            "error": f"{difference.std(ddof=1) / np.sqrt(draws):.2f}",
        }


def accuracy_of(operator: MarkovOperator, truth: np.ndarray, seed: int) -> float:
    """Return the share of the other points, in percent, that a draw of labels classifies right."""
    y, scored = draw_labels(truth, LABELS_PER_CLASS, seed=seed)
    found = diffuse_labels(operator, y, tau=StoppingRule(max_time=MOST_STEPS))
    return 100 * float((found.classes[found.codes] == truth)[scored].mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", nargs="*", default=list(PROBLEMS))
    parser.add_argument("--sides", type=int, nargs="*", default=list(SIDES))
    parser.add_argument("--draws", type=int, default=10)
    asked = parser.parse_args()
    rows: list[dict[str, object]] = [dict(row) for row in read_rows("scaling/recalls.csv")]
    for name in [*asked.problems, *map(str, asked.sides)]:
        rows = [row for row in rows if row["problem"] != name]
        for row in rows_of(name, asked.draws):
            rows.append(row)
            print(*row.values(), flush=True)
        write_rows(OUTPUT, rows)


if __name__ == "__main__":
    main()
