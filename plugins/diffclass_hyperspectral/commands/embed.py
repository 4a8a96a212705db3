"""``diffclass embed``: a scene in, diffusion coordinates out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from diffclass.command_line import (
    Console,
    EmbedOptions,
    MapOptions,
    RunOptions,
    command,
    common_options,
    files_read,
    forecast_printer,
    give_report,
    options,
    output_option,
    present,
)
from diffclass_hyperspectral.commands._diffusion import (
    FeatureOptions,
)
from diffclass_hyperspectral.commands._results import place_maps
from diffclass_hyperspectral.commands._scenes import ScenePart, only_one

_SMALLER = "ask for fewer --neighbors or --components, or embed a part of the scene"


@dataclass(frozen=True)
class _Given(FeatureOptions, EmbedOptions):
    output: Path = output_option("Coordinates: .npy, .csv, .img, .tif.", short="-o", required=True)


@command(epilog="Example: diffclass embed scene.tif -o coordinates.tif --picture coordinates.png")
@only_one(
    "scene", "join the tiles to one file, as with rio merge, or classify or cluster them together"
)
@options(_Given, "given")
@options(MapOptions, "coordinates")
@options(ScenePart, "part")
@options(RunOptions, "running")
@common_options
def embed(
    scene: Path,
    *,
    given: _Given,
    coordinates: MapOptions,
    part: ScenePart,
    running: RunOptions,
    console: Console,
) -> None:
    """Write the diffusion coordinates of the pixels of SCENE.

    Pixels with missing values get no coordinates. Formats of SCENE: diffclass info --help.
    """
    from diffclass.jobs import embed as find_coordinates
    from diffclass.jobs import report_embedding
    from diffclass.system.progress import stage
    from diffclass_hyperspectral import Pixels, open_scene, write_coordinates
    from diffclass_hyperspectral.jobs.embedding import draw_embedding

    _check_outputs(given, overwrite=running.overwrite)
    with console.timing():
        with stage("opening"):
            cube = open_scene(scene, **part.opening)
        embedded = find_coordinates(
            Pixels(cube, given.features_of(cube)),
            coordinates.model(running.random_state, bandwidth="self-tuning"),
            before=forecast_printer(console, _SMALLER, force=running.force),
        )
        place_maps(console, [given.output], cube)
        with stage("writing"):
            write_coordinates(given.output, embedded, cube, overwrite=running.overwrite)
            if given.picture is not None:
                draw_embedding(given.picture, embedded, overwrite=running.overwrite)
    give_report(console, report_embedding(embedded), embedded.coordinates)


def _check_outputs(given: _Given, *, overwrite: bool) -> None:
    from diffclass_hyperspectral.io.maps import check_outputs

    suffix = given.output.suffix.lower()
    if suffix == ".png":
        raise click.UsageError("-o takes numbers (.npy, .csv, .img, .tif); a picture is --picture")
    rasters, others = [given.output], present(given.picture, given.report)
    if suffix == ".csv":
        rasters, others = [], [*others, given.output]
    check_outputs(rasters, others, files_read(), numbers=rasters, overwrite=overwrite)
