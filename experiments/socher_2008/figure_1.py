"""Socher 2008, figure 1: a tilted Gaussian, on which principal components work.

Mean (2, 2), covariance [[4, 2.5], [2.5, 4]]: the first component keeps 6.5 / 8 = 0.8125 of the
variance; the colour is x1 + x2, which it measures. Appendix A prints the covariance as
[4 4; 2.5 4].

    python -m experiments.socher_2008.figure_1
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.decomposition import PCA

from diffclass.plots import VERMILION
from experiments.datasets import make_correlated_gaussian
from experiments.figure import main
from experiments.socher_2008.panels import correlation, over_draws, panels, points


def compute(quick: bool) -> dict[str, Any]:
    draws, first = [], None
    for seed in range(10):
        X, _ = make_correlated_gaussian(200 if quick else 1000, random_state=seed)
        pca = PCA(2).fit(X)
        first = first or {"X": X, "pca": pca}
        r = correlation(pca.transform(X)[:, 0], X.sum(axis=1))
        share = float(pca.explained_variance_ratio_[0])
        draws.append({"share of variance kept (0.8125 known)": share, "r with x1 + x2": r})
    return {"draws": draws, "first": first}


def numbers(results: dict[str, Any]) -> dict[str, float]:
    return over_draws(results["draws"])


def plot(results: dict[str, Any]) -> Any:
    return plot_projection(results["first"]["X"], results["first"]["X"].sum(axis=1), "x1 + x2")


def plot_projection(X: np.ndarray, colors: np.ndarray, label: str) -> Any:
    """Draw the points with their two components, and their projections on the first."""
    pca = PCA(2).fit(X)
    figure, axes = panels(1, 2, height=2.1)
    points(axes[0, 0], X, colors, "points, components")
    for axis, variance in zip(pca.components_, pca.explained_variance_, strict=True):
        end = pca.mean_ + 2 * np.sqrt(variance) * axis
        look = {"arrowstyle": "->", "lw": 1.2, "shrinkA": 0, "color": VERMILION}
        axes[0, 0].annotate("", end, pca.mean_, arrowprops=look)
    on_first = pca.mean_ + pca.transform(X)[:, :1] * pca.components_[:1]
    drawn = points(axes[0, 1], on_first, colors, "projected on the first")
    for ax in axes[0]:
        ax.set(xlabel="x1", ylabel="x2")
    figure.colorbar(drawn, ax=axes, location="bottom", aspect=40, label=label)
    return figure


if __name__ == "__main__":
    main(compute, numbers, plot)
