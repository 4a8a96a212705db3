"""``diffclass embed``: a scene or table in, diffusion coordinates out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diffclass.command_line import (
    Console,
    RunOptions,
    check_picture,
    command,
    common_options,
    costs_of,
    forecast_sayer,
    give_report,
    names_of,
    option,
    options,
    present,
    refuse_without_effect,
)
from diffclass_hyperspectral.commands._diffusion import (
    features_option,
    metric_option,
    scene_features,
)
from diffclass_hyperspectral.commands._results import place_maps
from diffclass_hyperspectral.commands._scenes import ScenePart, only_one

if TYPE_CHECKING:
    from diffclass.embedding import DiffusionMap

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


@dataclass(frozen=True)
class _Given:
    output: Path = option(
        "Coordinates: .npy, .csv; of a scene also .img, .tif.", short="-o", required=True
    )
    picture: Path | None = option("Coordinates and spectrum as a .png.")
    report: Path | None = option("Report as JSON.")
    components: int = option("Coordinates.", short="-n", default=3)
    neighbors: int = option("Least number of neighbours of a point.", default=64)
    alpha: float = option("Density exponent.", default=1.0)
    time: float | str = option("Steps.", type=_NumberOr("auto", "relaxation"), default=1)
    bandwidth: float | str | None = option(
        "epsilon. attached: the widest that the neighbours allow, wider for outliers (default "
        "for tables); graph: the same for all; semigroup, slope: chosen from the data; "
        "self-tuning: one for each point (default for scenes); or a number.",
        type=_NumberOr("attached", "graph", "semigroup", "slope", "self-tuning"),
    )
    features: str = features_option()
    metric: str = metric_option()

    def model(self, seed: int, *, of_table: bool) -> DiffusionMap:
        """Return what embeds the points of a table or of a scene."""
        from diffclass import DiffusionMap

        by_default = "attached" if of_table else "self-tuning"
        return DiffusionMap(
            self.components,
            n_neighbors=self.neighbors,
            alpha=self.alpha,
            time=self.time,
            bandwidth=by_default if self.bandwidth is None else self.bandwidth,
            random_state=seed,
        )


@command(epilog="Example: diffclass embed scene.tif -o coordinates.tif --picture coordinates.png")
@only_one(
    "points", "join the tiles to one file, as with rio merge, or classify or cluster them together"
)
@options(_Given, "given")
@options(ScenePart, "part")
@options(RunOptions, "running")
@common_options
def embed(
    points: Path, *, given: _Given, part: ScenePart, running: RunOptions, console: Console
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

    of_table = is_table(points)
    if of_table:
        named = ("features", "metric", *names_of(ScenePart))
        refuse_without_effect(named, "on a table")
    _check_outputs([points, *part.files], given, of_table=of_table, overwrite=running.overwrite)
    with console.timing():
        embedded = embed_file(
            points,
            given.model(running.seed, of_table=of_table),
            features=scene_features(given.features, given.metric),
            opening=part.opening,
            before=forecast_sayer(console, _SMALLER, force=running.force),
        )
        if embedded.scene is not None:
            place_maps(console, [given.output], embedded.scene)
        with stage("writing"):
            write_coordinates(given.output, embedded, overwrite=running.overwrite)
            if given.picture is not None:
                draw_embedding(given.picture, embedded, overwrite=running.overwrite)
    said = report_embedding(embedded, costs=costs_of(console))
    give_report(console, said, given.report, overwrite=running.overwrite)


def _check_outputs(inputs: list[Path], given: _Given, *, of_table: bool, overwrite: bool) -> None:
    from diffclass_hyperspectral.io.maps import check_outputs

    suffix = given.output.suffix.lower()
    if suffix == ".png":
        raise click.UsageError("-o takes numbers (.npy, .csv, .img, .tif); a picture is --picture")
    if suffix not in (".csv", ".npy") and of_table:
        raise click.UsageError("a table's coordinates are written as .npy or .csv")
    check_picture(given.picture)
    rasters, others = [given.output], present(given.picture, given.report)
    if suffix == ".csv":
        rasters, others = [], [*others, given.output]
    check_outputs(rasters, others, inputs, numbers=rasters, overwrite=overwrite)
