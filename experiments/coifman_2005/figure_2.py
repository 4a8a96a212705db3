"""Coifman et al. 2005, figure 2: the lobes of a dumbbell move apart, and A is near the handle.

The dumbbell is embedded by its first three eigenfunctions, lambda_l^t psi_l at alpha = 0. A is the
middle of a lobe, B that of the handle, C a point on the lobe's edge. The caption says that A is
closer to the handle than C, which has two readings:

    first    D_t(A, B) < D_t(A, C)    the reason given: more short paths join A and B than A and C
    second   D_t(A, B) < D_t(C, B)    also true in the plane, where C is farther from B

Findings. The second reading holds in nearly all draws with many eigenfunctions, and with three
eigenfunctions where the lobes are tall. With three eigenfunctions and round lobes it holds in half
of the draws: A and C are about equally far from B.

The first reading depends on the shape of the lobes and on t. In round lobes the second and third
eigenfunctions vary along the axis of the handle, on which A and C agree, and it fails. In lobes 1.4
times as tall as wide they vary across it, and it holds in all draws at a hundredth of the
relaxation time, 1 / -log lambda_1, although C is nearer to A in the plane. Later only psi_1 counts,
in which A and C agree, and it fails for every lobe. With 100 eigenfunctions it never holds here.
The paper gives no measures; epsilon is that of a graph of 64 neighbours.

    python -m experiments.coifman_2005.figure_2
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from diffclass import leading_eigenpairs, markov_operator
from diffclass.kernels import Gaussian
from diffclass.plots import BLUE, VERMILION
from diffclass.spectral import diffusion_coordinates, diffusion_distances
from experiments.datasets import make_dumbbell
from experiments.figure import column_figure, main

HEIGHTS = {"round lobes": 1.0, "tall lobes": 1.4}
TIMES = (0.01, 0.03, 0.1, 1.0)  # in relaxation times
APART = 0.1  # the time at which the lobes' gap is measured
BRIDGE_WIDTH = 0.3
SHOWN = 500  # points drawn
A, B, C = range(3)


def compute(quick: bool) -> dict[str, Any]:
    n_points, n_draws, n_pairs = (1000, 3, 30) if quick else (2000, 10, 100)
    results: dict[str, Any] = {}
    for name, height in HEIGHTS.items():
        draws = [_dumbbell(n_points, seed, height) for seed in range(n_draws)]
        spectra = [_eigenpairs(X, n_pairs) for X, _ in draws]
        results[name] = {
            "X": draws[0][0],
            "plane": _sides(draws[0][0]),
            "three": np.array([[_diffused(s, t, 4) for t in TIMES] for s in spectra]),
            "all": np.array([[_diffused(s, t, n_pairs) for t in TIMES] for s in spectra]),
            "apart": np.array([_apart(*draw, s) for draw, s in zip(draws, spectra, strict=True)]),
            "embedding": spectra[0].right[:, 1:4]
            * np.exp(TIMES[0] * _log_ratio(spectra[0].eigenvalues[1:4])),
        }
    return results


def _dumbbell(n_points: int, seed: int, height: float) -> tuple[np.ndarray, np.ndarray]:
    """Return a dumbbell whose lobes have the half axes 1 and ``height``, and each point's part."""
    X, part = make_dumbbell(n_points, bridge_width=BRIDGE_WIDTH / height, random_state=seed)
    return X * [1.0, height], part


def _eigenpairs(X: np.ndarray, n_pairs: int) -> Any:
    operator = markov_operator(X, n_neighbors=64, kernel=Gaussian(bandwidth="graph"), alpha=0.0)
    return leading_eigenpairs(operator, n_pairs, which="algebraic")


def _log_ratio(eigenvalues: np.ndarray) -> np.ndarray:
    """Return log lambda_l / -log lambda_1: exponents per relaxation time."""
    return np.log(eigenvalues) / -np.log(eigenvalues[0])


def _steps(eigenpairs: Any, time: float) -> float:
    return time / -np.log(eigenpairs.eigenvalues[1])


def _diffused(eigenpairs: Any, time: float, n_pairs: int) -> np.ndarray:
    """Return D_t(A, B), D_t(A, C) and D_t(C, B) by the first pairs."""
    first = type(eigenpairs)(
        eigenpairs.eigenvalues[:n_pairs], eigenpairs.right[:, :n_pairs],
        eigenpairs.stationary_distribution, eigenpairs.n_connected_components,
    )  # fmt: skip
    D = diffusion_distances(first, [A, B, C], [A, B, C], time=_steps(eigenpairs, time))
    return D[[A, A, C], [B, C, B]]


def _sides(X: np.ndarray) -> np.ndarray:
    return np.linalg.norm(X[[A, A, C]] - X[[B, C, B]], axis=1)


def _apart(X: np.ndarray, part: np.ndarray, eigenpairs: Any) -> tuple[float, float]:
    """Return the gap of the lobes' middles over their rms radius, in the plane and diffused."""
    coordinates = diffusion_coordinates(eigenpairs, _steps(eigenpairs, APART))[:, :3]
    return _separation(X, part), _separation(coordinates, part)


def _separation(places: np.ndarray, part: np.ndarray) -> float:
    lobes = [places[part == code] for code in (0, 2)]
    middles = [lobe.mean(axis=0) for lobe in lobes]
    radii = [np.sqrt(lobe.var(axis=0).sum()) for lobe in lobes]
    return float(np.linalg.norm(middles[0] - middles[1]) / np.mean(radii))


def numbers(results: dict[str, Any]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, result in results.items():
        for pair, side in zip(("AB", "AC", "CB"), result["plane"], strict=True):
            found[f"{name}: {pair} in the plane"] = side
        for kind in ("three", "all"):
            for place, time in enumerate(TIMES):
                found |= _readings(result[kind][:, place], f"{name}, {kind}, t = {time:g}")
        for place, where in enumerate(("plane", f"t = {APART:g}")):
            found[f"{name}: lobes' gap / radius, {where}"] = result["apart"][:, place].mean()
    return found


def _readings(sides: np.ndarray, name: str) -> dict[str, float]:
    AB, AC, CB = sides.T
    return {
        f"{name}: D(A,B) / D(A,C), mean": np.mean(AB / AC),
        f"{name}: share D(A,B) < D(A,C)": np.mean(AB < AC),
        f"{name}: share D(A,B) < D(C,B)": np.mean(AB < CB),
    }


def plot(results: dict[str, Any]) -> Figure:
    figure = column_figure(5.2)
    panels = figure.subplots(4, 2, height_ratios=(0.75, 1, 1, 1))
    for column, (name, result) in zip(panels.T, results.items(), strict=True):
        X, embedding = result["X"][:SHOWN], result["embedding"][:SHOWN]
        embedding = embedding * np.sign(embedding[B] - embedding[A])  # signs mean nothing
        _draw_points(column[0], X, X, ("x", "y"))
        column[0].set_title(f"{name}, in the plane")
        for axes, other in zip(column[1:], (1, 2), strict=False):
            names = (r"$\psi_1$", rf"$\psi_{other + 1}$")
            _draw_points(axes, embedding[:, [0, other]], X, names)
            axes.set_title(f"diffused, t = {TIMES[0]:g}")
        _draw_ratios(column[3], result)
    figure.legend(*column[3].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def _draw_points(axes: Any, places: np.ndarray, X: np.ndarray, names: tuple[str, str]) -> None:
    """Draw the points, coloured by x, and A, B and C as letters beside them."""
    axes.scatter(*places.T, c=X[:, 0], s=2, linewidths=0, cmap="viridis")
    axes.set(xlabel=names[0], ylabel=names[1])
    axes.set_aspect("equal", adjustable="datalim")
    low, high = places[:, 1].min(), places[:, 1].max()
    axes.update_datalim([(0, high + 0.3 * (high - low))])  # room for the letters
    for code, (letter, shift) in enumerate((("A", (-9, -8)), ("B", (-2, 4)), ("C", (-9, 3)))):
        axes.plot(*places[code], "o", color=VERMILION, markeredgecolor="black", markeredgewidth=0.5)
        axes.annotate(letter, places[code], shift, textcoords="offset points", weight="bold",
                      path_effects=[withStroke(linewidth=1.5, foreground="white")])  # fmt: skip


def _draw_ratios(axes: Any, result: dict[str, Any]) -> None:
    for kind, style, label in (("three", "-", "3 functions"), ("all", "--", "100 functions")):
        AB, AC, CB = np.moveaxis(result[kind], 2, 0)
        axes.loglog(TIMES, (AB / AC).mean(0), "o" + style, color=VERMILION, label=f"AB/AC, {label}")
        axes.loglog(TIMES, (AB / CB).mean(0), "s" + style, color=BLUE, label=f"AB/CB, {label}")
    axes.axhline(1, color="0.5", linewidth=0.8)
    axes.set(xlabel="t (relaxation times)", ylabel="ratio of distances", title="below 1: A nearer")


if __name__ == "__main__":
    main(compute, numbers, plot)
