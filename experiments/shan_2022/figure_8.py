"""Shan and Daubechies 2022, figure 8: the circle of figure 7 with noise, alpha = 2.

The radius varies with standard deviation 0.05 (the paper gives none). The paper's claim: the same t
as without noise, 1/4. The number is the share of equal t among the draws in which both are found.

    python -m experiments.shan_2022.figure_8
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.datasets import make_circle
from experiments.figure import main
from experiments.shan_2022 import figure_7
from experiments.shan_2022.study import chosen_of_curves, curve_of

NOISE = 0.05
plot = figure_7.plot


def compute(quick: bool) -> dict[str, Any]:
    results = figure_7.compute(quick, noise=NOISE)
    clean = [
        curve_of(make_circle(512, density=0.6, random_state=seed)[0], figure_7.TIMES, 2.0)
        for seed in range(len(results["curves"]))
    ]
    return results | {"clean": clean}


def numbers(results: dict[str, Any]) -> dict[str, float]:
    found = figure_7.numbers(results)
    noisy, clean = (chosen_of_curves(results[key]) for key in ("curves", "clean"))
    both = np.isfinite(noisy) & np.isfinite(clean)
    found["share of draws with t found in both"] = both.mean()
    found["share of these with the same t in both"] = (noisy == clean)[both].mean()
    return found


if __name__ == "__main__":
    main(compute, numbers, plot)
