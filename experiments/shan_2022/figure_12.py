"""Shan and Daubechies 2022, figures 11 and 12: a face with and without noise, both embeddings.

The paper's claim: the two embeddings by two coordinates agree up to a reflection. Their agreement
is 1 - the disparity of Procrustes (share of the variance left after the best translation, rotation
and scaling), at t = 1/4 of equation 1 in units of each set's greatest distance; see
`experiments.shan_2022.faces`.

    python -m experiments.shan_2022.figure_12
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import procrustes
from scipy.spatial.distance import pdist

from experiments.figure import column_figure, main
from experiments.measures import mean_and_spread
from experiments.shan_2022.faces import ALPHA, PAPERS, isometric, read_faces, with_noise
from experiments.shan_2022.study import coordinates


def compute(quick: bool) -> dict[str, Any]:
    faces, _, shape = read_faces()
    noisy = [with_noise(faces, seed) for seed in range(2 if quick else 10)]
    maps = [_embedded(X) for X in noisy]
    return {"clean": _embedded(faces), "noisy": maps, "faces": (faces, noisy[0]), "shape": shape}


def numbers(results: dict[str, Any]) -> dict[str, float]:
    alike = [1 - procrustes(results["clean"], Y)[2] for Y in results["noisy"]]
    rng = np.random.default_rng(0)
    shuffled = [1 - procrustes(results["clean"], rng.permutation(Y))[2] for Y in results["noisy"]]
    found = mean_and_spread("likeness with and without noise", alike)
    return found | mean_and_spread("likeness of shuffled faces", shuffled)


def plot(results: dict[str, Any]) -> Any:
    figure = column_figure(3.6)
    grid = figure.subplots(2, 2, height_ratios=(1, 1.6))
    clean, noisy, _ = procrustes(results["clean"], results["noisy"][0])
    columns = zip(grid.T, results["faces"], (clean, noisy), strict=True)
    for ((above, below), faces, Y), title in zip(
        columns, ("without noise", "with noise"), strict=True
    ):
        above.imshow(faces[7].reshape(results["shape"])[::3, ::3], cmap="gray", vmin=0, vmax=255)
        above.set(xticks=[], yticks=[], title=title)
        _thumbnails(below, Y, faces, results["shape"])
    return figure


def _thumbnails(ax: Any, Y: np.ndarray, faces: np.ndarray, shape: Any) -> None:
    from matplotlib.offsetbox import AnnotationBbox, OffsetImage

    for y, face in zip(Y, faces, strict=True):
        picture = OffsetImage(face.reshape(shape)[::8, ::8], zoom=0.5, cmap="gray")
        ax.add_artist(AnnotationBbox(picture, y, frameon=False, pad=0))
    ax.set(xlim=(-0.24, 0.24), ylim=(-0.24, 0.24), title="t = 1/4, after Procrustes")
    ax.set(xticks=[], yticks=[], xlabel="coordinate 1", ylabel="coordinate 2")


def _embedded(faces: np.ndarray) -> np.ndarray:
    X = isometric(faces)
    X = X / pdist(X).max()
    return coordinates(X, PAPERS, alpha=ALPHA, n_coordinates=2)


if __name__ == "__main__":
    main(compute, numbers, plot)
