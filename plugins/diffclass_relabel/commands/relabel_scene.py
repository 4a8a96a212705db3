"""``diffclass relabel``: paint labels on a scene in the browser and see the map follow."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import click

from diffclass.command_line import (
    FILE,
    INTERRUPTED,
    Console,
    command,
    common_options,
    force_option,
    option,
    options,
    variable_option,
)
from diffclass_hyperspectral.commands._scenes import ScenePart
from diffclass_relabel.commands._session import (
    Address,
    reference_option,
    session_option,
)
from diffclass_relabel.options import Diffusion, Matching, SceneOptions

_SMALLER = "ask for fewer --components or --neighbors, or label a part of the scene with --roi"


@dataclass(frozen=True)
class _Given(Matching):
    """What a session begins with, and where it is kept."""

    labels: Path | None = option(
        "Labels to begin with, or to add to a session that exists (once, as one operation): "
        "an image or shapes, as for classify, or a spectral library (.sli, .csv), each of whose "
        "spectra labels the ten pixels of the smallest angle.",
    )
    reference: Path | None = reference_option()
    session: Path | None = session_option()
    label_variable: str | None = variable_option("label file")
    force: bool = force_option()


@command(epilog="Example: diffclass relabel scene.tif")
@click.argument("scenes", metavar="[SCENE]...", type=FILE, nargs=-1)
@options(_Given, "given")
@options(SceneOptions, "features")
@options(Diffusion, "diffusion")
@options(ScenePart, "part")
@options(Address, "address")
@common_options
def relabel(
    scenes: tuple[Path, ...],
    *,
    given: _Given,
    features: SceneOptions,
    diffusion: Diffusion,
    part: ScenePart,
    address: Address,
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
    from diffclass.system.libraries import require_file

    serving = address.serving(console, _SMALLER, force=given.force)
    from diffclass_relabel.opening import default_session, holds_scenes

    settings = asdict(features) | asdict(diffusion) | part.words
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
