"""A scene, or several as one, made ready: points are its pixels with data, or blocks of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np
from scipy.ndimage import label

from diffclass.exceptions import DataError
from diffclass.jobs import Measures, taken_neighbors
from diffclass.system.identity import content_hash
from diffclass.system.progress import stage
from diffclass_hyperspectral import (
    LabelImage,
    Scene,
    SceneFeatures,
    TiledScene,
    open_tiles,
    read_tile_labels,
)
from diffclass_hyperspectral.features.scene_features import check_components
from diffclass_hyperspectral.io.labels import label_regions
from diffclass_hyperspectral.io.scenes import scene_identity
from diffclass_hyperspectral.jobs.class_sizes import measures_of
from diffclass_hyperspectral.jobs.library_labels import read_scene_labels
from diffclass_relabel.workspace import workspace
from diffclass_relabel.workspace.pixels import block_side, blocks_of, mean_features
from diffclass_relabel.workspace.settings import SceneSettings
from diffclass_relabel.workspace.workspace import Graph, Workspace

_EIGHT = np.ones((3, 3), dtype=int)


def fingerprint_of(scene: Scene) -> str:
    """Return the SHA-256, in 64 digits, of everything in a scene that its map can depend on.

    >>> scene = Scene.from_array(np.ones((2, 3, 4), dtype=np.float32))
    >>> fingerprint_of(scene)[:8] == fingerprint_of(Scene.from_array(scene.data, path="x"))[:8]
    True
    """
    return content_hash(scene_identity(scene))


@dataclass(frozen=True, eq=False, kw_only=True)
class SceneWorkspace(Workspace):
    """A scene, or several as one, with its features, its graph, and where its points lie.

    Attributes
    ----------
    tiles : TiledScene
        The scene, or several as one picture.
    """

    things: ClassVar[str] = "pixels"

    settings: SceneSettings
    tiles: TiledScene

    @classmethod
    def open(
        cls,
        scenes: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        settings: SceneSettings | None = None,
        *,
        fingerprint: str | None = None,
        on_opened: Callable[[TiledScene], None] | None = None,
        build: bool = True,
    ) -> SceneWorkspace:
        """Open a scene, or several as one, and build its graph.

        Parameters
        ----------
        scenes : path-like or sequence of them
            As for `diffclass_hyperspectral.open_scene`; several as for `open_tiles`.
        settings : SceneSettings, optional
        fingerprint : str, optional
            Hash that the scene has to have.
        on_opened : callable, optional
            Called with the scenes before anything is computed.
        build : bool, default=True
            Whether the graph is there in the end; else maps wait until `build` was called.

        Raises
        ------
        DataError
            Where the scene cannot be read, or is not the one with this fingerprint.
        """
        settings = SceneSettings() if settings is None else settings
        with stage("opening"):
            paths = [scenes] if isinstance(scenes, str | os.PathLike) else scenes
            tiles = open_tiles(paths, **settings.opening)
            if fingerprint is None:  # a new session
                check_components(settings.components, tiles.scene)
            if on_opened is not None:
                on_opened(tiles)
            found = fingerprint_of(tiles.scene)
        if fingerprint is not None and found != fingerprint:
            raise DataError(
                f"{tiles.scene.path}: is another scene than the session's, or another part of it "
                f"(its values hash to {found[:12]}, those of the session's scene to "
                f"{fingerprint[:12]}); give that scene, --bands, --mask and --roi as they were, or "
                "another session file"
            )
        return cls.from_scene(tiles, settings, fingerprint=found, build=build)

    @classmethod
    def from_scene(
        cls,
        tiles: TiledScene,
        settings: SceneSettings,
        *,
        fingerprint: str = "",
        build: bool = True,
    ) -> SceneWorkspace:
        """Make the workspace of scenes that are open; see `open`."""
        scene = tiles.scene
        with stage("features"):
            spatial = settings.features == "spatial"
            found = SceneFeatures(settings.components, spatial=spatial)
            side = block_side(*scene.shape[:2])
            if side == 1:
                features, valid = found.fit_transform_points(scene)
            else:
                features, valid = mean_features(partial(found.fit_transform_points, scene), side)
            points = blocks_of(valid, side)
            if settings.components is None:
                settings = replace(settings, components=found.n_components_)
        usual = SceneSettings.neighbors
        n_neighbors = taken_neighbors(settings.neighbors, len(features), usual=usual)
        settings = replace(settings, neighbors=n_neighbors)
        pixels = np.unique(points, return_index=True)[1][-len(features) :]
        made = cls(
            tiles=tiles,
            settings=settings,
            fingerprint=fingerprint or fingerprint_of(scene),
            pixels=pixels,
            points=points,
            features=features,
            shape=scene.shape[:2],
            coarse_answers=len(features) > workspace.MOST_ANSWERED,
            block=side,
            graph=Graph(),
        )
        if build:
            made.build()
        return made

    @property
    def paths(self) -> list[Path]:
        """The scenes' files."""
        return [tile.scene.path for tile in self.tiles.tiles]

    @property
    def name(self) -> str:
        """The name of the file, or of all together."""
        return self.scene.path.name

    @property
    def extent(self) -> tuple[int, ...]:
        """Rows, columns and bands."""
        return self.scene.shape

    @property
    def scene(self) -> Scene:
        """The scene, or the joint picture of several."""
        return self.tiles.scene

    @property
    def measures(self) -> Measures:
        """Shares of the pixels with data, and areas."""
        return measures_of(self.scene)

    @property
    def coordinates(self) -> np.ndarray:
        """Row and column of each point."""
        return np.column_stack(np.unravel_index(self.pixels, self.shape))

    def read_labels(
        self, path: Path | str, *, variable: str | None = None, spectra: bool = True
    ) -> LabelImage:
        """Read a label image, shapes or, with ``spectra``, a spectral library."""
        if spectra:
            return read_scene_labels(self.tiles, path, variable=variable).on(self.scene)
        return read_tile_labels(path, self.tiles, variable=variable).on(self.scene)

    def note_on(self, ids: np.ndarray) -> str | None:
        """Return a remark on scenes, of several, that no label reaches."""
        if len(self.tiles.tiles) == 1 or ids.all():
            return None
        raster = self.raster(ids.astype(np.int16), fill=-1)
        return self.tiles.unreached_note(raster > 0, raster >= 0)

    def placed(self, labels: LabelImage) -> LabelImage:
        """Return labels on the scene."""
        return labels.on(self.scene)

    def pieces_of(self, mask: np.ndarray) -> tuple[np.ndarray, int]:
        """Return the numbers of connected pieces."""
        return label(mask, structure=_EIGHT)

    @property
    def grouping(self) -> Callable[[np.ndarray], np.ndarray]:
        """Labels of one region belong together."""
        return lambda label_ids: label_regions(self.raster(label_ids)).ravel()[self.pixels]
