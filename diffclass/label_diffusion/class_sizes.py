"""Sizes of the classes: exact, a range or a guess; the map meets them as far as the graph agrees.

Labels say where classes are, not how large. Sizes say how large: a *least* and a *most* share of
the points for each class, the same number if they are exact. One weight per class brings the shares
of a map between them (`matched_weights`). Where the values are poor, as with one label per class,
points are then right in number and wrong in place; so the map is diffused again, in *rounds*:

    u = 40 steps of the walk from H, labels absorbing;   H(x) = class of largest w_i u_i(x),

with H(x, i) = 1 if the map gives x the class i, and with weights w_i that again bring the shares
between least and most. Borders move to where few steps cross them, and stay where sizes leave no
other choice. The rounds end when the map hardly changes.

Sizes may be wrong. How much they weigh is chosen by the *crossing*, the share of the walk's steps
that leave their class,

    sum over x, y of different classes of K(x,y) / sum over x, y of K(x,y),

which the rounds lower. There are three maps after such rounds: without sizes; *loosened*, sizes
within a factor of eight; *matched*, sizes as they are. The least crossing wins, the stricter in a
tie; if the first wins, the map is that without sizes, unchanged. Wrong sizes cut through clusters,
which crosses more; right ones lead out of maps in which a class has spread over its neighbours.

Where a class has been swallowed, though, its missing borders cross nothing. So sizes are also
compared with other sizes, which have as many borders: those with the classes of even rank, or with
the larger half of the classes, doubled and the others halved, or the other way round (ranks by the
map without sizes). If the matched map crosses less than 0.8 times as much as any of these, and at
most twice as much as the map without sizes, it wins. Around right sizes the crossing has such a
dip; around wrong ones, some change leads downhill.

The mean over the classes, `diffclass.label_diffusion.maps.Cut`, is of no use here: the cut of the
smallest class, on few points, would decide.

Sources: M. Jacobs, E. Merkurjev and S. Esedoglu, Auction dynamics: a volume constrained MBO scheme,
2018 (rounds with least and most volumes, there by auction); J. Calder et al., Poisson learning,
2020 (PoissonMBO: rounds with one weight per class). What was measured is in DECISIONS.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from diffclass._validation import check_choice
from diffclass.exceptions import ParameterError
from diffclass.label_diffusion.label_walk import LabelWalk
from diffclass.label_diffusion.maps import decide, equal_weights

SIZED = ("loosened", "matched")  # how weights are chosen if sizes have counted
MISSED = 0.05  # by which exact shares of all classes may miss the whole: they are rounded numbers
_FACTORS = (8.0, 1.0)  # by which sizes are widened
_STEPS = 40  # of the walk in a round
_MOST_ROUNDS = 8
_SETTLED_SHARE = 0.001  # of the points
_WEIGHT_ROUNDS = 80
_SHRINKING = 0.7  # of the steps, every ten rounds
_DIP, _MOST = 0.8, 2.0  # of the crossing at other sizes, and without
_ROUNDING = 1e-9  # of sums of shares

Prior = list[float] | tuple[list[float], list[float]]


def prior_of(shares: Sequence[tuple[float, float] | None]) -> Prior:
    """Return ``class_prior`` for the least and the most share of each class, None where unknown.

    Exact shares of all classes stand in proportion if they add up to the whole but for rounding.

    Examples
    --------
    >>> from diffclass.label_diffusion import prior_of
    >>> prior_of([(0.7, 0.7), (0.3, 0.3)])
    [0.7, 0.3]
    >>> prior_of([(0.1, 0.2), None])
    ([0.1, 0.0], [0.2, 1.0])
    """
    known = [(0.0, 1.0) if one is None else one for one in shares]
    least, most = ([one[end] for one in known] for end in (0, 1))
    return least if least == most and abs(sum(least) - 1) <= MISSED else (least, most)


@dataclass(frozen=True, eq=False)
class ClassSizes:
    """Least and most share of the points that each class may have.

    Attributes
    ----------
    least, most : ndarray of shape (n_classes,)
        0 to 1; equal if sizes are exact.
    """

    least: np.ndarray
    most: np.ndarray

    @classmethod
    def of(cls, class_prior: ArrayLike | None, n_classes: int) -> ClassSizes | None:
        """Check sizes given as shares, "uniform" or a pair; see `diffclass.diffuse_labels`.

        None if there are none, or none that exclude anything.

        Raises
        ------
        ParameterError
            If sizes have the wrong number, are out of range or cannot all be met.
        """
        if class_prior is None:
            return None
        if isinstance(class_prior, str):
            check_choice(class_prior, "class_prior", ("uniform",))
            return cls.exact(np.ones(n_classes))
        try:
            prior = np.asarray(class_prior, dtype=np.float64)
        except (TypeError, ValueError):
            prior = np.empty(0)
        if prior.ndim == 2 and len(prior) == 2:
            return cls._between(*prior, n_classes=n_classes)
        if prior.shape != (n_classes,) or not (np.isfinite(prior) & (prior > 0)).all():
            raise ParameterError(
                f"class_prior needs one number above 0 for each of the {n_classes} classes, or a "
                "pair of arrays of their least and most shares"
            )
        return cls.exact(prior)

    @classmethod
    def exact(cls, sizes: np.ndarray) -> ClassSizes:
        """Return sizes in proportion to some numbers above 0."""
        shares = sizes / sizes.max()
        shares = shares / shares.sum()
        return cls(shares, shares)

    @classmethod
    def _between(cls, least: np.ndarray, most: np.ndarray, *, n_classes: int) -> ClassSizes | None:
        in_range = (least >= 0) & (least <= most) & (most > 0) & (most <= 1)
        if least.shape != (n_classes,) or not in_range.all():
            raise ParameterError(
                "class_prior = (least, most) needs two arrays with a share of the points for each "
                f"of the {n_classes} classes, from 0 to 1, the first at most the second and the "
                "second above 0"
            )
        if least.sum() > 1 + _ROUNDING or most.sum() < 1 - _ROUNDING:
            raise ParameterError(
                f"class_prior: the least shares add up to {least.sum():.4g}, the most to "
                f"{most.sum():.4g}; the classes cannot have all points between them unless 1 lies "
                "in between"
            )
        return cls(least, most) if (least > 0).any() or (most < 1).any() else None

    def widened(self, factor: float) -> ClassSizes:
        """Return the sizes within a factor of these."""
        return ClassSizes(self.least / factor, np.minimum(self.most * factor, 1))

    def shifted(self, factors: np.ndarray) -> ClassSizes:
        """Return the sizes with each class's multiplied by its factor, then scaled to fit."""
        least, most = self.least * factors, self.most * factors
        total = (least.sum() + most.sum()) / 2
        return ClassSizes(least / total, np.minimum(most / total, 1))


_ANY = ClassSizes(np.zeros(1), np.ones(1))  # of any number of classes


@dataclass(frozen=True)
class SizedMap:
    """The map of least crossing. ``weighting`` is None if sizes do not count."""

    weighting: str | None
    values: Any  # as of `LabelWalk.values`
    class_weight: np.ndarray
    crossing: float


def with_sizes(
    walk: LabelWalk, values: Any, class_weight: np.ndarray, sizes: ClassSizes
) -> SizedMap:
    """Find how far a map should meet sizes.

    ``values`` and ``class_weight`` make the map without sizes. Costs up to 24 rounds of 40 products
    of the operator, and up to 32 more where sizes are in doubt; most maps settle after a third of
    them.
    """
    _, _, unsized = _after_rounds(walk, values, class_weight, _ANY)
    found = SizedMap(None, values, class_weight, unsized)
    for weighting, factor in zip(SIZED, _FACTORS, strict=True):
        after = _after_rounds(walk, values, class_weight, sizes.widened(factor))
        if after[-1] <= found.crossing:
            found = SizedMap(weighting, *after)
    if found.weighting == "matched" or after[-1] > _MOST * unsized:
        return found
    codes = decide(walk.counted(values), class_weight).codes
    others = _other_factors(np.bincount(codes[codes >= 0], minlength=walk.n_classes))
    crossings = (
        _after_rounds(walk, values, class_weight, sizes.shifted(factors))[-1] for factors in others
    )
    if all(after[-1] < _DIP * other for other in crossings):  # most wrong sizes end at the first
        found = SizedMap("matched", *after)
    return found


def _other_factors(counts: np.ndarray) -> np.ndarray:
    """Return factors of 2 and 1/2 that tell right sizes from others; (n_others, n_classes).

    ``counts`` (n_classes,) are those of a map, by which classes are ranked, so that their order
    does not matter.
    """
    rank = np.argsort(np.argsort(-counts, kind="stable"))
    doubled = np.stack([rank % 2 == 0, rank < len(counts) / 2])
    return np.unique(np.where(np.concatenate([doubled, ~doubled]), 2.0, 0.5), axis=0)


def _after_rounds(
    walk: LabelWalk, values: Any, class_weight: np.ndarray, sizes: ClassSizes
) -> tuple[Any, np.ndarray, float]:
    """Return the values, the weights and the crossing of a map after its rounds."""
    sample, equal = walk.counted(values), equal_weights(walk.n_classes)
    weight = matched_weights(sample, sizes, class_weight)
    codes = decide(sample, weight).codes
    for _ in range(_MOST_ROUNDS):
        before = codes
        values = walk.spread(walk.map_of(values, weight), _STEPS)
        sample = walk.counted(values)
        weight = matched_weights(sample, sizes, equal)
        codes = decide(sample, weight).codes
        if np.mean(codes != before) < _SETTLED_SHARE:
            break
    return values, weight, walk.crossing(walk.map_of(values, weight))


def matched_weights(values: np.ndarray, sizes: ClassSizes, class_weight: np.ndarray) -> np.ndarray:
    """Return weights, of sum 1, at which the shares of the map's classes lie within sizes.

    ``values`` (m, n_classes) are N_i of some points; rows of zeros do not count. Weights that meet
    the sizes stay as they are. Otherwise the logarithm of each goes up or down by that of the ratio
    of the nearest share allowed and the present one, with shrinking steps; the closest shares win.
    Points whose values allow no choice, as in a component with labels of one class, keep their
    class, so shares may stay outside.
    """
    with np.errstate(divide="ignore"):
        logs, bias = np.log(values[values.any(axis=1)]), np.log(class_weight)
    n, n_classes = len(logs), len(class_weight)
    step, best, closest = 1.0, bias, np.inf
    for round_number in range(1, _WEIGHT_ROUNDS + 1):
        counts = np.bincount((logs + bias).argmax(axis=1), minlength=n_classes)
        shares = counts / max(n, 1)
        distance = np.abs(shares - np.clip(shares, sizes.least, sizes.most)).sum()
        if distance < closest:
            best, closest = bias, distance
        if distance == 0:
            break
        present = (counts + 0.5) / (n + 0.5 * n_classes)
        allowed = np.maximum(np.clip(present, sizes.least, sizes.most), np.finfo(float).tiny)
        bias = bias + step * np.log(allowed / present)
        if round_number % 10 == 0:
            step *= _SHRINKING
    weight = np.exp(best - best.max())
    return weight / weight.sum()
