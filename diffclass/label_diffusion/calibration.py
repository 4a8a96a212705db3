"""Calibration: posteriors that are right as often as they say, from labels and graph alone.

The posteriors of a walk rank the classes well, but say little of how often the first is right: with
few labels most of a walk has forgotten where it came from, and all of them are nearly equal. One
number mends most of it, the temperature T:

    q_i = p_i^(1/T) / sum_j p_j^(1/T).

It keeps the order of the classes at every point. It is found in two steps.

*The map.* Neighbours are mostly of one class, and where a map is sure of itself they are so in the
map. T_0 is that at which the posteriors of a point predict best, by log loss, the map's classes
four steps of the walk away. This needs no label; it is too sure of maps that are wrong but smooth,
so T_map = T_0^0.7.

*Held-out labels* (`diffclass.label_diffusion.held_out_labels`) correct it by cross-validation: T
minimises their log loss plus (log T - log T_map)^2 / (2 s^2) with s = 0.6. With one label per
class, no label can be held out.

In the log loss q_i counts as 0.995 q_i + 0.005 / n_classes, so that one wrong label is no disaster.
The walk's four steps, the power and s were chosen on other problems than those reported
(experiments/few_labels/calibration.py).

*Prediction sets* hold, for each point, the classes that may be its own, at a stated level. A class
is in the set if its probability there is at least a threshold: the k-th smallest probability that m
labelled points have in their own class once their labels are left out, with
k = floor((1 - level) (m + 1)). If these points and a new one were drawn alike (labels at random
places), the set of the new one holds its class with a probability of at least ``level``, however
wrong the probabilities are. So it is on average over points as they were labelled: with equal
labels per class on average over the classes, not within each class, nor near each border. The
labels' being left out one by one, and not all at once, costs little of it. With k = 0, fewer labels
than 1 / (1 - level) - 1, nothing can be stated: all classes are in all sets. No set is empty, as
the most probable class is always in it.

Sources: C. Guo et al., On calibration of modern neural networks, 2017 (temperature); V. Vovk,
A. Gammerman and G. Shafer, Algorithmic learning in a random world, 2005; M. Sadinle, J. Lei and
L. Wasserman, Least ambiguous set-valued classifiers, 2019 (the threshold).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from diffclass._validation import check_level
from diffclass.label_diffusion.diffusion import LabelDiffusion, local_order_of
from diffclass.label_diffusion.held_out_labels import (
    MOST_HELD_OUT,
    HeldOutLabels,
    hold_out_labels,
    most_columns,
)
from diffclass.label_diffusion.labels import Labels
from diffclass.label_diffusion.largest_walk import largest_map_scores
from diffclass.label_diffusion.maps import (
    class_indicators,
    dense_rows,
    divided_by_row,
    normalised_scores,
)
from diffclass.operators.local_order import inverse
from diffclass.operators.warped import Operator
from diffclass.system.costs import Cost, Size
from diffclass.system.progress import stage
from diffclass.system.sizes import LOCAL_ORDER_POINTS

_EXPONENTS = np.geomspace(1 / 4, 4096, 141)  # 1/T; large where long sums are nearly equal
_MAP_POWER = 0.7  # of T_0
_COARSE = 10  # of these exponents, the loss of the map is first looked at for one in so many
_SPREAD = 0.6  # s
_FLOOR = 0.005
MAP_STEPS = 4
_HINTED = 1e-6  # more than a hint at the class of a point that no label reaches; see `NewPoints`
_MOST_COUNTED = 5000  # points on which the map is compared with itself
_FLAT = 1e-9  # of log(1/T)^2: T is 1 where every T is as good


@dataclass(frozen=True, eq=False)
class Calibration:
    """How posteriors become probabilities.

    Attributes
    ----------
    temperature : float
        T; below 1 posteriors become surer than they were.
    map_temperature : float
        T_map, by the map alone.
    n_held_out : int
        Number of labels, or groups of them, that were held out; with 0 the map alone decides.
    log_loss_before, log_loss_after : float
        Mean log loss of the held-out labels, before and after calibration; NaN without any.
    conformity : ndarray of shape (n_held_out,)
        Calibrated probability of its own class at each held-out label, ascending.
    crossing : float
        Share of the walks of four steps that end in another class of the map than that of their
        point; 1 if they ended anywhere.
    """

    temperature: float
    map_temperature: float
    n_held_out: int
    log_loss_before: float
    log_loss_after: float
    conformity: np.ndarray
    crossing: float

    def apply(self, posteriors: Any) -> Any:
        """Return calibrated probabilities of posteriors, in the same order at each point.

        Posteriors are an ndarray (..., n_classes) with a positive entry in each row, or a
        csr_array. Rows of NaN, and empty ones, stay so.
        """
        if isinstance(posteriors, sp.csr_array):
            return _sharpened_rows(posteriors, 1 / self.temperature)
        return sharpened(posteriors, 1 / self.temperature)

    def sets(self, probabilities: Any, *, level: float) -> Any:
        """Return which classes are in the prediction set of each point, as bool of the same shape.

        Of a csr_array of calibrated probabilities only classes of its stored values can be in a
        set. Sets hold the true class at the stated level, 0 to 1; see
        `diffclass.label_diffusion.calibration`.
        """
        if isinstance(probabilities, sp.csr_array):
            return _sets_of_rows(probabilities, self.conformity, level=level)
        return sets_at(probabilities, self.conformity, level=level)

    @property
    def highest_level(self) -> float:
        """Highest level of sets that says something; above it, all classes are in all sets."""
        m = len(self.conformity)
        return m / (m + 1)

    def to_dict(self) -> dict[str, Any]:
        """Return all except ``conformity`` and ``crossing`` as values that JSON can hold."""
        losses = {"log_loss_before": self.log_loss_before, "log_loss_after": self.log_loss_after}
        return {
            "temperature": self.temperature,
            "map_temperature": self.map_temperature,
            "n_held_out": self.n_held_out,
            **{name: loss if self.n_held_out else None for name, loss in losses.items()},
        }


def calibrate(
    operator: Operator,
    labels: Labels,
    diffusion: LabelDiffusion,
) -> Calibration:
    """Find the temperature of diffused labels.

    Parameters
    ----------
    operator : MarkovOperator or WarpedOperator
        The walk on n points.
    labels : Labels
    diffusion : LabelDiffusion
        Of these labels.

    Returns
    -------
    Calibration
        Costs what `hold_out_labels` does, and four steps of one column per class.

    See Also
    --------
    diffuse_joined : Calibrates too, and joins what the features say where that helps.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from diffclass import diffuse_labels, markov_operator
    >>> from diffclass.label_diffusion import Labels, calibrate
    >>> X, truth = load_digits(return_X_y=True)
    >>> y = np.where(np.arange(len(X)) < 50, truth, -1)
    >>> operator = markov_operator(X, n_neighbors=12)
    >>> found = diffuse_labels(operator, y)
    >>> calibration = calibrate(operator, Labels.of(y), found)
    >>> sure = calibration.apply(found.posteriors).max(axis=1).mean()
    >>> right = (found.codes == truth).mean()
    >>> bool(abs(right - sure) < 0.05 < abs(right - found.probability.mean()))
    True
    """
    with stage("calibration"):
        nodes = operator.unwarped.nodes
        if nodes is not None and labels.n_points == nodes.n_points:
            labels, diffusion = labels.at_nodes(nodes), diffusion.in_rows(nodes.first)
        return calibrate_by(operator, diffusion, hold_out_labels(operator, labels, diffusion))


def calibrate_by(operator: Operator, diffusion: LabelDiffusion, left: HeldOutLabels) -> Calibration:
    """Find the temperature of a diffusion's posteriors by labels that are already held out.

    Costs four steps of one column per class.
    """
    counted = counted_points(diffusion.reached)
    walk, codes, places = operator.unwarped, diffusion.codes, counted
    if (found := local_order_of(operator)) is not None:
        order, walk = found
        codes, places = codes[order], inverse(order)[counted]
    n_classes, kept = len(diffusion.classes), diffusion.kept_classes
    if kept is None:
        columns = class_indicators(codes, n_classes, walk.dtype)
        around = normalised_scores(walk.apply(columns, MAP_STEPS)[places])
    else:
        scores = largest_map_scores(walk, codes, n_classes, kept_classes=kept, n_steps=MAP_STEPS)
        around = dense_rows(scores, places)
    posteriors = dense_rows(diffusion.posteriors, counted)
    mass = operator.unwarped.mass
    weight = None if mass is None else mass[counted]
    return calibrated(posteriors, around, left, weight)


def calibrated(
    posteriors: np.ndarray,
    around: np.ndarray,
    left: HeldOutLabels,
    mass: np.ndarray | None = None,
) -> Calibration:
    """Find the temperature by some points of the map and the held-out labels.

    ``posteriors`` (m, n_classes) are those of some points, ``around`` (m, n_classes) is what the
    map says `MAP_STEPS` away from them, ``mass`` (m,) the number of equal points at each.
    """
    by_map = _map_exponent(posteriors.astype(np.float64), around, mass)
    truth = np.eye(posteriors.shape[1])[left.codes]
    losses = _losses(left.posteriors, truth, _EXPONENTS)
    away = np.log(_EXPONENTS / by_map) / _SPREAD
    exponent = float(_EXPONENTS[(losses.sum(axis=0) + away**2 / 2).argmin()])
    own = sharpened(left.posteriors, exponent)[np.arange(len(truth)), left.codes]
    before, after = (
        float(losses_at.mean()) if len(truth) else np.nan
        for losses_at in _losses(left.posteriors, truth, np.array([1.0, exponent])).T
    )
    stays = np.take_along_axis(around, posteriors.argmax(axis=1)[:, None], axis=1)[:, 0]
    by_chance = max(1 - 1 / posteriors.shape[1], np.finfo(float).tiny)  # none with one class
    crossing = float(np.average(1 - stays, weights=mass)) / by_chance
    return Calibration(1 / exponent, 1 / by_map, len(truth), before, after, np.sort(own), crossing)


def sharpened(posteriors: np.ndarray, exponent: float) -> np.ndarray:
    """Return p_i^exponent / sum_j p_j^exponent, of the same type."""
    # relative to the largest, so that no row underflows
    powers = (posteriors / posteriors.max(axis=-1, keepdims=True)) ** exponent
    return (powers / powers.sum(axis=-1, keepdims=True)).astype(posteriors.dtype, copy=False)


def floored(probabilities: np.ndarray) -> np.ndarray:
    """Return 0.995 q_i + 0.005 / n_classes, so that no single point rules a class out."""
    return (1 - _FLOOR) * probabilities + _FLOOR / probabilities.shape[-1]


def counted_points(reached: np.ndarray) -> np.ndarray:
    """Return the numbers of the points on which the map is compared with itself."""
    places = np.flatnonzero(reached)
    return places[:: 1 + len(places) // _MOST_COUNTED]


def _map_exponent(posteriors: np.ndarray, around: np.ndarray, mass: np.ndarray | None) -> float:
    """Return 1 / T_map, by what posteriors say of the map some steps away."""

    def best_of(exponents: np.ndarray) -> float:
        losses = np.average(_losses(posteriors, around, exponents), axis=0, weights=mass)
        logs = np.log(exponents)
        return float(exponents[(losses + _FLAT * logs**2).argmin()])

    near = np.abs(np.log(_EXPONENTS / best_of(_EXPONENTS[::_COARSE]))).argmin()
    best = best_of(_EXPONENTS[max(near - _COARSE, 0) : near + _COARSE + 1])
    return float(_EXPONENTS[np.abs(np.log(_EXPONENTS / best**_MAP_POWER)).argmin()])


def _losses(posteriors: np.ndarray, classes: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """Return the log loss of each point at each exponent, of shape (m, n_exponents)."""
    with np.errstate(divide="ignore"):
        logs = np.log(posteriors / posteriors.max(axis=1, keepdims=True), dtype=np.float64)
    losses = np.empty((len(logs), len(exponents)))
    powers = np.empty_like(logs)
    for of_points, exponent in zip(losses.T, exponents, strict=True):
        np.exp(np.multiply(logs, exponent, out=powers), out=powers)
        powers /= powers.sum(axis=1, keepdims=True)
        of_points[:] = -np.einsum("mc,mc->m", classes, np.log(floored(powers)))
    return losses


def sets_at(probabilities: np.ndarray, conformity: np.ndarray, *, level: float) -> np.ndarray:
    """Return which classes are in the set of each point, of the shape of the probabilities.

    ``conformity`` (m,) has the probability of its own class at each held-out label, ascending.
    Where probabilities are NaN, no class is in the set. Another level raises `ParameterError`.
    """
    threshold = _threshold(conformity, level)
    largest = probabilities.max(axis=-1, keepdims=True)
    return probabilities >= np.minimum(threshold, largest - _HINTED)


def _threshold(conformity: np.ndarray, level: float) -> float:
    # the small number: (1 - 0.9) * 10 is less than 1 by rounding
    k = int((1 - check_level(level)) * (len(conformity) + 1) + 1e-9)
    return float(conformity[k - 1]) if k else 0.0


def _sets_of_rows(
    probabilities: sp.csr_array, conformity: np.ndarray, *, level: float
) -> sp.csr_array:
    """Return `sets_at` of sparse rows, as a csr_array of bool."""
    largest = probabilities.max(axis=1).toarray()
    least = np.minimum(_threshold(conformity, level), largest - _HINTED)
    values, indices, starts = probabilities.data, probabilities.indices, probabilities.indptr
    inside = (values > 0) & (values >= np.repeat(least, np.diff(starts)))
    found = sp.csr_array((inside, indices, starts), shape=probabilities.shape)
    found.eliminate_zeros()
    return found


def _sharpened_rows(posteriors: sp.csr_array, exponent: float) -> sp.csr_array:
    """Return `sharpened` of sparse rows."""
    powers = divided_by_row(posteriors.copy(), posteriors.max(axis=1).toarray())
    powers.data **= exponent
    return divided_by_row(powers, powers.sum(axis=1))


# Bytes of a point and class: of a result with a copy in single precision, and of a diffusion.
RESULT_BYTES, DIFFUSING_BYTES = 24, 40
_RESULT_SLOT, _DIFFUSING_SLOT = 36, 68  # of a point and a class that it keeps
_WARPED = 36  # more
STEPS = 64  # of a walk to its end
_SECONDS, _SECONDS_HELD_OUT = 5.8e-10, 2.3e-10  # of an edge, column and step
_SECONDS_SLOT = 3e-9  # of an edge, kept class and step


def diffusion_costs(
    size: Size, *, warped: bool = False, kept_classes: int | None = None
) -> dict[str, Cost]:
    """Return what diffusing labels costs, and probabilities from held-out labels.

    Parameters
    ----------
    size : Size
        Points, neighbours and classes count.
    warped : bool, default=False
    kept_classes : int, optional
        As of `diffclass.diffuse_labels`.

    Returns
    -------
    dict of str to Cost
        Of "diffusion", whose result is kept, and "calibration".

    Examples
    --------
    A million points of ten classes:

    >>> from diffclass.system.costs import Size
    >>> from diffclass.label_diffusion import diffusion_costs
    >>> size = Size(points=1_000_000, neighbors=12, classes=10)
    >>> {name: f"{cost.working / 1e9:.1f} GB" for name, cost in diffusion_costs(size).items()}
    {'diffusion': '0.6 GB', 'calibration': '0.5 GB'}
    """
    n, m, n_columns = size.points, size.edges, size.classes
    working, result, seconds = DIFFUSING_BYTES + _WARPED * warped, RESULT_BYTES, _SECONDS
    if kept_classes is not None:
        n_columns = min(kept_classes, n_columns)
        working, result, seconds = _DIFFUSING_SLOT, _RESULT_SLOT, _SECONDS_SLOT
    in_order = (
        8 * m + 24 * n if n >= LOCAL_ORDER_POINTS else 0
    )  # the second operator of a large graph
    held_out = 0 if warped else 12 * n * most_columns(n)
    return {
        "diffusion": Cost(
            in_order + working * n * n_columns,
            in_order + result * n * n_columns,
            seconds * m * n_columns * STEPS,
        ),
        "calibration": Cost(held_out, 0, _SECONDS_HELD_OUT * m * MOST_HELD_OUT * STEPS),
    }
