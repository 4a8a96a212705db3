"""One scene or several as one: opened, labelled, and written as a mosaic or a map for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diffclass.command_line import FILE

if TYPE_CHECKING:
    from diffclass_hyperspectral.io.labels import LabelImage
    from diffclass_hyperspectral.io.scenes import Scene
    from diffclass_hyperspectral.io.tiles import TiledScene
    from diffclass_hyperspectral.workflows.classification import (
        SceneClassification,
    )

NAME = "{}"  # in the name of an output: the name of each scene
_APART = "these scenes lie on no common map grid, so "
ONE_MAP = _APART + "one file cannot hold their maps; write one for each, as -o 'maps/{}.tif'"
PLACES = _APART + "a row and a column name no pixel of them; give one scene at a time"


@dataclass(frozen=True)
class OpenedScenes:
    """What a command works on.

    Attributes
    ----------
    scene : Scene
        The only one, or the joint picture of several.
    tiles : TiledScene or None
        None for a single scene.
    """

    scene: Scene
    tiles: TiledScene | None = None

    def read_labels(self, path: Path, variable: str | None) -> LabelImage:
        """Return the labels of the picture."""
        from diffclass_hyperspectral import read_labels, read_tile_labels

        if self.tiles is None:
            return read_labels(path, variable=variable, grid=self.scene)
        return read_tile_labels(path, self.tiles, variable=variable)

    def write_maps(
        self,
        result: SceneClassification,
        output: Path,
        *,
        maps: dict[str, Path | None],
        **options: Any,
    ) -> None:
        """Write the maps, each as one file or, with "{}" in its name, as one for each scene."""
        from diffclass_hyperspectral import write_maps

        for path, scene, rows, columns in self.files(output):
            part = result if scene is self.scene else result.part(rows, columns)
            write_maps(path, part, scene, **(_named(maps, scene) | options))

    def files(self, output: Path) -> Iterator[tuple[Path, Scene, slice, slice]]:
        """Yield each file that an output stands for, its scene, and where in the picture it is."""
        if self.tiles is None or NAME not in str(output):
            rows, columns, _ = self.scene.shape
            yield _each(output, self.scene), self.scene, slice(0, rows), slice(0, columns)
            return
        for tile in self.tiles.tiles:
            yield _each(output, tile.scene), tile.scene, tile.rows, tile.columns


def opened_scenes(
    paths: Sequence[Path],
    *,
    one_grid_or: str | None,
    scale: float | None = None,
    **options: Any,
) -> OpenedScenes:
    """Open one scene or several as one.

    Parameters
    ----------
    paths : sequence of Path
    one_grid_or : str or None
        Why scenes without a common grid are refused, such as `ONE_MAP`; None: they are not.
    scale : float, optional
        What values are multiplied by.
    **options
        As those of `open_scene`.

    Raises
    ------
    UsageError
        Where scenes that need a common map grid have none.
    """
    from diffclass_hyperspectral import open_scene, open_tiles

    if len(paths) == 1:
        scene = open_scene(paths[0], **options)
        return OpenedScenes(scene if scale is None else scene.scaled(scale))
    tiles = open_tiles(paths, **options)
    if one_grid_or is not None and not tiles.is_mosaic:
        raise click.UsageError(one_grid_or)
    return OpenedScenes(tiles.scene if scale is None else tiles.scene.scaled(scale), tiles)


def output_names(outputs: Sequence[Path | None], scenes: Sequence[Path]) -> list[Path]:
    """Return the files that outputs stand for, "{}" being the name of each scene.

    Raises
    ------
    UsageError
        Where some outputs are for each scene and others for all.
    """
    given = [path for path in outputs if path is not None]
    if len({NAME in str(path) for path in given}) > 1 and len(scenes) > 1:
        raise click.UsageError("write {} into the names of all maps, or of none")
    return [
        Path(str(path).replace(NAME, scene.stem))
        for path in given
        for scene in (scenes if NAME in str(path) else scenes[:1])
    ]


def scenes_argument() -> Callable[..., Any]:
    """Add the argument of commands that take one scene or several."""
    return click.argument("scenes", metavar="SCENE...", type=FILE, nargs=-1, required=True)


def only_one(name: str, advice: str, *, required: bool = True) -> Callable[..., Any]:
    """Add the argument of commands that take one scene: of several they say what to do.

    Parameters
    ----------
    name : str
        Of the parameter.
    advice : str
        What to do with several.
    required : bool, default=True
        Whether there has to be one; None is passed on otherwise.
    """

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


def _each(path: Path, scene: Scene) -> Path:
    return Path(str(path).replace(NAME, scene.path.stem))


def _named(maps: dict[str, Path | None], scene: Scene) -> dict[str, Any]:
    return {what: None if path is None else _each(path, scene) for what, path in maps.items()}
