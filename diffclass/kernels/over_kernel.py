"""Kernels made of another kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from diffclass._validation import RandomState
from diffclass.kernels._kernel import AFFINITY_BYTES, FittedKernel, Kernel, Placing
from diffclass.kernels.isotropic import Gaussian
from diffclass.kernels.named import check_kernel, load_named_kernels
from diffclass.neighbors import NeighborSearch
from diffclass.system.costs import Cost, Size
from diffclass.system.forms import Derived, Maybe

# Forms of model files
INNER = Maybe(Derived(Kernel, find_more=load_named_kernels))
FITTED_INNER = Derived(FittedKernel, find_more=load_named_kernels)


class OverKernel(Kernel):
    """A kernel made of another one, ``kernel``, with the same neighbours and scales.

    Its constructor has a parameter ``kernel``, None for the self-tuning `Gaussian`. `fit` fits
    ``self.inner`` first.
    """

    kernel: Kernel | None

    @property
    def inner(self) -> Kernel:
        """The inner kernel."""
        return Gaussian() if self.kernel is None else check_kernel(self.kernel)

    @property
    def uses_scores(self) -> bool:
        """Whether the inner kernel does."""
        return self.inner.uses_scores

    @property
    def has_unit(self) -> bool:
        """Whether a parameter of the inner kernel is in the unit of the points."""
        return self.inner.has_unit

    @property
    def takes_any_search(self) -> bool:
        """Whether the inner kernel does."""
        return self.inner.takes_any_search

    def cost(self, size: Size) -> Cost:
        """Return what the inner kernel costs; of what it learns nothing but affinities counts."""
        cost = self.inner.cost(size)
        return Cost(cost.working, AFFINITY_BYTES * size.edges, cost.seconds)

    def place(
        self, X: np.ndarray, *, y: ArrayLike | None = None, scores: ArrayLike | None = None
    ) -> tuple[np.ndarray, Placing]:
        """Return the coordinates in which the inner kernel's neighbours are searched."""
        return self.inner.place(X, y=y, scores=scores)

    def search(
        self, features: np.ndarray, n_neighbors: int, *, random_state: RandomState = None
    ) -> NeighborSearch:
        """Return the inner kernel's search."""
        return self.inner.search(features, n_neighbors, random_state=random_state)
