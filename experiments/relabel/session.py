"""From nothing to a good map by following the suggestions, through the real page.

    python -m experiments.relabel.session [salinas pines] [--seeds 3]

The server has its own process, the page runs in Chromium, a script uses mouse and keys.
Suggestions need one label to begin with: the first stroke is at a pixel of known class drawn by the
seed, every other one at the pixel that `n` selects (rule: "Explore first", the page's default). The
user knows the class of the pixels of the truth only. A suggestion of unknown class is skipped, a
class is added when it is first met, and each stroke is one click: with a brush of 3 x 3 pixels if
all of them are known to be of one class, otherwise with one pixel. The script checks that no
painted pixel is of another or unknown class. There are no other strokes, no corrections, no changes
of settings.

After each stroke the map on the page is compared with the truth on all pixels of known class that
have no label yet, including neighbours of labels. The session ends when the share of right pixels
reaches the goal, or at 300 strokes, or when no suggestion is left. The truth tells that the goal is
reached: a real user has to judge by eye.

The seconds run from the open page to the map that reaches the goal: server, page, the comparisons,
and a user who needs no time to think. "start" is the time of the server before the page can be
opened. Each seed gives one line on standard output and in session.csv, which each run overwrites.
Strokes include the first; "walked_past" are suggestions of unknown class.
"""

from __future__ import annotations

import argparse
import csv
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from diffclass_hyperspectral import read_labels
from experiments.problems import DATA
from experiments.relabel.driver.browser import Tab
from experiments.relabel.page import (
    FIRST_SIZE,
    choose_class,
    next_suggestion,
    opened,
    served,
    set_brush,
)

OUTPUT = Path(__file__).with_name("session.csv")
MOST_STROKES = 300
BRUSH = 3
DISC = np.indices((BRUSH, BRUSH)).reshape(2, -1).T - BRUSH // 2  # its pixels, corners included
COLUMNS = (
    "scene", "features", "seed", "goal", "reached", "strokes", "pixels", "walked_past",
    "seconds", "start", "accuracy",
)  # fmt: skip


@dataclass(frozen=True)
class Task:
    """A scene, its truth, and the accuracy to reach."""

    name: str
    cube: str
    labels: str
    features: str
    goal: float


TASKS = {
    "salinas": Task(
        "Salinas-A",
        "salinas_a/SalinasA_corrected.mat",
        "salinas_a/SalinasA_gt.mat",
        "spectral",
        0.95,
    ),
    "pines": Task(
        "8-bit Indian Pines",
        "indian_pines/IP_200_M.mat",
        "indian_pines/Indian_pines_gt.mat",
        "spatial",
        0.80,
    ),
}


class User:
    """Someone who knows the class of some pixels and labels what is suggested.

    Parameters
    ----------
    tab : Tab
    truth : ndarray of int of shape (rows, columns)
        0 where the user does not know.
    """

    def __init__(self, tab: Tab, truth: np.ndarray):
        self.tab, self.truth = tab, truth
        self.classes: dict[int, int] = {}  # of the truth, to that of the page
        self.brush = FIRST_SIZE
        self.n_strokes = self.n_walked_past = 0

    def first(self, random: np.random.Generator) -> None:
        """Label a random pixel of known class."""
        row, column = random.choice(np.argwhere(self.truth > 0))
        self._label(int(row), int(column))

    def follow(self) -> bool:
        """Label the next suggestion of known class; return whether there was one."""
        while (place := next_suggestion(self.tab)) is not None:
            if self.truth[place]:
                self._label(*place)
                return True
            self.n_walked_past += 1
        return False

    def accuracy(self) -> float:
        """Return the share of right pixels among the known pixels without a label."""
        wanted = self._wanted()
        right = (self.tab.map == wanted) & (wanted > 0)
        return float(right[(self.truth > 0) & (self.tab.labels == 0)].mean())

    def _wanted(self) -> np.ndarray:
        """Return the class of each pixel on the page, 0 where unknown or not met yet."""
        ids = np.zeros(self.truth.max() + 1, dtype=int)
        ids[list(self.classes)] = list(self.classes.values())
        return ids[self.truth]

    def _label(self, row: int, column: int) -> None:
        truth_id = int(self.truth[row, column])
        if truth_id not in self.classes:
            self.tab.add_class(f"class {truth_id}")
            self.classes[truth_id] = int(self.tab.js("diffclass.classId"))
        choose_class(self.tab, self.classes[truth_id])
        size = BRUSH if self._is_pure(row, column) else 1
        self.brush = set_brush(self.tab, size, now=self.brush)
        self.tab.click(row, column)
        self.tab.idle()
        self.n_strokes += 1
        labels = self.tab.labels
        assert labels[row, column] > 0
        assert np.array_equal(labels[labels > 0], self._wanted()[labels > 0])

    def _is_pure(self, row: int, column: int) -> bool:
        """Return whether all pixels under the brush are known to be of one class."""
        places = np.array([row, column]) + DISC
        inside = ((places >= 0) & (places < self.truth.shape)).all(axis=1)
        return bool((self.truth[tuple(places[inside].T)] == self.truth[row, column]).all())


def run(task: Task, seed: int) -> dict[str, Any]:
    """Return the row of one session."""
    truth = read_labels(DATA / task.labels).ids.astype(int)
    beginning = time.perf_counter()
    with served(DATA / task.cube, "--features", task.features) as url:
        start = time.perf_counter() - beginning
        with opened(url) as tab:
            user = User(tab, truth)
            beginning = time.perf_counter()
            user.first(np.random.default_rng(seed))
            accuracy = user.accuracy()
            while accuracy < task.goal and user.n_strokes < MOST_STROKES and user.follow():
                accuracy = user.accuracy()
            seconds = time.perf_counter() - beginning
            pixels = int(np.count_nonzero(tab.labels))
    values = (
        task.name, task.features, seed, task.goal, accuracy >= task.goal, user.n_strokes, pixels,
        user.n_walked_past, round(seconds, 1), round(start, 1), round(accuracy, 4),
    )  # fmt: skip
    return dict(zip(COLUMNS, values, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenes", nargs="*", help=f"of {', '.join(TASKS)}; all by default")
    parser.add_argument("--seeds", type=int, default=3, help="how many sessions a scene")
    arguments = parser.parse_args()
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|", flush=True)
    with OUTPUT.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for name in arguments.scenes or list(TASKS):
            for seed in range(arguments.seeds):
                row = run(TASKS[name], seed)
                writer.writerow(row)
                file.flush()
                print("| " + " | ".join(map(str, row.values())) + " |", flush=True)


if __name__ == "__main__":
    main()
