"""``diffclass anomaly`` on a table: rows in, scores of how unlike the others each is out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import click

from diffclass.command_line import (
    Console,
    RunOptions,
    command,
    common_options,
    costs_of,
    forecast_printer,
    give_report,
    option,
    options,
    present,
)
from diffclass.options import COUNT
from diffclass_tables.commands._rows import (
    OUTPUT,
    SMALLER,
    RowOptions,
    check_outputs,
    label_files,
    table_argument,
)


@dataclass(frozen=True)
class _Given:
    output: Path = option(f"Id and score of each row: {OUTPUT}", short="-o", required=True)
    truth: str | None = option(
        "Known anomalies, as classify's labels; 0 and empty are none: prints the area under the "
        "ROC curve."
    )
    neighbors: int = option(
        "Neighbours of a row in the graph; more than anomalies that are alike.",
        of=COUNT,
        default=32,
    )
    time: int = option(
        "Steps of the walk. More find groups of anomalies that are alike.",
        of=COUNT,
        default=1,
    )
    report: Path | None = option("Report as JSON.")


@command(epilog="Example: diffclass anomaly measurements.csv -o scores.csv")
@table_argument()
@options(_Given, "given")
@options(RowOptions, "part")
@options(RunOptions, "running")
@common_options
def anomaly(
    table: Path, *, given: _Given, part: RowOptions, running: RunOptions, console: Console
) -> None:
    """Score every row of TABLE by how unlike the others it is.

    The report lists the ten highest scores. Rows with missing values have none.
    """
    from diffclass import DiffusionAnomaly
    from diffclass.kernels import Gaussian
    from diffclass.system.progress import stage
    from diffclass_tables.io import read_row_labels, write_rows
    from diffclass_tables.jobs.forecasts import graph_forecast
    from diffclass_tables.jobs.others import score_rows

    part.check()
    if part.graph is not None:
        raise click.UsageError("anomalies are found among features; leave --graph out")
    truth = label_files(given.truth)
    check_outputs(
        [given.output], present(given.report), [table, *truth], overwrite=running.overwrite
    )
    with console.timing():
        with stage("opening"):
            rows = part.opened(table, given.truth, random_state=running.random_state)
            known = None if given.truth is None else read_row_labels(given.truth, rows.table)
        memory = graph_forecast(rows, Gaussian(), given.neighbors)
        forecast_printer(console, SMALLER, force=running.force)(memory)
        model = DiffusionAnomaly(
            n_neighbors=given.neighbors, time=given.time, random_state=running.random_state
        )
        found, report = score_rows(rows, model, known)
        with stage("writing"):
            write_rows(given.output, rows.table, found, overwrite=running.overwrite)
    said = replace(report, memory=memory, costs=costs_of(console))
    give_report(console, said, given.report, overwrite=running.overwrite)
