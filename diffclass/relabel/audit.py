"""What each stroke contributes: its share at a point, and labels that all others contradict."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diffclass.label_diffusion import decide, posteriors_of
from diffclass.operators.markov import MarkovOperator
from diffclass.progress import checkpoint
from diffclass.relabel.columns import Column
from diffclass.relabel.strokes import Stroke


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

    Cost: one number per labelled point and stroke; nothing is diffused. The others are summed
    without the stroke. Subtracting it from the sum of all would leave only rounding where it makes
    up nearly the whole sum.
    """
    masses = _masses(operator, strokes)
    classes = np.array([stroke.class_id for stroke in strokes], dtype=np.intp)
    found: list[Contradiction] = []
    for place, stroke in enumerate(strokes):
        checkpoint()
        others = np.delete(np.arange(len(strokes)), place)
        if stroke.class_id in classes[others]:
            arrived = np.column_stack(
                [columns[i].at(stroke.points, operator.components) for i in others]
            )
            found += _contradicted(stroke, arrived, classes[others], masses[others])
    return sorted(found, key=lambda one: (-one.margin, one.point))


def _contradicted(
    stroke: Stroke, arrived: np.ndarray, classes: np.ndarray, masses: np.ndarray
) -> list[Contradiction]:
    class_ids, code = np.unique(classes, return_inverse=True)
    member = (code[:, None] == np.arange(len(class_ids))).astype(np.float64)
    values, weight = arrived @ member, 1 / (masses @ member)
    says = decide(values, weight).codes
    posteriors = posteriors_of(values, weight)
    own = posteriors[:, np.searchsorted(class_ids, stroke.class_id)]
    margin = posteriors[np.arange(len(says)), says] - own
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
