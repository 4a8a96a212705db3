"""``diffclass embed`` on a table: rows in, diffusion coordinates out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diffclass.command_line import (
    Console,
    MapOptions,
    RunOptions,
    check_picture,
    command,
    common_options,
    costs_of,
    forecast_printer,
    give_report,
    option,
    options,
    present,
)
from diffclass_tables.commands._rows import RowOptions, check_outputs, table_argument

_SMALLER = "ask for fewer --neighbors or --components"


@dataclass(frozen=True)
class _Given:
    output: Path = option(
        "Coordinates: .npy, .csv, .tsv, .parquet, .feather; of an .h5ad file also a copy of it.",
        short="-o",
        required=True,
    )
    picture: Path | None = option("Coordinates and spectrum as a .png.")
    report: Path | None = option("Report as JSON.")


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
    from diffclass.jobs import check_map, draw_map, embedding_costs, report_embedding
    from diffclass.plots import EmbeddingDisplay
    from diffclass.system.costs import Forecast
    from diffclass.system.progress import stage
    from diffclass_tables.io import write_rows

    part.check()
    check_picture(given.picture)
    others = present(given.picture, given.report)
    check_outputs([given.output], others, [table, *part.files], overwrite=running.overwrite)
    with console.timing():
        with stage("opening"):
            rows = part.opened(table, random_state=running.random_state)
            opened = rows.table
        model = coordinates.model(running.random_state, bandwidth="attached")
        check_map(model, opened.n_rows)
        costs = embedding_costs(rows.size(model.n_neighbors), model)
        memory = Forecast.of(rows.costs() | costs)
        forecast_printer(console, _SMALLER, force=running.force)(memory)
        model.set_params(affinity=rows.affinity).fit(rows.points)
        found = rows.placed(model.embedding_.astype(float), float("nan"))
        with stage("writing"):
            names = [f"diffusion {i + 1}" for i in range(found.shape[1])]
            columns = dict(zip(names, found.T, strict=True))
            write_rows(given.output, opened, columns, matrix=found, overwrite=running.overwrite)
            if given.picture is not None:

                def draw(axes: Any) -> None:
                    components = (0, 1)[: model.embedding_.shape[1]]
                    EmbeddingDisplay(model.embedding_, components=components).plot(axes)

                draw_map(given.picture, model, draw, overwrite=running.overwrite)
    said = report_embedding(model, opened.n_rows, memory=memory, costs=costs_of(console))
    give_report(console, said, given.report, overwrite=running.overwrite)
