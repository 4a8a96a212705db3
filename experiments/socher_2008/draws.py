"""What the figures share: means over seeded draws, and panels of points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def mean_and_spread(draws: Sequence[dict[str, float]]) -> dict[str, float]:
    """Mean and standard deviation of each quantity over the draws."""
    found = {}
    for quantity in draws[0]:
        values = [draw[quantity] for draw in draws]
        found[f"{quantity}, mean of {len(draws)} draws"] = float(np.mean(values))
        found[f"{quantity}, standard deviation"] = float(np.std(values))
    return found


def correlation(a: np.ndarray, b: np.ndarray) -> float:
    return float(abs(np.corrcoef(a, b)[0, 1]))


def rank_correlation(a: np.ndarray, b: np.ndarray) -> float:
    return correlation(np.argsort(np.argsort(a)), np.argsort(np.argsort(b)))


def panels(n_rows: int, n_columns: int, *, height: float = 4.0) -> tuple[Any, np.ndarray]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.6, height), layout="constrained")
    return figure, figure.subplots(n_rows, n_columns, squeeze=False)


def points(ax: Any, Y: np.ndarray, colors: np.ndarray, title: str, **look: Any) -> Any:
    drawn = ax.scatter(Y[:, 0], Y[:, 1], c=colors, s=4, **{"cmap": "viridis"} | look)
    ax.set_title(title)
    ax.set_aspect("equal", adjustable="datalim")
    return drawn
