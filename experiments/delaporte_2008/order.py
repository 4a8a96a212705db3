"""Tests whether one coordinate keeps the order of clusters."""

from __future__ import annotations

import numpy as np


def keeps_order(coordinate: np.ndarray, place: np.ndarray) -> bool:
    """Return whether the medians of the clusters 0, 1, 2, ... all rise or all fall."""
    steps = np.diff(medians(coordinate, place))
    return bool((steps > 0).all() or (steps < 0).all())


def share_told_apart(coordinate: np.ndarray, place: np.ndarray) -> float:
    """Return the share of points whose nearest median is that of their own cluster."""
    gaps = np.abs(coordinate[:, None] - medians(coordinate, place))
    return float((gaps.argmin(axis=1) == place).mean())


def medians(coordinate: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Return the median of each cluster, in order."""
    return np.array([np.median(coordinate[place == k]) for k in range(place.max() + 1)])
