"""Scaling functions and wavelets on a Swiss roll, on a graph of digits and on a scene.

One function of each level, the first that is taken: A^t of a function of the level before, made
orthogonal to the constant. They widen as t doubles, and there are fewer and fewer. The last column
is the first wavelet of the second level shown: an oscillation that A^t erases. The roll is drawn
unrolled, the digits by t-SNE, the scene (Salinas-A; a made one with --quick) as a picture. While
more than a thousand functions are left they are orthogonalised cell by cell and end at the borders
of cells; no level shown here is so early.

    python -m experiments.multiscale.figure
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.manifold import TSNE

from diffclass import (
    DiffusionWavelets,
    MarkovOperator,
    diffusion_wavelets,
    markov_operator,
)
from experiments import problems
from experiments.datasets import make_hyperspectral_scene, make_swiss_roll
from experiments.figure import main

ACCURACY = 1e-3
RANKS = (400, 60, 12)  # a level shown is the first of at most so many functions
MOST = 0.95  # of a function's energy lies on its support


def compute(quick: bool) -> dict[str, Any]:
    X, parameters = make_swiss_roll(600 if quick else 3000, random_state=0)
    results = {"roll": _shown(markov_operator(X, n_neighbors=12), parameters)}
    digits = problems.digits().points[:: 4 if quick else 1]
    places = TSNE(2, init="pca", random_state=0).fit_transform(digits)
    results["digits"] = _shown(markov_operator(digits, random_state=0), places)
    if quick:
        fields = np.kron(np.arange(6).reshape(2, 3), np.ones((12, 12), dtype=int))
        pixels = make_hyperspectral_scene(fields, random_state=0).reshape(fields.size, -1)
        shape: tuple[int, ...] = fields.shape
    else:
        scene = problems.salinas_a(spatial=False)
        pixels, shape = scene.points, (83, 86)
    results["scene"] = _shown(markov_operator(pixels, random_state=0), np.empty(shape))
    return results


def _shown(operator: MarkovOperator, places: np.ndarray) -> dict[str, Any]:
    found = diffusion_wavelets(operator, accuracy=ACCURACY)
    levels = [int(np.flatnonzero(found.ranks <= rank)[0]) for rank in RANKS]
    first = operator.n_connected_components  # the constants stand before the bumps
    functions = [_upright(found.scaling_functions(level, first)) for level in levels]
    functions.append(_upright(found.wavelets(levels[1], 0)))
    f = np.random.default_rng(0).normal(size=len(found))
    return {
        "places": places,
        "times": [found.levels[level - 1].time for level in levels],
        "ranks": found.ranks[levels],
        "wavelet_time": found.levels[levels[1] - 1].time,
        "functions": np.array(functions).T,
        "supports": [_supports(found, level, operator) for level in levels],
        "reconstruction": np.abs(found.inverse_transform(found.transform(f)) - f).max(),
    }


def _upright(function: np.ndarray) -> np.ndarray:
    """Return a column with the sign that makes its largest value positive."""
    f = function[:, 0]
    return f * np.sign(f[np.abs(f).argmax()])


def _supports(found: DiffusionWavelets, level: int, operator: MarkovOperator) -> float:
    """Return the median share of the points that carry most of a scaling function's energy."""
    weights = operator.stationary_distribution[:, None]
    energy = np.sort(weights * found.scaling_functions(level) ** 2, axis=0)[::-1].cumsum(axis=0)
    return float(np.median(np.mean(energy < MOST, axis=0)))


def numbers(results: dict[str, Any]) -> dict[str, float]:
    found = {}
    for name, result in results.items():
        for time, rank, share in zip(
            result["times"], result["ranks"], result["supports"], strict=True
        ):
            found[f"{name}: functions after t = {time}"] = rank
            found[f"{name}: points with 95 % of one, after t = {time}"] = share
        found[f"{name}: largest error of transform and inverse"] = result["reconstruction"]
    return found


def plot(results: dict[str, Any]) -> Figure:
    figure = Figure(figsize=(11.25, 8), layout="constrained")
    panels = figure.subplots(3, 4)
    for row, (name, result) in zip(panels, results.items(), strict=True):
        titles = [
            f"{rank} functions after t = {time:,}"
            for time, rank in zip(result["times"], result["ranks"], strict=True)
        ]
        titles.append(f"wavelet, gone after t = {result['wavelet_time']:,}")
        for axes, f, title in zip(row, result["functions"].T, titles, strict=True):
            _draw(axes, f / np.abs(f).max(), result["places"], is_picture=name == "scene")
            axes.set_title(title, fontsize=12)
            axes.set(xticks=[], yticks=[])
        row[0].set_ylabel(name, fontsize=14)
    bar = figure.colorbar(panels[0, 0].collections[0], ax=panels, shrink=0.4, ticks=[-1, 0, 1])
    bar.set_label("value / largest modulus", fontsize=12)
    return figure


def _draw(axes: Any, f: np.ndarray, places: np.ndarray, *, is_picture: bool) -> None:
    look = {"cmap": "PuOr_r", "vmin": -1, "vmax": 1}
    if is_picture:
        axes.imshow(f.reshape(places.shape), **look)
        return
    order = np.argsort(np.abs(f))  # the largest on top
    axes.set_facecolor("0.85")
    axes.scatter(*places[order].T, c=f[order], s=5, **look)


if __name__ == "__main__":
    main(compute, numbers, plot)
