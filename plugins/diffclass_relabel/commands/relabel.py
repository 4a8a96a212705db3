"""``diffclass relabel``: paint labels on a scene in the browser and see the map follow."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diffclass.command_line.console import INTERRUPTED, Console, common_options

if TYPE_CHECKING:
    import socket

    from diffclass_relabel.editor import SessionEditor

_PATH = click.Path(path_type=Path)
_SUFFIX = ".relabel.jsonl"


class _Time(click.ParamType):
    """A number of steps, or the word for the rule that chooses it."""

    name = "steps|margin"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | str:
        """Return "margin" or a positive int."""
        if value == "margin":
            return "margin"
        try:
            steps = int(value)
        except ValueError:
            steps = 0
        if steps < 1:
            self.fail(f'{value!r} is neither a number of steps nor "margin"', param, ctx)
        return steps


@click.command()
@click.argument("scene", type=_PATH)
@click.option(
    "--labels",
    type=_PATH,
    help="Labels that a new session begins with: an image or shapes, as for classify.",
)
@click.option(
    "--session",
    type=_PATH,
    help=f"Session file: continued if it exists. By default the scene's name with {_SUFFIX}, "
    "beside it, or here where that folder cannot be written.",
)
@click.option(
    "--features",
    type=click.Choice(["spectral", "spatial"]),
    help="Components of the spectra, alone (default) or together with smoothed ones: means within "
    "fields.",
)
@click.option("--components", type=click.IntRange(1), help="Number of components; 20 by default.")
@click.option(
    "--neighbors", type=click.IntRange(1), help="Neighbours of a pixel in the graph; 12 by default."
)
@click.option(
    "--label-mode",
    type=click.Choice(["summed", "free", "absorbing"]),
    help="How labels count. summed (default), free: they diffuse away, and count over the whole "
    "walk or at its end. absorbing: they stay.",
)
@click.option(
    "--tau",
    type=_Time(),
    help='Diffusion time in steps, or "margin" to choose it when labels are there; 12 by default.',
)
@click.option(
    "--max-time",
    type=click.IntRange(1),
    help="Last time to choose from; by default 1024 for up to 65,536 pixels, 256 for more.",
)
@click.option(
    "--seed", type=click.IntRange(0, 2**32 - 1), help="Seed of random choices; 0 by default."
)
@click.option("--variable", help="Array to take from a .mat scene with several.")
@click.option("--label-variable", help="Array to take from a .mat label file with several.")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to bind to; see --public."
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default=True,
    help="Port to bind to; 0: any that is free.",
)
@click.option(
    "--public",
    is_flag=True,
    help="Allow a --host that other machines can reach. Whoever has the address with its token "
    "can then see the scene, change the labels and fetch the results, and the connection is not "
    "encrypted: anyone on the network in between can read along. Better: an SSH tunnel.",
)
@click.option("--no-browser", is_flag=True, help="Do not open the page, only print its address.")
@common_options
def relabel(
    scene: Path,
    *,
    console: Console,
    labels: Path | None,
    session: Path | None,
    label_variable: str | None,
    host: str,
    port: int,
    public: bool,
    no_browser: bool,
    **settings: Any,
) -> None:
    """Label SCENE with strokes in the browser; the class map follows at once.

    Every stroke is on disk before it is answered: the same command continues the session where it
    was, and `diffclass replay` makes its map without a browser. The page's address, with a
    secret token, is printed when it is ready. Ctrl-C ends the server (exit code 130); nothing is
    lost.
    """
    from diffclass_hyperspectral.io.optional import require
    from diffclass_relabel.security import is_loopback

    for library in ("starlette", "uvicorn", "websockets"):
        require(library, extra="relabel")
    if not (public or is_loopback(host)):
        raise click.UsageError(
            f"--host {host} lets other machines in: say so with --public (see --help)"
        )
    from diffclass_relabel.editor import open_editor
    from diffclass_relabel.running import bound_socket

    with bound_socket(host, port) as listening:
        with console.timing():
            editor = open_editor(
                scene,
                _default_session(scene) if session is None else session,
                settings=settings,
                labels=labels,
                label_variable=label_variable,
            )
        _say_what_was_found(console, editor, labels)
        _serve(console, editor, listening, host, public=public, browser=not no_browser)
    click.get_current_context().exit(INTERRUPTED)


def _default_session(scene: Path) -> Path:
    folder = scene.parent if os.access(scene.parent, os.W_OK) else Path.cwd()
    return folder / (scene.stem + _SUFFIX)


def _say_what_was_found(console: Console, editor: SessionEditor, labels: Path | None) -> None:
    log = editor.log
    console.say(f"session {log.path}: {editor.version} operations so far")
    if log.torn is not None:
        console.say(
            f"its last line was torn, as by a killed process: put aside in {log.torn}, the "
            "operations before it are all there"
        )
    if labels is not None and editor.version > log.header["first_steps"]:
        console.say(f"the session began with {labels} and has gone on; it was not read again")


def _serve(
    console: Console,
    editor: SessionEditor,
    listening: socket.socket,
    host: str,
    *,
    public: bool,
    browser: bool,
) -> None:
    import logging

    from diffclass_relabel.running import Server
    from diffclass_relabel.security import Gate

    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    gate = Gate(host, listening.getsockname()[1], is_public=public)

    def ready() -> None:
        if public:
            click.echo(
                "warning: other machines can reach this server, and what passes is not encrypted",
                err=True,
            )
        click.echo(gate.url, err=True)
        if console.as_json:
            console.give({"url": gate.url, "session": str(editor.log.path)}, "")
        if browser:
            _open_page(gate.url)

    try:
        Server(editor, gate, ready).run(sockets=[listening])
    except KeyboardInterrupt:
        # raised again by uvicorn when all is closed: not an error but the usual end
        console.say(f"ended; {editor.version} operations are in {editor.log.path}")
    finally:
        editor.close()


def _open_page(url: str) -> None:
    import threading
    import webbrowser

    # some browsers block until they are closed
    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
