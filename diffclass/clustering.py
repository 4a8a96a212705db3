"""Spectral clustering by diffusion maps: k-means in diffusion coordinates.

Sources: Socher 2008, section 2.4 (the algorithm); de la Porte et al. (order and scale of clusters
by time).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from diffclass._validation import RandomState, check_positive
from diffclass.embedding import DiffusionMap
from diffclass.exceptions import ParameterError


class DiffusionClustering(ClusterMixin, BaseEstimator):
    """Cluster points by k-means on their diffusion coordinates.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most the number of points.
    embedding : DiffusionMap, optional
        By default n_clusters - 1 coordinates, 12 neighbours and the bandwidth that these carry. On
        a graph with few neighbours the walk between clusters is slow.
    n_init : int, default=10
        Number of starts of k-means; the best result is kept.
    random_state : int, RandomState or None, default=0
        Seeds k-means, and the embedding if it is not given.

    Attributes
    ----------
    labels_ : ndarray of int of shape (n,)
        Cluster of each point, 0 to n_clusters - 1.
    cluster_centers_ : ndarray of shape (n_clusters, n_components)
        Centres in diffusion coordinates.
    inertia_ : float
        Sum of squared diffusion distances to the centres.
    embedding_ : DiffusionMap
        Fitted.

    Notes
    -----
    Connected components become clusters, without the warning that `DiffusionMap` gives.

    Examples
    --------
    Two concentric rings:

    >>> import numpy as np
    >>> from diffclass.clustering import DiffusionClustering
    >>> angles = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    >>> ring = np.column_stack([np.cos(angles), np.sin(angles)])
    >>> labels = DiffusionClustering(2).fit_predict(np.vstack([ring, 2 * ring]))
    >>> sorted({tuple(set(labels[:200])), tuple(set(labels[200:]))}) == [(0,), (1,)]
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        embedding: DiffusionMap | None = None,
        n_init: int = 10,
        random_state: RandomState = 0,
    ):
        self.n_clusters = n_clusters
        self.embedding = embedding
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike | None = None) -> DiffusionClustering:
        """Embed the points and find clusters.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points; with ``affinity="precomputed"`` in the embedding, an (n, n) affinity.
        y : None
            Ignored.

        Returns
        -------
        DiffusionClustering
            Itself.

        Raises
        ------
        DataError, ParameterError
            As `DiffusionMap`, and if there are more clusters than points.
        """
        from sklearn.cluster import KMeans

        X = self._checked(X, reset=True)
        check_positive(self.n_clusters, "n_clusters", integer=True)
        if self.n_clusters > X.shape[0]:
            raise ParameterError(f"n_clusters = {self.n_clusters}; there are {X.shape[0]} points")
        self.embedding_ = self._embedding(X.shape[0])
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "the graph has .* components", UserWarning)
            coordinates = self.embedding_.fit_transform(X)
        self._kmeans = KMeans(
            self.n_clusters, n_init=self.n_init, random_state=self.random_state
        ).fit(coordinates)
        self.labels_ = self._kmeans.labels_
        self.cluster_centers_ = self._kmeans.cluster_centers_
        self.inertia_ = float(self._kmeans.inertia_)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the cluster of each new point, of shape (m,), by Nystrom's extension."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        return self._kmeans.predict(self.embedding_.transform(X))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        precomputed = self.embedding is not None and self.embedding.affinity == "precomputed"
        tags.input_tags.pairwise = tags.input_tags.sparse = precomputed
        return tags

    def _checked(self, X: Any, *, reset: bool) -> Any:
        return validate_data(
            self,
            X,
            reset=reset,
            dtype=[np.float64, np.float32],
            accept_sparse="csr" if self.__sklearn_tags__().input_tags.sparse else False,
        )

    def _embedding(self, n: int) -> DiffusionMap:
        if self.embedding is not None:
            return clone(self.embedding)
        n_components = max(min(self.n_clusters - 1, n - 1), 1)
        return DiffusionMap(n_components, n_neighbors=12, random_state=self.random_state)
