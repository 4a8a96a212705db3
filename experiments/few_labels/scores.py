"""Scores from elsewhere beside labels: do both together ever do worse than the better of the two?

    python -m experiments.few_labels.scores [--draws N] [problem ...]

For each problem, source of scores and number of labels per class, 0 among them: the accuracy of
the highest score of each point, of the hints alone on the graph, of the labels alone, and of both
(``score_prior`` of `DiffusionClassifier`), in percent; and the difference of both from the better
of the last two (without labels, from the highest score), paired, with a 95 % interval. Sources:

texts
    the similarity of photographs to sentences that name the classes, by the network that embeds
    them (zero-shot);
two, ten labels
    a logistic regression on so many other labels of each class;
misnamed
    the first of these for a problem, with a quarter of the classes under the name of another;
moved map
    the true map of a picture, three rows and two columns away, a fifth of its regions renamed.

How labels and hints are joined, `diffclass.label_diffusion.score_prior`, was chosen on the problems
in CHOOSING, which are those of `experiments.problems` and CLIP embeddings; the others only report.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from diffclass import DiffusionClassifier
from diffclass_hyperspectral.io.labels import label_regions
from experiments.few_labels.draws import draw_labels
from experiments.few_labels.paired_table import paired
from experiments.markdown import Row, markdown_table, replace_rows
from experiments.problems import DATA, TITLES, Problem, problem_of

OUTPUT = Path(__file__).with_name("scores.csv")
CHOOSING = (
    "clip_rn50", "digits", "jasper", "tissue", "mnist", "unbalanced-blobs", "moons", "overlapping",
    "multimodal", "twenty-blobs",
)  # fmt: skip
REPORTING = (
    "georsclip_vit_l_14", "salinas-spectral", "salinas-spatial", "pines-spectral", "pines-spatial",
    "potsdam-spectral", "potsdam-spatial", "three-blobs", "overlapping-skew", "circles",
    "checkerboard",
)  # fmt: skip
BUDGETS = (0, 1, 3, 5, 10)
_OTHER_DRAWS = 1000  # seeds of the labels that another classifier has seen


def sources(name: str, problem: Problem, seed: int) -> Iterator[tuple[str, np.ndarray]]:
    """Yield scores (n, n_classes) of a problem, and where they are from."""
    found: list[tuple[str, np.ndarray]] = []
    if (DATA / "embeddings" / f"{name}.npz").exists():
        file = np.load(DATA / "embeddings" / f"{name}.npz")
        found.append(("texts", file["images"].astype(float) @ file["texts"].astype(float).T))
    found.append(("two labels", _by_regression(problem, 2, seed)))
    found.append(("ten labels", _by_regression(problem, 10, seed)))
    found.append(("misnamed", _misnamed(found[0][1], seed)))
    if problem.shape is not None and problem.pixels is None and "," in problem.name:
        found.append(("moved map", _moved_map(problem, seed)))
    yield from found


def _by_regression(problem: Problem, n_per_class: int, seed: int) -> np.ndarray:
    y, _ = draw_labels(problem.truth, n_per_class, seed + _OTHER_DRAWS)
    X = (problem.points - problem.points.mean(axis=0)) / problem.points.std()
    fitted = y > 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LogisticRegression(C=10, max_iter=2000).fit(X[fitted], y[fitted])
    return model.predict_proba(X)


def _misnamed(scores: np.ndarray, seed: int) -> np.ndarray:
    """Return scores whose classes are called by the names of others, for a quarter of them."""
    n = scores.shape[1]
    mixed = np.random.default_rng(seed).permutation(n)[: max(2, n // 4)]
    names = np.arange(n)
    names[mixed] = np.roll(mixed, 1)
    return scores[:, names]


def _moved_map(problem: Problem, seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    truth = problem.truth.reshape(problem.shape)
    moved = np.roll(truth, (3, 2), axis=(0, 1))
    regions = label_regions(moved)
    renamed = random.random(regions.max() + 1) < 0.2
    others = random.integers(1, truth.max() + 1, regions.max() + 1)
    wrong = (regions >= 0) & renamed[regions]
    moved = np.where(wrong, others[regions], moved).ravel()
    classes = np.unique(problem.truth[problem.truth > 0])
    scores = (moved[:, None] == classes).astype(float)
    scores[moved == 0] = np.nan
    return scores


def compute(name: str, n_draws: int) -> list[dict[str, Any]]:
    """Return the rows of a problem."""
    runs: dict[tuple[str, int], list[tuple[float, ...]]] = {}
    graph, last = None, None
    for seed in range(n_draws):
        problem = problem_of(name, seed)
        if problem is not last:
            graph, last = None, problem
        classes = np.unique(problem.truth[problem.truth > 0])
        alone = {}
        for budget in BUDGETS[1:]:
            y, scored = draw_labels(problem.truth, budget, seed)
            model = DiffusionClassifier(random_state=0).fit(problem.points, y, graph=graph)
            graph = model.graph_
            alone[budget] = y, scored, right(model.transduction_, problem, scored)
        nothing = np.full(len(problem.truth), -1)
        for source, scores in sources(name, problem, seed):
            known = problem.truth > 0
            highest = classes[np.nan_to_num(scores, nan=-1.0).argmax(axis=1)]
            model = DiffusionClassifier(random_state=0).fit(
                problem.points, nothing, score_prior=scores, graph=graph
            )
            hints = classes[np.maximum(model.transduction_, 0)]
            of_scores = right(highest, problem, known)
            runs.setdefault((source, 0), []).append(
                (of_scores, (r := right(hints, problem, known)), np.nan, r)
            )
            for budget, (y, scored, by_labels) in alone.items():
                model = DiffusionClassifier(random_state=0).fit(
                    problem.points, y, score_prior=scores, graph=graph
                )
                both = right(model.transduction_, problem, scored)
                by_hints = right(hints, problem, scored)
                runs.setdefault((source, budget), []).append((of_scores, by_hints, by_labels, both))
    half = "choosing" if name in CHOOSING else "reporting"
    return [
        {"half": half, "problem": problem.name, "scores": source, "labels_per_class": budget}
        | _summary(np.array(found))
        for (source, budget), found in runs.items()
    ]


def right(found: np.ndarray, problem: Problem, scored: np.ndarray) -> float:
    return 100 * float((found[scored] == problem.truth[scored]).mean())


def _summary(found: np.ndarray) -> dict[str, Any]:
    highest, hints, labels, both = found.T
    means = dict(zip(("highest", "hints", "labels", "both"), found.mean(axis=0), strict=True))
    if np.isnan(labels).all():
        better = highest
    else:
        better = hints if hints.mean() > labels.mean() else labels
    gain, half = paired(both.tolist(), better.tolist())
    return {"draws": len(found)} | means | {"gain": gain, "interval": half}


def table(rows: Sequence[Row]) -> list[str]:
    """Return a row for each problem, source and number of labels."""
    cells = [
        [row["half"], row["problem"], row["scores"], row["labels_per_class"]]
        + [_percent(row[name]) for name in ("highest", "hints", "labels", "both")]
        + [f"{float(row['gain']):+.1f} ± {float(row['interval']):.1f}"]
        for row in rows
    ]
    head = ["half", "problem", "scores", "labels per class", "highest score", "hints", "labels"]
    return markdown_table([*head, "both", "over the better"], cells)


def _percent(value: str) -> str:
    return "-" if value == "nan" else f"{float(value):.1f}"


def replaced(
    description: str | None, output: Path, compute: Callable[[str, int], list[Row]]
) -> Iterator[tuple[str, list[Row]]]:
    """Compute the problems that the command names, and yield each with the rows of all."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("problems", nargs="*")
    parser.add_argument("--draws", type=int, default=10)
    arguments = parser.parse_args()
    order = [TITLES.get(name, name) for name in (*CHOOSING, *REPORTING)]
    for name in arguments.problems or (*CHOOSING, *REPORTING):
        yield name, replace_rows(output, compute(name, arguments.draws), "problem", order.index)


def main() -> None:
    for _, rows in replaced(__doc__, OUTPUT, compute):
        print("\n".join(table(rows)), flush=True)


if __name__ == "__main__":
    main()
