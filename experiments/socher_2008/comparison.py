"""Socher 2008, sections 1 and 2: PCA, LLE, Isomap, eigenmaps and diffusion maps on one Swiss roll.

1,000 points uniform on the roll, without noise and with noise 0.5 (the turns lie 2 pi apart). All
methods except PCA use 10 neighbours, or the least of 15, 20, ... that connect the graph, and
otherwise the defaults of scikit-learn and of the library (alpha = 1). The number is the rank
correlation of the arclength with the first coordinate. The picture shows a quarter of the points.
No parameter was fitted to it.

    python -m experiments.socher_2008.comparison
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.manifold import Isomap, LocallyLinearEmbedding, SpectralEmbedding

from diffclass import DiffusionMap
from experiments.datasets import make_swiss_roll
from experiments.figure import main
from experiments.measures import rank_correlation
from experiments.shan_2022.study import connecting_neighbors
from experiments.socher_2008.panels import over_draws, panels

NOISES = (0.0, 0.5)


def compute(quick: bool) -> dict[str, Any]:
    draws, first = [], {}
    for seed in range(1 if quick else 10):
        draw = {}
        for noise in NOISES:
            X, sides = make_swiss_roll(1000, noise=noise, random_state=seed)
            maps = embeddings(X)
            for name, Y in maps.items():
                key = f"noise {noise:g}, {name}: rank r of arclength"
                draw[key] = rank_correlation(Y[:, 0], sides[:, 0])
            first.setdefault(noise, {"s": sides[:, 0], "maps": maps})
        draws.append(draw)
    return {"draws": draws, "first": first}


def embeddings(X: np.ndarray) -> dict[str, np.ndarray]:
    k = connecting_neighbors(X)
    methods = {
        "PCA": PCA(2),
        "LLE": LocallyLinearEmbedding(n_neighbors=k, random_state=0),
        "Isomap": Isomap(n_neighbors=k),
        "eigenmaps": SpectralEmbedding(affinity="nearest_neighbors", n_neighbors=k, random_state=0),
        "diffusion map": DiffusionMap(2, n_neighbors=k),
    }
    return {name: method.fit_transform(X) for name, method in methods.items()}


def numbers(results: dict[str, Any]) -> dict[str, float]:
    return over_draws(results["draws"])


def plot(results: dict[str, Any]) -> Any:
    figure, axes = panels(5, 2, height=5.6)
    for column, (noise, shown) in zip(axes.T, results["first"].items(), strict=True):
        for ax, (name, Y) in zip(column, shown["maps"].items(), strict=True):
            look = {"s": 3, "linewidths": 0, "cmap": "viridis"}
            drawn = ax.scatter(*Y[::4].T, c=shown["s"][::4], **look)
            ax.set(title=f"{name}, noise {noise:g}", xticks=[], yticks=[], ylabel="coordinate 2")
        ax.set_xlabel("coordinate 1")
    label = "arclength (units of the points)"
    figure.colorbar(drawn, ax=axes, location="bottom", aspect=40, pad=0.02, label=label)
    return figure


if __name__ == "__main__":
    main(compute, numbers, plot)
