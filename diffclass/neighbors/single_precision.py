"""Points in single precision, freed of offset and unit so that differences keep their digits."""

from __future__ import annotations

import numpy as np


class SinglePrecision:
    """Centre points on the mean of the given ones, and scale them to their size."""

    def __init__(self, X: np.ndarray):
        self._center = X.mean(axis=0)
        self._unit = max(X.max() - self._center.min(), self._center.max() - X.min()) or 1

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Return the points ``X`` of shape (n, p) in single precision."""
        scaled = (X - self._center) / self._unit
        return np.ascontiguousarray(np.clip(scaled, -1e15, 1e15), dtype=np.float32)
