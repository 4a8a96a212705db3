"""Scenes of the commands: which part is read, one or several as one, and where their maps go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diffclass.command_line import FILE, FILE_OR_WORD, option
from diffclass_hyperspectral.io.file_names import NAME, files_of, is_for_each
from diffclass_hyperspectral.options import OPTIONS

_APART = "these scenes lie on no common map grid, so "
ONE_MAP = _APART + "one file cannot hold their maps; write one for each, as -o 'maps/{}.tif'"
PLACES = _APART + "a row and a column name no pixel of them; give one scene at a time"


@dataclass(frozen=True)
class ScenePart:
    """Which part of a scene is read."""

    title = "Part of the scene"
    bands: str | None = option(
        "Bands to work with, by number from 1 or by wavelength: 1-50,60 or "
        "450-1300,1500-1750nm. By default all that the file calls good.",
    )
    mask: Path | None = option(
        "Leave out the pixels where this image is not 0, or inside these shapes."
    )
    roi: str | None = option(
        "Work only inside these shapes, where this image is not 0, or in the box "
        "LEFT,BOTTOM,RIGHT,TOP of the scene's map coordinates.",
        type=FILE_OR_WORD,
    )
    variable: str | None = option(
        "Array to take from a .mat or HDF5 scene with several.", hidden=True
    )

    @property
    def opening(self) -> dict[str, Any]:
        """The options as `open_scene` takes them."""
        return asdict(self)

    @property
    def words(self) -> dict[str, str | None]:
        """The options as texts that name the same files from every folder."""
        named = [Path(path) for path in (self.mask, self.roi) if path is not None]
        files = {str(path): str(path.absolute()) for path in named if path.exists()}
        texts = {name: value and str(value) for name, value in self.opening.items()}
        of_files = {name: files.get(texts[name] or "", texts[name]) for name in ("mask", "roi")}
        return texts | of_files


def match_option(given: str, own: str) -> Any:
    """Return the field for ``--match``: classes of ``given`` are matched with those of ``own``."""
    return option(
        f"How classes of {given} are matched with those of {own}: by name, by id, or by best "
        "overlap, each class once. By default the first of these under which two classes are one; "
        "that another agrees far better is said.",
        of=OPTIONS["match"],
    )


if TYPE_CHECKING:
    from diffclass_hyperspectral.io.tiles import TiledScene


def opened_scenes(
    paths: Sequence[Path],
    *,
    one_grid_or: str | None,
    scale: float | None = None,
    **options: Any,
) -> TiledScene:
    """Open one scene or several as one, and multiply their values by ``scale`` if given.

    ``one_grid_or`` says why scenes without a common map grid are refused, such as `ONE_MAP`; None:
    they are not.
    """
    from diffclass_hyperspectral import open_tiles

    tiles = open_tiles(paths, **options)
    if one_grid_or is not None and not tiles.is_mosaic:
        raise click.UsageError(one_grid_or)
    return tiles if scale is None else tiles.scaled(scale)


def output_names(outputs: Sequence[Path | None], scenes: Sequence[Path]) -> list[Path]:
    """Return the files that outputs stand for; "{}" is a scene's name, in all or in none."""
    given = [path for path in outputs if path is not None]
    if len(set(map(is_for_each, given))) > 1 and len(scenes) > 1:
        raise click.UsageError(f"write {NAME} into the names of all maps, or of none")
    return [
        file
        for path in given
        for file in files_of(path, scenes if is_for_each(path) else scenes[:1])
    ]


def scenes_argument() -> Callable[..., Any]:
    """Add the argument of commands that take one scene or several."""
    return click.argument("scenes", metavar="SCENE...", type=FILE, nargs=-1, required=True)


def only_one(name: str, advice: str, *, required: bool = True) -> Callable[..., Any]:
    """Add the argument of commands that take one scene; of several ``advice`` says what to do."""

    def the_one(context: click.Context, _: click.Parameter, given: tuple[Path, ...]) -> Path | None:
        if len(given) > 1:
            words = " ".join(map(str, given[1:3])) + (" ..." if len(given) > 3 else "")
            raise click.UsageError(
                f"{context.command.name} takes one {name}, but {words} came too; {advice}"
            )
        return given[0] if given else None

    shown = name.upper() if required else f"[{name.upper()}]"
    return click.argument(
        name, metavar=shown, type=FILE, nargs=-1, required=required, callback=the_one
    )
