"""Labels diffuse over a graph: A^t chi_i, the time tau, posteriors and margins.

Three ways. *Free* labels follow Coifman et al. 2005, section 3: the indicator of the
labelled points of class i, scaled so that <chi_i, pi> = 1 (or to sum 1, in counting measure), is
diffused; on a connected graph every class tends to the same constant 1, so that a class with few
labels is at no disadvantage. *Summed* labels are free ones, summed over the walk,

    N_i(tau) = sum over s = 0, ..., h tau of A^s chi_i,   h = 3, or 6 with one label a class,

the mean number of visits that the walk from x pays to the labels of class i: as linear in the
labels, hardly sensitive to tau, and with growing tau, but for a constant, a solution of Poisson's
equation (J. Calder et al., Poisson learning, 2020, up to how the labels are weighed). *Absorbing*
labels stay what they are at every step,

    N_i(t + 1) = A N_i(t) off the labels,    N_i = 1[y = i] on them,

so that N_i(x, t) is the probability that the walk from x has met a label of class i, and before
it none of another, by time t (M. Szummer and T. Jaakkola 2001; its limit is the harmonic function
of X. Zhu et al. 2003). Posteriors are p_i = w_i N_i / sum_j w_j N_j, with w_i = 1 or, for a given
prior, prior_i / <N_i, pi> (class-mass normalisation, Zhu et al. 2003, section 4).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from diffclass._validation import check_choice, check_positive
from diffclass.exceptions import DataError, ParameterError
from diffclass.label_diffusion.stopping_time import (
    MarginCurve,
    TimeChoice,
    curve_times,
    hop_coverage,
)
from diffclass.label_diffusion.walks import (
    AbsorbingWalk,
    FreeWalk,
    SummedWalk,
    Walk,
    WarpedAbsorbingWalk,
    WarpedFreeWalk,
)
from diffclass.operators.markov import MarkovOperator
from diffclass.operators.warped import WarpedOperator
from diffclass.progress import stage
from diffclass.targets import encode_labels, labels_per_class

_POINTS_WITH_TIME = 65_536
LABEL_MODES = ("summed", "free", "absorbing")


def kept_share(label_mode: str, codes: np.ndarray) -> float:
    """Return the share of the largest margin that tau has to keep.

    For free and summed labels 1 - 0.35 / sqrt(m), at most 0.8, m the median number of labels in a
    class: one with one or two labels is found only by the shape of its cluster, which takes time.
    (More than 0.8 would suit many labels at random places, but not strokes, which are many labels
    in few places.) The margin of absorbing labels falls far more slowly, and 0.65 suits all m. Both
    were chosen on problems apart from those reported (experiments/few_labels/tau.py).

    Parameters
    ----------
    label_mode : {"summed", "free", "absorbing"}
    codes : ndarray of int of shape (n,)
        Class number of each point, -1 where unlabelled.

    Returns
    -------
    float
        0 to 1.
    """
    if label_mode == "absorbing":
        return 0.65
    return min(0.8, float(1 - 0.35 / np.sqrt(labels_per_class(codes))))


@dataclass(frozen=True)
class LabelDiffusion:
    """Labels diffused to the time tau.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The labels' values, sorted.
    values : ndarray of shape (n, n_classes)
        N_i at tau, at least 0; rows of zeros where no label has arrived.
    posteriors : ndarray of shape (n, n_classes)
        p_i; rows sum to 1, uniform where no label has arrived.
    margin : ndarray of shape (n,)
        p_(1) - p_(2), 0 to 1; 0 where no label has arrived.
    codes : ndarray of int of shape (n,)
        Column of the largest posterior, -1 where no label has arrived by tau.
    class_weight : ndarray of shape (n_classes,)
        w_i, sum 1.
    tau : int
        The time, in steps.
    curve : MarginCurve
        Margin and coverage at the times up to where the choice was made.
    """

    classes: np.ndarray
    values: np.ndarray
    posteriors: np.ndarray
    margin: np.ndarray
    codes: np.ndarray
    class_weight: np.ndarray
    tau: int
    curve: MarginCurve

    @property
    def reached(self) -> np.ndarray:
        """Whether a label has arrived at each point by tau; bool of shape (n,)."""
        return self.codes >= 0


def diffuse_labels(
    operator: MarkovOperator | WarpedOperator,
    y: Any,
    *,
    label_mode: str = "summed",
    tau: str | int = "margin",
    max_time: int | None = None,
    class_prior: Any = None,
    measure: str = "operator",
    label_weight: Any = None,
) -> LabelDiffusion:
    """Diffuse labels over a graph and read every point's class off.

    Parameters
    ----------
    operator : MarkovOperator or WarpedOperator
        Of n points: the same walk for all classes, or each class's own.
    y : array-like of shape (n,)
        Labels of any sortable kind; -1, None, NaN or a missing value of pandas is unlabelled.
    label_mode : {"summed", "free", "absorbing"}, default="summed"
        Whether the labels diffuse away, summed over the walk or as they are at its end, or stay
        what they are. By a warped operator summed labels diffuse as free ones.
    tau : "margin" or int, default="margin"
        Time in steps, or the rule that chooses it (see `stopping_time`). Summed labels have the
        time of free ones, and are summed up to 3 tau, with one label a class up to 6 tau.
    max_time : int, optional
        Last time that the rule looks at; by default 1,024 for up to 65,536 points, where so many
        steps take a moment, and 256 for more.
    class_prior : array-like of shape (n_classes,) or "uniform", optional
        Expected shares of the classes; None takes the diffused values as they are.
    measure : {"operator", "counting"}, default="operator"
        In which measure free and summed labels are scaled to 1; a warped class's in that of its
        own walk.
    label_weight : array-like of shape (n,), optional
        Trust in each label, 0 to 1: the mass of a free or summed label, the probability that the
        walk stops at an absorbing one.

    Returns
    -------
    LabelDiffusion
        Classes, values, posteriors, margins, tau and the curve.

    Raises
    ------
    ParameterError
        For unknown names, times below 1, priors or weights of the wrong shape or sign.
    DataError
        For y of another length or without any label.

    Warns
    -----
    ConvergenceWarning
        Where the labels do not cover the graph by ``max_time``; then the time of greatest
        coverage is used.

    Notes
    -----
    Cost: tau products of the operator with n_classes columns, and some after it to see the margin
    fall; up to 3 or 6 tau for summed labels. Memory: four to five arrays of n x n_classes.

    References
    ----------
    Coifman et al. 2005, section 3; Zhu, Ghahramani and Lafferty 2003.

    Examples
    --------
    Two blobs, a label each:

    >>> import numpy as np
    >>> from diffclass import diffuse_labels, markov_operator
    >>> X = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0, 0], [6, 0]], 30, axis=0)
    >>> y = np.full(60, -1); y[0] = 3; y[30] = 7
    >>> result = diffuse_labels(markov_operator(X, n_neighbors=30), y)
    >>> bool((result.classes[result.codes] == np.repeat([3, 7], 30)).all())
    True
    """
    check_choice(label_mode, "label_mode", LABEL_MODES)
    if max_time is None:
        max_time = 1024 if len(operator) <= _POINTS_WITH_TIME else 256
    check_positive(max_time, "max_time", integer=True)
    classes, codes = encode_labels(y)
    if len(codes) != len(operator):
        raise DataError(f"y has {len(codes)} entries; the operator has {len(operator)} points")
    if not len(classes):
        raise DataError("y holds no label; mark at least one point")
    trust = _checked_weights(label_weight, codes)
    prior = _checked_prior(class_prior, len(classes))
    walk = start_walk(operator, codes, trust, len(classes), label_mode=label_mode, measure=measure)
    with stage("diffusion"):
        if isinstance(tau, str):
            check_choice(tau, "tau", ("margin",))
            curve = _walk_to_best_time(walk, max_time, prior, kept_share(label_mode, codes))
        else:
            check_positive(tau, "tau", integer=True)
            curve = _walk_to(walk, tau, prior, kept_share(label_mode, codes))
        tau = walk.settle()
        return _read_off(walk, classes, prior, tau, curve)


def start_walk(
    operator: MarkovOperator | WarpedOperator,
    codes: np.ndarray,
    trust: np.ndarray,
    n_classes: int,
    *,
    label_mode: str,
    measure: str = "operator",
) -> Walk:
    """Return the walk of labels at time 0.

    Parameters
    ----------
    operator : MarkovOperator or WarpedOperator
    codes : ndarray of int of shape (n,)
        Class number of each point, -1 where unlabelled.
    trust : ndarray of shape (n,)
        0 to 1.
    n_classes : int
    label_mode, measure
        As in `diffuse_labels`.

    Raises
    ------
    DataError
        Where the operator is warped for another number of classes.
    """
    if isinstance(operator, WarpedOperator):
        if operator.scores.shape[1] != n_classes:
            raise DataError(
                f"y holds {n_classes} classes; the operator is warped for "
                f"{operator.scores.shape[1]}"
            )
        warped_walk = WarpedAbsorbingWalk if label_mode == "absorbing" else WarpedFreeWalk
        return warped_walk(operator, codes, trust)
    if label_mode == "absorbing":
        return AbsorbingWalk(operator, codes, trust, n_classes)
    free_walk = FreeWalk if label_mode == "free" else SummedWalk
    return free_walk(operator, codes, trust, n_classes, measure)


def _walk_to(walk: Walk, tau: int, prior: np.ndarray | None, kept_share: float) -> MarginCurve:
    choice = TimeChoice(kept_share)
    for time, coverage in _covered_times(walk, tau):
        walk.advance(time)
        choice.see(time, float(walk.margins(prior).mean()), coverage)
    walk.keep()
    return choice.curve


def _walk_to_best_time(
    walk: Walk, max_time: int, prior: np.ndarray | None, kept_share: float
) -> MarginCurve:
    choice = TimeChoice(kept_share)
    for time, coverage in _covered_times(walk, max_time):
        walk.advance(time)
        if choice.see(time, float(walk.margins(prior).mean()), coverage):
            walk.keep()
        if choice.is_over:
            break
    curve = choice.curve
    if not curve.is_covered:
        warnings.warn(
            f"by max_time = {max_time} the labels reach {curve.coverage[-1]:.1%} of what they "
            "could; raise max_time or n_neighbors",
            ConvergenceWarning,
            stacklevel=3,
        )
    return curve


def _covered_times(walk: Walk, max_time: int) -> list[tuple[int, float]]:
    """Return each time of the curve with the coverage that the labels have by then."""
    coverage = hop_coverage(walk.hops_to_cover())
    farthest = len(coverage) - 1
    return [(int(time), float(coverage[min(time, farthest)])) for time in curve_times(max_time)]


def _read_off(
    walk: Walk, classes: np.ndarray, prior: np.ndarray | None, tau: int, curve: MarginCurve
) -> LabelDiffusion:
    weight = walk.class_weight(prior)
    values = walk.values()
    posteriors, codes = posteriors_of(values, weight)
    codes[~walk.has_label[walk.operator.components]] = -1
    margin = walk.margins(prior)
    margin[codes < 0] = 0
    dtype = walk.operator.dtype
    return LabelDiffusion(
        classes, values.astype(dtype), posteriors.astype(dtype), margin.astype(dtype), codes,
        weight, tau, curve,
    )  # fmt: skip


def posteriors_of(values: np.ndarray, class_weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return p_i = w_i N_i / sum_j w_j N_j and the column of the largest, per point.

    Parameters
    ----------
    values : ndarray of shape (n, n_classes)
        N_i, at least 0.
    class_weight : ndarray of shape (n_classes,)
        w_i.

    Returns
    -------
    posteriors : ndarray of shape (n, n_classes)
        Uniform where all values are 0.
    codes : ndarray of int of shape (n,)
        -1 where all values are 0.
    """
    posteriors = values * class_weight
    total = posteriors.sum(axis=1)
    empty = total <= 0
    posteriors[empty] = 1
    total[empty] = posteriors.shape[1]
    posteriors /= total[:, None]
    codes = posteriors.argmax(axis=1)
    codes[empty] = -1
    return posteriors, codes


def _checked_weights(label_weight: Any, codes: np.ndarray) -> np.ndarray:
    if label_weight is None:
        return np.ones(len(codes))
    weight = np.asarray(label_weight, dtype=np.float64)
    if weight.shape != codes.shape:
        raise ParameterError(f"label_weight has shape {weight.shape}; y has {codes.shape}")
    used = weight[codes >= 0]
    if not ((used >= 0) & (used <= 1)).all():
        raise ParameterError("label_weight has to be between 0 and 1 at every label")
    if (np.bincount(codes[codes >= 0], used) == 0).any():
        raise ParameterError("label_weight is 0 for every label of some class; drop that class")
    return weight


def _checked_prior(class_prior: Any, n_classes: int) -> np.ndarray | None:
    if class_prior is None:
        return None
    if isinstance(class_prior, str):
        check_choice(class_prior, "class_prior", ("uniform",))
        return np.full(n_classes, 1 / n_classes)
    prior = np.asarray(class_prior, dtype=np.float64)
    if prior.shape != (n_classes,) or not (np.isfinite(prior) & (prior > 0)).all():
        raise ParameterError(
            f"class_prior needs one number above 0 for each of the {n_classes} classes"
        )
    prior = prior / prior.max()
    return prior / prior.sum()


def result_bytes(n_points: int, n_classes: int) -> int:
    """Return what a `LabelDiffusion` and one copy of it in single precision hold."""
    return 24 * n_points * n_classes


def diffusing_bytes(n_points: int, n_classes: int, *, warped: bool = False) -> int:
    """Return what a diffusion holds at most, its result included."""
    return (36 + 24 * warped) * n_points * n_classes
