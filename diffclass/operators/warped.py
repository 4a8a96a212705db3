"""Class-specific walks: one Markov operator per class, made of one operator and earlier scores.

With s_i(x) from 0 to 1 the score of class i at x, and K the affinity of the operator,

    K_i(x, y) = s_i(x) K(x, y) s_i(y),   d_i = s_i (K s_i),   A_i = D_i^-1 K_i.

The walk of class i moves easily between points that look like class i, and rarely to others. K_i is
never stored: with w_i = s_i / (K s_i) a step of all classes is one product,

    h_i <- w_i (K h_i).

Backward, f_i = h_i / s_i, and A_i f is the mean of f after a step; forward, m_i = (K s_i) h_i, and
A_i' m is where mass goes. Forward m_i tends to d_i, about s_i^2, and repeats the old scores;
backward f_i tends to 1 for every class and forgets them. Between the two, with the forward exponent
beta from 0 to 1,

    N_i = m_i^beta f_i^(1 - beta) = d_i^beta f_i.

Points where d_i is 0 are not part of class i's walk: after a step f_i and m_i are 0 there.

Source: Coifman et al. 2005, section 3 (the kernel k(x, y) s_i(x) s_i(y), "renormalized").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from diffclass import _compiled
from diffclass._validation import check_positive, check_scores, check_share, check_unmasked
from diffclass.exceptions import DataError, ParameterError
from diffclass.operators.markov import MarkovOperator
from diffclass.system.progress import checkpoint
from diffclass.targets import encode_labels

# Defaults, chosen in experiments/coifman_2005/warping.py.
WARP_FLOOR = 0.4
FORWARD_EXPONENT = 0.25


@dataclass(frozen=True)
class Warp:
    """How labels are diffused again by walks that are warped class by class.

    Parameters
    ----------
    rounds : int, default=1
        Largest number of further diffusions, each warped with the posteriors before. They end early
        if one changes the class of fewer than a thousandth of the points.
    floor, forward_exponent : float, default=0.4, 0.25
        As in `warped_operator`.

    Examples
    --------
    >>> from diffclass import DiffusionClassifier, Warp
    >>> DiffusionClassifier(warp=Warp(rounds=2))
    DiffusionClassifier(warp=Warp(rounds=2, floor=0.4, forward_exponent=0.25))
    """

    rounds: int = 1
    floor: float = WARP_FLOOR
    forward_exponent: float = FORWARD_EXPONENT

    def check(self) -> None:
        """Raise `ParameterError` for a field out of range."""
        check_positive(self.rounds, "warp.rounds", integer=True)
        check_share(self.floor, "warp.floor")
        check_share(self.forward_exponent, "warp.forward_exponent")


@dataclass(frozen=True, eq=False)
class WarpedValues:
    """The N_i of fitted points for a step from new points; made by `WarpedOperator.for_new_points`.

    scores (n, n_classes) are the s_i, products the s_i f_i, values the N_i.
    """

    scores: np.ndarray
    products: np.ndarray
    values: np.ndarray
    forward_exponent: float

    def rows(self, points: np.ndarray) -> np.ndarray:
        """Return N_i (m, n_classes) at some of the fitted points."""
        return self.values[points]

    def at(self, weights: sp.csr_array) -> np.ndarray:
        """Return N_i (m, n_classes) at new points, up to a factor each; 0 where a row is empty."""
        # the scores of a new point are the means of its neighbours' scores
        smoothed_scores = weights @ self.scores
        total = np.asarray(weights.sum(axis=1)).reshape(-1, 1)
        empty = total <= 0
        smoothed_scores[empty[:, 0]], total[empty] = 1, 1
        degrees = smoothed_scores / total * smoothed_scores
        values = degrees**self.forward_exponent * (weights @ self.products)
        return _divided(values, smoothed_scores)


@dataclass(frozen=True, eq=False)
class WarpedOperator:
    """The operators A_i of all classes, frozen; made by `warped_operator`.

    Parameters
    ----------
    unwarped : MarkovOperator
        The walk on n points that is warped.
    scores : ndarray of shape (n, n_classes)
        The scores s_i, from 0 to 1.
    smoothed_scores : ndarray of shape (n, n_classes)
        The products K s_i.
    forward_exponent : float
        The exponent beta of `read`, 0 to 1: 0 is backward, 1 forward.

    Examples
    --------
    Five points on a line, the first two of class 0; its walk seldom leaves them:

    >>> import numpy as np
    >>> from diffclass import MarkovOperator, warped_operator
    >>> A = MarkovOperator.from_affinity(np.eye(5) + np.eye(5, k=1) + np.eye(5, k=-1))
    >>> scores = np.array([[1.0, 0], [1, 0], [0, 1], [0, 1], [0, 1]])
    >>> warped = warped_operator(A, scores, floor=0.1)
    >>> start = np.zeros((5, 2)); start[0] = 1
    >>> warped.forward(start, 4).round(2)
    array([[0.47, 0.1 ],
           [0.5 , 0.12],
           [0.03, 0.43],
           [0.  , 0.28],
           [0.  , 0.07]])
    """

    unwarped: MarkovOperator
    scores: np.ndarray
    smoothed_scores: np.ndarray
    forward_exponent: float

    knows_labels: ClassVar[bool] = True
    in_local_order: ClassVar[None] = None  # the points stay in their order

    @classmethod
    def of(
        cls, operator: MarkovOperator, scores: np.ndarray, forward_exponent: float
    ) -> WarpedOperator:
        """Return the walks of some scores, in the operator's dtype."""
        K, smoothed_scores = operator.affinity, np.empty_like(scores)
        _compiled.columns.scaled_product(
            K.indptr, K.indices, K.data, np.ones_like(scores), scores, smoothed_scores
        )
        return cls(operator, scores, smoothed_scores, forward_exponent)

    def __len__(self) -> int:
        return len(self.unwarped)

    @property
    def degrees(self) -> np.ndarray:
        """Stationary mass d_i = s_i (K s_i), not scaled; shape (n, n_classes)."""
        return self.scores * self.smoothed_scores

    def apply(self, f: ArrayLike, n_steps: int = 1) -> np.ndarray:
        """Diffuse functions backward: column i is A_i^t f_i, from the first step 0 where d_i is 0.

        Functions are (n, n_classes), of one class each; t is a whole number, at least 0. Raises
        `ParameterError` for other shapes or times.
        """
        f = self._columns(f)
        if not n_steps:
            return f.copy()
        return _divided(self.advance(f * self.scores, n_steps), self.scores)  # h_i = s_i f_i

    def forward(self, mass: ArrayLike, n_steps: int = 1) -> np.ndarray:
        """Move mass forward: column i is (A_i')^t m_i; arguments as in `apply`.

        The first step loses mass where d_i is 0; else the sum of each column is kept.
        """
        mass = self._columns(mass)
        if not n_steps:
            return mass.copy()
        moving = np.where(self.scores > 0, mass, 0)
        return self.advance(_divided(moving, self.smoothed_scores), n_steps) * self.smoothed_scores

    def advance(self, h: np.ndarray, n_steps: int = 1) -> np.ndarray:
        """Take t steps h_i <- w_i (K h_i) of columns (n, n_classes), in a new array."""
        check_positive(n_steps, "n_steps", integer=True, zero=True)
        h, spare = h.copy(), np.empty_like(h)
        for _ in range(n_steps):
            self.product(h, spare)
            h, spare = spare, h
        return h

    def product(self, h: np.ndarray, out: np.ndarray) -> None:
        """Write one step w_i (K h_i) to an array; both of shape (n, n_classes), C-ordered."""
        checkpoint()
        K = self.unwarped.affinity
        _compiled.columns.scaled_product(K.indptr, K.indices, K.data, self._weights, h, out)

    def in_double_precision(self) -> WarpedOperator:
        """Return the same walks in double precision."""
        if self.unwarped.dtype == np.float64:
            return self
        operator, scores = self.unwarped.in_double_precision(), self.scores.astype(np.float64)
        return WarpedOperator.of(operator, scores, self.forward_exponent)

    def with_classes(self, columns: Sequence[int]) -> WarpedOperator:
        """Return the walks of other classes, given the column of each here, -1 for a new one."""
        shape = len(self), len(columns)
        scores = np.full(shape, WARP_FLOOR, dtype=self.scores.dtype)  # of new classes
        smoothed_scores = np.empty_like(scores)
        smoothed_scores[:] = (WARP_FLOOR * self.unwarped.degrees)[:, None]
        known = np.asarray(columns) >= 0
        scores[:, known] = self.scores[:, np.asarray(columns)[known]]
        smoothed_scores[:, known] = self.smoothed_scores[:, np.asarray(columns)[known]]
        return WarpedOperator(self.unwarped, scores, smoothed_scores, self.forward_exponent)

    def merged(self) -> MarkovOperator:
        """Return one walk for all classes, of the affinity sum_i K_i."""
        K = self.unwarped.affinity
        rows = np.repeat(np.arange(len(self)), np.diff(K.indptr))
        data = np.zeros(K.nnz, dtype=K.dtype)
        for s in self.scores.T:
            data += s[rows] * s[K.indices]
        data *= K.data
        walk = MarkovOperator.from_affinity(
            sp.csr_array((data, K.indices, K.indptr), shape=K.shape), check=False
        )
        nodes = self.unwarped.nodes  # their mass is in K already
        return (
            walk if nodes is None else replace(walk, nodes=nodes, density=walk.degrees / nodes.mass)
        )

    def read(self, h: np.ndarray) -> np.ndarray:
        """Return N_i = d_i^beta f_i of the h_i that `advance` gives; shape (n, n_classes)."""
        return h * self._read_factors

    def for_new_points(self, values: np.ndarray) -> WarpedValues:
        """Return what new points need of the N_i that `read` gives."""
        f = _divided(values, self.degrees**self.forward_exponent)
        return WarpedValues(self.scores, self.scores * f, values, self.forward_exponent)

    @cached_property
    def _weights(self) -> np.ndarray:
        return _divided(self.scores, self.smoothed_scores)

    @cached_property
    def _read_factors(self) -> np.ndarray:
        return _divided(self.degrees**self.forward_exponent, self.scores)

    def _columns(self, f: ArrayLike) -> np.ndarray:
        check_unmasked(f, name="f")
        columns = np.asarray(f, dtype=self.unwarped.dtype)
        if columns.shape != self.scores.shape:
            raise ParameterError(
                f"the columns have shape {columns.shape}; one per class is {self.scores.shape}"
            )
        return columns


def _divided(values: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Return a quotient, 0 where the divisor is."""
    return np.divide(values, by, out=np.zeros_like(values), where=by > 0)


# One walk for all classes, or one per class.
Operator = MarkovOperator | WarpedOperator


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
        The walk on n points.
    scores : array-like of shape (n, n_classes)
        How likely each point is of each class, 0 to 1, such as earlier posteriors; classes in
        sorted order. Rows may have any sum.
    y : array-like of shape (n,), optional
        Labels, -1 where unknown, which override scores. Every class has to occur.
    floor : float, default=0.4
        0 to 1: s_i = floor + (1 - floor) p_i. Above 0 every point stays within reach and labels can
        overturn scores; 1 does not warp. 0, with ``forward_exponent=0``, is the paper's kernel.
    forward_exponent : float, default=0.25
        The exponent beta, 0 to 1: 0 is backward, 1 forward; see the module.

    Raises
    ------
    ParameterError
        If floor or forward_exponent is out of range.
    DataError
        If scores or y do not fit the points or each other, or scores are not from 0 to 1.

    See Also
    --------
    diffclass.kernels.LocalDiscriminant : One walk for all classes, slow across their boundaries.
    diffclass.kernels.Directed : One walk for all classes, fast along their level sets.

    Examples
    --------
    Mass of class 0 starts at the first of five points on a line and stays where its scores are:

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
    check_share(floor, "floor")
    check_share(forward_exponent, "forward_exponent")
    check_unmasked(scores, name="scores")
    scores = operator.at_nodes(np.asarray(scores))
    p = check_scores(scores, len(operator), sum_to_one=False).astype(operator.dtype)
    if y is not None:
        _pin(p, y, operator)
    s = floor + (1 - floor) * p
    return WarpedOperator.of(operator, s, float(forward_exponent))


def _pin(scores: np.ndarray, y: ArrayLike, operator: MarkovOperator) -> None:
    """Overwrite the scores of labelled points with their labels."""
    classes, codes = encode_labels(y)
    if len(codes) not in (len(scores), operator.n_points):
        raise DataError(f"y has {len(codes)} entries; there are {operator.n_points} points")
    if len(classes) != scores.shape[1]:
        raise DataError(
            f"y holds {len(classes)} classes; the scores have {scores.shape[1]} columns"
        )
    labelled = np.flatnonzero(codes >= 0)
    at = labelled
    if operator.nodes is not None and len(codes) == operator.n_points:
        at = operator.nodes.of_points[labelled]
    pin(scores, at, codes[labelled])


def pin(scores: np.ndarray, points: np.ndarray, codes: np.ndarray) -> None:
    """Overwrite the scores of labelled points, both (n_labels,), with 1 in their classes."""
    scores[points] = 0
    scores[points, codes] = 1
