"""``diffclass evaluate``: a class map against the truth."""

from __future__ import annotations

from pathlib import Path

import click

from diffclass.command_line.console import Console, common_options, overwrite_option
from diffclass_hyperspectral.commands._results import check_picture, give_report

_PATH = click.Path(path_type=Path)


@click.command(epilog="Example: diffclass evaluate map.tif truth.tif")
@click.argument("class_map", metavar="MAP", type=_PATH)
@click.argument("truth", type=_PATH, required=False)
@click.option("--labels", type=_PATH, help="The same as TRUTH.")
@click.option(
    "--margin", type=_PATH, help="Margins of MAP (.img, .tif, .npy): do high ones mean right?"
)
@click.option(
    "--probability", type=_PATH, help="Posteriors of MAP (.img, .tif, .npy): are they calibrated?"
)
@click.option(
    "--areas",
    is_flag=True,
    help="Class areas corrected by TRUTH, which has to be a random sample of each mapped class.",
)
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
@overwrite_option
@common_options
def evaluate(
    class_map: Path,
    truth: Path | None,
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
    **inputs: Path | None,
) -> None:
    """Compare the class map MAP with the labels TRUTH, where TRUTH is labelled.

    MAP is an .img, .tif, .png, .npy, .mat, .gis or .h5 file (.png: a palette image, not a picture
    with a legend); TRUTH is one too, or shapes on the map: .geojson, .shp, .gpkg.

    Unclassified pixels of MAP count as wrong. Labels that MAP was made with count as right:
    compare with labels that were held out, leave them out (--fitted), or let classify hold some
    out (--holdout).
    """
    from diffclass_hyperspectral import read_labels
    from diffclass_hyperspectral.io.map_files import check_outputs
    from diffclass_hyperspectral.workflows.map_evaluation import draw_evaluation, evaluate_map

    if (truth is None) == (labels is None):
        raise click.UsageError("give the truth once: as TRUTH or with --labels")
    given = truth or labels
    assert given is not None
    if gap is not None and inputs["fitted"] is None:
        raise click.UsageError("--gap is that to the labels of --fitted; give these too")
    check_picture(picture)
    read = [class_map, given, *(path for path in inputs.values() if path is not None)]
    written = [path for path in (report, picture) if path is not None]
    check_outputs([], written, read, overwrite=overwrite)
    found = read_labels(class_map, variable=map_variable)
    known = read_labels(given, variable=truth_variable, grid=found)
    evaluation = evaluate_map(found, known, areas=areas, gap=gap or 1, **inputs)
    if picture is not None:
        draw_evaluation(picture, evaluation, overwrite=overwrite)
    give_report(console, evaluation, report, overwrite=overwrite)
