"""``diffclass suggest``: a scene and labels in, pixels to label next out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from diffclass.command_line.console import (
    BOUND_MISSED,
    Console,
    common_options,
    overwrite_option,
    seed_option,
)
from diffclass.command_line.forecasts import force_option, forecast_sayer
from diffclass_hyperspectral.commands._chosen import chosen, names_of
from diffclass_hyperspectral.commands._diffusion import (
    LABEL_FORMATS,
    SMALLER,
    DiffusionChoice,
    NameIn,
    diffusion_options,
)
from diffclass_hyperspectral.commands._effects import refuse_without_effect
from diffclass_hyperspectral.commands._results import (
    costs_of,
    give_report,
)
from diffclass_hyperspectral.commands._scene import scene_files, scene_options, taken
from diffclass_hyperspectral.commands._tiles import PLACES, opened_scenes, scenes_argument

_PATH = click.Path(path_type=Path)


@click.command(epilog="Example: diffclass suggest scene.tif --labels labels.gpkg -o next.geojson")
@scenes_argument()
@click.option(
    "--labels",
    type=_PATH,
    help=f"{LABEL_FORMATS} Without labels: one pixel per mode of the density, found without "
    "--rule and the options of the diffusion.",
)
@click.option("-o", "--output", type=_PATH, required=True, help="Pixels: .geojson, .json, .csv.")
@click.option(
    "--rule",
    type=NameIn("rule", "diffclass.acquisition:RULES"),
    default="hybrid",
    show_default=True,
    help="hybrid: vopt, then margin. margin: where classes are close. unexplored: where few "
    "labels arrive. distance: dense and far from labels. vopt: what lowers a Gaussian "
    "process's variance most. model-change: what moves it most. uncertainty: margin times its "
    "standard deviation.",
)
@click.option(
    "-n", "--number", type=click.IntRange(1), default=10, show_default=True, help="Pixels."
)
@click.option(
    "--min-distance",
    type=click.FloatRange(0),
    default=5.0,
    show_default=True,
    help="Least distance between two of them, in pixels.",
)
@click.option("--report", type=_PATH, help="Report as JSON.")
@diffusion_options
@scene_options
@click.option("--label-variable", help="Array to take from a .mat label file with several.")
@force_option
@seed_option
@overwrite_option
@common_options
def suggest(
    scenes: tuple[Path, ...],
    labels: Path | None,
    output: Path,
    *,
    console: Console,
    overwrite: bool,
    report: Path | None,
    rule: str,
    number: int,
    min_distance: float,
    label_variable: str | None,
    seed: int,
    force: bool,
    **options: Any,
) -> int:
    """Suggest which pixels of SCENE to label next, or first, the most useful first.

    Several scenes on one map grid, such as tiles, count as one. GeoJSON has an empty field "class":
    filled in, it is a file of labels. Exit code 4: the pixels are there, but the labels did not
    cover the graph by --max-time. Formats of SCENE: diffclass info --help.
    """
    from diffclass.progress import stage
    from diffclass_hyperspectral import (
        suggest_first,
        suggest_for_scene,
        write_suggestions,
    )
    from diffclass_hyperspectral.io.maps import check_outputs
    from diffclass_hyperspectral.workflows.parameters import check_components
    from diffclass_hyperspectral.workflows.suggestions import check_ending, check_places

    check_ending(output)
    if labels is None:
        of_features = ("features", "metric", "components")
        fitting = [name for name in names_of(DiffusionChoice) if name not in of_features]
        refuse_without_effect([*fitting, "rule", "label_variable"], "without --labels")
    elif options["tau"] is not None:
        refuse_without_effect(["max_time"], "where --tau states the time")
    others = [path for path in (output, report) if path is not None]
    inputs = [path for path in (*scenes, labels) if path is not None]
    inputs += scene_files(options)
    diffusion = chosen(DiffusionChoice, options)
    check_outputs([], others, inputs, overwrite=overwrite)
    with console.timing():
        with stage("opening"):
            opened = opened_scenes(scenes, one_grid_or=PLACES, **taken(options))
            cube = opened.scene
            check_components(diffusion.components, cube)
            check_places(output, has_places=cube.map_georeference is not None)
            if labels is not None:
                given = opened.read_labels(labels, label_variable)
        shared: dict[str, Any] = {
            "min_distance": min_distance,
            "features": diffusion.scene_features(),
            "before": forecast_sayer(console, SMALLER, force=force),
        }
        if labels is None:
            run = suggest_first(cube, number, random_state=seed, **shared)
        else:
            classifier = diffusion.classifier(seed)
            run = suggest_for_scene(cube, given, number, rule=rule, classifier=classifier, **shared)
        with stage("writing"):
            place = cube.map_georeference
            crs = None if place is None else place.crs
            write_suggestions(output, run.pixels, crs=crs, overwrite=overwrite)
    if len(run.pixels) < number:
        which = "modes" if labels is None else "unlabelled pixels"
        console.say(f"only {len(run.pixels)} {which} lie {min_distance:g} pixels apart")
    give_report(console, replace(run.report, costs=costs_of(console)), report, overwrite=overwrite)
    return 0 if run.is_covered else BOUND_MISSED
