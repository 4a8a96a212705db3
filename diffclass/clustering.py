"""Clusters by diffusion maps: by k-means, or around the modes of the density.

`DiffusionClustering`, k-means in diffusion coordinates:

1. *Outliers*, whose seventh neighbour is more than three times as far as those of their neighbours
   on geometric average, are set aside.
2. *The walk* of the others stays where the points are dense and on edges whose ends share
   neighbours (`diffclass.kernels.DensityWeighted` over `SharedNeighbors`): it seldom leaves a
   cluster.
3. *k-means* on the k - 1 leading coordinates lambda_l^t psi_l, at the relaxation time of the last,
   t = 1 / (1 - lambda_(k - 1)).
4. Clusters of less than a fiftieth of an equal share of the points are outliers too: again from 2.
5. Each outlier goes with the cluster of the nearest point that is none.

`DiffusionModes`: with p(x) the density and rho(x) the distance from x to the nearest denser point
in diffusion coordinates, the k points of the largest ::

    sqrt(p(x)) rho(x)

are the modes. All other points, the densest first, join the cluster of their nearest denser point.
The density is the sum of exp(-d^2 / s^2) over the neighbours of a point, s the median distance to
the seventh. The paper has p in place of its root, which finds fewer clusters of low density.

Sources: Socher 2008, section 2.4 (k-means in diffusion coordinates); M. Maggioni and J. M. Murphy,
Learning by unsupervised nonlinear diffusion (LUND), 2019.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from diffclass._validation import (
    RandomState,
    check_choice,
    check_positive,
    check_seed,
    validate_points,
)
from diffclass.embedding import DiffusionMap, check_embedding, pairs_in_use, relaxation_time
from diffclass.exceptions import ParameterError
from diffclass.graph import REACH
from diffclass.kernels import DensityWeighted, SharedNeighbors
from diffclass.kernels.isotropic import neighbor_distances
from diffclass.label_diffusion.maps import leaving_probabilities
from diffclass.neighbors import Nodes, neighbors_graph
from diffclass.neighbors.number_range import NumberRange
from diffclass.spectral.bandwidth import check_spread
from diffclass.system.progress import stage

__all__ = ["N_NEIGHBORS", "DiffusionClustering", "DiffusionModes"]

N_NEIGHBORS = 20
_DENSITY_POWER = 1.5
SCALE_NEIGHBOR = 7  # as in self-tuning
_OUTLYING = 3.0  # times the scale of its neighbours
_LEAST_SHARE = 1 / 50  # of n / k points, for a cluster
_MAX_ROUNDS = 10


class DiffusionClustering(ClusterMixin, BaseEstimator):
    """Cluster points by k-means on their diffusion coordinates.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters, at most the number of points. "auto" takes the one that the widest gap
        of the spectrum suggests, 2 to 33; see `diffclass.spectral.gap`.
    embedding : DiffusionMap, optional
        By default that of the module, of 20 neighbours. With another one all else stays the same;
        outliers are looked for unless it takes an affinity.
    n_init : int, default=10
        Starts of k-means, of which the best is kept.
    random_state : int, RandomState or None, default=0
        Seeds k-means, and the embedding if it is not given.

    Attributes
    ----------
    labels_ : ndarray of int of shape (n,)
        Cluster of each point, 0 to n_clusters - 1; outliers too have one.
    n_clusters_, reason_ : int, str
        Clusters in use, and why so many, in words.
    outliers_ : ndarray of bool of shape (n,)
        Which points were set aside.
    retention_ : ndarray of shape (n_clusters,)
        Quality of each cluster, from its share of the equilibrium to 1: the probability that the
        walk, started in the cluster, is still there at the relaxation time of the first coordinate
        left out.
    staying_ : ndarray of shape (n_clusters,)
        Probability, 0 to 1, that one step of the walk from a cluster stays in it.
    cluster_centers_ : ndarray of shape (n_clusters, n_components)
        Centres in diffusion coordinates.
    inertia_ : float
        Sum of squared diffusion distances to the centres, outliers left out.
    embedding_ : DiffusionMap
        Fitted to the points that are not outliers.

    See Also
    --------
    DiffusionModes : For clusters of unequal sizes, without a random start.

    Examples
    --------
    Two concentric rings, and a point far from both:

    >>> import numpy as np
    >>> from diffclass.clustering import DiffusionClustering
    >>> angles = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    >>> ring = np.column_stack([np.cos(angles), np.sin(angles)])
    >>> found = DiffusionClustering(2).fit(np.vstack([ring, 2 * ring, [[9.0, 0.0]]]))
    >>> len(set(found.labels_[:200])), len(set(found.labels_[200:400]))
    (1, 1)
    >>> sorted(np.bincount(found.labels_).tolist()), np.flatnonzero(found.outliers_).tolist()
    ([200, 201], [400])
    """

    def __init__(
        self,
        n_clusters: int | str = 8,
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

        Raises
        ------
        DataError, ParameterError
            As `DiffusionMap`, and if there are more clusters than points.
        """
        check_seed(self.random_state)
        X = self._checked(X, reset=True)
        self._check_number(X.shape[0])
        members = self._inliers(X)
        self._fit_to(X, members)
        for _ in range(_MAX_ROUNDS):
            # step 4 of the module
            kept = ~self._in_small_clusters()
            if kept.all():
                break
            members = members[kept]
            self._fit_to(X, members)
        self.outliers_ = np.ones(X.shape[0], dtype=bool)
        self.outliers_[members] = False
        self.reason_ = self._reason()
        self.labels_ = self._labels_of_all(X)
        self.retention_ = self._retention()
        self.staying_ = 1 - leaving_probabilities(
            self.embedding_.operator_, self._found_at_nodes, self.n_clusters_
        )
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the clusters (m,) of new points; far from the fitted ones, that of the nearest.

        At the place of a fitted point that was not set aside they have its cluster.
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        if self._is_pairwise:
            X = X[:, ~self.outliers_]
        graph = self.embedding_.graph_
        labels = self._clusters_at(self.embedding_.transform(X))
        far = graph.novelty(X) > REACH
        if far.any():
            labels[far] = self._nearest(X[far])
        same, there = graph.steps.fitted_places(X)
        labels[same] = self._found_at_nodes[there]
        return labels

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.sparse = self._is_pairwise
        return tags

    @property
    def _is_pairwise(self) -> bool:
        return getattr(self.embedding, "affinity", None) == "precomputed"

    def _checked(self, X: Any, *, reset: bool) -> Any:
        return validate_points(
            self,
            X,
            reset=reset,
            dtype=[np.float64, np.float32],
            accept_sparse="csr" if self._is_pairwise else False,
        )

    def _check_number(self, n: int) -> None:
        if isinstance(self.n_clusters, str):
            check_choice(self.n_clusters, "n_clusters", ("auto",), other="a number")
        elif check_positive(self.n_clusters, "n_clusters", integer=True) > n:
            raise ParameterError(f"n_clusters = {self.n_clusters}; there are {n} points")

    def _reason(self) -> str:
        if self.n_clusters == "auto":
            return self.embedding_.reason_.partition(";")[0]
        return f"{self.n_clusters} clusters were asked for"

    def _inliers(self, X: Any) -> np.ndarray:
        """Return the numbers of the points that are not outliers by their distances."""
        everyone = np.arange(X.shape[0])
        if self._is_pairwise:
            return everyone
        check_spread(X)
        nodes, searched = Nodes.of(X), NumberRange.of(X)(X)
        if nodes is not None:
            searched = searched[nodes.first]
        if not isinstance(self.n_clusters, str) and self.n_clusters > len(searched):
            raise ParameterError(
                f"n_clusters = {self.n_clusters}; there are {len(searched)} distinct points"
            )
        graph = neighbors_graph(searched, N_NEIGHBORS, random_state=self.random_state)
        self._look_at(graph, nodes)
        is_inlying = relative_scales(graph) <= _OUTLYING
        if nodes is not None:  # equal points are near each other
            is_inlying = (is_inlying | (nodes.mass > SCALE_NEIGHBOR))[nodes.of_points]
        members = np.flatnonzero(is_inlying)
        least = 2 if isinstance(self.n_clusters, str) else self.n_clusters
        return members if len(members) > least else everyone

    def _look_at(self, graph: sp.csr_array, nodes: Nodes | None) -> None:
        """Keep nothing of the squared distances between neighbours; modes keep the density."""

    @property
    def _found_at_nodes(self) -> np.ndarray:
        return self.embedding_.operator_.at_nodes(self._found)

    def _among(self, X: Any, members: np.ndarray) -> Any:
        if len(members) == X.shape[0]:
            return X
        return X[members][:, members] if self._is_pairwise else X[members]

    def _fit_to(self, X: Any, members: np.ndarray) -> None:
        self.embedding_ = self._embedding(len(members))
        with warnings.catch_warnings():
            # components are clusters
            warnings.filterwarnings("ignore", "the graph has .* components", UserWarning)
            coordinates = self.embedding_.fit_transform(self._among(X, members))
        self.n_clusters_ = (
            pairs_in_use(self.embedding_) if isinstance(self.n_clusters, str) else self.n_clusters
        )
        with stage("clusters"):
            self._found = self._partition(coordinates, members)

    def _partition(self, coordinates: np.ndarray, members: np.ndarray) -> np.ndarray:
        """Return the clusters, 0 to n_clusters_ - 1, of the points that are not outliers."""
        from sklearn.cluster import KMeans

        check_positive(self.n_init, "n_init", integer=True)
        self._kmeans = KMeans(
            self.n_clusters_, n_init=self.n_init, random_state=self.random_state
        ).fit(coordinates)
        self.cluster_centers_ = self._kmeans.cluster_centers_
        self.inertia_ = float(self._kmeans.inertia_)
        return self._kmeans.labels_

    def _clusters_at(self, coordinates: np.ndarray) -> np.ndarray:
        """Return the clusters of new points, given their diffusion coordinates."""
        return self._kmeans.predict(coordinates)

    def _embedding(self, n: int) -> DiffusionMap:
        if self.embedding is not None:
            return clone(check_embedding(self.embedding))
        auto = isinstance(self.n_clusters, str)
        return DiffusionMap(
            "auto" if auto else max(min(int(self.n_clusters) - 1, n - 1), 1),
            n_neighbors=N_NEIGHBORS,
            kernel=DensityWeighted(SharedNeighbors(), power=_DENSITY_POWER),
            alpha=0.0,
            time="relaxation",
            random_state=self.random_state,
        )

    def _in_small_clusters(self) -> np.ndarray:
        labels = self._found
        sizes = np.bincount(labels, minlength=self.n_clusters_)
        return (sizes < _LEAST_SHARE * len(labels) / self.n_clusters_)[labels]

    def _labels_of_all(self, X: Any) -> np.ndarray:
        """Return the clusters of the fitted points, and for outliers those of the nearest."""
        outliers, found = self.outliers_, self._found
        labels = np.empty(X.shape[0], dtype=found.dtype)
        labels[~outliers] = found
        if outliers.any():
            labels[outliers] = self._nearest(
                X[outliers][:, ~outliers] if self._is_pairwise else X[outliers]
            )
        return labels

    def _nearest(self, X: Any) -> np.ndarray:
        """Return the clusters of the fitted points nearest to new ones."""
        found = self._found_at_nodes
        graph = self.embedding_.graph_
        if graph.search is None:
            weights = sp.csr_array(X) @ np.eye(self.n_clusters_)[found]
            # without any edge: the largest cluster
            return (weights + 1e-300 * np.bincount(found, minlength=self.n_clusters_)).argmax(
                axis=1
            )
        distances = sp.csr_array(graph.search.transform(graph.steps.features_of(X)))
        rows = np.repeat(np.arange(len(X)), np.diff(distances.indptr))
        by_distance = np.lexsort([distances.data, rows])
        return found[distances.indices[by_distance[distances.indptr[:-1]]]]

    def _retention(self) -> np.ndarray:
        """Return sum_l lambda_l^t <psi_l, 1_C>^2 / pi(C) over the eigenpairs there are."""
        pairs = self.embedding_.eigenpairs_
        inside = np.eye(self.n_clusters_)[self._found_at_nodes]
        modes = pairs.left.T @ inside  # <psi_l, 1_C>, the first row pi(C)
        left_out = min(pairs_in_use(self.embedding_), len(pairs) - 1)
        return pairs.powers(relaxation_time(pairs.eigenvalues[left_out])) @ modes**2 / modes[0]


def relative_scales(graph: sp.csr_array) -> np.ndarray:
    """Return how much farther a point's seventh neighbour is than those of its neighbours.

    A factor (n,), about 1 inside a cluster, at its rim up to 2 or 3. The graph holds squared
    distances.
    """
    # s(x) by the geometric mean of s(y) over the neighbours y of x
    logarithms = np.log(neighbor_distances(graph, SCALE_NEIGHBOR, without_diagonal=True))
    edges = sp.csr_array((np.ones(graph.nnz), graph.indices, graph.indptr), shape=graph.shape)
    n_others = np.maximum(edges.sum(axis=1) - 1, 1)
    return np.exp(logarithms - (edges @ logarithms - logarithms) / n_others)


_NEIGHBORS = (16, 64, 256)  # to look among in turn; then among all denser points
_BLOCK_VALUES = 2**22  # distances held at a time


class DiffusionModes(DiffusionClustering):
    """Cluster points around modes: dense points far in diffusion distance from denser ones.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        As in `DiffusionClustering`.
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
        Their sqrt(p) rho.
    n_clusters_, reason_, outliers_, retention_, staying_, embedding_
        As in `DiffusionClustering`.

    See Also
    --------
    DiffusionClustering : For clusters of about equal sizes, and scenes with background.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from diffclass.clustering import DiffusionModes
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
    """Return p(x), the sum of exp(-d^2 / s^2) over neighbours, each by its mass (n,)."""
    scale = float(np.median(neighbor_distances(graph, SCALE_NEIGHBOR, without_diagonal=True)))
    weights = graph.copy()
    weights.data = np.exp(-weights.data / max(scale**2, np.finfo(weights.dtype).tiny))
    sums = weights.sum(axis=1) if mass is None else weights @ mass
    return np.asarray(sums).ravel()


def labels_of_modes(denser: np.ndarray, modes: np.ndarray) -> np.ndarray:
    """Return the number of the mode that each point leads to, from denser to denser point."""
    # each point leads to a denser one, a mode to itself; following leads of leads ends at modes
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
    and the distance to the farthest one.
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
