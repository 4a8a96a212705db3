"""``diffclass evaluate``: a class map against the truth."""

from __future__ import annotations

import warnings
from pathlib import Path

import click

from diffclass.command_line.console import Console, common_options, overwrite_option
from diffclass.command_line.forecasts import force_option, forecast_sayer
from diffclass_hyperspectral.commands._match import match_option
from diffclass_hyperspectral.commands._results import check_picture, give_report
from diffclass_hyperspectral.commands._tiles import NAME

_PATH = click.Path(path_type=Path)


@click.command(epilog="Example: diffclass evaluate map.tif truth.tif")
@click.argument("files", metavar="MAP... [TRUTH]", type=_PATH, nargs=-1, required=True)
@click.option(
    "--labels",
    type=_PATH,
    help="The same as TRUTH; of several maps also a folder of images that are named as they are.",
)
@click.option(
    "--margin",
    type=_PATH,
    help="Margins of MAP (.img, .tif, .npy): do high ones mean right? Of several maps a file for "
    "each, with {} for the map's name, as margins/{}.tif.",
)
@click.option(
    "--probability",
    type=_PATH,
    help="Posteriors of MAP (.img, .tif, .npy): are they calibrated? Of several maps with {} too.",
)
@click.option(
    "--areas",
    is_flag=True,
    help="Class areas corrected by TRUTH, which has to be a random sample of each mapped class.",
)
@match_option("TRUTH", "MAP")
@click.option("--fitted", type=_PATH, help="Labels that MAP was made with: left out of TRUTH.")
@click.option(
    "--gap",
    type=click.IntRange(1),
    help="Leave out TRUTH nearer than this to --fitted too, in pixels: neighbours are alike.",
)
@click.option("--map-variable", help="Array to take from a .mat map with several.")
@click.option("--truth-variable", help="Array to take from a .mat truth with several.")
@click.option("--report", type=_PATH, help="Report as JSON.")
@click.option("--picture", type=_PATH, help="Draw confusion matrix and curves: .png.")
@force_option
@overwrite_option
@common_options
def evaluate(
    files: tuple[Path, ...],
    labels: Path | None,
    map_variable: str | None,
    truth_variable: str | None,
    report: Path | None,
    picture: Path | None,
    overwrite: bool,
    *,
    console: Console,
    areas: bool,
    gap: int | None,
    match: str | None,
    force: bool,
    fitted: Path | None,
    margin: Path | None,
    probability: Path | None,
) -> None:
    """Compare the class map MAP with the labels TRUTH, where TRUTH is labelled.

    MAP is an .img, .tif, .png, .npy, .npz, .mat, .gis or .h5 file (.png: a palette image, not a
    picture with a legend); TRUTH is one too, or shapes on the map: .geojson, .shp, .gpkg, .fgb,
    .kml. Several maps, such as those of tiles, count as one: name TRUTH last or with --labels.

    Classes are matched by their names, else by their ids; files that number them differently, and
    name none, are matched by best overlap, which makes all figures upper bounds (--match).

    Unclassified pixels of MAP count as wrong. Labels that MAP was made with count as right:
    compare with labels that were held out, leave them out (--fitted), or let classify hold some
    out (--holdout).
    """
    from diffclass_hyperspectral.io.maps import check_outputs
    from diffclass_hyperspectral.workflows.evaluation import (
        draw_evaluation,
        evaluate_map,
        forecast_of_maps,
        opened_maps,
    )

    maps, truth = _maps_and_truth(files, labels)
    margins = _one_for_each(maps, margin, "--margin")
    posteriors = _one_for_each(maps, probability, "--probability")
    if gap is not None and fitted is None:
        raise click.UsageError("--gap is that to the labels of --fitted; give these too")
    check_picture(picture)
    read = [*maps, truth, *margins, *posteriors, *([] if fitted is None else [fitted])]
    written = [path for path in (report, picture) if path is not None]
    check_outputs([], written, read, overwrite=overwrite)
    before = forecast_sayer(console, "evaluate a part of the map", force=force)
    before(forecast_of_maps(maps, [*margins[:1], *posteriors[:1]], variable=map_variable))
    opened = opened_maps(maps, variable=map_variable)
    evaluation = evaluate_map(
        opened.labels,
        opened.read_labels(truth, variable=truth_variable),
        margin=opened.read_rasters(margins),
        probability=opened.read_rasters(posteriors),
        fitted=None if fitted is None else opened.read_labels(fitted),
        gap=gap or 1,
        areas=areas,
        match=match,
    )
    if evaluation.warning is not None and console.as_json:  # people read it above the figures
        warnings.warn(evaluation.warning, UserWarning, stacklevel=2)
    if picture is not None:
        draw_evaluation(picture, evaluation, overwrite=overwrite)
    give_report(console, evaluation, report, overwrite=overwrite)


def _maps_and_truth(files: tuple[Path, ...], labels: Path | None) -> tuple[list[Path], Path]:
    """Tell maps from the truth, which is the last file where it is not given by name."""
    if labels in files or (labels is None and len(files) == 1):
        raise click.UsageError("give the truth once: after the map, as TRUTH, or with --labels")
    if labels is not None:
        return list(files), labels
    return list(files[:-1]), files[-1]


def _one_for_each(maps: list[Path], path: Path | None, option: str) -> list[Path]:
    """Return the files that belong to the maps, named after them where there are several."""
    if path is None:
        return []
    if len(maps) > 1 and NAME not in str(path):
        raise click.UsageError(
            f"{option} of {len(maps)} maps is a file for each; put {NAME} for the map's name, as "
            f"{path.parent / (NAME + path.suffix)}"
        )
    return [Path(str(path).replace(NAME, one.stem)) for one in maps]
