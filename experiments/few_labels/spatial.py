"""Spatial features of scenes: how the components are smoothed, and the effect on borders.

    python -m experiments.few_labels.spatial [problem ...]

Accuracy of DiffusionClassifier's defaults on the components alone, on several Gaussian scales of
them, and on them together with the same components diffused over the grid of pixels (see
`smoothing`), weighed by several powers of the variance within fields (see `field_weights`, both in
`diffclass_hyperspectral.features`). Ten draws; the table goes to standard output, means and
deviations to spatial.csv.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from scipy.io import loadmat

from diffclass import diffuse_labels
from diffclass.datasets import make_tissue_scene
from diffclass_hyperspectral import Scene, SceneFeatures, open_scene, read_labels
from experiments.datasets import make_hyperspectral_scene
from experiments.few_labels.draws import BUDGETS, draw_labels
from experiments.markdown import Row, markdown_table
from experiments.problems import DATA, Problem, default_operator, jasper_ridge

OUTPUT = Path(__file__).with_name("spatial.csv")

WAYS: dict[str, dict] = {
    "components alone": {"scales": (0,)},
    "Gaussians 0, 1, 2, power 0": {"scales": (0, 1, 2), "field_power": 0},
    "128 steps, power 0": {"field_power": 0},
    "128 steps, power 1/2": {"field_power": 0.5},
    "128 steps, power 1 (default)": {},
}


def tissue() -> tuple[Scene, np.ndarray]:
    made = make_tissue_scene(random_state=0)
    return Scene.from_array(made.cube), made.truth.ravel() + 0


def pavia() -> tuple[Scene, np.ndarray]:
    """Synthetic spectra on true fields, a part of Pavia University."""
    truth = loadmat(DATA / "ground_truth_only" / "PaviaU_gt.mat")["paviaU_gt"][200:400, 50:250]
    return Scene.from_array(make_hyperspectral_scene(truth, n_bands=100)), truth.ravel()


def jasper() -> tuple[Scene, np.ndarray]:
    scene = open_scene(DATA / "jasper_ridge" / "jasperRidge2_R198.mat", variable="Y")
    return scene, jasper_ridge().truth


def real(cube: str, labels: str) -> tuple[Scene, np.ndarray]:
    return open_scene(DATA / cube), read_labels(DATA / labels).ids.ravel()


SCENES: dict[str, Callable[[], tuple[Scene, np.ndarray]]] = {
    "tissue": tissue,
    "pavia": pavia,
    "jasper": jasper,
    "salinas": lambda: real("salinas_a/SalinasA_corrected.mat", "salinas_a/SalinasA_gt.mat"),
    "pines": lambda: real("indian_pines/IP_200_M.mat", "indian_pines/Indian_pines_gt.mat"),
}


def accuracies(points: np.ndarray, truth: np.ndarray) -> Iterator[np.ndarray]:
    """Yield, for each budget, the accuracies (%) of ten draws."""
    operator = default_operator(Problem("", points, truth))
    for budget in BUDGETS:
        found = []
        for seed in range(10):
            y, scored = draw_labels(truth, budget, seed)
            result = diffuse_labels(operator, y, label_mode="summed")
            found.append((result.classes[result.codes] == truth)[scored].mean())
        yield 100 * np.array(found)


def compute(name: str) -> Iterator[list[object]]:
    """Yield one row per way to smooth: scene, way, accuracies by budget."""
    scene, truth = SCENES[name]()
    for way, parameters in WAYS.items():
        points = SceneFeatures(spatial=True, **parameters).fit_transform(scene)
        cells = [f"{a.mean():.2f} ± {a.std(ddof=1):.2f}" for a in accuracies(points, truth)]
        yield [name, way, *cells]


def table(rows: Sequence[Row]) -> list[str]:
    """Return the table of mean accuracies, a row for each scene and a column for each way."""
    found: dict[str, dict[str, str]] = {}
    for row in rows:
        means = [row[f"labels_{budget}"].split(" ± ")[0] for budget in BUDGETS]
        cell = ", ".join(f"{float(mean):.1f}" for mean in means)
        found.setdefault(row["scene"], {})[row["smoothing"]] = cell
    cells = [[scene, *(ways[way] for way in WAYS)] for scene, ways in found.items()]
    return markdown_table(["scene", *WAYS], cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenes", nargs="*", default=list(SCENES))
    with OUTPUT.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["scene", "smoothing", *(f"labels_{budget}" for budget in BUDGETS)])
        for name in parser.parse_args().scenes or list(SCENES):
            for row in compute(name):
                writer.writerow(row)
                file.flush()
                print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main()
