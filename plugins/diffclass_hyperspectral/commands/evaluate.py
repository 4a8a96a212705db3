"""``diffclass evaluate``: a class map against the truth."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from diffclass.command_line import (
    FILE,
    Console,
    command,
    common_options,
    files_read,
    force_option,
    forecast_printer,
    give_report,
    option,
    options,
    overwrite_option,
    picture_option,
    present,
    report_option,
    variable_option,
)
from diffclass.exceptions import warn_user
from diffclass_hyperspectral.commands._scenes import match_option
from diffclass_hyperspectral.io.file_names import NAME, files_of, is_for_each
from diffclass_hyperspectral.options import OPTIONS


@dataclass(frozen=True)
class _Given:
    labels: Path | None = option(
        "The same as TRUTH; of several maps also a folder of images that are named as they are.",
    )
    margin: Path | None = option(
        "Margins of MAP (.img, .tif, .npy): do high ones mean right? Of several maps a file "
        "for each, with {} for the map's name, as margins/{}.tif.",
    )
    probability: Path | None = option(
        "Posteriors of MAP (.img, .tif, .npy): are they calibrated? Of several maps with {} too.",
    )
    areas: bool = option(
        "Class areas corrected by TRUTH, which has to be a random sample of each mapped class.",
    )
    match: str | None = match_option("TRUTH", "MAP")
    fitted: Path | None = option("Labels that MAP was made with: left out of TRUTH.")
    gap: int | None = option(
        "Leave out TRUTH nearer than this to --fitted too, in pixels: neighbours are alike.",
        of=OPTIONS["gap"],
    )
    map_variable: str | None = variable_option("map file")
    truth_variable: str | None = variable_option("truth file")
    report: Path | None = report_option()
    picture: Path | None = picture_option("Draw confusion matrix and curves: .png.")
    force: bool = force_option()
    overwrite: bool = overwrite_option()


@command(epilog="Example: diffclass evaluate map.tif truth.tif")
@click.argument("files", metavar="MAP... [TRUTH]", type=FILE, nargs=-1, required=True)
@options(_Given, "given")
@common_options
def evaluate(files: tuple[Path, ...], *, given: _Given, console: Console) -> None:
    """Compare the class map MAP with the labels TRUTH, where TRUTH is labelled.

    MAP is an .img, .tif, .png, .npy, .npz, .mat, .gis or .h5 file (.png: a palette image, not a
    picture with a legend); TRUTH is one too, or shapes on the map: .geojson, .shp, .gpkg, .fgb,
    .kml. One of the two may be shapes, so that MAP may be polygons if TRUTH is an image. Several
    maps, such as those of tiles, count as one: name TRUTH last or with --labels.

    Classes are matched by their names, else by their ids; files that number them differently, and
    name none, are matched by best overlap, which makes all figures upper bounds (--match).

    Unclassified pixels of MAP count as wrong. Labels that MAP was made with count as right:
    compare with labels that were held out, leave them out (--fitted), or let classify hold some
    out (--holdout).
    """
    from diffclass_hyperspectral.io.maps import check_outputs
    from diffclass_hyperspectral.jobs.evaluation import (
        draw_evaluation,
        evaluate_map,
        forecast_of_maps,
        opened_maps,
    )

    maps, truth = _maps_and_truth(files, given.labels)
    margins = _one_for_each(maps, given.margin, "--margin")
    posteriors = _one_for_each(maps, given.probability, "--probability")
    if given.gap is not None and given.fitted is None:
        raise click.UsageError("--gap is that to the labels of --fitted; give these too")
    read = [*files_read(), *margins, *posteriors]  # of several maps a file for each
    check_outputs([], present(given.report, given.picture), read, overwrite=given.overwrite)
    before = forecast_printer(console, "evaluate a part of the map", force=given.force)
    before(forecast_of_maps(maps, [*margins[:1], *posteriors[:1]], variable=given.map_variable))
    opened = opened_maps(maps, variable=given.map_variable, truth=truth)
    evaluation = evaluate_map(
        opened.labels,
        opened.read_labels(truth, variable=given.truth_variable),
        margin=opened.read_rasters(margins),
        probability=opened.read_rasters(posteriors),
        fitted=None if given.fitted is None else opened.read_labels(given.fitted),
        gap=given.gap or 1,
        areas=given.areas,
        match=given.match,
    )
    if evaluation.warning is not None and console.as_json:  # people read it above the figures
        warn_user(evaluation.warning, UserWarning)
    if given.picture is not None:
        draw_evaluation(given.picture, evaluation, overwrite=given.overwrite)
    give_report(console, evaluation, evaluation.to_dict())


def _maps_and_truth(files: tuple[Path, ...], labels: Path | None) -> tuple[list[Path], Path]:
    """Separate the maps from the truth: the last file, unless --labels names it."""
    if labels in files or (labels is None and len(files) == 1):
        raise click.UsageError("give the truth once: after the map, as TRUTH, or with --labels")
    if labels is not None:
        return list(files), labels
    return list(files[:-1]), files[-1]


def _one_for_each(maps: list[Path], path: Path | None, option: str) -> list[Path]:
    """Return the files that belong to the maps, named after them where there are several."""
    if path is None:
        return []
    if len(maps) > 1 and not is_for_each(path):
        raise click.UsageError(
            f"{option} of {len(maps)} maps is a file for each; put {NAME} for the map's name, as "
            f"{path.parent / (NAME + path.suffix)}"
        )
    return files_of(path, maps)
