"""Coifman et al. 2005, figure 3: the geometry of a curve, separated from its density.

A closed spiral, sampled with density 1 + 0.8 cos(2 pi s / L) along its arclength s, is embedded by

    alpha = 0   normalised graph Laplacian: the density bends the circle,
    alpha = 1   Laplace-Beltrami: (psi_1, psi_2) -> sqrt(2) (cos, sin)(2 pi s / L + const).

The text describes closed curves that embed as circles on which the density is preserved. The paper
gives no curve; this one is the helix around a torus. epsilon is what the semigroup error chooses
on 2,000 of its points.

An open horseshoe keeps the order of the points and so has a circular correlation near 1. What tells
it from a circle is the longest step between neighbours along the curve, over the mean radius. The
curve is sampled densely, as the text asks: of 6,000 points, a ninth as dense at the sparsest place
as at the densest, none is farther than epsilon^(1/2) from the next. Of 2,000 some are in every
draw, and in most draws the embedding opens there; the numbers tell both.

    python -m experiments.coifman_2005.figure_3
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from diffclass import DiffusionMap
from diffclass.plots import SKY_BLUE
from experiments.coifman_2005.circular import angles_about_middle, circular_correlation
from experiments.datasets import make_torus_helix
from experiments.figure import column_figure, main

N_POINTS, TOO_FEW = 6000, 2000
EPSILON = 0.1127  # squared units of the points
LENGTH = 51.9914
DENSITY = 0.8
ALPHAS = (0.0, 1.0)


def compute(quick: bool) -> dict[str, Any]:
    n_draws = 2 if quick else 10
    curves = [_curve(N_POINTS, seed) for seed in range(n_draws)]
    results: dict[str, Any] = {"curve": curves[0]}
    for alpha in ALPHAS:
        planes = [_plane(X, alpha) for X, _ in curves]
        results[f"embedding {alpha:g}"] = planes[0]
        results[f"fits {alpha:g}"] = np.array(
            [_fit(plane, turn) for plane, (_, turn) in zip(planes, curves, strict=True)]
        )
    sparse = [_curve(TOO_FEW, seed) for seed in range(n_draws)]
    results["fits of too few"] = np.array([_fit(_plane(X, 1.0), turn) for X, turn in sparse])
    return results


def _curve(n_points: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points (n, 3) and their arclengths as angles in [0, 2 pi)."""
    X, s = make_torus_helix(n_points, density=DENSITY, noise=0.0, random_state=seed)
    return X, 2 * np.pi * s / LENGTH


def _plane(X: np.ndarray, alpha: float) -> np.ndarray:
    """Return psi_1 and psi_2, with neighbours as far as the kernel reaches."""
    chart = DiffusionMap(n_neighbors=len(X) // 10, bandwidth=EPSILON, alpha=alpha)
    return chart.fit(X).eigenpairs_.right[:, 1:3]


def _fit(plane: np.ndarray, turn: np.ndarray) -> tuple[float, float, float, float]:
    """Return r of angle and arclength, the radii's sd over mean, r of the densities, the step."""
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
        longest_step(plane, turn) / radius.mean(),
    )


def longest_step(plane: np.ndarray, turn: np.ndarray) -> float:
    """Return the greatest distance in the plane (n, 2) of neighbours along a closed curve."""
    around = plane[np.argsort(turn)]
    return float(np.linalg.norm(around - np.roll(around, 1, axis=0), axis=1).max())


def numbers(results: dict[str, Any]) -> dict[str, float]:
    found: dict[str, float] = {"epsilon": EPSILON, "draws": len(results["fits 0"])}
    names = ("r of angle and arclength", "sd / mean of radii", "r of densities by angle")
    step = "longest step / mean radius"
    for alpha in ALPHAS:
        fits = results[f"fits {alpha:g}"]
        for name, mean, spread in zip(names, fits.mean(0), fits.std(0, ddof=1), strict=False):
            found[f"{name}, alpha {alpha:g}, mean"] = mean
            found[f"{name}, alpha {alpha:g}, sd"] = spread
        found[f"{step}, alpha {alpha:g}, greatest"] = fits[:, 3].max()
    few = results["fits of too few"]
    found[f"{names[0]}, alpha 1, {TOO_FEW} points, mean"] = few[:, 0].mean()
    for name, value in (("least", few[:, 3].min()), ("greatest", few[:, 3].max())):
        found[f"{step}, alpha 1, {TOO_FEW} points, {name}"] = value
    return found


def plot(results: dict[str, Any]) -> Figure:
    figure = column_figure(3.5)
    panels = figure.subplots(2, 2)
    X, turn = results["curve"]
    look = {"c": turn, "cmap": "twilight", "s": 1.5, "linewidths": 0}
    points = panels[0, 0].scatter(*X[:, :2].T, **look)
    panels[0, 0].set(title="(a) curve, from above", xlabel="x", ylabel="y", aspect="equal")
    _draw_density(panels[0, 1], turn)
    for axes, letter, alpha in zip(panels[1], "cd", ALPHAS, strict=True):
        axes.scatter(*results[f"embedding {alpha:g}"].T, **look)
        axes.set(xlabel=r"$\psi_1$", ylabel=r"$\psi_2$", title=rf"({letter}) $\alpha$ = {alpha:g}")
        axes.set_aspect("equal", adjustable="datalim")
    grid = np.linspace(0, 2 * np.pi, 200)
    circle = np.sqrt(2) * np.stack([np.cos(grid), np.sin(grid)])
    axes.plot(*circle, "--", color="0.5", linewidth=0.6, label=r"radius $\sqrt{2}$", zorder=0)
    axes.legend(loc="center")
    figure.colorbar(points, ax=panels, location="bottom", label="arclength (rad)", aspect=40)
    return figure


def _draw_density(axes: Any, turn: np.ndarray) -> None:
    grid = np.linspace(0, 2 * np.pi, 200)
    axes.hist(turn, bins=40, density=True, color=SKY_BLUE, label="points")
    axes.plot(grid, (1 + DENSITY * np.cos(grid)) / (2 * np.pi), color="black", label="drawn from")
    axes.set(
        title="(b) density", xlabel="arclength (rad)", ylabel="density (1/rad)", ylim=(0, 0.42)
    )
    axes.legend(loc="upper center")


if __name__ == "__main__":
    main(compute, numbers, plot)
