"""From points to an operator: neighbours, then affinities, then A. The one way in.

The steps are ::

    features = kernel.place(X)          coordinates in which neighbours are searched
    graph = neighbors_graph(features)   squared distances to them, symmetric
    K = kernel.fit(graph, X)            affinities
    A = D^-1 K_alpha                    the walk

A `PointGraph` keeps what new points need. From a new point x the walk steps to the fitted points y
with weights a(x, y) = k(x, y) q(y)^-alpha, divided by their sum; q(x)^-alpha cancels.

Divided by their sum, even the smallest weights lead somewhere. Whether x is within reach is for the
fitted points to judge, by the distance s(y) from y to its seventh neighbour::

    novelty(x) = min_y |x - y| / s(y) <= 5    over its neighbours y.

Source: Coifman et al. 2005, section 2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone

from diffclass._validation import Graph, RandomState, check_affinity, check_points, check_seed
from diffclass.exceptions import DataError, ParameterError
from diffclass.kernels import FittedKernel, Kernel, Placing, check_kernel
from diffclass.kernels.isotropic import neighbor_distances
from diffclass.neighbors import NeighborSearch, Nodes, neighbors_graph, on_device
from diffclass.neighbors.nn_descent import search_cost
from diffclass.neighbors.nodes import row_hashes
from diffclass.neighbors.number_range import AS_THEY_ARE, NumberRange
from diffclass.neighbors.search import Search, of_type
from diffclass.operators.markov import MarkovOperator
from diffclass.operators.warped import pin
from diffclass.system.costs import Cost, Size
from diffclass.system.identity import content_hash
from diffclass.system.progress import stage
from diffclass.targets import UNLABELLED, encode_labels

__all__ = ["BYTES_OF_A_POINT", "REACH", "PointGraph", "graph_costs", "markov_operator"]

BYTES_OF_A_POINT = 40  # its place, number and label
_SCALE_NEIGHBOR = 7  # as in self-tuning
REACH = 5.0  # largest novelty within reach


@dataclass(frozen=True, eq=False)
class StepsToPoints:
    """The steps of the walk from new points to the fitted ones; made by `PointGraph.steps`.

    density (n,) is the q of the operator, alpha its density exponent, mass (n,) the number of
    points at each node where some are equal; the rest is as in `PointGraph`.
    """

    kernel: FittedKernel | None
    search: NeighborSearch | None
    placing: Placing | None
    scales: np.ndarray | None
    density: np.ndarray
    alpha: float
    mass: np.ndarray | None = None
    number_range: NumberRange = AS_THEY_ARE
    places: np.ndarray | None = None

    def features_of(self, X_new: np.ndarray) -> np.ndarray:
        """Return the (m, p) coordinates in which neighbours of new points are searched."""
        return X_new if self.placing is None else self.placing(self.number_range(X_new))

    @property
    def _places(self) -> np.ndarray | None:
        return self.search.points if isinstance(self.search, Search) else self.places

    @cached_property
    def _by_hash(self) -> tuple[np.ndarray, np.ndarray]:
        hashes = row_hashes(cast(np.ndarray, self._places))
        order = np.argsort(hashes)
        return hashes[order], order

    def fitted_places(self, X_new: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return which new points are where a fitted one is, (k,), and the numbers of these, (k,).

        None for a precomputed affinity.
        """
        if self._places is None:
            nothing = np.zeros(0, dtype=np.intp)
            return nothing, nothing
        features = self.features_of(check_points(X_new, name="X_new"))
        features = of_type(features, self._places.dtype)
        hashes, order = self._by_hash
        found = row_hashes(features)
        places = np.minimum(np.searchsorted(hashes, found), len(hashes) - 1)
        same = np.flatnonzero(hashes[places] == found)
        there = order[places[same]]
        # hashes find candidates; the values decide
        is_equal = (self._places[there] == features[same]).all(axis=1)
        return same[is_equal], there[is_equal]

    def affinities_and_novelty(
        self, X_new: ArrayLike, *, dtype: np.dtype | type = np.float64
    ) -> tuple[sp.csr_array, np.ndarray]:
        """Return k(x, y) and the novelty of new points; otherwise as `weights_and_novelty`."""
        if self.kernel is None or self.search is None:
            affinity = _checked_affinities(X_new, len(self.density), dtype)
            return affinity, np.zeros(affinity.shape[0])
        X_new = check_points(X_new, name="X_new")
        graph = sp.csr_array(self.search.transform(self.features_of(X_new)))
        graph.sort_indices()
        novelty = self._novelty(graph)
        with np.errstate(over="ignore"):  # infinitely far is far enough
            graph.data = graph.data * graph.data
        return self.kernel.extend(graph, self.number_range(X_new)), novelty

    def weights_and_novelty(
        self, X_new: ArrayLike, *, dtype: np.dtype | type = np.float64
    ) -> tuple[sp.csr_array, np.ndarray]:
        """Return the weights k(x, y) q(y)^-alpha, (m, n), and the novelty of new points.

        The novelty (m,) is min_y |x - y| / s(y), see the module; infinite without neighbours, 0 for
        a precomputed affinity, whose dtype may be given.
        """
        affinity, novelty = self.affinities_and_novelty(X_new, dtype=dtype)
        weights = self.density**-self.alpha
        weights = weights if self.mass is None else self.mass * weights
        return sp.csr_array(affinity * weights[None, :]), novelty

    def _novelty(self, distances: sp.csr_array) -> np.ndarray:
        if self.scales is None:
            return np.zeros(distances.shape[0])
        novelty = np.full(distances.shape[0], np.inf)
        with np.errstate(over="ignore"):
            ratios = distances.data / self.scales[distances.indices]
        occupied = np.diff(distances.indptr) > 0
        starts = distances.indptr[:-1][occupied]
        if len(starts):
            novelty[occupied] = np.minimum.reduceat(ratios, starts)
        return novelty


@dataclass(frozen=True, eq=False)
class PointGraph:
    """The walk on n points, and the steps of new points to them; see `from_points`.

    Parameters
    ----------
    operator : MarkovOperator
        The walk on the points.
    kernel : FittedKernel or None
        Fitted to the points; None for a precomputed affinity.
    search : NeighborSearch or None
        Fitted to the points; None for a precomputed affinity.
    placing : callable or None
        Gives the coordinates of new points in which their neighbours are searched; None for a
        precomputed affinity.
    scales : ndarray of shape (n,) or None
        Distance from each point to its seventh neighbour; None for a precomputed affinity.
    number_range : NumberRange
        In which distances are computed; scales are in its unit.
    places : ndarray of shape (n, p) or None
        Coordinates in which neighbours are searched, of a search that does not keep them itself.
    content : str or None
        Hash of the points, or of the precomputed affinity; see `is_of`. None: not known.
    parameters : dict of str to str, or None
        What it was made with besides the points, by name, in words. None: not known.

    See Also
    --------
    markov_operator : The operator alone, where no new points come.
    MarkovOperator.from_affinity : From affinities that are known already.

    Examples
    --------
    >>> from diffclass import PointGraph
    >>> from diffclass.kernels import Gaussian
    >>> X = [[0.0], [1.0], [2.0]]
    >>> graph = PointGraph.from_points(X, n_neighbors=2, kernel=Gaussian(bandwidth=1.0))
    >>> graph.step_weights([[0.5]]).toarray().round(3)
    array([[0.779, 0.779, 0.   ]])
    """

    operator: MarkovOperator
    kernel: FittedKernel | None = None
    search: NeighborSearch | None = None
    placing: Placing | None = None
    scales: np.ndarray | None = None
    number_range: NumberRange = AS_THEY_ARE
    places: np.ndarray | None = None
    content: str | None = None
    parameters: dict[str, str] | None = None

    def __repr__(self) -> str:
        return f"<PointGraph: {self.operator!r}, kernel {type(self.kernel).__name__}>"

    @classmethod
    def from_points(
        cls,
        X: ArrayLike,
        *,
        n_neighbors: int = 12,
        kernel: Kernel | None = None,
        alpha: float = 0.0,
        search: NeighborSearch | None = None,
        y: ArrayLike | None = None,
        scores: ArrayLike | None = None,
        random_state: RandomState = None,
    ) -> PointGraph:
        """Build the graph of a set of points: neighbours, then affinities, then the operator.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points.
        n_neighbors : int, default=12
            Neighbours of a point in the graph.
        kernel : Kernel, optional
            The self-tuning `Gaussian` by default.
        alpha : float, default=0.0
            Density exponent: 0 gives the graph Laplacian, 1/2 Fokker-Planck, 1 Laplace-Beltrami. It
            has an effect only with a global bandwidth.
        search : NeighborSearch, optional
            A copy of it is fitted; see `neighbors_graph`. By default the kernel chooses one.
        y, scores : array-like, optional
            Labels and the scores of an earlier map (`diffclass.label_diffusion.map_scores`), passed
            on to the kernel.
        random_state : int, RandomState or None, default=None
            Seeds the neighbour search.

        Raises
        ------
        ParameterError, DataError
            As `neighbors_graph` and the kernel.

        Examples
        --------
        >>> import numpy as np
        >>> from diffclass import PointGraph
        >>> X = np.random.default_rng(0).normal(size=(50, 2))
        >>> graph = PointGraph.from_points(X, n_neighbors=5)
        >>> len(graph), graph.recall, graph.operator.n_connected_components
        (50, 1.0, 1)
        """
        kernel = check_kernel("gaussian" if kernel is None else kernel)
        check_seed(random_state)
        how = Neighborhood(n_neighbors, search, random_state)
        found = find_neighbors(X, kernel, how, y=y, scores=scores)
        return found.point_graph(kernel, alpha=alpha, y=y, scores=scores)

    @classmethod
    def from_affinity(cls, affinity: Graph, *, alpha: float = 0.0) -> PointGraph:
        """Return the graph of a precomputed affinity; see `MarkovOperator.from_affinity`."""
        content = content_hash(affinity if sp.issparse(affinity) else check_points(affinity))
        operator = MarkovOperator.from_affinity(affinity, alpha=alpha)
        return cls(operator, content=content, parameters=graph_parameters(alpha))

    def is_of(self, X: ArrayLike) -> bool:
        """Return whether the graph is of just these points (n, d), or of this precomputed affinity.

        It compares hashes, so that points that have been changed in place since are others.

        Examples
        --------
        >>> import numpy as np
        >>> from diffclass import PointGraph
        >>> X = np.random.default_rng(0).normal(size=(50, 2))
        >>> graph = PointGraph.from_points(X)
        >>> graph.is_of(X), graph.is_of(X[::-1])
        (True, False)
        """
        return self.content == content_hash(X if sp.issparse(X) else check_points(X))

    def __len__(self) -> int:
        return len(self.operator)

    @property
    def recall(self) -> float | None:
        """Share of the true neighbours that the search found; None if it is not known."""
        return getattr(self.search, "recall_", None)

    @property
    def steps(self) -> StepsToPoints:
        """What new points need of the graph: all but the affinities of the fitted ones."""
        A = self.operator
        return StepsToPoints(
            self.kernel, self.search, self.placing, self.scales, A.density, A.alpha,
            A.mass, self.number_range, self.places,
        )  # fmt: skip

    def affinities_to(self, X_new: ArrayLike) -> sp.csr_array:
        """Return k(x, y) between new points and those of the graph, (m, n), 0 if not neighbours.

        Parameters
        ----------
        X_new : array-like of shape (m, d)
            New points; for a precomputed affinity their (m, n) affinities, which are returned.

        Raises
        ------
        DataError
            If points are not finite or have another number of features, or if affinities have
            another number of columns or are negative.
        """
        return self.steps.affinities_and_novelty(X_new, dtype=self.operator.dtype)[0]

    def step_weights(self, X_new: ArrayLike) -> sp.csr_array:
        """Return the weights k(x, y) q(y)^-alpha of the step from new points, as `affinities_to`.

        Rows (m, n) are not divided by their sums, which may be 0.
        """
        return self.steps.weights_and_novelty(X_new, dtype=self.operator.dtype)[0]

    def stationary_distribution_at(self, weights: sp.csr_array) -> np.ndarray:
        """Return pi at new points of some `step_weights` (m, n), of shape (m,).

        It is d(x) / sum d, d(x) = q(x)^-alpha sum_y k(x, y) q(y)^-alpha; 0 where a row is empty.

        Examples
        --------
        On all edges a fitted point as a new one has its own:

        >>> from diffclass import PointGraph
        >>> from diffclass.kernels import Gaussian
        >>> from diffclass.neighbors import ExactSearch
        >>> X = [[0.0], [1.0], [3.0]]
        >>> graph = PointGraph.from_points(X, kernel=Gaussian(bandwidth=1.0), search=ExactSearch(3))
        >>> graph.operator.stationary_distribution.round(3)
        array([0.363, 0.367, 0.27 ])
        >>> graph.stationary_distribution_at(graph.step_weights(X)).round(3)
        array([0.363, 0.367, 0.27 ])
        """
        A = self.operator
        degrees = np.asarray(weights.sum(axis=1), dtype=np.float64)
        if A.alpha:
            density = weights @ A.density**A.alpha
            degrees *= np.where(density > 0, density, 1) ** -A.alpha
        return degrees / A.degrees.sum()

    def novelty(self, X_new: ArrayLike) -> np.ndarray:
        """Return how far new points lie from their neighbours, (m,); see the module.

        Above `REACH` for points out of reach; 0 for a precomputed affinity. Points are as in
        `affinities_to`.
        """
        return self.steps.affinities_and_novelty(X_new, dtype=self.operator.dtype)[1]


def markov_operator(
    X: ArrayLike,
    *,
    n_neighbors: int = 12,
    kernel: Kernel | None = None,
    alpha: float = 0.0,
    search: NeighborSearch | None = None,
    y: ArrayLike | None = None,
    scores: ArrayLike | None = None,
    random_state: RandomState = None,
) -> MarkovOperator:
    """Build the operator of a set of points, by `PointGraph.from_points`.

    Parameters
    ----------
    X, n_neighbors, kernel, alpha, search, y, scores, random_state
        See `PointGraph.from_points`, also for what is raised.

    See Also
    --------
    PointGraph.from_points : Keeps what new points need, too.
    MarkovOperator.from_affinity : From affinities that are known already.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import markov_operator
    >>> angles = np.linspace(0, 2 * np.pi, 50, endpoint=False)
    >>> A = markov_operator(np.column_stack([np.cos(angles), np.sin(angles)]), n_neighbors=4)
    >>> bool(np.allclose(A @ np.ones(50), 1))
    True
    """
    return PointGraph.from_points(
        X,
        n_neighbors=n_neighbors,
        kernel=kernel,
        alpha=alpha,
        search=search,
        y=y,
        scores=scores,
        random_state=random_state,
    ).operator


@dataclass(frozen=True, eq=False)
class FoundNeighbors:
    """Points (n, d) and their neighbours, still without affinities; made by `find_neighbors`.

    The search is fitted to the features (n, p), which ``placing`` gives for new points; the graph
    holds squared distances, as `neighbors_graph` gives them.
    """

    points: np.ndarray
    features: np.ndarray
    placing: Placing
    search: NeighborSearch
    graph: sp.csr_array
    number_range: NumberRange
    content: str
    nodes: Nodes | None
    how: Neighborhood

    def point_graph(
        self,
        kernel: Kernel,
        *,
        alpha: float = 0.0,
        y: ArrayLike | None = None,
        scores: ArrayLike | None = None,
    ) -> PointGraph:
        """Return the `PointGraph` of the kernel that the neighbours were found for."""
        with stage("affinities"):
            points, nodes = self.points, self.nodes
            if nodes is not None:
                points = points[nodes.first]
                y = None if y is None else _labels_at(nodes, y)
                scores = None if scores is None else np.asarray(scores)[nodes.first]
                if y is not None and scores is not None:
                    y, scores = _with_all_classes(y, scores)
            affinity, fitted = kernel.fit(self.graph, points, y=y, scores=scores)
            affinity = _checked_fit(kernel, affinity, fitted, len(points))
            order = self.search.order if isinstance(self.search, Search) else None
            operator = MarkovOperator.from_affinity(
                affinity, alpha=alpha, check=False, nodes=nodes, order=order
            )
            scales = fitted.neighbor_distances(_SCALE_NEIGHBOR)
            if scales is None:
                scales = neighbor_distances(self.graph, _SCALE_NEIGHBOR, without_diagonal=True)
            places = None
            if not isinstance(self.search, Search):
                places = self.features if nodes is None else self.features[nodes.first]
        return PointGraph(
            operator, fitted, self.search, self.placing, scales, self.number_range, places,
            self.content, graph_parameters(alpha, kernel, self.how),
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Neighborhood:
    """Which neighbours a graph joins, and how they are searched; see `PointGraph.from_points`.

    On the device "cuda" works the kernel's own search, if it is one of the nearest points.
    """

    n_neighbors: int = 12
    search: NeighborSearch | None = None
    random_state: RandomState = None
    device: str = "cpu"


def find_neighbors(
    X: ArrayLike,
    kernel: Kernel,
    how: Neighborhood,
    *,
    y: ArrayLike | None = None,
    scores: ArrayLike | None = None,
    earlier: FoundNeighbors | None = None,
) -> FoundNeighbors:
    """Find the neighbours that a kernel is fitted to.

    ``earlier`` are neighbours found for another kernel. They are used if this kernel searches in
    the same features, by a search of the same kind and parameters; otherwise they are searched
    anew.
    """
    X = check_points(X)
    content, number_range = content_hash(X), NumberRange.of(X)
    # a bandwidth stated in the unit of the points, or a search that may have a radius, keeps it
    if number_range.exponent and (kernel.has_unit or not isinstance(how.search, Search | None)):
        number_range = AS_THEY_ARE
    X = number_range(X)
    features, placing = kernel.place(X, y=y, scores=scores)
    if features is not X:
        features = check_points(features, name="the kernel's search features")
    if len(features) != len(X):
        raise ParameterError(f"{kernel!r} places {len(X)} points at {len(features)} places")
    nodes = Nodes.of(features)
    searched = features if nodes is None else features[nodes.first]
    search = _search_for(kernel, searched, how)
    if earlier is not None and _would_find_the_same(search, features, earlier):
        search, graph = earlier.search, earlier.graph
    else:
        graph = neighbors_graph(searched, search=search)
    return FoundNeighbors(
        points=X,
        features=features,
        placing=placing,
        search=search,
        graph=graph,
        number_range=number_range,
        content=content,
        nodes=nodes,
        how=how,
    )


def graph_parameters(
    alpha: float, kernel: Kernel | None = None, how: Neighborhood | None = None
) -> dict[str, str]:
    """Return in words what a graph is made with besides its points, or besides its affinity.

    The device does not count.
    """
    found = {"alpha": repr(float(alpha))}
    if kernel is not None and how is not None:
        found |= {"kernel": _described(kernel), "random_state": repr(how.random_state)}
        by = "n_neighbors" if how.search is None else "search"  # which has a number of its own
        found[by] = _described(getattr(how, by))
    return found


def _described(value: Any) -> str:
    """Return a text that tells kernels, searches and their parameters apart by their values."""
    if hasattr(value, "__array__") and np.ndim(value):  # of pandas too, whose repr is cut short
        array = np.asarray(value)
        whole = repr(array.tolist()) if array.dtype.hasobject else array
        return f"array {content_hash(whole)[:12]}"
    if not isinstance(value, BaseEstimator):
        return repr(value)
    parameters = value.get_params(deep=False)
    if getattr(value, "inner", None) is not None:  # the kernel that None or a name stands for
        parameters["kernel"] = value.inner
    inside = ", ".join(f"{name}={_described(own)}" for name, own in parameters.items())
    return f"{type(value).__name__}({inside})"


def _checked_fit(kernel: Kernel, affinity: Any, fitted: Any, n: int) -> sp.csr_array:
    """Return the affinity that a kernel made of n points; `ParameterError` if it is none.

    The kernels of this package are not checked.
    """
    kernels = [one for one in (kernel, *kernel.get_params().values()) if isinstance(one, Kernel)]
    if all(type(one).__module__.startswith("diffclass.") for one in kernels):
        return affinity
    if not isinstance(fitted, FittedKernel):
        raise ParameterError(f"fit of {kernel!r} gave {fitted!r}, which is no FittedKernel")
    if np.shape(affinity) != (n, n):
        raise ParameterError(
            f"fit of {kernel!r} gave an affinity of shape {np.shape(affinity)} for {n} points"
        )
    try:
        return check_affinity(affinity)
    except DataError as error:
        raise ParameterError(f"fit of {kernel!r} gave an affinity that is none: {error}") from error


def _labels_at(nodes: Nodes, y: ArrayLike) -> np.ndarray:
    """Return the label of each node as a code: the commonest there, of equally many the least."""
    classes, codes = encode_labels(y)
    labelled = np.flatnonzero(codes >= 0)
    pairs, counts = np.unique(
        nodes.of_points[labelled] * len(classes) + codes[labelled], return_counts=True
    )
    order = np.lexsort([-pairs, counts])  # the last one at a node counts
    found = np.full(len(nodes), UNLABELLED)
    found[pairs[order] // len(classes)] = pairs[order] % len(classes)
    return found


def _with_all_classes(y: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray | None, np.ndarray]:
    """Return codes and scores of nodes; labels stand in the scores where they lack a class.

    They lack it where its labels are outnumbered at all their nodes.
    """
    labelled = np.flatnonzero(y >= 0)
    if len(np.unique(y[labelled])) == scores.shape[1]:
        return y, scores
    pin(scores, labelled, y[labelled])
    return None, scores


def _search_for(kernel: Kernel, features: np.ndarray, how: Neighborhood) -> NeighborSearch:
    """Return an unfitted search: a copy of the given one, or the kernel's own."""
    if how.search is None:
        search = kernel.search(features, how.n_neighbors, random_state=how.random_state)
        return on_device(search) if how.device == "cuda" else search
    if not isinstance(how.search, NeighborSearch):
        raise ParameterError(
            f"search = {how.search!r} cannot search; pass a search of diffclass.neighbors, or a "
            "transformer like scikit-learn's KNeighborsTransformer"
        )
    if not kernel.takes_any_search:
        raise ParameterError(f"search = {how.search!r} knows nothing of {kernel!r}; leave it out")
    return clone(how.search)


def _would_find_the_same(
    search: NeighborSearch, features: np.ndarray, earlier: FoundNeighbors
) -> bool:
    return (
        type(search) is type(earlier.search)
        and search.get_params() == earlier.search.get_params()
        and features.dtype == earlier.features.dtype
        and np.array_equal(features, earlier.features)
    )


def _checked_affinities(X_new: ArrayLike, n_points: int, dtype: np.dtype | type) -> sp.csr_array:
    affinity = sp.csr_array(X_new, dtype=dtype)
    if affinity.shape[1] != n_points:
        raise DataError(
            f"X has shape {affinity.shape}; affinities to {n_points} fitted points are needed"
        )
    if affinity.nnz and affinity.data.min() < 0:
        raise DataError("X holds negative affinities")
    return affinity


def graph_costs(size: Size, kernel: Kernel, *, extends: bool = True) -> dict[str, Cost]:
    """Return what building a graph costs, of "neighbors" and of "affinities".

    ``extends`` says whether the kernel keeps what new points are compared with.

    Examples
    --------
    >>> from diffclass.system.costs import Size
    >>> from diffclass.kernels import SharedNeighbors
    >>> from diffclass.graph import graph_costs
    >>> size = Size(points=1_000_000, features=30, neighbors=12)
    >>> costs = graph_costs(size, SharedNeighbors())
    >>> {name: f"{cost.working / 1e9:.1f} GB" for name, cost in costs.items()}
    {'neighbors': '1.1 GB', 'affinities': '1.1 GB'}
    """
    points, found = BYTES_OF_A_POINT * size.points, size.points * size.neighbors
    search, kernels = search_cost(size), kernel.cost(size)
    merging = max(40 * found, 20 * found + 8 * size.edges)  # to a symmetric graph
    working = points + max(search.working, search.kept + merging) + points
    return {
        "neighbors": Cost(working, search.kept + points, search.seconds),
        "affinities": kernels if extends else replace(kernels, kept=8 * size.edges),
    }
