"""Kernels that reshape the affinities of another."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from diffclass.kernels._kernel import Kernel
from diffclass.kernels.isotropic import Gaussian


class OverKernel(Kernel):
    """A kernel made of another one, ``kernel``, whose neighbours and scales it keeps.

    Attributes
    ----------
    kernel_ : Kernel
        The fitted inner kernel.
    """

    kernel: Kernel | None

    def working_bytes(self, n_points: int, n_features: int, n_edges: float) -> float:
        """Return what making the inner kernel's affinities holds at most."""
        return (self.kernel or Gaussian()).working_bytes(n_points, n_features, n_edges)

    @property
    def uses_scores(self) -> bool:
        """Whether the inner kernel does."""
        return self._inner().uses_scores

    def search_features(self, X: np.ndarray, *, y: Any = None, scores: Any = None) -> np.ndarray:
        """Return the coordinates in which the inner kernel's neighbours are searched."""
        self.kernel_ = clone(self._inner())
        return self.kernel_.search_features(X, y=y, scores=scores)

    def new_features(self, X_new: np.ndarray) -> np.ndarray:
        """Return the coordinates in which the inner kernel searches new points' neighbours."""
        return self.kernel_.new_features(X_new)

    def search(self, X: np.ndarray, n_neighbors: int, *, random_state: Any = None) -> Any:
        """Return the inner kernel's search."""
        return self._inner().search(X, n_neighbors, random_state=random_state)

    def _inner(self) -> Kernel:
        return Gaussian() if self.kernel is None else self.kernel

    def _inner_affinity(
        self, graph: sp.csr_array, X: np.ndarray, y: Any, scores: Any
    ) -> sp.csr_array:
        if not hasattr(self, "kernel_"):  # `search_features` was left out
            self.kernel_ = clone(self._inner())
        return sp.csr_array(self.kernel_.affinity(graph, X, y=y, scores=scores))

    def _inner_extension(self, graph: sp.csr_array, X_new: np.ndarray) -> sp.csr_array:
        K = sp.csr_array(self.kernel_.extend(graph, X_new))
        K.sort_indices()
        return K
