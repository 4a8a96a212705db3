"""Socher 2008, figure 8: the first four eigenfunctions of a dumbbell, and its diffusion map.

alpha = 1 on points uniform in two discs and a bridge. The numbers test the claim: the first
eigenfunction separates the discs, and the eigenvalues 4 (1 - lambda) / epsilon of the generator are
those of -Delta with Neumann edges, computed by finite differences on a grid of step 0.02.

    python -m experiments.socher_2008.figure_8
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh

from diffclass import DiffusionMap
from diffclass.operators.laplacians import generator_eigenvalues
from experiments.datasets import make_dumbbell
from experiments.figure import main
from experiments.socher_2008.panels import over_draws, panels, points

STEP = 0.02


def compute(quick: bool) -> dict[str, Any]:
    known = neumann_eigenvalues(0.05 if quick else STEP)
    draws, first = [], None
    for seed in range(2 if quick else 10):
        X, part = make_dumbbell(1500 if quick else 3000, random_state=seed)
        fitted = DiffusionMap(4).fit(X)
        psi = fitted.embedding_ / fitted.eigenvalues_
        shown = slice(None, None, 4)  # a quarter of the points is enough to see
        maps = {"psi": psi[shown], "map": fitted.embedding_[shown]}
        first = first or {"X": X[shown]} | maps
        ratios = generator_eigenvalues(fitted.eigenvalues_, fitted.epsilon_) / known
        draw = {"discs told apart by the sign": _told_apart(psi[:, 0], part)}
        draws.append(draw | {f"eigenvalue {i + 1} / known": q for i, q in enumerate(ratios)})
    return {"draws": draws, "first": first, "known": known}


def numbers(results: dict[str, Any]) -> dict[str, float]:
    known = {f"known eigenvalue {i + 1}": value for i, value in enumerate(results["known"])}
    return over_draws(results["draws"]) | known


def plot(results: dict[str, Any]) -> Any:
    first = results["first"]
    figure, axes = panels(3, 2, height=4.3)
    for i, ax in enumerate(axes[:2].flat):
        look = {"cmap": "coolwarm", "vmin": -2, "vmax": 2}
        drawn = points(ax, first["X"], first["psi"][:, i], f"eigenfunction {i + 1}", **look)
        ax.set(xlabel="x1", ylabel="x2")
    label = "value of the eigenfunction (mean square 1)"
    figure.colorbar(
        drawn, ax=axes[:2], location="bottom", aspect=40, extend="both", pad=0.02, label=label
    )
    for ax, columns in zip(axes[2], ([0, 1], [0, 2]), strict=True):
        drawn = points(ax, first["map"][:, columns], first["X"][:, 0], "diffusion map")
        ax.set(xlabel="coordinate 1", ylabel=f"coordinate {columns[1] + 1}")
    label = "x1 of the point"
    figure.colorbar(drawn, ax=axes[2:], location="bottom", aspect=40, pad=0.02, label=label)
    return figure


def neumann_eigenvalues(step: float) -> np.ndarray:
    """Return the first four eigenvalues above 0 of -Delta, by five-point differences."""
    x, y = np.meshgrid(np.arange(-2.5, 2.5, step) + step / 2, np.arange(-1, 1, step) + step / 2)
    disc = (abs(x) - 1.5) ** 2 + y**2 <= 1
    inside = disc | ((abs(x) < 1.5) & (abs(y) <= 0.15))
    number = np.full(x.shape, -1)
    number[inside] = np.arange(inside.sum())
    pairs = [(number[:, :-1], number[:, 1:]), (number[:-1], number[1:])]
    edges = np.hstack([np.stack([a.ravel(), b.ravel()]) for a, b in pairs])
    i, j = edges[:, (edges >= 0).all(axis=0)]
    W = sp.csr_array((np.ones(len(i)), (i, j)), shape=(inside.sum(),) * 2)
    W = W + W.T
    L = sp.csc_array(sp.diags_array(W.sum(axis=1)) - W) / step**2
    start = np.random.default_rng(0).normal(size=L.shape[0])
    return np.sort(eigsh(L, k=5, sigma=-0.1, v0=start, return_eigenvectors=False))[1:]


def _told_apart(psi: np.ndarray, part: np.ndarray) -> float:
    left, right = psi[part == 0] > 0, psi[part == 2] > 0
    share = (np.sum(left) + np.sum(~right)) / (len(left) + len(right))
    return float(max(share, 1 - share))


if __name__ == "__main__":
    main(compute, numbers, plot)
