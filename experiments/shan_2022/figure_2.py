"""Shan and Daubechies 2022, figure 2: a Swiss roll by Laplacian eigenmaps and diffusion maps.

2,000 points, uniform on a roll of height L / sqrt(2), without noise; alpha = 0. The paper gives no
sides; two coordinates can draw a rectangle only if L / 2 < height < L, because only then the
eigenfunction cos(pi h / height) comes before the second one along the arclength, cos(2 pi s / L).
t = 4 of equation 1, which figure_5 chooses on the customary roll; on this one the rule finds none.
For comparison PCA, MDS and eigenmaps (with the least of 10, 15, ... neighbours that connect the
graph). There are only five draws, to save time. Each side is sought in both coordinates: PCA has
the height first.
The paper finds fewer deformations in the diffusion map than in eigenmaps; by these correlations it
is the reverse.

    python -m experiments.shan_2022.figure_2
"""

from __future__ import annotations

from typing import Any

from experiments.datasets import make_swiss_roll
from experiments.figure import main
from experiments.measures import mean_and_spread
from experiments.shan_2022.study import (
    coordinates,
    draw_maps,
    others,
    recover_rectangle,
)

TIME = 4.0
HEIGHT = 89.3733 / 2**0.5


def compute(quick: bool) -> dict[str, Any]:
    n, n_draws = (1600, 1) if quick else (2000, 5)
    recovered, first = [], None
    for seed in range(n_draws):
        X, sides = make_swiss_roll(n, height=HEIGHT, random_state=seed)
        maps = others(X, 2)
        maps["diffusion map"] = coordinates(X, TIME, alpha=0.0, n_coordinates=2)
        recovered.append({name: recover_rectangle(Y, sides) for name, Y in maps.items()})
        first = first or {"sides": sides, "maps": maps}
    return {"recovered": recovered, "first": first}


def numbers(results: dict[str, Any]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name in results["recovered"][0]:
        for measure in (
            "r of arclength with the best coordinate",
            "r of height with the best coordinate",
        ):
            values = [draw[name][measure] for draw in results["recovered"]]
            found |= mean_and_spread(f"{name}: {measure}", values)
    return found


def plot(results: dict[str, Any]) -> Any:
    first = results["first"]
    maps = {name: Y[::3] for name, Y in first["maps"].items()}
    return draw_maps(maps, first["sides"][::3, 0])


if __name__ == "__main__":
    main(compute, numbers, plot)
