"""What the figures share: means over seeded draws, and panels of points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.figure import column_figure
from experiments.measures import mean_and_spread


def over_draws(draws: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the mean and the standard deviation of each quantity over the draws."""
    found: dict[str, float] = {}
    for quantity in draws[0]:
        found |= mean_and_spread(quantity, [draw[quantity] for draw in draws])
    return found


def correlation(a: np.ndarray, b: np.ndarray) -> float:
    return float(abs(np.corrcoef(a, b)[0, 1]))


def panels(n_rows: int, n_columns: int, *, height: float) -> tuple[Any, np.ndarray]:
    """Return a figure as wide as a column and ``height`` inches high, and its axes."""
    figure = column_figure(height)
    return figure, figure.subplots(n_rows, n_columns, squeeze=False)


def points(ax: Any, Y: np.ndarray, colors: np.ndarray, title: str, **look: Any) -> Any:
    drawn = ax.scatter(Y[:, 0], Y[:, 1], c=colors, s=2, linewidths=0, **{"cmap": "viridis"} | look)
    ax.set_title(title)
    ax.set_aspect("equal", adjustable="datalim")
    return drawn
