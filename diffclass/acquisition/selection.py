"""A choice of points to label next: the best scores first, and well apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from diffclass._validation import check_choice, check_positive
from diffclass.acquisition.gaussian_process import process_eigenpairs
from diffclass.acquisition.rules import RULES, LabelledGraph, Rule
from diffclass.exceptions import DataError, ParameterError
from diffclass.label_diffusion import LabelDiffusion
from diffclass.operators.markov import MarkovOperator
from diffclass.operators.warped import Operator
from diffclass.progress import checkpoint, stage
from diffclass.spectral.eigenpairs import Eigenpairs

# Scores that differ by less than this share are equal, so that rounding does not decide.
_TIE = 1e-6


@dataclass(frozen=True)
class Suggestions:
    """Points to label, the best first.

    Attributes
    ----------
    points : ndarray of int of shape (n_suggested,)
        Their numbers; fewer than asked for where no more lie far enough apart.
    scores : ndarray of shape (n_suggested,)
        The score of each point when it was chosen; scales differ from rule to rule.
    rule : str
        The rule's name.
    """

    points: np.ndarray
    scores: np.ndarray
    rule: str

    def __len__(self) -> int:
        return len(self.points)


def suggest(
    operator: Operator,
    diffusion: LabelDiffusion,
    labelled: ArrayLike,
    n_points: int = 10,
    *,
    rule: str | Rule = "hybrid",
    eigenpairs: Eigenpairs | None = None,
    candidates: ArrayLike | None = None,
    coordinates: ArrayLike | None = None,
    min_distance: float = 0.0,
) -> Suggestions:
    """Choose points to label next, one by one, the best score first.

    Parameters
    ----------
    operator : MarkovOperator or WarpedOperator
        The walk on n points that diffused the labels. If it is warped, rules that walk or need
        eigenpairs go by the mean of its walks, `WarpedOperator.merged`.
    diffusion : LabelDiffusion
        Of the labels so far, by this operator. Rules that ask where classes are close go by its
        posteriors, and so by its prior and its warping.
    labelled : array-like of int
        Numbers of the labelled points, at least one; they are never suggested.
    n_points : int, default=10
        Number of points to suggest.
    rule : str or Rule, default="hybrid"
        A name in `RULES` (see `diffclass.acquisition.rules`), or a rule.
    eigenpairs : Eigenpairs, optional
        Eigenpairs for the rules that use them; by default those of `process_eigenpairs` for these
        labels and so many points.
    candidates : array-like of bool of shape (n,), optional
        Which points may be suggested; all by default.
    coordinates : array-like of shape (n, d), optional
        Positions of the points, such as row and column of each pixel.
    min_distance : float, default=0
        Least distance between two suggestions, in units of the coordinates, or in hops on the graph
        where none are given. A suggestion may be near a label.

    Returns
    -------
    Suggestions
        Ties, up to a relative difference of 1e-6, go to the point with the least number.

    Raises
    ------
    ParameterError
        If the rule is unknown, a point does not exist, or a mask has another length.
    DataError
        If nothing is labelled.

    Notes
    -----
    Cost: the eigenpairs, if none are given; then, for each suggestion, one pass over n x m numbers
    (the rules by variance), tau products with one column (unexplored) or almost nothing (margin).

    Examples
    --------
    Three blobs, two of them labelled; where to look next?

    >>> import numpy as np
    >>> from diffclass import diffuse_labels, markov_operator
    >>> from diffclass.acquisition import suggest
    >>> centres = np.repeat([[0, 0], [6, 0], [3, 5]], 30, axis=0)
    >>> X = np.random.default_rng(0).normal(size=(90, 2)) + centres
    >>> y = np.full(90, -1); y[0] = 0; y[30] = 1
    >>> A = markov_operator(X, n_neighbors=8)
    >>> found = suggest(A, diffuse_labels(A, y), [0, 30], 1, rule="vopt")
    >>> bool(found.points[0] >= 60)
    True
    """
    operator = operator.merged()
    labels = _numbers(labelled, len(operator))
    check_positive(n_points, "n_points", integer=True)
    check_positive(min_distance, "min_distance", zero=True)
    free = _free(candidates, labels, len(operator))
    places = None if coordinates is None else _places(coordinates, len(operator))
    name, scorer = _rule(rule)
    if eigenpairs is None and scorer.uses_eigenpairs:
        eigenpairs = process_eigenpairs(operator, labels, int(n_points))
    # several threads of BLAS would wait for each other most of the time
    with stage("suggestions"), threadpool_limits(1, user_api="blas"):
        scorer.start(LabelledGraph(operator, diffusion, labels, eigenpairs))
        points: list[int] = []
        scores: list[float] = []
        while len(points) < n_points and free.any():
            checkpoint()
            point, score = _best(scorer.scores(), free)
            points.append(point)
            scores.append(score)
            free &= ~_near(operator, point, places, min_distance)
            scorer.observe(point)
    return Suggestions(np.array(points, dtype=np.intp), np.array(scores), name)


def _best(scores: np.ndarray, free: np.ndarray) -> tuple[int, float]:
    """Return the free point of the largest score, the first of equals, and its score."""
    best = scores[free].max()
    point = int((free & (scores >= best - _TIE * abs(best))).argmax())
    return point, float(scores[point])


def _rule(rule: str | Rule) -> tuple[str, Rule]:
    if isinstance(rule, Rule):
        return type(rule).__name__, rule
    check_choice(rule, "rule", tuple(RULES))
    return rule, RULES[rule]()


def _numbers(labelled: ArrayLike, n: int) -> np.ndarray:
    numbers = np.unique(np.asarray(labelled))
    if not len(numbers):
        raise DataError("nothing is labelled; label at least one point")
    if numbers.dtype.kind not in "iu" or numbers[0] < 0 or numbers[-1] >= n:
        raise ParameterError(f"labelled has to hold numbers of points, 0 to {n - 1}")
    return numbers


def _free(candidates: ArrayLike | None, labels: np.ndarray, n: int) -> np.ndarray:
    free = np.ones(n, dtype=bool) if candidates is None else np.array(candidates)
    if free.shape != (n,) or free.dtype != bool:
        raise ParameterError(f"candidates has to hold {n} booleans, one per point")
    free[labels] = False
    return free


def _places(coordinates: ArrayLike, n: int) -> np.ndarray:
    places = np.asarray(coordinates, dtype=np.float64)
    if places.ndim != 2 or len(places) != n:
        raise ParameterError(f"coordinates has shape {places.shape}; it needs {n} rows")
    return places


def _near(
    operator: MarkovOperator, point: int, places: np.ndarray | None, min_distance: float
) -> np.ndarray:
    """Return which points are closer to a point than allowed, itself included."""
    near = np.zeros(len(operator), dtype=bool)
    if min_distance and places is not None:
        near = np.linalg.norm(places - places[point], axis=1) < min_distance
    elif min_distance:
        group = np.full(len(operator), -1)
        group[point] = 0
        hops = operator.hops(group)[:, 0]
        near = (hops >= 0) & (hops < min_distance)
    near[point] = True
    return near
