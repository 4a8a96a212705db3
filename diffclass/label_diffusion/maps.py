"""From diffused values N_i to a map, and what the graph says of the map.

*Posteriors* are p_i = w_i N_i / sum_j w_j N_j. The *margin* of a point is p_(1) - p_(2), the
difference of its two largest posteriors. Values that differ only by rounding tie, and the first
class wins the tie.

*Weights* w_i of the classes. Labels say where classes are, not how large; weights can. *Equal* ones
take the values as they are: the class that a walk is most likely to meet first. *Balanced* ones,
w_i = 1 / <N_i, pi>, give all classes the same mass (class-mass normalisation, X. Zhu et al. 2003,
section 4). They help where few labels of similar classes have come by different luck: one label in
a dense place draws more walks than another. The cut of the maps decides between the two. *Matched*
ones, and those of borders that have *moved*, bring the classes of the map to given sizes; see
`diffclass.label_diffusion.class_sizes`. The mass of a class is of no use for that: long after the
labels have covered the graph it hardly depends on the class's size.

The *cut* of a map says how likely a step of the walk is to leave its class. A walk that starts in
class i, in its stationary measure, is in another class after one step with probability

    q_i = sum over x in i, y not in i of K(x,y) / sum over x in i of d(x).

The mean of the q_i is the normalised cut, divided by the number of classes. It is small where
borders run between clusters, and large where they cross one or where a class has shrunk to its
labels. Every class counts alike, and no truth is needed. The points of a class are a sample, so q_i
has the standard error sqrt(q_i (1 - q_i) / n_i), with n_i points in the class.

*Which of two maps is taken* is decided by what is known of them. Held-out labels say it best
(`is_clear_gain`). Where labels are too few to hold some out, the graph says it: a map that assumes
more is taken if its cut is clearly smaller (`Cut.is_clearly_below`). Sizes of the classes are
judged by the crossing of the whole map and not by the cut, in which the smallest class, on few
points, would decide (`diffclass.label_diffusion.class_sizes`).

*Scores* of a map say how sure the neighbourhood of a point is of its class; they shape kernels:

    S = A^3 H,   H(x, i) = 1 if the map gives x the class i, 0 if another

is the probability that the walk from x is in class i of the map after three steps. Posteriors of
absorbing labels do not serve: they are 1 at a label and much lower next to it. To a kernel that
sees such scores, labels are unlike their neighbours, and the walk that it shapes hardly ever meets
them. S knows labels only by the map, and its scale does not depend on the time or on how labels
count.

Sources: Coifman et al. 2005, section 3 (posteriors and margin); J. Shi and J. Malik, Normalized
cuts and image segmentation, 2000; M. Meila and J. Shi, A random walks view of spectral
segmentation, 2001 (the probabilities q_i).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import scipy.sparse as sp

from diffclass import _compiled
from diffclass.operators.markov import MarkovOperator

_Rows = TypeVar("_Rows", np.ndarray, sp.csr_array)


@dataclass(frozen=True, eq=False)
class Decision:
    """Each point's class.

    Attributes
    ----------
    codes : ndarray of int of shape (n,)
        Index of the class of the largest posterior, -1 where nothing has arrived.
    probability, margin : ndarray of shape (n,)
        p_(1), and p_(1) - p_(2), 0 to 1; 0 where nothing has arrived.
    """

    codes: np.ndarray
    probability: np.ndarray
    margin: np.ndarray


def decide(
    values: np.ndarray | sp.csr_array,
    class_weight: np.ndarray,
    *,
    limits: np.ndarray | None = None,
    components: np.ndarray | None = None,
    dtype: type | np.dtype = np.float64,
) -> Decision:
    """Find the class, probability and margin of each point from its values.

    Parameters
    ----------
    values : ndarray or csr_array of shape (n, n_classes)
        N_i, or N_i minus the limits. Sums below 0 count as 0. Sparse rows have no limits.
    class_weight : ndarray of shape (n_classes,)
        The weights w_i.
    limits, components : ndarray of shape (n_components, n_classes) and (n,), optional
        Limits of each component, added in double precision, and the component of each point.
    dtype : dtype, default=float64
        Of probability and margin.

    Returns
    -------
    Decision
        Of n points.

    See Also
    --------
    posteriors_of : The probabilities of all classes.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.label_diffusion import decide
    >>> decide(np.array([[3.0, 1.0], [0.0, 0.0]]), np.ones(2))
    Decision(codes=array([ 0, -1]), probability=array([0.75, 0.  ]), margin=array([0.5, 0. ]))
    """
    n, n_classes = values.shape
    codes = np.empty(n, dtype=np.intp)
    probability, margin = np.empty(n, dtype=dtype), np.empty(n, dtype=dtype)
    if isinstance(values, sp.csr_array):
        rows = values.indptr, values.indices, values.data
        _compiled.largest.read_off_rows(*rows, class_weight, codes, probability, margin)
        return Decision(codes, probability, margin)
    if limits is None or components is None:
        limits, components = np.zeros((1, n_classes)), np.zeros(n, dtype=np.int32)
    _compiled.columns.read_off(
        values.T, limits, components, class_weight.astype(np.float64), codes, probability, margin
    )
    return Decision(codes, probability, margin)


def posteriors_of(values: _Rows, class_weight: np.ndarray) -> _Rows:
    """Return p_i = w_i N_i / sum_j w_j N_j.

    Parameters
    ----------
    values : ndarray or csr_array of shape (n, n_classes)
        N_i, at least 0.
    class_weight : ndarray of shape (n_classes,)
        w_i.

    Returns
    -------
    ndarray or csr_array of shape (n, n_classes)
        Rows sum to 1. Where all values are 0, they are uniform; sparse rows are empty there. Of
        dense rows those as large as the largest, but for rounding, are just that; see `decide`.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.label_diffusion import posteriors_of
    >>> posteriors_of(np.array([[3.0, 1.0], [0.0, 0.0]]), np.array([0.5, 1.5]))
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    if isinstance(values, sp.csr_array):
        posteriors = values.astype(np.float64)
        posteriors.data *= class_weight[values.indices]
        return divided_by_row(posteriors, posteriors.sum(axis=1))
    posteriors = with_ties(values * class_weight)
    total = posteriors.sum(axis=1)
    empty = total <= 0
    posteriors[empty] = 1
    total[empty] = posteriors.shape[1]
    posteriors /= total[:, None]
    return posteriors


def with_ties(values: np.ndarray) -> np.ndarray:
    """Set values (n, n_classes) as large as the largest of a row, but for rounding, to that.

    So that the first of them is the class that `decide` finds. In place; also returned.
    """
    largest = values.max(axis=1, keepdims=True)
    np.copyto(values, largest, where=values >= largest / (1 + _compiled.columns.TIE))
    return values


def with_rows(posteriors: _Rows, which: np.ndarray, rows: np.ndarray) -> _Rows:
    """Return posteriors (n, n_classes) with others in some rows, bool (n,), of all classes."""
    if not isinstance(posteriors, sp.csr_array):
        found = posteriors.copy()
        found[which] = rows
        return found
    m, n_classes = rows.shape
    starts = np.append(0, np.cumsum(np.where(which, n_classes, 0)))
    values = rows.astype(posteriors.dtype).ravel(), np.tile(np.arange(n_classes), m), starts
    others = sp.diags_array(np.where(which, 0, 1).astype(posteriors.dtype)) @ posteriors
    return sp.csr_array(others + sp.csr_array(values, shape=posteriors.shape))


def divided_by_row(columns: sp.csr_array, divisors: np.ndarray) -> sp.csr_array:
    """Divide sparse rows in place, each by its number; those by 0 stay as they are."""
    columns.data /= np.repeat(np.where(divisors > 0, divisors, 1), np.diff(columns.indptr))
    return columns


def dense_rows(posteriors: np.ndarray | sp.csr_array, which: np.ndarray | slice) -> np.ndarray:
    """Return some rows of posteriors as an array of its own; empty sparse rows become uniform."""
    rows = posteriors[which]
    if not isinstance(rows, sp.csr_array):
        return np.array(rows)
    dense = rows.toarray()
    dense[~dense.any(axis=1)] = 1 / dense.shape[1]
    return dense


# Errors of the difference of two cuts. Half of one is enough: the other map needs more assumptions,
# a mass of the classes or a long sum, and is as good where both cut alike (DECISIONS).
_CLEAR_ERRORS = 0.5
_MOST_COUNTED = 50_000  # points on which shares are counted: to 0.2 %


def equal_weights(n_classes: int) -> np.ndarray:
    """Return weights 1 / n_classes, of shape (n_classes,)."""
    return np.full(n_classes, 1 / n_classes)


def balanced_weights(mass: np.ndarray) -> np.ndarray:
    """Return weights, of sum 1, in inverse proportion to the masses <N_i, pi>."""
    weight = 1 / np.maximum(mass, np.finfo(float).tiny)
    return weight / weight.sum()


def counted_every(n_points: int) -> int:
    """Return the distance of the points on which shares are counted."""
    return 1 + n_points // _MOST_COUNTED


@dataclass(frozen=True)
class Cut:
    """The cut of a map: the mean over the classes of the q_i, 0 to 1, and its standard error."""

    mean: float
    error: float

    def is_clearly_below(self, other: Cut) -> bool:
        """Whether the map of this cut is taken before another that assumes less."""
        clear = _CLEAR_ERRORS * float(np.hypot(self.error, other.error))
        return self.mean < other.mean - clear


def is_clear_gain(gains: np.ndarray) -> bool:
    """Say whether one map names held-out labels better than another, by the gain at each, (m,).

    The mean gain is above its standard error. In terms of sums,

        sum g > sqrt(sum g^2),

    which for gains of 1, 0 and -1 (right where the other is wrong, both alike, the other way round)
    is one standard error of Q. McNemar, Note on the sampling error of the difference between
    correlated proportions or percentages, 1947.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.label_diffusion.maps import is_clear_gain
    >>> is_clear_gain(np.array([1, 1, 1, -1])), is_clear_gain(np.array([1, 1, 1, 0]))
    (False, True)
    """
    return bool(np.sum(gains) > np.sqrt(np.sum(gains**2)))


def cut_of(operator: MarkovOperator, codes: np.ndarray, n_classes: int) -> Cut:
    """Return the cut of a map, by one pass over the edges.

    ``codes`` (n,) are -1 for none. A class without points counts as one that every step leaves.

    Examples
    --------
    Two pairs of points, joined by a weaker edge; each pair is a class:

    >>> import numpy as np
    >>> from diffclass import MarkovOperator
    >>> from diffclass.label_diffusion.maps import cut_of
    >>> K = np.array([[0, 3, 0, 0], [3, 0, 1, 0], [0, 1, 0, 3], [0, 0, 3, 0.0]])
    >>> cut_of(MarkovOperator.from_affinity(K), np.array([0, 0, 1, 1]), 2).mean
    0.14285714285714285
    """
    K, degrees = operator.affinity, operator.degrees
    return cut_of_sums(class_sums(K, degrees, codes, n_classes, mass=operator.mass))


def cut_of_sums(sums: np.ndarray) -> Cut:
    """Return the cut of a map from `class_sums`."""
    share, n_classes = _leaving(sums), sums.shape[1]
    size = np.maximum(sums[2], 1)
    error = np.sqrt(np.sum(np.maximum(share * (1 - share), 0) / size)) / n_classes
    return Cut(float(share.mean()), float(error))


def crossing_of_sums(sums: np.ndarray) -> float:
    """Return the share of the walk's steps that leave their class, from `class_sums`."""
    leaving, volume, _ = sums.sum(axis=1)
    return float(leaving / volume) if volume > 0 else 1.0


def class_sums(
    affinity: sp.csr_array,
    degrees: np.ndarray,
    codes: np.ndarray,
    n_classes: int,
    *,
    mass: np.ndarray | None = None,
) -> np.ndarray:
    """Return what leaves each class, its volume and its number of points; (3, n_classes).

    ``affinity`` has rows of K whose points are the first columns, ``codes`` a class for each
    column, -1 for none, ``mass`` the number of equal points at each row. The sums of a graph are
    the sums of its blocks' sums.
    """
    leaving = np.empty(len(degrees))
    K = affinity
    _compiled.graphs.leaving_class(K.indptr, K.indices, K.data, codes, leaving)
    own = codes[: len(degrees)]
    mapped = own >= 0
    inside = own[mapped]
    return np.stack(
        [
            np.bincount(inside, leaving[mapped], n_classes),
            np.bincount(inside, degrees[mapped], n_classes),
            np.bincount(inside, None if mass is None else mass[mapped], n_classes),
        ]
    )


def leaving_probabilities(
    operator: MarkovOperator, codes: np.ndarray, n_classes: int
) -> np.ndarray:
    """Return q_i, (n_classes,), from 0 to 1; 1 for a class without points. See `cut_of`."""
    return _leaving(class_sums(operator.affinity, operator.degrees, codes, n_classes))


def _leaving(sums: np.ndarray) -> np.ndarray:
    leaving, volume, _ = sums
    share = leaving / np.where(volume > 0, volume, 1)
    share[volume == 0] = 1
    return share


def map_scores(
    operator: MarkovOperator, codes: np.ndarray, n_classes: int, *, n_steps: int = 3
) -> np.ndarray:
    """Return S = A^t H, the scores of a map.

    Parameters
    ----------
    operator : MarkovOperator
        The walk on n points.
    codes : ndarray of int of shape (n,)
        Index of each point's class, -1 for none; such a point counts as an equal part of each.
    n_classes : int
    n_steps : int, default=3
        t.

    Returns
    -------
    ndarray of float64 of shape (n, n_classes)
        At least 0; rows sum to 1. Costs t products of the operator.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import markov_operator
    >>> from diffclass.label_diffusion import map_scores
    >>> A = markov_operator(np.arange(12.0)[:, None], n_neighbors=2)
    >>> map_scores(A, np.repeat([0, 1], 6), 2)[[0, 4, 5]].round(2)
    array([[1.  , 0.  ],
           [0.91, 0.09],
           [0.67, 0.33]])
    """
    scores = operator.apply(class_indicators(operator.at_nodes(codes), n_classes), n_steps)
    scores = normalised_scores(scores)
    return scores if len(codes) == len(operator) else operator.at_points(scores)


def class_indicators(
    codes: np.ndarray, n_classes: int, dtype: type | np.dtype = np.float64
) -> np.ndarray:
    """Return H, of shape (n, n_classes): 1 for the class of the map, equal parts without one."""
    H = np.eye(n_classes, dtype=dtype)[codes]
    H[codes < 0] = 1 / n_classes
    return H


def normalised_scores(columns: np.ndarray) -> np.ndarray:
    """Return diffused indicators without rounding below 0, in rows of sum 1 and float64."""
    scores = np.maximum(columns, 0).astype(np.float64, copy=False)
    return scores / scores.sum(axis=1, keepdims=True)
