"""``diffclass relabel TABLE``: label rows in the browser and see the classes of all follow."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import click

from diffclass.command_line import (
    INTERRUPTED,
    Console,
    command,
    common_options,
    force_option,
    option,
    options,
    variable_option,
)
from diffclass_relabel.commands._session import (
    Address,
    reference_option,
    session_option,
)
from diffclass_relabel.options import Diffusion, RowPictures
from diffclass_tables.commands._rows import LABELS, SMALLER, FeatureOptions, table_argument


@dataclass(frozen=True)
class _Given(RowPictures):
    """What a session begins with, how rows are shown, and where it is kept."""

    labels: str | None = option(
        f"{LABELS} A session begins with them, or takes them in once, as one operation.",
        usual=True,
    )
    reference: str | None = reference_option()
    session: Path | None = session_option()
    label_variable: str | None = variable_option("label file")
    force: bool = force_option()

    @property
    def columns(self) -> list[str]:
        """The columns that have labels, and are no features."""
        given = [name for name in (self.labels, self.reference) if name is not None]
        return [*dict.fromkeys(name for name in given if not Path(name).is_file())]


@command(epilog="Example: diffclass relabel embeddings.npy --images photographs/")
@table_argument()
@options(_Given, "given")
@options(FeatureOptions, "part")
@options(Diffusion, "diffusion")
@options(Address, "address")
@common_options
def relabel(
    table: Path,
    *,
    given: _Given,
    part: FeatureOptions,
    diffusion: Diffusion,
    address: Address,
    console: Console,
) -> None:
    """Label rows of TABLE in the browser; the classes of all rows follow at once.

    The page draws the graph of the rows, each on a place of its own: similar rows lie together. It
    shows the row under the pointer, and lists of rows to answer with one key each: those that tell
    most, those of a class that are least certain, labels that others contradict.

    Every label is on disk before it is answered: the same command continues the session where it
    was, and `diffclass replay` makes its classes without a browser. The page's address, with a
    secret token, is printed at once. Ctrl-C ends the server (exit code 130); nothing is lost.
    Formats of TABLE: diffclass info table.csv --help.
    """
    from diffclass.system.libraries import require_file

    require_file(table)
    serving = address.serving(console, SMALLER, force=given.force)
    from diffclass_relabel.opening import default_session

    shown = {
        "images": given.images,
        "text": given.text,
        "apart": [*part.apart, *given.columns] or None,
    }
    settings = asdict(part) | asdict(diffusion) | shown
    files = {name: getattr(given, name) for name in ("labels", "label_variable", "reference")}
    session = given.session or default_session([table])
    serving.session([table], session, {"settings": settings, **files})
    click.get_current_context().exit(INTERRUPTED)
