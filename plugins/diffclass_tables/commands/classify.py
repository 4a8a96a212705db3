"""``diffclass classify`` on a table: rows and labels in, classes and a report out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import click

from diffclass.command_line import (
    BOUND_MISSED,
    Console,
    RunOptions,
    WalkOptions,
    command,
    common_options,
    costs_of,
    forecast_sayer,
    give_report,
    option,
    options,
    present,
)
from diffclass_tables.commands._rows import (
    LABELS,
    OUTPUT,
    SMALLER,
    RowOptions,
    check_outputs,
    table_argument,
)


@dataclass(frozen=True)
class _Given:
    labels: str = option(LABELS, usual=True, required=True)
    output: Path = option(
        f"Id, class, probability and margin of each row: {OUTPUT}",
        short="-o",
        usual=True,
        required=True,
    )
    labels_per_class: int | None = option(
        "Fit on this many labels of each class, drawn by --seed, and hold the others out.",
        usual=True,
        type=click.IntRange(1),
    )
    holdout: bool = option("Hold half of the labels of each class out.", usual=True)
    level: float | None = option(
        "Add the set of classes that may be each row's own: this share of them, such as 0.9, is to "
        "hold the true one.",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
    )
    label_variable: str | None = option(
        "Column or array of the classes in the file of labels.", hidden=True
    )
    report: Path | None = option("Report as JSON.")


@command(epilog="Example: diffclass classify embeddings.npy --labels labels.csv -o classes.csv")
@table_argument()
@options(_Given, "given")
@options(RowOptions, "part")
@options(WalkOptions, "walk")
@options(RunOptions, "running")
@common_options
def classify(
    table: Path,
    *,
    given: _Given,
    part: RowOptions,
    walk: WalkOptions,
    running: RunOptions,
    console: Console,
) -> int:
    """Classify every row of TABLE from a few labels.

    Rows with missing values, and rows that no label reaches, get no class. Exit code 4: the classes
    are there, but the labels did not cover the graph by --max-time. Formats of TABLE: diffclass
    info table.csv --help.
    """
    from diffclass.progress import stage
    from diffclass.targets import encode_labels
    from diffclass_tables.io import read_row_labels, write_rows
    from diffclass_tables.jobs.classification import classify_rows, row_prior
    from diffclass_tables.jobs.forecasts import forecast_classification

    part.check()
    walk.check()
    labels = [Path(given.labels)] if Path(given.labels).exists() else []
    inputs = [table, *labels, *part.files]
    check_outputs(given.output, present(given.report), inputs, running)
    with console.timing():
        with stage("opening"):
            opened, graph = part.opened(table)
            y = read_row_labels(given.labels, opened, variable=given.label_variable)
        sizes = walk.class_sizes
        prior = None if sizes is None else row_prior(sizes, y, opened.n_rows)
        classifier = walk.classifier_of(running.seed, prior)
        before = forecast_sayer(console, SMALLER, force=running.force)
        memory = forecast_classification(
            opened, classifier, len(encode_labels(y)[0]), n_components=part.dimensions
        )
        before(memory)
        run = classify_rows(
            part.rows(opened, graph, running.seed),
            y,
            classifier=classifier,
            labels_per_class=given.labels_per_class,
            holdout=given.holdout,
            seed=running.seed,
            level=given.level,
        )
        with stage("writing"):
            write_rows(given.output, opened, run.columns, overwrite=running.overwrite)
    files = (str(given.output), *map(str, present(given.report)))
    said = replace(run.report, memory=memory, costs=costs_of(console), files=files)
    give_report(console, said, given.report, overwrite=running.overwrite)
    return 0 if run.is_covered else BOUND_MISSED
