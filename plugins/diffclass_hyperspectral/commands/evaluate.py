"""``diffclass evaluate``: a class map against the truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diffclass.command_line.console import Console, common_options, overwrite_option

if TYPE_CHECKING:
    from diffclass_hyperspectral.workflows.map_evaluation import MapEvaluation

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("class_map", metavar="MAP", type=_PATH)
@click.argument("truth", type=_PATH, required=False)
@click.option("--labels", type=_PATH, help="The same as TRUTH.")
@click.option("--margin", type=_PATH, help="Margins of MAP: does a high one mean right?")
@click.option("--probability", type=_PATH, help="Posteriors of MAP: are they calibrated?")
@click.option(
    "--areas",
    is_flag=True,
    help="Class areas corrected by TRUTH, which has to be a random sample of each mapped class.",
)
@click.option("--fitted", type=_PATH, help="Labels that MAP was made with: left out of TRUTH.")
@click.option("--map-variable", help="Array to take from a .mat map with several.")
@click.option("--truth-variable", help="Array to take from a .mat truth with several.")
@click.option("--report", type=_PATH, help="Write the scores as JSON.")
@click.option("--picture", type=_PATH, help="Draw confusion matrix and curves: .png.")
@overwrite_option
@common_options
def evaluate(
    class_map: Path,
    truth: Path | None,
    labels: Path | None,
    map_variable: str | None,
    truth_variable: str | None,
    report: Path | None,
    picture: Path | None,
    overwrite: bool,
    *,
    console: Console,
    areas: bool,
    **inputs: Path | None,
) -> None:
    """Compare the class map MAP with the label image TRUTH, where TRUTH is labelled.

    Unclassified pixels of MAP count as wrong. Labels that MAP was made with count as right:
    compare with labels that were held out, leave them out (--fitted), or let classify hold some
    out (--holdout).
    """
    from diffclass_hyperspectral import read_labels
    from diffclass_hyperspectral.io.map_files import check_outputs
    from diffclass_hyperspectral.workflows.map_evaluation import evaluate_map
    from diffclass_hyperspectral.workflows.reports import write_json

    if (truth is None) == (labels is None):
        raise click.UsageError("give the truth once: as TRUTH or with --labels")
    given = truth or labels
    assert given is not None
    _check_picture(picture)
    read = [class_map, given, *(path for path in inputs.values() if path is not None)]
    written = [path for path in (report, picture) if path is not None]
    check_outputs([], written, read, overwrite=overwrite)
    found = read_labels(class_map, variable=map_variable)
    known = read_labels(given, variable=truth_variable, grid=found)
    evaluation = evaluate_map(found, known, areas=areas, **inputs)
    facts = evaluation.to_dict()
    if report is not None:
        write_json(report, facts, overwrite=overwrite)
    if picture is not None:
        _draw(evaluation, picture, overwrite=overwrite)
    console.give(facts, "\n".join(_lines(evaluation, facts)))


def _check_picture(picture: Path | None) -> None:
    if picture is not None and picture.suffix.lower() != ".png":
        raise click.UsageError(f"--picture is written as .png, not as {picture.name}")


def _draw(evaluation: MapEvaluation, path: Path, *, overwrite: bool) -> None:
    from diffclass.output import replacing
    from diffclass.plots import plot_evaluation

    figure = plot_evaluation(
        evaluation.scores,
        class_names=evaluation.names,
        margin=evaluation.margin,
        thresholds=evaluation.thresholds,
        probability=evaluation.probability,
    )
    with replacing(path, overwrite=overwrite) as temporary:
        figure.savefig(temporary, dpi=120, format="png")


def _lines(evaluation: MapEvaluation, facts: dict[str, Any]) -> list[str]:
    from diffclass_hyperspectral.workflows.reports import (
        area_lines,
        block_lines,
        certainty_lines,
        score_lines,
    )

    lines = score_lines(evaluation.scores, evaluation.names)
    lines += block_lines(facts["by_blocks"])
    lines += certainty_lines(facts)
    if facts["areas"] is not None:
        lines += area_lines(facts["areas"], evaluation.names)
    return lines
