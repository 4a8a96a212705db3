"""Shan and Daubechies 2022, figure 9: 64 faces under moving light, alpha = 1.5.

The paper's claim: the semigroup error chooses t = 1/4, and two coordinates there capture both
angles of the light. Its text gives no scaling of the distances; ours is the median distance (see
`experiments.shan_2022.faces`, also for the weak minimum). Findings: the library's rule finds no t.
The weak minimum is shallow. The azimuth is recovered in part (R = 0.8; the darkest pictures, lit
from either side, meet on a ring). The elevation is recovered neither by two nor by three
coordinates at t = 1/4, but by the third at four times that t (R = 0.9). PCA recovers both equally
well: by this measure diffusion maps gain nothing on this set.

    python -m experiments.shan_2022.figure_9
"""

from __future__ import annotations

from typing import Any

from experiments.figure import main
from experiments.shan_2022.faces import (
    analyse,
    beside,
    plot_faces,
    read_faces,
    weak_rise,
)


def compute(quick: bool) -> dict[str, Any]:
    faces, angles, _ = read_faces()
    return analyse(faces, angles) | {"angles": angles, "beside": beside(faces, angles)}


def numbers(results: dict[str, Any]) -> dict[str, float]:
    found = {
        "rule found t among powers of 4": float(results["coarse"].is_found),
        "rule found t in steps of sqrt(2)": float(results["fine"].is_found),
        "weak t, in squared median distances": results["weak"],
        "rise of the error after the weak t": weak_rise(results["fine"]),
    }
    for name, scale in results["scales"].items():
        found[f"weak t, in squared {name}"] = results["weak"] * (results["scale"] / scale) ** 2
    for name, measures in (results["recovered"] | results["beside"]).items():
        found |= {f"{name}: {measure}": value for measure, value in measures.items()}
    return found


def plot(results: dict[str, Any]) -> Any:
    return plot_faces(results, results["angles"])


if __name__ == "__main__":
    main(compute, numbers, plot)
