"""Unequal and wrong labels on Salinas-A: their cost against equal, clean ones.

    python -m experiments.few_labels.unequal [--quick]

The same total of labels is drawn three ways: equal shares of all classes; 500 in one class and 5
in each other; equal shares of which 10 % name a wrong class. Accuracy is on all other labelled
pixels, mean and standard deviation over ten draws; the large class takes turns.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable

import numpy as np

from diffclass import diffuse_labels
from experiments.few_labels.draws import WRONG_SHARE, renamed
from experiments.problems import default_operator, salinas_a

LARGE, SMALL = 500, 5


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two draws")
    n_draws = 2 if parser.parse_args().quick else 10
    warnings.simplefilter("ignore")
    print("| features | labels | equal | 500 and 5 | lost | 10 % wrong | lost |")
    print("|---|---|---|---|---|---|---|")
    for spatial in (False, True):
        problem = salinas_a(spatial=spatial)
        operator = default_operator(problem)
        for labels in ("summed", "free", "absorbing"):
            scores = {}
            for way, draw in WAYS.items():
                scores[way] = np.array([_score(operator, problem.truth, draw, s, labels)
                                        for s in range(n_draws)])  # fmt: skip
            cells = {w: f"{v.mean():.2f} ± {v.std(ddof=1):.2f}" for w, v in scores.items()}
            lost = {w: f"{(scores['equal'] - v).mean():.2f}" for w, v in scores.items()}
            print(
                f"| {problem.name} | {labels} | {cells['equal']} | {cells['unequal']} "
                f"| {lost['unequal']} | {cells['wrong']} | {lost['wrong']} |"
            )


def _score(operator, truth: np.ndarray, draw: Callable, seed: int, labels: str) -> float:
    y = draw(truth, np.random.default_rng(seed), seed)
    result = diffuse_labels(operator, y, label_mode=labels)
    scored = (truth > 0) & (y < 0)
    return 100 * (result.classes[result.codes] == truth)[scored].mean()


if __name__ == "__main__":
    main()
