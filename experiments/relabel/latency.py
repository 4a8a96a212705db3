"""Time from the release of a stroke to its map on the screen, and the server's part of it.

    python -m experiments.relabel.latency [--strokes 40]

Synthetic scenes of 145 x 145, 512 x 217 and 1,000 x 1,000 pixels, 100 bands and 16 classes
(`fields` of experiments.scaling.million, cut to size) are written to a temporary folder. The server
has its own process, the page runs in Chromium at 1280 x 720, with spectral features, live map and
all other defaults. One stroke in each class comes first and is not timed. Then 40 strokes are drawn
by mouse, 3 x 10 pixels each, at seeded random places. Their classes alternate and are not those of
the fields: the map is useless, its time is the same. The page's latency is the one that it shows,
from the release of the button to the new map on the canvas. The server's is the engine's time for
that map. Medians and 90th percentiles go to standard output and to latency.csv.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np

from diffclass.datasets import make_hyperspectral_scene
from experiments.markdown import write_rows
from experiments.relabel.page import choose_class, opened, served
from experiments.scaling.million import N_BANDS, N_CLASSES, fields
from tests.relabel.browser import Tab

SHAPES = ((145, 145), (512, 217), (1000, 1000))
OUTPUT = Path(__file__).with_name("latency.csv")
LENGTH = 10  # of a stroke, pixels; the brush is three wide


def draw(tab: Tab, class_id: int, shape: tuple[int, int], random: np.random.Generator) -> int:
    """Draw a stroke at a random place and wait for its map; return its number of pixels."""
    row = int(random.integers(1, shape[0] - 1))
    column = int(random.integers(1, shape[1] - LENGTH))
    tab.js("place => diffclass.view.show(place)", {"row": row, "column": column + LENGTH // 2})
    choose_class(tab, class_id)
    tab.stroke((row, column), (row, column + LENGTH - 3))
    tab.idle()
    return int(tab.js("diffclass.state.strokes.at(-1).count"))


def compute(shape: tuple[int, int], n_strokes: int) -> dict[str, np.ndarray]:
    """Return milliseconds on the page and on the server, and pixels, of each stroke."""
    random = np.random.default_rng(0)
    found: dict[str, list[float]] = {"page": [], "server": [], "pixels": []}
    with tempfile.TemporaryDirectory() as folder:
        scene = Path(folder) / "scene.npy"
        truth = fields(max(shape))[: shape[0], : shape[1]]
        np.save(scene, make_hyperspectral_scene(truth, n_bands=N_BANDS))
        with served(scene) as url, opened(url) as tab:
            for class_id in range(1, N_CLASSES + 1):
                tab.add_class(f"class {class_id}")
                draw(tab, class_id, shape, random)
            for number in range(n_strokes):
                found["pixels"].append(draw(tab, 1 + number % N_CLASSES, shape, random))
                found["page"].append(tab.js("diffclass.lastLatency"))
                found["server"].append(tab.js("diffclass.state.ms"))
    return {name: np.array(values) for name, values in found.items()}


def csv_row(shape: tuple[int, int], found: dict[str, np.ndarray]) -> dict[str, object]:
    quantiles = {
        f"{name}_{word}": f"{np.quantile(found[name], share):.0f}"
        for name in ("page", "server")
        for word, share in (("median", 0.5), ("90", 0.9))
    }
    pixels = f"{np.median(found['pixels']):.0f}"
    return {"rows": shape[0], "columns": shape[1], "pixels": pixels, **quantiles}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strokes", type=int, default=40)
    arguments = parser.parse_args()
    rows = []
    for shape in SHAPES:
        rows.append(csv_row(shape, compute(shape, arguments.strokes)))
        print(", ".join(f"{name} {value}" for name, value in rows[-1].items()), flush=True)
    write_rows(OUTPUT, rows)


if __name__ == "__main__":
    main()
