"""Reports of a classification: JSON for programs, lines for people."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from diffclass.evaluation import Scores
from diffclass.output import replacing


def write_json(
    path: str | os.PathLike[str], content: Mapping[str, Any], *, overwrite: bool = False
) -> None:
    """Write a mapping as JSON, whole or not at all."""
    with replacing(path, overwrite=overwrite) as temporary:
        Path(temporary).write_text(json.dumps(content, indent=1, allow_nan=False) + "\n")


def score_lines(scores: Scores, names: Mapping[int, str]) -> list[str]:
    """Return scores as a small table.

    Parameters
    ----------
    scores : Scores
    names : mapping of int to str
        Names of the classes by id.
    """
    width = max([5, *(len(str(names.get(c, c))) for c in scores.per_class)])
    lines = [
        f"overall accuracy {scores.overall_accuracy:.2%}, average accuracy "
        f"{scores.average_accuracy:.2%}, kappa {scores.kappa:.3f}",
        f"class  {'name':{width}}   recall  precision     true    found",
    ]
    for class_id, score in scores.per_class.items():
        lines.append(
            f"{class_id:>5}  {names.get(class_id, ''):{width}}  {_percent(score.recall):>7}  "
            f"{_percent(score.precision):>9}  {score.n_true:>7}  {score.n_predicted:>7}"
        )
    return lines


def report_lines(report: Mapping[str, Any]) -> list[str]:
    """Return the report of `diffclass classify` as lines to read."""
    lines = []
    if report.get("tau") is not None:
        curve = report["margin_curve"]
        lines.append(
            f"tau {report['tau']} steps; mean margin {report['mean_margin']:.3f}, at most "
            f"{max(curve['margin']):.3f}; labels covered {curve['coverage'][-1]:.1%} of the graph "
            f"by step {curve['times'][-1]}"
        )
    for entry in report["classes"]:
        fitted = f", {entry['labels']} labels" if "labels" in entry else ""
        lines.append(f"{entry['id']:>5}  {entry['name']}: {entry['pixels']} pixels{fitted}")
    lines.append(
        f"unclassified {report['unclassified']} pixels: {report['missing']} without data, "
        f"{report['unreached']} that no label reaches"
    )
    stages = ", ".join(f"{name} {seconds:.2f}" for name, seconds in report["seconds"].items())
    lines.append(f"seconds: {stages}")
    peaks = report["peak_memory_by_stage"].items()
    steps = ", ".join(f"{name} {size / 2**20:.0f}" for name, size in peaks)
    lines.append(
        f"peak memory {report['peak_memory_bytes'] / 2**20:.0f} MiB (by the end of: {steps})"
    )
    return lines


def _percent(value: float) -> str:
    return "-" if value != value else f"{value:.1%}"
