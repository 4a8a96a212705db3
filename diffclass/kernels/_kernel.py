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
    search reaches them as ``kernel__name``. `search_features` and then `affinity` fit the kernel
    to the points; `new_features` and `extend` then speak of new ones.
    """

    def working_bytes(self, n_points: int, n_features: int, n_edges: float) -> float:
        """Return what making the affinities holds at most, graph and result included."""
        return 44 * n_edges

    def kept_bytes(self, n_edges: float) -> float:
        """Return what is kept of a graph for new points."""
        return 0

    @property
    def uses_scores(self) -> bool:
        """Whether the kernel is shaped by earlier posteriors, which something has to provide."""
        return False

    def search_features(self, X: np.ndarray, *, y: Any = None, scores: Any = None) -> np.ndarray:
        """Return the (n, p) coordinates in which neighbours are searched; here ``X`` itself.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            The points that the kernel is fitted to.
        y, scores : array-like, optional
            As in `affinity`.

        Returns
        -------
        ndarray of shape (n, p)
            In them the graph's squared distances are measured.
        """
        return X

    def new_features(self, X_new: np.ndarray) -> np.ndarray:
        """Return the (m, p) coordinates in which neighbours of new points are searched."""
        return self.search_features(X_new)

    def search(self, X: np.ndarray, n_neighbors: int, *, random_state: Any = None) -> Any:
        """Return the unfitted neighbour search that suits the kernel and the size of ``X``."""
        return default_search(X, n_neighbors, random_state=random_state)

    def search_for(
        self, features: np.ndarray, n_neighbors: int, *, given: Any = None, random_state: Any = None
    ) -> Any:
        """Return an unfitted search in `search_features`: a copy of the given, or the kernel's."""
        if given is not None:
            return clone(given)
        return self.search(features, n_neighbors, random_state=random_state)

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
