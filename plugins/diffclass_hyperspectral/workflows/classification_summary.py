"""What a user needs to know of a classification, on one screen; the rest is in the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from diffclass_hyperspectral.workflows.classification_report import ClassificationReport

MOST_LINES = 15
UNSURE = 0.1  # margins below it
_CLASS_LINES = 7
_NO_ACCURACY = (
    "unknown: no labels were held out; --labels-per-class N or --holdout blocks holds some out"
)


def summary_lines(
    report: ClassificationReport,
    files: Mapping[str, Path],
    *,
    n_unsure: int,
    pixel_area: float | None = None,
) -> list[str]:
    """Return at most 15 lines: accuracy, how sure the map is, the classes' areas, the files.

    Parameters
    ----------
    report : ClassificationReport
    files : mapping of str to Path
        What was written, by what it holds.
    n_unsure : int
        Pixels with data and a margin below 0.1.
    pixel_area : float, optional
        Square metres; without it areas are counted in pixels.
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
    if facts["unclassified"]:
        lines.append(f"unclassified  {_unclassified(facts)}")
    lines += _class_lines(facts["classes"], n_data, pixel_area)
    took = "" if seconds is None else f"  ({seconds:.1f} s)"
    lines.append(f"files         {', '.join(str(path) for path in files.values())}{took}")
    return lines


def _accuracies(facts: Mapping[str, Any]) -> list[str]:
    """Return one line, or two for the two ways in which labels were held out."""
    if "holdout" not in facts:
        return [_NO_ACCURACY]
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
    if "cleanup" in facts:
        parts.append((facts["cleanup"]["below_margin"], "below --min-margin"))
    told = ", ".join(f"{count:,} {what}" for count, what in parts if count)
    return f"{facts['unclassified']:,} pixels: {told}"


def _class_lines(
    classes: Sequence[Mapping[str, Any]], n_data: int, pixel_area: float | None
) -> list[str]:
    ordered = sorted(classes, key=lambda entry: -entry["pixels"])
    shown = ordered if len(ordered) <= _CLASS_LINES else ordered[: _CLASS_LINES - 1]
    rest = ordered[len(shown) :]
    rows = [
        (f"{entry['id']} {entry['name']}", entry["pixels"], entry.get("labels")) for entry in shown
    ]
    if rest:
        labels = [entry["labels"] for entry in rest if "labels" in entry]
        name = f"{len(rest)} smaller classes"
        rows.append((name, sum(e["pixels"] for e in rest), sum(labels) if labels else None))
    width = min(40, max(len("class"), *(len(name) for name, _, _ in rows)))
    unit = "" if pixel_area is None else f"  {'area':>12}"
    head = f"{'class':{width}}  {'pixels':>12}  {'share':>6}{unit}  {'labels':>7}"
    return [head.rstrip(), *(_row(row, width, n_data, pixel_area) for row in rows)]


def _row(
    row: tuple[str, int, int | None], width: int, n_data: int, pixel_area: float | None
) -> str:
    name, pixels, labels = row
    short = name if len(name) <= width else f"{name[: width - 3]}..."
    area = "" if pixel_area is None else f"  {area_text(pixels * pixel_area):>12}"
    fitted = "" if labels is None else f"  {labels:>7,}"
    return f"{short:{width}}  {pixels:>12,}  {_share(pixels, n_data):>6}{area}{fitted}"


def area_text(square_metres: float) -> str:
    """Return an area to read: "120 m2", "3.4 ha", "12.3 km2"."""
    if square_metres < 1e4:
        return f"{square_metres:,.0f} m2"
    if square_metres < 1e6:
        return f"{square_metres / 1e4:,.1f} ha"
    return f"{square_metres / 1e6:,.1f} km2"


def _share(count: int, whole: int) -> str:
    return f"{count / whole:.1%}" if whole else "-"
