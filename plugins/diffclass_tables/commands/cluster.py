"""``diffclass cluster`` on a table: rows in, clusters without labels out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from diffclass.command_line import (
    ClusterOptions,
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


@dataclass(frozen=True)
class _Given(ClusterOptions):
    output: Path = output_option(f"Id and cluster of each row: {OUTPUT}", short="-o", required=True)


@command(epilog="Example: diffclass cluster embeddings.npy -o clusters.csv")
@table_argument()
@options(_Given, "given")
@options(RowOptions, "part")
@options(RunOptions, "running")
@common_options
def cluster(
    table: Path, *, given: _Given, part: RowOptions, running: RunOptions, console: Console
) -> None:
    """Divide the rows of TABLE into clusters: classes without labels.

    Clusters are numbered by falling size; rows with missing values are 0.
    """
    from diffclass.jobs import cluster as find_clusters
    from diffclass.jobs import report_clusters
    from diffclass.system.progress import stage
    from diffclass.targets import encode_labels
    from diffclass_tables.io import read_row_labels, write_rows

    part.check()
    check_outputs(table, [given.output], overwrite=running.overwrite)
    with console.timing():
        with stage("opening"):
            rows = part.opened(table, given.truth, random_state=running.random_state)
            known = names = None
            if given.truth is not None:
                classes, codes = encode_labels(read_row_labels(given.truth, rows.table))
                known, names = codes + 1, {i: str(name) for i, name in enumerate(classes, start=1)}
        found = find_clusters(
            rows,
            given.model(running.random_state),
            before=forecast_printer(console, SMALLER, force=running.force),
        )
        with stage("writing"):
            columns = {"cluster": found.numbers.astype("int64")}
            write_rows(given.output, rows.table, columns, overwrite=running.overwrite)
    said = report_clusters(found, truth=known, class_names=names)
    give_report(console, said, found.numbers)
