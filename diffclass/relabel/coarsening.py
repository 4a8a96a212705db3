"""Coarsening by aggregation: a graph of few aggregates in place of one of many points.

Seeds are points without a common edge, to which all others have one. Every other point joins the
seed to which its affinity is largest. On graphs of nearest neighbours an aggregate has about eight
points, so that a step of the walk takes an eighth of the time.

The coarse graph is that of the aggregates' mean features.

Source: Vanek, Mandel and Brezina, Algebraic multigrid by smoothed aggregation (1996), section 5.1,
for the aggregates.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from diffclass import _compiled
from diffclass._validation import RandomState, check_kind, check_points, check_positive
from diffclass.exceptions import DataError, ParameterError
from diffclass.graph import markov_operator
from diffclass.kernels import Kernel
from diffclass.operators.markov import MarkovOperator
from diffclass.targets import UNLABELLED, decode_labels, encode_labels


@dataclass(frozen=True, eq=False)
class CoarseGraph:
    """A walk on m aggregates of n points, and the maps between the two.

    Parameters
    ----------
    operator : MarkovOperator
        The walk on the aggregates.
    aggregates : ndarray of int of shape (n,)
        Aggregate of each point, 0 to m - 1; none is empty.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import MarkovOperator
    >>> walk = MarkovOperator.from_affinity(np.ones((2, 2)))
    >>> coarse = CoarseGraph(walk, np.array([0, 0, 1, 1, 1], dtype=np.int32))
    >>> coarse.restrict(np.array([1, 3, 4])).tolist()
    [0, 1]
    >>> coarse.restrict_labels(np.array([-1, 7, -1, -1, -1])).tolist()
    [7, -1]
    >>> coarse.lift(np.array([0.25, 0.75])).tolist()
    [0.25, 0.25, 0.75, 0.75, 0.75]
    """

    operator: MarkovOperator
    aggregates: np.ndarray

    def __len__(self) -> int:
        return len(self.operator)

    @cached_property
    def first_points(self) -> np.ndarray:
        """The first point of each aggregate; int of shape (m,)."""
        return np.unique(self.aggregates, return_index=True)[1]

    def restrict(self, points: np.ndarray) -> np.ndarray:
        """Return the aggregates of some points (0 to n - 1), int32, ascending, each once."""
        return np.unique(self.aggregates[points])

    def restrict_labels(self, y: np.ndarray) -> np.ndarray:
        """Return the label (m,) of each aggregate: of its last labelled point in y (n,), or -1.

        Labels are of any kind, marked as in `diffclass.diffuse_labels` where there is none.
        """
        classes, codes = encode_labels(y)
        if len(codes) != len(self.aggregates):
            raise DataError(f"y has {len(codes)} entries; there are {len(self.aggregates)} points")
        labels = np.full(len(self), UNLABELLED)
        labelled = np.flatnonzero(codes >= 0)
        labels[self.aggregates[labelled]] = codes[labelled]
        return decode_labels(classes, labels) if len(classes) else labels

    def lift(self, values: np.ndarray) -> np.ndarray:
        """Return the values (n, ...) of the points: each takes those (m, ...) of its aggregate."""
        return values[self.aggregates]


def coarsen(
    operator: MarkovOperator,
    X: ArrayLike,
    *,
    n_neighbors: int = 12,
    kernel: Kernel | None = None,
    random_state: RandomState = None,
) -> CoarseGraph:
    """Aggregate the points of a graph and build the graph of the aggregates' mean features.

    Parameters
    ----------
    operator : MarkovOperator
        The walk on n points.
    X : array-like of shape (n, p)
        Features of the points.
    n_neighbors : int, default=12
        Neighbours of each aggregate; of few aggregates, all others.
    kernel, random_state
        As for `diffclass.markov_operator`.

    Returns
    -------
    CoarseGraph
        Of m aggregates.

    Raises
    ------
    DataError
        If the features are not finite numbers, or not those of the operator's points.
    ParameterError
        If all points are one aggregate, or as `diffclass.markov_operator`.

    See Also
    --------
    BlockClassifier : For all points, where only memory is short.

    Notes
    -----
    Costs two passes over the edges, and the graph of m points.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import markov_operator
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> A = markov_operator(X, n_neighbors=8)
    >>> coarse = coarsen(A, X, n_neighbors=8)
    >>> len(coarse) < 100
    True
    >>> coarse.lift(coarse.operator @ np.ones(len(coarse))).shape
    (500,)
    """
    check_kind(operator, "operator", MarkovOperator, example="markov_operator(X)")
    check_positive(n_neighbors, "n_neighbors", integer=True)
    features = check_points(X)
    if len(features) != operator.n_points:
        raise DataError(
            f"X has the shape {features.shape}; give the features of the operator's "
            f"{operator.n_points} points, one row each"
        )
    aggregates = operator.at_points(neighbor_aggregates(operator))
    means = aggregate_means(features, aggregates)
    if len(means) == 1:
        raise ParameterError(
            "all points are one aggregate, so that there is no coarse graph; build the graph with "
            "fewer neighbours, or do without coarsening"
        )
    walk = markov_operator(
        means,
        n_neighbors=min(n_neighbors, len(means) - 1),
        kernel=kernel,
        random_state=random_state,
    )
    return CoarseGraph(walk, aggregates)


def neighbor_aggregates(operator: MarkovOperator) -> np.ndarray:
    """Part the points of a graph into aggregates of neighbours.

    Points with many edges become seeds first; the result is the same in every run.

    Parameters
    ----------
    operator : MarkovOperator
        The walk on n points.

    Returns
    -------
    ndarray of int32 of shape (n,)
        Aggregate of each point (or node, where points are equal), numbered from 0.

    Notes
    -----
    Costs two passes over the edges.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import MarkovOperator
    >>> chain = np.eye(6, k=1) + np.eye(6, k=-1)
    >>> neighbor_aggregates(MarkovOperator.from_affinity(chain)).tolist()
    [0, 0, 0, 1, 1, 2]
    """
    K = operator.affinity
    # 1. seeds: each point in turn, unless it has an edge to one; 2. the others join a seed
    order = np.argsort(-np.diff(K.indptr), kind="stable").astype(np.int64)
    is_seed = np.zeros(len(operator), dtype=bool)
    _compiled.choices.choose_seeds(K.indptr, K.indices, order, is_seed)
    of_seed = np.where(is_seed, np.cumsum(is_seed) - 1, -1).astype(np.int32)
    aggregates = np.empty(len(operator), dtype=np.int32)
    _compiled.choices.join_seeds(K.indptr, K.indices, K.data, of_seed, aggregates)
    return aggregates


def aggregate_means(features: np.ndarray, aggregates: np.ndarray) -> np.ndarray:
    """Return the mean features of each aggregate.

    Parameters
    ----------
    features : ndarray of shape (n, p)
    aggregates : ndarray of int of shape (n,)
        From 0, none empty.

    Returns
    -------
    ndarray of shape (m, p)
        In the dtype of the features; of whole numbers in double precision.

    Examples
    --------
    >>> import numpy as np
    >>> aggregate_means(np.array([[0.0, 2.0], [4.0, 4.0], [2.0, 6.0]]), np.array([1, 0, 1]))
    array([[4., 4.],
           [1., 4.]])
    """
    sizes = np.bincount(aggregates)
    dtype = features.dtype if features.dtype.kind == "f" else np.float64
    means = np.empty((len(sizes), features.shape[1]), dtype=dtype)
    # one feature at a time: no copy of all points in double precision
    for mean, feature in zip(means.T, features.T, strict=True):
        mean[:] = np.bincount(aggregates, feature) / sizes
    return means
