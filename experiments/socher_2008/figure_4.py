"""Socher 2008, figure 4: distances through space and along the Swiss roll, and Isomap's map.

The report shows the known figure of Isomap without numbers. Here 2,000 points uniform on the roll
and a graph of 10 neighbours, or more until it is connected. Two points one turn apart, the
outermost and the one nearest to it of those at least a turn further in, are close in space and far
along the roll. The numbers are both distances over that along the roll, which is known, the same
for the medians of 200 random pairs, and the rank correlations of Isomap's coordinates with the
sides of the unrolled rectangle.

    python -m experiments.socher_2008.figure_4
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.csgraph import dijkstra
from scipy.spatial.distance import cdist
from sklearn.manifold import Isomap
from sklearn.neighbors import kneighbors_graph

from diffclass.plots import VERMILION
from experiments.datasets import make_swiss_roll
from experiments.figure import main
from experiments.measures import rank_correlation
from experiments.shan_2022.study import connecting_neighbors
from experiments.socher_2008.panels import over_draws, panels, points

A_TURN = 25.0  # units of arclength, less than the outermost turn
N_PAIRS = 200


def compute(quick: bool) -> dict[str, Any]:
    draws, first = [], None
    for seed in range(2 if quick else 10):
        draw, shown = _drawn(800 if quick else 2000, seed)
        draws.append(draw)
        first = first or shown
    return {"draws": draws, "first": first}


def _drawn(n_points: int, seed: int) -> tuple[dict[str, float], dict[str, Any]]:
    X, sides = make_swiss_roll(n_points, random_state=seed)
    k = connecting_neighbors(X)
    graph = kneighbors_graph(X, k, mode="distance")
    start, end = _one_turn_apart(X, sides)
    sources = np.random.default_rng(seed).choice(n_points, (2, N_PAIRS), replace=False)
    sources[:, 0] = start, end
    walked, before = dijkstra(graph, directed=False, indices=sources[0], return_predecessors=True)
    pairs = np.arange(N_PAIRS), sources[1]
    known = np.linalg.norm(sides[sources[0]] - sides[sources[1]], axis=1)
    ratios = {
        "through space": np.linalg.norm(X[sources[0]] - X[sources[1]], axis=1) / known,
        "along the graph": walked[pairs] / known,
    }
    Y = Isomap(n_neighbors=k).fit_transform(X)
    draw = {f"one turn apart, {name} / known": r[0] for name, r in ratios.items()}
    draw |= {f"median pair, {name} / known": float(np.median(r[1:])) for name, r in ratios.items()}
    for side, name in enumerate(("arclength", "height")):
        draw[f"rank r of {name}, Isomap"] = rank_correlation(Y[:, side], sides[:, side])
    return draw, {"X": X, "sides": sides, "Y": Y, "path": _path(before[0], start, end)}


def _one_turn_apart(X: np.ndarray, sides: np.ndarray) -> tuple[int, int]:
    """Return the outermost point and the nearest in space of those at least a turn further in."""
    start = int(sides[:, 0].argmax())
    away = cdist(X[[start]], X)[0]
    away[sides[:, 0] > sides[start, 0] - A_TURN] = np.inf
    return start, int(away.argmin())


def _path(before: np.ndarray, start: int, end: int) -> np.ndarray:
    path = [end]
    while path[-1] != start:
        path.append(before[path[-1]])
    return np.array(path)


def numbers(results: dict[str, Any]) -> dict[str, float]:
    return over_draws(results["draws"])


def plot(results: dict[str, Any]) -> Any:
    first = results["first"]
    arclength, path = first["sides"][:, 0], first["path"]
    places = {
        "A the roll from the side": (first["X"][:, [0, 2]], "x1", "x3"),
        "B unrolled": (first["sides"], "arclength", "height"),
        "C Isomap": (first["Y"], "coordinate 1", "coordinate 2"),
    }
    figure, axes = panels(3, 1, height=5.4)
    for ax, (title, (Y, across, up)) in zip(axes[:, 0], places.items(), strict=True):
        drawn = points(ax, Y[::2], arclength[::2], title)
        ax.plot(*Y[path].T, color=VERMILION, label="along the graph")
        ax.plot(*Y[path[[0, -1]]].T, "o--", color="black", label="straight")
        ax.set(xlabel=across, ylabel=up)
    handles = ax.get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=2)
    label = "arclength (units of the points)"
    figure.colorbar(drawn, ax=axes, location="bottom", aspect=40, pad=0.02, label=label)
    return figure


if __name__ == "__main__":
    main(compute, numbers, plot)
