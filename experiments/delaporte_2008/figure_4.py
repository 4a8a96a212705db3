"""De la Porte et al., figure 4: walks between far points go along the structure of the data.

The paper's sketch has no numbers. Here 400 points lie along a C, A and B at its ends, and C on the
curve as far from A in the plane as B is. The Gaussian kernel has epsilon = 0.02, in squared units
of the C's radius, so a jump from A to B has about the probability e^-40. The number is the share of
the walks of t steps from A to B, all of them weighed by their probability, that never jump across
the opening.

Findings. Few steps lead across: the walk along the curve needs time. From some t on nearly all go
along it, and those that reach C are far more than those that reach B, although both are as near.

    python -m experiments.delaporte_2008.figure_4
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from scipy.spatial.distance import cdist

from diffclass import MarkovOperator
from diffclass.plots import VERMILION
from diffclass.spectral import bumps
from experiments.figure import column_figure, main

OPENING = 0.45  # rad, half of what the C lacks of a circle
NOISE = 0.04
EPSILON = 0.02
TIMES = (8, 16, 32, 64, 128)


def compute(quick: bool) -> dict[str, Any]:
    draws = [_draw(200 if quick else 400, seed) for seed in range(3 if quick else 10)]
    return {"draws": draws, "first": draws[0]}


def _draw(n_points: int, seed: int) -> dict[str, Any]:
    X, angle = _c_shape(n_points, seed)
    K = np.exp(-cdist(X, X, "sqeuclidean") / EPSILON)
    operator = MarkovOperator.from_affinity(K)
    A, B = 0, n_points - 1
    away = np.linalg.norm(X - X[A], axis=1)
    near = np.where(angle < np.pi, np.abs(away - away[B]), np.inf)
    row = bumps(operator, [A], time=TIMES[-1])[0] / operator.stationary_distribution
    P = bumps(operator, np.arange(n_points), time=1)
    along = P * (np.abs(angle[:, None] - angle) < np.pi)
    arrive, arrive_along = (arrivals(Q, B, TIMES[-1])[list(TIMES), A] for Q in (P, along))
    walk = drawn_walk(P, A, B, TIMES[-1], np.random.default_rng(seed))
    return {
        "X": X, "walk": X[walk], "marked": (A, B, int(near.argmin())), "row": row,
        "shares": arrive_along / arrive,
    }  # fmt: skip


def _c_shape(n_points: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points (n, 2) in order along the C, and their angles from its opening."""
    random = np.random.default_rng(seed)
    angle = np.sort(random.uniform(OPENING, 2 * np.pi - OPENING, n_points))
    radius = 1 + NOISE * random.standard_normal(n_points)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), angle


def arrivals(P: np.ndarray, end: int, n_steps: int) -> np.ndarray:
    """Return the probability to be at ``end`` after 0 to n_steps steps, by start."""
    rows = [np.eye(len(P))[end]]
    for _ in range(n_steps):
        rows.append(P @ rows[-1])
    return np.array(rows)


def drawn_walk(
    P: np.ndarray, start: int, end: int, n_steps: int, random: np.random.Generator
) -> np.ndarray:
    """Return a walk (n_steps + 1,) drawn from those that lead from ``start`` to ``end``."""
    arrive, walk = arrivals(P, end, n_steps), [start]
    for left in range(n_steps - 1, -1, -1):
        likely = P[walk[-1]] * arrive[left]
        walk.append(int(random.choice(len(P), p=likely / likely.sum())))
    return np.array(walk)


def numbers(results: dict[str, Any]) -> dict[str, float]:
    draws = results["draws"]
    found: dict[str, float] = {"draws": len(draws)}
    shares = np.array([draw["shares"] for draw in draws])
    for t, values in zip(TIMES, shares.T, strict=True):
        found[f"share of walks along the curve, t = {t}, median"] = float(np.median(values))
    found[f"share of walks across the opening, t = {TIMES[-1]}, greatest"] = 1 - shares[:, -1].min()
    ratios = [draw["row"][draw["marked"][2]] / draw["row"][draw["marked"][1]] for draw in draws]
    found["density of walks at C / at B, median"] = float(np.median(ratios))
    return found


def plot(results: dict[str, Any]) -> Figure:
    first = results["first"]
    figure = column_figure(2.6)
    axes = figure.subplots()
    look = {"norm": LogNorm(vmin=1e-5), "s": 8, "linewidths": 0, "cmap": "viridis"}
    points = axes.scatter(*first["X"].T, c=first["row"], **look)
    axes.plot(*first["walk"].T, color=VERMILION, linewidth=0.6, label="a walk from A to B")
    for place, letter in zip(first["marked"], "ABC", strict=True):
        X = first["X"][place]
        axes.plot(*X, "o", color="white", markeredgecolor="black", markersize=5)
        axes.text(1.2 * X[0], 1.2 * X[1], letter, ha="center", va="center", weight="bold")
    axes.set(xlabel="x", ylabel="y", aspect="equal", xlim=(-1.4, 1.4), ylim=(-1.3, 1.3))
    axes.legend(loc="center")
    label = f"walks from A after {TIMES[-1]} steps,\ndensity over equilibrium"
    figure.colorbar(points, ax=axes, label=label, extend="min")
    return figure


if __name__ == "__main__":
    main(compute, numbers, plot)
