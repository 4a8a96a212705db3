"""What the figures share: the t that the semigroup error chooses, and what is recovered there.

The paper has two kernels, exp(-d^2 / t) in equation 1 and exp(-d^2 / 4t) in equation 11, and does
not say by which its figures count. Here t is that of equation 1, which is the library's epsilon: by
it the t that the paper prints (figures 7 to 10) are found again, by equation 11 they are four times
too large. The tables have both. The kernel is full, without the cutoff of equation 11, and t is
chosen by the rule of `diffclass.semigroup_bandwidth` on the paper's grids: powers of 4, for the
roll powers of 2. Draws in which the rule finds no t count only in the share found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components
from sklearn.decomposition import PCA
from sklearn.manifold import ClassicalMDS, SpectralEmbedding
from sklearn.neighbors import kneighbors_graph

from diffclass import leading_eigenpairs, markov_operator
from diffclass.kernels import Gaussian
from diffclass.plots import BLUE, VERMILION
from diffclass.spectral import diffusion_coordinates, semigroup_bandwidth
from experiments.figure import column_figure
from experiments.measures import mean_and_spread

FACTORS = {"t/4": 0.25, "t": 1.0, "4t": 4.0}
EQUATIONS = {"equation 1": 1.0, "equation 11": 0.25}  # t of the same kernel, exp(-d^2 / epsilon)
LEAST_NEIGHBORS = 10
LAPACKS = 2000  # points up to which LAPACK is faster

Recovery = Callable[[np.ndarray, np.ndarray], dict[str, float]]


def curve_of(X: np.ndarray, times: np.ndarray, alpha: float) -> Any:
    """Semigroup error at each t of equation 1, and the choice."""
    return semigroup_bandwidth(X, times, alpha=alpha)


def coordinates(
    X: np.ndarray, time: float, *, alpha: float, n_coordinates: int, is_crowded: bool = False
) -> np.ndarray:
    """First nontrivial coordinates lambda_l psi_l of the full kernel exp(-d^2 / t)."""
    kernel = Gaussian(bandwidth=time)
    operator = markov_operator(X, n_neighbors=len(X) - 1, kernel=kernel, alpha=alpha)
    # all pairs: where many eigenvalues are near 1, LAPACK is much faster than iterations
    eigenpairs = leading_eigenpairs(operator, len(X) if is_crowded else n_coordinates + 1)
    return diffusion_coordinates(eigenpairs)[:, :n_coordinates]


def others(X: np.ndarray, n_coordinates: int) -> dict[str, np.ndarray]:
    """Embed by scikit-learn; classical MDS of Euclidean distances is PCA up to signs."""
    n_linear = min(n_coordinates, X.shape[1])
    eigenmaps = SpectralEmbedding(
        n_coordinates,
        affinity="nearest_neighbors",
        n_neighbors=connecting_neighbors(X),
        random_state=0,
    )
    return {
        "PCA": PCA(n_linear).fit_transform(X),
        "MDS": ClassicalMDS(n_linear).fit_transform(X),
        "Laplacian eigenmaps": eigenmaps.fit_transform(X),
    }


def connecting_neighbors(X: np.ndarray) -> int:
    """Return the least of 10, 15, 20, ... neighbours that connect the graph, for eigenmaps."""
    k = LEAST_NEIGHBORS
    while connected_components(kneighbors_graph(X, k, include_self=True), directed=False)[0] > 1:
        k += 5
    return k


def study(
    make: Callable[[int], tuple[np.ndarray, np.ndarray]],
    recover: Recovery,
    *,
    times: np.ndarray,
    alpha: float,
    n_draws: int,
    n_coordinates: int = 2,
) -> dict[str, Any]:
    """Choose t for the draw of each seed, and measure what is recovered at t/4, t and 4t."""
    curves, recovered, shown = [], [], None
    for seed in range(n_draws):
        X, parameters = make(seed)
        curve = curve_of(X, times, alpha)
        curves.append(curve)
        if not curve.is_found:
            continue
        maps = {
            name: coordinates(
                X, f * curve.epsilon, alpha=alpha, n_coordinates=n_coordinates,
                is_crowded=f < 1 and len(X) <= LAPACKS,
            )
            for name, f in FACTORS.items()
        }  # fmt: skip
        recovered.append({name: recover(Y, parameters) for name, Y in maps.items()})
        if shown is None:
            shown = {"X": X, "parameters": parameters, "curve": curve, "maps": maps}
    return {"curves": curves, "recovered": recovered, "shown": shown}


def study_numbers(results: dict[str, Any]) -> dict[str, float]:
    """Return the chosen t, the share found, and mean and spread of measures at t/4, t and 4t."""
    found = chosen_of_curves(results["curves"])
    numbers = {
        "draws": len(results["curves"]),
        "share of draws in which the rule found t": np.isfinite(found).mean(),
    }
    if not results["recovered"]:
        return numbers
    for equation, factor in EQUATIONS.items():
        numbers |= {
            f"t chosen, median of the draws, {equation}": factor * np.nanmedian(found),
            f"t chosen, least, {equation}": factor * np.nanmin(found),
            f"t chosen, greatest, {equation}": factor * np.nanmax(found),
        }
    for factor in FACTORS:
        for measure in results["recovered"][0][factor]:
            values = [draw[factor][measure] for draw in results["recovered"]]
            numbers |= mean_and_spread(f"{measure} at {factor}", values)
    return numbers


def chosen_of_curves(curves: list[Any]) -> np.ndarray:
    """Return t of each draw by equation 1, NaN where the rule found none."""
    return np.array([curve.epsilon if curve.is_found else np.nan for curve in curves])


def circular_correlation(angles: np.ndarray, truth: np.ndarray) -> float:
    """Return |mean exp(i (a -+ b))|, 1 if the angles agree up to a rotation and a reflection."""
    return float(max(abs(np.exp(1j * (angles + sign * truth)).mean()) for sign in (-1, 1)))


def recover_circle(Y: np.ndarray, theta: np.ndarray) -> dict[str, float]:
    """Compare the angle of the first two coordinates with theta, and their radii with a circle."""
    radii = np.hypot(Y[:, 0], Y[:, 1])
    return {
        "circular r": circular_correlation(np.arctan2(Y[:, 1], Y[:, 0]), theta),
        "radius spread / mean": float(radii.std() / radii.mean()),
    }


def recover_rectangle(Y: np.ndarray, sides: np.ndarray) -> dict[str, float]:
    """Correlate arclength and height with a fixed coordinate each, and with the best one."""
    s, h = (np.abs([np.corrcoef(y, side)[0, 1] for y in Y.T]) for side in sides.T)
    return {
        "r of arclength with coordinate 1": float(s[0]),
        "r of arclength with the best coordinate": float(s.max()),
        "r of height with the best coordinate": float(h.max()),
    }


def plot_study(results: dict[str, Any], *, label: str, components: tuple[int, int] = (0, 1)) -> Any:
    """Draw the error of every draw, and embeddings of the first found one at t/4, t and 4t."""
    figure, axes = panels(4 if results["shown"] else 1)
    draw_curves(axes[0], results["curves"])
    if results["shown"] is None:
        return figure
    shown = results["shown"]
    colors, t = shown["parameters"], shown["curve"].epsilon
    colors = colors[:, 0] if colors.ndim == 2 else colors
    for ax, (name, Y) in zip(axes[1:], shown["maps"].items(), strict=True):
        title = f"{name} = {FACTORS[name] * t:.3g}"
        points = scatter(ax, Y, colors, title, components=components)
    figure.colorbar(points, ax=axes, location="bottom", aspect=40, label=label)
    return figure


def draw_maps(maps: dict[str, np.ndarray], arclength: np.ndarray) -> Any:
    """Draw each method's map of the same points in a panel of its own, coloured by arclength."""
    figure, axes = panels(len(maps))
    for ax, (name, Y) in zip(axes, maps.items(), strict=True):
        points = scatter(ax, Y, arclength, name)
    label = "arclength (units of the points)"
    figure.colorbar(points, ax=axes, location="bottom", aspect=40, label=label)
    return figure


def panels(n: int) -> tuple[Any, list[Any]]:
    """Return a figure of n panels, two in a row, and its axes."""
    n_rows = (n + 1) // 2
    figure = column_figure(1.5 * n_rows + 0.4)
    return figure, list(figure.subplots(n_rows, min(n, 2), squeeze=False).flat)


def draw_curves(ax: Any, curves: list[Any]) -> None:
    """Draw one thin line per draw, and the chosen t of each."""
    for curve in curves:
        ax.plot(curve.epsilons, curve.values, color=BLUE, linewidth=0.6, alpha=0.6)
        if curve.is_found:
            ax.plot(
                curve.epsilon, curve.values[curve.epsilons == curve.epsilon], "o", ms=3,
                color=VERMILION,
            )  # fmt: skip
    ax.plot([], [], "o", ms=3, color=VERMILION, label="chosen")
    ax.set(xscale="log", xlabel="t of equation 1 (squared units)", ylabel="semigroup error")
    ax.set_ylim(0, None)
    ax.margins(x=0.1)
    ax.tick_params("x", pad=4)  # clear of the 0 beside them
    ax.set_title(f"{len(curves)} draws")
    ax.legend()


def scatter(
    ax: Any, Y: np.ndarray, colors: np.ndarray, title: str, *, components: tuple[int, int] = (0, 1)
) -> Any:
    points = ax.scatter(
        Y[:, components[0]], Y[:, components[1]], s=2, linewidths=0, c=colors, cmap="viridis"
    )
    ax.set_title(title)
    ax.set_xlabel(f"coordinate {components[0] + 1}")
    ax.set_ylabel(f"coordinate {components[1] + 1}")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_aspect("equal", adjustable="datalim")
    return points
