"""Clusters of whole scenes beside the field's: accuracy after the best assignment.

    python -m experiments.clustering.scenes [--scenes SCENE ...] [--methods METHOD ...] [--seeds N]

Salinas-A, Jasper Ridge (labels by the largest abundance) and 8-bit Indian Pines, each clustered
twice: all pixels, and the labelled ones alone; of Jasper Ridge all are labelled. The number of
clusters is that of the classes, one more where unlabelled pixels take part. That is the protocol of
the published figures of LUND and D-VIC: all pixels clustered, accuracies on the labelled ones. Two
kinds of features: 20 noise-adjusted components, as `diffclass cluster` has them, and the bare
spectra, as those papers have them.

"LUND, time by the truth" follows the paper: a graph of unit weights to 20 neighbours, ten
eigenpairs, modes by p rho, and of the times 1, 4, 16, ..., 4^9 the one that agrees best with the
truth, which the published figures do too (there neighbours and scale of the density as well). It is
an upper limit that no user reaches without labels. Gaussian mixtures have full covariances, on
bare spectra those of the principal components that hold 99 % of the variance; spectral clustering
has scikit-learn's nearest neighbours, since its default kernel does not end on scenes. Ten seeds;
three for spectral clustering and for ours, which depend on them hardly, one for LUND.

Defaults of the library were chosen on the first half of `experiments.clustering.comparison`, of
these scenes on Jasper Ridge alone (2,000 pixels of its components). Rows of what is run replace
those in scenes.csv.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture

from diffclass import DiffusionClustering, DiffusionMap, DiffusionModes, neighbors_graph
from diffclass.clustering import labels_of_modes, nearest_denser, neighbor_density
from diffclass.evaluation import cluster_scores
from diffclass_hyperspectral import open_scene
from experiments.markdown import Row, markdown_table, read_rows, write_rows
from experiments.problems import DATA, problem_of

SCENES = {
    "Salinas-A": ("salinas-spectral", "salinas_a/SalinasA_corrected.mat", None),
    "Jasper Ridge": ("jasper", "jasper_ridge/jasperRidge2_R198.mat", "Y"),
    "8-bit Indian Pines": ("pines-spectral", "indian_pines/IP_200_M.mat", None),
}
FEATURES = ("components", "spectra")
PIXELS = ("all", "labelled")
FEW = 3  # seeds of what takes long or depends on them hardly
NAME = "clustering/scenes.csv"
OUTPUT = Path(__file__).with_name("scenes.csv")

Method = Callable[[np.ndarray, int, int, np.ndarray], np.ndarray]


def lund(X: np.ndarray, k: int, seed: int, truth: np.ndarray) -> np.ndarray:
    """Return the clusters of LUND at the time that agrees best with the truth."""
    graph = neighbors_graph(X, 20, random_state=seed)
    density = neighbor_density(graph)
    unit = sp.csr_array((np.ones(graph.nnz), graph.indices, graph.indptr), shape=graph.shape)
    pairs = DiffusionMap(9, affinity="precomputed", alpha=0.0, random_state=seed).fit(unit)
    values = pairs.eigenpairs_
    found = []
    for t in 4.0 ** np.arange(10):
        coordinates = (values.right * values.powers(t))[:, 1:]
        denser, distance = nearest_denser(coordinates, density)
        modes = np.argsort(-density * distance, kind="stable")
        first = int(density.argmax())
        labels = labels_of_modes(denser, np.r_[first, modes[modes != first]][:k])
        known = truth > 0
        accuracy = cluster_scores(truth[known], labels[known]).scores.overall_accuracy
        found.append((accuracy, labels))
    return max(found, key=lambda pair: pair[0])[1]


def mixture(X: np.ndarray, k: int, seed: int, truth: np.ndarray) -> np.ndarray:
    if X.shape[1] > 50:
        X = PCA(0.99, svd_solver="full").fit_transform(X)
    return GaussianMixture(k, random_state=seed, reg_covar=1e-6 * X.var()).fit_predict(X)


def spectral(X: np.ndarray, k: int, seed: int, truth: np.ndarray) -> np.ndarray:
    return SpectralClustering(k, affinity="nearest_neighbors", random_state=seed).fit_predict(X)


OURS = ("diffusion, k-means", "diffusion, modes")
TUNED = "LUND, time by the truth"
METHODS: dict[str, Method] = {
    OURS[0]: lambda X, k, seed, _: DiffusionClustering(k, random_state=seed).fit_predict(X),
    OURS[1]: lambda X, k, seed, _: DiffusionModes(k, random_state=seed).fit_predict(X),
    "k-means": lambda X, k, seed, _: KMeans(k, n_init=10, random_state=seed).fit_predict(X),
    "Gaussian mixture": mixture,
    "spectral clustering": spectral,
    TUNED: lund,
}
SEEDS = {"spectral clustering": FEW, TUNED: 1, OURS[0]: FEW, OURS[1]: FEW}
MEASURES = ("overall", "average", "kappa", "nmi", "ari")


@lru_cache(maxsize=2)
def points_of(scene: str, features: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the features of all pixels of a scene, and its truth (0: unknown)."""
    problem, path, variable = SCENES[scene]
    given = problem_of(problem)
    assert given.points is not None
    if features == "components":
        return given.points.astype(np.float64), given.truth
    cube = open_scene(DATA / path, variable=variable)
    return cube.spectra().astype(np.float64), given.truth


def compute(
    scene: str, features: str, pixels: str, methods: Sequence[str], n_seeds: int
) -> Iterator[dict[str, object]]:
    """Yield one row per method and seed."""
    X, truth = points_of(scene, features)
    if pixels == "labelled":
        X, truth = X[truth > 0], truth[truth > 0]
    known = truth > 0
    k = len(np.unique(truth))
    for method in methods:
        for seed in range(min(n_seeds, SEEDS.get(method, n_seeds))):
            began = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                labels = METHODS[method](X, k, seed, truth)
            seconds = time.perf_counter() - began
            found = cluster_scores(truth[known], labels[known])
            scores = found.scores
            values = (scores.overall_accuracy, scores.average_accuracy, scores.kappa)
            measured = (*values, found.mutual_information, found.adjusted_rand)
            row = {"scene": scene, "pixels": pixels, "features": features, "k": k}
            row |= {"method": method, "seed": seed}
            yield row | dict(zip(MEASURES, measured, strict=True)) | {"seconds": seconds}


def problems() -> list[tuple[str, str, str]]:
    """Return scene, features and pixels of every comparison."""
    return [
        (scene, features, pixels)
        for scene in SCENES
        for features in FEATURES
        for pixels in PIXELS
        if scene != "Jasper Ridge" or pixels == "all"
    ]


def table(rows: Sequence[Row]) -> list[str]:
    """Return accuracy and kappa, means over the seeds, one row per scene, pixels and features."""
    cells = []
    for scene, features, pixels in problems():
        line: list[object] = []
        for method in METHODS:
            own = [
                row
                for row in rows
                if (row["scene"], row["features"], row["pixels"], row["method"])
                == (scene, features, pixels, method)
            ]
            line.append("-" if not own else " / ".join(_means(own)))
            k = own[0]["k"] if own else ""
        cells.append([scene, pixels, k, features, *line])
    return markdown_table(["scene", "pixels", "k", "features", *METHODS], cells)


def _means(rows: Sequence[Row]) -> tuple[str, str]:
    overall, kappa = (np.mean([float(row[name]) for row in rows]) for name in ("overall", "kappa"))
    return f"{100 * overall:.1f}", f"{kappa:.2f}"


def run(problem: tuple[str, str, str], methods: Sequence[str], n_seeds: int) -> None:
    """Replace the rows of these methods on a problem in the CSV file."""
    keys = ("scene", "features", "pixels")
    rows = [*compute(*problem, methods, n_seeds)]
    kept: list = read_rows(NAME) if OUTPUT.exists() else []
    kept = [
        row
        for row in kept
        if tuple(row[key] for key in keys) != problem or row["method"] not in methods
    ]
    order, listed = problems(), list(METHODS)
    rows = sorted(
        kept + rows,
        key=lambda row: (
            order.index(tuple(row[key] for key in keys)),  # type: ignore[arg-type]
            listed.index(str(row["method"])),
        ),
    )
    write_rows(OUTPUT, rows)
    print(*problem, *methods, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenes", nargs="+", default=list(SCENES), choices=list(SCENES))
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--seeds", type=int, default=10)
    arguments = parser.parse_args()
    for problem in problems():
        if problem[0] in arguments.scenes:
            run(problem, arguments.methods, arguments.seeds)


if __name__ == "__main__":
    main()
