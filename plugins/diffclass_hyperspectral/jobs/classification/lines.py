"""A classification as lines to read: all of its report, or what fits on one screen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from diffclass.jobs import Facts, size_lines
from diffclass_hyperspectral.jobs.evaluation import accuracy_lines, with_span

UNSURE = 0.1  # margins below it
_MOST_LINES, _CLASS_LINES = 15, 7  # of the summary, and of its classes
_AREA_UNITS = ((1e5, "m2", 1.0), (1e7, "ha", 1e4), (math.inf, "km2", 1e6))  # largest area below
_FAR = "far from all that the model was fitted to, their classes are guesses"
_BY_MODEL = "unknown: a model was applied; diffclass evaluate compares the map with labels"
_NO_ACCURACY = (
    "unknown: no labels were held out; --labels-per-class N or --holdout blocks holds some out"
)


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


def summary_lines(
    report: Facts,
    files: Mapping[str, Path],
    *,
    n_unsure: int,
    pixel_area: float | None = None,
) -> list[str]:
    """Return at most 15 lines: accuracy, how sure the map is, the classes' areas, the files.

    ``n_unsure`` pixels have a margin below 0.1; without ``pixel_area``, in square metres, areas are
    counted in pixels.
    """
    facts = report.to_dict()
    n_pixels = sum(entry["pixels"] for entry in facts["classes"]) + facts["unclassified"]
    n_data = n_pixels - facts["missing"]
    lines = [f"accuracy      {line}" for line in _accuracies(facts)]
    seconds = facts["seconds"]["total"] if "seconds" in facts else None
    lines.append(
        f"unsure        {_share(n_unsure, n_data)} of the pixels have a margin below {UNSURE:g}"
        + ("" if "margin" in files else "; --margin FILE shows where")
    )
    if "stability" in facts:
        lines.append(f"stability     {stability_line(facts['stability'])}")
    if "ambiguity" in facts:
        lines.append(f"possible      {ambiguity_line(facts['ambiguity'])}")
    lines += size_lines(facts.get("class_sizes"))
    if "hints_worth" in facts:
        lines.append(f"scores        count as {facts['hints_worth']:.2g} labels of each class")
    if facts["unclassified"]:
        lines.append(f"unclassified  {_unclassified(facts)}")
    if facts.get("beyond_classified") and facts["beyond_reach"]:
        lines.append(f"beyond reach  {_share(facts['beyond_reach'], n_data)} of the pixels: {_FAR}")
    n_shown = min(_CLASS_LINES, _MOST_LINES - 2 - len(lines))  # a head before, the files after
    lines += _class_lines(facts["classes"], n_data, pixel_area, n_shown)
    took = "" if seconds is None else f"  ({seconds:.1f} s)"
    lines.append(f"files         {', '.join(str(path) for path in files.values())}{took}")
    return lines


def _accuracies(facts: Mapping[str, Any]) -> list[str]:
    """Return one line, or two for the two ways in which labels were held out."""
    if "holdout" not in facts:
        return [_BY_MODEL if "model" in facts else _NO_ACCURACY]
    return [_accuracy(facts[name]) for name in ("holdout", "other_holdout") if name in facts]


def _accuracy(holdout: Mapping[str, Any]) -> str:
    where = "in blocks of the picture" if holdout["kind"] == "blocks" else "at random"
    if "failed" in holdout:
        return f"{where}: not possible: {holdout['failed']}"
    span = holdout["by_blocks"]["overall_accuracy"]
    interval = "" if span is None else f" [{100 * span[0]:.1f}, {100 * span[1]:.1f}]"
    return (
        f"{holdout['overall_accuracy']:.1%}{interval} on {holdout['n_points']:,} labels held out "
        f"{where}; kappa {_number(holdout['kappa'])}"
    )


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3f}"


def _unclassified(facts: Mapping[str, Any]) -> str:
    parts = [(facts["missing"], "without data"), (facts["unreached"], "that no label reaches")]
    if not facts.get("beyond_classified", True):
        parts.append((facts["beyond_reach"], "beyond the reach of the model's pixels"))
    if "cleanup" in facts:
        parts.append((facts["cleanup"]["below_margin"], "below --min-margin"))
    told = ", ".join(f"{count:,} {what}" for count, what in parts if count)
    return f"{facts['unclassified']:,} pixels: {told}"


def _class_lines(
    classes: Sequence[Mapping[str, Any]], n_data: int, pixel_area: float | None, n_shown: int
) -> list[str]:
    ordered = sorted(classes, key=lambda entry: -entry["pixels"])
    shown = ordered if len(ordered) <= n_shown else ordered[: n_shown - 1]
    rest = ordered[len(shown) :]
    rows = [
        (f"{entry['id']} {entry['name']}", entry["pixels"], entry.get("labels")) for entry in shown
    ]
    if rest:
        labels = [entry["labels"] for entry in rest if "labels" in entry]
        name = f"{len(rest)} smaller classes"
        rows.append((name, sum(e["pixels"] for e in rest), sum(labels) if labels else None))
    areas = [""] * len(rows)
    if pixel_area is not None:
        texts = area_texts([pixels * pixel_area for _, pixels, _ in rows])
        areas = [f"  {text:>12}" for text in texts]
    width = min(40, max(len("class"), *(len(name) for name, _, _ in rows)))
    unit = "" if pixel_area is None else f"  {'area':>12}"
    head = f"{'class':{width}}  {'pixels':>12}  {'share':>6}{unit}  {'labels':>7}"
    pairs = zip(rows, areas, strict=True)
    return [head.rstrip(), *(_row(row, width, n_data, area) for row, area in pairs)]


def _row(row: tuple[str, int, int | None], width: int, n_data: int, area: str) -> str:
    name, pixels, labels = row
    short = name if len(name) <= width else f"{name[: width - 3]}..."
    fitted = "" if labels is None else f"  {labels:>7,}"
    return f"{short:{width}}  {pixels:>12,}  {_share(pixels, n_data):>6}{area}{fitted}"


def area_texts(square_metres: Sequence[float]) -> list[str]:
    """Return areas to compare, all in one unit: "34.0 ha", "0.09 ha"."""
    largest = max(square_metres, default=0.0)
    unit, size = next((name, size) for below, name, size in _AREA_UNITS if largest < below)
    return [f"{_area(area / size, whole=size == 1)} {unit}" for area in square_metres]


def _area(value: float, *, whole: bool) -> str:
    if whole:
        return f"{value:,.0f}"
    return f"{value:.1g}" if 0 < value < 0.05 else f"{value:,.1f}"


def _share(count: int, whole: int) -> str:
    return f"{count / whole:.1%}" if whole else "-"
