"""Seeded draws of labels, the same for every method."""

from __future__ import annotations

import numpy as np

from diffclass.evaluation import draw_per_class


def draw_labels(truth: np.ndarray, n_per_class: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return labels (-1 unlabelled) and which points they are scored on: all other known ones."""
    chosen = draw_per_class(truth - 1, n_per_class, random_state=seed)
    y = np.full(len(truth), -1)
    y[chosen] = truth[chosen]
    return y, (truth > 0) & (y < 0)


def n_draws(problem: str, n_per_class: int, *, quick: bool) -> int:
    """Ten draws; fifty of digits at one label per class, where the spread is wide."""
    if quick:
        return 2
    return 50 if problem == "digits" and n_per_class == 1 else 10
