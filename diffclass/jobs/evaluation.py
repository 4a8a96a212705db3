"""What is said of classes that are compared with the truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from diffclass.evaluation import (
    ReliabilityCurve,
    Scores,
    ThresholdTable,
    default_thresholds,
    reliability_curve,
    threshold_table,
)
from diffclass.exceptions import DataError
from diffclass.jobs.reports import HIDDEN, MERGED, Facts, written_as

_MOST = 50  # classes in lines
_NAME = 12  # letters of a class in the head of the confusion matrix


def _with_error(curve: ReliabilityCurve) -> dict[str, Any]:
    return curve.to_dict() | {"expected_calibration_error": curve.expected_calibration_error}


@dataclass(frozen=True)
class Certainty(Facts):
    """Accuracy against the margin, against probabilities, and at each margin threshold.

    Curves are over the points of known truth that have a class. Thresholds have the share, of all
    points with data, that keeps a class.
    """

    margin: ReliabilityCurve | None = None
    probability: ReliabilityCurve | None = field(default=None, metadata=written_as(_with_error))
    thresholds: ThresholdTable | None = None

    def lines(self, noun: str) -> list[str]:
        """Return the curves and the thresholds as lines to read."""
        facts = self.to_dict()
        lines = []
        for name in ("margin", "probability"):
            curve = facts[name]
            if curve is None:
                continue
            summary = "" if curve["auc"] is None else f"; area under ROC {curve['auc']:.3f}"
            if "expected_calibration_error" in curve:
                error = curve["expected_calibration_error"]
                summary += f"; expected calibration error {error:.3f}"
            lines.append(f"share right by {name}{summary}")
            lines += [
                f"  {row['from']:.4f} to {row['to']:.4f}  {_accuracy(row)} {noun}"
                for row in curve["bins"]
            ]
        if self.thresholds is None:
            return lines
        lines.append(
            f"{noun} below a margin made unknown: share that keeps a class, share of it right"
        )
        return lines + [
            f"  {row['threshold']:.4f}  {row['share']:>7.1%}  {_accuracy(row)} {noun}"
            for row in facts["thresholds"]["rows"]
        ]


def _accuracy(row: Mapping[str, Any]) -> str:
    return f"{with_span(row['accuracy'], row['interval']):>20}  of {row['n_points']}"


def measure_certainty(
    right: np.ndarray,
    known: np.ndarray,
    has_class: np.ndarray,
    margin: np.ndarray | None,
    *,
    probability: np.ndarray | None = None,
    min_margin: float = 0.0,
) -> Certainty:
    """Tell how well margins and probabilities of the classes found tell right from wrong.

    All are of one shape: whether the class is that of the truth, which is known, and whether there
    is one; margins and probabilities are NaN without data. ``min_margin`` is a threshold to put
    into the table. `DataError`: margins are given, and no point of known truth has one.
    """
    curves: dict[str, Any] = {}
    for name, values in (("margin", margin), ("probability", probability)):
        if values is not None:
            told = known & has_class & np.isfinite(values)
            curves[name] = reliability_curve(right[told], values[told]) if told.any() else None
    if margin is None:
        return Certainty(**curves)
    has_margin = np.isfinite(margin)
    known = known & has_margin
    if not known.any():
        raise DataError(
            "no point of known truth has a margin; give the margins of the same classes"
        )
    certainty = np.where(has_class, margin, -np.inf)
    everyone = certainty[has_margin]
    limits = np.append(default_thresholds(everyone), min_margin)
    table = threshold_table(right[known], certainty[known], thresholds=limits, population=everyone)
    return Certainty(**curves, thresholds=table)


@dataclass(frozen=True, eq=False, kw_only=True)
class EvaluationReport(Facts):
    """How far classes agree with the truth; a kind of input adds what it alone has.

    Attributes
    ----------
    scores : Scores
    unclassified : int
        Of the points compared, which count as wrong.
    certainty : Certainty
        Accuracy against margins and probabilities, where they were given.
    noun : str
        What points are called.
    """

    head: ClassVar[str] = "class"  # of the column of classes

    scores: Scores = field(metadata=MERGED)
    unclassified: int
    certainty: Certainty = field(metadata=MERGED)
    noun: str = field(metadata=HIDDEN)

    def title(self, value: Any) -> str:
        """Return what lines call a class."""
        return str(value) or "Unclassified"

    def lines(self) -> list[str]:
        """Return scores, classes, confusion and certainty as lines to read."""
        scores = [*self.accuracy_lines(), *self._class_lines(), *self._confusion_lines()]
        return scores + self.certainty.lines(self.noun)

    def accuracy_lines(self) -> list[str]:
        """Return how many are right."""
        facts = self.scores.to_dict()
        span = span_text(facts["intervals"]["overall_accuracy"])
        none = f", of which {self.unclassified:,} have no class" if self.unclassified else ""
        return [
            f"overall accuracy {facts['overall_accuracy']:.2%} {span}, {other_accuracies(facts)} "
            f"over {facts['n_points']:,} {self.noun}{none}"
        ]

    def _class_lines(self) -> list[str]:
        spans = self.scores.to_dict()["intervals"]["per_class"]
        shown = list(self.scores.per_class.items())[:_MOST]
        width = max(len(self.head), *(len(self.title(value)) for value, _ in shown))
        lines = [f"{self.head:{width}}  {'recall':>20}  {'precision':>20}     true    found"]
        for value, score in shown:
            span = spans[str(value)]
            lines.append(
                f"{self.title(value):{width}}  {with_span(score.recall, span['recall']):>20}  "
                f"{with_span(score.precision, span['precision']):>20}  "
                f"{score.n_true:>7}  {score.n_predicted:>7}"
            )
        n_more = len(self.scores.per_class) - len(shown)
        more = f"and {n_more} more classes, and the confusion matrix; --report FILE has them all"
        return [*lines, *([more] if n_more else [])]

    def _confusion_lines(self) -> list[str]:
        if len(self.scores.classes) > _MOST:
            return []
        cells = self.scores.confusion.astype(str).tolist()
        heads = [str(value)[:_NAME] or "none" for value in self.scores.classes.tolist()]
        width = max(len(text) for row in [heads, *cells] for text in row) + 2
        first = max(7, *map(len, heads))
        lines = ["confusion (rows: true classes, columns: classes found)"]
        lines.append(" " * first + "".join(f"{text:>{width}}" for text in heads))
        n_true = self.scores.confusion.sum(axis=1).tolist()
        for name, row, n in zip(heads, cells, n_true, strict=True):
            if n:
                lines.append(f"{name:>{first}}" + "".join(f"{text:>{width}}" for text in row))
        return lines


def other_accuracies(facts: Mapping[str, Any]) -> str:
    """Return the average accuracy and kappa of `Scores.to_dict` with their intervals."""
    spans = facts["intervals"]
    kappa = float("nan") if facts["kappa"] is None else facts["kappa"]
    return (
        f"average accuracy {facts['average_accuracy']:.2%} {span_text(spans['average_accuracy'])}, "
        f"kappa {kappa:.3f} {span_text(spans['kappa'], '.3f')}"
    )


def with_span(value: float | None, span: Sequence[float] | None) -> str:
    """Write a share with its interval, "-" where it is not known."""
    if value is None or value != value:
        return "-"
    return f"{value:.1%} {span_text(span)}".rstrip()


def span_text(span: Sequence[float] | None, form: str = "%") -> str:
    """Write an interval: percent without the sign, which comes before it, or numbers."""
    if span is None:
        return ""
    low, high = (f"{100 * x:.1f}" if form == "%" else f"{x:{form}}" for x in span)
    return f"[{low}, {high}]"
