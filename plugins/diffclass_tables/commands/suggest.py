"""``diffclass suggest`` on a table: rows and labels in, rows to label next out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from diffclass.command_line import (
    BOUND_MISSED,
    FILE_OR_WORD,
    Console,
    RunOptions,
    SuggestOptions,
    WalkOptions,
    command,
    common_options,
    forecast_printer,
    give_report,
    names_of,
    option,
    options,
    output_option,
    refuse_without_effect,
)
from diffclass_tables.commands._rows import (
    LABELS,
    SMALLER,
    RowOptions,
    check_outputs,
    table_argument,
)


@dataclass(frozen=True)
class _Given(SuggestOptions):
    labels: str | None = option(
        f"{LABELS} Without labels: rows that stand for most others.", type=FILE_OR_WORD
    )
    output: Path = output_option(
        "Ids of the rows, with an empty column to fill in: .csv, .tsv, .parquet, .feather.",
        short="-o",
        required=True,
    )


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
) -> int:
    """Suggest which rows of TABLE to label next, or first, the most useful first.

    The file has an empty column "class": filled in, it is one of labels. Exit code 4: the rows are
    there, but the labels did not cover the graph by --max-time.
    """
    from diffclass.jobs import suggest_points
    from diffclass.system.progress import stage
    from diffclass_tables.io import read_row_labels
    from diffclass_tables.io.results import write_suggestions
    from diffclass_tables.jobs.classification import row_prior

    part.check()
    walk.check()
    if given.labels is None:
        refuse_without_effect(
            [*names_of(WalkOptions), "rule", "label_variable"], "without --labels"
        )
    if given.output.suffix.lower() not in (".csv", ".tsv", ".parquet", ".feather"):
        raise click.UsageError("suggestions are written as .csv, .tsv, .parquet or .feather")
    check_outputs(table, [given.output], overwrite=running.overwrite)
    with console.timing():
        with stage("opening"):
            rows = part.opened(table, given.labels, random_state=running.random_state)
            y = prior = None
            if given.labels is not None:
                y = read_row_labels(given.labels, rows.table, variable=given.label_variable)
        if walk.class_sizes is not None and y is not None:
            prior = row_prior(walk.class_sizes, y, rows.table.n_rows)
        report = suggest_points(
            rows,
            y,
            given.number,
            rule=given.rule,
            classifier=walk.classifier_of(running.random_state, prior),
            random_state=running.random_state,
            before=forecast_printer(console, SMALLER, force=running.force),
        )
        with stage("writing"):
            found, again = report.suggestions, running.overwrite
            write_suggestions(given.output, rows.table, found, overwrite=again)
    if len(found) < given.number:
        whose = "these" if y is None else "these or to labelled ones"
        console.say(f"only {len(found)} rows are suggested: all others are equal to {whose}")
    give_report(console, report, found)
    return 0 if report.is_covered else BOUND_MISSED
