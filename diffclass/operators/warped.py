"""Class-specific walks: one Markov operator per class, made from one operator and earlier scores.

With s_i(x) > 0 the score of class i at x, and K the affinity of the operator,

    K_i(x, y) = s_i(x) K(x, y) s_i(y),   d_i = s_i (K s_i),   A_i = D_i^-1 K_i,

so that the walk of class i crosses where both ends look like class i and seldom leaves for where
they do not. K_i is never stored: with w_i = s_i / (K s_i) one step of every class is one product,

    h_i <- w_i (K h_i),

read backward as f_i = h_i / s_i (A_i f is the mean of f after a step) or forward as
m_i = (K s_i) h_i (A_i' m is where mass goes; its sum is kept): m_i = d_i f_i.

Which reading tells the classes apart? The forward one, m_i, tends to d_i, about s_i^2: it echoes
the old scores. The backward one, f_i, tends to 1 for every class: it has forgotten them, and with
small scores, too soon, for the rows were divided by how large s_i is. Between them lies
N_i = m_i^reading f_i^(1 - reading) = d_i^reading f_i; see `experiments/coifman_2005/warping.py`.

Source: Coifman et al. 2005, section 3 (the kernel k(x, y) s_i(x) s_i(y), "renormalized").
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from diffclass import _compiled
from diffclass._validation import check_positive, check_scores, check_share
from diffclass.exceptions import DataError, ParameterError
from diffclass.operators.markov import MarkovOperator
from diffclass.targets import encode_labels

# Defaults, chosen in experiments/coifman_2005/warping.py.
WARP_FLOOR = 0.4
FORWARD_EXPONENT = 0.25


@dataclass(frozen=True, eq=False)
class WarpedOperator:
    """The operators A_i of all classes, frozen. Make one with `warped_operator`.

    Parameters
    ----------
    operator : MarkovOperator
        The walk that is warped, of n points.
    scores : ndarray of shape (n, n_classes)
        s_i, above 0 and at most 1.
    smoothed_scores : ndarray of shape (n, n_classes)
        K s_i.
    forward_exponent : float
        Share of the forward reading in `read`, 0 to 1.

    Notes
    -----
    Memory: four arrays of n x n_classes. A step costs what one of the plain operator costs, and
    one more multiplication per point and class.
    """

    operator: MarkovOperator
    scores: np.ndarray
    smoothed_scores: np.ndarray
    forward_exponent: float

    def __len__(self) -> int:
        return len(self.operator)

    @property
    def degrees(self) -> np.ndarray:
        """d_i = s_i (K s_i), of shape (n, n_classes): each class's stationary mass, not scaled."""
        return self.scores * self.smoothed_scores

    def apply(self, f: ArrayLike, n_steps: int = 1) -> np.ndarray:
        """Diffuse functions backward: column i is A_i^t f_i.

        Parameters
        ----------
        f : array-like of shape (n, n_classes)
            One function per class.
        n_steps : int, default=1
            t, at least 0.

        Returns
        -------
        ndarray of shape (n, n_classes)
            In the operator's dtype.

        Raises
        ------
        ParameterError
            For columns of another shape, or a negative or fractional number of steps.
        """
        return self.advance(self._columns(f) * self.scores, n_steps) / self.scores

    def forward(self, mass: ArrayLike, n_steps: int = 1) -> np.ndarray:
        """Move mass forward: column i is (A_i')^t m_i. Sums are kept.

        Parameters
        ----------
        mass : array-like of shape (n, n_classes)
            One distribution per class.
        n_steps : int, default=1
            t, at least 0.

        Returns
        -------
        ndarray of shape (n, n_classes)
            In the operator's dtype.

        Raises
        ------
        ParameterError
            As `apply`.
        """
        return (
            self.advance(self._columns(mass) / self.smoothed_scores, n_steps) * self.smoothed_scores
        )

    def advance(self, h: np.ndarray, n_steps: int = 1) -> np.ndarray:
        """Take t steps h_i <- w_i (K h_i) of s_i f_i, which is also m_i / (K s_i).

        Parameters
        ----------
        h : ndarray of shape (n, n_classes)
            In the operator's dtype.
        n_steps : int, default=1
            t, at least 0.

        Returns
        -------
        ndarray of shape (n, n_classes)
            A new array.
        """
        check_positive(n_steps, "n_steps", integer=True, zero=True)
        K, weights = self.operator.affinity, self._weights
        h, spare = h.copy(), np.empty_like(h)
        for _ in range(n_steps):
            _compiled.products.scaled_product(K.indptr, K.indices, K.data, weights, h, spare)
            h, spare = spare, h
        return h

    def read(self, h: np.ndarray) -> np.ndarray:
        """Return N_i = d_i^reading f_i of the h_i of `advance`; shape (n, n_classes)."""
        return h * self._read_factors

    def read_at_new_points(self, weights: sp.csr_array, values: np.ndarray) -> np.ndarray:
        """Return N_i at new points: a step of each class's walk, scores being means of neighbours'.

        Parameters
        ----------
        weights : csr_array of shape (m, n)
            Of `diffclass.PointGraph.step_weights`.
        values : ndarray of shape (n, n_classes)
            N_i, as `read` gives them.

        Returns
        -------
        ndarray of shape (m, n_classes)
            Up to a factor that the classes of a point share; 0 where a row of weights is empty.
        """
        f = values / self.degrees**self.forward_exponent
        smoothed_scores = weights @ self.scores
        total = np.asarray(weights.sum(axis=1)).reshape(-1, 1)
        empty = total <= 0
        smoothed_scores[empty[:, 0]], total[empty] = 1, 1
        degrees = smoothed_scores / total * smoothed_scores
        return degrees**self.forward_exponent * (weights @ (self.scores * f)) / smoothed_scores

    @cached_property
    def _weights(self) -> np.ndarray:
        return self.scores / self.smoothed_scores

    @cached_property
    def _read_factors(self) -> np.ndarray:
        return self.degrees**self.forward_exponent / self.scores

    def _columns(self, f: ArrayLike) -> np.ndarray:
        columns = np.asarray(f, dtype=self.operator.dtype)
        if columns.shape != self.scores.shape:
            raise ParameterError(
                f"the columns have shape {columns.shape}; one per class is {self.scores.shape}"
            )
        return columns


def warped_operator(
    operator: MarkovOperator,
    scores: ArrayLike,
    *,
    y: ArrayLike | None = None,
    floor: float = WARP_FLOOR,
    forward_exponent: float = FORWARD_EXPONENT,
) -> WarpedOperator:
    """Warp an operator class by class with earlier scores.

    Parameters
    ----------
    operator : MarkovOperator
        Of n points.
    scores : array-like of shape (n, n_classes)
        Earlier posteriors, whose rows sum to 1, in the sorted order of the classes.
    y : array-like of shape (n,), optional
        Labels, -1 where unknown, which override the scores of their points. All classes have to
        occur.
    floor : float, default=0.4
        Above 0, at most 1: s_i = floor + (1 - floor) p_i, so that no point is out of reach and
        new labels can overturn old scores. 1 does not warp at all.
    forward_exponent : float, default=0.25
        0 reads the walks backward, 1 forward; see the module.

    Returns
    -------
    WarpedOperator
        Of n points and n_classes classes.

    Raises
    ------
    ParameterError
        For a floor or reading out of range.
    DataError
        For scores of another shape, negative, not finite, or with rows that do not sum to 1;
        labels of another number or of more or fewer classes.

    Examples
    --------
    Mass of class 0 that starts at the first of five points on a line stays where its score is:

    >>> import numpy as np
    >>> from diffclass import markov_operator, warped_operator
    >>> operator = markov_operator([[0.0], [1], [2], [3], [4]], n_neighbors=2)
    >>> scores = np.array([[1, 0], [1, 0], [0.5, 0.5], [0, 1], [0, 1]])
    >>> mass = np.zeros((5, 2)); mass[0] = 1
    >>> moved = warped_operator(operator, scores, floor=0.01).forward(mass, 8)
    >>> [round(float(total), 6) for total in moved.sum(axis=0)]
    [1.0, 1.0]
    >>> bool(moved[:3, 0].sum() > 0.99)
    True
    """
    check_share(floor, "floor", zero=False)
    check_share(forward_exponent, "forward_exponent")
    p = check_scores(scores, len(operator)).astype(operator.dtype)
    if y is not None:
        _pin(p, y)
    s = floor + (1 - floor) * p
    K, smoothed_scores = operator.affinity, np.empty_like(s)
    _compiled.products.scaled_product(
        K.indptr, K.indices, K.data, np.ones_like(s), s, smoothed_scores
    )
    return WarpedOperator(operator, s, smoothed_scores, float(forward_exponent))


def _pin(scores: np.ndarray, y: ArrayLike) -> None:
    """Overwrite the scores of labelled points by their labels."""
    classes, codes = encode_labels(y)
    if len(codes) != len(scores):
        raise DataError(f"y has {len(codes)} entries; there are {len(scores)} points")
    if len(classes) != scores.shape[1]:
        raise DataError(
            f"y holds {len(classes)} classes; the scores have {scores.shape[1]} columns"
        )
    labelled = np.flatnonzero(codes >= 0)
    scores[labelled] = 0
    scores[labelled, codes[labelled]] = 1
