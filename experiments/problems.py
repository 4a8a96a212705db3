"""The problems on which methods are compared: points, and the truth where it is known.

Defaults of the library are chosen on CHOOSING and reported on REPORTING, which the choice ignores.
Real scenes come from the folder DIFFCLASS_DATA, by default ../shared/data beside the project.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from diffclass import MarkovOperator, markov_operator
from diffclass.classifier import DiffusionClassifier
from diffclass.datasets import make_tissue_scene
from diffclass.kernels import Kernel, SharedNeighbors
from diffclass_hyperspectral import SceneFeatures, open_scene, read_labels

DATA = Path(
    os.environ.get("DIFFCLASS_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")
)


@dataclass(frozen=True)
class Problem:
    """Points of shape (n, p) and the class of each, 0 where it is not known."""

    name: str
    points: np.ndarray
    truth: np.ndarray


def default_operator(problem: Problem, kernel: Kernel | None = None) -> MarkovOperator:
    """Return the operator that DiffusionClassifier builds, by default with its own kernel."""
    n_neighbors = DiffusionClassifier().n_neighbors
    kernel = SharedNeighbors() if kernel is None else kernel
    return markov_operator(problem.points, n_neighbors=n_neighbors, kernel=kernel, random_state=0)


def digits() -> Problem:
    from sklearn.datasets import load_digits

    points, truth = load_digits(return_X_y=True)
    return Problem("digits", points, truth + 1)


def tissue() -> Problem:
    scene = make_tissue_scene(random_state=0)
    return Problem("tissue", SceneFeatures().fit_transform(scene.cube), scene.truth.ravel() + 0)


def jasper_ridge() -> Problem:
    from scipy.io import loadmat

    scene = open_scene(DATA / "jasper_ridge" / "jasperRidge2_R198.mat", variable="Y")
    abundances = loadmat(DATA / "jasper_ridge" / "end4.mat")["A"]
    truth = abundances.argmax(axis=0).reshape(scene.shape[1], scene.shape[0]).T + 1
    return Problem("Jasper Ridge", SceneFeatures().fit_transform(scene), truth.ravel())


def salinas_a(*, spatial: bool) -> Problem:
    return _scene(
        "Salinas-A", "salinas_a/SalinasA_corrected.mat", "salinas_a/SalinasA_gt.mat", spatial
    )


def indian_pines(*, spatial: bool) -> Problem:
    return _scene(
        "8-bit Indian Pines",
        "indian_pines/IP_200_M.mat",
        "indian_pines/Indian_pines_gt.mat",
        spatial,
    )


def _scene(name: str, cube: str, labels: str, spatial: bool) -> Problem:
    points = SceneFeatures(spatial=spatial).fit_transform(open_scene(DATA / cube))
    kind = "spatial" if spatial else "spectral"
    return Problem(f"{name}, {kind}", points, read_labels(DATA / labels).ids.ravel())


CHOOSING: dict[str, Callable[[], Problem]] = {
    "digits": digits,
    "tissue": tissue,
    "jasper": jasper_ridge,
}
REPORTING: dict[str, Callable[[], Problem]] = {
    "salinas-spectral": lambda: salinas_a(spatial=False),
    "salinas-spatial": lambda: salinas_a(spatial=True),
    "pines-spectral": lambda: indian_pines(spatial=False),
    "pines-spatial": lambda: indian_pines(spatial=True),
}
PROBLEMS = CHOOSING | REPORTING
