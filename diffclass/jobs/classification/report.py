"""What is said of classified points: classes, how sure they are, scores of held-out labels."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from diffclass.blocks import BlockClassifier
from diffclass.classifier import DiffusionClassifier
from diffclass.evaluation import Scores
from diffclass.jobs.reports import HIDDEN, IF_KNOWN, MERGED, Facts, RunReport, size_lines
from diffclass.jobs.written_sizes import sizes_in_words
from diffclass.label_diffusion import StoppingRule
from diffclass.operators import Warp

Classifier = DiffusionClassifier | BlockClassifier
Texts = Callable[[Sequence[int]], Sequence[str]]  # of sizes that are numbers of points
UNSURE = 0.1  # margins below it
_MOST_LINES = 15  # of a summary
_WHERE_WORK_IS_DONE = ("engine", "n_workers", "scratch")


@dataclass(frozen=True, kw_only=True)
class ClassFacts(Facts):
    """A class of points."""

    id: int | None = field(default=None, metadata=IF_KNOWN)  # where classes are numbered
    name: str
    n_points: int  # that were given this class
    # of its labels, those that it was fitted on; None where a model was applied
    labels: int | None = field(default=None, metadata=IF_KNOWN)

    @property
    def title(self) -> str:
        """What lines call it."""
        return self.name if self.id is None else f"{self.id} {self.name}"


@dataclass(frozen=True, kw_only=True)
class FitFacts(Facts):
    """How labels were diffused."""

    label_mode: str
    tau: int  # in steps
    margin_curve: Mapping[str, list[float]]  # "times", mean "margin" and "coverage" of the graph
    seed: int  # with which the labels were drawn
    labels_without_data: int  # not used
    neighbor_recall: float | None  # share of the true neighbours that were found
    crossing_recall: float | None = None  # share of the true edges between blocks; None in memory
    crossing_bound: float | None = None  # the least that is aimed at
    # of the classes, that each point keeps, and the mean share of the walk that this leaves out
    kept_classes: int | None = field(default=None, metadata=IF_KNOWN)
    dropped: float | None = field(default=None, metadata=IF_KNOWN)
    # labels of each class that all hints from elsewhere count as; None without any
    hints_worth: float | None = field(default=None, metadata=IF_KNOWN)
    # of the hints' map in the mean, where their accuracy was given and decides it
    hints_share: float | None = field(default=None, metadata=IF_KNOWN)
    # probability that the features count beside the graph; None where that was not asked for
    features_weight: float | None = field(default=None, metadata=IF_KNOWN)
    misses_bound: bool = field(default=False, metadata=HIDDEN)

    @classmethod
    def of(
        cls, classifier: Classifier, *, seed: int, labels_without_data: int, **more: Any
    ) -> Self:
        """Return what is known of a fitted classifier."""
        diffusion, curve = classifier.diffusion_, classifier.margin_curve_
        is_joined = not isinstance(classifier, BlockClassifier) or classifier.is_joined_
        dropped = getattr(diffusion, "dropped", None)
        return cls(
            label_mode=diffusion.label_mode,
            tau=int(classifier.tau_),
            margin_curve={
                "times": curve.times.tolist(),
                "margin": curve.margin.tolist(),
                "coverage": curve.coverage.tolist(),
            },
            seed=seed,
            labels_without_data=labels_without_data,
            **_recalls(classifier),
            kept_classes=getattr(diffusion, "kept_classes", None),
            dropped=None if dropped is None else float(dropped.mean()),
            hints_worth=_hints_worth(classifier),
            hints_share=getattr(classifier, "hint_share_", None),
            features_weight=features_weight(classifier),
            misses_bound=not (curve.is_covered and is_joined),
            **more,
        )


@dataclass(frozen=True, kw_only=True)
class HoldoutFacts(Facts):
    """Scores of classes on labels that were held out."""

    kind: str  # "random" or "blocks"
    n_fit: int  # labels that were fitted on
    scores: Scores = field(metadata=MERGED)

    @property
    def interval(self) -> Sequence[float] | None:
        """Of the overall accuracy; None where nothing tells it."""
        return self.scores.intervals()["overall_accuracy"]

    def accuracy(self) -> str:
        """Return the accuracy as a line says it."""
        span = self.interval
        shown = "" if span is None else f" [{100 * span[0]:.1f}, {100 * span[1]:.1f}]"
        kappa = self.scores.kappa
        known = "unknown" if math.isnan(kappa) else f"{kappa:.3f}"
        where = "in blocks of the picture" if self.kind == "blocks" else "at random"
        return (
            f"{self.scores.overall_accuracy:.1%}{shown} on {int(self.scores.confusion.sum()):,} "
            f"labels held out {where}; kappa {known}"
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassesReport(RunReport):
    """What is known about the classes of points; a kind of input adds what it alone has."""

    class_lines: ClassVar[int] = 12  # of a summary, at most
    where_unsure: ClassVar[str] = ""  # what else shows it

    # of a `PointSet`, which a map in blocks has not: what points are called, how many, how made
    facts: Mapping[str, Any] = field(metadata=MERGED)
    classes: tuple[ClassFacts, ...]
    unclassified: int  # also those without data
    unreached: int  # points with data that no label reaches
    unsure: int  # points with a margin below 0.1
    mean_margin: float | None  # over the points with data
    parameters: Mapping[str, Any]  # of the classifier
    class_sizes: tuple[str, ...] | None = field(default=None, metadata=IF_KNOWN)
    fit: FitFacts | None = field(default=None, metadata=MERGED)  # None where a model was applied

    @classmethod
    def of(
        cls,
        classifier: Classifier,
        facts: Mapping[str, Any],
        classes: Sequence[ClassFacts],
        margins: np.ndarray,
        *,
        fit: FitFacts | None,
        **more: Any,
    ) -> Self:
        """Return the report of classes, in the classifier's order, and the points' margins."""
        names, sizes = [c.name for c in classes], [c.n_points for c in classes]
        return cls(
            facts=facts,
            classes=tuple(classes),
            unsure=int(np.count_nonzero(margins < UNSURE)),
            mean_margin=float(margins.mean()) if len(margins) else None,
            parameters=_parameters_of(classifier),
            class_sizes=None
            if fit is None
            else met_sizes(classifier, names, sizes, facts["n_points"]),
            fit=fit,
            **more,
        )

    @property
    def misses_bound(self) -> bool:
        """Whether labels did not cover the graph in time, or blocks lack edges between them."""
        return self.fit is not None and self.fit.misses_bound

    @property
    def noun(self) -> str:
        """What the points are called."""
        return str(self.facts["points"])

    @abstractmethod
    def accuracies(self) -> list[str]:
        """Return what is known of the accuracy, a line for each way of holding labels out."""

    def asides(self) -> list[str]:
        """Return lines that one kind of input has alone, which stand after the unsure points."""
        return []

    def reasons(self) -> list[tuple[int, str]]:
        """Return why points have no class, with their numbers."""
        return [
            (self.facts["n_without_data"], "without data"),
            (self.unreached, "that no label reaches"),
        ]

    def summary(
        self, files: Mapping[str, Path], *, unit: str = "", sizes: Texts | None = None
    ) -> list[str]:
        """Return what fits on a screen: accuracy, how sure classes are, their sizes, the files.

        ``sizes`` writes numbers of points in a ``unit`` of their own.
        """
        n_points = self.facts["n_points"]
        more = "" if "margin" in files else self.where_unsure
        lines = [
            *(f"accuracy      {line}" for line in self.accuracies()),
            f"unsure        {share(self.unsure, n_points)} of the {self.noun} have a margin below "
            f"{UNSURE:g}{more}",
            *self.asides(),
            *size_lines(self.class_sizes),
            *self._fit_lines(),
        ]
        if self.unclassified:
            told = ", ".join(f"{count:,} {what}" for count, what in self.reasons() if count)
            lines.append(f"unclassified  {self.unclassified:,} {self.noun}: {told}")
        n_shown = min(self.class_lines, max(_MOST_LINES - 2 - len(lines), 1))
        lines += class_table(self.classes, self.noun, n_points, n_shown, unit=unit, sizes=sizes)
        took = "" if self.costs is None else f"  ({self.costs.seconds['total']:.1f} s)"
        shown = ", ".join(str(path) for path in files.values())
        return [*lines, *([f"files         {shown}{took}"] if files else [])]

    def _fit_lines(self) -> list[str]:
        lines = []
        if self.fit is not None and self.fit.hints_worth is not None:
            worth = f"{self.fit.hints_worth:.2g}"
            lines.append(f"scores        count as {worth} labels of each class")
        if self.fit is not None and self.fit.hints_share is not None:
            share_of = f"{self.fit.hints_share:.0%}, labels for {1 - self.fit.hints_share:.0%}"
            lines.append(f"scores        count for {share_of}, by the accuracy that was given")
        if self.fit is not None:
            lines += feature_lines(self.fit.features_weight)
        if self.fit is not None and self.fit.kept_classes is not None:
            lines.append(
                f"kept          the {self.fit.kept_classes} likeliest of {len(self.classes):,} "
                f"classes of each point, which leaves out {self.fit.dropped:.1%} of the walk on "
                "average"
            )
        return lines


def class_table(
    classes: Sequence[ClassFacts],
    noun: str,
    n_points: int,
    n_shown: int,
    *,
    unit: str = "",
    sizes: Texts | None = None,
) -> list[str]:
    """Return a line for each class, the largest first, in ``n_shown`` lines and a head."""
    ordered = sorted(classes, key=lambda one: -one.n_points)
    shown = ordered if len(ordered) <= n_shown else ordered[: n_shown - 1]
    rest = ordered[len(shown) :]
    rows = [(one.title, one.n_points, one.labels) for one in shown]
    if rest:
        labels = [one.labels for one in rest if one.labels is not None]
        total = sum(one.n_points for one in rest)
        rows.append((f"{len(rest)} smaller classes", total, sum(labels) if labels else None))
    texts = [""] * len(rows)
    if sizes is not None:
        texts = [f"  {text:>12}" for text in sizes([size for _, size, _ in rows])]
    width = min(40, max(len("class"), *(len(name) for name, _, _ in rows)))
    in_unit = "" if sizes is None else f"  {unit:>12}"
    lines = [f"{'class':{width}}  {noun:>12}  {'share':>6}{in_unit}  {'labels':>7}"]
    for (name, size, n_labels), text in zip(rows, texts, strict=True):
        short = name if len(name) <= width else f"{name[: width - 3]}..."
        fitted = "" if n_labels is None else f"  {n_labels:>7,}"
        lines.append(f"{short:{width}}  {size:>12,}  {share(size, n_points):>6}{text}{fitted}")
    return lines


def share(count: int, whole: int) -> str:
    """Return a share in per cent, as lines say it."""
    return f"{count / whole:.1%}" if whole else "-"


def feature_lines(weight: float | None) -> list[str]:
    """Return how much the features count as a line to read, none where the graph decides alone."""
    return [] if weight is None else [f"features      count with a probability of {weight:.0%}"]


def features_weight(classifier: Classifier) -> float | None:
    """Return the probability that the features count; None where the graph decides alone."""
    if not getattr(classifier, "joins_features", False):
        return None
    opinion = getattr(classifier, "feature_opinion_", None)
    return 0.0 if opinion is None else opinion.weight


def _hints_worth(classifier: Classifier) -> float | None:
    weight = getattr(classifier, "hint_weight_", None)
    if weight is None or getattr(classifier, "hint_share_", None) is not None:
        return None
    return float(weight * len(classifier.operator_) / len(classifier.classes_))


def _recalls(classifier: Classifier) -> dict[str, Any]:
    if not isinstance(classifier, BlockClassifier):
        return {"neighbor_recall": classifier.graph_.recall}
    crossing = {name: classifier.facts_[name] for name in ("crossing_recall", "crossing_bound")}
    return {"neighbor_recall": classifier.recall_} | crossing


def met_sizes(
    classifier: Classifier, names: Sequence[str], sizes: Sequence[int], n_points: int
) -> tuple[str, ...] | None:
    """Return what was asked of the classes' sizes, and what they have; None if nothing was."""
    prior = classifier.class_prior
    if prior is None:
        return None
    shares = [size / max(n_points, 1) for size in sizes]
    return sizes_in_words(prior, names, shares, classifier.diffusion_.weighting)


def _parameters_of(classifier: Classifier) -> dict[str, Any]:
    """Return the parameters of a classifier in values that JSON can hold."""
    values = classifier.get_params(deep=False)
    return {
        name: _plain(value) for name, value in values.items() if name not in _WHERE_WORK_IS_DONE
    }


def _plain(value: Any) -> Any:
    if isinstance(value, StoppingRule | Warp):
        return asdict(value)
    return value if isinstance(value, str | int | float | bool | None) else repr(value)
