"""A class map against the truth, as lines to read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diffclass.evaluation import ClassMatch, Scores
from diffclass_hyperspectral.workflows.reports import accuracy_lines, with_span


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
        *accuracy_lines(facts, by_blocks),
        f"class  {'name':{width}}  {'recall':>20}  {'precision':>20}     true    found",
    ]
    for class_id, score in scores.per_class.items():
        span = spans["per_class"][str(class_id)]
        lines.append(
            f"{class_id:>5}  {names.get(class_id, ''):{width}}  "
            f"{with_span(score.recall, span['recall']):>20}  "
            f"{with_span(score.precision, span['precision']):>20}  "
            f"{score.n_true:>7}  {score.n_predicted:>7}"
        )
    return lines + _confusion_lines(scores)


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


def area_lines(areas: Mapping[str, Any], names: Mapping[int, str]) -> list[str]:
    """Return what `AreaEstimates.to_dict` holds as lines to read."""
    overall = areas["overall_accuracy"]
    lines = [
        f"areas corrected by {areas['n_points']} labelled pixels, as if drawn at random from each "
        "mapped class (Olofsson et al. 2014):",
        f"overall accuracy of the map {with_span(overall['value'], overall['interval'])}",
        "class  {:>32}  {:>21}  {:>21}  name".format(
            "pixels", "user's accuracy", "producer's accuracy"
        ),
    ]
    for class_id, found in areas["per_class"].items():
        area = found["area"]
        span = "" if area["interval"] is None else " [{:,.0f}, {:,.0f}]".format(*area["interval"])
        users, producers = (
            with_span(found[part]["value"], found[part]["interval"])
            for part in ("users_accuracy", "producers_accuracy")
        )
        shown = f"{area['value']:,.0f}{span}"
        name = names.get(int(class_id), "")
        lines.append(f"{class_id:>5}  {shown:>32}  {users:>21}  {producers:>21}  {name}")
    if areas["not_sampled"]:
        left_out = ", ".join(f"{i} ({size:,.0f})" for i, size in areas["not_sampled"].items())
        lines.append(f"left out, as none of their pixels are labelled: mapped classes {left_out}")
    return lines
