"""Reports as lines to read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diffclass.evaluation import ClassMatch, Scores


def score_lines(
    scores: Scores, by_blocks: Mapping[str, Any], names: Mapping[int, str]
) -> list[str]:
    """Return scores with their intervals and the confusion matrix as lines to read.

    Parameters
    ----------
    scores : Scores
    by_blocks : mapping
        Of `describe_blocks`.
    names : mapping of int to str
        Names of the classes by id.
    """
    width = max([5, *(len(str(names.get(c, c))) for c in scores.per_class)])
    facts = scores.to_dict()
    spans = facts["intervals"]
    lines = [
        *_accuracy_lines(facts, by_blocks),
        f"class  {'name':{width}}  {'recall':>20}  {'precision':>20}     true    found",
    ]
    for class_id, score in scores.per_class.items():
        span = spans["per_class"][str(class_id)]
        lines.append(
            f"{class_id:>5}  {names.get(class_id, ''):{width}}  "
            f"{_with_span(score.recall, span['recall']):>20}  "
            f"{_with_span(score.precision, span['precision']):>20}  "
            f"{score.n_true:>7}  {score.n_predicted:>7}"
        )
    return lines + _confusion_lines(scores)


def match_lines(match: ClassMatch, names: Mapping[int, str]) -> list[str]:
    """Say which class of the truth is which of the map, where it is not the one of its id."""
    lines = []
    warning = match_warning(match)
    if warning is not None:
        lines.append(f"warning: {warning}")
    pairs = match.pairs_in_words()
    if match.by == "overlap":
        by_ids = match.agreement["ids"] or 0.0
        lines.append(
            f"classes matched by best overlap, so that all figures are upper bounds (by id "
            f"{by_ids:.1%} agree); of the truth's classes {pairs or 'none'}"
        )
    elif match.by == "names" and any(i != j for i, j in match.assignment.items()):
        lines.append(f"classes matched by name; of the truth's classes {pairs}")
    apart = match.apart()
    if apart and (match.by != "ids" or warning is not None):
        lost = ", ".join(names[i] for i in apart.values())
        lines.append(f"classes of the truth that are none of the map's, and count as wrong: {lost}")
    return lines


def match_warning(match: ClassMatch) -> str | None:
    """Say that another assignment agrees far better, or that ids pair classes of other names."""
    if match.by == "ids" and match.renames and not match.is_contradicted:
        return f"classes are matched by id, although their names differ: {match.pairs_in_words()}"
    if not match.is_contradicted:
        return None
    found, best = (match.agreement[rule] or 0.0 for rule in (match.by, "overlap"))
    by = {"ids": "id", "names": "name"}[match.by]
    by_names = match.agreement["names"] or 0.0
    rule = "names" if match.by == "ids" and 2 * by_names > found + best else "overlap"
    return (
        f"by {by} only {found:.1%} agree, but {best:.1%} where {match.pairs_in_words('overlap')}: "
        f"truth and map seem to number their classes differently; if they do, --match {rule}"
    )


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
            f"{_with_span(row['accuracy'], row['interval']):>20}  of {row['n_points']} pixels"
            for row in curve["bins"]
        ]
    if certainty["thresholds"] is None:
        return lines
    lines.append("pixels below a margin made unknown: share that keeps a class, share of it right")
    lines += [
        f"  {row['threshold']:.4f}  {row['share']:>7.1%}  "
        f"{_with_span(row['accuracy'], row['interval']):>20}  of {row['n_points']} pixels"
        for row in certainty["thresholds"]["rows"]
    ]
    return lines


def area_lines(areas: Mapping[str, Any], names: Mapping[int, str]) -> list[str]:
    """Return what `AreaEstimates.to_dict` holds as lines to read."""
    overall = areas["overall_accuracy"]
    lines = [
        f"areas corrected by {areas['n_points']} labelled pixels, as if drawn at random from each "
        "mapped class (Olofsson et al. 2014):",
        f"overall accuracy of the map {_with_span(overall['value'], overall['interval'])}",
        "class  {:>32}  {:>21}  {:>21}  name".format(
            "pixels", "user's accuracy", "producer's accuracy"
        ),
    ]
    for class_id, found in areas["per_class"].items():
        area = found["area"]
        span = "" if area["interval"] is None else " [{:,.0f}, {:,.0f}]".format(*area["interval"])
        users, producers = (
            _with_span(found[part]["value"], found[part]["interval"])
            for part in ("users_accuracy", "producers_accuracy")
        )
        shown = f"{area['value']:,.0f}{span}"
        name = names.get(int(class_id), "")
        lines.append(f"{class_id:>5}  {shown:>32}  {users:>21}  {producers:>21}  {name}")
    if areas["not_sampled"]:
        left_out = ", ".join(f"{i} ({size:,.0f})" for i, size in areas["not_sampled"].items())
        lines.append(f"left out, as none of their pixels are labelled: mapped classes {left_out}")
    return lines


def holdout_lines(holdout: Mapping[str, Any], names: Mapping[int, str]) -> list[str]:
    """Return one held-out score of the report of `diffclass classify` as lines to read."""
    spans = holdout["intervals"]
    apart = f", at least {holdout['gap_pixels']} pixels apart" if holdout["gap_pixels"] else ""
    lines = [
        f"held out ({holdout['kind']}{apart}): {holdout['n_points']} pixels, fitted on "
        f"{holdout['n_fit']}",
        *_gap_lines(holdout),
        *_accuracy_lines(holdout, holdout["by_blocks"]),
    ]
    for class_id, score in holdout["per_class"].items():
        if not score["n_true"]:
            continue
        recall = _with_span(score["recall"], spans["per_class"][class_id]["recall"])
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


def _accuracy_lines(facts: Mapping[str, Any], by_blocks: Mapping[str, Any]) -> list[str]:
    """Write the overall accuracy by squares first: single pixels are not independent."""
    spans = facts["intervals"]
    kappa = float("nan") if facts["kappa"] is None else facts["kappa"]
    span = _span(by_blocks["overall_accuracy"]) or "[unknown]"
    return [
        f"overall accuracy {facts['overall_accuracy']:.2%} {span}, the {spans['level']:.0%} "
        f"interval if the {by_blocks['n_blocks']} labelled squares of the picture are independent "
        "of each other",
        f"{spans['level']:.0%} intervals as if pixels were, here and below: overall accuracy "
        f"{_span(spans['overall_accuracy'])}, average accuracy {facts['average_accuracy']:.2%} "
        f"{_span(spans['average_accuracy'])}, kappa {kappa:.3f} {_span(spans['kappa'], '.3f')}",
    ]


def _confusion_lines(scores: Scores) -> list[str]:
    cells = scores.confusion.astype(str).tolist()
    ids = [str(value) for value in scores.classes.tolist()]
    width = max(len(text) for row in [ids, *cells] for text in row) + 2
    lines = ["confusion (rows: true classes, columns: classes of the map)"]
    lines.append(" " * 7 + "".join(f"{text:>{width}}" for text in ids))
    n_true = scores.confusion.sum(axis=1).tolist()
    for name, row, n in zip(ids, cells, n_true, strict=True):
        if n:
            lines.append(f"{name:>7}" + "".join(f"{text:>{width}}" for text in row))
    return lines


def _with_span(value: float | None, span: list[float] | None) -> str:
    if value is None or value != value:
        return "-"
    return f"{value:.1%} {_span(span)}".rstrip()


def _span(span: list[float] | None, form: str = "%") -> str:
    """Write an interval: percent without the sign, which comes before it, or numbers."""
    if span is None:
        return ""
    low, high = (f"{100 * x:.1f}" if form == "%" else f"{x:{form}}" for x in span)
    return f"[{low}, {high}]"
