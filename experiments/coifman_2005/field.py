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

from diffclass.kernels import Directed, Gaussian
from experiments.coifman_2005.figure_4 import explained_share, first_eigenfunction
from experiments.figure import main
from experiments.measures import mean_and_spread

EPSILON = 0.01
PITCH = 0.5
MOST_ENERGY = 0.8


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
        directed = Directed(field=equation.field, epsilon=EPSILON, bandwidth="graph", candidates=10)
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
    figure = Figure(figsize=(9.5, 8.4), layout="constrained")
    panels = figure.subplots(3, 3)
    for row, (name, result) in zip(panels, results.items(), strict=True):
        equation, X = EQUATIONS[name], result["X"]
        for axes, values in zip(row, (result["isotropic psi"], result["psi"]), strict=False):
            points = axes.scatter(*X.T, c=values, s=4, cmap="viridis")
            axes.set(aspect="equal", xlabel="x", ylabel="y")
            figure.colorbar(points, ax=axes, shrink=0.8)
        row[0].set_title(rf"{name}: $\psi_1$, isotropic")
        row[1].set_title(r"$\psi_1$ along the field")
        _draw_field(row[1], equation.field, X)
        kept = equation.kept(X)
        kept = kept if kept.ndim == 1 else np.arctan2(kept[:, 1], kept[:, 0])
        row[2].scatter(kept, result["psi"], s=3, color="black")
        row[2].set(xlabel=f"known: {equation.label}", ylabel=r"$\psi_1$")
        row[2].set_title(f"share explained: {result['along the field'][0]:.4f}", fontsize=10)
    return figure


def _draw_field(axes: Any, field: Any, X: np.ndarray) -> None:
    shown = X[:60]
    directions = field(shown)
    directions = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    axes.quiver(*shown.T, *directions.T, color="red", width=0.006, scale=18)


if __name__ == "__main__":
    main(compute, numbers, plot)
