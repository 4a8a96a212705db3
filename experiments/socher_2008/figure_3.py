"""Socher 2008, figure 3: the three steps of locally linear embedding, on the roll of figure 2.

Neighbours are found, each point is written as a mixture of its neighbours (weights that sum to 1,
the Gram matrix regularised by 0.001 of its trace, as in scikit-learn), and coordinates are sought
that the same weights mix best. The report shows a sketch without numbers. Here 1,000 points and 12
neighbours; the numbers are the error of the mixture in the plane and of the same mixture in the
embedding, each over the spread of the neighbours, and the rank correlation with t.

    python -m experiments.socher_2008.figure_3
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.manifold import LocallyLinearEmbedding
from sklearn.neighbors import NearestNeighbors

from diffclass.plots import BLUE, VERMILION
from experiments.datasets import make_planar_roll
from experiments.figure import main
from experiments.measures import rank_correlation
from experiments.socher_2008.panels import over_draws, panels, points

N_NEIGHBORS = 12
REGULARISED = 1e-3
SHOWN = 400  # the point whose steps are drawn


def compute(quick: bool) -> dict[str, Any]:
    draws, first = [], None
    for seed in range(3 if quick else 10):
        X, t = make_planar_roll(1000, random_state=seed)
        near = NearestNeighbors(n_neighbors=N_NEIGHBORS).fit(X).kneighbors(return_distance=False)
        weights = mixing_weights(X, near)
        embedding = LocallyLinearEmbedding(
            n_neighbors=N_NEIGHBORS, n_components=1, reg=REGULARISED, random_state=0
        ).fit_transform(X)
        first = first or {"X": X, "t": t, "near": near, "weights": weights, "Y": embedding}
        draws.append(
            {
                "error of the mixture / spread of the neighbours": _error(X, near, weights),
                "the same in the embedding": _error(embedding, near, weights),
                "rank r of t, LLE": rank_correlation(embedding[:, 0], t),
            }
        )
    return {"draws": draws, "first": first}


def mixing_weights(X: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Return the weights (n, k), summing to 1, that mix each point from its neighbours best."""
    Z = X[near] - X[:, None]
    gram = Z @ Z.transpose(0, 2, 1)
    trace = np.trace(gram, axis1=1, axis2=2)
    gram += REGULARISED * trace[:, None, None] * np.eye(near.shape[1])
    weights = np.linalg.solve(gram, np.ones((*near.shape, 1)))[..., 0]
    return weights / weights.sum(axis=1, keepdims=True)


def _error(Y: np.ndarray, near: np.ndarray, weights: np.ndarray) -> float:
    """Return the rms error of the mixtures over the rms distance of the neighbours."""
    mixed = (weights[..., None] * Y[near]).sum(axis=1)
    spread = np.square(Y[near] - Y[:, None]).sum(axis=2).mean()
    return float(np.sqrt(np.square(Y - mixed).sum(axis=1).mean() / spread))


def numbers(results: dict[str, Any]) -> dict[str, float]:
    return over_draws(results["draws"])


def plot(results: dict[str, Any]) -> Any:
    first = results["first"]
    X, t, near, weights = (first[name] for name in ("X", "t", "near", "weights"))
    place = int(np.argsort(t)[SHOWN])
    figure, axes = panels(1, 3, height=1.75)
    around, mixed, mapped = axes[0]
    points(around, X, t, "1 neighbours")
    around.plot(*X[near[place]].T, "o", color="none", markeredgecolor=VERMILION, markersize=3)
    around.set(xlabel="x1", ylabel="x2")
    away = np.rad2deg(t[near[place]] - t[place])
    mixed.vlines(away, 0, weights[place], color=BLUE)
    mixed.plot(away, weights[place], "o", color=BLUE)
    mixed.axhline(0, color="0.5", linewidth=0.6)
    mixed.set(title="2 weights", xlabel="from the point (deg)", ylabel="weight")
    mapped.scatter(t, first["Y"][:, 0], c=t, s=2, linewidths=0, cmap="viridis")
    mapped.set(title="3 embedding", xlabel="t (rad)", ylabel="coordinate 1")
    return figure


if __name__ == "__main__":
    main(compute, numbers, plot)
