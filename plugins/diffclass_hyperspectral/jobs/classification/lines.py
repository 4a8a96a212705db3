"""A classification as lines to read: all of its report, or what fits on one screen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from diffclass.jobs import with_span
from diffclass_hyperspectral.jobs.evaluation import accuracy_lines

_AREA_UNITS = ((1e5, "m2", 1.0), (1e7, "ha", 1e4), (math.inf, "km2", 1e6))  # largest area below


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
    lines += report.get("class_sizes") or ()
    if report.get("crossing_recall") is not None:
        lines.append(
            f"{report['neighbor_recall']:.1%} of the true neighbours were found, and "
            f"{report['crossing_recall']:.1%} of the edges between blocks (at least "
            f"{report['crossing_bound']:.1%} are aimed at)"
        )
    for entry in report["classes"]:
        fitted = f", {entry['labels']} labels" if "labels" in entry else ""
        lines.append(f"{entry['id']:>5}  {entry['name']}: {entry['n_points']} pixels{fitted}")
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
        f"unclassified {report['unclassified']} pixels: {report['n_without_data']} without data, "
        f"{report['unreached']} that no label reaches{below}"
    ]
    if cleanup:
        lines.append(
            f"changed by the majority filter {cleanup['by_majority']} pixels, by the minimum area "
            f"{cleanup['by_min_area']}; {cleanup['small_segments_left']} smaller segments touch "
            "no other class"
        )
    if cleanup and "by_segments" in cleanup:
        lines.append(f"changed by the votes of segments {cleanup['by_segments']} pixels")
    return lines


def ambiguity_line(ambiguity: Mapping[str, Any]) -> str:
    """Return how many classes are possible, or that there are too few labels to tell."""
    level, highest = ambiguity["level"], ambiguity["highest_level"]
    if level > highest:
        shown = math.floor(1000 * highest) / 1000  # not up: it would be above what is possible
        if not highest:
            return (
                f"at level {level:g} all classes are possible everywhere: no label can be left out "
                "of the map, as of one label per class or a warped walk"
            )
        return (
            f"at level {level:g} so few labels tell nothing, and all classes are possible "
            f"everywhere; more labels, in more places, raise the highest level, {shown:g}"
        )
    return (
        f"at level {level:g} {ambiguity['single']:.1%} of the pixels have one possible class; "
        f"on average {ambiguity['mean_size']:.2f}"
    )


def stability_line(stability: Mapping[str, Any]) -> str:
    """Return how much of the map a second seed changes, or why none does."""
    if stability["exact_neighbors"]:
        return "no seed changes the map: all neighbours are exact"
    return f"a second seed changes {stability['changed']:.1%} of the pixels"


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


def area_texts(square_metres: Sequence[float]) -> list[str]:
    """Return areas to compare, all in one unit: "34.0 ha", "0.09 ha"."""
    largest = max(square_metres, default=0.0)
    unit, size = next((name, size) for below, name, size in _AREA_UNITS if largest < below)
    return [f"{_area(area / size, whole=size == 1)} {unit}" for area in square_metres]


def _area(value: float, *, whole: bool) -> str:
    if whole:
        return f"{value:,.0f}"
    return f"{value:.1g}" if 0 < value < 0.05 else f"{value:,.1f}"
