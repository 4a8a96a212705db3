"""A real flight over Potsdam from 18 tiles to one map, for the guide in ``plugins/README.md``.

    python -m experiments.potsdam.tiles [--quick]

EnMAP L2A of 24 July 2022: 18 tiles of 32 x 32 pixels of 30 m, 224 bands, six classes of land cover
without names (folder enmap_potsdam of DIFFCLASS_DATA). They are opened as one mosaic with gaps and
classified from five labels of each class; the others are held out, at random places or in blocks
of the picture at least six pixels from a label. Beside `diffclass` with its default features and
with those by spectral angle stands scikit-learn's SVM (RBF, C = 10) on standardised spectra of the
same pixels. Five draws of the labels; ``--quick`` takes one and writes nothing.

Leaves tiles.csv (means and standard deviations over the draws) and tiles.png (first draw, blocks,
by angle).
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from diffclass.jobs import Holdout
from diffclass.plots import stretch_contrast
from diffclass_hyperspectral import (
    ClassificationRun,
    LabelImage,
    Scene,
    SceneFeatures,
    classify_scene,
    open_tiles,
    read_tile_labels,
)
from diffclass_hyperspectral.jobs.evaluation import hold_out
from experiments.markdown import Row, markdown_table
from experiments.problems import DATA

FOLDER = DATA / "enmap_potsdam"
NAME = "potsdam/tiles.csv"
OUTPUT = Path(__file__).with_name("tiles.csv")
FIGURE = Path(__file__).with_name("tiles.png")
METRICS = {"diffclass": "euclidean", "diffclass, --metric angle": "angle"}
SVM = "SVM, all spectra"
HOLDOUTS = ("random", "blocks")
LABELS_PER_CLASS = 5
SHOWN = (660.0, 560.0, 480.0)  # nm: red, green, blue


def opened() -> tuple[Scene, LabelImage]:
    """Return the mosaic and its labels."""
    tiles = open_tiles(sorted((FOLDER / "images").glob("*.tif")))
    return tiles.scene, read_tile_labels(FOLDER / "labels", tiles)


def classified(
    scene: Scene, labels: LabelImage, metric: str, holdout: str, draw: int
) -> ClassificationRun:
    """Classify from five labels of each class."""
    return classify_scene(
        scene,
        labels,
        features=SceneFeatures(metric=metric),
        holdout=Holdout(holdout, LABELS_PER_CLASS, draw),
    )


def svm_accuracy(scene: Scene, labels: LabelImage, holdout: str, draw: int) -> float:
    """Return the overall accuracy of a support vector machine on the same pixels."""
    split = hold_out(labels.ids, Holdout(holdout, LABELS_PER_CLASS, draw))
    spectra = scene.spectra().reshape(*scene.shape[:2], -1)
    model = make_pipeline(StandardScaler(), SVC(C=10.0))
    model.fit(spectra[split.fit], labels.ids[split.fit])
    return float((model.predict(spectra[split.test]) == labels.ids[split.test]).mean())


def compute(n_draws: int) -> dict[str, Any]:
    """Return accuracies in % by method and holdout, and the run that is drawn."""
    scene, labels = opened()
    accuracies: dict[tuple[str, str], list[float]] = {}
    shown = None
    for holdout in HOLDOUTS:
        for draw in range(n_draws):
            for method, metric in METRICS.items():
                run = classified(scene, labels, metric, holdout, draw)
                facts = run.report.to_dict()["holdout"]
                accuracies.setdefault((method, holdout), []).append(100 * facts["overall_accuracy"])
                if (holdout, draw, metric) == ("blocks", 0, "angle"):
                    shown = run
            found = svm_accuracy(scene, labels, holdout, draw)
            accuracies.setdefault((SVM, holdout), []).append(100 * found)
    return {"scene": scene, "labels": labels, "accuracies": accuracies, "run": shown}


def write(accuracies: dict[tuple[str, str], list[float]]) -> None:
    """Write the table."""
    with OUTPUT.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["method", "holdout", "draws", "mean", "deviation"])
        for (method, holdout), values in accuracies.items():
            spread = np.std(values, ddof=1) if len(values) > 1 else 0.0
            writer.writerow(
                [method, holdout, len(values), f"{np.mean(values):.1f}", f"{spread:.1f}"]
            )


def table(rows: Sequence[Row]) -> list[str]:
    """Return a row per method, a column per holdout."""
    cells = {(row["method"], row["holdout"]): f"{row['mean']} ± {row['deviation']}" for row in rows}
    methods = list(dict.fromkeys(row["method"] for row in rows))
    head = ["five labels per class", "held out at random", "in blocks"]
    return markdown_table(head, [[m, *(cells[m, h] for h in HOLDOUTS)] for m in methods])


def plot(results: dict[str, Any]) -> None:
    """Draw the mosaic, its labels, the map and its margin."""
    scene, labels, run = results["scene"], results["labels"], results["run"]
    valid = scene.valid
    bands = [int(np.abs(scene.wavelengths - centre).argmin()) for centre in SHOWN]
    picture = np.ones((*valid.shape, 3))
    picture[valid] = stretch_contrast(np.asarray(scene.data)[..., bands][valid])
    entries = {entry.id: np.array(entry.color) / 255 for entry in run.result.table}
    colors = ListedColormap([(1.0, 1.0, 1.0), *(entries[i] for i in sorted(entries))])
    figure = Figure(figsize=(9.0, 3.0), layout="constrained")
    axes = figure.subplots(1, 4)
    shown = {"interpolation": "nearest"}
    axes[0].imshow(picture, **shown)
    options = {"cmap": colors, "vmin": 0, "vmax": len(entries), **shown}
    axes[1].imshow(labels.ids, **options)
    axes[2].imshow(run.result.class_map, **options)
    image = axes[3].imshow(run.result.margin, cmap="viridis", vmin=0, vmax=1, **shown)
    figure.colorbar(image, ax=axes[3], shrink=0.7, label="margin")
    titles = ("18 tiles, true colour", "truth of six classes", "map from 30 labels", "margin")
    for panel, title in zip(axes, titles, strict=True):
        panel.set_title(title, fontsize=9)
        panel.set_xticks([])
        panel.set_yticks([])
    figure.savefig(FIGURE, dpi=150)


def main() -> None:
    """Run the comparison and leave table and picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one draw; write nothing")
    quick = parser.parse_args().quick
    results = compute(1 if quick else 5)
    for (method, holdout), values in results["accuracies"].items():
        print(f"{method}, {holdout}: {np.mean(values):.1f}")
    if not quick:
        write(results["accuracies"])
        plot(results)


if __name__ == "__main__":
    main()
