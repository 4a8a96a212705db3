"""What margins and probabilities say about a map's accuracy, where the truth is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from diffclass.evaluation import (
    ReliabilityCurve,
    ThresholdTable,
    clustered_interval,
    default_thresholds,
    reliability_curve,
    threshold_table,
)
from diffclass.exceptions import DataError
from diffclass.jobs import Facts, written_as
from diffclass_hyperspectral.io.rasters import Raster, blocks_of
from diffclass_hyperspectral.jobs.evaluation.holdout import squares


def _with_error(curve: ReliabilityCurve) -> dict[str, Any]:
    return curve.to_dict() | {"expected_calibration_error": curve.expected_calibration_error}


@dataclass(frozen=True)
class Certainty(Facts):
    """Accuracy against the margin, against probabilities, and at each margin threshold.

    Curves are over the pixels of known truth that have a class. Thresholds have the share, of all
    pixels with data, that keeps a class.
    """

    margin: ReliabilityCurve | None = None
    probability: ReliabilityCurve | None = field(default=None, metadata=written_as(_with_error))
    thresholds: ThresholdTable | None = None


def measure_certainty(
    truth: np.ndarray,
    class_map: np.ndarray,
    margin: np.ndarray | None,
    *,
    probability: np.ndarray | None = None,
    min_margin: float = 0.0,
) -> Certainty:
    """Compare margins and probabilities of the class given with the truth (rows, columns).

    0 is unknown or no class, NaN no data; ``min_margin`` is a threshold to put into the table.
    `DataError`: margins are given, and no pixel of known truth has one.
    """
    right = truth == class_map
    by_margin, by_probability = (
        None if values is None else _reliability(truth, class_map, values)
        for values in (margin, probability)
    )
    if margin is None:
        return Certainty(probability=by_probability)
    has_margin = np.isfinite(margin)
    known = (truth > 0) & has_margin
    if not known.any():
        raise DataError("no pixel of known truth has a margin; give the margin of the same map")
    certainty = np.where(class_map > 0, margin, -np.inf)
    everyone = certainty[has_margin]
    limits = np.append(default_thresholds(everyone), min_margin)
    table = threshold_table(right[known], certainty[known], thresholds=limits, population=everyone)
    return Certainty(by_margin, by_probability, table)


def _reliability(
    truth: np.ndarray, class_map: np.ndarray, values: np.ndarray
) -> ReliabilityCurve | None:
    """Return how values tell right from wrong, over known pixels that have a class and a value."""
    known = (truth > 0) & (class_map > 0) & np.isfinite(values)
    return reliability_curve((truth == class_map)[known], values[known]) if known.any() else None


def describe_blocks(truth: np.ndarray, class_map: np.ndarray, known: np.ndarray) -> dict[str, Any]:
    """Return the 95 % interval of the overall accuracy with squares of the picture as independent.

    ``known`` says which pixels to compare; None for one square.
    """
    right = (truth == class_map)[known]
    found = clustered_interval(right, squares(truth.shape)[known])
    is_alone = found.n_clusters < 2
    return {
        "n_blocks": found.n_clusters,
        "overall_accuracy": None if is_alone else [found.lower, found.upper],
        "effective_n": None if is_alone else found.effective_n,
    }


def probability_of_class(
    class_map: np.ndarray, probabilities: Raster, class_ids: np.ndarray
) -> np.ndarray:
    """Return each pixel's probability (rows, columns, n_classes) of its class; NaN without one."""
    out = np.full(class_map.shape, np.nan, dtype=np.float32)
    for rows, block in blocks_of(probabilities):
        for layer, class_id in enumerate(class_ids):
            member = class_map[rows] == class_id
            out[rows][member] = block[..., layer][member]
    return out


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
