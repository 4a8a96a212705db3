"""Sizes of the classes: exact, a range or a guess; the map meets them as far as the graph agrees.

Labels say where classes are, not how large. A *wish* says how large: a *least* and a *most* share
of the points for some classes, the same number if they are exact. If the map without a wish is
within it, it stays as it is. Else the wish and that map have one *aim*, a share for every class
(`ClassSizes.aim`): that of a named class is the nearest one allowed, and the others share the rest
as in the map without the wish. So a wish for one class leaves the proportions of the others alone.

One weight per class brings the shares of a map to the aim (`matched_weights`): the map is
*matched*. Where the values are poor, as with one label per class, points are then right in number
and wrong in place; so the map is diffused again, in *rounds*:

    u = 40 steps of the walk from H, labels absorbing;   H(x) = class of largest w_i u_i(x),

with H(x, i) = 1 if the map gives x the class i, and with weights w_i that again bring the shares
to the aim. Borders *move* to where few steps cross them, and stay where the aim leaves no other
choice. The rounds end when the map hardly changes. At least the share |shares - aim|_1 / 2 of the
points has to change its class; where rounds change more than twice as many, weights alone count. So
they do on a graph without clusters, where rounds without any aim leave less than a third of the
borders.

A wish may be wrong. Whether it counts is decided by the *crossing*, the share of the walk's steps
that leave their class,

    sum over x, y of different classes of K(x,y) / sum over x, y of K(x,y).

A wrong wish cuts through clusters, which crosses more. So a wish counts if its map after the rounds
crosses no more than that of rounds without any aim. Those may let a class spread over others,
though, which crosses little; so the wish counts too if it crosses no more than the map without it,
and no more than any *other* aim: those with the classes of even rank, or with the larger half of
the classes, doubled and the others halved, or the other way round (ranks by the map without the
wish). Around right sizes the crossing has a dip; around wrong ones, some change leads downhill. And
where a class has been swallowed, its missing borders cross nothing: a wish counts if it crosses
less than 0.8 times as much as the others, and at most twice as much as rounds without any aim. It
never counts if it leaves a class less than half of what it has and was to have.

The mean over the classes, `diffclass.label_diffusion.maps.Cut`, is of no use here: the cut of the
smallest class, on few points, would decide.

Sources: M. Jacobs, E. Merkurjev and S. Esedoglu, Auction dynamics: a volume constrained MBO scheme,
2018 (rounds with given volumes, there by auction); J. Calder et al., Poisson learning, 2020
(PoissonMBO: rounds with one weight per class). What was measured is in DECISIONS.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from diffclass._validation import check_choice
from diffclass.exceptions import ParameterError
from diffclass.label_diffusion.maps import counted_every, decide, equal_weights
from diffclass.label_diffusion.walk import LabelWalk
from diffclass.names import same_names

SIZED = ("matched", "moved")  # how weights are chosen if sizes have counted
MISSED = 0.05  # by which exact shares of all classes may miss the whole: they are rounded numbers
NEAR = 0.01  # by which a map may miss sizes that it is said to have
_STEPS = 40  # of the walk in a round
_MOST_ROUNDS = 8
_SETTLED_SHARE = 0.001  # of the points
_WEIGHT_ROUNDS = 80
_SHRINKING = 0.7  # of the steps, every ten rounds
_DIP, _MOST = 0.8, 2.0  # of the crossing at other aims, and without any
_CLUSTERED = 1 / 3  # of the crossing, that rounds without an aim leave where there are clusters
_MOST_CHANGED = 2.0  # times as many points as have to change
_KEPT = 0.5  # of what a class has, and was to have
_ROUNDING = 1e-9  # of sums of shares
_SCALES = 1e12  # of shares: far beyond what any aim needs

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


def _in_their_order(class_prior: Any, classes: np.ndarray) -> Any:
    """Return sizes that pandas names by their classes in the order of these."""
    if not hasattr(class_prior, "iloc"):
        return class_prior
    names = (class_prior.index if class_prior.ndim == 1 else class_prior.columns).tolist()
    if names == list(range(len(names))):  # numbers of places
        return class_prior
    is_class = same_names(names, classes.tolist(), sides=("class_prior", "y"))
    place = {is_class[name]: k for k, name in enumerate(names) if name in is_class}
    if len(place) < max(len(names), len(classes)):
        raise ParameterError(
            f"class_prior has sizes of {names}, y the classes {classes.tolist()}; name the same, "
            "or give a list in the order of the classes"
        )
    order = [place[name] for name in classes.tolist()]
    return class_prior.iloc[order] if class_prior.ndim == 1 else class_prior.iloc[:, order]


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
            prior = np.ma.filled(np.ma.asarray(class_prior, dtype=np.float64), np.nan)
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
    def of_classes(cls, class_prior: Any, classes: np.ndarray) -> ClassSizes | None:
        """Check sizes as `of`; those of a frame or series that names its entries go by the names.

        Examples
        --------
        >>> import numpy as np
        >>> import pandas as pd
        >>> from diffclass.label_diffusion.class_sizes import ClassSizes
        >>> shares = pd.Series({"soy": 0.75, "corn": 0.25})
        >>> ClassSizes.of_classes(shares, np.array(["corn", "soy"])).least
        array([0.25, 0.75])
        """
        return cls.of(_in_their_order(class_prior, classes), len(classes))

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
        if least.sum() > 1 - _ROUNDING and not least.all():
            raise ParameterError(
                "class_prior: the least shares add up to the whole, and leave no room for the "
                f"class at place {int(np.argmin(least))}, which has labels too; lower one of them"
            )
        return cls(least, most) if (least > 0).any() or (most < 1).any() else None

    def hold(self, shares: np.ndarray, *, by: float = _ROUNDING) -> bool:
        """Say whether shares of all classes lie within the sizes, or so near to them."""
        least, most = self.least - by, self.most + by
        return bool(((shares >= least) & (shares <= most)).all())

    def aim(self, shares: np.ndarray) -> np.ndarray:
        """Return the shares to aim at from a map with certain shares; (n_classes,), of sum 1.

        A class with a size gets the nearest one allowed, the others share the rest as they do in
        the map. Where that would take more than half of what they have, or there are no others,
        all shares are scaled alike as far as the sizes allow.

        Examples
        --------
        >>> import numpy as np
        >>> from diffclass.label_diffusion.class_sizes import ClassSizes
        >>> wish = ClassSizes(np.array([0.2, 0, 0]), np.array([0.3, 1, 1]))
        >>> wish.aim(np.array([0.4, 0.4, 0.2])).round(3)
        array([0.3  , 0.467, 0.233])
        """
        shares = np.maximum(shares, _ROUNDING)
        named = (self.least > 0) | (self.most < 1)
        aim = np.clip(shares, self.least, self.most)
        others = shares[~named].sum()
        rest = 1 - aim[named].sum()
        if named.all() or rest < _KEPT * others:
            return self._scaled(shares)
        aim[~named] = shares[~named] * rest / others
        return aim

    def _scaled(self, shares: np.ndarray) -> np.ndarray:
        """Return clip(c shares, least, most) of sum 1, by bisection of log c."""
        low, high = -np.log(_SCALES), np.log(_SCALES)
        for _ in range(100):
            middle = (low + high) / 2
            aim = np.clip(np.exp(middle) * shares, self.least, self.most)
            low, high = (middle, high) if aim.sum() < 1 else (low, middle)
        return aim / aim.sum()


@dataclass(frozen=True)
class SizedMap:
    """The map that counts. ``weighting`` is None if it is that without sizes."""

    weighting: str | None
    values: Any  # as of `LabelWalk.values`
    class_weight: np.ndarray
    crossing: float


def with_sizes(
    walk: LabelWalk,
    values: Any,
    class_weight: np.ndarray,
    sizes: ClassSizes,
    *,
    may_move: bool = True,
) -> SizedMap:
    """Find the map that meets sizes, if the graph agrees; else that without sizes.

    ``values`` and ``class_weight`` make the map without sizes. Borders of a map that knows more
    than the graph does may not move: they would forget it. Costs up to 48 rounds of 40 products
    of the operator; most maps settle after a third of them.
    """
    shares = _shares_of(walk, values, class_weight)
    found = SizedMap(None, values, class_weight, walk.crossing(walk.map_of(values, class_weight)))
    if sizes.hold(shares):
        return found
    aim = sizes.aim(shares)
    unaimed = _after_rounds(walk, values, class_weight, None).crossing
    moved = _after_rounds(walk, values, class_weight, aim)
    kept = _shares_of(walk, moved.values, moved.class_weight) >= _KEPT * np.minimum(shares, aim)

    def of_others() -> float:
        factors = _other_factors(shares)
        aims = factors * aim / (factors @ aim)[:, None]
        return min(_after_rounds(walk, values, class_weight, other).crossing for other in aims)

    if not kept.all() or not _is_right(moved.crossing, found.crossing, unaimed, of_others):
        return found
    least = np.abs(shares - aim).sum() / 2
    is_clustered = unaimed >= _CLUSTERED * found.crossing
    if may_move and is_clustered and _changed(walk, found, moved) <= _MOST_CHANGED * least:
        return moved
    weight = matched_weights(walk.counted(values), aim, class_weight, walk.counted_mass)
    return SizedMap("matched", values, weight, walk.crossing(walk.map_of(values, weight)))


def _changed(walk: LabelWalk, one: SizedMap, other: SizedMap) -> float:
    """Return the share of the points of one map that another gives another class."""
    before, after = (decide(walk.counted(of.values), of.class_weight).codes for of in (one, other))
    mapped, mass = before >= 0, walk.counted_mass
    return float(
        np.average((before != after)[mapped], weights=None if mass is None else mass[mapped])
    )


def _is_right(
    crossing: float, unsized: float, unaimed: float, of_others: Callable[[], float]
) -> bool:
    """Judge an aim by the crossing at it, without sizes, in rounds without an aim and at others."""
    if crossing <= unaimed:
        return True
    if crossing > max(unsized, _MOST * unaimed):
        return False
    least = of_others()
    is_dip = crossing < _DIP * least and crossing <= _MOST * unaimed
    return is_dip or crossing <= min(unsized, least)


def weighed_again(
    walk: LabelWalk, weighting: str, class_weight: np.ndarray, codes: np.ndarray
) -> tuple[Any, np.ndarray]:
    """Return the values and weights of fewer labels at the time of a map, weighed as it is.

    Where its borders have moved, they move anew, to its shares. ``codes`` (n,) are its classes.
    """
    values = walk.values()
    if weighting != "moved":
        return values, class_weight
    counted = codes[:: counted_every(len(codes))]
    aim = class_shares(counted, walk.n_classes, walk.counted_mass)
    equal = equal_weights(walk.n_classes)
    moved = _after_rounds(walk, values, equal, aim)
    return moved.values, moved.class_weight


def weights_as_of(codes: np.ndarray, values: np.ndarray, mass: np.ndarray | None) -> np.ndarray:
    """Return the weights (n_classes,) at which values (m, n_classes) have the shares of a map.

    ``codes`` (m,) are its classes, ``mass`` (m,) the number of equal points at each.
    """
    n_classes = values.shape[1]
    aim = class_shares(codes, n_classes, mass)
    return matched_weights(values, aim, equal_weights(n_classes), mass)


def _shares_of(walk: LabelWalk, values: Any, class_weight: np.ndarray) -> np.ndarray:
    codes = decide(walk.counted(values), class_weight).codes
    return class_shares(codes, walk.n_classes, walk.counted_mass)


def _counts(codes: np.ndarray, n_classes: int, mass: np.ndarray | None) -> np.ndarray:
    """Return the number of points of each class; ``mass`` is that of equal ones at each."""
    mapped = codes >= 0
    return np.bincount(codes[mapped], None if mass is None else mass[mapped], n_classes)


def class_shares(codes: np.ndarray, n_classes: int, mass: np.ndarray | None) -> np.ndarray:
    """Return the share of each class among the points of a map that have one."""
    counts = _counts(codes, n_classes, mass)
    return counts / max(counts.sum(), 1)


def _other_factors(shares: np.ndarray) -> np.ndarray:
    """Return factors of 2 and 1/2 that tell right sizes from others; (n_others, n_classes).

    ``shares`` (n_classes,) are those of a map, by which classes are ranked, so that their order
    does not matter.
    """
    rank = np.argsort(np.argsort(-shares, kind="stable"))
    doubled = np.stack([rank % 2 == 0, rank < len(shares) / 2])
    return np.unique(np.where(np.concatenate([doubled, ~doubled]), 2.0, 0.5), axis=0)


def _after_rounds(
    walk: LabelWalk, values: Any, class_weight: np.ndarray, aim: np.ndarray | None
) -> SizedMap:
    """Return a map after its rounds; without an aim, weights stay equal."""

    def weighed(sample: np.ndarray, weight: np.ndarray) -> np.ndarray:
        return weight if aim is None else matched_weights(sample, aim, weight, walk.counted_mass)

    sample, equal = walk.counted(values), equal_weights(walk.n_classes)
    weight = weighed(sample, class_weight)
    codes = decide(sample, weight).codes
    for _ in range(_MOST_ROUNDS):
        before = codes
        values = walk.spread(walk.map_of(values, weight), _STEPS)
        sample = walk.counted(values)
        weight = weighed(sample, equal)
        codes = decide(sample, weight).codes
        if np.average(codes != before, weights=walk.counted_mass) < _SETTLED_SHARE:
            break
    return SizedMap("moved", values, weight, walk.crossing(walk.map_of(values, weight)))


def matched_weights(
    values: np.ndarray,
    aim: np.ndarray,
    class_weight: np.ndarray,
    mass: np.ndarray | None = None,
) -> np.ndarray:
    """Return weights, of sum 1, at which the shares of the map's classes are those aimed at.

    ``values`` (m, n_classes) are N_i of some points, ``mass`` (m,) the number of equal ones at
    each; rows of zeros do not count. Weights that meet the aim stay as they are. Otherwise the
    logarithm of each goes up or down by that of the ratio of the share aimed at and the present
    one, with shrinking steps; the closest shares win. Points whose values allow no choice, as in a
    component with labels of one class, keep their class, so shares may stay apart.
    """
    with np.errstate(divide="ignore"):
        some = values.any(axis=1)
        logs, bias = np.log(values[some]), np.log(class_weight)
    mass = None if mass is None else mass[some]
    n, n_classes = len(logs) if mass is None else mass.sum(), len(class_weight)
    step, best, closest = 1.0, bias, np.inf
    for round_number in range(1, _WEIGHT_ROUNDS + 1):
        counts = _counts((logs + bias).argmax(axis=1), n_classes, mass)
        distance = np.abs(counts / max(n, 1) - aim).sum()
        if distance < closest:
            best, closest = bias, distance
        if distance == 0:
            break
        present = (counts + 0.5) / (n + 0.5 * n_classes)
        bias = bias + step * np.log(np.maximum(aim, np.finfo(float).tiny) / present)
        if round_number % 10 == 0:
            step *= _SHRINKING
    weight = np.exp(best - best.max())
    return weight / weight.sum()
