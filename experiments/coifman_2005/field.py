"""Coifman et al. 2005, section 3: a differential equation integrated by diffusing along its field.

"Any differential equation can be integrated numerically by a non-isotropic diffusion in which the
direction of propagation is faster along the field specified by the equation." The paper gives no
example; here are three fields with known curves, each with a quantity that is constant on them:

    rotation    x' = -y, y' = x on the disc r <= 1: circles; r.
    spiral      the same plus (x, y) / 2, on 1/3 <= r <= 1: r = r_0 exp(angle / 2); the angle
                c = angle - 2 log r, given as (cos c, sin c) because it is periodic.
    pendulum    x' = y, y' = -sin x where it swings without turning over: closed orbits; the energy
                y^2 / 2 - cos x, below 0.8.

The kernel sees only points and the field at them. The eigenfunctions are constant along the curves:
the share of the variance of psi_1 explained by the known quantity is measured as in figure 4. The
diffusion is reversible and finds the curves without their direction. epsilon = 0.01 and ten
candidates per neighbour, as the ellipse of 10 : 1 needs.

    python -m experiments.coifman_2005.field
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from diffclass.kernels import AlongField, Gaussian
from diffclass.plots import BLUE
from experiments.coifman_2005.figure_4 import explained_share, first_eigenfunction, ranks
from experiments.figure import column_figure, main
from experiments.measures import mean_and_spread

EPSILON = 0.01
PITCH = 0.5
MOST_ENERGY = 0.8
SHOWN = 1000  # points drawn
ROWS = ("field: y", r"$\psi_1$ isotropic: y", r"$\psi_1$ along field: y", r"$\psi_1$ along field")


class Equation(NamedTuple):
    """A domain of points, a field on it, and the quantity that is constant on its curves."""

    sample: Any
    field: Any
    kept: Any
    label: str


def _ring(inner: float) -> Any:
    def sample(random: np.random.Generator, n_points: int) -> np.ndarray:
        r = np.sqrt(random.uniform(inner**2, 1, n_points))
        angle = random.uniform(0, 2 * np.pi, n_points)
        return np.column_stack([r * np.cos(angle), r * np.sin(angle)])

    return sample


def _swings(random: np.random.Generator, n_points: int) -> np.ndarray:
    drawn = random.uniform([-np.pi, -2], [np.pi, 2], size=(4 * n_points, 2))
    return drawn[energy(drawn) < MOST_ENERGY][:n_points]


def rotation(X: np.ndarray) -> np.ndarray:
    return np.column_stack([-X[:, 1], X[:, 0]])


def spiral(X: np.ndarray) -> np.ndarray:
    return rotation(X) + PITCH * X


def pendulum(X: np.ndarray) -> np.ndarray:
    return np.column_stack([X[:, 1], -np.sin(X[:, 0])])


def radius(X: np.ndarray) -> np.ndarray:
    return np.linalg.norm(X, axis=1)


def unwound(X: np.ndarray) -> np.ndarray:
    c = np.arctan2(X[:, 1], X[:, 0]) - np.log(radius(X)) / PITCH
    return np.column_stack([np.cos(c), np.sin(c)])


def energy(X: np.ndarray) -> np.ndarray:
    return X[:, 1] ** 2 / 2 - np.cos(X[:, 0])


EQUATIONS = {
    "rotation": Equation(_ring(0), rotation, radius, "r"),
    "spiral": Equation(_ring(1 / 3), spiral, unwound, "c (rad)"),
    "pendulum": Equation(_swings, pendulum, energy, "energy"),
}


def compute(quick: bool) -> dict[str, Any]:
    n_points, n_draws = (800, 1) if quick else (2000, 10)
    results: dict[str, Any] = {}
    for name, equation in EQUATIONS.items():
        draws = [equation.sample(np.random.default_rng(seed), n_points) for seed in range(n_draws)]
        directed = AlongField(equation.field, epsilon=EPSILON, bandwidth="graph", candidates=10)
        psi = [first_eigenfunction(X, directed) for X in draws]
        isotropic = [first_eigenfunction(X, Gaussian(bandwidth="graph")) for X in draws]
        results[name] = {"X": draws[0], "psi": psi[0], "isotropic psi": isotropic[0]} | {
            kernel: [
                explained_share(f, equation.kept(X)) for X, f in zip(draws, found, strict=True)
            ]
            for kernel, found in (("along the field", psi), ("isotropic", isotropic))
        }
    return results


def numbers(results: dict[str, Any]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, result in results.items():
        for kernel in ("along the field", "isotropic"):
            found |= mean_and_spread(f"{name}: explained, {kernel}", result[kernel])
        found[f"{name}: explained, along the field, least"] = min(result["along the field"])
    return found


def plot(results: dict[str, Any]) -> Figure:
    figure = column_figure(4.6)
    panels = figure.subplots(4, len(EQUATIONS))
    look = {"s": 2, "cmap": "viridis", "linewidths": 0, "vmin": 0, "vmax": 1}
    for column, (name, result) in zip(panels.T, results.items(), strict=True):
        equation, X = EQUATIONS[name], result["X"]
        _draw_field(column[0], equation.field, X)
        column[0].set_title(name)
        for axes, psi in zip(column[1:], ("isotropic psi", "psi"), strict=False):
            points = axes.scatter(*X[:SHOWN].T, c=ranks(result[psi])[:SHOWN], **look)
        for axes in column[:3]:
            axes.set(aspect="equal", xticks=(-1, 0, 1), yticks=(-1, 0, 1))
            axes.tick_params(labelbottom=axes is column[2])
        column[2].set_xlabel("x")
        kept = equation.kept(X)
        kept = kept if kept.ndim == 1 else np.arctan2(kept[:, 1], kept[:, 0])
        column[3].scatter(kept, result["psi"], s=1.5, color="black", linewidths=0)
        column[3].set(xlabel=equation.label, title=f"share {result['along the field'][0]:.4f}")
    for axes, text in zip(panels[:, 0], ROWS, strict=True):
        axes.set_ylabel(text)
    bar = figure.colorbar(points, ax=panels, location="bottom", aspect=40, pad=0.01)
    bar.set_label(r"rank of $\psi_1$ (share of the points below)")
    return figure


def _draw_field(axes: Any, field: Any, X: np.ndarray) -> None:
    shown = X[:60]
    directions = field(shown)
    directions = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    axes.quiver(*shown.T, *directions.T, color=BLUE, width=0.012, scale=12, pivot="middle")


if __name__ == "__main__":
    main(compute, numbers, plot)
