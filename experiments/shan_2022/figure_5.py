"""Shan and Daubechies 2022, figures 4 and 5: the semigroup error chooses t on the Swiss roll.

2,000 points uniform on the roll of height 21 (the paper gives no sides), alpha = 0, t in powers of
2. On this long roll four eigenfunctions of the arclength come before that of the height, so the
height is sought in the first six coordinates and drawn against the fifth. The wide roll of
figure_2, height L / sqrt(2), on which two coordinates are a rectangle, has a third of the points
per area; the numbers tell whether the rule finds a t there, and which. Three draws, and two of the
wide roll, to save time. Findings: t = 4 of equation 1 on the customary roll, none on the wide one.

    python -m experiments.shan_2022.figure_5
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.datasets import make_swiss_roll
from experiments.figure import main
from experiments.shan_2022.figure_2 import HEIGHT
from experiments.shan_2022.study import (
    chosen_of_curves,
    curve_of,
    plot_study,
    recover_rectangle,
    study,
    study_numbers,
)

TIMES = 2.0 ** np.arange(-1, 8)


def compute(quick: bool) -> dict[str, Any]:
    n_draws, n_wide = (1, 0) if quick else (3, 2)
    results = study(
        lambda seed: make_swiss_roll(2000, random_state=seed), recover_rectangle,
        times=TIMES[:6] if quick else TIMES, alpha=0.0, n_draws=n_draws, n_coordinates=6,
    )  # fmt: skip
    wide = (make_swiss_roll(2000, height=HEIGHT, random_state=seed)[0] for seed in range(n_wide))
    return results | {"wide": [curve_of(X, TIMES, 0.0) for X in wide]}


def numbers(results: dict[str, Any]) -> dict[str, float]:
    found = study_numbers(results)
    found = {k: value for k, value in found.items() if "arclength with the best" not in k}
    if results["wide"]:
        chosen = chosen_of_curves(results["wide"])
        found["wide roll: share of draws in which the rule found t"] = np.isfinite(chosen).mean()
        found["wide roll: share of draws with t of 2 to 8"] = np.mean((chosen >= 2) & (chosen <= 8))
    return found


def plot(results: dict[str, Any]) -> Any:
    return plot_study(results, label="arclength (units of the points)", components=(0, 4))


if __name__ == "__main__":
    main(compute, numbers, plot)
