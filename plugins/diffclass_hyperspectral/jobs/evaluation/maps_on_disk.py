"""Class maps on disk, several as one, and what belongs to their pixels: margins, posteriors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from diffclass.exceptions import DataError
from diffclass.graph import BYTES_OF_A_POINT
from diffclass.system.costs import Cost, Forecast
from diffclass_hyperspectral.io.labels import LabelImage, is_pixel_list, is_vector, read_labels
from diffclass_hyperspectral.io.rasters import Raster, blocks_of
from diffclass_hyperspectral.io.readers import is_ignored, read_image
from diffclass_hyperspectral.io.scenes import Scene
from diffclass_hyperspectral.io.tiles import TiledScene, open_tiles, read_tile_labels

# of a map's pixel: classes found and known, and what they are compared through
_BYTES_OF_A_LABEL, _BYTES_OF_A_CURVE = 60, 24


@dataclass(frozen=True, eq=False)
class MapRaster:
    """Numbers for each pixel of a class map; made by `read_map_raster` or `joined_raster`."""

    bands: np.ndarray  # float32 (rows, columns, n_bands); NaN without data
    band_names: tuple[str, ...] | None
    path: Path  # what messages call it

    def margins(self) -> np.ndarray:
        """Return its band (rows, columns), of which there has to be one."""
        if self.bands.shape[2] != 1:
            raise DataError(f"{self.path} has {self.bands.shape[2]} bands; margins have one")
        return self.bands[..., 0]

    def probability_of(self, found: LabelImage) -> np.ndarray:
        """Return the posterior of each pixel's class in a map, (rows, columns)."""
        return probability_of_class(found.ids, self.bands, self._classes(found))

    def _classes(self, found: LabelImage) -> np.ndarray:
        """Classes of the bands: by name, or all classes of the map in the order of their ids."""
        names, n_bands = self.band_names, self.bands.shape[2]
        by_name = {entry.name: entry.id for entry in found.table}
        if names is not None and len(by_name) == len(found.table) and set(names) <= set(by_name):
            return np.array([by_name[name] for name in names])
        if n_bands == len(found.table):
            return np.array(found.table.ids)
        raise DataError(
            f"{self.path} has {n_bands} bands that are not named like the map's classes, of which "
            f"there are {len(found.table)}; give the probabilities written with this map, as .img"
        )


def probability_of_class(
    class_map: np.ndarray, probabilities: Raster, class_ids: np.ndarray
) -> np.ndarray:
    """Return each pixel's probability (rows, columns, n_classes) of its class; NaN without one."""
    out = np.full(class_map.shape, np.nan, dtype=np.float32)
    for rows, block in blocks_of(probabilities):
        for layer, class_id in enumerate(class_ids):
            member = class_map[rows] == class_id
            out[rows][member] = block[..., layer][member]
    return out


def read_map_raster(path: Path) -> MapRaster:
    """Read numbers that belong to a class map; a picture has none."""
    if path.suffix.lower() == ".png":
        raise DataError(f"{path} is a picture, not numbers; write margins as .img or .npy")
    contents = read_image(path, n_axes=2)
    data = np.array(contents.data, dtype=np.float32)
    bands = data.reshape(*data.shape[:2], -1)
    bands[is_ignored(bands, contents.ignore_value)] = np.nan
    bands /= np.float32(contents.scale_factor)
    return MapRaster(bands, contents.band_names, path)


def joined_raster(rasters: Sequence[MapRaster], tiles: TiledScene) -> MapRaster:
    """Join the rasters of several class maps as the maps are: in an overlap the first class counts.

    `DataError`: one is not of its map's size, or has other bands than the first.
    """
    first = rasters[0]
    joint = np.full((*tiles.scene.shape[:2], first.bands.shape[2]), np.nan, dtype=np.float32)
    pairs = list(zip(rasters, tiles.tiles, strict=True))
    for raster, tile in pairs:
        check_size(raster.bands, tile.scene.shape[:2], str(raster.path), of=str(tile.scene.path))
        if (raster.bands.shape[2], raster.band_names) != (joint.shape[2], first.band_names):
            raise DataError(
                f"{raster.path} has other bands than {first.path}; give rasters that were written "
                "with the maps of one run"
            )
    for has_class in (True, False):
        for raster, tile in pairs:
            here = joint[tile.rows, tile.columns]
            is_own = (np.asarray(tile.scene.data)[..., 0] > 0) == has_class
            new = is_own & np.isnan(here).all(axis=2)
            here[new] = raster.bands[new]
    others = len(rasters) - 1
    name = Path(f"{first.path.name} and {others} more") if others else first.path
    return MapRaster(joint, first.band_names, name)


def check_size(array: np.ndarray, shape: tuple[int, ...], name: str, *, of: str) -> None:
    """Raise `DataError` where an array does not have the rows and columns of the picture ``of``."""
    if array.shape[:2] != shape:
        raise DataError(
            f"{name} has {array.shape[0]} x {array.shape[1]} pixels, {of} "
            f"{shape[0]} x {shape[1]}; give a map and a truth of the same scene"
        )


@dataclass(frozen=True, eq=False)
class OpenedMaps:
    """A class map, or several as one."""

    labels: LabelImage
    tiles: TiledScene | None = None  # where each of several lies

    def read_labels(self, path: Path, *, variable: str | None = None) -> LabelImage:
        """Return labels on the pixels of the map; classes without numbers get those of the map."""
        known = self.labels.table
        if self.tiles is None:
            return read_labels(path, variable=variable, grid=self.labels, known=known)
        return read_tile_labels(path, self.tiles, variable=variable, known=known)

    def read_rasters(self, paths: Sequence[Path]) -> MapRaster | None:
        """Return what belongs to the pixels of the map, from a file for each map; None without."""
        if not paths:
            return None
        rasters = [read_map_raster(path) for path in paths]
        return rasters[0] if self.tiles is None else joined_raster(rasters, self.tiles)


def opened_maps(
    paths: Sequence[Path], *, variable: str | None = None, truth: Path | None = None
) -> OpenedMaps:
    """Read one class map, or several as one; polygons on the pixels of the truth.

    On one map grid the first class counts where they overlap; others lie below one another.
    `DataError`: a file is no class map, two lie on the same pixels, or polygons have none.
    """
    drawn = [path for path in paths if is_vector(path)]
    grid = _pixels_for(drawn[0], paths, truth) if drawn else None
    maps = [read_labels(path, variable=variable, grid=grid) for path in paths]
    if len(maps) == 1:
        return OpenedMaps(maps[0])
    tiles = open_tiles(
        [Scene.from_array(m.ids[..., None], path=m.path, map_info=m.map_info) for m in maps]
    )
    places = [(tile.row, tile.column, tile.scene.shape) for tile in tiles.tiles]
    for i, place in enumerate(places):
        if place in places[:i]:
            raise DataError(
                f"{paths[places.index(place)]} and {paths[i]} are maps of the same pixels; "
                "evaluate them one by one"
            )
    joint = read_tile_labels(maps, tiles)
    return OpenedMaps(replace(joint, path=tiles.scene.path), tiles)


def _pixels_for(drawn: Path, paths: Sequence[Path], truth: Path | None) -> LabelImage:
    """Return the truth, whose pixels a map of polygons is put on."""
    if len(paths) > 1:
        raise DataError(f"{drawn}: polygons are evaluated one map at a time; give it alone")
    if truth is None or is_vector(truth) or is_pixel_list(truth) or truth.is_dir():
        raise DataError(
            f"{drawn}: polygons have no pixels, and nor has {truth or 'the truth'}; give the map "
            "or the truth as an image, such as .tif"
        )
    return read_labels(truth)


def forecast_of_maps(
    paths: Sequence[Path], rasters: Sequence[Path] = (), *, variable: str | None = None
) -> Forecast:
    """Say what evaluating maps will need, from their sizes and those of one map's rasters."""
    paths = [path for path in paths if not is_vector(path)]  # these are small
    shapes = [read_image(path, variable=variable, n_axes=2).data.shape for path in paths]
    bands = [read_image(path, n_axes=2).data.shape[2:] for path in rasters]
    return forecast_evaluation(
        sum(math.prod(shape[:2]) for shape in shapes), n_bands=sum(map(math.prod, bands))
    )


def forecast_evaluation(n_pixels: int, *, n_bands: int = 0) -> Forecast:
    """Say what `evaluate_map` will need; ``n_bands`` are of margins and probabilities together."""
    if not n_bands:
        return Forecast.of({"scores": Cost(_BYTES_OF_A_LABEL * n_pixels)})
    scores = Cost((_BYTES_OF_A_LABEL + _BYTES_OF_A_CURVE) * n_pixels)
    rasters = Cost((BYTES_OF_A_POINT + 5 * n_bands) * n_pixels)
    return Forecast.of({"scores": scores, "rasters": rasters})
