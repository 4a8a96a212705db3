"""Means and covariances that are summed block by block, and what follows from a scene's.

With covariance C = V diag(sigma^2) V' of the bands, the partly whitened components of a spectrum x
and its score by RX (I. Reed and X. Yu 1990; computed by `spectral`) are

    z_j = <x - mean, v_j> / sigma_j^(1/2),    RX(x) = (x - mean)' C^-1 (x - mean).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from diffclass.mapped_files import release_pages
from diffclass_hyperspectral.io.libraries import require
from diffclass_hyperspectral.io.rasters import row_blocks
from diffclass_hyperspectral.io.scenes import Scene


class Moments:
    """First and second moments of the points added, in double precision.

    Parameters
    ----------
    n_columns : int

    Examples
    --------
    >>> import numpy as np
    >>> moments = Moments(1)
    >>> moments.add(np.array([[1.0], [3.0]]))
    >>> moments.mean.tolist(), moments.mean_products.tolist(), moments.covariance.tolist()
    ([2.0], [[5.0]], [[1.0]])
    """

    def __init__(self, n_columns: int):
        self.n_points = 0
        self._total = np.zeros(n_columns)
        self._products = np.zeros((n_columns, n_columns))

    def add(self, points: np.ndarray) -> None:
        """Add points (n, n_columns)."""
        exact = points.astype(np.float64)
        self._total += exact.sum(axis=0)
        self._products += exact.T @ exact
        self.n_points += len(points)

    @property
    def mean(self) -> np.ndarray:
        """Mean of the points, of shape (n_columns,); 0 without any."""
        return self._total / max(self.n_points, 1)

    @property
    def mean_products(self) -> np.ndarray:
        """Mean of x x', of shape (n_columns, n_columns)."""
        return self._products / max(self.n_points, 1)

    @property
    def covariance(self) -> np.ndarray:
        """Covariance, of shape (n_columns, n_columns), divided by the number of points."""
        return self.mean_products - np.outer(self.mean, self.mean)


@dataclass(frozen=True, eq=False)
class BandStatistics:
    """What all pixels with data say of the bands; see `from_scene`.

    Attributes
    ----------
    bands : ndarray of bool of shape (bands,)
        Bands in use.
    mean : ndarray of shape (n_used_bands,)
    covariance : ndarray of shape (n_used_bands, n_used_bands)
    n_pixels : int
        Pixels with data.
    """

    bands: np.ndarray
    mean: np.ndarray
    covariance: np.ndarray
    n_pixels: int

    @classmethod
    def from_scene(cls, scene: Scene) -> BandStatistics:
        """Go through a scene in blocks of rows and in double precision.

        Raises
        ------
        DataError
            Where no pixel has data or every band is constant.
        """
        bands = scene.usable_bands()
        moments, shift = Moments(int(bands.sum())), np.zeros(int(bands.sum()))
        for _, block in _blocks(scene, bands):
            if not moments.n_points and len(block):
                shift = block.mean(axis=0)  # what is squared should be small
            moments.add(block - shift)
        n_pixels = moments.n_points
        covariance = moments.covariance * (n_pixels / max(n_pixels - 1, 1))
        return cls(bands, moments.mean + shift, covariance, n_pixels)

    def whitened(
        self,
        scene: Scene,
        create: Callable[[tuple[int, int]], np.ndarray] | None = None,
        *,
        n_components: int = 30,
    ) -> np.ndarray:
        """Return the leading partly whitened components of a scene.

        Parameters
        ----------
        scene : Scene
        create : callable, optional
            Makes the array of float32 of a shape that is filled, such as a memory map; an array in
            memory by default.
        n_components : int, default=30
            At most; those without variance are left out.

        Returns
        -------
        ndarray of float32 of shape (n_pixels, p)
            One row per pixel with data.
        """
        variances, vectors = np.linalg.eigh(self.covariance)
        floor = np.finfo(np.float32).eps ** 2 * len(variances) * variances[-1]
        kept = np.flatnonzero(variances > floor)[::-1][:n_components]
        directions = vectors[:, kept] / variances[kept] ** 0.25
        shape = (int(scene.valid.sum()), len(kept))
        out = np.empty(shape, dtype=np.float32) if create is None else create(shape)
        for pixels, block in _blocks(scene, self.bands):
            out[pixels] = (block - self.mean) @ directions
            release_pages(out)
        return out

    def rx(self, scene: Scene) -> np.ndarray:
        """Return the squared Mahalanobis distance of each pixel with data from the mean."""
        spectral = require("spectral")
        background = spectral.GaussianStats(self.mean, self.covariance, self.n_pixels)
        out = np.empty(int(scene.valid.sum()))
        for pixels, block in _blocks(scene, self.bands):
            out[pixels] = spectral.rx(block, background=background)
        return out


def _blocks(scene: Scene, bands: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield spectra with data in double precision, and which of all pixels with data they are."""
    rows, columns, n_bands = scene.shape
    start = 0
    for block in row_blocks(rows, columns * n_bands):
        spectra = scene.spectra(block, bands=bands)[scene.valid[block].ravel()]
        pixels = slice(start, start + len(spectra))
        start = pixels.stop
        yield pixels, spectra.astype(np.float64)
