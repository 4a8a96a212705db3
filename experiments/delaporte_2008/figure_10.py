"""De la Porte et al., figures 7 to 11: which method keeps the order of clusters in one dimension.

Five clusters along a C, wider than in figure 5, are mapped to a plane and to a line by PCA, MDS,
Isomap and a diffusion map (alpha = 0, epsilon as in figure 6; Isomap with 5 neighbours, the paper
says "very small"; MDS by SMACOF from classical scaling, which is PCA). The numbers are those of the
line. A draw keeps the order if the medians of the five clusters are monotonic. Clusters can be in
order and still overlap, which shows in the share of points nearest to the median of their own
cluster.

The paper's claims: PCA and MDS lose the order, Isomap keeps it with a small neighbourhood,
diffusion maps keep it and depend less on their parameter, which both sweeps test. Findings: PCA and
hence classical MDS lose it; SMACOF, which weighs all distances, keeps the order of the medians;
Isomap is worst with the fewest neighbours and best with 32 to 64 of the 300 points.

    python -m experiments.delaporte_2008.figure_10
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA
from sklearn.manifold import Isomap, smacof

from diffclass import DiffusionMap
from diffclass.plots import BLUE, VERMILION
from experiments.datasets import make_c_shape
from experiments.delaporte_2008.figure_6 import EPSILON
from experiments.delaporte_2008.order import keeps_order, share_told_apart
from experiments.figure import column_figure, main
from experiments.measures import rank_correlation

ISOMAP_NEIGHBORS = 5
SWEEPS = {"Isomap": (4, 5, 8, 16, 32, 64, 128), "diffusion map": (0.03, 0.1, 0.5, 1.0, 3.0, 10.0)}


def compute(quick: bool) -> dict[str, Any]:
    n_points, n_draws, n_swept = (150, 4, 2) if quick else (300, 20, 10)
    sets = [make_c_shape(n_points, noise=0.1, random_state=seed) for seed in range(n_draws)]
    lines = {name: [line(X) for X, _ in sets] for name, line in METHODS.items()}
    return {
        "set": sets[0],
        "lines": {name: found[0][:, 0] for name, found in lines.items()},
        "planes": {name: line(sets[0][0], n_components=2) for name, line in METHODS.items()},
        "measures": {
            name: np.array([_measures(y, place) for y, (_, place) in zip(found, sets, strict=True)])
            for name, found in lines.items()
        },
        "sweeps": {
            name: np.array([_swept(name, value, sets[:n_swept]) for value in values])
            for name, values in SWEEPS.items()
        },
    }


def _pca(X: np.ndarray, *, n_components: int = 1) -> np.ndarray:
    return PCA(n_components).fit_transform(X)


def _mds(X: np.ndarray, *, n_components: int = 1) -> np.ndarray:
    start = _pca(X, n_components=n_components)  # classical scaling of Euclidean distances
    return smacof(cdist(X, X), n_components=n_components, init=start, n_init=1)[0]


def _isomap(
    X: np.ndarray, n_neighbors: float = ISOMAP_NEIGHBORS, *, n_components: int = 1
) -> np.ndarray:
    with warnings.catch_warnings():
        # If few neighbours leave the graph disconnected, Isomap joins the parts with a warning.
        warnings.filterwarnings("ignore", message="The number of connected components")
        warnings.filterwarnings("ignore", message="Changing the sparsity structure")
        return Isomap(n_neighbors=int(n_neighbors), n_components=n_components).fit_transform(X)


def _diffusion_map(X: np.ndarray, epsilon: float = EPSILON, *, n_components: int = 1) -> np.ndarray:
    chart = DiffusionMap(n_components, n_neighbors=len(X) - 1, bandwidth=epsilon, alpha=0.0)
    return chart.fit_transform(X)


METHODS: dict[str, Callable[..., np.ndarray]] = {
    "PCA": _pca, "MDS by SMACOF": _mds, "Isomap": _isomap, "diffusion map": _diffusion_map
}  # fmt: skip


def _measures(Y: np.ndarray, place: np.ndarray) -> tuple[float, float, float]:
    y = Y[:, 0]
    return keeps_order(y, place), rank_correlation(y, place), share_told_apart(y, place)


def _swept(name: str, value: float, sets: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Return the mean measures at one value of the method's parameter."""
    return np.mean([_measures(METHODS[name](X, value), place) for X, place in sets], axis=0)


def numbers(results: dict[str, Any]) -> dict[str, float]:
    found: dict[str, float] = {"draws": len(results["measures"]["PCA"])}
    for name, measures in results["measures"].items():
        found[f"{name}: share of draws in order"] = measures[:, 0].mean()
        for place, what in ((1, "rank r"), (2, "share told apart")):
            found[f"{name}: {what}, mean"] = measures[:, place].mean()
            found[f"{name}: {what}, sd"] = measures[:, place].std(ddof=1)
    for name, values in SWEEPS.items():
        for value, means in zip(values, results["sweeps"][name], strict=True):
            found[f"{name} at {value:g}: share of draws in order"] = means[0]
            found[f"{name} at {value:g}: share told apart"] = means[2]
    return found


def plot(results: dict[str, Any]) -> Figure:
    figure = column_figure(6.2)
    panels = figure.subplots(len(METHODS) + 1, 2)
    place = results["set"][1]
    jitter = np.random.default_rng(0).uniform(-0.3, 0.3, len(place))
    look = {"c": place, "cmap": "viridis", "s": 3, "linewidths": 0}
    for (plane, line), name in zip(panels, METHODS, strict=False):
        plane.scatter(*results["planes"][name].T, **look)
        line.scatter(results["lines"][name], place + jitter, **look)
        order, _, apart = results["measures"][name].mean(axis=0)
        plane.set(title="PCA, classical MDS" if name == "PCA" else name, ylabel="coordinate 2")
        line.set(title=f"order {order:.0%}, apart {apart:.0%}", yticks=range(5))
        line.set_ylabel("place along the C")
    for axes in panels[-2]:
        axes.set_xlabel("coordinate 1")
    labels = ("neighbours", r"$\epsilon$ (squared units)")
    for axes, name, label in zip(panels[-1], SWEEPS, labels, strict=True):
        _draw_sweep(axes, SWEEPS[name], results["sweeps"][name])
        axes.set(xlabel=label, ylabel="share", title=f"{name}, swept")
    return figure


def _draw_sweep(axes: Any, values: tuple[float, ...], means: np.ndarray) -> None:
    axes.semilogx(values, means[:, 0], "o-", color=BLUE, label="draws in order")
    axes.semilogx(values, means[:, 2], "s--", color=VERMILION, label="points told apart")
    axes.set_ylim(0, 1.08)
    axes.legend(loc="lower left")


if __name__ == "__main__":
    main(compute, numbers, plot)
