"""``diffclass relabel``: paint labels on a scene in the browser and see the map follow."""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diffclass.command_line import (
    FILE,
    INTERRUPTED,
    Console,
    command,
    common_options,
    force_option,
    forecast_sayer,
    option,
    options,
)
from diffclass_hyperspectral.commands._scenes import ScenePart, match_option

if TYPE_CHECKING:
    from diffclass_relabel.door import Gate

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


@dataclass(frozen=True)
class _Given:
    """What a session begins with, and where it is kept."""

    labels: Path | None = option(
        "Labels to begin with, or to add to a session that exists (once, as one operation): "
        "an image or shapes, as for classify, or a spectral library (.sli, .csv), each of whose "
        "spectra labels the ten pixels of the smallest angle.",
    )
    reference: Path | None = option(
        "Known classes to compare the maps with, on the page under Numbers; no map is made "
        "with them. An image or shapes, as for --labels.",
    )
    match: str | None = match_option("--labels and --reference", "the session")
    session: Path | None = option(
        "Session file: continued if it exists. By default the scene's name with "
        ".relabel.jsonl, next to it, or here where that folder cannot be written.",
    )
    label_variable: str | None = option(
        "Array to take from a .mat label file with several.", hidden=True
    )
    force: bool = force_option()


@dataclass(frozen=True)
class _Diffusion:
    """The settings of a new session."""

    title = "Graph and diffusion"
    features: str | None = option(
        "Components of the spectra, alone (default) or together with smoothed ones: means "
        "within fields.",
        type=click.Choice(["spectral", "spatial"]),
    )
    components: int | None = option(
        "Number of components; by default 20, or as many as the scene has bands.",
        type=click.IntRange(1),
    )
    neighbors: int | None = option(
        "Neighbours of a pixel in the graph; 12 by default.", type=click.IntRange(1)
    )
    label_mode: str | None = option(
        "How labels count. summed, free: they diffuse away, and count over the whole walk or "
        "at its end. absorbing: they stay. auto (default): as classify chooses, or summed for a "
        "tau that is given.",
        type=click.Choice(["auto", "summed", "free", "absorbing"]),
    )
    tau: int | str | None = option(
        'Diffusion time in steps, or the rule that chooses it: "auto" (default), for all '
        'labels anew as classify does, or "margin", once.',
        type=_Time(),
    )
    max_time: int | None = option(
        "Last time to choose from; by default 1024 for up to 65,536 pixels, falling to 256.",
        hidden=True,
        type=click.IntRange(1),
    )
    seed: int | None = option(
        "Seed of random choices; 0 by default.", hidden=True, type=click.IntRange(0, 2**32 - 1)
    )


@dataclass(frozen=True)
class _Address:
    """Where browsers find the page."""

    title = "Address of the page"
    host: str = option("Address to bind to; see --public.", default="127.0.0.1")
    port: int = option(
        "Port to bind to; 0: that of the session's last server if it is free, or any other.",
        type=click.IntRange(0, 65535),
        default=0,
    )
    public: bool = option(
        "Allow a --host that other machines can reach. Whoever has the address with its token "
        "can then see the scene, change the labels, take in label files of this machine and fetch "
        "the results, and the connection is not encrypted: anyone on the network in between can "
        "read along. Better: an SSH tunnel.",
    )
    base_url: str | None = option(
        "Address at which browsers find the page behind a proxy or a tunnel, as "
        "https://labels.example.org/relabel/: it is printed instead of being opened, and "
        "pages of that origin are let in.",
        metavar="URL",
    )
    allowed_hosts: tuple[str, ...] = option(
        "Another name under which the page may be opened, with its port as in the address "
        "bar: localhost:9000. May be repeated.",
        names=("--allow-host",),
        metavar="HOST",
        multiple=True,
    )
    no_browser: bool = option("Do not open the page, only print its address.")

    def gate(self) -> Gate:
        """Return who can reach the page; port and token are those of the session in the end."""
        from diffclass_relabel.door import BaseUrl, Gate, checked_host, is_loopback

        if not (self.public or is_loopback(self.host)):
            raise click.UsageError(
                f"--host {self.host} lets other machines in: say so with --public (see --help)"
            )
        base = None if self.base_url is None else BaseUrl.parsed(self.base_url)
        names = frozenset(map(checked_host, self.allowed_hosts))
        return Gate(self.host, self.port, self.public, base, names)


@command(epilog="Example: diffclass relabel scene.tif")
@click.argument("scenes", metavar="[SCENE]...", type=FILE, nargs=-1)
@options(_Given, "given")
@options(_Diffusion, "diffusion")
@options(ScenePart, "part")
@options(_Address, "address")
@common_options
def relabel(
    scenes: tuple[Path, ...],
    *,
    given: _Given,
    diffusion: _Diffusion,
    part: ScenePart,
    address: _Address,
    console: Console,
) -> None:
    """Label SCENE with strokes in the browser; the class map follows at once.

    Several scenes, such as tiles, share one graph and one page, as those of classify do.

    Without SCENE the page offers recent sessions, and the scenes in this folder and below it; a
    folder as SCENE is offered in the same way. Formats of SCENE: diffclass info --help.

    Every stroke is on disk before it is answered: the same command continues the session where it
    was, and `diffclass replay` makes its map without a browser. The page's address, with a
    secret token, is printed at once; the page shows how far the scene is prepared. Ctrl-C ends the
    server (exit code 130); nothing is lost.
    """
    from diffclass.libraries import require, require_file

    for library in ("starlette", "uvicorn", "websockets"):
        require(library, extra="relabel")
    gate = address.gate()
    from diffclass_relabel.files import holds_scenes
    from diffclass_relabel.hosts import Serving
    from diffclass_relabel.opening import default_session

    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    before = forecast_sayer(console, _SMALLER, force=given.force)
    with_browser = not (address.no_browser or address.base_url)
    serving = Serving(console, gate, with_browser=with_browser, before=before)
    settings = asdict(diffusion) | part.words
    files = {name: getattr(given, name) for name in ("labels", "label_variable", "reference")}
    if given.match is not None and given.labels is None and given.reference is None:
        raise click.UsageError("--match is for the classes of --labels or --reference; name one")
    if not scenes or (len(scenes) == 1 and holds_scenes(scenes[0])):
        if given.session is not None or any(files.values()):
            raise click.UsageError(
                "--session, --labels, --label-variable and --reference belong to a SCENE: name it"
            )
        serving.choice(scenes[0] if scenes else Path.cwd(), settings)
    else:
        for path in (*scenes, given.labels, given.reference):
            if path is not None and not path.is_dir():
                require_file(path)  # before there is an address to open
        opening = {"settings": settings, "match": given.match, **files}
        serving.session(scenes, given.session or default_session(scenes), opening)
    click.get_current_context().exit(INTERRUPTED)
