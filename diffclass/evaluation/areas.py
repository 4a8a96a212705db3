"""Areas of classes and accuracy of a map, from a sample of it that is labelled.

Counting the pixels of a map gives biased areas: pixels of a class that are mapped as another one
are missing, pixels wrongly mapped as it are added. A random sample with known truth, drawn from
strata of known sizes N_h (usually the classes of the map, rare ones sampled more densely), corrects
both. With sample means y_h over the n_h points of stratum h, the total of any quantity is
sum N_h y_h, and every figure here is a ratio of two such totals,

    R = sum N_h y_h / sum N_h x_h,
    V(R) = sum N_h^2 (s_y^2 + R^2 s_x^2 - 2 R s_xy)_h / n_h / (sum N_h x_h)^2,

with s_y^2, s_x^2, s_xy the (co)variances of the sample (divisor n_h - 1) within a stratum:

    share of the area      y = 1 where the truth is class j       x = 1
    overall accuracy       y = 1 where the map is right           x = 1
    user's accuracy        y = 1 where mapped as j and right      x = 1 where mapped as j
    producer's accuracy    y = 1 where mapped as j and right      x = 1 where the truth is j

With the classes of the map as strata these are equations 1 to 11 of Olofsson et al. As there, no
correction for finite strata is made.

An estimate is stated with R -+ z sqrt(V), z the normal quantile. Where the sample does not vary
within any stratum, as where all points mapped as a class are right, V is 0 and says nothing. Other
points may then still contradict the sample, at a rate of at most

    1 - (a / 2)^(1 / n_e),    n_e = sum w / max w,

at the confidence 1 - a, with w = N_h / n_h over the points in question: with one stratum it is the
exact limit of Clopper and Pearson, and with several, rates p_h and the shares W_h of their sizes
prod (1 - p_h)^(n_h) <= (1 - sum W_h p_h)^(n_e), so that the limit holds however they are
distributed. The limits of R are those at this rate.

All of this assumes that labels are a *random sample within each stratum*. Labels drawn where it was
easy, or whole fields of them, correct nothing, and their intervals are too narrow. The intervals of
a producer's accuracy are also too narrow where few points of the class are missed (for a class of a
tenth of the area and 60 points per stratum, the 95 % interval held the truth in 83 of 100 samples).

Sources: P. Olofsson et al., Good practices for estimating area and assessing accuracy of land
change, Remote Sensing of Environment 148, 2014, section 4; S. V. Stehman, Estimating area and map
accuracy for stratified random sampling when the strata are different from the map classes,
International Journal of Remote Sensing 35, 2014; C. J. Clopper and E. S. Pearson, The use of
confidence or fiducial limits illustrated in the case of the binomial, Biometrika 26, 1934.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from diffclass.evaluation.intervals import normal_quantile, or_none, pair_or_none, same_points
from diffclass.evaluation.scores import common_codes
from diffclass.exceptions import DataError


@dataclass(frozen=True)
class Estimate:
    """A share with its standard error.

    Attributes
    ----------
    value : float
        0 to 1; NaN where no point measures it.
    standard_error : float
        NaN where a stratum that matters holds a single sample.
    below, above : pair of float
        How much lower, or higher, the value would be if all points in question contradicted the
        sample, and the effective number of these; used where the standard error is 0.
    """

    value: float
    standard_error: float
    below: tuple[float, float] = (0.0, 1.0)
    above: tuple[float, float] = (0.0, 1.0)

    def interval(self, level: float) -> tuple[float, float]:
        """Return value -+ z standard errors, or the exact limits, clipped to 0 and 1."""
        down = up = normal_quantile(level) * self.standard_error
        if self.standard_error == 0:
            down, up = (
                most * (1 - ((1 - level) / 2) ** (1 / n)) for most, n in (self.below, self.above)
            )
        return float(np.clip(self.value - down, 0, 1)), float(np.clip(self.value + up, 0, 1))

    def to_dict(self, level: float) -> dict[str, Any]:
        """Return value, standard error and interval as values that JSON can hold."""
        return {
            "value": or_none(self.value),
            "standard_error": or_none(self.standard_error),
            "interval": pair_or_none(*self.interval(level)),
        }


@dataclass(frozen=True)
class AreaEstimates:
    """Areas and accuracies of a map, corrected by a stratified sample.

    Attributes
    ----------
    classes : list
        Those of truth and map together, sorted.
    total : float
        Size of all sampled strata, in the unit of the given sizes.
    n_points : int
        Size of the sample.
    overall_accuracy : Estimate
        Of the whole map, not of the sample.
    area_share, users_accuracy, producers_accuracy : dict of class to Estimate
        Share of ``total`` that truly is of the class; share of the area mapped as the class that
        truly is of it; share of the area truly of the class that is mapped as it.
    not_sampled : dict of stratum to float
        Sizes of strata without a sample; ``total`` leaves them out.
    """

    classes: list[Any]
    total: float
    n_points: int
    overall_accuracy: Estimate
    area_share: dict[Any, Estimate]
    users_accuracy: dict[Any, Estimate]
    producers_accuracy: dict[Any, Estimate]
    not_sampled: dict[Any, float]

    def to_dict(self, *, level: float = 0.95) -> dict[str, Any]:
        """Return everything as values that JSON can hold, with intervals and areas."""
        return {
            "level": level,
            "total": self.total,
            "n_points": self.n_points,
            "overall_accuracy": self.overall_accuracy.to_dict(level),
            "per_class": {str(value): self._class_to_dict(value, level) for value in self.classes},
            "not_sampled": {str(value): size for value, size in self.not_sampled.items()},
        }

    def _class_to_dict(self, value: Any, level: float) -> dict[str, Any]:
        share = self.area_share[value].to_dict(level)
        area = {
            name: None if part is None else (np.array(part) * self.total).tolist()
            for name, part in share.items()
        }
        return {
            "area": area,
            "area_share": share,
            "users_accuracy": self.users_accuracy[value].to_dict(level),
            "producers_accuracy": self.producers_accuracy[value].to_dict(level),
        }


def stratified_areas(
    truth: ArrayLike,
    predicted: ArrayLike,
    sizes: Mapping[Any, float],
    *,
    strata: ArrayLike | None = None,
) -> AreaEstimates:
    """Estimate class areas and accuracies of a map from a stratified random sample.

    Parameters
    ----------
    truth, predicted : array-like of shape (n,)
        True and mapped class of the sampled points; classes are alike as in
        `classification_scores`.
    sizes : mapping of stratum to float
        Size of each stratum, such as the number of pixels mapped as each class.
    strata : array-like of shape (n,), optional
        Stratum that each point was drawn from; its mapped class by default.

    Raises
    ------
    DataError
        If the arrays differ in length or are empty, a true class is not known, a stratum has no
        size, or its size is below that of its sample.

    See Also
    --------
    classification_scores : For a sample in proportion to the classes, or all points.

    Examples
    --------
    >>> from diffclass.evaluation import stratified_areas
    >>> found = stratified_areas([1, 1, 2, 2, 1, 2], [1, 1, 1, 2, 2, 2], {1: 300, 2: 700})
    >>> share = found.area_share[1]
    >>> round(share.value, 3), round(share.standard_error, 3)
    (0.433, 0.254)
    """
    by_map = strata is None
    truth, predicted, strata = same_points(
        truth=truth, predicted=predicted, strata=predicted if strata is None else strata
    )
    sample, n_points = _Sample.of(strata, sizes), len(truth)
    values, (truth, predicted) = common_codes(truth, predicted)
    if len(truth) < n_points:
        raise DataError(
            f"the true class of {n_points - len(truth)} of {n_points} points is not known; label "
            "the whole sample"
        )
    right, everywhere = truth == predicted, np.ones(n_points)
    sampled = set(np.unique(strata).tolist())
    classes = values.tolist()
    return AreaEstimates(
        classes=classes,
        total=float(sample.sizes.sum()),
        n_points=n_points,
        overall_accuracy=sample.ratio(right, everywhere, right, ~right),
        area_share={
            value: sample.ratio(truth == c, everywhere, truth == c, truth != c)
            for c, value in enumerate(classes)
        },
        users_accuracy={
            # with the map's classes as strata, only stratum c holds what is mapped as c
            value: sample.ratio(
                right & (predicted == c),
                predicted == c,
                right & (predicted == c),
                ~right & (predicted == c),
                alone=by_map,
            )
            for c, value in enumerate(classes)
        },
        producers_accuracy={
            # what is mapped as others may be of the class and missed
            value: sample.ratio(right & (truth == c), truth == c, predicted != c, predicted == c)
            for c, value in enumerate(classes)
        },
        not_sampled={h: float(size) for h, size in sizes.items() if h not in sampled and size},
    )


@dataclass(frozen=True)
class _Sample:
    """Stratum of each point by number; size and sample size of each stratum."""

    stratum: np.ndarray
    sizes: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, strata: np.ndarray, sizes: Mapping[Any, float]) -> _Sample:
        for value, size in sizes.items():
            if not (isinstance(size, Real) and 0 <= size < np.inf):
                raise DataError(
                    f"stratum {value!r} has size {size!r}; sizes are numbers, at least 0"
                )
        values, stratum, counts = np.unique(strata, return_inverse=True, return_counts=True)
        for value, count in zip(values.tolist(), counts.tolist(), strict=True):
            if value not in sizes:
                raise DataError(f"stratum {value!r} has no size; give that of every stratum")
            if not sizes[value] >= count:
                raise DataError(
                    f"stratum {value!r} has size {sizes[value]}, but {count} points are drawn from "
                    "it; sizes are counted in the same pixels as the sample"
                )
        return cls(stratum, np.array([float(sizes[v]) for v in values.tolist()]), counts)

    def ratio(
        self,
        y: np.ndarray,
        x: np.ndarray,
        below: np.ndarray,
        above: np.ndarray,
        *,
        alone: bool = False,
    ) -> Estimate:
        """Return the ratio of the totals of y and x with its standard error.

        With ``alone``, y and x are 0 by definition in each stratum where all sampled x are 0.

        ``below`` and ``above`` are the points that would lower, or raise, the ratio if they
        contradicted the sample.
        """
        x_means = self._means(x)
        numerator, denominator = float(self.sizes @ self._means(y)), float(self.sizes @ x_means)
        if denominator == 0:
            return Estimate(float("nan"), float("nan"))
        value = numerator / denominator
        # the variance of y - R x is s_y^2 + R^2 s_x^2 - 2 R s_xy
        rest = y - value * x
        squares = self._means((rest - self._means(rest)[self.stratum]) ** 2) * self.counts
        with np.errstate(invalid="ignore", divide="ignore"):
            variances = squares / (self.counts - 1) / self.counts
        if alone:
            variances[x_means == 0] = 0
        # a single sample says nothing about how its stratum varies: NaN stays
        error = np.sqrt((self.sizes**2 * variances).sum()) / denominator
        return Estimate(
            value, float(error), *(self._if_contradicted(p, denominator) for p in (below, above))
        )

    def _if_contradicted(self, points: np.ndarray, denominator: float) -> tuple[float, float]:
        weights = (self.sizes / self.counts)[self.stratum[points]]
        if not len(weights):
            return 0.0, 1.0
        return float(weights.sum() / denominator), float(weights.sum() / weights.max())

    def _means(self, values: np.ndarray) -> np.ndarray:
        return np.bincount(self.stratum, weights=values) / self.counts
