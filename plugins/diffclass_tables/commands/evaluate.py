"""``diffclass evaluate`` on a table: classes of rows against the truth."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from diffclass.command_line import (
    FILE,
    Console,
    command,
    common_options,
    give_report,
    option,
    options,
    overwrite_option,
    present,
)


@dataclass(frozen=True)
class _Given:
    labels: str | None = option("The same as TRUTH; also a column of CLASSES.")
    fitted: str | None = option("Labels that the classes were found with: left out of TRUTH.")
    id_column: str | None = option("Column of ids; by default 'id'.", names=("--id",))
    class_variable: str = option("Column of the classes that were found.", default="class")
    truth_variable: str | None = option("Column of the true classes.", hidden=True)
    report: Path | None = option("Report as JSON.")
    overwrite: bool = overwrite_option()


@command(epilog="Example: diffclass evaluate classes.csv truth.csv")
@click.argument("classes", type=FILE)
@click.argument("truth", type=str, required=False)
@options(_Given, "given")
@common_options
def evaluate(classes: Path, truth: str | None, *, given: _Given, console: Console) -> None:
    """Compare the classes of rows in CLASSES, as classify writes them, with TRUTH.

    TRUTH is a file of ids and classes, as classify's labels. Rows without a class count as wrong;
    labels that the classes were found with count as right, unless they are left out (--fitted).
    """
    from diffclass.output import check_apart, require_writable
    from diffclass_tables.io import open_table, read_row_labels
    from diffclass_tables.jobs.evaluation import evaluate_rows

    source = given.labels if truth is None else truth
    if source is None or (truth is not None and given.labels is not None):
        raise click.UsageError("give the truth once: after the classes, as TRUTH, or with --labels")
    outputs = [require_writable(path, overwrite=given.overwrite) for path in present(given.report)]
    check_apart(outputs, [classes, Path(source)])
    table = open_table(classes, id_column=given.id_column)
    facts: dict[str, Any] = {"variable": given.truth_variable}
    report = evaluate_rows(
        found=read_row_labels(given.class_variable, table),
        truth=read_row_labels(source, table, **facts),
        fitted=None if given.fitted is None else read_row_labels(given.fitted, table),
        probability=table.column("probability") if "probability" in table.column_names else None,
    )
    give_report(console, report, given.report, overwrite=given.overwrite)
