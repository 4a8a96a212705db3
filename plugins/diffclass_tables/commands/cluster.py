"""``diffclass cluster`` on a table: rows in, clusters without labels out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

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
from diffclass_tables.commands._rows import (
    OUTPUT,
    SMALLER,
    RowOptions,
    check_outputs,
    label_files,
    table_argument,
)
from diffclass_tables.options import OPTIONS


@dataclass(frozen=True)
class _Given:
    output: Path = option(f"Id and cluster of each row: {OUTPUT}", short="-o", required=True)
    clusters: int | None = option(
        "Number of clusters; by default the one before the widest gap of the walk's spectrum.",
        short="-k",
        of=OPTIONS["clusters"],
    )
    method: str = option(
        "How clusters are found in diffusion coordinates. kmeans: around means. modes: around "
        "dense rows that are far from denser ones (LUND).",
        of=OPTIONS["method"],
        default="kmeans",
    )
    truth: str | None = option(
        "Known classes, as classify's labels: prints how well clusters agree with them."
    )
    report: Path | None = option("Report as JSON.")


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
    from diffclass import DiffusionClustering, DiffusionModes
    from diffclass.clustering import N_NEIGHBORS
    from diffclass.kernels import DensityWeighted, SharedNeighbors
    from diffclass.system.progress import stage
    from diffclass_tables.io import read_row_labels, write_rows
    from diffclass_tables.jobs.forecasts import graph_forecast
    from diffclass_tables.jobs.others import cluster_rows

    part.check()
    truth = label_files(given.truth)
    inputs = [table, *truth, *part.files]
    check_outputs([given.output], present(given.report), inputs, overwrite=running.overwrite)
    with console.timing():
        with stage("opening"):
            rows = part.opened(table, given.truth, random_state=running.random_state)
            known = None if given.truth is None else read_row_labels(given.truth, rows.table)
        kernel = DensityWeighted(SharedNeighbors())
        memory = graph_forecast(rows, kernel, N_NEIGHBORS)
        forecast_printer(console, SMALLER, force=running.force)(memory)
        made = DiffusionModes if given.method == "modes" else DiffusionClustering
        model = made(
            "auto" if given.clusters is None else given.clusters, random_state=running.random_state
        )
        found, report = cluster_rows(rows, model, known)
        with stage("writing"):
            write_rows(given.output, rows.table, found, overwrite=running.overwrite)
    said = replace(report, memory=memory, costs=costs_of(console))
    give_report(console, said, given.report, overwrite=running.overwrite)
