"""Shan and Daubechies 2022, figure 1: a helix round a torus by PCA, MDS, eigenmaps, diffusion maps.

1,500 points with noise 0.05 (the paper gives neither; see figure_6 for the number), alpha = 0,
t = 1/16 of equation 1, which figure_6 chooses. Eigenmaps use the least of 10, 15, ... neighbours
that connect the graph. The helix winds once around the axis, so that the angle gives its arclength
even in a projection onto the plane (PCA, MDS): the methods differ in the spread of the radius, 0 on
a circle.

    python -m experiments.shan_2022.figure_1
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.datasets import make_torus_helix
from experiments.figure import main
from experiments.measures import mean_and_spread
from experiments.shan_2022.study import (
    coordinates,
    draw_maps,
    others,
    recover_circle,
)

TIME = 1 / 16
LENGTH = 51.9914


def compute(quick: bool) -> dict[str, Any]:
    n, n_draws = (800, 1) if quick else (1500, 10)
    recovered, first = [], None
    for seed in range(n_draws):
        X, s = make_torus_helix(n, random_state=seed)
        maps = others(X, 2)
        maps["diffusion map"] = coordinates(X, TIME, alpha=0.0, n_coordinates=2)
        theta = 2 * np.pi * s / LENGTH
        recovered.append({name: recover_circle(Y, theta) for name, Y in maps.items()})
        first = first or {"X": X, "s": s, "maps": maps}
    return {"recovered": recovered, "first": first}


def numbers(results: dict[str, Any]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, measures in results["recovered"][0].items():
        for measure in measures:
            values = [draw[name][measure] for draw in results["recovered"]]
            found |= mean_and_spread(f"{name}: {measure}", values)
    return found


def plot(results: dict[str, Any]) -> Any:
    first = results["first"]
    return draw_maps(first["maps"], first["s"])


if __name__ == "__main__":
    main(compute, numbers, plot)
