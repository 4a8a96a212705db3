"""Means and mean products of points that are seen block by block."""

from __future__ import annotations

import numpy as np


class Moments:
    """First and second moments of the points added, in double precision.

    Parameters
    ----------
    n_columns : int

    Examples
    --------
    >>> import numpy as np
    >>> moments = Moments(1)
    >>> moments.add(np.array([[1.0], [3.0]]))
    >>> moments.mean.tolist(), moments.mean_products.tolist(), moments.covariance.tolist()
    ([2.0], [[5.0]], [[1.0]])
    """

    def __init__(self, n_columns: int):
        self.n_points = 0
        self._total = np.zeros(n_columns)
        self._products = np.zeros((n_columns, n_columns))

    def add(self, points: np.ndarray) -> None:
        """Add points (n, n_columns)."""
        exact = points.astype(np.float64)
        self._total += exact.sum(axis=0)
        self._products += exact.T @ exact
        self.n_points += len(points)

    @property
    def mean(self) -> np.ndarray:
        """Mean of the points, of shape (n_columns,); 0 without any."""
        return self._total / max(self.n_points, 1)

    @property
    def mean_products(self) -> np.ndarray:
        """Mean of x x', of shape (n_columns, n_columns)."""
        return self._products / max(self.n_points, 1)

    @property
    def covariance(self) -> np.ndarray:
        """Covariance, of shape (n_columns, n_columns), divided by the number of points."""
        return self.mean_products - np.outer(self.mean, self.mean)
