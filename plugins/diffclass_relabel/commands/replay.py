"""``diffclass replay``: the map of a session, without a browser."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diffclass.command_line import (
    FILE,
    Console,
    command,
    common_options,
    files_read,
    force_option,
    forecast_printer,
    is_of_kind,
    option,
    options,
    output_option,
    overwrite_option,
    present,
)
from diffclass_hyperspectral.commands._results import place_maps, say_lost_names
from diffclass_hyperspectral.commands._scenes import ONE_MAP, ScenePart, output_names
from diffclass_hyperspectral.io.file_names import is_for_each

if TYPE_CHECKING:
    from diffclass_relabel.protocol import Result
    from diffclass_relabel.session import SessionEditor

_SMALLER = "close other programs, or replay it on a machine with more memory"


@dataclass(frozen=True)
class _Given:
    scenes: tuple[Path, ...] = option(
        "The scene or table that was labelled; of several scenes the option is repeated, in their "
        "order.",
        names=("--scene",),
        type=FILE,
        multiple=True,
        required=True,
    )
    output: Path = output_option(
        "Class map: .img, .tif, .png, .npy, or polygons, .gpkg or .geojson; of several scenes as "
        "classify's. Of a table: class, probability and margin of each row, .csv, .tsv, .parquet, "
        ".feather, .npz, .h5ad.",
        short="-o",
        required=True,
    )
    margin: Path | None = output_option("Margins: .img, .tif, .png, .npy.")
    probability: Path | None = output_option("Posteriors, one band per class: .img, .tif, .npy.")
    labels: Path | None = output_option(
        "The painted labels: .img, .tif, .png, .npy; of a table as -o."
    )
    report: Path | None = output_option("Report as JSON.")
    force: bool = force_option()
    overwrite: bool = overwrite_option()

    @property
    def images(self) -> dict[Result, Path]:
        """The rasters that are wanted, by what they are."""
        named: dict[Result, Path | None] = {
            "map": self.output,
            "margin": self.margin,
            "probability": self.probability,
            "labels": self.labels,
        }
        return {what: path for what, path in named.items() if path is not None}

    def check_scenes(self, inputs: list[Path], report: list[Path]) -> None:
        """Refuse outputs of scenes that cannot be written or would replace an input."""
        from diffclass_hyperspectral.io.maps import check_outputs

        rasters = output_names([*self.images.values()], self.scenes)
        numbers = present(self.margin, self.probability)
        check_outputs(rasters, report, inputs, numbers=numbers, overwrite=self.overwrite)

    def check_table(self) -> None:
        """Refuse outputs of a table that cannot be written or would replace an input."""
        from diffclass_tables.commands._rows import check_outputs

        if self.margin is not None or self.probability is not None:
            raise click.UsageError("--margin and --probability are columns of -o of a table")
        check_outputs(self.scenes[0], [*self.images.values()], overwrite=self.overwrite)


@command(epilog="Example: diffclass replay scene.relabel.jsonl --scene scene.tif -o map.tif")
@click.argument("session", metavar="LOG", type=FILE)
@options(_Given, "given")
@options(ScenePart, "part")
@common_options
def replay(session: Path, *, given: _Given, part: ScenePart, console: Console) -> None:
    """Repeat all operations of the session file LOG and write the class map.

    The map is that of the session, bit for bit. A scene with other values than the session's is
    refused (exit code 3). LOG is only read, and may be in use. Bands, mask, roi and variable are
    the session's; name the files where they lie elsewhere now.
    """
    from diffclass.system.progress import stage
    from diffclass_relabel.queries import export
    from diffclass_relabel.session import class_table, replayed

    inputs, report = files_read(), present(given.report)
    over_table = is_of_kind("table", given.scenes[0])
    if over_table:
        given.check_table()
    else:
        given.check_scenes(inputs, report)

    def check_places(found: Any) -> None:
        if not (over_table or found.is_mosaic or is_for_each(given.output)):
            raise click.UsageError(ONE_MAP)

    with console.timing():
        before = forecast_printer(console, _SMALLER, force=given.force)
        words = {name: value for name, value in part.words.items() if value is not None}
        if over_table and words:
            raise click.UsageError(f"--{next(iter(words))} is for scenes; leave it out of a table")
        editor = replayed(
            session, given.scenes, opening=words, on_opened=check_places, before=before
        )
        if not over_table:  # labels are written as they were painted
            maps = [path for what, path in given.images.items() if what != "labels"]
            place_maps(console, maps, editor.workspace.scene)
        with stage("writing"):
            for what, path in given.images.items():
                export(editor, what, path, overwrite=given.overwrite)
                if what in ("map", "labels") and not over_table:
                    say_lost_names(console, path, class_table(editor.session.classes))
            for path in report:
                export(editor, "report", path, overwrite=given.overwrite)
    facts = _facts(editor, console)
    console.give(facts, _line(facts))


def _facts(editor: SessionEditor, console: Console) -> dict[str, Any]:
    from diffclass_relabel.queries import describe_session

    return describe_session(editor) | {
        "seconds": console.seconds | {"total": console.total_seconds},
    }


def _line(facts: dict[str, Any]) -> str:
    return (
        f"{facts['operations']} operations, {facts['strokes']} strokes on "
        f"{facts['labelled_pixels']} pixels, tau {facts['tau']}; mean margin "
        f"{facts['mean_margin']:.3f}, unclassified {facts['unclassified']} pixels"
    )
