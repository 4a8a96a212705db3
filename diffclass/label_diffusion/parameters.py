"""Parameters of label diffusion, checked before any work: the same in memory and in blocks."""

from __future__ import annotations

from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from diffclass._validation import check_choice, check_positive
from diffclass.exceptions import ParameterError
from diffclass.label_diffusion.stopping_time import RULES, kept_share, last_time

_MOST_STEPS = 10**6  # labels have settled long before, and each step is one over all edges


def check_tau(tau: int) -> None:
    """Raise `ParameterError` unless tau is a whole number of steps that a walk can take."""
    check_positive(tau, "tau", integer=True)
    if tau > _MOST_STEPS:
        raise ParameterError(
            f"tau = {tau}; labels settle long before so many steps: take at most {_MOST_STEPS}, "
            "or let a rule choose"
        )


def checked_times(
    tau: str | int, max_time: int | None, n_points: int, *, goes_by_cut: bool
) -> tuple[str | int, int]:
    """Return tau, and the last time that its rule looks at."""
    if isinstance(tau, str):
        check_choice(tau, "tau", RULES)
    else:
        check_tau(tau)
    if max_time is None:
        return tau, last_time(n_points, str(tau) if goes_by_cut else "margin")
    check_positive(max_time, "max_time", integer=True)
    return tau, max_time


def checked_share(share: float | None, label_mode: str, n_labels: float) -> float:
    """Return the share of the largest margin that tau has to keep."""
    if share is None:
        return kept_share(label_mode, n_labels)
    if not (isinstance(share, Real) and 0 < share <= 1):
        raise ParameterError(f"kept_share = {share!r}; it is a share above 0, up to 1")
    return float(share)


def checked_weights(label_weight: ArrayLike | None, codes: np.ndarray) -> np.ndarray:
    """Return the weights of the labels, of the shape of the codes."""
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


def checked_prior(class_prior: ArrayLike | None, n_classes: int) -> np.ndarray | None:
    """Return the expected shares of the classes, of sum 1."""
    if class_prior is None:
        return None
    if isinstance(class_prior, str):
        check_choice(class_prior, "class_prior", ("uniform",))
        return np.full(n_classes, 1 / n_classes)
    try:
        prior = np.asarray(class_prior, dtype=np.float64)
    except (TypeError, ValueError):
        prior = np.empty(0)
    if prior.shape != (n_classes,) or not (np.isfinite(prior) & (prior > 0)).all():
        raise ParameterError(
            f"class_prior needs one number above 0 for each of the {n_classes} classes"
        )
    prior = prior / prior.max()
    return prior / prior.sum()
