"""``diffclass replay``: the map of a session, without a browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diffclass.command_line.console import Console, common_options, overwrite_option
from diffclass.command_line.forecasts import force_option, forecast_sayer
from diffclass_hyperspectral.commands._scene import (
    as_words,
    scene_files,
    scene_options,
    taken,
)

if TYPE_CHECKING:
    from diffclass_relabel.editor import SessionEditor

_PATH = click.Path(path_type=Path)
_SMALLER = "close other programs, or replay it on a machine with more memory"


@click.command(epilog="Example: diffclass replay scene.relabel.jsonl --scene scene.tif -o map.tif")
@click.argument("session", metavar="LOG", type=_PATH)
@click.option("--scene", type=_PATH, required=True, help="The scene that was labelled.")
@click.option(
    "-o", "--output", type=_PATH, required=True, help="Class map: .img, .tif, .png, .npy."
)
@click.option("--margin", type=_PATH, help="Margins: .img, .tif, .png, .npy.")
@click.option("--probability", type=_PATH, help="Posteriors, one band per class: .img, .tif, .npy.")
@click.option("--labels", type=_PATH, help="The painted labels: .img, .tif, .png, .npy.")
@click.option("--report", type=_PATH, help="Report as JSON.")
@scene_options
@force_option
@overwrite_option
@common_options
def replay(
    session: Path,
    scene: Path,
    *,
    console: Console,
    overwrite: bool,
    report: Path | None,
    force: bool,
    **options: Any,
) -> None:
    """Repeat all operations of the session file LOG and write the class map.

    The map is that of the session, bit for bit. A scene with other values than the session's is
    refused (exit code 3). LOG is only read, and may be in use. Bands, mask, roi and variable are
    the session's; name the files where they lie elsewhere now.
    """
    from diffclass.progress import stage
    from diffclass_hyperspectral.io.maps import check_outputs
    from diffclass_relabel.replaying import replayed

    files, opening = scene_files(options), as_words(taken(options))
    wanted = {"map": options.pop("output"), **options}
    images = [path for path in wanted.values() if path is not None]
    others = [] if report is None else [report]
    check_outputs(images, others, [session, scene, *files], overwrite=overwrite)
    with console.timing():
        before = forecast_sayer(console, _SMALLER, force=force)
        editor = replayed(session, scene, opening=opening, before=before)
        _say_orthorectified(console, editor, wanted)
        with stage("writing"):
            _write(editor, wanted | {"report": report}, overwrite=overwrite)
    facts = _facts(editor, console)
    console.give(facts, _line(facts))


def _say_orthorectified(
    console: Console, editor: SessionEditor, wanted: dict[str, Path | None]
) -> None:
    """Say which maps of a scene in its sensor's geometry will be orthorectified; labels are not."""
    from diffclass_hyperspectral.io.maps import orthorectification_line

    paths = [path for what, path in wanted.items() if path is not None and what != "labels"]
    line = orthorectification_line(editor.workspace.scene, paths)
    if line is not None:
        console.say(line)


def _write(editor: SessionEditor, wanted: dict[str, Path | None], *, overwrite: bool) -> None:
    from diffclass_relabel.exports import export

    for what, path in wanted.items():
        if path is not None:
            export(editor, what, path, overwrite=overwrite)


def _facts(editor: SessionEditor, console: Console) -> dict[str, Any]:
    from diffclass_relabel.exports import describe_session

    return describe_session(editor) | {
        "seconds": console.seconds | {"total": console.total_seconds},
    }


def _line(facts: dict[str, Any]) -> str:
    return (
        f"{facts['operations']} operations, {facts['strokes']} strokes on "
        f"{facts['labelled_pixels']} pixels, tau {facts['tau']}; mean margin "
        f"{facts['mean_margin']:.3f}, unclassified {facts['unclassified']} pixels"
    )
