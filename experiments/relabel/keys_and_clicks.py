"""From nothing to 98 % on Salinas-A by keys and clicks, each counted, through the real page.

    python -m experiments.relabel.keys_and_clicks [--goal 0.98]

The server has its own process, the page runs in Chromium. The user knows the fields: one click adds
a class (its name stays as it is), one drag paints a stroke along the longest straight line inside
the largest field of the class, with the brush as it is at first. Then the user looks for the
largest field, or piece of one, that has a wrong class on the map, presses the class's digit and
drags a stroke there, until the goal is reached. Each key and each press of the button is one, a
drag included.

The accuracy is that of the map on the page on all pixels of known class that have no label. There
are no other acts and no changes of settings. Each stroke gives one line on standard output and in
keys_and_clicks.csv.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np
from scipy import ndimage

from diffclass_hyperspectral import read_labels
from experiments.problems import DATA
from experiments.relabel.driver.browser import Tab
from experiments.relabel.page import opened, served
from experiments.relabel.screenshots import Place, lines

OUTPUT = Path(__file__).with_name("keys_and_clicks.csv")
MOST = 40  # keys and clicks
SCENE = DATA / "salinas_a" / "SalinasA_corrected.mat"
LABELS = DATA / "salinas_a" / "SalinasA_gt.mat"


class User:
    """Someone who knows the fields and counts what they press.

    Parameters
    ----------
    tab : Tab
    truth : ndarray of int of shape (rows, columns)
        Classes 1, 2, ...; 0 where the user does not know.
    """

    def __init__(self, tab: Tab, truth: np.ndarray):
        self.tab, self.truth = tab, truth
        self.n_keys = self.n_clicks = 0
        self.rows: list[tuple[int, int, float]] = []

    def add_class(self) -> None:
        """Click the plus sign; the class is the one that is painted from now on."""
        before = self.tab.js("diffclass.state.classes.length")
        self.tab.find("[aria-label='Add a class']").click()
        self.n_clicks += 1
        self.tab.wait(f"diffclass.classId === {before + 1}")

    def choose(self, class_id: int) -> None:
        """Press the digit of a class."""
        self.tab.key(str(class_id))
        self.n_keys += 1

    def stroke(self, ends: tuple[Place, Place]) -> None:
        """Drag from one pixel to another and wait for the map with its time chosen."""
        self.tab.stroke(*ends)
        self.n_clicks += 1
        self.tab.idle()
        self.tab.wait("diffclass.state.refined && !diffclass.state.stale", 120_000)
        self.tab.idle()
        row = self.n_keys, self.n_clicks, round(self.accuracy(), 4)
        self.rows.append(row)
        print("{} keys, {} clicks: {:.2%}".format(*row), flush=True)

    def accuracy(self) -> float:
        """Return the share of right pixels among the known pixels without a label."""
        used = (self.truth > 0) & (self.tab.labels == 0)
        return float((self.tab.map == self.truth)[used].mean())

    def worst(self) -> tuple[int, tuple[Place, Place]]:
        """Return the class of the largest wrong piece, and a line inside it."""
        wrong = (self.tab.map != self.truth) & (self.truth > 0)
        sizes = {}
        for class_id in np.unique(self.truth[wrong]).tolist():
            pieces, _ = ndimage.label(wrong & (self.truth == class_id))
            sizes[class_id] = np.bincount(pieces.ravel())[1:].max()
        class_id = max(sizes, key=lambda i: sizes[i])
        return class_id, next(lines(wrong & (self.truth == class_id), 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--goal", type=float, default=0.98)
    goal = parser.parse_args().goal
    ids = read_labels(LABELS).ids
    truth = np.searchsorted(np.unique(ids), ids)  # 0, 1, 2, ...
    with served(SCENE) as url, opened(url) as tab:
        user = User(tab, truth)
        for class_id in range(1, truth.max() + 1):
            user.add_class()
            user.stroke(next(lines(truth == class_id, 1)))
        while user.accuracy() < goal and user.n_keys + user.n_clicks + 2 <= MOST:
            class_id, ends = user.worst()
            user.choose(class_id)
            user.stroke(ends)
        found = user.accuracy()
    with OUTPUT.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([("keys", "clicks", "accuracy"), *user.rows])
    number = user.n_keys + user.n_clicks
    verdict = "reached" if found >= goal else "not reached"
    print(f"{goal:.0%} {verdict}: {found:.2%} by {number} keys and clicks")


if __name__ == "__main__":
    main()
