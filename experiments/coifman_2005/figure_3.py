"""Coifman et al. 2005, figure 3: the geometry of a curve, separated from its density.

A closed spiral, sampled with density 1 + 0.8 cos(2 pi s / L) along its arclength s, is embedded by

    alpha = 0   normalised graph Laplacian: the density bends the circle,
    alpha = 1   Laplace-Beltrami: (psi_1, psi_2) -> sqrt(2) (cos, sin)(2 pi s / L + const).

The text describes closed curves that embed as circles on which the density is preserved. The paper
gives no curve; this one is the helix around a torus. epsilon by the semigroup error of the first
draw.

    python -m experiments.coifman_2005.figure_3
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from diffclass import DiffusionMap, semigroup_bandwidth
from diffclass.datasets import make_torus_helix
from diffclass.plots.palette import SKY_BLUE
from experiments.coifman_2005.circular import angles_about_middle, circular_correlation
from experiments.figure import main

QUICK_EPSILON = 0.1127  # what the rule gives for these 2000 points
LENGTH = 51.9914
DENSITY = 0.8
ALPHAS = (0.0, 1.0)


def compute(quick: bool) -> dict[str, Any]:
    n_draws = 3 if quick else 10
    curves = [_curve(seed) for seed in range(n_draws)]
    epsilon = QUICK_EPSILON if quick else semigroup_bandwidth(curves[0][0]).epsilon
    results: dict[str, Any] = {"epsilon": epsilon, "curve": curves[0]}
    for alpha in ALPHAS:
        embeddings = [
            DiffusionMap(n_neighbors=300, bandwidth=epsilon, alpha=alpha).fit(X).eigenpairs_
            for X, _ in curves
        ]
        planes = [eigenpairs.right[:, 1:3] for eigenpairs in embeddings]
        results[f"embedding {alpha:g}"] = planes[0]
        results[f"fits {alpha:g}"] = np.array(
            [_fit(plane, turn) for plane, (_, turn) in zip(planes, curves, strict=True)]
        )
    return results


def _curve(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return 2000 points (n, 3) and their arclengths as angles in [0, 2 pi)."""
    X, s = make_torus_helix(2000, density=DENSITY, noise=0.0, random_state=seed)
    return X, 2 * np.pi * s / LENGTH


def _fit(plane: np.ndarray, turn: np.ndarray) -> tuple[float, float, float]:
    """Return r of angle and arclength, the radii's sd over mean, and r of the densities."""
    angle, radius = angles_about_middle(plane), np.linalg.norm(plane, axis=1)
    mirrored = circular_correlation(turn, angle) < 0
    aligned = -angle if mirrored else angle
    # The angle is turned to the zero of the arclength before sectors are compared.
    aligned = aligned + np.angle(np.exp(1j * (turn - aligned)).sum())
    shares = [np.histogram(a % (2 * np.pi), 12, (0, 2 * np.pi))[0] for a in (turn, aligned)]
    return (
        abs(circular_correlation(turn, angle)),
        radius.std() / radius.mean(),
        np.corrcoef(*shares)[0, 1],
    )


def numbers(results: dict[str, Any]) -> dict[str, float]:
    found: dict[str, float] = {"epsilon": results["epsilon"], "draws": len(results["fits 0"])}
    names = ("r of angle and arclength", "sd / mean of radii", "r of densities by angle")
    for alpha in ALPHAS:
        fits = results[f"fits {alpha:g}"]
        for name, mean, spread in zip(names, fits.mean(0), fits.std(0, ddof=1), strict=True):
            found[f"{name}, alpha {alpha:g}, mean"] = mean
            found[f"{name}, alpha {alpha:g}, sd"] = spread
    return found


def plot(results: dict[str, Any]) -> Figure:
    figure = Figure(figsize=(11.25, 3.6), layout="constrained")
    X, turn = results["curve"]
    space = figure.add_subplot(1, 4, 1, projection="3d")
    space.scatter(*X.T, c=turn, cmap="twilight", s=3)
    space.set(title="(a) curve", xlabel="x", ylabel="y", zlabel="z")
    space.set_box_aspect(np.ptp(X, axis=0), zoom=0.85)
    space.tick_params(labelsize=7)
    _draw_density(figure.add_subplot(1, 4, 2), turn)
    for place, alpha in enumerate(ALPHAS):
        axes = figure.add_subplot(1, 4, 3 + place)
        plane = results[f"embedding {alpha:g}"]
        points = axes.scatter(*plane.T, c=turn, cmap="twilight", s=3)
        axes.set(xlabel=r"$\psi_1$", ylabel=r"$\psi_2$")
        axes.set_aspect("equal", adjustable="datalim")
        axes.set_title(f"({'cd'[place]}) " + rf"$\alpha$ = {alpha:g}")
    figure.colorbar(points, ax=axes, label="arclength (rad)", shrink=0.8)
    return figure


def _draw_density(axes: Any, turn: np.ndarray) -> None:
    grid = np.linspace(0, 2 * np.pi, 200)
    axes.hist(turn, bins=40, density=True, color=SKY_BLUE, label="points")
    axes.plot(grid, (1 + DENSITY * np.cos(grid)) / (2 * np.pi), color="black", label="drawn from")
    axes.set(title="(b) density", xlabel="arclength (rad)", ylabel="density (1/rad)")
    axes.legend(frameon=False, loc="upper center")


if __name__ == "__main__":
    main(compute, numbers, plot)
