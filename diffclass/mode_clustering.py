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
from scipy.spatial.distance import cdist

from diffclass._validation import RandomState
from diffclass.clustering import SCALE_NEIGHBOR, DiffusionClustering
from diffclass.embedding import DiffusionMap
from diffclass.kernels.isotropic import neighbor_distances
from diffclass.neighbors import Nodes

__all__ = ["DiffusionModes"]
_NEIGHBORS = (16, 64, 256)  # to look among in turn; then among all denser points
_BLOCK_VALUES = 2**22  # distances held at a time


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

    See Also
    --------
    DiffusionClustering : For clusters of about equal sizes, and scenes with background.
    acquisition.suggest : Points to label first that stand for all others.

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

    def _look_at(self, graph: sp.csr_array, nodes: Nodes | None) -> None:
        mass = None if nodes is None else nodes.mass
        density = neighbor_density(graph, mass)
        self._density = density if nodes is None else density[nodes.of_points]

    def _partition(self, coordinates: np.ndarray, members: np.ndarray) -> np.ndarray:
        density = self.embedding_.operator_.density if self._is_pairwise else self._density[members]
        operator = self.embedding_.operator_
        coordinates, density = operator.at_nodes(coordinates), operator.at_nodes(density)
        denser, distance = nearest_denser(coordinates, density)
        scores = np.sqrt(density) * distance
        order = np.argsort(-scores, kind="stable")
        densest = density.argmax()  # a mode even where all points are equal
        order = np.concatenate([[densest], order[order != densest]])
        modes = order[: self.n_clusters_]
        self.mode_scores_ = scores[modes]
        self._modes = modes if operator.nodes is None else operator.nodes.first[modes]
        return operator.at_points(labels_of_modes(denser, modes))

    def _clusters_at(self, coordinates: np.ndarray) -> np.ndarray:
        """Return the clusters of the fitted points nearest in diffusion distance."""
        return self._found[KDTree(self.embedding_.embedding_).query(coordinates)[1]]


def neighbor_density(graph: sp.csr_array, mass: np.ndarray | None = None) -> np.ndarray:
    """Return p(x), the sum of exp(-d^2 / s^2) over neighbours, s the median seventh distance.

    Neighbours count by their mass (n,), the number of equal points.
    """
    scale = float(np.median(neighbor_distances(graph, SCALE_NEIGHBOR, without_diagonal=True)))
    weights = graph.copy()
    weights.data = np.exp(-weights.data / max(scale**2, np.finfo(weights.dtype).tiny))
    sums = weights.sum(axis=1) if mass is None else weights @ mass
    return np.asarray(sums).ravel()


def labels_of_modes(denser: np.ndarray, modes: np.ndarray) -> np.ndarray:
    """Return the number of the mode that each point leads to, from denser to denser point."""
    leads = denser.copy()
    leads[modes] = modes
    while not np.array_equal(further := leads[leads], leads):
        leads = further  # twice as far each time
    numbers = np.empty(len(leads), dtype=np.int64)
    numbers[modes] = np.arange(len(modes))
    return numbers[leads]


def nearest_denser(points: np.ndarray, density: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each point's nearest denser point, and the distance to it; both (n,).

    Of two points (n, p) of equal density the first counts as denser. The densest point has itself,
    and the distance to the farthest one. Points that have none among their 256 nearest are compared
    with all denser points, in blocks: few in practice. Nothing of size n x n is held.
    """
    order = np.argsort(-density, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    denser, distance = order[:1].repeat(len(order)), np.full(len(order), np.inf)
    pending = _by_tree(points, rank, denser, distance)
    _among_all(points, order, rank, pending, denser, distance)
    densest = order[0]
    distance[densest] = np.linalg.norm(points - points[densest], axis=1).max()
    return denser, distance


def _by_tree(
    points: np.ndarray, rank: np.ndarray, denser: np.ndarray, distance: np.ndarray
) -> np.ndarray:
    """Look among ever more neighbours; return the points that have no denser one among them."""
    tree, pending = KDTree(points), np.flatnonzero(rank > 0)
    for k in _NEIGHBORS:
        if len(pending) == 0:
            break
        found, numbers = tree.query(points[pending], k=min(k, len(points)))
        is_denser = rank[numbers] < rank[pending, None]
        has_one = is_denser.any(axis=1)
        first = is_denser[has_one].argmax(axis=1)[:, None]
        solved = pending[has_one]
        denser[solved] = np.take_along_axis(numbers[has_one], first, axis=1)[:, 0]
        distance[solved] = np.take_along_axis(found[has_one], first, axis=1)[:, 0]
        pending = pending[~has_one]
    return pending


def _among_all(
    points: np.ndarray,
    order: np.ndarray,
    rank: np.ndarray,
    pending: np.ndarray,
    denser: np.ndarray,
    distance: np.ndarray,
) -> None:
    falling = points[order]
    size = max(_BLOCK_VALUES // len(points), 1)
    pending = pending[np.argsort(rank[pending])]
    for start in range(0, len(pending), size):
        block = pending[start : start + size]
        n_denser = rank[block]
        far = cdist(points[block], falling[: n_denser.max()])
        far[np.arange(far.shape[1]) >= n_denser[:, None]] = np.inf
        nearest = far.argmin(axis=1)
        denser[block] = order[nearest]
        distance[block] = far[np.arange(len(block)), nearest]
