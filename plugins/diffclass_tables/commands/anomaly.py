"""``diffclass anomaly`` on a table: rows in, scores of how unlike the others each is out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from diffclass.command_line import (
    AnomalyOptions,
    Console,
    RunOptions,
    command,
    common_options,
    forecast_printer,
    give_report,
    options,
    output_option,
)
from diffclass_tables.commands._rows import (
    OUTPUT,
    SMALLER,
    RowOptions,
    check_outputs,
    table_argument,
)

if TYPE_CHECKING:
    import numpy as np

_UNMARKED = ("none", "0", "false")  # what is no anomaly


@dataclass(frozen=True)
class _Given(AnomalyOptions):
    output: Path = output_option(f"Id and score of each row: {OUTPUT}", short="-o", required=True)


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
    from diffclass.jobs import detection_of, find_anomalies, report_anomalies
    from diffclass.system.progress import stage
    from diffclass_tables.io import read_row_labels, write_rows

    part.check()
    if part.graph is not None:
        raise click.UsageError("anomalies are found among features; leave --graph out")
    check_outputs(table, [given.output], overwrite=running.overwrite)
    with console.timing():
        with stage("opening"):
            rows = part.opened(table, given.truth, random_state=running.random_state)
            known = None if given.truth is None else read_row_labels(given.truth, rows.table)
        found = find_anomalies(
            rows,
            given.model(running.random_state),
            before=forecast_printer(console, SMALLER, force=running.force),
        )
        curves = {} if known is None else {found.method: detection_of(found, _marked(known))}
        with stage("writing"):
            columns = {"score": found.scores}
            write_rows(given.output, rows.table, columns, overwrite=running.overwrite)
    said = report_anomalies(found, curves=curves)
    give_report(console, said, found.scores)


def _marked(known: np.ndarray) -> np.ndarray:
    """Return which rows are called an anomaly."""
    import numpy as np

    return np.array([str(value).lower() not in _UNMARKED for value in known.tolist()])
