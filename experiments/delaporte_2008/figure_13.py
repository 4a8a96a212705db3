"""De la Porte et al., figures 12 and 13: turned pictures ordered by their angle.

Pictures of one object, turned by random angles, lie on a closed curve in the space of pictures; a
diffusion map draws it as a circle, on which the angle is that of the picture. PCA projects the
curve on the plane of most variance, in which it turns twice while the picture turns once, so the
angle there says nothing (neighbours are close in angle except where the curve crosses itself).

Numbers: Fisher and Lee's circular correlation of the angle in the plane and the true one, and the
true angle between a picture and the nearest in the plane. 64 x 64 pixels instead of 255 x 255; the
object is ours. The map's parameters are the library's defaults, at alpha = 1 and the paper's 0.

    python -m experiments.delaporte_2008.figure_13
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.spatial import cKDTree
from sklearn.decomposition import PCA

from diffclass import DiffusionMap
from experiments.coifman_2005.circular import angles_about_middle, circular_correlation
from experiments.datasets import make_rotated_images
from experiments.figure import column_figure, main

SHOWN = 18  # pictures drawn at their coordinates


def compute(quick: bool) -> dict[str, Any]:
    n_pictures, size, n_draws = (300, 24, 3) if quick else (500, 64, 10)
    results: dict[str, Any] = {"fits": {}}
    for seed in range(n_draws):
        X, angle = make_rotated_images(n_pictures, size=size, random_state=seed)
        planes = _planes(X)
        for name, plane in planes.items():
            results["fits"].setdefault(name, []).append(_fit(plane, angle))
        if seed == 0:
            results |= {"pictures": X.reshape(-1, size, size), "angle": angle, "planes": planes}
    return results


def _planes(X: np.ndarray) -> dict[str, np.ndarray]:
    return {
        "PCA": PCA(2, random_state=0).fit_transform(X),
        "alpha 0": DiffusionMap(alpha=0.0).fit_transform(X),
        "alpha 1": DiffusionMap(alpha=1.0).fit_transform(X),
    }


def _fit(plane: np.ndarray, angle: np.ndarray) -> tuple[float, float, float]:
    """Return |r|, sd over mean of the radii, and the median angle to the nearest, degrees."""
    radius = np.linalg.norm(plane, axis=1)
    nearest = cKDTree(plane).query(plane, k=2)[1][:, 1]
    gap = np.abs(np.angle(np.exp(1j * (angle - angle[nearest]))))
    r = abs(circular_correlation(angle, angles_about_middle(plane)))
    return r, radius.std() / radius.mean(), np.rad2deg(np.median(gap))


def numbers(results: dict[str, Any]) -> dict[str, float]:
    found: dict[str, float] = {"draws": len(results["fits"]["PCA"])}
    names = ("circular r, mean", "sd / mean of radii, mean", "angle to the nearest (deg), mean")
    for method, fits in results["fits"].items():
        values = np.array(fits)
        for name, value in zip(names, values.mean(axis=0), strict=True):
            found[f"{method}: {name}"] = value
        found[f"{method}: circular r, sd"] = values[:, 0].std(ddof=1)
    return found


def plot(results: dict[str, Any]) -> Figure:
    figure = column_figure(3.6)
    panels = figure.subplots(2, 2)
    angle = np.rad2deg(results["angle"])
    for axes, (name, plane) in zip(panels.flat, results["planes"].items(), strict=False):
        points = axes.scatter(*plane.T, c=angle, cmap="twilight", s=3, linewidths=0)
        axes.set_title(name if name == "PCA" else rf"diffusion map, $\alpha$ = {name[-1]}")
    _draw_pictures(panels[1, 1], results["planes"]["alpha 1"], results["pictures"])
    panels[1, 1].set_title("the pictures in their places")
    for axes in panels.flat:
        axes.set(aspect="equal", xlabel="coordinate 1", ylabel="coordinate 2")
    bar = figure.colorbar(points, ax=panels, location="bottom", aspect=40)
    bar.set_label("angle of the picture (degrees)")
    return figure


def _draw_pictures(axes: Any, plane: np.ndarray, pictures: np.ndarray) -> None:
    """Draw some pictures at their coordinates: the first in each sector of the circle."""
    sector = np.floor(angles_about_middle(plane) * SHOWN / (2 * np.pi)).astype(int)
    reach = np.abs(plane).max()
    half = 0.14 * reach
    for place in np.unique(sector, return_index=True)[1]:
        x, y = plane[place]
        extent = (x - half, x + half, y - half, y + half)
        axes.imshow(pictures[place], cmap="gray_r", extent=extent)
    axes.set(xlim=(-1.15 * reach, 1.15 * reach), ylim=(-1.15 * reach, 1.15 * reach))


if __name__ == "__main__":
    main(compute, numbers, plot)
