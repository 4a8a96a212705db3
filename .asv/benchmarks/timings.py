"""The ten timings that matter, for the history of speed.

    cd .asv && asv run HEAD~3..HEAD && asv publish && asv preview

Points are those of digits and Gaussian clusters. Compiled loops are loaded by `setup`, so that the
first timing is like the others.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
from sklearn.datasets import load_digits, make_blobs

from diffclass import (
    DiffusionClassifier,
    DiffusionMap,
    diffuse_labels,
    leading_eigenpairs,
    markov_operator,
    suggest,
)
from diffclass.relabel import RelabelSession

N, N_FEATURES, N_CLASSES = 20_000, 20, 16


def few(truth: np.ndarray) -> np.ndarray:
    """Return five labels of each class, -1 elsewhere."""
    y = np.full(len(truth), -1)
    for k in np.unique(truth):
        y[np.flatnonzero(truth == k)[:5]] = k
    return y


class Points:
    """Clusters and digits, with their operators."""

    timeout = 300

    def setup(self) -> None:
        self.X, truth = make_blobs(
            N, N_FEATURES, centers=N_CLASSES, cluster_std=6.0, random_state=0
        )
        self.y = few(truth)
        self.digits, known = load_digits(return_X_y=True)
        self.known = few(known)
        self.operator = markov_operator(self.X, n_neighbors=12, random_state=0)
        self.columns = np.random.default_rng(0).random((N, N_CLASSES)).astype(np.float32)
        self.diffusion = diffuse_labels(self.operator, self.y)
        self.session = RelabelSession(self.operator, [f"{k}" for k in range(N_CLASSES)])
        for k in range(N_CLASSES):
            points = np.flatnonzero(truth == k)[:30]
            self.session.apply({"op": "stroke", "class": k + 1, "points": points})
        self.session.update()
        self.number = 0
        self.time_digits()

    def time_graph(self) -> None:
        markov_operator(self.X, n_neighbors=12, random_state=0)

    def time_one_step(self) -> None:
        self.operator.apply(self.columns, 1)

    def time_labels(self) -> None:
        diffuse_labels(self.operator, self.y)

    def time_digits(self) -> None:
        DiffusionClassifier(random_state=0).fit(self.digits, self.known)

    def time_classify(self) -> None:
        assert DiffusionClassifier(random_state=0).fit(self.X, self.y).calibration_ is not None

    def time_eigenpairs(self) -> None:
        leading_eigenpairs(self.operator, 10)

    def time_diffusion_map(self) -> None:
        DiffusionMap(3, random_state=0).fit(self.digits)

    def time_suggestions(self) -> None:
        suggest(self.operator, self.diffusion, np.flatnonzero(self.y >= 0), 10)

    def time_stroke(self) -> None:
        self.number += 1
        points = np.arange(self.number * 7 % N, self.number * 7 % N + 30) % N
        self.session.apply({"op": "stroke", "class": self.number % N_CLASSES + 1, "points": points})
        self.session.update()


def time_import() -> None:
    subprocess.run([sys.executable, "-c", "import diffclass"], check=True)
