"""Parameters of label diffusion, checked before any work, and the rules that choose the time tau.

Rules look only at times at which the labels cover the graph, unless ``covered`` is false; until
then the latest time is best.

*Largest margin*: the margin of a point is the difference of its two largest posteriors, 0 where
nothing has arrived; M(t) is its mean over the points. M is largest while the walk has hardly moved;
the rule takes the *last* time that keeps a certain share of the largest margin. With the share 1
and without coverage, ``StoppingRule("margin", kept_share=1, covered=False)``, it is the rule of
Coifman et al. 2005, section 3: the time of the largest margin. On the tissue of their figure 5 that
time is a few steps, before the labels have come far (experiments/coifman_2005/figure_5.py).

*Auto* (the default) takes that time too, once for equal and once for balanced weights of the
classes, and the balanced map if its cut is clearly smaller (`diffclass.label_diffusion.maps`).
Where classes are mixed the margin falls soon, and the walk is short; where few labels have to fill
large clusters it holds for thousands of steps, and these are needed. The walk does not take its
last steps, a third of all, only to see that the margin has fallen too far: where another fall as
deep as the last would be too far, it ends (experiments/scaling/ends.py). Measured in
experiments/few_labels/tau.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from diffclass._validation import check_choice, check_kind, check_positive, check_share
from diffclass.exceptions import ParameterError
from diffclass.label_diffusion.class_sizes import ClassSizes
from diffclass.label_diffusion.labels import Labels
from diffclass.sizes import LONG_WALK_POINTS

RULES = ("auto", "margin")
LABEL_MODES = ("absorbing", "summed", "free", "free-l1")
LABEL_MODE_CHOICES = ("auto", *LABEL_MODES)
# Size times steps of the longest walk: 16,384 steps of 32,768 values, 1,024 of 65,536 points.
_LONGEST_WALK = {"auto": 2**29, "margin": 2**26}
_MOST_STEPS = 10**6  # labels have settled long before, and each step is one over all edges


@dataclass(frozen=True)
class StoppingRule:
    """How the time is chosen while labels diffuse, with limits of one's own.

    Parameters
    ----------
    by : {"auto", "margin"}, default="auto"
        By margin and cut, or by the margin alone; ``tau="auto"`` and ``tau="margin"`` are these
        rules with their own limits.
    max_time : int, optional
        Last time that the rule looks at. By default it is 16,384 for the absorbing labels of "auto"
        and 1,024 by the margin alone; on large graphs it falls to 256, see `last_time`.
    kept_share : float, optional
        Share of the largest margin, 0 to 1, that the time has to keep. By default see `kept_share`.
    covered : bool, default=True
        Whether the labels have to cover the graph by then. False, with the share 1 by the margin
        alone, is the rule of Coifman et al. 2005, section 3.

    Examples
    --------
    >>> from diffclass import DiffusionClassifier, StoppingRule
    >>> DiffusionClassifier(tau=StoppingRule("margin", kept_share=1)).tau.kept_share
    1
    """

    by: str = "auto"
    max_time: int | None = None
    kept_share: float | None = None
    covered: bool = True

    def limits(
        self, n_points: int, n_classes: int, *, usual_share: float, goes_by_cut: bool
    ) -> tuple[int, float]:
        """Return the last time and the share to keep: those given, or the usual ones."""
        rule, size = ("auto", n_points * n_classes) if goes_by_cut else ("margin", n_points)
        usual_time = last_time(size, rule)
        return (
            usual_time if self.max_time is None else self.max_time,
            usual_share if self.kept_share is None else float(self.kept_share),
        )


Tau: TypeAlias = str | int | StoppingRule


def last_time(size: int, rule: str = "margin") -> int:
    """Return the last time that a rule looks at by default, in steps.

    With "auto", where ``size`` is the number of points times that of classes, it is 16,384 up to a
    size of 32,768; few labels in large clusters need so many steps, elsewhere the walk ends with
    the margin. By the margin alone, where ``size`` is the number of points, it is 1,024 up to
    65,536. From there on it falls as 1 / size, so that the walk takes no longer, until it is 256.
    """
    longest = {"auto": 16_384, "margin": 1024}[rule]
    return int(np.clip(_LONGEST_WALK[rule] // size, 256, longest))


def kept_share(label_mode: str, n_labels: float) -> float:
    """Return the share of the largest margin, 0 to 1, that tau has to keep.

    With n labels per class it is 1 - 0.35 / sqrt(n) for free and summed labels, at most 0.8: one or
    two labels find their class only by the shape of its cluster, which takes time. (More than 0.8
    would suit many labels at random places, but not strokes, which are many labels in few places.)
    The margin of absorbing labels falls far more slowly: 1 - 0.6 / sqrt(n), at most 0.65. See
    experiments/few_labels/tau.py.
    """
    if label_mode == "absorbing":
        return min(0.65, float(1 - 0.6 / np.sqrt(n_labels)))
    return min(0.8, float(1 - 0.35 / np.sqrt(n_labels)))


def sum_end(tau: int, n_labels: float) -> int:
    """Return the step at which the sum ends: 3 tau, or 6 tau with one label per class.

    A single label has to reach all clusters of its class, which takes time. With more labels, late
    steps blur what the early ones found (experiments/few_labels/tau.py).
    """
    return tau * (6 if n_labels == 1 else 3)


def checked_rule(rule: str | StoppingRule) -> StoppingRule:
    """Return a rule whose limits are in range; raise `ParameterError` for anything else."""
    if not isinstance(rule, StoppingRule):
        return StoppingRule(check_choice(rule, "rule", RULES))
    return cast(StoppingRule, checked_tau(rule))


def checked_tau(tau: Tau) -> int | StoppingRule:
    """Return a number of steps, or a rule; that which a name stands for."""
    if isinstance(tau, str):
        return StoppingRule(check_choice(tau, "tau", RULES, other="a number of steps"))
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
    check_kind(tau.covered, "tau.covered", (bool, np.bool_), example="False")
    return tau


# tau of the summed labels that are tried with one label per class. Their sum is long, as in Poisson
# learning, which was made for so few. On large graphs it would take longer than all the rest.
SUMMED_TAU = 256


def check_kept_classes(kept_classes: int | None, label_mode: str) -> None:
    """Raise `ParameterError` for less than two classes, and labels that do not absorb the walk."""
    if kept_classes is None:
        return
    check_positive(kept_classes, "kept_classes", integer=True)
    if kept_classes < 2:
        raise ParameterError("kept_classes = 1 leaves no margin; keep at least 2")
    if label_mode not in ("auto", "absorbing"):
        raise ParameterError(
            f"kept_classes with label_mode={label_mode!r}, whose values are all about equal in the "
            "end; leave one of them out"
        )


@dataclass(frozen=True, eq=False)
class DiffusionRules:
    """How labels count, and how the time and the weights of the classes are chosen.

    They are the same wherever the columns lie.

    Attributes
    ----------
    label_mode : {"auto", "absorbing", "summed", "free", "free-l1"}
    tau : int or StoppingRule
    sizes : ClassSizes or None
        Least and most shares of the classes.
    per_class : float
        Median number of observations per class.
    is_large : bool
        Whether looks take long, so that they begin once the labels cover the graph.
    kept_classes : int or None
        Number of classes whose values each point keeps, the largest; None: of all.

    Examples
    --------
    With one label per class, a long sum is tried after the labels absorbed:

    >>> from diffclass.label_diffusion import DiffusionRules, Labels
    >>> rules = DiffusionRules.of(Labels.of(["soy", -1, -1, "corn"]))
    >>> rules.first_mode, rules.may_sum, rules.tau
    ('absorbing', True, StoppingRule(by='auto', max_time=None, kept_share=None, covered=True))
    """

    label_mode: str
    tau: int | StoppingRule
    sizes: ClassSizes | None
    per_class: float
    is_large: bool
    kept_classes: int | None = None

    @classmethod
    def of(
        cls,
        labels: Labels,
        *,
        label_mode: str = "auto",
        tau: Tau = "auto",
        class_prior: ArrayLike | None = None,
        kept_classes: int | None = None,
    ) -> DiffusionRules:
        """Check the parameters of a diffusion; see `diffclass.diffuse_labels`.

        Raises
        ------
        ParameterError
            If a name is unknown, a time below 1, sizes are of the wrong number or out of range, or
            labels that do not absorb the walk are to keep some classes only.
        """
        check_choice(label_mode, "label_mode", LABEL_MODE_CHOICES)
        check_kept_classes(kept_classes, label_mode)
        return cls(
            label_mode,
            checked_tau(tau),
            ClassSizes.of(class_prior, labels.n_classes),
            labels.per_class,
            labels.n_points > LONG_WALK_POINTS,
            kept_classes if kept_classes is None else int(kept_classes),
        )

    @property
    def first_mode(self) -> str:
        """How labels count in the first walk: with "auto" they absorb."""
        return "absorbing" if self.label_mode == "auto" else self.label_mode

    @property
    def may_sum(self) -> bool:
        """Whether summed labels are tried after absorbing ones, at a time that is allowed."""
        last = self.tau.max_time if isinstance(self.tau, StoppingRule) else None
        is_allowed = last is None or last >= SUMMED_TAU
        is_short = self.is_large or self.kept_classes is not None
        return is_allowed and self.label_mode == "auto" and self.per_class < 2 and not is_short

    @property
    def usual_share(self) -> float:
        """Share of the largest margin that tau has to keep, unless the rule states another."""
        return kept_share(self.first_mode, self.per_class)
