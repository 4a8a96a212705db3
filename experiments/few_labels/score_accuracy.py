"""What is gained if the user says how often scores from elsewhere are right.

    python -m experiments.few_labels.score_accuracy [--draws N] [problem ...]

The problems and sources of `experiments.few_labels.scores`, with one label per class:
the accuracy of the labels alone, of the hints alone, and of both, without and with
``score_accuracy``: the share of the hints that is right, rounded to tenths, and a tenth too high
or too low. In percent; each is followed by its difference from the better of the first two. Ten
draws, three from 15,000 points on. The rule was chosen on the choosing half.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from diffclass import DiffusionClassifier
from diffclass.graph import PointGraph
from experiments.few_labels.draws import draw_labels
from experiments.few_labels.scores import CHOOSING, replaced, right, sources
from experiments.markdown import Row, markdown_table, read_rows
from experiments.problems import Problem, problem_of

OUTPUT = Path(__file__).with_name("score_accuracy.csv")
LABELS_PER_CLASS = 1
LARGE = 15_000  # points; fewer draws from here on
LOST = 0.5  # points
SAID = ("nothing", "the truth", "tenths", "0.1 more", "0.1 less")


def said_of(share: float) -> dict[str, float | None]:
    """Return what may be said of scores of which a share is right."""
    said = dict(zip(SAID[1:], (share, round(share, 1), share + 0.1, share - 0.1), strict=True))
    return {"nothing": None} | {name: min(max(s, 0.02), 0.98) for name, s in said.items()}


def compute(name: str, n_draws: int) -> list[dict[str, Any]]:
    """Return the rows of a problem."""
    problem = problem_of(name)
    n_draws = min(n_draws, 3) if len(problem.truth) > LARGE else n_draws
    runs: dict[str, list[dict[str, float]]] = {}
    graph: PointGraph | None = None
    last = None
    for seed in range(n_draws):
        problem = problem_of(name, seed)
        graph = graph if problem is last else None
        last = problem
        for key, found, built in _of_draw(name, problem, seed, graph):
            runs.setdefault(key, []).append(found)
            graph = built
    half = "choosing" if name in CHOOSING else "reporting"
    rows = []
    for source, draws in runs.items():
        means = {k: float(np.mean([one[k] for one in draws])) for k in draws[0]}
        better = max(means["labels"], means["hints"])
        gains = {f"gain, {said}": means[said] - better for said in SAID}
        known = {"half": half, "problem": problem.name, "scores": source, "draws": n_draws}
        rows.append(known | means | gains)
    return rows


def _of_draw(
    name: str, problem: Problem, seed: int, graph: PointGraph | None
) -> Iterator[tuple[str, dict[str, float], PointGraph]]:
    nothing, known = np.full(len(problem.truth), -1), problem.truth > 0
    classes = np.unique(problem.truth[known])
    y, scored = draw_labels(problem.truth, LABELS_PER_CLASS, seed)
    model = DiffusionClassifier(random_state=0).fit(problem.points, y, graph=graph)
    graph, alone = model.graph_, right(model.transduction_, problem, scored)
    for source, scores in sources(name, problem, seed):
        given = np.isfinite(scores).all(axis=1) & known
        highest = classes[np.nan_to_num(scores, nan=-1.0).argmax(axis=1)]
        share = right(highest, problem, given) / 100
        model.fit(problem.points, nothing, score_prior=scores, graph=graph)
        by_hints = classes[np.maximum(model.transduction_, 0)]
        found = {"right": 100 * share, "hints": right(by_hints, problem, scored), "labels": alone}
        for said, accuracy in said_of(share).items():
            model.fit(problem.points, y, score_prior=scores, score_accuracy=accuracy, graph=graph)
            found[said] = right(model.transduction_, problem, scored)
        yield source, found, graph


def table(rows: Sequence[Row]) -> list[str]:
    """Return a row for each half and what is said: what is lost by it."""
    cells: list[list[object]] = []
    for half in ("choosing", "reporting"):
        some = [row for row in rows if row["half"] == half]
        for said in SAID:
            gains = np.array([float(row[f"gain, {said}"]) for row in some])
            lost, worst = np.maximum(-gains - LOST, 0), some[int(gains.argmin())]
            named = f"{worst['problem']}, {worst['scores']}, {gains.min():.1f}"
            numbers = f"{gains.mean():+.1f}", int((lost > 0).sum()), f"{lost.mean():.2f}"
            cells.append([half, said, len(some), *numbers, named])
    head = ["half", "said of the scores", "pairs", "mean over the better"]
    return markdown_table([*head, "lose more than 0.5", "mean shortfall", "worst"], cells)


def main() -> None:
    for name, _ in replaced(__doc__, OUTPUT, compute):
        print(name, flush=True)
    print("\n".join(table(read_rows(OUTPUT))))


if __name__ == "__main__":
    main()
