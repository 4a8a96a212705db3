"""``diffclass embed``: a scene or table in, diffusion coordinates out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diffclass.command_line.console import (
    Console,
    common_options,
    overwrite_option,
    seed_option,
)
from diffclass.command_line.forecasts import force_option, forecast_sayer
from diffclass_hyperspectral.commands._diffusion import (
    features_option,
    metric_option,
    scene_features,
)
from diffclass_hyperspectral.commands._effects import refuse_without_effect
from diffclass_hyperspectral.commands._results import (
    check_picture,
    costs_of,
    give_report,
    say_orthorectified,
)
from diffclass_hyperspectral.commands._scene import scene_files, scene_options, taken
from diffclass_hyperspectral.commands._tiles import only_one

if TYPE_CHECKING:
    from diffclass.embedding import DiffusionMap

_PATH = click.Path(path_type=Path)
_SMALLER = "ask for fewer --neighbors or --components, or embed a part of the scene"


class _NumberOr(click.ParamType):
    """A number, or one of some words."""

    def __init__(self, *words: str):
        self.words = words
        self.name = "|".join([*words, "number"])

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float | str:
        """Return one of the words or a float."""
        if value in self.words:
            return str(value)
        try:
            return float(value)
        except (TypeError, ValueError):
            self.fail(f"{value!r} is neither a number nor one of {', '.join(self.words)}")


@click.command(
    epilog="Example: diffclass embed scene.tif -o coordinates.tif --picture coordinates.png"
)
@only_one(
    "points", "join the tiles to one file, as with rio merge, or classify or cluster them together"
)
@click.option(
    "-o",
    "--output",
    type=_PATH,
    required=True,
    help="Coordinates: .npy, .csv; of a scene also .img, .tif.",
)
@click.option("--picture", type=_PATH, help="Coordinates and spectrum as a .png.")
@click.option("--report", type=_PATH, help="Report as JSON.")
@click.option("-n", "--components", type=int, default=3, show_default=True, help="Coordinates.")
@click.option(
    "--neighbors",
    type=int,
    default=64,
    show_default=True,
    help="Least number of neighbours of a point.",
)
@click.option("--alpha", type=float, default=1.0, show_default=True, help="Density exponent.")
@click.option(
    "--time", type=_NumberOr("auto", "relaxation"), default=1, show_default=True, help="Steps."
)
@click.option(
    "--bandwidth",
    type=_NumberOr("attached", "graph", "semigroup", "slope", "self-tuning"),
    help="epsilon. attached: the widest that the neighbours allow, wider for outliers (default for "
    "tables); graph: the same for all; semigroup, slope: chosen from the data; self-tuning: one "
    "for each point (default for scenes); or a number.",
)
@features_option
@metric_option
@scene_options
@force_option
@seed_option
@overwrite_option
@common_options
def embed(
    points: Path,
    output: Path,
    picture: Path | None,
    report: Path | None,
    *,
    console: Console,
    overwrite: bool,
    force: bool,
    features: str,
    metric: str,
    **options: Any,
) -> None:
    """Write the diffusion coordinates of POINTS: a scene's pixels or a table's rows.

    Tables are .csv, .tsv or two-dimensional .npy files; anything else is opened as a scene (see
    diffclass info). Pixels and rows with missing values get no coordinates.
    """
    from diffclass.progress import stage
    from diffclass_hyperspectral.io.tables import is_table
    from diffclass_hyperspectral.workflows.embedding import (
        draw_embedding,
        embed_file,
        report_embedding,
        write_coordinates,
    )

    opening = taken(options)
    inputs = [points, *scene_files(opening)]
    if is_table(points):
        named = ("features", "metric", "variable", "bands", "mask", "roi")
        refuse_without_effect(named, "on a table")
    _check_outputs(inputs, output, picture, report, overwrite=overwrite)
    if options["bandwidth"] is None:
        options["bandwidth"] = "attached" if is_table(points) else "self-tuning"
    with console.timing():
        embedded = embed_file(
            points,
            _model(**options),
            features=scene_features(features, metric),
            opening=opening,
            before=forecast_sayer(console, _SMALLER, force=force),
        )
        if embedded.scene is not None:
            say_orthorectified(console, [output], embedded.scene)
        with stage("writing"):
            write_coordinates(output, embedded, overwrite=overwrite)
            if picture is not None:
                draw_embedding(picture, embedded, overwrite=overwrite)
    said = report_embedding(embedded, costs=costs_of(console))
    give_report(console, said, report, overwrite=overwrite)


def _check_outputs(
    inputs: list[Path],
    output: Path,
    picture: Path | None,
    report: Path | None,
    *,
    overwrite: bool,
) -> None:
    from diffclass_hyperspectral.io.maps import check_outputs
    from diffclass_hyperspectral.io.tables import is_table

    suffix = output.suffix.lower()
    if suffix == ".png":
        raise click.UsageError("-o takes numbers (.npy, .csv, .img, .tif); a picture is --picture")
    if suffix not in (".csv", ".npy") and is_table(inputs[0]):
        raise click.UsageError("a table's coordinates are written as .npy or .csv")
    check_picture(picture)
    rasters = [] if suffix == ".csv" else [output]
    others = [path for path in (picture, report) if path is not None]
    others += [output] if suffix == ".csv" else []
    check_outputs(rasters, others, inputs, overwrite=overwrite)


def _model(
    components: int,
    neighbors: int,
    alpha: float,
    time: float | str,
    bandwidth: float | str,
    seed: int,
) -> DiffusionMap:
    from diffclass import DiffusionMap

    return DiffusionMap(
        components,
        n_neighbors=neighbors,
        alpha=alpha,
        time=time,
        bandwidth=bandwidth,
        random_state=seed,
    )
