"""A class map on disk against the truth: scores, reliability of its margins, class areas."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.costs import Cost, Forecast
from diffclass.evaluation import (
    AreaEstimates,
    ClassMatch,
    Scores,
    classification_scores,
    match_classes,
    stratified_areas,
)
from diffclass.exceptions import DataError
from diffclass.output import replacing
from diffclass.plots import plot_evaluation
from diffclass.point_graph import BYTES_OF_A_POINT
from diffclass_hyperspectral.io.labels import UNCLASSIFIED, LabelImage, default_name, read_labels
from diffclass_hyperspectral.io.readers import read_image
from diffclass_hyperspectral.io.scenes import Scene
from diffclass_hyperspectral.io.tiles import TiledScene, open_tiles, read_tile_labels
from diffclass_hyperspectral.workflows.evaluation.certainty import (
    Certainty,
    describe_blocks,
    measure_certainty,
)
from diffclass_hyperspectral.workflows.evaluation.holdout import pixels_from
from diffclass_hyperspectral.workflows.evaluation.map_rasters import (
    MapRaster,
    check_size,
    joined_raster,
    read_map_raster,
)
from diffclass_hyperspectral.workflows.reports import (
    HIDDEN,
    MERGED,
    Facts,
    area_lines,
    certainty_lines,
    match_lines,
    match_warning,
    score_lines,
    written_as,
)

# of a map's pixel: classes found and known, and what they are compared through
_BYTES_OF_A_LABEL, _BYTES_OF_A_CURVE = 60, 24


def _with_warning(match: ClassMatch) -> dict[str, Any]:
    return match.to_dict() | {"warning": match_warning(match)}


@dataclass(frozen=True)
class MapEvaluation(Facts):
    """What is known about a class map.

    Attributes
    ----------
    scores : Scores
    names : dict of int to str
        Names of the classes by the map's ids; classes of the truth alone have ids of their own.
    match : ClassMatch
        Which class of the truth is which of the map.
    by_blocks : dict
        Interval of the overall accuracy with squares of the picture as independent.
    certainty : Certainty
        Accuracy against margins and probabilities, where they were given.
    areas : AreaEstimates or None
        None if they were not asked for.
    """

    scores: Scores = field(metadata=MERGED)
    names: dict[int, str] = field(metadata=HIDDEN)
    match: ClassMatch = field(metadata=written_as(_with_warning))
    by_blocks: dict[str, Any]
    certainty: Certainty = field(metadata=MERGED)
    areas: AreaEstimates | None = None

    @property
    def warning(self) -> str | None:
        """What is to be said before any figure is believed."""
        return match_warning(self.match)

    def lines(self) -> list[str]:
        """Return the scores as lines to read."""
        facts = self.to_dict()
        lines = match_lines(self.match, self.names)
        lines += score_lines(self.scores, self.by_blocks, self.names)
        lines += certainty_lines(facts)
        return lines if self.areas is None else lines + area_lines(facts["areas"], self.names)


@dataclass(frozen=True, eq=False)
class OpenedMaps:
    """A class map, or several as one.

    Attributes
    ----------
    labels : LabelImage
    tiles : TiledScene or None
        Where each of several lies; None for a single one.
    """

    labels: LabelImage
    tiles: TiledScene | None = None

    def read_labels(self, path: Path, *, variable: str | None = None) -> LabelImage:
        """Return labels on the pixels of the map; classes without numbers get those of the map."""
        known = self.labels.table
        if self.tiles is None:
            return read_labels(path, variable=variable, grid=self.labels, known=known)
        return read_tile_labels(path, self.tiles, variable=variable, known=known)

    def read_rasters(self, paths: Sequence[Path]) -> MapRaster | None:
        """Return what belongs to the pixels of the map, from a file for each map; None without."""
        if not paths:
            return None
        rasters = [read_map_raster(path) for path in paths]
        return rasters[0] if self.tiles is None else joined_raster(rasters, self.tiles)


def opened_maps(paths: Sequence[Path], *, variable: str | None = None) -> OpenedMaps:
    """Read one class map, or several as one.

    Parameters
    ----------
    paths : sequence of Path
        On one map grid where they overlap the first class counts; others lie below one another.
    variable : str, optional
        As for `read_labels`.

    Raises
    ------
    DataError
        Where a file is no class map, or two lie on the same pixels.
    """
    maps = [read_labels(path, variable=variable) for path in paths]
    if len(maps) == 1:
        return OpenedMaps(maps[0])
    tiles = open_tiles(
        [Scene.from_array(m.ids[..., None], path=m.path, map_info=m.map_info) for m in maps]
    )
    places = [(tile.row, tile.column, tile.scene.shape) for tile in tiles.tiles]
    for i, place in enumerate(places):
        if place in places[:i]:
            raise DataError(
                f"{paths[places.index(place)]} and {paths[i]} are maps of the same pixels; "
                "evaluate them one by one"
            )
    joint = read_tile_labels(maps, tiles)
    return OpenedMaps(replace(joint, path=tiles.scene.path), tiles)


def forecast_of_maps(
    paths: Sequence[Path], rasters: Sequence[Path] = (), *, variable: str | None = None
) -> Forecast:
    """Say what evaluating maps will need, from their sizes alone.

    Parameters
    ----------
    paths : sequence of Path
        Class maps.
    rasters : sequence of Path
        Margins and probabilities of one of them.
    variable : str, optional
        Of the maps.
    """
    shapes = [read_image(path, variable=variable, n_axes=2).data.shape for path in paths]
    bands = [read_image(path, n_axes=2).data.shape[2:] for path in rasters]
    return forecast_evaluation(
        sum(math.prod(shape[:2]) for shape in shapes), n_bands=sum(map(math.prod, bands))
    )


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
        `diffclass.evaluation.match_classes` does. The figures are by the map's ids.

    Returns
    -------
    MapEvaluation

    Raises
    ------
    DataError
        For files of another size or place, an empty truth, bands that are not those of the
        classes, or classes that are to be matched by names of which none is in common.
    """
    truth = truth.on(found)
    ids = truth.ids if fitted is None else _without(truth, fitted, gap)
    known = ids > 0
    if not known.any():
        far = "" if fitted is None else f" that is {gap} or more pixels from {fitted.path}"
        raise DataError(
            f"{truth.path}: no pixel is labelled{far}; there is nothing to compare with"
        )
    matched = match_classes(
        ids[known],
        found.ids[known],
        given_names=truth.table.given_names,
        own_names=found.table.given_names,
        by=match,
        sides=f"{truth.path} and {found.path}",
    )
    apart = matched.apart()
    ids = matched.carried(ids, apart)
    margins = None if margin is None else _raster_of(margin, truth).margins()
    given = None if probability is None else _raster_of(probability, truth).probability_of(found)
    return MapEvaluation(
        scores=classification_scores(ids[known], found.ids[known]),
        names=_names(matched, apart),
        match=matched,
        by_blocks=describe_blocks(ids, found.ids, known),
        certainty=measure_certainty(ids, found.ids, margins, probability=given),
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


def forecast_evaluation(n_pixels: int, *, n_bands: int = 0) -> Forecast:
    """Say what `evaluate_map` will need.

    Parameters
    ----------
    n_pixels : int
        Of the map.
    n_bands : int, default=0
        Of margins and probabilities together.

    Returns
    -------
    Forecast
    """
    if not n_bands:
        return Forecast.of({"scores": Cost(_BYTES_OF_A_LABEL * n_pixels)})
    scores = Cost((_BYTES_OF_A_LABEL + _BYTES_OF_A_CURVE) * n_pixels)
    rasters = Cost((BYTES_OF_A_POINT + 5 * n_bands) * n_pixels)
    return Forecast.of({"scores": scores, "rasters": rasters})
