"""``diffclass embed`` on a table: rows in, diffusion coordinates out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diffclass.command_line import (
    Console,
    EmbedOptions,
    MapOptions,
    RunOptions,
    command,
    common_options,
    forecast_printer,
    give_report,
    options,
    output_option,
)
from diffclass_tables.commands._rows import RowOptions, check_outputs, table_argument

if TYPE_CHECKING:
    from diffclass.jobs import Embedding

_SMALLER = "ask for fewer --neighbors or --components"


@dataclass(frozen=True)
class _Given(EmbedOptions):
    output: Path = output_option(
        "Coordinates: .npy, .csv, .tsv, .parquet, .feather; of an .h5ad file also a copy of it.",
        short="-o",
        required=True,
    )


@command(epilog="Example: diffclass embed points.csv -o coordinates.csv --picture coordinates.png")
@table_argument()
@options(_Given, "given")
@options(MapOptions, "coordinates")
@options(RowOptions, "part")
@options(RunOptions, "running")
@common_options
def embed(
    table: Path,
    *,
    given: _Given,
    coordinates: MapOptions,
    part: RowOptions,
    running: RunOptions,
    console: Console,
) -> None:
    """Write the diffusion coordinates of the rows of TABLE.

    Rows with missing values get no coordinates.
    """
    from diffclass.jobs import draw_map, report_embedding
    from diffclass.jobs import embed as find_coordinates
    from diffclass.system.progress import stage
    from diffclass_tables.io import write_rows

    part.check()
    check_outputs(table, [given.output], overwrite=running.overwrite)
    with console.timing():
        with stage("opening"):
            rows = part.opened(table, random_state=running.random_state)
        found = find_coordinates(
            rows,
            coordinates.model(running.random_state, bandwidth="attached"),
            before=forecast_printer(console, _SMALLER, force=running.force),
        )
        values, again = found.coordinates, running.overwrite
        with stage("writing"):
            columns = dict(zip(found.names, values.T, strict=True))
            write_rows(given.output, rows.table, columns, matrix=values, overwrite=again)
            if given.picture is not None:
                draw_map(
                    given.picture, found.model, lambda axes: _draw(axes, found), overwrite=again
                )
    give_report(console, report_embedding(found), values)


def _draw(axes: Any, found: Embedding) -> None:
    from diffclass.plots import EmbeddingDisplay

    points = found.model.embedding_
    EmbeddingDisplay(points, components=(0, 1)[: points.shape[1]]).plot(axes)
