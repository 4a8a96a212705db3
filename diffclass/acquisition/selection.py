"""A choice of points to label next: the best scores first, and well apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from diffclass._validation import (
    RandomState,
    check_choice,
    check_kind,
    check_points,
    check_positive,
    check_seed,
    check_unmasked,
)
from diffclass.acquisition.coverage import medoids
from diffclass.exceptions import DataError, ParameterError
from diffclass.label_diffusion import LabelDiffusion
from diffclass.operators.markov import MarkovOperator
from diffclass.operators.warped import Operator
from diffclass.spectral.distances import diffusion_coordinates
from diffclass.spectral.eigenpairs import leading_eigenpairs
from diffclass.system.progress import checkpoint, stage

RULES = ("coverage", "margin")
# Scores that differ by less than this share are equal, so that rounding does not decide.
_TIE = 1e-6
# Smaller scores are 0, so that single precision, which has nothing below, ranks as double does.
_LEAST = 1e-30
# Eigenpairs of the coordinates, where there are no features; they need not be accurate.
_N_PAIRS, _TOLERANCE, _TIME = 50, 0.01, 8

# takes the points chosen so far, which are free and how many are wanted; returns points and scores
Choice = Callable[[list[int], np.ndarray, int], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Suggestions:
    """Points to label, the best first.

    Attributes
    ----------
    points : ndarray of int of shape (n_suggested,)
        Their numbers; fewer than asked for where no more are far enough apart.
    scores : ndarray of shape (n_suggested,)
        0 to 1: for "coverage" the share of what is left to learn that a label there takes away,
        after those before it; for "margin" 1 - margin.
    rule : str
        Its name.
    """

    points: np.ndarray
    scores: np.ndarray
    rule: str

    def __len__(self) -> int:
        return len(self.points)


def suggest(
    operator: Operator,
    diffusion: LabelDiffusion | None = None,
    labelled: ArrayLike = (),
    n_points: int = 10,
    *,
    rule: str = "coverage",
    features: ArrayLike | None = None,
    candidates: ArrayLike | None = None,
    coordinates: ArrayLike | None = None,
    min_distance: float = 0.0,
    random_state: RandomState = 0,
) -> Suggestions:
    """Choose points to label next, the best first.

    Parameters
    ----------
    operator : MarkovOperator or WarpedOperator
        The walk on n points; of warped ones their mean is used.
    diffusion : LabelDiffusion, optional
        Of the labels so far, by this operator; None without labels.
    labelled : array-like of int, default=()
        Numbers of the points not to suggest: labelled ones, and those whose class nobody knows.
    n_points : int, default=10
        How many. The choice depends on it: ask for as many as will be labelled at once.
    rule : {"coverage", "margin"}, default="coverage"
        "coverage" takes points that stand for much in doubt (see `diffclass.acquisition.coverage`),
        "margin" those of least margin, where classes meet; it needs a diffusion.
    features : array-like of shape (n, p), optional
        In which near points are alike, such as those that the graph was made of. By default
        diffusion coordinates of 50 eigenpairs at t = 8, which take longer.
    candidates : array-like of bool of shape (n,), optional
        Which points may be suggested; all by default.
    coordinates : array-like of shape (n, d), optional
        Positions of the points, such as row and column.
    min_distance : float, default=0
        Least distance between two suggestions, in units of the coordinates, or in hops without
        them.
    random_state : int, RandomState or None, default=0
        Draws the points that coverage looks at, where there are more than 2,000.

    Returns
    -------
    Suggestions
        Ties, up to 1e-6, go to the point with the least number. Of equal points one is suggested,
        and none if one of them has a label.

    Raises
    ------
    DataError, ParameterError
        If an array does not fit the points, or there is no diffusion for the margin.

    See Also
    --------
    by_coverage : With `well_apart`, for a rule of your own about what is too near.

    Examples
    --------
    Three blobs, two of them labelled; where to look next?

    >>> import numpy as np
    >>> from diffclass import diffuse_labels, markov_operator, suggest
    >>> centres = np.repeat([[0, 0], [6, 0], [3, 5]], 30, axis=0)
    >>> X = np.random.default_rng(0).normal(size=(90, 2)) + centres
    >>> y = np.full(90, -1); y[0] = 0; y[30] = 1
    >>> A = markov_operator(X, n_neighbors=8)
    >>> found = suggest(A, diffuse_labels(A, y), [0, 30], 1, features=X)
    >>> bool(found.points[0] >= 60)
    True

    Nothing is labelled; which three points first?

    >>> sorted((suggest(A, n_points=3, features=X).points // 30).tolist())
    [0, 1, 2]
    """
    check_kind(operator, "operator", Operator, example="markov_operator(X)")
    if diffusion is not None:
        check_kind(diffusion, "diffusion", LabelDiffusion, example="diffuse_labels(operator, y)")
        if len(diffusion.codes) not in (len(operator), operator.unwarped.n_points):
            raise DataError(
                f"diffusion is of {len(diffusion.codes)} points, the operator of "
                f"{operator.unwarped.n_points}; "
                "give that of the labels of these points"
            )
    check_choice(rule, "rule", RULES)
    check_positive(n_points, "n_points", integer=True)
    check_positive(min_distance, "min_distance", zero=True)
    check_seed(random_state)
    codes = None if diffusion is None else diffusion.codes
    n = _n_given(operator, codes, features, candidates)
    labels = _numbers(labelled, n)
    free = _free(candidates, labels, n)
    places = None if coordinates is None else _rows(coordinates, "coordinates", n)
    X = None if features is None else _rows(features, "features", n)
    doubt = None if diffusion is None else closeness(diffusion)
    operator = operator.merged()
    shown, mass = np.arange(n), operator.mass
    if operator.nodes is not None and n == operator.n_points:
        nodes = operator.nodes
        shown = nodes.first_of(free)
        labels = np.unique(nodes.of_points[labels])
        free = free[shown]
        free[labels] = False
        places, X, doubt = (
            None if values is None else values[shown] for values in (places, X, doubt)
        )
    n = len(operator)

    def near(point: int) -> np.ndarray:
        return _near(operator, point, places, min_distance)

    # several threads of BLAS mostly wait for each other
    with stage("suggestions"), threadpool_limits(1, user_api="blas"):
        if rule == "margin":
            choice = _by_margin(doubt)
        else:
            if mass is not None:
                doubt = mass if doubt is None else mass * doubt
            typical, X = X is not None, _coordinates_of(operator) if X is None else X
            choice = by_coverage(X, doubt, labels, typical=typical, random_state=random_state)
        points, scores = well_apart(choice, free, n_points, near)
    return Suggestions(shown[points], scores, rule)


def by_coverage(
    features: np.ndarray,
    doubt: np.ndarray | None = None,
    labels: ArrayLike = (),
    *,
    typical: bool = True,
    random_state: RandomState = 0,
) -> Choice:
    """Return the choice of `medoids`, to which labels and the points chosen so far are near.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.acquisition import by_coverage
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [10.0], [11.0], [12.0]])
    >>> choice = by_coverage(X, labels=[2])
    >>> points, gains = choice([], np.ones(8, dtype=bool), 1)
    >>> points.tolist()
    [6]
    """
    check_seed(random_state)

    def choice(chosen: list[int], free: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
        seen = np.append(np.asarray(labels, dtype=np.intp), np.array(chosen, dtype=np.intp))
        return medoids(
            features,
            n,
            doubt=doubt,
            labelled=seen,
            free=free,
            typical=typical,
            random_state=random_state,
        )

    return choice


def _by_margin(doubt: np.ndarray | None) -> Choice:
    if doubt is None:
        raise DataError("nothing is labelled, so there is no margin; label at least one point")
    return lambda chosen, free, n: _largest(doubt, free, n)


def well_apart(
    choice: Choice, free: np.ndarray, n_points: int, near: Callable[[int], np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return points of a choice, and their scores, each not near to an earlier one.

    ``free`` (n,) are the points that may be chosen; ``near`` returns which points (n,) are too near
    to one, itself included. For those left out others are chosen, as long as any is free.

    Examples
    --------
    The highest of some scores, of which neighbours in the row are too near:

    >>> import numpy as np
    >>> from diffclass.acquisition import well_apart
    >>> scores = np.array([0.9, 0.8, 0.1, 0.6, 0.7])
    >>> def highest(chosen, free, n):
    ...     points = np.flatnonzero(free)
    ...     points = points[np.argsort(-scores[points])][:n]
    ...     return points, scores[points]
    >>> well_apart(highest, np.ones(5, dtype=bool), 2, lambda x: abs(np.arange(5) - x) < 2)
    (array([0, 4]), array([0.9, 0.7]))
    """
    free = free.copy()
    points: list[int] = []
    scores: list[float] = []
    while len(points) < n_points and free.any():
        checkpoint()
        found = choice(points, free, int(min(n_points - len(points), free.sum())))
        for point, score in zip(*(values.tolist() for values in found), strict=True):
            if free[point]:
                points.append(point)
                scores.append(score)
                free &= ~near(point)
    return np.array(points, dtype=np.intp), np.array(scores)


def closeness(diffusion: LabelDiffusion) -> np.ndarray:
    """Return 1 - margin of each point, of shape (n,); small ones as accurate as large ones."""
    if diffusion.kept_classes is not None:
        return np.asarray(1 - diffusion.margin, dtype=np.float64)
    shares = diffusion.values * diffusion.class_weight
    total, rows = shares.sum(axis=1), np.arange(len(shares))
    # 1 - (p_(1) - p_(2)) as a sum of small numbers, without cancellation: the others + p_(2)
    shares[rows, shares.argmax(axis=1)] = 0
    rest = shares.sum(axis=1) + shares.max(axis=1)
    close = np.divide(rest, total, out=np.ones_like(total), where=total > 0)
    return np.where(close < _LEAST, 0, close)


def _largest(scores: np.ndarray, free: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the free points of the n largest scores; of equal ones the first."""
    points = np.flatnonzero(free)
    found = scores[points]
    if n < len(points):
        least = np.partition(found, -n)[-n] * (1 - _TIE)
        points, found = points[found >= least], found[found >= least]
    # scores within a tie have the same logarithm, rounded
    with np.errstate(divide="ignore"):
        ranks = np.floor(np.log(found) / _TIE)
    order = np.lexsort((points, -ranks))[:n]
    return points[order], found[order]


def _coordinates_of(operator: MarkovOperator) -> np.ndarray:
    pairs = min(_N_PAIRS, len(operator))
    found = leading_eigenpairs(
        operator, pairs, which="algebraic", tolerance=_TOLERANCE, random_state=0, dtype=np.float32
    )
    return diffusion_coordinates(found, _TIME)


def _n_given(operator: Operator, *given: ArrayLike | None) -> int:
    """Return the number of rows that arrays have: of all points, or of the nodes of equal ones."""
    shapes = [np.shape(values)[:1] for values in given if values is not None]
    is_of_nodes = bool(shapes) and shapes[0] == (len(operator),)
    return len(operator) if is_of_nodes else operator.unwarped.n_points


def _numbers(labelled: ArrayLike, n: int) -> np.ndarray:
    check_unmasked(labelled, name="labelled")
    numbers = np.unique(np.asarray(labelled))
    if not len(numbers):
        return np.zeros(0, dtype=np.intp)
    if numbers.dtype.kind not in "iu" or numbers[0] < 0 or numbers[-1] >= n:
        raise ParameterError(f"labelled has to hold numbers of points, 0 to {n - 1}")
    return numbers.astype(np.intp)


def _free(candidates: ArrayLike | None, labels: np.ndarray, n: int) -> np.ndarray:
    check_unmasked(candidates, name="candidates")
    free = np.ones(n, dtype=bool) if candidates is None else np.array(candidates)
    if free.shape != (n,) or free.dtype != bool:
        raise ParameterError(f"candidates has to hold {n} booleans, one per point")
    free[labels] = False
    return free


def _rows(values: ArrayLike, name: str, n: int) -> np.ndarray:
    rows = check_points(values, name=name)
    if len(rows) != n:
        raise ParameterError(f"{name} has shape {rows.shape}; it needs {n} rows")
    return rows


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
