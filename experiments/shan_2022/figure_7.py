"""Shan and Daubechies 2022, figure 7: a circle that is not uniformly sampled, alpha = 2.

512 points on the unit circle with density 1 + 0.6 cos theta (the paper gives neither density nor
radius, so its t = 1/4 can only be compared by t / radius^2), t in powers of 4. alpha = 2 divides
the density out twice: the embedding is a closed curve in the right order, but its angle is not
theta. PCA and MDS return the circle, which already lies in the plane, about the mean of the points.
Findings: the rule takes t = 1/16 in most draws; by the angle 1/4 is better (0.996 to 0.972).

    python -m experiments.shan_2022.figure_7
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.datasets import make_circle
from experiments.figure import main
from experiments.measures import mean_and_spread
from experiments.shan_2022.study import (
    coordinates,
    others,
    plot_study,
    recover_circle,
    study,
    study_numbers,
)

TIMES = 4.0 ** np.arange(-6, 5)
PAPERS = 0.25
ALPHA = 2.0


def compute(quick: bool, *, noise: float = 0.0) -> dict[str, Any]:
    n_draws = 2 if quick else 10

    def make(seed: int) -> tuple[np.ndarray, np.ndarray]:
        return make_circle(512, density=0.6, noise=noise, random_state=seed)

    results = study(make, recover_circle, times=TIMES, alpha=ALPHA, n_draws=n_draws)
    beside: list[dict[str, dict[str, float]]] = []
    for X, theta in map(make, range(n_draws)):
        maps = others(X, 2)
        maps["t = 1/4"] = coordinates(X, PAPERS, alpha=ALPHA, n_coordinates=2)
        beside.append({name: recover_circle(Y, theta) for name, Y in maps.items()})
    return results | {"beside": beside}


def numbers(results: dict[str, Any]) -> dict[str, float]:
    found = study_numbers(results)
    for name in results["beside"][0]:
        values = [draw[name]["circular r"] for draw in results["beside"]]
        found |= mean_and_spread(f"{name}: circular r", values)
    return found


def plot(results: dict[str, Any]) -> Any:
    return plot_study(results, label="theta (radians)")


if __name__ == "__main__":
    main(compute, numbers, plot)
