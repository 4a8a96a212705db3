"""``diffclass evaluate`` on a table: classes of rows against the truth."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diffclass.command_line import (
    FILE,
    FILE_OR_WORD,
    Console,
    command,
    common_options,
    give_report,
    option,
    options,
    overwrite_option,
    report_option,
    variable_option,
)
from diffclass_tables.commands._rows import check_outputs

if TYPE_CHECKING:
    import numpy as np

    from diffclass_tables.io import Table


@dataclass(frozen=True)
class _Given:
    labels: str | None = option("The same as TRUTH; also a column of CLASSES.", type=FILE_OR_WORD)
    fitted: str | None = option(
        "Labels that the classes were found with: left out of TRUTH.", type=FILE_OR_WORD
    )
    id_column: str | None = option(
        "Column of ids; by default 'id', else the first, where classify writes them.",
        names=("--id",),
    )
    class_variable: str | None = option(
        "Column of the classes that were found; by default 'class', of .h5ad 'diffclass_class'."
    )
    truth_variable: str | None = variable_option("truth file")
    report: Path | None = report_option()
    overwrite: bool = overwrite_option()


@command(epilog="Example: diffclass evaluate classes.csv truth.csv")
@click.argument("classes", type=FILE)
@click.argument("truth", type=FILE_OR_WORD, required=False)
@options(_Given, "given")
@common_options
def evaluate(classes: Path, truth: str | None, *, given: _Given, console: Console) -> None:
    """Compare the classes of rows in CLASSES, as classify writes them, with TRUTH.

    TRUTH is a file of ids and classes, as classify's labels. Rows without a class count as wrong;
    labels that the classes were found with count as right, unless they are left out (--fitted).
    """
    from diffclass_tables.io import column_labels, read_row_labels
    from diffclass_tables.jobs.evaluation import evaluate_rows

    source = given.labels if truth is None else truth
    if source is None or (truth is not None and given.labels is not None):
        raise click.UsageError("give the truth once: after the classes, as TRUTH, or with --labels")
    check_outputs(classes, [], overwrite=given.overwrite)
    table = _opened(classes, given)
    variable = given.class_variable or _column_of(table, "class")
    facts: dict[str, Any] = {"variable": given.truth_variable}
    report = evaluate_rows(
        found=column_labels(table, variable),
        truth=read_row_labels(source, table, **facts),
        fitted=None if given.fitted is None else read_row_labels(given.fitted, table),
        margin=_numbers(table, "margin"),
        probability=_numbers(table, "probability"),
    )
    give_report(console, report, report.to_dict())


def _opened(path: Path, given: _Given) -> Table:
    """Open results: a first column before that of the classes holds ids."""
    from diffclass_tables.io import ROW, open_table

    table = open_table(path, id_column=given.id_column, has_features=False)
    names, found = table.column_names, given.class_variable or "class"
    if table.id_name == ROW and names[1:2] == (found,):
        return open_table(path, id_column=names[0], has_features=False)
    return table


def _numbers(table: Table, name: str) -> np.ndarray | None:
    """Return a column of results; None where there is none."""
    column = _column_of(table, name)
    return table.column(column) if column in table.column_names else None


def _column_of(table: Table, name: str) -> str:
    """Return what a column of results is called in a table."""
    from diffclass_tables.io import PREFIX

    return PREFIX + name if PREFIX + name in table.column_names else name
