"""Socher 2008, figure 5: one row of P^t at t = 8, 64 and 1024; clusters merge with time.

Three clusters, kernel exp(-d^2 / 0.7), alpha = 0. The report gives no coordinates: points and
kernel are ours, made so that three, two and one block show at the report's times. So the times are
not a finding; the agreement of the walk's mass with the number of eigenvalues above 0.1 is one.

    python -m experiments.socher_2008.figure_5
"""

from __future__ import annotations

from typing import Any

import numpy as np

from diffclass import leading_eigenpairs, markov_operator
from diffclass.kernels import Gaussian
from diffclass.plots import VERMILION
from diffclass.spectral import bumps, numerical_rank
from experiments.datasets import make_three_clusters
from experiments.figure import main
from experiments.socher_2008.panels import over_draws, panels

TIMES = (8, 64, 1024)


def compute(quick: bool) -> dict[str, Any]:
    n = 150 if quick else 600
    draws, first = [], None
    for seed in range(10):
        X, cluster = make_three_clusters(n, random_state=seed)
        operator = markov_operator(X, n_neighbors=n - 1, kernel=Gaussian(bandwidth=0.7))
        eigenpairs = leading_eigenpairs(operator, 8)
        draw = {}
        for t in TIMES:
            row = bumps(operator, [0], time=t)[0]
            mass = np.bincount(cluster, row)
            draw |= {f"t = {t}: mass in cluster {c}": mass[c] for c in range(3)}
            draw[f"t = {t}: eigenvalues above 0.1"] = numerical_rank(eigenpairs, t, 0.1)
        draws.append(draw)
        first = first or {"X": X, "operator": operator}
    return {"draws": draws, "first": first}


def numbers(results: dict[str, Any]) -> dict[str, float]:
    return over_draws(results["draws"])


def plot(results: dict[str, Any]) -> Any:
    X, operator = results["first"]["X"], results["first"]["operator"]
    figure, axes = panels(2, 3, height=2.9)
    look = {"vmin": 0, "vmax": 3, "cmap": "viridis"}
    for (above, below), t in zip(axes.T, TIMES, strict=True):
        P = bumps(operator, np.arange(len(X)), time=t) * len(X)
        drawn = above.scatter(*X.T, c=P[0], s=2, linewidths=0, **look)
        above.plot(*X[0], "o", color=VERMILION, markeredgecolor="white", markeredgewidth=0.5)
        above.set(title=f"t = {t} steps", xlabel="x1", xlim=(-1.5, 3.3), ylim=(-1.2, 3.6))
        above.set(aspect="equal", xticks=(0, 2), yticks=(0, 2))
        below.imshow(P[::5, ::5], extent=(0, len(P), len(P), 0), **look)
        below.set(xlabel="to point", xticks=(0, 300, 600), yticks=(0, 300, 600))
    axes[0, 0].set_ylabel("x2 (circle: start)")
    axes[1, 0].set_ylabel("from point")
    bar = figure.colorbar(drawn, ax=axes, location="bottom", aspect=40, extend="max")
    bar.set_label("probability to be there after t steps, times the number of points")
    return figure


if __name__ == "__main__":
    main(compute, numbers, plot)
