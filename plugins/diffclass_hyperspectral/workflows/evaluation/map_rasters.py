"""What belongs to a class map pixel by pixel: its margins, and the posteriors of its classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from diffclass.exceptions import DataError
from diffclass_hyperspectral.io.labels import LabelImage
from diffclass_hyperspectral.io.readers import read_image
from diffclass_hyperspectral.io.tiles import TiledScene
from diffclass_hyperspectral.workflows.evaluation.certainty import probability_of_class


@dataclass(frozen=True, eq=False)
class MapRaster:
    """Numbers for each pixel of a class map; made by `read_map_raster` or `joined_raster`.

    Attributes
    ----------
    bands : ndarray of float32 of shape (rows, columns, n_bands)
        NaN without data.
    band_names : tuple of str or None
    path : Path
        What messages call it.
    """

    bands: np.ndarray
    band_names: tuple[str, ...] | None
    path: Path

    def margins(self) -> np.ndarray:
        """Return its one band, of shape (rows, columns).

        Raises
        ------
        DataError
            Where there are more.
        """
        if self.bands.shape[2] != 1:
            raise DataError(f"{self.path} has {self.bands.shape[2]} bands; margins have one")
        return self.bands[..., 0]

    def probability_of(self, found: LabelImage) -> np.ndarray:
        """Return the posterior of each pixel's class in a map, of shape (rows, columns).

        Raises
        ------
        DataError
            Where the bands are not those of the map's classes.
        """
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


def read_map_raster(path: Path) -> MapRaster:
    """Read numbers that belong to a class map.

    Parameters
    ----------
    path : Path

    Raises
    ------
    DataError
        Where the file cannot be read or is a picture.
    """
    if path.suffix.lower() == ".png":
        raise DataError(f"{path} is a picture, not numbers; write margins as .img or .npy")
    contents = read_image(path, n_axes=2)
    data = np.array(contents.data, dtype=np.float32)
    bands = data.reshape(*data.shape[:2], -1)
    if contents.ignore_value is not None:
        bands[bands == contents.ignore_value] = np.nan
    return MapRaster(bands, contents.band_names, path)


def joined_raster(rasters: Sequence[MapRaster], tiles: TiledScene) -> MapRaster:
    """Join the rasters of several class maps as the maps are joined.

    Parameters
    ----------
    rasters : sequence of MapRaster
        One for each map, in their order.
    tiles : TiledScene
        The class maps, as scenes of one band; where they overlap the first class counts, and the
        raster of that map with it.

    Raises
    ------
    DataError
        Where one is not of its map's size, or has other bands than the first.
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
    """Raise `DataError` where what belongs together is not of one size.

    Parameters
    ----------
    array : ndarray of shape (rows, columns, ...)
    shape : tuple of int
        Rows and columns that it has to have.
    name, of : str
        What messages call it, and the picture that it belongs to.
    """
    if array.shape[:2] != shape:
        raise DataError(
            f"{name} has {array.shape[0]} x {array.shape[1]} pixels, {of} "
            f"{shape[0]} x {shape[1]}; give a map and a truth of the same scene"
        )
