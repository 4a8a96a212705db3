"""What every kernel can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone

from diffclass.neighbors import default_search


class Kernel(BaseEstimator, ABC):
    """A symmetric, non-negative affinity k(x, y) on the edges of a graph.

    Parameters are those of the constructor, as for any scikit-learn estimator, so that a grid
    search reaches them as ``kernel__name``. `affinity` fits the kernel to the points; `extend`
    then speaks of new ones.
    """

    def search_features(self, X: np.ndarray) -> np.ndarray:
        """Return the (n, p) coordinates in which neighbours are searched; here ``X`` itself."""
        return X

    def search(self, X: np.ndarray, n_neighbors: int, *, random_state: Any = None) -> Any:
        """Return the unfitted neighbour search that suits the kernel and the size of ``X``."""
        return default_search(X, n_neighbors, random_state=random_state)

    def search_for(
        self, X: np.ndarray, n_neighbors: int, *, given: Any = None, random_state: Any = None
    ) -> Any:
        """Return an unfitted search for points ``X``: a copy of the given one, or the kernel's."""
        if given is not None:
            return clone(given)
        return self.search(self.search_features(X), n_neighbors, random_state=random_state)

    @abstractmethod
    def affinity(
        self, graph: sp.csr_array, X: np.ndarray, y: Any = None, scores: Any = None
    ) -> sp.csr_array:
        """Return the affinities of a graph's edges and remember what new points will need.

        Parameters
        ----------
        graph : csr_array of shape (n, n)
            Squared distances in the space of `search_features`, symmetric, with the diagonal.
        X : ndarray of shape (n, d)
            The points.
        y : array-like of shape (n,), optional
            Labels, -1 where unknown, for kernels that use them.
        scores : ndarray of shape (n, n_classes), optional
            Earlier posteriors, for kernels that use them.

        Returns
        -------
        csr_array of shape (n, n)
            Symmetric and non-negative, with the diagonal k(x, x).
        """

    @abstractmethod
    def extend(self, graph: sp.csr_array, X_new: np.ndarray) -> sp.csr_array:
        """Return the affinities between new points and the points of the last `affinity`.

        Parameters
        ----------
        graph : csr_array of shape (m, n)
            Squared distances from the new points to their neighbours.
        X_new : ndarray of shape (m, d)
            The new points.

        Returns
        -------
        csr_array of shape (m, n)
            Non-negative.
        """
