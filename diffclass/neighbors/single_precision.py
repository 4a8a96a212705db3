"""Points in single precision, freed of offset and unit so that differences keep their digits."""

from __future__ import annotations

import numpy as np


class SinglePrecision:
    """Centre points on the mean of the given ones, and scale them to their size.

    Offsets that differ from feature to feature are no size. Where a sum of large numbers overflows,
    the middle of the range stands for the mean.
    """

    def __init__(self, X: np.ndarray):
        lowest, highest = X.min(axis=0), X.max(axis=0)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = X.mean(axis=0, dtype=np.float64)
        self._center = np.where(np.isfinite(mean), mean, lowest / 2 + highest / 2).astype(X.dtype)
        self._unit = np.maximum(highest - self._center, self._center - lowest).max() or 1

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Return the points ``X`` of shape (n, p) in single precision."""
        scaled = (X - self._center) / self._unit
        return np.ascontiguousarray(np.clip(scaled, -1e15, 1e15), dtype=np.float32)
