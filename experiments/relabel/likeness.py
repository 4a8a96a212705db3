"""What is like a pixel: by angle or distance of spectra, the graph's features, or its walk.

    python -m experiments.relabel.likeness

From 200 labelled pixels of each scene, drawn ten times: the share of the pixels nearest by each
measure, half as many as the class has, that are of its class, in percent; mean and standard
deviation over the draws. The magic wand takes the walk: the expected visits in 64 steps, chosen
among 16, 64, 128 and 256 on the first two scenes. Writes likeness.csv.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from diffclass import MarkovOperator, markov_operator
from diffclass.datasets import make_tissue_scene
from diffclass.kernels import SharedNeighbors
from diffclass_hyperspectral import Scene, SceneFeatures, open_scene, read_labels
from experiments.markdown import write_rows
from experiments.problems import DATA, jasper_ridge

OUTPUT = Path(__file__).with_suffix(".csv")
DRAWS, SEEDS, STEPS = 10, 200, 64


def scenes() -> dict[str, tuple[Scene, np.ndarray]]:
    """Return scenes with their truth; the first two choose, the others report."""
    tissue = make_tissue_scene(random_state=0)
    jasper = open_scene(DATA / "jasper_ridge" / "jasperRidge2_R198.mat", variable="Y")
    found = {
        "tissue": (Scene.from_array(tissue.cube, path="tissue"), tissue.truth),
        "Jasper Ridge": (jasper, jasper_ridge().truth.reshape(jasper.shape[:2])),
    }
    for name, cube, labels in (
        ("Salinas-A", "salinas_a/SalinasA_corrected.mat", "salinas_a/SalinasA_gt.mat"),
        ("Indian Pines", "indian_pines/IP_200_M.mat", "indian_pines/Indian_pines_gt.mat"),
    ):
        found[name] = open_scene(DATA / cube), read_labels(DATA / labels).ids
    return found


def points_of(scene: Scene) -> dict[str, np.ndarray]:
    """Return what each measure takes the distance of."""
    spectra = scene.spectra()
    return {
        "angle": spectra / np.linalg.norm(spectra, axis=1, keepdims=True),  # chords order alike
        "spectra": spectra,
        "features": SceneFeatures().fit_transform(scene),
        "spatial features": SceneFeatures(spatial=True).fit_transform(scene),
    }


def distances_by(points: np.ndarray, known: np.ndarray) -> Callable[[int], np.ndarray]:
    """Return a function: distances of the known points from one of them."""
    own = points[known]
    return lambda seed: np.linalg.norm(own - own[seed], axis=1)


def rareness_by(operator: MarkovOperator, known: np.ndarray) -> Callable[[int], np.ndarray]:
    """Return a function: how rarely the walks from the known points visit one of them."""

    def rareness(seed: int) -> np.ndarray:
        target = np.zeros(len(operator))
        target[known[seed]] = 1
        return -operator.expected_visits(target, STEPS)[0][known]

    return rareness


def purity(far: Callable[[int], np.ndarray], truth: np.ndarray, seeds: np.ndarray) -> float:
    """Return the mean share of the nearest pixels that are of a seed's class, in percent."""
    shares = []
    for seed in seeds.tolist():
        same = truth == truth[seed]
        n = max(int(same.sum()) // 2, 1)
        shares.append(same[np.argpartition(far(seed), n)[:n]].mean())
    return 100 * float(np.mean(shares))


def main() -> None:
    rows = []
    for name, (scene, truth) in scenes().items():
        known = np.flatnonzero((truth.ravel() > 0) & scene.valid.ravel())
        row: dict[str, object] = {"scene": name}
        points = points_of(scene)
        operator = markov_operator(points["features"], kernel=SharedNeighbors(), random_state=0)
        measures = {measure: distances_by(of, known) for measure, of in points.items()}
        for measure, far in (measures | {"walk": rareness_by(operator, known)}).items():
            found = [
                purity(
                    far, truth.ravel()[known],
                    np.random.default_rng(draw).choice(len(known), SEEDS, replace=False),
                )
                for draw in range(DRAWS)
            ]  # fmt: skip
            row[measure] = f"{np.mean(found):.1f} +- {np.std(found):.1f}"
        rows.append(row)
        print(row, flush=True)
    write_rows(OUTPUT, rows)


if __name__ == "__main__":
    main()
