"""Seeded draws of labels, the same for every method.

There are six ways, each with ``n_per_class`` labels per class (half the points of a class that has
fewer than twice as many):

equal
    at random places.
proportional
    the same total, shared out by class size, at least one each.
wrong
    those of *equal*, a tenth of which name another class.
strokes
    in curved strokes one pixel wide, as drawn by hand.
blocks
    at random places in one half of the picture's blocks; scored in the others, six pixels from any
    label (`diffclass_hyperspectral.jobs.evaluation`), whatever the features: `diffclass
    classify` keeps a larger gap for spatial ones. A class in a single field is cut in two.
one-sided
    a hundred times as many in one class, which takes turns, as in each other; at random places.

Labels are of shape (n,), -1 where unlabelled. All other points of known class are scored (in
*blocks* those of the other blocks).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from diffclass.evaluation import draw_per_class
from diffclass.jobs import Holdout
from diffclass_hyperspectral.jobs.evaluation import hold_out
from experiments.problems import Problem

Shape = tuple[int, int] | None  # rows and columns of a picture; points in no picture have none
Drawn = tuple[np.ndarray, np.ndarray]
BUDGETS = (1, 5, 10)  # labels per class, by default
WRONG_SHARE = 0.1
GAP = 6  # pixels between blocks; features that reach farther do so in the benchmark too
ONE_SIDED = 100
_TURN = 0.3  # radians: standard deviation of a stroke's heading from pixel to pixel


def drawn(problem: Problem, way: str, n_per_class: int, seed: int) -> Drawn:
    """Return labels drawn on a problem in one of WAYS, and the points to score."""
    if problem.pixels is None:
        return WAYS[way](problem.truth, problem.shape, n_per_class, seed)
    picture = np.zeros(np.prod(problem.shape), dtype=problem.truth.dtype)
    picture[problem.pixels] = problem.truth
    y, scored = WAYS[way](picture, problem.shape, n_per_class, seed)
    return y[problem.pixels], scored[problem.pixels]


def draw_labels(truth: np.ndarray, n_per_class: int, seed: int) -> Drawn:
    """Return labels (-1 unlabelled) and the points to score: all others of known class."""
    codes = truth.astype(np.intp) - 1  # unsigned, 0 - 1 would be one more class
    chosen = draw_per_class(codes, n_per_class, random_state=seed)
    return labelled_at(truth, chosen)


def labelled_at(truth: np.ndarray, chosen: np.ndarray) -> Drawn:
    """Return the labels at the chosen points, and all other points of known class."""
    y = np.full(len(truth), -1)
    y[chosen] = truth[chosen]
    return y, (truth > 0) & (y < 0)


def equal(truth: np.ndarray, shape: Shape, n_per_class: int, seed: int) -> Drawn:
    return draw_labels(truth, n_per_class, seed)


def proportional(truth: np.ndarray, shape: Shape, n_per_class: int, seed: int) -> Drawn:
    random = np.random.default_rng([seed, 1])
    classes, sizes = np.unique(truth[truth > 0], return_counts=True)
    shares = proportional_shares(sizes, n_per_class * len(classes))
    return labelled_at(truth, _chosen(truth, classes, shares, random))


def proportional_shares(sizes: np.ndarray, total: int) -> np.ndarray:
    """Share out a total by size in whole parts of at least one, by the largest remainders."""
    exact = total * sizes / sizes.sum()
    shares = np.maximum(1, np.floor(exact).astype(int))
    rest = max(0, total - shares.sum())
    shares[np.argsort(shares - exact, kind="stable")[:rest]] += 1
    while shares.sum() > total:  # the classes that got one for less than one
        shares[shares.argmax()] -= 1
    return np.minimum(shares, np.maximum(1, sizes // 2))


def wrong(truth: np.ndarray, shape: Shape, n_per_class: int, seed: int) -> Drawn:
    y, scored = draw_labels(truth, n_per_class, seed)
    return renamed(y, WRONG_SHARE, np.random.default_rng([seed, 2])), scored


def renamed(y: np.ndarray, share: float, random: np.random.Generator) -> np.ndarray:
    """Return labels of which a share, rounded down, name another class."""
    y, classes, labelled = y.copy(), np.unique(y[y > 0]), np.flatnonzero(y > 0)
    for x in random.choice(labelled, int(share * len(labelled)), replace=False):
        y[x] = random.choice(classes[classes != y[x]])
    return y


def strokes(truth: np.ndarray, shape: Shape, n_per_class: int, seed: int) -> Drawn:
    random = np.random.default_rng([seed, 3])
    picture = truth.reshape(shape)
    chosen = np.zeros(picture.shape, dtype=bool)
    for value in np.unique(truth[truth > 0]):
        member = picture == value
        size = min(n_per_class, max(1, int(member.sum()) // 2))
        while size > 0:  # several strokes, if the class is too scattered for one
            pixels = _longest_stroke(member & ~chosen, size, random)
            chosen[tuple(np.transpose(pixels))] = True
            size -= len(pixels)
    return labelled_at(truth, chosen.ravel())


def _longest_stroke(
    room: np.ndarray, length: int, random: np.random.Generator
) -> list[tuple[int, int]]:
    """Return the longest of a few strokes from random places, as soon as one has its length."""
    starts = np.argwhere(room)
    longest: list[tuple[int, int]] = []
    for _ in range(20):
        row, column = starts[random.integers(len(starts))]
        stroke = _stroke(room, (int(row), int(column)), length, random)
        longest = max(longest, stroke, key=len)
        if len(longest) == length:
            break
    return longest


def _stroke(
    room: np.ndarray, start: tuple[int, int], length: int, random: np.random.Generator
) -> list[tuple[int, int]]:
    """Walk from pixel to neighbouring pixel with a slowly turning heading, where there is room."""
    heading = random.uniform(0, 2 * np.pi)
    stroke = [start]
    while len(stroke) < length:
        heading += random.normal(0, _TURN)
        row, column = stroke[-1]
        for swerve in (0, 0.8, -0.8, 1.6, -1.6):  # half and whole right angles
            angle = heading + swerve
            ahead = row + round(np.sin(angle)), column + round(np.cos(angle))
            inside = 0 <= ahead[0] < room.shape[0] and 0 <= ahead[1] < room.shape[1]
            if inside and room[ahead] and ahead not in stroke:
                heading = angle
                stroke.append(ahead)
                break
        else:
            break
    return stroke


def blocks(truth: np.ndarray, shape: Shape, n_per_class: int, seed: int) -> Drawn:
    ids = truth.astype(np.intp).reshape(shape)  # see draw_labels
    split = hold_out(ids, Holdout("blocks", n_per_class, seed), gap=GAP)
    y, _ = labelled_at(truth, split.fit.ravel())
    return y, split.test.ravel()


def one_sided(truth: np.ndarray, shape: Shape, n_per_class: int, seed: int) -> Drawn:
    random = np.random.default_rng([seed, 4])
    classes, sizes = np.unique(truth[truth > 0], return_counts=True)
    shares = np.minimum(n_per_class, sizes // 2)
    large = seed % len(classes)
    shares[large] = min(ONE_SIDED * n_per_class, sizes[large] // 2)
    return labelled_at(truth, _chosen(truth, classes, shares, random))


def _chosen(
    truth: np.ndarray, classes: np.ndarray, shares: np.ndarray, random: np.random.Generator
) -> np.ndarray:
    chosen = [
        random.choice(np.flatnonzero(truth == value), size, replace=False)
        for value, size in zip(classes, shares, strict=True)
    ]
    return np.concatenate(chosen)


WAYS: dict[str, Callable[[np.ndarray, Shape, int, int], Drawn]] = {
    "equal": equal,
    "blocks": blocks,
    "proportional": proportional,
    "strokes": strokes,
    "wrong": wrong,
    "one-sided": one_sided,
}
IN_PICTURES = ("blocks", "strokes")  # the ways that need rows and columns
