"""``diffclass relabel``: paint labels on a scene in the browser and see the map follow."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import click

from diffclass.command_line.console import INTERRUPTED, Console, common_options
from diffclass.command_line.forecasts import force_option, forecast_sayer
from diffclass_hyperspectral.commands._match import match_option
from diffclass_hyperspectral.commands._scene import as_words, scene_options
from diffclass_hyperspectral.commands._tiles import only_one

_PATH = click.Path(path_type=Path)
_SMALLER = "ask for fewer --components or --neighbors, or label a part of the scene with --roi"


class _Time(click.ParamType):
    """A number of steps, or the name of the rule that chooses it."""

    name = "steps|auto|margin"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | str:
        """Return "auto", "margin" or a positive int."""
        if value in ("auto", "margin"):
            return str(value)
        try:
            steps = int(value)
        except ValueError:
            steps = 0
        if steps < 1:
            self.fail(f'{value!r} is neither a number of steps nor "auto" or "margin"', param, ctx)
        return steps


@click.command(epilog="Example: diffclass relabel scene.tif")
@only_one(
    "scene",
    "join the tiles to one file, as with rio merge, or label one and give its labels to diffclass "
    "classify with all",
    required=False,
)
@click.option(
    "--labels",
    type=_PATH,
    help="Labels to begin with, or to add to a session that exists (once, as one operation): an "
    "image or shapes, as for classify.",
)
@click.option(
    "--reference",
    type=_PATH,
    help="Known classes to compare the maps with, on the page under Numbers; no map is made with "
    "them. An image or shapes, as for --labels.",
)
@match_option("--labels and --reference", "the session")
@click.option(
    "--session",
    type=_PATH,
    help="Session file: continued if it exists. By default the scene's name with .relabel.jsonl, "
    "beside it, or here where that folder cannot be written.",
)
@click.option(
    "--features",
    type=click.Choice(["spectral", "spatial"]),
    help="Components of the spectra, alone (default) or together with smoothed ones: means within "
    "fields.",
)
@click.option(
    "--components",
    type=click.IntRange(1),
    help="Number of components; by default 20, or as many as the scene has bands.",
)
@click.option(
    "--neighbors", type=click.IntRange(1), help="Neighbours of a pixel in the graph; 12 by default."
)
@click.option(
    "--label-mode",
    type=click.Choice(["auto", "summed", "free", "absorbing"]),
    help="How labels count. summed, free: they diffuse away, and count over the whole walk or at "
    "its end. absorbing: they stay. auto (default): as classify chooses, or summed for a tau that "
    "is given.",
)
@click.option(
    "--tau",
    type=_Time(),
    help='Diffusion time in steps, or the rule that chooses it: "auto" (default), for all labels '
    'anew as classify does, or "margin", once.',
)
@click.option(
    "--max-time",
    type=click.IntRange(1),
    help="Last time to choose from; by default 1024 for up to 65,536 pixels, 256 for more.",
)
@click.option(
    "--seed", type=click.IntRange(0, 2**32 - 1), help="Seed of random choices; 0 by default."
)
@scene_options
@click.option("--label-variable", help="Array to take from a .mat label file with several.")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to bind to; see --public."
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default=True,
    help="Port to bind to; 0: that of the session's last server if it is free, or any other.",
)
@click.option(
    "--public",
    is_flag=True,
    help="Allow a --host that other machines can reach. Whoever has the address with its token "
    "can then see the scene, change the labels, take in label files of this machine and fetch the "
    "results, and the connection is not "
    "encrypted: anyone on the network in between can read along. Better: an SSH tunnel.",
)
@click.option(
    "--base-url",
    metavar="URL",
    help="Address at which browsers find the page behind a proxy or a tunnel, as "
    "https://labels.example.org/relabel/: it is printed instead of being opened, and "
    "pages of that origin are let in.",
)
@click.option(
    "--allow-host",
    "allowed_hosts",
    metavar="HOST",
    multiple=True,
    help="Another name under which the page may be opened, with its port as in the address bar: "
    "localhost:9000. May be repeated.",
)
@click.option("--no-browser", is_flag=True, help="Do not open the page, only print its address.")
@force_option
@common_options
def relabel(
    scene: Path | None,
    *,
    console: Console,
    labels: Path | None,
    reference: Path | None,
    match: str | None,
    session: Path | None,
    label_variable: str | None,
    host: str,
    port: int,
    public: bool,
    base_url: str | None,
    allowed_hosts: tuple[str, ...],
    no_browser: bool,
    force: bool,
    **settings: Any,
) -> None:
    """Label SCENE with strokes in the browser; the class map follows at once.

    Without SCENE the page offers recent sessions, and the scenes in this folder and below it; a
    folder as SCENE is offered in the same way. Formats of SCENE: diffclass info --help.

    Every stroke is on disk before it is answered: the same command continues the session where it
    was, and `diffclass replay` makes its map without a browser. The page's address, with a
    secret token, is printed at once; the page shows how far the scene is prepared. Ctrl-C ends the
    server (exit code 130); nothing is lost.
    """
    from diffclass_hyperspectral.io.libraries import require, require_file
    from diffclass_relabel.base_url import BaseUrl, checked_host
    from diffclass_relabel.security import is_loopback

    for library in ("starlette", "uvicorn", "websockets"):
        require(library, extra="relabel")
    if not (public or is_loopback(host)):
        raise click.UsageError(
            f"--host {host} lets other machines in: say so with --public (see --help)"
        )
    from diffclass_relabel.opening import default_session
    from diffclass_relabel.scene_folder import holds_scenes
    from diffclass_relabel.serving import Reach, Serving

    base = None if base_url is None else BaseUrl.parsed(base_url)
    reach = Reach(host, port, public, base, frozenset(map(checked_host, allowed_hosts)))
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    before = forecast_sayer(console, _SMALLER, force=force)
    serving = Serving(console, reach, with_browser=not (no_browser or base_url), before=before)
    settings |= as_words(settings)
    files = {"labels": labels, "label_variable": label_variable, "reference": reference}
    if match is not None and labels is None and reference is None:
        raise click.UsageError("--match is for the classes of --labels or --reference; name one")
    if scene is None or holds_scenes(scene):
        if session is not None or any(files.values()):
            raise click.UsageError(
                "--session, --labels, --label-variable and --reference belong to one SCENE: name it"
            )
        serving.choice(Path.cwd() if scene is None else scene, settings)
    else:
        for path in (scene, labels, reference):
            if path is not None and not path.is_dir():
                require_file(path)  # before there is an address to open
        options = {"settings": settings, "match": match, **files}
        serving.session(scene, session or default_session(scene), options)
    click.get_current_context().exit(INTERRUPTED)
