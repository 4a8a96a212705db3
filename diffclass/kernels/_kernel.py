"""The interface of kernels, of kernels over another one, and of fitted kernels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from diffclass._validation import RandomState, check_kind
from diffclass.neighbors import NeighborSearch, default_search

# Maps new points of shape (m, d) to the (m, p) coordinates in which neighbours are searched.
Placing = Callable[[np.ndarray], np.ndarray]


class Kernel(BaseEstimator, ABC):
    """A symmetric, non-negative affinity k(x, y) on the edges of a graph.

    It holds only the parameters of its constructor, and no method changes them. As with any
    scikit-learn estimator, a grid search reaches them as ``kernel__name``. `place` gives the
    coordinates in which neighbours are searched. `fit` turns a graph of neighbours into affinities,
    and returns a `FittedKernel` for new points.
    """

    @property
    def uses_scores(self) -> bool:
        """Whether the kernel uses scores of an earlier map, which the caller has to provide."""
        return False

    @property
    def has_unit(self) -> bool:
        """Whether a parameter, such as a bandwidth, is a number in the unit of the points."""
        return False

    def place(
        self, X: np.ndarray, *, y: ArrayLike | None = None, scores: ArrayLike | None = None
    ) -> tuple[np.ndarray, Placing]:
        """Return the coordinates in which neighbours are searched: here, the points themselves.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            The points that the kernel will be fitted to.
        y, scores : array-like, optional
            As in `fit`.

        Returns
        -------
        features : ndarray of shape (n, p)
            The graph holds squared distances in these coordinates.
        placing : callable
            Maps new points of shape (m, d) to their (m, p) coordinates.
        """
        return X, _as_they_are

    def search(
        self, features: np.ndarray, n_neighbors: int, *, random_state: RandomState = None
    ) -> NeighborSearch:
        """Return an unfitted neighbour search that suits the kernel and the number of points."""
        return default_search(features, n_neighbors, random_state=random_state)

    @property
    def takes_any_search(self) -> bool:
        """Whether a search that a user gives may take the place of the kernel's own."""
        return True

    @abstractmethod
    def fit(
        self,
        graph: sp.csr_array,
        X: np.ndarray,
        *,
        y: ArrayLike | None = None,
        scores: ArrayLike | None = None,
    ) -> tuple[sp.csr_array, FittedKernel]:
        """Return the affinities on the edges of a graph, and the fitted kernel.

        Parameters
        ----------
        graph : csr_array of shape (n, n)
            Squared distances in the features of `place`, as `neighbors_graph` gives them:
            symmetric, with the diagonal, indices sorted.
        X : ndarray of shape (n, d)
            The points.
        y : array-like of shape (n,), optional
            Labels, -1 where unknown, for kernels that use them.
        scores : ndarray of shape (n, n_classes), optional
            Scores of an earlier map, for kernels that use them; rows sum to 1.

        Returns
        -------
        affinity : csr_array of shape (n, n)
            Symmetric and non-negative, with the diagonal k(x, x).
        fitted : FittedKernel
            For new points. It does not hold the affinities.
        """

    def affinity(
        self,
        graph: sp.csr_array,
        X: np.ndarray,
        *,
        y: ArrayLike | None = None,
        scores: ArrayLike | None = None,
    ) -> sp.csr_array:
        """Return the affinities alone; otherwise as `fit`."""
        return self.fit(graph, X, y=y, scores=scores)[0]


class FittedKernel(ABC):
    """What a kernel has learnt from the points, frozen; made by `Kernel.fit`."""

    def neighbor_distances(self, neighbor: int) -> np.ndarray | None:
        """Return the distance of each point to its j-th neighbour, None unless it is known."""
        return None

    @abstractmethod
    def extend(self, graph: sp.csr_array, X_new: np.ndarray) -> sp.csr_array:
        """Return the affinities between new points and the fitted ones.

        Parameters
        ----------
        graph : csr_array of shape (m, n)
            Squared distances from the new points to their neighbours, indices sorted.
        X_new : ndarray of shape (m, d)
            The new points.

        Returns
        -------
        csr_array of shape (m, n)
            Non-negative.
        """


def check_kernel(kernel: Kernel | str) -> Kernel:
    """Return a kernel, or the one of a name; see `diffclass.kernels.kernel_named`.

    Raises
    ------
    ParameterError
        If it is something else, or no kernel has the name.

    See Also
    --------
    kernel_named : By name only.

    Examples
    --------
    >>> from diffclass.kernels import Gaussian, check_kernel
    >>> check_kernel("shared"), check_kernel(Gaussian(bandwidth="graph"))
    (SharedNeighbors(), Gaussian(bandwidth='graph'))
    """
    if isinstance(kernel, str):
        from diffclass.kernels.named import kernel_named  # which knows all kernels

        return kernel_named(kernel)
    kind: Kernel = check_kind(kernel, "kernel", Kernel, example="diffclass.kernels.Gaussian()")
    return kind


def _as_they_are(X_new: np.ndarray) -> np.ndarray:
    return X_new


class OverKernel(Kernel):
    """A kernel made of another one, ``kernel``, with the same neighbours and scales."""

    kernel: Kernel | None

    @property
    def uses_scores(self) -> bool:
        """Whether the inner kernel does."""
        return self._inner.uses_scores

    @property
    def has_unit(self) -> bool:
        """Whether a parameter of the inner kernel is in the unit of the points."""
        return self._inner.has_unit

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

    @property
    def takes_any_search(self) -> bool:
        """Whether the inner kernel does."""
        return self._inner.takes_any_search

    @property
    def _inner(self) -> Kernel:
        from diffclass.kernels.isotropic import Gaussian  # which is a kernel of this interface

        return Gaussian() if self.kernel is None else check_kernel(self.kernel)
