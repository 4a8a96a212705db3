"""Parameters of label diffusion, checked before any work: the same in memory and in blocks."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from diffclass._validation import check_choice, check_positive, check_share
from diffclass.exceptions import ParameterError
from diffclass.label_diffusion.stopping_time import RULES, StoppingRule, Tau

_MOST_STEPS = 10**6  # labels have settled long before, and each step is one over all edges


def checked_tau(tau: Tau) -> int | StoppingRule:
    """Return a number of steps, or a rule; that which a name stands for."""
    if isinstance(tau, str):
        return StoppingRule(check_choice(tau, "tau", RULES))
    if not isinstance(tau, StoppingRule):
        check_positive(tau, "tau", integer=True)
        if tau > _MOST_STEPS:
            raise ParameterError(
                f"tau = {tau}; labels settle long before so many steps: take at most "
                f"{_MOST_STEPS}, or let a rule choose"
            )
        return int(tau)
    check_choice(tau.by, "tau.by", RULES)
    if tau.max_time is not None:
        check_positive(tau.max_time, "tau.max_time", integer=True)
    if tau.kept_share is not None:
        check_share(tau.kept_share, "tau.kept_share", zero=False)
    return tau


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
