"""A newcomer's first session: from the command to an exported map of Salinas-A above 99 %.

    python -m experiments.relabel.first_ten_minutes [--goal 0.99]

``diffclass relabel`` in a folder with the scene, its page in Chromium, in which it was never opened
before: the scene is chosen on the start page and the first steps are skipped. The user knows the
fields, adds each class, names it and paints a stroke in its largest field, and mends the largest
wrong piece as in `experiments.relabel.keys_and_clicks` while the map is not good enough. The map is
exported, and read from the downloaded file. A press of the button, a drag, a key, and a name that
is typed with its Enter are one action each. The seconds, from the start of the command, are the
program's alone: the user takes no time. One line for each part goes to first_ten_minutes.csv.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

from diffclass_hyperspectral import read_labels
from experiments.markdown import write_rows
from experiments.relabel.driver.browser import PREPARED, Tab, chromium
from experiments.relabel.keys_and_clicks import LABELS, SCENE, User
from experiments.relabel.page import choosing
from experiments.relabel.screenshots import lines

OUTPUT = Path(__file__).with_suffix(".csv")
MOST = 60  # actions
NAMES = (
    "broccoli",
    "corn senesced",
    "romaine 4 weeks",
    "romaine 5 weeks",
    "romaine 6 weeks",
    "romaine 7 weeks",
)


class StartTab(Tab):
    """A tab that begins on the start page."""

    def open(self, url: str):
        self.page = self.context.new_page()
        self.page.goto(url)
        return self.page


class Newcomer(User):
    """Someone who also names classes, chooses the scene and exports the map."""

    n_others = 0

    @property
    def n_actions(self) -> int:
        return self.n_keys + self.n_clicks + self.n_others

    def begin(self) -> None:
        """Choose the scene and skip the first steps."""
        self.tab.page.get_by_role("button", name=SCENE.name).click()
        self.tab.wait("window.diffclass?.connection === 'open' && diffclass.state", PREPARED)
        self.tab.find(".tour button:has-text('Skip')").click()
        self.n_clicks += 2

    def add_named(self, name: str) -> None:
        self.tab.add_class(name)
        self.n_clicks += 1
        self.n_others += 1  # the name

    def export(self, file: Path) -> None:
        """Save the map as the browser does."""
        self.tab.find("button:has-text('Export')").click()
        with self.tab.page.expect_download() as saved:
            self.tab.find("[title='Map as GeoTIFF (.tif)']").click()
        saved.value.save_as(file)
        self.n_clicks += 2


def compute(goal: float) -> list[dict[str, object]]:
    """Return the actions, seconds and accuracy after each part."""
    from playwright.sync_api import sync_playwright

    ids = read_labels(LABELS).ids
    truth = np.searchsorted(np.unique(ids), ids)  # 0, 1, 2, ...
    rows: list[dict[str, object]] = []
    start = time.perf_counter()

    def note(part: str, actions: int, accuracy: float | None = None) -> None:
        shown = "" if accuracy is None else f"{accuracy:.4f}"
        seconds = f"{time.perf_counter() - start:.1f}"
        rows.append({"part": part, "actions": actions, "seconds": seconds, "accuracy": shown})
        print(rows[-1], flush=True)

    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder, recent = Path(name) / "scenes", Path(name) / "state"
        folder.mkdir()
        shutil.copy(SCENE, folder)
        with choosing(folder, recent=recent) as url:
            browser = chromium(playwright)
            user = Newcomer(StartTab(browser, url, tour=True), truth)
            note("start page", user.n_actions)
            user.begin()
            note("scene open", user.n_actions)
            for class_id, class_name in enumerate(NAMES, 1):
                user.add_named(class_name)
                user.stroke(next(lines(truth == class_id, 1)))
            note("a stroke in each class", user.n_actions, user.accuracy())
            while user.accuracy() < goal and user.n_actions + 4 <= MOST:
                class_id, ends = user.worst()
                user.choose(class_id)
                user.stroke(ends)
            used = (truth > 0) & (user.tab.labels == 0)
            file = Path(name) / "map.tif"
            user.export(file)
            exported = read_labels(file).ids
            note("map exported", user.n_actions, float((exported == truth)[used].mean()))
            user.tab.close()
            browser.close()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--goal", type=float, default=0.99)
    goal = parser.parse_args().goal
    rows = compute(goal)
    write_rows(OUTPUT, rows)
    found = float(str(rows[-1]["accuracy"]))
    verdict = "reached" if found >= goal else "not reached"
    print(f"{goal:.0%} {verdict}: {found:.2%} after {rows[-1]['actions']} actions")


if __name__ == "__main__":
    main()
