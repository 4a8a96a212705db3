"""The cut of a map: how likely a step of the walk is to leave its class.

A walk that starts in class i, in its stationary measure, is in another class after one step with
probability

    q_i = sum over x in i, y not in i of K(x,y) / sum over x in i of d(x).

The mean of the q_i is the normalised cut of the map, divided by the number of classes. It is small
where borders run between clusters, and large where they cross one or where a class has shrunk to
its labels. Every class counts alike, and no truth is needed.

The points of a class are a sample, so q_i has the standard error sqrt(q_i (1 - q_i) / n_i), with
n_i points in the class; that of the mean follows.

Sources: J. Shi and J. Malik, Normalized cuts and image segmentation, 2000; M. Meila and J. Shi,
A random walks view of spectral segmentation, 2001 (the probabilities q_i).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from diffclass import _compiled
from diffclass.operators.markov import MarkovOperator


@dataclass(frozen=True)
class Cut:
    """The cut of a map.

    Attributes
    ----------
    mean : float
        Mean over the classes of the probability that a step leaves the class, 0 to 1.
    error : float
        Its standard error.
    """

    mean: float
    error: float

    def is_below(self, other: Cut, *, n_errors: float) -> bool:
        """Whether this cut is lower by more than so many errors of the difference."""
        return self.mean < other.mean - n_errors * float(np.hypot(self.error, other.error))


def cut_of(operator: MarkovOperator, codes: np.ndarray, n_classes: int) -> Cut:
    """Return the cut of a map.

    Parameters
    ----------
    operator : MarkovOperator
        The walk on n points.
    codes : ndarray of int of shape (n,)
        Index of each point's class, -1 for none.
    n_classes : int
        A class without points counts as one that every step leaves.

    Returns
    -------
    Cut
        Costs one pass over the edges.

    Examples
    --------
    Two pairs of points, joined by a weaker edge; each pair is a class:

    >>> import numpy as np
    >>> from diffclass import MarkovOperator
    >>> from diffclass.label_diffusion.cut import cut_of
    >>> K = np.array([[0, 3, 0, 0], [3, 0, 1, 0], [0, 1, 0, 3], [0, 0, 3, 0.0]])
    >>> cut_of(MarkovOperator.from_affinity(K), np.array([0, 0, 1, 1]), 2).mean
    0.14285714285714285
    """
    return cut_of_sums(class_sums(operator.affinity, operator.degrees, codes, n_classes))


def cut_of_sums(sums: np.ndarray) -> Cut:
    """Return the cut of a map from `class_sums`."""
    share, n_classes = _leaving(sums), sums.shape[1]
    size = np.maximum(sums[2], 1)
    error = np.sqrt(np.sum(np.maximum(share * (1 - share), 0) / size)) / n_classes
    return Cut(float(share.mean()), float(error))


def class_sums(
    affinity: sp.csr_array, degrees: np.ndarray, codes: np.ndarray, n_classes: int
) -> np.ndarray:
    """Return the sums of which a cut is made; those of a graph are the sums of its blocks' sums.

    Parameters
    ----------
    affinity : csr_array of shape (n_rows, n_columns)
        Rows of K; the points of the rows are the first columns.
    degrees : ndarray of shape (n_rows,)
    codes : ndarray of int of shape (n_columns,)
        Index of each point's class, -1 for none.
    n_classes : int

    Returns
    -------
    ndarray of shape (3, n_classes)
        What leaves each class, its volume, and its number of points.
    """
    leaving = np.empty(len(degrees))
    K = affinity
    _compiled.edges.leaving_class(K.indptr, K.indices, K.data, codes, leaving)
    own = codes[: len(degrees)]
    mapped = own >= 0
    inside = own[mapped]
    return np.stack(
        [
            np.bincount(inside, leaving[mapped], n_classes),
            np.bincount(inside, degrees[mapped], n_classes),
            np.bincount(inside, minlength=n_classes),
        ]
    )


def leaving_probabilities(
    operator: MarkovOperator, codes: np.ndarray, n_classes: int
) -> np.ndarray:
    """Return q_i, how likely a step of the walk is to leave each class.

    Parameters
    ----------
    operator, codes, n_classes
        As in `cut_of`.

    Returns
    -------
    ndarray of shape (n_classes,)
        0 to 1; 1 for a class without points.
    """
    return _leaving(class_sums(operator.affinity, operator.degrees, codes, n_classes))


def _leaving(sums: np.ndarray) -> np.ndarray:
    leaving, volume, _ = sums
    share = leaving / np.where(volume > 0, volume, 1)
    share[volume == 0] = 1
    return share
