"""``diffclass evaluate``: a class map against the truth."""

from __future__ import annotations

from pathlib import Path

import click

from diffclass.console import Console, common_options, overwrite_option


@click.command()
@click.argument("class_map", metavar="MAP", type=click.Path(path_type=Path))
@click.argument("truth", type=click.Path(path_type=Path))
@click.option("--map-variable", help="Array to take from a .mat map with several.")
@click.option("--truth-variable", help="Array to take from a .mat truth with several.")
@click.option("--report", type=click.Path(path_type=Path), help="Write the scores as JSON.")
@overwrite_option
@common_options
def evaluate(
    class_map: Path,
    truth: Path,
    map_variable: str | None,
    truth_variable: str | None,
    report: Path | None,
    overwrite: bool,
    *,
    console: Console,
) -> None:
    """Compare the class map MAP with the label image TRUTH, where TRUTH is labelled.

    Unclassified pixels of MAP count as wrong. Labels that MAP was made with count as right:
    compare with labels that were held out, or let classify do so (--holdout).
    """
    from diffclass.evaluation import classification_scores
    from diffclass.exceptions import DataError
    from diffclass_hyperspectral import read_labels
    from diffclass_hyperspectral.maps import check_outputs
    from diffclass_hyperspectral.reports import score_lines, write_json

    if report is not None:
        check_outputs([], [report], [class_map, truth], overwrite=overwrite)
    found, true = (
        read_labels(class_map, variable=map_variable),
        read_labels(truth, variable=truth_variable),
    )
    if found.shape != true.shape:
        raise DataError(
            f"{class_map} has {found.shape[0]} x {found.shape[1]} pixels, {truth} "
            f"{true.shape[0]} x {true.shape[1]}; give a map and a truth of the same scene"
        )
    known = true.ids > 0
    if not known.any():
        raise DataError(f"{truth}: no pixel is labelled; there is nothing to compare with")
    scores = classification_scores(true.ids[known], found.ids[known])
    if report is not None:
        write_json(report, scores.to_dict(), overwrite=overwrite)
    names = {entry.id: entry.name for entry in true.table.entries}
    console.give(scores.to_dict(), "\n".join(score_lines(scores, names)))
