"""The interface of kernels and of fitted kernels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from diffclass._validation import RandomState
from diffclass.neighbors import NeighborSearch, default_search
from diffclass.system.costs import Cost, Size
from diffclass.system.forms import Array, Kept, Whole

# Maps new points of shape (m, d) to the (m, p) coordinates in which neighbours are searched.
Placing = Callable[[np.ndarray], np.ndarray]

# Forms of what model files hold of kernels; n points have d features.
POINTS, OF_EACH_POINT = Array(("n", "d")), Array(("n",))
NEIGHBOR = Whole(1, 4096)

AFFINITY_BYTES = 8  # of an edge
_WORKING_BYTES = 44  # of an edge: graph, affinities and what leads to them
_SECONDS = 0.31e-6  # of an edge, among a million points


class Kernel(Kept, BaseEstimator, ABC):
    """A symmetric, non-negative affinity k(x, y) on the edges of a graph.

    It holds only the parameters of its constructor, and no method changes them. As with any
    scikit-learn estimator, a grid search reaches them as ``kernel__name``. `place` gives the
    coordinates in which neighbours are searched. `fit` turns a graph of neighbours into affinities,
    and returns a `FittedKernel` for new points.

    A kernel of your own defines `fit`, and more only where it differs from what is said here. A
    model file can hold it if it states its parameters, as its `FittedKernel` its fields, as
    ``kept_fields``; see `diffclass.system.forms.Kept`.
    """

    @property
    def uses_scores(self) -> bool:
        """Whether the kernel uses scores of an earlier map, which the caller has to provide."""
        return False

    @property
    def has_unit(self) -> bool:
        """Whether a parameter, such as a bandwidth, is a number in the unit of the points."""
        return False

    @property
    def takes_any_search(self) -> bool:
        """Whether a search that a user gives may take the place of the kernel's own."""
        return True

    def cost(self, size: Size) -> Cost:
        """Return what fitting costs: affinities are kept, and what new points are compared with."""
        edges = size.edges
        seconds = _SECONDS * edges * size.millions**0.4
        return Cost(_WORKING_BYTES * edges, AFFINITY_BYTES * edges, seconds)

    def place(
        self, X: np.ndarray, *, y: ArrayLike | None = None, scores: ArrayLike | None = None
    ) -> tuple[np.ndarray, Placing]:
        """Return the coordinates in which neighbours are searched: here, the points themselves.

        Parameters
        ----------
        X, y, scores
            As in `fit`.

        Returns
        -------
        features : ndarray of shape (n, p)
            The graph holds squared distances in these coordinates.
        placing : callable
            Maps new points of shape (m, d) to their (m, p) coordinates. Model files hold it if it
            is a `KeptPlacing`.
        """
        return X, AsTheyAre()

    def search(
        self, features: np.ndarray, n_neighbors: int, *, random_state: RandomState = None
    ) -> NeighborSearch:
        """Return an unfitted neighbour search that suits the kernel and the number of points."""
        return default_search(features, n_neighbors, random_state=random_state)

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
            Labels, -1 where unknown.
        scores : ndarray of shape (n, n_classes), optional
            Scores of an earlier map; rows sum to 1.

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


class FittedKernel(Kept, ABC):
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


class KeptPlacing(Kept, ABC):
    """A placing of new points that model files can hold; see `Kernel.place`."""

    @abstractmethod
    def __call__(self, X_new: np.ndarray) -> np.ndarray:
        """Return the (m, p) coordinates of new points (m, d)."""


class AsTheyAre(KeptPlacing):
    """Neighbours are searched among the points themselves."""

    kept_as = "as they are"
    kept_fields: ClassVar = {}

    def __call__(self, X_new: np.ndarray) -> np.ndarray:
        """Return the points."""
        return X_new
