"""Time from the release of a stroke to its map on the screen, and the server's part of it.

    python -m experiments.relabel.latency [--strokes 40] [--deep 200] [--alone | --audit]
    python -m experiments.relabel.latency --size 1000 1000 [--strokes 12]

Synthetic scenes of 145 x 145, 512 x 217 and 1,000 x 1,000 pixels, or of one size, 100 bands and 16
classes (`fields` of experiments.scaling.million, cut to size) are written to a temporary folder.
The server has its own process, the page runs in Chromium at 1280 x 720, with spectral features,
live map and all other defaults. One stroke in each class and 200 more come first and are not timed.
Then 40 strokes are drawn by mouse, 3 x 10 pixels each, at seeded random places, while a second tab
asks for suggestions (unless ``--alone``), and with ``--audit`` for an audit too, whenever the last
one is done. Their classes alternate and are not those of the fields:
the map is useless, its time is the same. The page's latency is the one that it shows, from the
release of the button to the new map of what is in view on the canvas, at four screen pixels a
pixel; "whole" is the same with the whole scene in view. The server's is the engine's time for that
map. On a busy machine only the processor's time tells: that of the server from one stroke to the
next, with suggestions and all else that it does meanwhile.

Medians and 90th percentiles go to standard output and, without options, to latency.csv, with the
seconds until the address was printed and until the page could be painted on, and two peaks of the
server's memory: with the pages of files that it has mapped and read, such as the scene and its
libraries, and its own alone, which the system cannot take back.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from experiments.datasets import make_hyperspectral_scene
from experiments.markdown import write_rows
from experiments.relabel.driver.browser import Tab
from experiments.relabel.page import Served, choose_class, opened, serving
from experiments.scaling.million import N_BANDS, N_CLASSES, fields

SHAPES = ((145, 145), (512, 217), (1000, 1000))
OUTPUT = Path(__file__).with_name("latency.csv")
LENGTH = 10  # of a stroke, pixels; the brush is three wide
Shape = tuple[int, int]
# the audit's button, in a panel that is not shown, unless an audit runs
_CHECK = """() => [...document.querySelectorAll("button")]
    .find(button => button.textContent === "Check labels" && !button.disabled)?.click()"""


def place(shape: Shape, random: np.random.Generator) -> Shape:
    """Return where a stroke begins."""
    return int(random.integers(1, shape[0] - 1)), int(random.integers(1, shape[1] - LENGTH))


def draw(tab: Tab, class_id: int, shape: Shape, random: np.random.Generator) -> int:
    """Bring a random place into view, draw a stroke and wait for its map; return its pixels."""
    row, column = place(shape, random)
    tab.js("place => diffclass.view.show(place)", {"row": row, "column": column + LENGTH // 2})
    return draw_at(tab, class_id, row, column)


def draw_at(tab: Tab, class_id: int, row: int, column: int) -> int:
    """Draw a stroke and wait for its map; return its number of pixels."""
    choose_class(tab, class_id)
    tab.stroke((row, column), (row, column + LENGTH - 3))
    tab.idle()
    return int(tab.js("diffclass.state.strokes.at(-1).count"))


def paint_before(tab: Tab, shape: Shape, n_strokes: int, random: np.random.Generator) -> None:
    """Add the classes, a stroke in each, and more strokes without waiting for their maps."""
    for class_id in range(1, N_CLASSES + 1):
        tab.add_class(f"class {class_id}")
        draw(tab, class_id, shape, random)
    for number in range(n_strokes):
        row, column = place(shape, random)
        runs = [k for r in (-1, 0, 1) for k in ((row + r) * shape[1] + column, LENGTH)]
        tab.js(
            "operation => { diffclass.apply(operation) }",
            {"op": "stroke", "class": 1 + number % N_CLASSES, "pixels": runs},
        )
    tab.idle()


@contextmanager
def prepared(shape: Shape) -> Iterator[tuple[Served, Tab, dict[str, float], list[int]]]:
    """Serve a scene of a shape and open its page.

    Also yield the seconds that it took, and the memory that the server has had; see
    `Served.own_bytes`.
    """
    with tempfile.TemporaryDirectory() as folder:
        scene = Path(folder) / "scene.npy"
        truth = fields(max(shape))[: shape[0], : shape[1]]
        np.save(scene, make_hyperspectral_scene(truth, n_bands=N_BANDS))
        start = time.perf_counter()
        with serving(scene) as served, served.own_bytes() as own_bytes:
            seconds = {"address_s": time.perf_counter() - start}
            with opened(served.url) as tab:
                tab.idle()
                seconds["prepared_s"] = time.perf_counter() - start
                yield served, tab, seconds, own_bytes


def compute(
    shape: Shape, n_strokes: int, deep: int, *, alone: bool, audit: bool
) -> dict[str, object]:
    """Return a row of the table."""
    random = np.random.default_rng(0)
    names = ("page", "whole", "server", "server_cpu", "pixels")
    found: dict[str, list[float]] = {name: [] for name in names}
    with prepared(shape) as (served, tab, seconds, own_bytes):
        paint_before(tab, shape, deep, random)
        other = None if alone else tab.open(tab.url)
        for number in range(n_strokes):
            before = served.processor_seconds()
            if other is not None:
                other.keyboard.press("n")
                if audit:
                    other.evaluate(_CHECK)
            tab.page = tab.context.pages[0]
            tab.page.bring_to_front()
            found["pixels"].append(draw(tab, 1 + number % N_CLASSES, shape, random))
            found["page"].append(tab.js("diffclass.lastLatency"))
            found["server"].append(tab.js("diffclass.lastComputing"))
            found["server_cpu"].append(1000 * (served.processor_seconds() - before))
        tab.key("h")
        for number in range(n_strokes):
            draw_at(tab, 1 + number % N_CLASSES, *place(shape, random))
            found["whole"].append(tab.js("diffclass.lastLatency"))
        peak, own = served.peak_bytes() / 2**30, max(own_bytes) / 2**30
    quantiles = {
        f"{name}_{word}": f"{np.quantile(found[name], share):.0f}"
        for name in ("page", "server", "whole", "server_cpu")
        for word, share in (("median", 0.5), ("90", 0.9))
    }
    return {
        "rows": shape[0],
        "columns": shape[1],
        "pixels": f"{np.median(found['pixels']):.0f}",
        **quantiles,
        **{name: f"{value:.2g}" for name, value in seconds.items()},
        "peak_memory_gib": f"{peak:.2f}",
        "own_memory_gib": f"{own:.2f}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strokes", type=int, default=40)
    parser.add_argument("--deep", type=int, default=200, help="strokes before those timed")
    parser.add_argument("--alone", action="store_true", help="ask for no suggestions meanwhile")
    parser.add_argument("--audit", action="store_true", help="ask for audits too")
    parser.add_argument("--size", type=int, nargs=2, metavar=("ROWS", "COLUMNS"))
    arguments = parser.parse_args()
    rows = []
    for shape in SHAPES if arguments.size is None else [tuple(arguments.size)]:
        how = {"n_strokes": arguments.strokes, "deep": arguments.deep}
        how |= {"alone": arguments.alone, "audit": arguments.audit}
        rows.append(compute(shape, **how))
        print(", ".join(f"{name} {value}" for name, value in rows[-1].items()), flush=True)
        print(f"load average {os.getloadavg()[0]:.1f}", flush=True)
    if arguments.size is None and not (arguments.alone or arguments.audit):
        write_rows(OUTPUT, rows)


if __name__ == "__main__":
    main()
