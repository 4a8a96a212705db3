"""Clusters around the modes of the density, separated by diffusion distance.

A mode is a point that is dense, and in diffusion distance far from every point that is denser. With
p(x) the density and rho(x) the distance from x to the nearest denser point in diffusion
coordinates, the k points of the largest

    sqrt(p(x)) rho(x)

are the modes. All other points, the densest first, join the cluster of their nearest denser point.
Unlike k-means this needs no clusters of similar size and no random start.

The density is the sum of exp(-d^2 / s^2) over the neighbours of a point, s the median distance to
the seventh; the paper has p instead of its square root, which finds fewer clusters of low density.

Source: M. Maggioni and J. M. Murphy, Learning by unsupervised nonlinear diffusion (LUND), 2019.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.spatial import KDTree

from diffclass._validation import RandomState
from diffclass.clustering import SCALE_NEIGHBOR, DiffusionClustering
from diffclass.embedding import DiffusionMap
from diffclass.kernels.isotropic import neighbor_distances
from diffclass.neighbors.density_peaks import nearest_denser

__all__ = ["DiffusionModes"]


class DiffusionModes(DiffusionClustering):
    """Cluster points around modes: dense points far in diffusion distance from denser ones.

    As `DiffusionClustering`, with modes of the density in place of k-means.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters; "auto" takes the one that the widest gap of the spectrum suggests.
    embedding : DiffusionMap, optional
        As in `DiffusionClustering`. For an affinity the density is that of its row sums.
    random_state : int, RandomState or None, default=0
        Seeds the neighbour search and the eigensolver.

    Attributes
    ----------
    labels_ : ndarray of int of shape (n,)
        Cluster of each point, in the order of ``modes_``; outliers too have one.
    modes_ : ndarray of int of shape (n_clusters,)
        Numbers of the points that are modes: the densest point, then the clearest first.
    mode_scores_ : ndarray of shape (n_clusters,)
        sqrt(p) rho of the modes.
    n_clusters_, reason_, outliers_, retention_, staying_, embedding_
        As in `DiffusionClustering`.

    References
    ----------
    Maggioni and Murphy, Learning by unsupervised nonlinear diffusion, 2019, section 2.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from diffclass.mode_clustering import DiffusionModes
    >>> X, truth = make_moons(400, noise=0.06, random_state=0)
    >>> found = DiffusionModes(2).fit(X)
    >>> bool(((found.labels_ == found.labels_[0]) == (truth == truth[0])).all())
    True
    >>> sorted(truth[found.modes_].tolist())
    [0, 1]
    """

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        embedding: DiffusionMap | None = None,
        random_state: RandomState = 0,
    ):
        self.n_clusters = n_clusters
        self.embedding = embedding
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike | None = None) -> DiffusionModes:
        """Embed the points and find modes and their clusters; see `DiffusionClustering.fit`."""
        super().fit(X)
        self.modes_ = np.flatnonzero(~self.outliers_)[self._modes]
        return self

    def _look_at(self, graph: sp.csr_array) -> None:
        self._density = neighbor_density(graph)

    def _partition(self, coordinates: np.ndarray, members: np.ndarray) -> np.ndarray:
        density = self.embedding_.operator_.density if self._is_pairwise else self._density[members]
        denser, distance = nearest_denser(coordinates, density)
        scores = np.sqrt(density) * distance
        order = np.argsort(-scores, kind="stable")
        densest = density.argmax()  # a mode even where all points are equal
        order = np.concatenate([[densest], order[order != densest]])
        self._modes = order[: self.n_clusters_]
        self.mode_scores_ = scores[self._modes]
        return labels_of_modes(denser, self._modes)

    def _clusters_at(self, coordinates: np.ndarray) -> np.ndarray:
        """Return the clusters of the fitted points nearest in diffusion distance."""
        return self._found[KDTree(self.embedding_.embedding_).query(coordinates)[1]]


def neighbor_density(graph: sp.csr_array) -> np.ndarray:
    """Return p(x), the sum of exp(-d^2 / s^2) over neighbours, s the median seventh distance.

    Parameters
    ----------
    graph : csr_array of shape (n, n)
        Squared distances, as `neighbors_graph` gives them.

    Returns
    -------
    ndarray of shape (n,)
        Above 0; the point itself counts 1.
    """
    scale = float(np.median(neighbor_distances(graph, SCALE_NEIGHBOR, without_diagonal=True)))
    weights = graph.copy()
    weights.data = np.exp(-weights.data / max(scale**2, np.finfo(weights.dtype).tiny))
    return np.asarray(weights.sum(axis=1)).ravel()


def labels_of_modes(denser: np.ndarray, modes: np.ndarray) -> np.ndarray:
    """Return the number of the mode that each point leads to, from denser to denser point.

    Parameters
    ----------
    denser : ndarray of int of shape (n,)
        Each point's nearest denser point; of the densest, a mode, its own.
    modes : ndarray of int of shape (k,)

    Returns
    -------
    ndarray of int of shape (n,)
        0 to k - 1.
    """
    leads = denser.copy()
    leads[modes] = modes
    while not np.array_equal(further := leads[leads], leads):
        leads = further  # twice as far each time
    numbers = np.empty(len(leads), dtype=np.int64)
    numbers[modes] = np.arange(len(modes))
    return numbers[leads]
