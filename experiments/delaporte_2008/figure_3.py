"""De la Porte et al., figure 3: a random walk on six nodes, and a path of two jumps.

The paper sketches six nodes and says that the path from node 1 by node 2 to node 6 takes two jumps
and has the probability p(1, 2) p(2, 6). Here the nodes have places and P = D^-1 K with
K = exp(-d^2). P^2(1, 6) is the sum over all paths of two jumps, of which that one is the likeliest;
walks drawn at random arrive as often.

    python -m experiments.delaporte_2008.figure_3
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.spatial.distance import cdist

from diffclass import MarkovOperator
from diffclass.plots import BLUE, VERMILION
from diffclass.spectral import bumps
from experiments.figure import column_figure, main

NODES = np.array([[0.0, 0.0], [1.0, 0.8], [0.7, -0.8], [2.0, -0.9], [2.9, -0.1], [2.2, 0.6]])
PATH = (0, 1, 5)  # nodes 1, 2 and 6
LEAST_DRAWN = 0.02  # probability of a jump


def compute(quick: bool) -> dict[str, Any]:
    operator = MarkovOperator.from_affinity(np.exp(-cdist(NODES, NODES, "sqeuclidean")))
    P, P2 = (bumps(operator, np.arange(len(NODES)), time=t) for t in (1, 2))
    return {"P": P, "P2": P2, "walked": _walked(P, 2_000 if quick else 100_000)}


def _walked(P: np.ndarray, n_walks: int) -> float:
    """Return the share of walks from the path's first node that are at its last after two jumps."""
    random = np.random.default_rng(0)
    at = np.full(n_walks, PATH[0])
    for _ in range(2):
        at = (random.random(n_walks)[:, None] > np.cumsum(P, axis=1)[at]).sum(axis=1)
    return float(np.mean(at == PATH[-1]))


def numbers(results: dict[str, Any]) -> dict[str, float]:
    P, P2 = results["P"], results["P2"]
    start, middle, end = PATH
    return {
        "p(1, 2)": P[start, middle],
        "p(2, 6)": P[middle, end],
        "p(1, 2) p(2, 6)": P[start, middle] * P[middle, end],
        "P^2(1, 6), all paths": P2[start, end],
        "share of the path by 2": P[start, middle] * P[middle, end] / P2[start, end],
        "greatest share of another path": max(
            P[start, k] * P[k, end] / P2[start, end] for k in range(len(P)) if k != middle
        ),
        "share of walks at 6 after two jumps": results["walked"],
    }


def plot(results: dict[str, Any]) -> Figure:
    figure = column_figure(2.2)
    axes = figure.subplots()
    P = results["P"]
    for i, j in np.argwhere(np.triu(P, 1) > LEAST_DRAWN):
        axes.plot(*NODES[[i, j]].T, color="0.6", linewidth=8 * P[i, j], zorder=0)
    for (i, j), beside in zip(pairwise(PATH), ((-24, 8), (12, 6)), strict=True):
        jump = {"arrowstyle": "->", "linestyle": "--", "color": VERMILION, "lw": 1.2}
        axes.annotate("", NODES[j], NODES[i], arrowprops=jump | {"shrinkA": 7, "shrinkB": 7})
        axes.annotate(
            f"p({i + 1}, {j + 1}) = {P[i, j]:.2f}", NODES[[i, j]].mean(axis=0), beside,
            textcoords="offset points", color=VERMILION, ha="center",
        )  # fmt: skip
    axes.scatter(*NODES.T, s=110, color=BLUE)
    for number, (x, y) in enumerate(NODES, 1):
        axes.text(x, y, str(number), color="white", ha="center", va="center", weight="bold")
    axes.set(xlabel="x", ylabel="y", aspect="equal")
    axes.margins(0.15)
    total = results["P2"][PATH[0], PATH[-1]]
    axes.set_title(f"two jumps lead from 1 to 6 with probability {total:.3f}, all paths")
    return figure


if __name__ == "__main__":
    main(compute, numbers, plot)
