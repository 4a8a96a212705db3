"""A class map against the truth: scores, reliability of its margins, class areas, lines."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from diffclass.evaluation import (
    AreaEstimates,
    ClassMatch,
    Scores,  # noqa: F401  of an inherited field, for the reference
    classification_scores,
    match_classes,
    stratified_areas,
)
from diffclass.exceptions import DataError
from diffclass.jobs import (
    HIDDEN,
    Certainty,  # noqa: F401  likewise
    EvaluationReport,
    measure_certainty,
    with_span,
    written_as,
)
from diffclass.options import check_options
from diffclass.plots import plot_evaluation
from diffclass.system.output import replacing
from diffclass_hyperspectral.io.labels import UNCLASSIFIED, LabelImage, default_name
from diffclass_hyperspectral.jobs.evaluation.holdout import pixels_from
from diffclass_hyperspectral.jobs.evaluation.maps_on_disk import (
    MapRaster,
    check_size,
    read_map_raster,
)
from diffclass_hyperspectral.jobs.evaluation.squares import accuracy_lines, describe_blocks
from diffclass_hyperspectral.options import OPTIONS


def _with_warning(match: ClassMatch) -> dict[str, Any]:
    return match.to_dict() | {"warning": match_warning(match)}


@dataclass(frozen=True, eq=False, kw_only=True)
class MapEvaluation(EvaluationReport):
    """What is known about a class map, besides what every evaluation tells.

    Attributes
    ----------
    names : dict of int to str
        Names of the classes by the map's ids; classes of the truth alone have ids of their own.
    match : ClassMatch
        Which class of the truth is which of the map.
    by_blocks : dict
        Interval of the overall accuracy with squares of the picture as independent.
    areas : AreaEstimates or None
        None if they were not asked for.
    """

    head: ClassVar[str] = "class  name"

    names: dict[int, str] = field(metadata=HIDDEN)
    match: ClassMatch = field(metadata=written_as(_with_warning))
    by_blocks: dict[str, Any]
    areas: AreaEstimates | None = None

    @property
    def warning(self) -> str | None:
        """What is to be said before any figure is believed."""
        return match_warning(self.match)

    def lines(self) -> list[str]:
        """Return the scores as lines to read."""
        lines = [*match_lines(self.match, self.names), *super().lines()]
        areas = self.areas
        return lines if areas is None else lines + area_lines(areas.to_dict(), self.names)

    def title(self, value: Any) -> str:
        """Return the id and the name of a class."""
        return f"{value:>5}  {self.names.get(value, '')}"

    def accuracy_lines(self) -> list[str]:
        """Return how many are right, by squares of the picture first."""
        return accuracy_lines(self.scores.to_dict(), self.by_blocks)


def evaluate_map(
    found: LabelImage,
    truth: LabelImage,
    *,
    margin: Path | MapRaster | None = None,
    probability: Path | MapRaster | None = None,
    fitted: LabelImage | None = None,
    gap: int = 1,
    areas: bool = False,
    match: str | None = None,
) -> MapEvaluation:
    """Compare a class map with the truth, where that is labelled.

    Parameters
    ----------
    found, truth : LabelImage
        Of the same size.
    margin, probability : Path or MapRaster, optional
        Rasters that belong to the map: one band, and one band per class.
    fitted : LabelImage, optional
        Pixels to leave out of the truth.
    gap : int, default=1
        Pixels nearer to these are left out too, in rows or columns, whichever are more.
    areas : bool, default=False
        Whether to estimate class areas; if margins are given, pixels without a
        margin are left out.
    match : {"names", "ids", "overlap"}, optional
        How the classes of the truth are matched with those of the map; by default as
        `diffclass.evaluation.match_classes` does, but by overlap where the truth has names alone
        and the map has none. The figures are by the map's ids.

    Returns
    -------
    MapEvaluation

    Raises
    ------
    DataError
        For files of another size or place, an empty truth, bands that are not those of the
        classes, or classes that are to be matched by names of which none is in common.

    See Also
    --------
    classify_scene : Holds labels out, classifies and measures in one call.
    diffclass.jobs.agreement : For clusters, which have no names.
    validation_design : Which pixels to find the truth of.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.datasets import make_tissue_scene
    >>> from diffclass_hyperspectral import LabelImage, evaluate_map
    >>> truth = make_tissue_scene(48, 48).truth
    >>> found = truth.copy()
    >>> found[:12] = 1
    >>> scores = evaluate_map(LabelImage.from_array(found), LabelImage.from_array(truth)).scores
    >>> round(scores.overall_accuracy, 3), scores.confusion.tolist()
    (0.882, [[575, 0, 0], [200, 737, 0], [72, 0, 720]])
    """
    check_options(OPTIONS, gap=gap, areas=areas, match=match)
    truth = truth.on(found)
    ids = truth.ids if fitted is None else _without(truth, fitted, gap)
    known = ids > 0
    if not known.any():
        far = "" if fitted is None else f" that is {gap} or more pixels from {fitted.path}"
        raise DataError(
            f"{truth.path}: no pixel is labelled{far}; there is nothing to compare with"
        )
    given_names, own_names = truth.table.given_names, found.table.given_names
    if truth.is_numbered and not any(own_names.values()):
        match = match or "overlap"  # numbers that were made up are those of no class of the map
    matched = match_classes(
        ids[known],
        found.ids[known],
        given_names=given_names,
        own_names=own_names,
        by=match,
        sides=f"{truth.path} and {found.path}",
    )
    apart = matched.apart()
    ids = matched.carried(ids, apart)
    margins = None if margin is None else _raster_of(margin, truth).margins()
    given = None if probability is None else _raster_of(probability, truth).probability_of(found)
    return MapEvaluation(
        scores=classification_scores(ids[known], found.ids[known]),
        unclassified=int(np.count_nonzero(found.ids[known] == 0)),
        names=_names(matched, apart),
        match=matched,
        by_blocks=describe_blocks(ids, found.ids, known),
        certainty=measure_certainty(
            ids == found.ids, ids > 0, found.ids > 0, margins, probability=given
        ),
        noun="pixels",
        areas=_areas(ids, found.ids, margins) if areas else None,
    )


def draw_evaluation(
    path: str | os.PathLike[str], evaluation: MapEvaluation, *, overwrite: bool = False
) -> None:
    """Draw the confusion matrix and the accuracy by margin and probability, as a PNG."""
    figure = plot_evaluation(
        evaluation.scores,
        class_names=evaluation.names,
        margin=evaluation.certainty.margin,
        thresholds=evaluation.certainty.thresholds,
        probability=evaluation.certainty.probability,
    )
    with replacing(path, overwrite=overwrite) as temporary:
        figure.savefig(temporary, dpi=120, format="png")


def _names(match: ClassMatch, apart: Mapping[int, int]) -> dict[int, str]:
    """Return the names by the map's ids: its own, else those of the truth."""
    names = {i: name or default_name(i) for i, name in match.own_names.items()}
    for given, own in match.assignment.items():
        if match.own_names[own] is None:
            names[own] = match.given_names[given] or names[own]
    for given, own in apart.items():
        of_truth = "" if given == own else " of the truth"
        names[own] = match.given_names[given] or default_name(given) + of_truth
    return {0: UNCLASSIFIED} | names


def _areas(truth: np.ndarray, found: np.ndarray, margin: np.ndarray | None) -> AreaEstimates:
    inside = np.ones(found.shape, dtype=bool) if margin is None else np.isfinite(margin)
    values, counts = np.unique(found[inside], return_counts=True)
    known = (truth > 0) & inside
    if not known.any():
        raise DataError("no labelled pixel has data; areas cannot be estimated")
    sizes = dict(zip(values.tolist(), counts.tolist(), strict=True))
    return stratified_areas(truth[known], found[known], sizes)


def _without(truth: LabelImage, fitted: LabelImage, gap: int) -> np.ndarray:
    return np.where(pixels_from(fitted.on(truth).ids > 0) < gap, 0, truth.ids)


def _raster_of(given: Path | MapRaster, truth: LabelImage) -> MapRaster:
    raster = given if isinstance(given, MapRaster) else read_map_raster(given)
    check_size(raster.bands, truth.shape, str(raster.path), of=str(truth.path))
    return raster


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
    """Say what pairs classes that share no name, and that another assignment agrees far better."""
    if not match.counts.any():
        return "no pixel that is labelled in the truth has a class on the map"
    found, best = (match.agreement[rule] or 0.0 for rule in (match.by, "overlap"))
    doubt = "" if match.is_confirmed else f"; only {found:.1%} agree, which does not bear it out"
    if match.by == "ids" and match.renames and not match.is_contradicted:
        pairs = match.pairs_in_words()
        return f"classes are matched by id, although their names differ: {pairs}{doubt}"
    if match.by == "overlap" and match.renames and doubt:
        return f"classes are matched by overlap, although their names differ{doubt}"
    if not match.is_contradicted:
        return None
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
