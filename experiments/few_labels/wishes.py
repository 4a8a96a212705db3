"""What a wish for the sizes of some classes costs at most, where it is true and where it is false.

    python -m experiments.few_labels.wishes [draws [labels|scores|warp|features]]

200 draws of random problems: three to six Gaussian classes of unequal size and spread in two to ten
dimensions, most of them overlapping, 1 to 10 labels per class; diffused by default. A wish is a
``class_prior``: true sizes of all classes or of some, exact or as ranges that hold them, and false
ones. The table goes to standard output: by how much each kind changes the accuracy (points of a
hundred) on average and in the worst draw, and in how many draws it loses and gains. By default the
classes are those of the labels; else noisy scores stand beside them, the walk is warped, or the
features are joined.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator

import numpy as np

from diffclass import DiffusionClassifier, PointGraph, Warp
from experiments.markdown import markdown_table

N_DRAWS = 200
Wish = tuple[np.ndarray, np.ndarray]  # the least and the most share of each class


def overlapping_classes(
    random: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return points, their classes and labels of some."""
    n_classes, n_features, n = (int(random.integers(*of)) for of in ((3, 7), (2, 11), (400, 1201)))
    sizes = np.maximum((random.dirichlet(np.full(n_classes, 3.0)) * n).astype(int), 12)
    truth = np.repeat(np.arange(n_classes), sizes)
    centers = random.normal(size=(n_classes, n_features)) * random.uniform(0.7, 3)
    noise = random.normal(size=(len(truth), n_features))
    X = centers[truth] + noise * random.uniform(0.6, 1.4, size=n_classes)[truth, None]
    per_class = int(random.choice([1, 2, 3, 5, 10]))
    y = np.full(len(truth), -1)
    for k in range(n_classes):
        y[random.permutation(np.flatnonzero(truth == k))[:per_class]] = k
    return X, truth, y


def wishes(random: np.random.Generator, true: np.ndarray) -> Iterator[tuple[str, Wish]]:
    """Yield wishes for classes of certain true shares, each with the name of its kind."""
    n_classes = len(true)
    yield "true, all exact", (true, true)
    for _ in range(3):
        n_named = int(random.integers(1, n_classes))
        named = random.permutation(n_classes)[:n_named]
        yield "true, some exact", _wish(n_classes, named, true[named], true[named])
        below, above = random.uniform(0, 0.4, size=(2, n_named))
        least, most = true[named] * (1 - below), np.minimum(true[named] * (1 + above), 1)
        yield "true, some as ranges", _wish(n_classes, named, least, most)
    yield "true, all as ranges", (true * 0.8, np.minimum(true * 1.2, 1))
    equal = np.full(n_classes, 1 / n_classes)
    yield "uniform", (equal, equal)
    wrong = true * random.choice([0.5, 2], n_classes)
    yield "false, all by a factor of 2", (wrong / wrong.sum(), wrong / wrong.sum())
    for kind, share_of in (
        ("false, one halved", lambda true: true / 2),
        ("false, one doubled", lambda true: min(true * 2, 0.8)),
        ("false, one at random", lambda true: float(random.uniform(0.05, 0.9))),
    ):
        k = int(random.integers(n_classes))
        share = share_of(true[k])
        yield kind, _wish(n_classes, [k], share, share)


def _wish(n_classes: int, named: object, least: object, most: object) -> Wish:
    low, high = np.zeros(n_classes), np.ones(n_classes)
    low[named], high[named] = least, most
    return low, high


Map = Callable[[Wish | None, PointGraph | None], DiffusionClassifier]


def noisy_scores(random: np.random.Generator, truth: np.ndarray) -> np.ndarray:
    """Return scores of which two thirds to four fifths are highest at the true class."""
    n_classes = truth.max() + 1
    scores = 0.4 * np.eye(n_classes)[truth] + random.dirichlet(np.ones(n_classes), len(truth))
    return np.asarray(scores / 1.4)


def map_of(
    beside: str, random: np.random.Generator, X: np.ndarray, truth: np.ndarray, y: np.ndarray
) -> Map:
    """Return a function that fits a model to a wish, or to none, perhaps on a graph."""
    scores = noisy_scores(random, truth) if beside == "scores" else None
    warp = Warp(rounds=1) if beside == "warp" else None
    features = beside == "features"

    def fitted(wish: Wish | None, graph: PointGraph | None) -> DiffusionClassifier:
        model = DiffusionClassifier(
            class_prior=wish, warp=warp, join_features=features, random_state=0
        )
        return model.fit(X, y, score_prior=scores, graph=graph)

    return fitted


def gains(n_draws: int, beside: str = "labels") -> dict[str, np.ndarray]:
    """Return, by kind, the accuracy with a wish less that without, in points of a hundred."""
    found: dict[str, list[float]] = {}
    for draw in range(n_draws):
        random = np.random.default_rng([draw, 51])
        X, truth, y = overlapping_classes(random)
        fitted = map_of(beside, np.random.default_rng([draw, 52]), X, truth, y)
        plain = fitted(None, None)
        others, true = y < 0, np.bincount(truth) / len(truth)
        before = np.mean((plain.transduction_ == truth)[others])
        for kind, wish in wishes(random, true):
            after = fitted(wish, plain.graph_)
            gain = np.mean((after.transduction_ == truth)[others]) - before
            found.setdefault(kind, []).append(100 * float(gain))
    return {kind: np.array(of_kind) for kind, of_kind in found.items()}


def main() -> None:
    warnings.simplefilter("ignore")
    n_draws = int(sys.argv[1]) if len(sys.argv) > 1 else N_DRAWS
    beside = sys.argv[2] if len(sys.argv) > 2 else "labels"
    rows = [
        [kind, len(gain), f"{gain.mean():+.2f}", f"{gain.min():+.1f}",
         np.sum(gain < -5), np.sum(gain < -1), np.sum(gain > 1), np.sum(gain > 5)]
        for kind, gain in gains(n_draws, beside).items()
    ]  # fmt: skip
    head = ["wish", "wishes", "mean", "worst", "lose 5", "lose 1", "gain 1", "gain 5"]
    print("\n".join(markdown_table(head, rows)))


if __name__ == "__main__":
    main()
