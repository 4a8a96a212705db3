"""Parameters of label diffusion, checked before any work: the same in memory and in blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from diffclass._validation import check_choice, check_positive, check_share
from diffclass.exceptions import ParameterError
from diffclass.label_diffusion.labels import Labels
from diffclass.label_diffusion.stopping_time import RULES, StoppingRule, Tau, kept_share
from diffclass.sizes import LONG_WALK_POINTS

LABEL_MODES = ("absorbing", "summed", "free")
LABEL_MODE_CHOICES = ("auto", *LABEL_MODES)
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


@dataclass(frozen=True, eq=False)
class DiffusionRules:
    """How labels count, and how the time and the weights of the classes are chosen.

    They are the same wherever the columns lie.

    Attributes
    ----------
    label_mode : {"auto", "absorbing", "summed", "free"}
    tau : int or StoppingRule
    prior : ndarray of shape (n_classes,) or None
        Expected shares of the classes. Without them, weights may be balanced.
    per_class : float
        Labels per class; see `diffclass.targets.labels_per_class`.
    is_large : bool
        Whether steps take long, so that the walk ends where the margin has fallen below the share
        it has to keep, and is looked at only once the labels cover the graph.
    """

    label_mode: str
    tau: int | StoppingRule
    prior: np.ndarray | None
    per_class: float
    is_large: bool

    @classmethod
    def of(
        cls,
        labels: Labels,
        *,
        label_mode: str = "auto",
        tau: Tau = "auto",
        class_prior: ArrayLike | None = None,
    ) -> DiffusionRules:
        """Check the parameters of a diffusion; see `diffclass.diffuse_labels`.

        Raises
        ------
        ParameterError
            If a name is unknown, a time below 1, or a prior of the wrong shape or sign.
        """
        return cls(
            check_choice(label_mode, "label_mode", LABEL_MODE_CHOICES),
            checked_tau(tau),
            checked_prior(class_prior, labels.n_classes),
            labels.per_class,
            labels.n_points > LONG_WALK_POINTS,
        )

    @property
    def first_mode(self) -> str:
        """How labels count in the first walk: with "auto" they absorb."""
        return "absorbing" if self.label_mode == "auto" else self.label_mode

    @property
    def may_sum(self) -> bool:
        """Whether summed labels are tried after absorbing ones."""
        is_open = self.label_mode == "auto" and self.prior is None
        return is_open and self.per_class < 2 and not self.is_large

    @property
    def usual_share(self) -> float:
        """Share of the largest margin that tau has to keep, unless the rule states another."""
        return kept_share(self.first_mode, self.per_class)
