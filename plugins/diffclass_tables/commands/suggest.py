"""``diffclass suggest`` on a table: rows and labels in, rows to label next out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import click

from diffclass.command_line import (
    Console,
    RunOptions,
    WalkOptions,
    command,
    common_options,
    costs_of,
    forecast_printer,
    give_report,
    names_of,
    option,
    options,
    present,
    refuse_without_effect,
)
from diffclass_tables.commands._rows import (
    LABELS,
    SMALLER,
    RowOptions,
    check_outputs,
    label_files,
    table_argument,
)
from diffclass_tables.options import OPTIONS


@dataclass(frozen=True)
class _Given:
    labels: str | None = option(f"{LABELS} Without labels: rows that stand for most others.")
    output: Path = option(
        "Ids of the rows, with an empty column to fill in: .csv, .tsv, .parquet, .feather.",
        short="-o",
        required=True,
    )
    rule: str = option(
        "coverage: rows that stand for many others in doubt. margin: rows where classes are close.",
        of=OPTIONS["rule"],
        default="coverage",
    )
    number: int = option(
        "Rows; best as many as will be labelled at once.",
        short="-n",
        of=OPTIONS["n_rows"],
        default=10,
    )
    label_variable: str | None = option(
        "Column or array of the classes in the file of labels.", hidden=True
    )
    report: Path | None = option("Report as JSON.")


@command(epilog="Example: diffclass suggest embeddings.npy --labels labels.csv -o next.csv")
@table_argument()
@options(_Given, "given")
@options(RowOptions, "part")
@options(WalkOptions, "walk")
@options(RunOptions, "running")
@common_options
def suggest(
    table: Path,
    *,
    given: _Given,
    part: RowOptions,
    walk: WalkOptions,
    running: RunOptions,
    console: Console,
) -> None:
    """Suggest which rows of TABLE to label next, or first, the most useful first.

    The file has an empty column "class": filled in, it is one of labels.
    """
    from diffclass.kernels import check_kernel
    from diffclass.system.progress import stage
    from diffclass_tables.io import read_row_labels
    from diffclass_tables.io.results import write_suggestions
    from diffclass_tables.jobs.classification import row_prior
    from diffclass_tables.jobs.forecasts import graph_forecast
    from diffclass_tables.jobs.others import suggest_rows

    part.check()
    walk.check()
    if given.labels is None:
        refuse_without_effect([*names_of(WalkOptions), "rule"], "without --labels")
    if given.output.suffix.lower() not in (".csv", ".tsv", ".parquet", ".feather"):
        raise click.UsageError("suggestions are written as .csv, .tsv, .parquet or .feather")
    labels = label_files(given.labels)
    inputs = [table, *labels, *part.files]
    check_outputs([given.output], present(given.report), inputs, overwrite=running.overwrite)
    with console.timing():
        with stage("opening"):
            rows = part.opened(table, given.labels, random_state=running.random_state)
            opened = rows.table
            y = None
            if given.labels is not None:
                y = read_row_labels(given.labels, opened, variable=given.label_variable)
        sizes = walk.class_sizes
        prior = None if sizes is None or y is None else row_prior(sizes, y, opened.n_rows)
        classifier = walk.classifier_of(running.random_state, prior)
        kernel = check_kernel(classifier.kernel or "shared")
        memory = graph_forecast(rows, kernel, classifier.n_neighbors)
        forecast_printer(console, SMALLER, force=running.force)(memory)
        report = suggest_rows(
            rows,
            y,
            given.number,
            rule=given.rule,
            classifier=classifier,
            random_state=running.random_state,
        )
        with stage("writing"):
            write_suggestions(given.output, opened, report.rows, overwrite=running.overwrite)
    said = replace(report, memory=memory, costs=costs_of(console))
    give_report(console, said, given.report, overwrite=running.overwrite)
