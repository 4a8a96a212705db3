"""Socher 2008, figure 10: closed curves of uneven density, embedded with alpha = 0 and 1.

The claim: with alpha = 1 the embedding is a circle and its angle the arclength, for every density
(here 1 + 0.8 cos along the curve). A flower and a trefoil (the report gives no formulas), 1,000
points, 64 neighbours. Circular r is the agreement of angle and arclength up to a rotation and a
reflection; the spread of the radius over its mean is 0 on a circle.

    python -m experiments.socher_2008.figure_10
"""

from __future__ import annotations

from typing import Any

import numpy as np

from diffclass import DiffusionMap
from experiments.datasets import make_closed_curve
from experiments.figure import main
from experiments.shan_2022.study import recover_circle
from experiments.socher_2008.panels import over_draws, panels, points

LENGTHS = {"flower": 10.6056, "trefoil": 28.8263}


def compute(quick: bool) -> dict[str, Any]:
    draws, first = [], {}
    for seed in range(3 if quick else 10):
        draw = {}
        for shape, length in LENGTHS.items():
            X, s = make_closed_curve(1000, shape=shape, random_state=seed)
            theta = 2 * np.pi * s / length
            maps = {a: DiffusionMap(2, alpha=a).fit_transform(X) for a in (0.0, 1.0)}
            for alpha, Y in maps.items():
                measures = recover_circle(Y, theta).items()
                draw |= {f"{shape}, alpha {alpha:g}: {name}": value for name, value in measures}
            first.setdefault(shape, {"X": X, "theta": theta, "maps": maps})
        draws.append(draw)
    return {"draws": draws, "first": first}


def numbers(results: dict[str, Any]) -> dict[str, float]:
    return over_draws(results["draws"])


def plot(results: dict[str, Any]) -> Any:
    figure, axes = panels(4, 2, height=6.0)
    look = {"cmap": "twilight"}
    for (curve, density, *maps), (shape, shown) in zip(
        axes.T, results["first"].items(), strict=True
    ):
        theta = shown["theta"]
        points(curve, shown["X"][:, :2], theta, shape, **look)
        curve.set(xlabel="x1", ylabel="x2")
        density.hist(theta, bins=40, color="0.6")
        density.set(title="density", xlabel="arclength (rad)", ylabel="points")
        for ax, (alpha, Y) in zip(maps, shown["maps"].items(), strict=True):
            drawn = points(ax, Y, theta, rf"$\alpha$ = {alpha:g}", **look)
            ax.set(xlabel="coordinate 1", ylabel="coordinate 2")
    label = "arclength (rad; the length is 2 pi)"
    figure.colorbar(drawn, ax=axes, location="bottom", aspect=40, pad=0.02, label=label)
    return figure


if __name__ == "__main__":
    main(compute, numbers, plot)
