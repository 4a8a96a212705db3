"""The report of a classification as lines to read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diffclass_hyperspectral.workflows.reports import accuracy_lines, with_span


def report_lines(report: Mapping[str, Any]) -> list[str]:
    """Return the report of `diffclass classify` as lines to read."""
    lines = []
    if report.get("tau") is not None:
        curve = report["margin_curve"]
        lines.append(
            f"{report['label_mode']} labels, tau {report['tau']} steps; mean margin "
            f"{report['mean_margin']:.3f}, at most {max(curve['margin']):.3f}; labels covered "
            f"{curve['coverage'][-1]:.1%} of the graph by step {curve['times'][-1]}"
        )
    if report.get("crossing_recall") is not None:
        lines.append(
            f"{report['neighbor_recall']:.1%} of the true neighbours were found, and "
            f"{report['crossing_recall']:.1%} of the edges between blocks (at least "
            f"{report['crossing_bound']:.1%} are aimed at)"
        )
    for entry in report["classes"]:
        fitted = f", {entry['labels']} labels" if "labels" in entry else ""
        lines.append(f"{entry['id']:>5}  {entry['name']}: {entry['pixels']} pixels{fitted}")
    lines += _unclassified_lines(report)
    return lines + (_cost_lines(report) if "seconds" in report else [])


def _cost_lines(report: Mapping[str, Any]) -> list[str]:
    steps = _stages(report["peak_memory_by_stage"], 2**20, ".0f")
    return [
        "seconds: " + _stages(report["seconds"], 1, ".2f"),
        f"peak memory {report['peak_memory_bytes'] / 2**20:.0f} MiB (by the end of: {steps})",
    ]


def _stages(values: Mapping[str, float], unit: float, form: str) -> str:
    """Write values by stage, those of its parts ("stage: part") in brackets after it."""
    shown = []
    for name, value in values.items():
        if ": " in name:
            continue
        parts = [
            f"{part.removeprefix(name + ': ')} {amount / unit:{form}}"
            for part, amount in values.items()
            if part.startswith(name + ": ")
        ]
        inside = f" ({', '.join(parts)})" if parts else ""
        shown.append(f"{name} {value / unit:{form}}{inside}")
    return ", ".join(shown)


def _unclassified_lines(report: Mapping[str, Any]) -> list[str]:
    cleanup = report.get("cleanup")
    below = f", {cleanup['below_margin']} below the margin" if cleanup else ""
    lines = [
        f"unclassified {report['unclassified']} pixels: {report['missing']} without data, "
        f"{report['unreached']} that no label reaches{below}"
    ]
    if cleanup:
        lines.append(
            f"changed by the majority filter {cleanup['by_majority']} pixels, by the minimum area "
            f"{cleanup['by_min_area']}; {cleanup['small_segments_left']} smaller segments touch "
            "no other class"
        )
    return lines


def holdout_lines(holdout: Mapping[str, Any], names: Mapping[int, str]) -> list[str]:
    """Return one held-out score of the report of `diffclass classify` as lines to read."""
    spans = holdout["intervals"]
    apart = f", at least {holdout['gap_pixels']} pixels apart" if holdout["gap_pixels"] else ""
    lines = [
        f"held out ({holdout['kind']}{apart}): {holdout['n_points']} pixels, fitted on "
        f"{holdout['n_fit']}",
        *_gap_lines(holdout),
        *accuracy_lines(holdout, holdout["by_blocks"]),
    ]
    for class_id, score in holdout["per_class"].items():
        if not score["n_true"]:
            continue
        recall = with_span(score["recall"], spans["per_class"][class_id]["recall"])
        lines.append(
            f"{class_id:>5}  {names.get(int(class_id), '')}: {recall} of {score['n_true']} right"
        )
    if holdout["untested"]:
        missing = ", ".join(names.get(i, str(i)) for i in holdout["untested"])
        lines.append(f"not tested, as none of their pixels could be held out: {missing}")
    return lines


def _gap_lines(holdout: Mapping[str, Any]) -> list[str]:
    """Say what of the features crosses the gap, if any does, and why the gap is no larger."""
    if not holdout["weight_beyond_gap"]:
        return []
    full = holdout["full_gap_pixels"]
    cut = f" (less than 1% at {full} pixels, which would leave too little to test)"
    return [
        f"{holdout['weight_beyond_gap']:.1%} of what makes a pixel's features comes from so far or "
        f"farther{cut if full > holdout['gap_pixels'] else ''}"
    ]
