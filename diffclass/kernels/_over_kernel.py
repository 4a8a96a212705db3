"""Kernels that change the affinities of another kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from diffclass._validation import RandomState
from diffclass.kernels._kernel import Kernel, Placing, check_kernel
from diffclass.kernels.isotropic import Gaussian
from diffclass.neighbors import NeighborSearch


class OverKernel(Kernel):
    """A kernel made of another one, ``kernel``, with the same neighbours and scales."""

    kernel: Kernel | None

    @property
    def uses_scores(self) -> bool:
        """Whether the inner kernel does."""
        return self._inner.uses_scores

    def place(
        self, X: np.ndarray, *, y: ArrayLike | None = None, scores: ArrayLike | None = None
    ) -> tuple[np.ndarray, Placing]:
        """Return the coordinates in which the inner kernel's neighbours are searched."""
        return self._inner.place(X, y=y, scores=scores)

    def search(
        self, features: np.ndarray, n_neighbors: int, *, random_state: RandomState = None
    ) -> NeighborSearch:
        """Return the inner kernel's search."""
        return self._inner.search(features, n_neighbors, random_state=random_state)

    def search_for(
        self,
        features: np.ndarray,
        n_neighbors: int,
        *,
        given: NeighborSearch | None = None,
        random_state: RandomState = None,
    ) -> NeighborSearch:
        """Return a copy of ``given`` as the inner kernel needs it, or the kernel's own search."""
        if given is None:
            return self.search(features, n_neighbors, random_state=random_state)
        return self._inner.search_for(features, n_neighbors, given=given)

    @property
    def _inner(self) -> Kernel:
        return Gaussian() if self.kernel is None else check_kernel(self.kernel)
