"""What each stroke contributes: its share at a point, and labels that all others contradict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from diffclass.label_diffusion import decide, posteriors_of
from diffclass.operators.markov import MarkovOperator
from diffclass.relabel.columns import Column
from diffclass.relabel.strokes import Stroke
from diffclass.system.progress import checkpoint

_MOST_VALUES = 2**23  # of points and classes that are held at once


@dataclass(frozen=True)
class Contradiction:
    """A painted point for which the diffusion from all other strokes gives another class.

    Attributes
    ----------
    point : int
    stroke : int
        Number of the stroke that holds the point.
    class_id : int
        Class it is painted as.
    says_id : int
        Class that the other strokes give.
    margin : float
        p(says_id) - p(class_id) by the other strokes; above 0, at most 1.
    """

    point: int
    stroke: int
    class_id: int
    says_id: int
    margin: float


@dataclass(frozen=True)
class Share:
    """What a stroke contributes to the diffused labels at a point.

    Attributes
    ----------
    stroke : int
    class_id : int
    share : float
        0 to 1; the shares of all strokes sum to 1, those of a class to its posterior.
    """

    stroke: int
    class_id: int
    share: float


def shares_at(
    operator: MarkovOperator, strokes: tuple[Stroke, ...], column: Column, point: int
) -> list[Share]:
    """Split the posteriors of a point into the shares of the strokes.

    The share of a stroke S of class i at x is A^t chi_S(x) / pi(L_i), divided by the sum of this
    over all strokes. For summed labels, the sum over the walk takes the place of A^t chi_S. The
    walk is reversible, so that one column gives the values of all strokes:

        A^t chi_S(x) = sum over y in S of pi(y) A^t delta_x(y) / pi(x).

    - returns: largest share first, among equal ones the older stroke; empty if nothing has arrived
    """
    pi, components = operator.stationary_distribution, operator.components
    # detailed balance, pi(x) A^t(x, y) = pi(y) A^t(y, x): one column from x serves all strokes
    arrived = np.array([pi[s.points] @ column.at(s.points, components) for s in strokes])
    arrived /= pi[point]
    classes = np.array([stroke.class_id for stroke in strokes], dtype=np.intp)
    masses = np.bincount(classes, _masses(operator, strokes))
    shares = arrived / masses[classes] if len(classes) else arrived
    total = shares.sum()
    if total <= 0:
        return []
    order = np.argsort(-shares, kind="stable")
    return [Share(strokes[i].number, strokes[i].class_id, float(shares[i] / total)) for i in order]


def contradictions(
    operator: MarkovOperator, strokes: tuple[Stroke, ...], columns: list[Column]
) -> list[Contradiction]:
    """Find the points of each stroke for which all other strokes give another class.

    A stroke that is the only one of its class is left out: the others do not know the class.

    - returns: largest margin first

    Cost: one number per labelled point and stroke; nothing is diffused.
    """
    classes = np.array([stroke.class_id for stroke in strokes], dtype=np.intp)
    class_ids, code = np.unique(classes, return_inverse=True)
    masses = _masses(operator, strokes)
    of_all = np.bincount(code, masses)
    found: list[Contradiction] = []
    for batch in _batches(strokes, len(class_ids)):
        points = np.concatenate([strokes[place].points for place in batch])
        # what each class sends to the points of this batch
        arrived = np.zeros((len(points), len(class_ids)))
        for column, number in zip(columns, code, strict=True):
            checkpoint()
            arrived[:, number] += column.at(points, operator.components)
        ends = np.cumsum([len(strokes[place].points) for place in batch])
        for place, values in zip(batch, np.split(arrived, ends[:-1]), strict=True):
            checkpoint()
            stroke, own = strokes[place], code[place]
            others = np.flatnonzero((code == own) & (np.arange(len(strokes)) != place))
            if not len(others):
                continue
            # summed without it: to subtract it from the sum of all would leave mostly rounding
            values[:, own] = sum(columns[i].at(stroke.points, operator.components) for i in others)
            of_classes = of_all.copy()
            # the stroke's class is that of its other strokes: their columns, over their mass
            of_classes[own] = masses[others].sum()
            found += _contradicted(stroke, values, own, class_ids, 1 / of_classes)
    return sorted(found, key=lambda one: (-one.margin, one.point))


def _batches(strokes: tuple[Stroke, ...], n_classes: int) -> Iterator[list[int]]:
    """Yield places of strokes whose points and classes make an array of bounded size."""
    batch: list[int] = []
    n_points = 0
    for place, stroke in enumerate(strokes):
        if batch and (n_points + len(stroke.points)) * n_classes > _MOST_VALUES:
            yield batch
            batch, n_points = [], 0
        batch.append(place)
        n_points += len(stroke.points)
    if batch:
        yield batch


def _contradicted(
    stroke: Stroke, values: np.ndarray, own: int, class_ids: np.ndarray, weight: np.ndarray
) -> list[Contradiction]:
    says = decide(values, weight).codes
    posteriors = posteriors_of(values, weight)
    margin = posteriors[np.arange(len(says)), says] - posteriors[:, own]
    return [
        Contradiction(
            point=int(stroke.points[i]),
            stroke=stroke.number,
            class_id=stroke.class_id,
            says_id=int(class_ids[says[i]]),
            margin=float(margin[i]),
        )
        for i in np.flatnonzero((says >= 0) & (margin > 0))
    ]


def _masses(operator: MarkovOperator, strokes: tuple[Stroke, ...]) -> np.ndarray:
    """Return the mass pi(S) of each stroke."""
    pi = operator.stationary_distribution
    return np.array([pi[stroke.points].sum() for stroke in strokes])
