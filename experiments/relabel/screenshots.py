"""Pictures of the page's main states, for the README.

    python -m experiments.relabel.screenshots [light painting why dark audit rows]

The page runs in Chromium at 1280 x 720; strokes are drawn by mouse along the longest straight line
inside a field of the class, which is taken from the truth. Written beside this script:

light.png      8-bit Indian Pines with spatial features: map over the picture, strokes, suggestions
painting.png   a stroke being drawn: the map as outlines, the brush under the pointer
why.png        the strokes that decide the class of a pixel
dark.png       the embedded tissue scene, dark
audit.png      the tissue with one stroke of the wrong class, which heads the list of labels that
               the others contradict; with so few strokes many right labels are also on it
rows.png       digits, drawn by their graph, after 14 answers to suggestions

Indian Pines has 200 of 220 bands; they are put back at their indices, with the sensor's band
centres (92AV3C.spc), and the other 20 are marked as bad.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import spectral.io.envi as envi
from PIL import Image
from scipy import ndimage
from scipy.io import loadmat
from sklearn.datasets import load_digits

from diffclass.datasets import make_tissue_scene
from diffclass_hyperspectral import read_labels
from experiments.problems import DATA
from experiments.relabel.driver.browser import Tab
from experiments.relabel.driver.rows import answered
from experiments.relabel.page import (
    FIRST_SIZE,
    choose_class,
    next_suggestion,
    opened,
    served,
    set_brush,
)

OUTPUT = Path(__file__).parent
TISSUE = ("nuclei", "cytoplasm", "stroma")
PINES = (
    "alfalfa", "corn, no till", "corn, min till", "corn", "grass, pasture", "grass, trees",
    "mown pasture", "hay, windrowed", "oats", "soy, no till", "soy, min till", "soy, clean",
    "wheat", "woods", "buildings, trees", "stone, steel",
)  # fmt: skip
PINES_TRUTH = DATA / "indian_pines" / "Indian_pines_gt.mat"
LOST_BANDS = (*range(103, 108), *range(149, 163), 219)  # of 220, counted from 0
STEPS = ((0, 1), (1, 1), (1, 0), (1, -1))
SMALL = 50  # pixels of a class below which its stroke is one pixel wide
LONGEST = 12  # of a stroke, pixels either way
TWICE = (2, 11, 12)  # classes of Indian Pines that get a second stroke
N_ANSWERS = 14  # to suggested digits
SETTLED = 120_000  # ms that the choice of the time may take
Place = tuple[int, int]


def lines(member: np.ndarray, count: int) -> Iterator[tuple[Place, Place]]:
    """Yield straight lines inside the largest pieces of a class, one in each."""
    pieces, n_pieces = ndimage.label(member)
    sizes = ndimage.sum(member, pieces, np.arange(1, n_pieces + 1))
    for piece in 1 + np.argsort(-sizes, kind="stable")[:count]:
        inner = np.pad(pieces == piece, 1)
        depth = ndimage.distance_transform_edt(inner)[1:-1, 1:-1]
        middle = np.unravel_index(depth.argmax(), depth.shape)
        room = depth > min(2.0, depth.max() - 0.5)
        ends = [_ends(room, (int(middle[0]), int(middle[1])), step) for step in STEPS]
        yield max(ends, key=lambda pair: max(abs(np.subtract(*pair))))


def _ends(room: np.ndarray, middle: Place, step: Place) -> tuple[Place, Place]:
    """Return how far one can go from a pixel either way without leaving the room."""
    ends = []
    for sign in (1, -1):
        place = middle
        for _ in range(LONGEST):
            ahead = place[0] + sign * step[0], place[1] + sign * step[1]
            inside = 0 <= ahead[0] < room.shape[0] and 0 <= ahead[1] < room.shape[1]
            if not (inside and room[ahead]):
                break
            place = ahead
        ends.append(place)
    return ends[0], ends[1]


def paint(tab: Tab, names: tuple[str, ...], truth: np.ndarray, counts: list[int]) -> None:
    """Add the classes and paint so many strokes of each."""
    for class_id, (name, count) in enumerate(zip(names, counts, strict=True), start=1):
        tab.add_class(name)
        choose_class(tab, class_id)
        member = truth == class_id
        size = set_brush(tab, 1 if member.sum() < SMALL else FIRST_SIZE, now=FIRST_SIZE)
        for ends in lines(member, count):
            tab.stroke(*ends)
            tab.idle()
        set_brush(tab, FIRST_SIZE, now=size)


def shoot(tab: Tab, name: str) -> None:
    """Write the page, nothing in focus, once time is chosen, curve and spectrum are drawn."""
    tab.js("document.activeElement.blur()")
    tab.wait("diffclass.state.refined && !diffclass.state.stale", SETTLED)
    tab.page.wait_for_timeout(3000)
    file = OUTPUT / f"{name}.png"
    tab.wait("document.querySelector('.tau-track .line')", patience=60_000)
    tab.page.screenshot(path=file)
    print(file, flush=True)


# --- scenes


@contextmanager
def pines_scene() -> Iterator[Path]:
    """Write Indian Pines to a folder that is thrown away; yields its header's path."""
    cube = loadmat(DATA / "indian_pines" / "IP_200_M.mat")["data_M"]
    centers = np.loadtxt(DATA / "indian_pines" / "92AV3C.spc", skiprows=2, usecols=0)
    is_good = ~np.isin(np.arange(len(centers)), LOST_BANDS)
    whole = np.zeros((*cube.shape[:2], len(centers)), dtype=cube.dtype)
    whole[..., is_good] = cube
    with written("indian_pines", whole, centers, is_good) as scene:
        yield scene


@contextmanager
def pines(*more: str, **options: Any) -> Iterator[Tab]:
    """Open the page on Indian Pines with a map; more options of the command may be given."""
    truth = read_labels(PINES_TRUTH).ids
    counts = [1 + (class_id in TWICE) for class_id in range(1, 17)]
    with (
        pines_scene() as scene,
        served(scene, "--features", "spatial", *more) as url,
        opened(url, **options) as tab,
    ):
        paint(tab, PINES, truth, counts)
        yield tab


@contextmanager
def tissue(**options: Any) -> Iterator[tuple[Tab, np.ndarray]]:
    """Open the page on the embedded scene with a map; yields also the truth."""
    made = make_tissue_scene(random_state=0)
    is_good = np.ones(len(made.wavelengths), dtype=bool)
    with (
        written("tissue", made.cube, made.wavelengths, is_good) as scene,
        served(scene) as url,
        opened(url, **options) as tab,
    ):
        paint(tab, TISSUE, made.truth, [3, 2, 2])
        yield tab, made.truth


@contextmanager
def written(
    name: str, cube: np.ndarray, centers: np.ndarray, is_good: np.ndarray
) -> Iterator[Path]:
    """Write a scene to a folder that is thrown away; yields its header's path."""
    metadata = {
        "wavelength": [f"{center:.2f}" for center in centers],
        "wavelength units": "Nanometers",
        "bbl": is_good.astype(int).tolist(),
    }
    with tempfile.TemporaryDirectory() as folder:
        header = Path(folder) / f"{name}.hdr"
        envi.save_image(str(header), cube, dtype=cube.dtype, interleave="bip", metadata=metadata)
        yield header


@contextmanager
def digits(**options: Any) -> Iterator[tuple[Tab, np.ndarray]]:
    """Open the page on a table of digits with their pictures; yields also the truth."""
    found = load_digits()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "digits.npy", found.data.astype(np.float32))
        (folder / "images").mkdir()
        for row, values in enumerate(found.images):
            small = Image.fromarray((255 - 15.9 * values).astype(np.uint8))
            small.resize((64, 64), Image.Resampling.BICUBIC).save(folder / f"images/{row}.png")
        with (
            served(folder / "digits.npy", "--images", str(folder / "images")) as url,
            opened(url, **options) as tab,
        ):
            yield tab, found.target


# --- pictures


def light() -> None:
    with pines() as tab:
        choose_class(tab, 2)
        next_suggestion(tab)
        next_suggestion(tab)
        tab.move(60, 62)
        shoot(tab, "light")


def painting() -> None:
    with pines() as tab:
        choose_class(tab, 14)
        set_brush(tab, 5, now=FIRST_SIZE)
        tab.press((100, 103), (108, 110), (116, 106), (122, 96))
        shoot(tab, "painting")
        tab.release()
        tab.idle()


def why() -> None:
    with pines() as tab:
        choose_class(tab, 11)
        tab.move(60, 62)
        tab.key("w")
        shoot(tab, "why")


def dark() -> None:
    with tissue(color_scheme="dark", device_scale_factor=2) as (tab, _):
        choose_class(tab, 1)
        next_suggestion(tab)
        next_suggestion(tab)
        tab.move(60, 60)
        shoot(tab, "dark")


def audit() -> None:
    with tissue() as (tab, truth):
        choose_class(tab, 1)
        *_, ends = lines(truth == 2, 3)
        tab.stroke(*ends)
        tab.idle()
        tab.find("[data-tab=Audit]").click()
        tab.find("text=Check labels").click()
        tab.find("[role=tabpanel] .item:visible").first.click()  # other panels have items too
        tab.move(*ends[1])
        shoot(tab, "audit")


def rows() -> None:
    with digits() as (tab, truth):
        known: list[str] = []
        tab.key("q")
        for _ in range(N_ANSWERS):
            answered(tab, truth, known)
        tab.idle()
        tab.wait("document.activeElement?.matches('.row-card:not(.answered)')")
        tab.page.wait_for_timeout(1000)
        file = OUTPUT / "rows.png"
        tab.page.screenshot(path=file)
        print(file, flush=True)


PICTURES: dict[str, Callable[[], None]] = {
    "light": light,
    "painting": painting,
    "why": why,
    "dark": dark,
    "audit": audit,
    "rows": rows,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pictures", nargs="*", help=f"of {', '.join(PICTURES)}; all by default")
    for name in parser.parse_args().pictures or list(PICTURES):
        PICTURES[name]()


if __name__ == "__main__":
    main()
