"""``diffclass suggest``: a scene and labels in, pixels to label next out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from diffclass.command_line import (
    BOUND_MISSED,
    Console,
    RunOptions,
    SuggestOptions,
    command,
    common_options,
    files_read,
    forecast_printer,
    give_report,
    names_of,
    option,
    options,
    output_option,
    present,
    refuse_without_effect,
)
from diffclass_hyperspectral.commands._diffusion import (
    LABEL_FORMATS,
    SMALLER,
    DiffusionOptions,
)
from diffclass_hyperspectral.commands._scenes import (
    PLACES,
    ScenePart,
    opened_scenes,
    scenes_argument,
)
from diffclass_hyperspectral.options import OPTIONS


@dataclass(frozen=True)
class _Given(SuggestOptions):
    labels: Path | None = option(
        f"{LABEL_FORMATS} Without labels: pixels that stand for most others, found without --rule "
        "and the options of the diffusion.",
    )
    output: Path = output_option("Pixels: .geojson, .json, .gpkg, .csv.", short="-o", required=True)
    min_distance: float = option(
        "Least distance between two of them, in pixels.", of=OPTIONS["min_distance"], default=5.0
    )
    for_validation: int | None = option(
        "SCENE is a class map: draw this many of its pixels at random, to find out their classes. "
        "Filled in, the file is the TRUTH of diffclass evaluate --areas.",
        of=OPTIONS["n_points"],
    )
    by_class: bool = option(
        "With --for-validation: half of the points in equal parts for each class of the map, half "
        "in proportion to their areas; without it all pixels have the same chance.",
    )


@command(epilog="Example: diffclass suggest scene.tif --labels labels.gpkg -o next.geojson")
@scenes_argument()
@options(_Given, "given")
@options(DiffusionOptions, "diffusion")
@options(ScenePart, "part")
@options(RunOptions, "running")
@common_options
def suggest(
    scenes: tuple[Path, ...],
    *,
    given: _Given,
    diffusion: DiffusionOptions,
    part: ScenePart,
    running: RunOptions,
    console: Console,
) -> int:
    """Suggest which pixels of SCENE to label next, or first, the most useful first.

    With --for-validation: which pixels of a class map to visit, to measure its accuracy.

    Several scenes on one map grid, such as tiles, count as one. Points have an empty field "class":
    filled in, the file is one of labels. Exit code 4: the pixels are there, but the labels did not
    cover the graph by --max-time. Formats of SCENE: diffclass info --help.
    """
    from diffclass.jobs import suggest_points
    from diffclass.system.progress import stage
    from diffclass_hyperspectral import (
        Pixels,
        read_tile_labels,
        suggest_for_scene,
        write_points,
    )
    from diffclass_hyperspectral.io.maps import check_outputs
    from diffclass_hyperspectral.jobs.point_files import check_ending, check_places

    check_ending(given.output)
    if given.for_validation is not None:
        return _design(scenes, given.for_validation, given, running, console)
    refuse_without_effect(["by_class"], "without --for-validation")
    if given.labels is None:
        of_features = ("features", "metric", "components")
        fitting = [name for name in names_of(DiffusionOptions) if name not in of_features]
        refuse_without_effect([*fitting, "rule", "label_variable"], "without --labels")
    diffusion.check()
    check_outputs(
        [], present(given.output, given.report), files_read(), overwrite=running.overwrite
    )
    with console.timing():
        with stage("opening"):
            tiles = opened_scenes(scenes, one_grid_or=PLACES, **part.opening)
            cube = tiles.scene
            features = diffusion.features_of(cube, diffusion.components)
            check_places(given.output, has_places=cube.map_georeference is not None)
            if given.labels is not None:
                labels = read_tile_labels(given.labels, tiles, variable=given.label_variable)
        shared: dict[str, Any] = {
            "min_distance": given.min_distance,
            "random_state": running.random_state,
            "before": forecast_printer(console, SMALLER, force=running.force),
        }
        n = given.number
        if given.labels is None:
            report = suggest_points(Pixels(cube, features), n_points=n, **shared)
        else:
            classifier = diffusion.classifier(running.random_state, labels, cube)
            shared |= {"rule": given.rule, "classifier": classifier, "features": features}
            report = suggest_for_scene(cube, labels, n, **shared)
        with stage("writing"):
            place = cube.map_georeference
            crs = None if place is None else place.crs
            write_points(given.output, report.suggestions, crs=crs, overwrite=running.overwrite)
    if len(report.suggestions) < n:
        which = "" if given.labels is None else "unlabelled "
        apart = f"{given.min_distance:g} pixels apart"
        console.say(f"only {len(report.suggestions)} {which}pixels differ and lie {apart}")
    give_report(console, report, report.suggestions)
    return 0 if report.is_covered else BOUND_MISSED


def _design(
    maps: tuple[Path, ...], n_points: int, given: _Given, running: RunOptions, console: Console
) -> int:
    """Draw pixels of a class map."""
    from diffclass_hyperspectral import read_labels, validation_design, write_points
    from diffclass_hyperspectral.io.georeference import georeference_of
    from diffclass_hyperspectral.io.maps import check_outputs
    from diffclass_hyperspectral.jobs.point_files import check_places

    if len(maps) > 1:
        raise click.UsageError("--for-validation takes one map; make a mosaic of several")
    without = ["labels", "label_variable", "rule", "number", "min_distance", "force"]
    without += names_of(DiffusionOptions, ScenePart)
    refuse_without_effect(without, "with --for-validation, which draws pixels of a map")
    outputs = present(given.output, given.report)
    check_outputs([], outputs, files_read(), overwrite=running.overwrite)
    with console.timing():
        found = read_labels(maps[0])
        place = georeference_of(found.map_info)
        check_places(given.output, has_places=place is not None)
        pixels, report = validation_design(
            found, n_points, by_class=given.by_class, random_state=running.random_state
        )
        crs = None if place is None else place.crs
        write_points(given.output, pixels, crs=crs, overwrite=running.overwrite)
    give_report(console, report, pixels)
    return 0
