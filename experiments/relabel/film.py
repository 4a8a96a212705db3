"""A film of two minutes: the tissue scene from no label to a map that was checked, for the site.

    python -m experiments.relabel.film

The page runs in Chromium, as for the pictures (`experiments.relabel.screenshots`). Each state of
it is shown as long as its line takes to read. Written beside this script: film.webp.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

import numpy as np
from matplotlib import font_manager
from PIL import Image, ImageDraw, ImageFont

from diffclass.datasets import make_tissue_scene
from experiments.relabel.driver.browser import Tab
from experiments.relabel.page import choose_class, next_suggestion, opened, served
from experiments.relabel.screenshots import TISSUE, Place, lines, written

FILM = Path(__file__).parent / "film.webp"
SIZE = (1024, 576)  # of the page in the film, pixels
LINE = 44  # height of the line below it
QUALITY = 55  # of WebP, of 100
SECONDS = 120


@dataclass
class Film:
    """States of the page, each with its line and how long it is shown, by weight."""

    tab: Tab
    frames: list[Image.Image] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)

    def show(self, line: str, weight: float = 1.0) -> None:
        """Take the page as it is."""
        page = Image.open(BytesIO(self.tab.page.screenshot())).convert("RGB")
        frame = Image.new("RGB", (SIZE[0], SIZE[1] + LINE), "#16191d")
        frame.paste(page.resize(SIZE, Image.Resampling.LANCZOS))
        font = ImageFont.truetype(font_manager.findfont("DejaVu Sans"), 19)
        ImageDraw.Draw(frame).text((16, SIZE[1] + 10), line, "#e8eaee", font)
        self.frames.append(frame)
        self.weights.append(weight)

    def write(self, path: Path) -> None:
        """Write the film, whose states share its seconds by their weights."""
        each = 1000 * SECONDS / sum(self.weights)
        first, *others = self.frames
        first.save(
            path, save_all=True, append_images=others, loop=0, quality=QUALITY, method=6,
            duration=[round(each * weight) for weight in self.weights],
        )  # fmt: skip


def stroke(film: Film, ends: tuple[Place, Place], line: str) -> None:
    """Draw a stroke, shown while it is drawn and once the map is there."""
    begin, end = ends
    middle = tuple((a + b) // 2 for a, b in zip(begin, end, strict=True))
    film.tab.press(begin, middle)
    film.show(line, 0.25)
    film.tab.move(*end)
    film.show(line, 0.25)
    film.tab.release()
    film.tab.idle()
    film.tab.page.wait_for_timeout(500)
    film.show(line)


def session(film: Film) -> None:
    """Label the tissue, look where the map is unsure, ask why, and find a wrong stroke."""
    tab, truth = film.tab, make_tissue_scene(random_state=0).truth
    film.show("A scene, no labels. The picture is in its own colours.")
    for class_id, name in enumerate(TISSUE, start=1):
        tab.add_class(name)
        choose_class(tab, class_id)
        film.show(f"A class for what is to be found: {name}.", 0.6)
        stroke(film, next(lines(truth == class_id, 1)), f"A stroke inside {name}.")
    tab.page.wait_for_timeout(2000)
    film.show("From two classes on there is a map of all pixels, anew after each stroke.", 1.4)
    for class_id, name in enumerate(TISSUE, start=1):
        choose_class(tab, class_id)
        *_, ends = lines(truth == class_id, 2)
        stroke(film, ends, f"Another stroke of {name}: the borders move.")
    for _ in range(2):
        next_suggestion(tab)
        tab.page.wait_for_timeout(700)
        film.show("n goes to the pixel whose label would help most.")
    tab.move(60, 60)
    tab.key("w")
    tab.page.wait_for_timeout(1500)
    film.show("w says why: the strokes that decide the class of the pixel below the pointer.", 1.4)
    choose_class(tab, 1)
    *_, ends = lines(truth == 2, 3)
    stroke(film, ends, "A mistake: a stroke of nuclei in the cytoplasm.")
    tab.find("[data-tab=Audit]").click()
    tab.find("text=Check labels").click()
    tab.find("[role=tabpanel] .item:visible").first.click()
    tab.page.wait_for_timeout(1000)
    film.show("Audit lists strokes that the others contradict; the wrong one heads the list.", 1.4)
    tab.page.get_by_role("button", name="Undo").click()
    tab.idle()
    tab.page.wait_for_timeout(2000)
    film.show("Undo takes it back. The session's file has it all, and replay makes the map.", 1.4)


def main() -> None:
    made = make_tissue_scene(random_state=0)
    is_good = np.ones(len(made.wavelengths), dtype=bool)
    with (
        written("tissue", made.cube, made.wavelengths, is_good) as scene,
        served(scene) as url,
        opened(url) as tab,
    ):
        film = Film(tab)
        session(film)
    film.write(FILM)
    print(f"{FILM}: {FILM.stat().st_size:,} bytes, {len(film.frames)} states")


if __name__ == "__main__":
    main()
