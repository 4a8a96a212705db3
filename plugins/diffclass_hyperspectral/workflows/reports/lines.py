"""Accuracies with their intervals, as lines to read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def certainty_lines(certainty: Mapping[str, Any]) -> list[str]:
    """Return what `Certainty.to_dict` holds as lines to read."""
    lines = []
    for name in ("margin", "probability"):
        curve = certainty[name]
        if curve is None:
            continue
        summary = "" if curve["auc"] is None else f"; area under ROC {curve['auc']:.3f}"
        if "expected_calibration_error" in curve:
            summary += f"; expected calibration error {curve['expected_calibration_error']:.3f}"
        lines.append(f"share right by {name}{summary}")
        lines += [
            f"  {row['from']:.4f} to {row['to']:.4f}  "
            f"{with_span(row['accuracy'], row['interval']):>20}  of {row['n_points']} pixels"
            for row in curve["bins"]
        ]
    if certainty["thresholds"] is None:
        return lines
    lines.append("pixels below a margin made unknown: share that keeps a class, share of it right")
    lines += [
        f"  {row['threshold']:.4f}  {row['share']:>7.1%}  "
        f"{with_span(row['accuracy'], row['interval']):>20}  of {row['n_points']} pixels"
        for row in certainty["thresholds"]["rows"]
    ]
    return lines


def accuracy_lines(facts: Mapping[str, Any], by_blocks: Mapping[str, Any]) -> list[str]:
    """Write the overall accuracy by squares first: single pixels are not independent."""
    spans = facts["intervals"]
    kappa = float("nan") if facts["kappa"] is None else facts["kappa"]
    span = span_text(by_blocks["overall_accuracy"]) or "[unknown]"
    return [
        f"overall accuracy {facts['overall_accuracy']:.2%} {span}, the {spans['level']:.0%} "
        f"interval if the {by_blocks['n_blocks']} labelled squares of the picture are independent "
        "of each other",
        f"{spans['level']:.0%} intervals as if pixels were, here and below: overall accuracy "
        f"{span_text(spans['overall_accuracy'])}, average accuracy {facts['average_accuracy']:.2%} "
        f"{span_text(spans['average_accuracy'])}, kappa {kappa:.3f} "
        f"{span_text(spans['kappa'], '.3f')}",
    ]


def with_span(value: float | None, span: list[float] | None) -> str:
    """Write a share with its interval, "-" where it is not known."""
    if value is None or value != value:
        return "-"
    return f"{value:.1%} {span_text(span)}".rstrip()


def span_text(span: list[float] | None, form: str = "%") -> str:
    """Write an interval: percent without the sign, which comes before it, or numbers."""
    if span is None:
        return ""
    low, high = (f"{100 * x:.1f}" if form == "%" else f"{x:{form}}" for x in span)
    return f"[{low}, {high}]"
