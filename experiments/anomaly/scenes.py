"""Anomaly detectors on five real scenes with known anomalies, and on made ones.

    python -m experiments.anomaly.scenes [--choosing | --made | --figure] [--quick]

The area under the ROC curve of each detector; `experiments.anomaly` says which scenes choose the
defaults (with ``--choosing`` no other is opened) and which only report. Local RX is `spectral`'s,
its means and covariances from the pixels between a window of 11 and one of 25 pixels, the better of
two choices on the scenes that choose (the other, 5 and 21, has 0.814 and 0.912 there), and again on
the 30 leading principal components. Isolation forests are scikit-learn's, the mean of five seeds.

Made scenes: four Gaussians of smooth spectra in 50 bands, 60 x 60 pixels; 20 pixels at random
places are replaced by a mixture of themselves and of one strange spectrum, whose share is the
fraction, before all pixels get their noise; ten draws.

Leaves scenes.csv, made.csv and scenes.png (of isolation forests the first, of local RX the
better). ``--made`` opens no real scene, ``--figure`` makes the picture alone, ``--quick`` writes
nothing and leaves local RX out, which takes two minutes per scene.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import spectral
from scipy.ndimage import gaussian_filter, gaussian_filter1d
from scipy.spatial import cKDTree
from sklearn.ensemble import IsolationForest

from diffclass.anomaly import DiffusionAnomaly
from diffclass.evaluation import DetectionCurve, detection_curve
from diffclass.neighbors import PartialWhitening
from diffclass.plots import DetectionDisplay, new_figure
from diffclass_hyperspectral import Scene, open_scene, read_labels, scene_anomalies
from experiments.anomaly import CHOOSING, REPORTING
from experiments.markdown import Row, markdown_table, write_rows
from experiments.problems import DATA

OUTPUT = Path(__file__).with_name("scenes.csv")
MADE = Path(__file__).with_name("made.csv")
FIGURE = Path(__file__).with_name("scenes.png")
WINDOW = (11, 25)
DRAWN = ("diffusion", "RX", "local RX of components", "isolation forest")
FRACTIONS = (1.0, 0.5, 0.25)

Detector = Callable[[Scene], np.ndarray]


def diffusion(**parameters: object) -> Detector:
    """Return the detector of `diffclass anomaly`, with other parameters."""
    model = DiffusionAnomaly(random_state=0, **parameters)  # type: ignore[arg-type]
    return lambda scene: scene_anomalies(scene, model=model).scores


def nearest(scene: Scene) -> np.ndarray:
    """Distance to the seventh neighbour in the same components: density without diffusion."""
    points = PartialWhitening(30, random_state=0).fit_transform(scene.spectra())
    return cKDTree(points).query(points, k=[8])[0].reshape(scene.shape[:2])


def local_rx(scene: Scene) -> np.ndarray:
    return spectral.rx(scene.spectra().reshape(*scene.shape[:2], -1).astype(float), window=WINDOW)


def local_rx_of_components(scene: Scene) -> np.ndarray:
    points = PartialWhitening(30, random_state=0).fit_transform(scene.spectra())
    return spectral.rx(points.reshape(*scene.shape[:2], -1).astype(float), window=WINDOW)


def forests(scene: Scene) -> list[np.ndarray]:
    spectra = scene.spectra()
    found = [IsolationForest(random_state=s).fit(spectra) for s in range(5)]
    return [-forest.score_samples(spectra).reshape(scene.shape[:2]) for forest in found]


FAST: dict[str, Callable[[Scene], np.ndarray | list[np.ndarray]]] = {
    "diffusion": diffusion(),
    "diffusion, t = 4": diffusion(time=4),
    "diffusion, 12 neighbours": diffusion(n_neighbors=12),
    "diffusion, self-tuning": diffusion(bandwidth="self-tuning"),
    "7th neighbour": nearest,
    "RX": lambda scene: scene_anomalies(scene, method="rx").scores,
    "isolation forest": forests,
}
SLOW: dict[str, Callable[[Scene], np.ndarray | list[np.ndarray]]] = {
    "local RX": local_rx,
    "local RX of components": local_rx_of_components,
}


def detections(scene: Scene, truth: np.ndarray, detector: Callable) -> list[DetectionCurve]:
    """Return the curve of a detector, or those of each of its runs."""
    found = detector(scene)
    runs = found if isinstance(found, list) else [found]
    return [detection_curve(truth.ravel(), scores.ravel()) for scores in runs]


def make_scene(fraction: float, seed: int, side: int = 60) -> tuple[Scene, np.ndarray]:
    """Return a mixture of four Gaussians with 20 implanted pixels, and where these are."""
    rng = np.random.default_rng(seed)

    def smooth(n: int) -> np.ndarray:
        drawn = gaussian_filter1d(rng.normal(size=(n, 50)), 4, axis=1)
        return drawn / drawn.std()

    fields = np.stack([gaussian_filter(rng.normal(size=(side, side)), 5) for _ in range(4)])
    kinds, means, strange = fields.argmax(axis=0).ravel(), smooth(4), smooth(1)[0]
    cube = means[kinds]
    for kind in range(4):
        own = kinds == kind
        cube[own] += 0.2 * rng.normal(size=(own.sum(), 3)) @ smooth(3)
    truth = np.zeros(side * side, dtype=bool)
    truth[rng.choice(side * side, 20, replace=False)] = True
    cube[truth] = (1 - fraction) * cube[truth] + fraction * strange
    cube += 0.05 * rng.normal(size=cube.shape)
    return Scene.from_array(cube.reshape(side, side, 50)), truth


def compute_made(n_draws: int) -> Iterator[dict[str, object]]:
    for fraction in FRACTIONS:
        for name, detector in FAST.items():
            areas = []
            for seed in range(n_draws):
                areas += [c.area for c in detections(*make_scene(fraction, seed), detector)]
            row = {"fraction": fraction, "method": name, "area": float(np.mean(areas))}
            print(row, flush=True)
            yield row | {"deviation": float(np.std(areas))}


def compute(names: Sequence[str], detectors: dict) -> tuple[list[dict[str, object]], dict]:
    """Return the rows of the CSV file, and the first curve by scene and method."""
    rows, curves = [], {}
    for name in names:
        path = DATA / "anomaly" / f"{name}.mat"
        scene, truth = open_scene(path), read_labels(path).ids > 0
        for method, detector in detectors.items():
            found = detections(scene, truth, detector)
            curves[name, method] = found[0]
            row = {
                "scene": name,
                "half": "choosing" if name in CHOOSING else "reporting",
                "anomalies": found[0].n_anomalies,
                "method": method,
                "area": float(np.mean([c.area for c in found])),
                "detected_at_0.01": float(np.mean([c.detected_at(0.01) for c in found])),
            }
            print(row, flush=True)
            rows.append(row)
    return rows, curves


def table(rows: Sequence[Row]) -> list[str]:
    """Return the areas, one row for each method and one column for each scene."""
    scenes = list(dict.fromkeys(row["scene"] for row in rows))
    reporting = [name for name in scenes if name in REPORTING]
    head = ["method", *(f"{s} (chose)" if s in CHOOSING else s for s in scenes)]
    cells = []
    for method in dict.fromkeys(row["method"] for row in rows):
        area = {row["scene"]: float(row["area"]) for row in rows if row["method"] == method}
        means = [np.mean([area[s] for s in names]) for names in (reporting, scenes)]
        cells.append([method, *(f"{v:.3f}" for v in [*(area[s] for s in scenes), *means])])
    return markdown_table([*head, "mean of the reporting", "mean of all"], cells)


def made_table(rows: Sequence[Row]) -> list[str]:
    """Return the areas on made scenes, one row for each method and one column per fraction."""
    fractions = list(dict.fromkeys(row["fraction"] for row in rows))
    found = {(row["method"], row["fraction"]): row for row in rows}
    cells = [
        [method, *(f"{float(found[method, f]['area']):.3f}" for f in fractions)]
        for method in dict.fromkeys(row["method"] for row in rows)
    ]
    return markdown_table(["method", *(f"fraction {f}" for f in fractions)], cells)


def draw(curves: dict[tuple[str, str], DetectionCurve]) -> None:
    names = list(dict.fromkeys(name for name, _ in curves))
    figure = new_figure((14.5, 9.4))
    axes = figure.subplots(2, 3).ravel()
    for ax, name in zip(axes, names, strict=False):
        shown = {method.partition(" of ")[0]: curves[name, method] for method in DRAWN}
        DetectionDisplay(shown).plot(ax=ax, title=name)
    for ax in axes[len(names) :]:
        ax.set_axis_off()
    figure.savefig(FIGURE, dpi=80)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--choosing", action="store_true", help="open only scenes that choose")
    parser.add_argument("--quick", action="store_true", help="no local RX; write nothing")
    parser.add_argument("--made", action="store_true", help="open no real scene")
    parser.add_argument("--figure", action="store_true", help="make the picture alone")
    options = parser.parse_args()
    everything = (*CHOOSING, *REPORTING)
    if options.figure:
        draw(compute(everything, {name: (FAST | SLOW)[name] for name in DRAWN})[1])
        return
    keeps = not options.quick and not options.choosing
    made = list(compute_made(2 if options.quick else 10))
    if keeps:
        write_rows(MADE, made)
    if options.made:
        return
    names = CHOOSING if options.choosing else everything
    rows, curves = compute(names, FAST if options.quick else FAST | SLOW)
    if keeps:
        write_rows(OUTPUT, rows)
        draw(curves)


if __name__ == "__main__":
    main()
