"""How much of a map a second seed of the neighbour search changes, or the way through blocks.

    python -m experiments.scaling.stability [--draws 5] [problem ...]

Scenes with spectral and spatial features (see `experiments.problems`), ten labels per class at
random places. The first map is that of `DiffusionClassifier` with seed 0; it is compared with the
one of seed 1, and with that of `BlockClassifier` with seed 0 and memory for about four blocks, or
as many as it makes of the points: blocks have 10,000 at least. A row has the recall of both
searches, the accuracy of both maps and the share of all points whose class differs, in percent:
means over the draws with their standard deviations. The rows of the problems that are named are
replaced in stability.csv. A run takes some minutes.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from diffclass import PointGraph, diffuse_labels
from diffclass.blocks import BlockClassifier
from diffclass.blocks.plan import LEADING, LEAST_BLOCK, building_bytes, task_bytes
from diffclass.classifier import DiffusionClassifier
from diffclass.kernels import SharedNeighbors
from diffclass.system.costs import Size
from diffclass.targets import decode_labels
from experiments.few_labels.draws import drawn
from experiments.markdown import Row, markdown_table, read_rows, write_rows
from experiments.problems import Problem, indian_pines, jasper_ridge, potsdam, salinas_a

OUTPUT = Path(__file__).with_name("stability.csv")
SCENES = {"salinas": salinas_a, "jasper": jasper_ridge, "pines": indian_pines, "potsdam": potsdam}
PROBLEMS: dict[str, Callable[[], Problem]] = {
    f"{name}-{kind}": partial(make, spatial=kind == "spatial")
    for name, make in SCENES.items()
    for kind in ("spectral", "spatial")
}
LABELS_PER_CLASS, N_BLOCKS = 10, 4
N_NEIGHBORS = DiffusionClassifier().n_neighbors

Maps = list[np.ndarray]  # the class of each point, for each draw of labels


def rows_of(name: str, n_draws: int) -> Iterator[dict[str, object]]:
    """Yield the row of the second seed, and that of blocks."""
    problem = PROBLEMS[name]()
    draws = [drawn(problem, "equal", LABELS_PER_CLASS, seed) for seed in range(n_draws)]
    labels = [y for y, _ in draws]

    def accuracies(maps: Maps) -> np.ndarray:
        right = [
            (found == problem.truth)[scored].mean()
            for found, (_, scored) in zip(maps, draws, strict=True)
        ]
        return 100 * np.array(right)

    recall, first = in_memory(problem, labels, seed=0)
    second_recall, second = in_memory(problem, labels, seed=1)
    n_blocks, block_recall, by_blocks = in_blocks(problem, labels, seed=0)
    others = (
        ("second seed", 0, second_recall, second),
        ("blocks", n_blocks, block_recall, by_blocks),
    )
    for what, blocks, other_recall, other in others:
        changed = [100 * np.mean(a != b) for a, b in zip(first, other, strict=True)]
        yield {
            "problem": name,
            "points": len(problem.truth),
            "other": what,
            "blocks": blocks,
            "draws": n_draws,
            "recall": f"{recall:.3f}",
            "other_recall": f"{other_recall:.3f}",
            **_summary("accuracy", accuracies(first)),
            **_summary("other_accuracy", accuracies(other)),
            **_summary("changed", changed),
        }


def in_memory(problem: Problem, labels: Sequence[np.ndarray], seed: int) -> tuple[float, Maps]:
    """Return the recall of the search, and the map from each draw of labels."""
    assert problem.points is not None
    graph = PointGraph.from_points(
        problem.points, n_neighbors=N_NEIGHBORS, kernel=SharedNeighbors(), random_state=seed
    )
    assert graph.recall is not None
    found = (diffuse_labels(graph.operator, y) for y in labels)
    return graph.recall, [decode_labels(each.classes, each.codes) for each in found]


def in_blocks(problem: Problem, labels: Sequence[np.ndarray], seed: int) -> tuple[int, float, Maps]:
    """Return the number of blocks, the recall, and the map from each draw of labels."""
    assert problem.points is not None
    n_classes = len(np.unique(labels[0])) - 1
    n, n_features = problem.points.shape
    size = Size(n, n_features, N_NEIGHBORS, n_classes)
    with tempfile.TemporaryDirectory() as folder:  # of the graph, which is made once
        model = BlockClassifier(memory=memory_for(size), scratch=folder, random_state=seed)
        maps = [model.fit(problem.points, y).transduction_ for y in labels]
        return model.facts_["n_blocks"], model.recall_, maps


def memory_for(size: Size) -> float:
    """Return the bytes with which `BlockPlan` makes about so many blocks, if they are not small."""
    block = replace(size, points=max(size.points // N_BLOCKS, LEAST_BLOCK))
    return 1 + max(building_bytes(block), task_bytes(block)["diffusion"] + LEADING * size.points)


def _summary(name: str, values: Sequence[float] | np.ndarray) -> dict[str, object]:
    spread = np.std(values, ddof=1) if len(values) > 1 else 0.0
    return {name: f"{np.mean(values):.2f}", f"{name}_sd": f"{spread:.2f}"}


def table(rows: Sequence[Row]) -> list[str]:
    """Return both comparisons of each problem."""
    head = ["problem", "points", "compared with", "recall", "its recall", "accuracy, %"]
    cells = [
        [
            row["problem"],
            row["points"],
            f"{row['blocks']} block{'s' * (row['blocks'] != '1')}"
            if row["other"] == "blocks"
            else row["other"],
            row["recall"],
            row["other_recall"],
            *(
                f"{row[name]} ± {row[name + '_sd']}"
                for name in ("accuracy", "other_accuracy", "changed")
            ),
        ]
        for row in rows
    ]
    return markdown_table([*head, "its accuracy, %", "points that differ, %"], cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problems", nargs="*", default=list(PROBLEMS))
    parser.add_argument("--draws", type=int, default=5)
    asked = parser.parse_args()
    known = read_rows("scaling/stability.csv") if OUTPUT.exists() else []
    rows: list[dict[str, object]] = [dict(row) for row in known]
    for name in asked.problems:
        rows = [row for row in rows if row["problem"] != name]
        for row in rows_of(name, asked.draws):
            rows.append(row)
            print(*row.values(), flush=True)
        rows.sort(key=lambda row: list(PROBLEMS).index(str(row["problem"])))
        write_rows(OUTPUT, rows)


if __name__ == "__main__":
    main()
