"""Coifman et al. 2005, figure 4: the first eigenfunction of a directed kernel is a function of F.

On points of the unit square the kernel exp(-d^2 / epsilon - |F(x) - F(y)|^2 / epsilon^2) diffuses
along the level sets of F; the first eigenfunction psi_1 is then a function of F, as long as each
level set is connected. The paper shows one F and gives neither a formula nor epsilon. Here:

    tilted plane   x + y / 2; the level sets are segments.
    hump           16 x (1 - x) y (1 - y): rises and falls along every line parallel to an axis. Its
                   logarithm is concave, so {F >= c} is convex for every c > 0. F vanishes only on
                   the edge of the square: the level sets are closed curves, one for each c.
    swirl          the first coordinate after a turn about the middle by the angle
                   pi (1 - 4 r^2)^2 at the distance r <= 1/2, and by 0 beyond. The turn is a
                   homeomorphism of the square, so the level sets, which are images of vertical
                   segments, are connected arcs; in the middle F runs backwards.
    cosine         cos(2 pi x): a level set is two segments, x and 1 - x. The limit is constant on
                   each. Walks from one to the other pass F = -1, where they meet, so the first
                   eigenfunction runs through both, is odd about x = 1/2 and not a function of F.

The share of the variance of psi_1 explained by F is 1 - (squared error) / (variance) of predicting
it at held-out points (ten folds) as the mean over the 16 points nearest in F; by F and component,
nearest in F on the same component.

The kernel is the paper's own, in the units of the square and of F, on all pairs up to D = 3, with
alpha = 1. epsilon = 0.02 fits 2000 points: at 0.005 the graph falls apart. The unit of F counts:
with F / 16 in the place of the hump, whose values then differ by 0.06 at most, steps across the
level sets are as fast as those along them, and F explains nothing.

    python -m experiments.coifman_2005.figure_4
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.neighbors import KNeighborsRegressor

from diffclass import DiffusionMap
from diffclass.kernels import Directed, Gaussian, Kernel
from diffclass.neighbors import RadiusSearch
from diffclass.plots import BLUE, VERMILION
from experiments.figure import column_figure, main
from experiments.measures import mean_and_spread

Function = Callable[[np.ndarray], np.ndarray]

EPSILON = 0.02
REACH = 3.0  # in D; beyond it the kernel is below exp(-9)


def tilted_plane(X: np.ndarray) -> np.ndarray:
    return X[:, 0] + X[:, 1] / 2


def hump(X: np.ndarray) -> np.ndarray:
    return 16 * (X * (1 - X)).prod(axis=1)


def low_hump(X: np.ndarray) -> np.ndarray:
    return hump(X) / 16


def swirl(X: np.ndarray) -> np.ndarray:
    x, y = (X - 0.5).T
    angle = np.pi * np.maximum(1 - 4 * (x * x + y * y), 0) ** 2
    return 0.5 + np.cos(angle) * x - np.sin(angle) * y


def cosine(X: np.ndarray) -> np.ndarray:
    return np.cos(2 * np.pi * X[:, 0])


FUNCTIONS = {"tilted plane": tilted_plane, "hump": hump, "swirl": swirl, "cosine": cosine}


def compute(quick: bool) -> dict[str, Any]:
    n_points, n_draws = (1500, 1) if quick else (2000, 10)
    draws = _squares(n_points, n_draws)
    isotropic = [first_eigenfunction(X, Gaussian(bandwidth="graph")) for X in draws]
    results: dict[str, Any] = {"X": draws[0]}
    for name, function in FUNCTIONS.items():
        psi = [_directed_eigenfunction(X, function) for X in draws]
        pairs = list(zip(draws, psi, strict=True))
        results[name] = {
            "psi": psi[0],
            "F": [explained_share(f, function(X)) for X, f in pairs],
            "F, isotropic kernel": [
                explained_share(f, function(X)) for X, f in zip(draws, isotropic, strict=True)
            ],
        }
    results["cosine"]["F and component"] = [explained_share(f, _components(X)) for X, f in pairs]
    results["cosine"]["|r| of psi_1 and x"] = [abs(np.corrcoef(f, X[:, 0])[0, 1]) for X, f in pairs]
    results["hump"]["F, of F / 16"] = [
        explained_share(_directed_eigenfunction(X, low_hump), hump(X)) for X in draws
    ]
    return results


def _squares(n_points: int, n_draws: int) -> list[np.ndarray]:
    return [np.random.default_rng(seed).random((n_points, 2)) for seed in range(n_draws)]


def first_eigenfunction(X: np.ndarray, kernel: Kernel) -> np.ndarray:
    """Return psi_1, of shape (n,), on a graph of 64 neighbours."""
    return DiffusionMap(1, n_neighbors=64, kernel=kernel, time=0).fit_transform(X)[:, 0]


def _directed_eigenfunction(X: np.ndarray, function: Function) -> np.ndarray:
    """Return psi_1 of the paper's kernel, of shape (n,)."""
    kernel = Directed(function, epsilon=EPSILON, bandwidth=1.0, scaled=False)
    search = RadiusSearch(REACH, max_degree=len(X))
    return DiffusionMap(1, kernel=kernel, search=search, time=0).fit_transform(X)[:, 0]


def explained_share(values: np.ndarray, by: np.ndarray) -> float:
    """Return the share of the variance explained by the 16 nearest other points in ``by``.

    It is computed on held-out points, and negative if they agree no better than by chance.
    """
    by = by.reshape(len(values), -1)
    folds = KFold(10, shuffle=True, random_state=0)
    predicted = cross_val_predict(KNeighborsRegressor(16), by, values, cv=folds)
    return float(1 - np.mean((values - predicted) ** 2) / values.var())


def _components(X: np.ndarray) -> np.ndarray:
    """Return F = cos(2 pi x) and the half of the square, far enough apart not to mix."""
    return np.column_stack([cosine(X), 9.0 * (X[:, 0] > 0.5)])


def numbers(results: dict[str, Any]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name in FUNCTIONS:
        shares = {key: value for key, value in results[name].items() if key != "psi"}
        for by, values in shares.items():
            what = by if by.startswith("|r|") else f"explained by {by}"
            found |= mean_and_spread(f"{name}: {what}", values)
        if name != "cosine":
            found[f"{name}: explained by F, least"] = min(results[name]["F"])
    found["cosine: explained by F and component, least"] = min(results["cosine"]["F and component"])
    found["cosine: explained by F, greatest"] = max(results["cosine"]["F"])
    return found


def plot(results: dict[str, Any]) -> Figure:
    figure = column_figure(4.9)
    panels = figure.subplots(len(FUNCTIONS), 3)
    X = results["X"]
    look = {"s": 2, "cmap": "viridis", "linewidths": 0, "vmin": 0, "vmax": 1}
    for row, (name, function) in zip(panels, FUNCTIONS.items(), strict=True):
        f = function(X)
        psi = results[name]["psi"] * np.sign(results[name]["psi"] @ (f - f.mean() + X[:, 0] / 9))
        for axes, values, title in zip(row, (f, psi), (f"{name}: F", r"$\psi_1$"), strict=False):
            points = axes.scatter(*X.T, c=ranks(values), **look)
            axes.set(aspect="equal", xlim=(0, 1), ylim=(0, 1), title=title)
            axes.set(xticks=(0, 1), yticks=(0, 1))
        row[0].set_ylabel("y", labelpad=-4)
        half = np.where(X[:, 0] > 0.5, VERMILION, BLUE)
        row[2].scatter(f, psi, c=half if name == "cosine" else "black", s=2, linewidths=0)
        row[2].set(ylabel=r"$\psi_1$", title=f"share by F {results[name]['F'][0]:.4f}")
    for axes, label in zip(panels[-1], ("x", "x", "F"), strict=True):
        axes.set_xlabel(label)
    _name_halves(panels[-1, 2])
    bar = figure.colorbar(points, ax=panels, location="bottom", aspect=40, pad=0.01)
    bar.set_label(r"rank of F, of $\psi_1$ (share of the points below)")
    return figure


def ranks(values: np.ndarray) -> np.ndarray:
    """Return for each value the share of the others below it."""
    return np.argsort(np.argsort(values)) / len(values)


def _name_halves(axes: Any) -> None:
    for height, text, color in ((0.94, "x < 1/2", BLUE), (0.78, "x > 1/2", VERMILION)):
        axes.text(0.06, height, text, color=color, va="top", size=6, transform=axes.transAxes)


if __name__ == "__main__":
    main(compute, numbers, plot)
