"""One scene or several as one: opened, labelled, and written as a mosaic or a map for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from diffclass_hyperspectral.io.label_images import LabelImage
    from diffclass_hyperspectral.io.scenes import Scene
    from diffclass_hyperspectral.io.tiles import TiledScene
    from diffclass_hyperspectral.workflows.classification import SceneClassification

NAME = "{}"  # in the name of an output: the name of each scene


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

        if self.tiles is None:
            named = _named(maps, self.scene) | options
            write_maps(_each(output, self.scene), result, self.scene, **named)
            return
        if NAME not in str(output):
            write_maps(output, result, self.scene, **(maps | options))
            return
        for tile in self.tiles.tiles:
            part = result.part(tile.rows, tile.columns)
            named = _named(maps, tile.scene) | options
            write_maps(_each(output, tile.scene), part, tile.scene, **named)


def opened_scenes(paths: Sequence[Path], *, mosaic: bool, **options: Any) -> OpenedScenes:
    """Open one scene or several as one.

    Parameters
    ----------
    paths : sequence of Path
    mosaic : bool
        Whether one map of all is to be written.
    **options
        As those of `open_scene`.

    Raises
    ------
    UsageError
        Where one map is wanted of scenes that lie on no common grid.
    """
    from diffclass_hyperspectral import open_scene, open_tiles

    if len(paths) == 1:
        return OpenedScenes(open_scene(paths[0], **options))
    tiles = open_tiles(paths, **options)
    if mosaic and not tiles.is_mosaic:
        raise click.UsageError(
            "these scenes lie on no common map grid, so one file cannot hold their maps; write "
            "one for each, as -o 'maps/{}.tif'"
        )
    return OpenedScenes(tiles.scene, tiles)


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


def _each(path: Path, scene: Scene) -> Path:
    return Path(str(path).replace(NAME, scene.path.stem))


def _named(maps: dict[str, Path | None], scene: Scene) -> dict[str, Any]:
    return {what: None if path is None else _each(path, scene) for what, path in maps.items()}
