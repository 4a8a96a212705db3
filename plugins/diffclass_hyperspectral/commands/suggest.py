"""``diffclass suggest``: a scene and labels in, pixels to label next out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from diffclass.command_line import (
    BOUND_MISSED,
    Console,
    RunOptions,
    command,
    common_options,
    forecast_sayer,
    names_of,
    option,
    options,
    refuse_without_effect,
)
from diffclass_hyperspectral.commands._diffusion import (
    LABEL_FORMATS,
    SMALLER,
    DiffusionOptions,
    NameIn,
)
from diffclass_hyperspectral.commands._results import costs_of, give_report, present
from diffclass_hyperspectral.commands._scenes import (
    PLACES,
    ScenePart,
    opened_scenes,
    scenes_argument,
)


@dataclass(frozen=True)
class _Given:
    labels: Path | None = option(
        f"{LABEL_FORMATS} Without labels: pixels that stand for most others, found without --rule "
        "and the options of the diffusion.",
    )
    output: Path = option("Pixels: .geojson, .json, .csv.", short="-o", required=True)
    rule: str = option(
        "coverage: pixels that stand for many others in doubt. margin: pixels where classes are "
        "close.",
        type=NameIn("rule", "diffclass.acquisition:RULES"),
        default="coverage",
    )
    number: int = option(
        "Pixels; best as many as will be labelled at once.",
        short="-n",
        type=click.IntRange(1),
        default=10,
    )
    min_distance: float = option(
        "Least distance between two of them, in pixels.", type=click.FloatRange(0), default=5.0
    )
    report: Path | None = option("Report as JSON.")
    label_variable: str | None = option(
        "Array to take from a .mat label file with several.", hidden=True
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

    Several scenes on one map grid, such as tiles, count as one. GeoJSON has an empty field "class":
    filled in, it is a file of labels. Exit code 4: the pixels are there, but the labels did not
    cover the graph by --max-time. Formats of SCENE: diffclass info --help.
    """
    from diffclass.progress import stage
    from diffclass_hyperspectral import (
        read_tile_labels,
        suggest_first,
        suggest_for_scene,
        write_suggestions,
    )
    from diffclass_hyperspectral.io.maps import check_outputs
    from diffclass_hyperspectral.workflows.suggestions import check_ending, check_places

    check_ending(given.output)
    if given.labels is None:
        of_features = ("features", "metric", "components")
        fitting = [name for name in names_of(DiffusionOptions) if name not in of_features]
        refuse_without_effect([*fitting, "rule", "label_variable"], "without --labels")
    diffusion.check()
    inputs = [*scenes, *present(given.labels), *part.files]
    check_outputs([], present(given.output, given.report), inputs, overwrite=running.overwrite)
    with console.timing():
        with stage("opening"):
            tiles = opened_scenes(scenes, one_grid_or=PLACES, **part.opening)
            cube = tiles.scene
            features = diffusion.features_of(cube)
            check_places(given.output, has_places=cube.map_georeference is not None)
            if given.labels is not None:
                labels = read_tile_labels(given.labels, tiles, variable=given.label_variable)
        shared: dict[str, Any] = {
            "min_distance": given.min_distance,
            "features": features,
            "before": forecast_sayer(console, SMALLER, force=running.force),
        }
        n = given.number
        if given.labels is None:
            run = suggest_first(cube, n, random_state=running.seed, **shared)
        else:
            classifier = diffusion.classifier(running.seed, labels, cube)
            shared |= {"rule": given.rule, "classifier": classifier}
            run = suggest_for_scene(cube, labels, n, **shared)
        with stage("writing"):
            place = cube.map_georeference
            crs = None if place is None else place.crs
            write_suggestions(given.output, run.pixels, crs=crs, overwrite=running.overwrite)
    if len(run.pixels) < n:
        which = "" if given.labels is None else "unlabelled "
        apart = f"{given.min_distance:g} pixels apart"
        console.say(f"only {len(run.pixels)} {which}pixels lie {apart}")
    report = replace(run.report, costs=costs_of(console))
    give_report(console, report, given.report, overwrite=running.overwrite)
    return 0 if run.is_covered else BOUND_MISSED
