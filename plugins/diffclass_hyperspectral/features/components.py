"""Components of a scene's spectra along given directions, a block of rows at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diffclass.exceptions import DataError
from diffclass.mapped_files import release_pages
from diffclass.progress import in_parts
from diffclass_hyperspectral.features.unit_spectra import unit_rows, with_direction
from diffclass_hyperspectral.io.rasters import ComputedRaster, PointPicture, row_blocks
from diffclass_hyperspectral.io.scenes import Scene

_BLOCK_ROWS = 64


@dataclass(frozen=True, eq=False)
class Components:
    """Directions, and what they are applied to.

    Attributes
    ----------
    metric : {"euclidean", "angle", "correlation"}
        The last two project spectra that have a direction.
    bands : ndarray of bool of shape (bands,)
        Bands in use.
    directions : ndarray of shape (n_used_bands, k)
    mean : ndarray of shape (n_used_bands,) or None
        What is taken off before, if anything.
    """

    metric: str
    bands: np.ndarray
    directions: np.ndarray
    mean: np.ndarray | None

    def pixels(self, scene: Scene) -> np.ndarray:
        """Return which pixels have finite spectra with a direction, bool of shape (rows, columns).

        The scene knows, unless its pixels are judged by other bands or must have a direction.
        """
        rows, columns, bands = scene.shape
        judged = scene.band_mask & ~scene.empty_bands
        is_single = scene.data.dtype.kind != "f" or scene.data.dtype.itemsize <= 4
        if self.metric == "euclidean" and is_single and not (self.bands & ~judged).any():
            return scene.valid
        out = np.empty((rows, columns), dtype=bool)
        blocks = row_blocks(rows, columns * bands, most_rows=_BLOCK_ROWS)
        for block in in_parts("features: bands", blocks):
            spectra = with_direction(scene.spectra(block, bands=self.bands), self.metric)
            out[block] = np.isfinite(spectra).all(axis=1).reshape(-1, columns)
        return out

    def picture(self, scene: Scene) -> ComputedRaster:
        """Return the picture of the components, projected where it is read."""
        directions = self.directions.astype(np.float32)
        k = directions.shape[1]
        centre = None if self.mean is None else (self.mean @ self.directions).astype(np.float32)

        def read(rows: slice) -> np.ndarray:
            spectra = with_direction(scene.spectra(rows, bands=self.bands), self.metric)
            with np.errstate(over="ignore", invalid="ignore"):
                found = spectra @ directions
            if centre is not None:
                found -= centre
            return found.reshape(-1, scene.shape[1], k)

        return ComputedRaster((*scene.shape[:2], k), np.float32, read)

    def write(self, scene: Scene, picture: PointPicture, *, is_unit: bool) -> None:
        """Write the components to the first columns of a picture's points.

        Parameters
        ----------
        scene : Scene
        picture : PointPicture
            Of the pixels that are written.
        is_unit : bool
            Whether they are scaled to length 1.

        Raises
        ------
        DataError
            Where they overflow.
        """
        rows, columns, bands = scene.shape
        components = self.picture(scene)
        blocks = row_blocks(rows, columns * bands, most_rows=_BLOCK_ROWS)
        for block in in_parts("features: projection", blocks):
            found = components[block][picture.valid[block]]
            if not np.isfinite(found).all():
                raise DataError(
                    f"{scene.path}: holds values near the largest of single precision; "
                    "divide them by a scale factor"
                )
            if is_unit:
                found = unit_rows(found)
            picture.points[picture.numbers(block), : self.directions.shape[1]] = found
            release_pages(picture)
