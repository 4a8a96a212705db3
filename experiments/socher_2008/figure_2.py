"""Socher 2008, figure 2: a planar roll (t cos t, t sin t), on which principal components fail.

The report shows that points far apart on the roll fall together in the projection. Here: the rank
correlation of t with the first component, and with the first diffusion coordinate (alpha = 1, 64
neighbours, the library's default).

    python -m experiments.socher_2008.figure_2
"""

from __future__ import annotations

from typing import Any

from sklearn.decomposition import PCA

from diffclass import DiffusionMap
from experiments.datasets import make_planar_roll
from experiments.figure import main
from experiments.measures import rank_correlation
from experiments.socher_2008.figure_1 import plot_projection
from experiments.socher_2008.panels import over_draws


def compute(quick: bool) -> dict[str, Any]:
    draws, first = [], None
    for seed in range(3 if quick else 10):
        X, t = make_planar_roll(1000, random_state=seed)
        linear, diffusion = PCA(1).fit_transform(X), DiffusionMap(1).fit_transform(X)
        first = first or {"X": X, "t": t}
        draws.append(
            {
                "rank r of t, PCA": rank_correlation(linear[:, 0], t),
                "rank r of t, diffusion map": rank_correlation(diffusion[:, 0], t),
            }
        )
    return {"draws": draws, "first": first}


def numbers(results: dict[str, Any]) -> dict[str, float]:
    return over_draws(results["draws"])


def plot(results: dict[str, Any]) -> Any:
    return plot_projection(results["first"]["X"], results["first"]["t"], "t (radians)")


if __name__ == "__main__":
    main(compute, numbers, plot)
