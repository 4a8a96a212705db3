"""``diffclass classify`` on a table: rows and labels in, classes and a report out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from diffclass.command_line import (
    BOUND_MISSED,
    BYTES,
    FILE_OR_WORD,
    Console,
    HoldoutOptions,
    RunOptions,
    WalkOptions,
    command,
    common_options,
    forecast_printer,
    give_report,
    option,
    options,
    output_option,
    present,
    refuse_without_effect,
    report_option,
    variable_option,
)
from diffclass_tables.commands._rows import (
    LABELS,
    OUTPUT,
    SMALLER,
    RowOptions,
    check_outputs,
    table_argument,
)
from diffclass_tables.options import OPTIONS

if TYPE_CHECKING:
    from diffclass.classifier import DiffusionClassifier
    from diffclass.jobs import InBlocks, InMemory


@dataclass(frozen=True)
class _Given:
    labels: str | None = option(LABELS, usual=True, type=FILE_OR_WORD)
    scores: Path | None = option(
        "Scores of rows and classes from elsewhere, such as similarities to the names of the "
        "classes, beside the labels or without any: a column for each class and one of ids (.csv, "
        ".tsv, .parquet, .feather), or .npy.",
        usual=True,
    )
    score_accuracy: float | None = option(
        "Share of the rows whose highest score is right, as far as you know it, such as 0.7. With "
        "one label per class it decides how much labels and scores count.",
        of=OPTIONS["score_accuracy"],
    )
    output: Path = output_option(
        f"Id, class, probability and margin of each row: {OUTPUT}",
        short="-o",
        usual=True,
        required=True,
    )
    level: float | None = option(
        "Add the set of classes that may be each row's own: this share of them, such as 0.9, is to "
        "hold the true one.",
        of=OPTIONS["level"],
    )
    label_variable: str | None = variable_option("label file")
    memory: int | None = option(
        "Memory to use, as 8GB. Rows and classes that need more are worked on block by block, on "
        "files next to the output that are removed at the end.",
        type=BYTES,
    )
    report: Path | None = report_option()


@contextmanager
def _in_memory_or_blocks(
    given: _Given, classifier: DiffusionClassifier, peak: int, console: Console
) -> Iterator[InMemory | InBlocks]:
    """Yield where rows are classified, on files for as long as the block lasts."""
    from diffclass.jobs import MEMORY, InBlocks

    if given.memory is None or peak <= given.memory:
        yield MEMORY
        return
    from diffclass.blocks import Scratch
    from diffclass.system.temporary_folders import TemporaryFolder

    console.say(
        f"{peak / 1e9:.1f} GB would be needed, {given.memory / 1e9:.1f} GB are given: work is done "
        "block by block"
    )
    classifier.set_params(kept_classes=None)
    name = f".{given.output.name}.scratch"
    with TemporaryFolder(name, parent=given.output.parent) as folder:
        yield InBlocks(Scratch(folder.path), given.memory)


@command(epilog="Example: diffclass classify embeddings.npy --labels labels.csv -o classes.csv")
@table_argument()
@options(_Given, "given")
@options(HoldoutOptions, "held")
@options(RowOptions, "part")
@options(WalkOptions, "walk")
@options(RunOptions, "running")
@common_options
def classify(
    table: Path,
    *,
    given: _Given,
    held: HoldoutOptions,
    part: RowOptions,
    walk: WalkOptions,
    running: RunOptions,
    console: Console,
) -> int:
    """Classify every row of TABLE from a few labels, or scores from elsewhere, or both.

    Rows with missing values, and rows that no label reaches, get no class. Exit code 4: the classes
    are there, but the labels did not cover the graph by --max-time, or blocks lack edges between
    them. Formats of TABLE: diffclass info table.csv --help.
    """
    import numpy as np

    from diffclass.jobs import Holdout, forecast_classification
    from diffclass.system.progress import stage
    from diffclass.targets import encode_labels
    from diffclass_tables.io import read_row_labels, read_row_scores, write_rows
    from diffclass_tables.jobs.classification import (
        classify_rows,
        kept_classes_of,
        row_prior,
    )

    part.check()
    walk.check()
    if given.labels is None and given.scores is None:
        raise click.UsageError("give --labels, --scores or both")
    if given.labels is None:
        without = ["labels_per_class", "holdout", "label_variable", "score_accuracy"]
        refuse_without_effect(without, "without --labels")
    if given.scores is None:
        refuse_without_effect(["score_accuracy"], "without --scores")
    check_outputs(table, [given.output], overwrite=running.overwrite)
    with console.timing():
        with stage("opening"):
            rows = part.opened(table, given.labels, random_state=running.random_state)
            opened = rows.table
            y = np.full(opened.n_rows, None, dtype=object)
            if given.labels is not None:
                y = read_row_labels(given.labels, opened, variable=given.label_variable)
            scores = None if given.scores is None else read_row_scores(given.scores, opened)
        sizes = walk.class_sizes
        prior = None if sizes is None else row_prior(sizes, y, opened.n_rows, scores)
        classifier = walk.classifier_of(running.random_state, prior)
        before = forecast_printer(console, SMALLER, force=running.force)
        n_scored = 0 if scores is None else scores.values.shape[1]
        n_classes = max(len(encode_labels(y)[0]), n_scored)
        classifier.set_params(kept_classes=kept_classes_of(classifier, opened.n_rows, n_classes))
        if classifier.kept_classes is not None:
            console.say(
                f"{opened.n_rows:,} rows of {n_classes:,} classes: each row keeps its "
                f"{classifier.kept_classes} likeliest classes"
            )
        memory = forecast_classification(rows, classifier, n_classes)
        with _in_memory_or_blocks(given, classifier, memory.peak, console) as place:
            if place.has_graph:
                before(memory)
            elif scores is not None or rows.graph is not None:
                raise click.UsageError(
                    "--scores and --graph need the graph in memory; give more --memory"
                )
            run = classify_rows(
                rows,
                y,
                scores=scores,
                score_accuracy=given.score_accuracy,
                classifier=classifier,
                holdout=Holdout(held.holdout, held.labels_per_class, running.random_state),
                level=given.level,
                place=place,
            )
            with stage("writing"):
                write_rows(given.output, opened, run.columns, overwrite=running.overwrite)
    files = (given.output, *present(given.report))
    said = replace(run.report, memory=memory, files=files)
    give_report(console, said, [repr(name) for name in run.columns["class"].tolist()])
    return BOUND_MISSED if run.report.misses_bound else 0
