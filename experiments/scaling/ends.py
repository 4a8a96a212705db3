"""Where walks end: as soon as it is foreseen, or one look later.

    python -m experiments.scaling.ends [--draws 10] [problem ...]

The walk ends where the margin falls below the share that it has to keep. Looks are half an octave
apart, and later one octave, so the last one takes a third to half of all steps, only to see that.
By default the walk ends where another fall as deep as the last would be too far. Here is what that
costs: the accuracy of both on the same labels, the mean of their differences with its standard
error, and the steps that both took; no walk is longer than 256 steps. The first problems, and those
of `experiments.problems` on which defaults are chosen, were open to view before the rule was
settled, which has nothing to tune; the others are reported only. Ten draws, to ends.csv, where rows
of other problems stay.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import numpy as np
from sklearn.datasets import make_blobs, make_circles, make_moons

from diffclass import MarkovOperator, StoppingRule, diffuse_labels, markov_operator
from diffclass.kernels import SharedNeighbors
from diffclass.label_diffusion import stopping
from diffclass.label_diffusion.stopping import BestTime
from diffclass_hyperspectral import SceneFeatures, open_scene
from experiments.datasets import make_hyperspectral_scene
from experiments.few_labels.draws import draw_labels
from experiments.markdown import read_rows, write_rows
from experiments.problems import problem_of
from experiments.scaling import million, whole_scene

N, LONGEST = 70_000, 256
BUDGETS = (1, 3, 10)
OUTPUT = Path(__file__).with_name("ends.csv")
Points = tuple[np.ndarray, np.ndarray]


def scene(truth: np.ndarray, n_bands: int, *, spatial: bool = False) -> Points:
    """Return the features of a synthetic scene, and its classes from 1."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "scene.npy"
        np.save(path, make_hyperspectral_scene(truth, n_bands=n_bands))
        return SceneFeatures(spatial=spatial).fit_transform(open_scene(path)), truth.ravel()


def of_sklearn(made: Points) -> Points:
    """Return points in single precision, and classes from 1."""
    return made[0].astype(np.float32), made[1] + 1


def real(name: str) -> Points:
    """Return the points and classes of one of `experiments.problems`."""
    problem = problem_of(name)
    assert problem.points is not None
    return problem.points, problem.truth


PROBLEMS: dict[str, Callable[[], Points]] = {
    "Salinas' fields, spectral": lambda: scene(whole_scene.fields(), 204),
    "Salinas' fields, spatial": lambda: scene(whole_scene.fields(), 204, spatial=True),
    "random fields": lambda: scene(million.fields(300), 100),
    "three blobs": lambda: of_sklearn(make_blobs(N, centers=3, cluster_std=2.0, random_state=0)),
    "two moons": lambda: of_sklearn(make_moons(N, noise=0.25, random_state=0)),
    "other fields, 60 bands": lambda: scene(million.fields(265, seed=3), 60),
    "ten blobs in ten dimensions": lambda: of_sklearn(
        make_blobs(N, n_features=10, centers=10, cluster_std=3.5, random_state=1)
    ),
    "unbalanced blobs": lambda: of_sklearn(
        make_blobs([52_000, 14_000, 4_000], centers=[[0, 0], [3, 0], [1, 2.5]], random_state=1)
    ),
    "circles": lambda: of_sklearn(make_circles(N, noise=0.12, factor=0.5, random_state=0)),
}
REAL = (
    "jasper", "mnist", "salinas-spectral", "pines-spectral", "pines-spatial", "potsdam-spatial",
)  # fmt: skip
PROBLEMS |= {name: partial(real, name) for name in REAL}
CHOOSING = (*list(PROBLEMS)[:5], "jasper", "mnist")


def run(operator: MarkovOperator, y: np.ndarray, *, foreseeing: bool) -> tuple[np.ndarray, int]:
    """Return the class of each point, and the last time that was looked at."""

    def best_time(share: float, *, covered: bool, foresees: bool) -> BestTime:
        return BestTime(share, covered=covered, foresees=foresees and foreseeing)

    late = mock.patch.object(stopping, "BestTime", best_time)
    share = mock.patch.object(stopping, "_OVER", 1.0)  # without foresight too, what is kept is all
    large = mock.patch.object(stopping, "LONG_WALK_POINTS", 0)
    with late, share, large, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = diffuse_labels(
            operator, y, label_mode="absorbing", tau=StoppingRule(max_time=LONGEST)
        )
    return found.classes[found.codes], int(found.curve.times[-1])


def compute(name: str, n_draws: int) -> Iterator[dict[str, Any]]:
    """Yield one row per budget."""
    points, truth = PROBLEMS[name]()
    operator = markov_operator(points, kernel=SharedNeighbors(), random_state=0)
    for per_class in BUDGETS:
        accuracy, steps = np.zeros((n_draws, 2)), np.zeros((n_draws, 2))
        for seed in range(n_draws):
            y, scored = draw_labels(truth, per_class, seed=seed)
            y = np.where(y > 0, y, -1)
            for i in (0, 1):
                found, steps[seed, i] = run(operator, y, foreseeing=bool(i))
                accuracy[seed, i] = 100 * np.mean(found[scored] == truth[scored])
        difference = accuracy[:, 1] - accuracy[:, 0]
        yield {
            "use": "choosing" if name in CHOOSING else "reporting",
            "problem": name,
            "points": len(truth),
            "per_class": per_class,
            "draws": n_draws,
            "one_look_later": f"{accuracy[:, 0].mean():.2f}",
            "foreseen": f"{accuracy[:, 1].mean():.2f}",
            "difference": f"{difference.mean():+.2f}",
            "error": f"{difference.std(ddof=1) / np.sqrt(n_draws):.2f}",
            "steps_later": f"{steps[:, 0].mean():.0f}",
            "steps_foreseen": f"{steps[:, 1].mean():.0f}",
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problems", nargs="*", default=list(PROBLEMS))
    parser.add_argument("--draws", type=int, default=10)
    arguments = parser.parse_args()
    rows = []
    for name in arguments.problems:
        for row in compute(name, arguments.draws):
            rows.append(row)
            print(*row.values(), sep=", ", flush=True)
    old = read_rows("scaling/ends.csv") if OUTPUT.exists() else []
    by_problem: dict[str, list[Any]] = {name: [] for name in PROBLEMS}
    for row in [row for row in old if row["problem"] not in arguments.problems] + rows:
        by_problem[row["problem"]].append(row)
    write_rows(OUTPUT, [row for of_one in by_problem.values() for row in of_one])


if __name__ == "__main__":
    main()
