"""Statistics of more numbers than memory holds: moments and a quantile, block by block.

With covariance C = V diag(sigma^2) V' of the bands, the partly whitened components of a spectrum x
and its score by RX (I. Reed and X. Yu 1990; computed by `spectral`) are

    z_j = <x - mean, v_j> / sigma_j^(1/2),    RX(x) = (x - mean)' C^-1 (x - mean).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from diffclass.system.libraries import require
from diffclass_hyperspectral.io.rasters import row_blocks
from diffclass_hyperspectral.io.scenes import Scene

_KEPT = 2**22  # numbers: 16 MiB
_HALF = 16


class Moments:
    """First and second moments of the points added, in double precision."""

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
    """What all pixels with data say of the bands in use; see `from_scene`."""

    bands: np.ndarray  # bool (bands,)
    mean: np.ndarray
    covariance: np.ndarray
    n_pixels: int

    @classmethod
    def from_scene(cls, scene: Scene) -> BandStatistics:
        """Go through a scene, which must have data, in blocks of rows and in double precision."""
        bands = scene.usable_bands()
        moments, shift = Moments(int(bands.sum())), np.zeros(int(bands.sum()))
        for _, block in _blocks(scene, bands):
            if not moments.n_points and len(block):
                shift = block.mean(axis=0)  # what is squared should be small
            moments.add(block - shift)
        n_pixels = moments.n_points
        covariance = moments.covariance * (n_pixels / max(n_pixels - 1, 1))
        return cls(bands, moments.mean + shift, covariance, n_pixels)

    def whitened(self, scene: Scene, *, n_components: int) -> np.ndarray:
        """Return at most ``n_components`` partly whitened components of the pixels with data."""
        variances, vectors = np.linalg.eigh(self.covariance)
        floor = np.finfo(np.float32).eps ** 2 * len(variances) * variances[-1]
        kept = np.flatnonzero(variances > floor)[::-1][:n_components]
        directions = vectors[:, kept] / variances[kept] ** 0.25
        out = np.empty((int(scene.valid.sum()), len(kept)), dtype=np.float32)
        for pixels, block in _blocks(scene, self.bands):
            out[pixels] = (block - self.mean) @ directions
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


def streamed_quantile(chunks: Callable[[], Iterable[np.ndarray]], quantile: float) -> float:
    """Return the number with a share of all numbers below it, exactly; 0 without any.

    ``chunks`` is called once or twice and gives arrays of float32 of at least 0, which are ordered
    as their bits are. A first pass counts them by the leading sixteen bits; a second one, needed
    where there are many, those of the quantile's bin by the other sixteen.
    """
    kept: list[np.ndarray] | None = []
    counts, n_numbers = np.zeros(2**_HALF, dtype=np.int64), 0
    for chunk in chunks():
        numbers = np.ascontiguousarray(chunk, dtype=np.float32).ravel()
        counts += np.bincount(_bits(numbers) >> _HALF, minlength=len(counts))
        n_numbers += len(numbers)
        if kept is not None:
            kept.append(numbers)
            kept = kept if n_numbers <= _KEPT else None
    if not n_numbers:
        return 0.0
    place = min(int(quantile * n_numbers), n_numbers - 1)
    if kept is not None:
        return float(np.partition(np.concatenate(kept), place)[place])
    leading, place = _bin_of(counts, place)
    counts[:] = 0
    for chunk in chunks():
        bits = _bits(np.ascontiguousarray(chunk, dtype=np.float32).ravel())
        inside = bits[bits >> _HALF == leading] & (2**_HALF - 1)
        counts += np.bincount(inside, minlength=len(counts))
    return float(np.uint32((leading << _HALF) + _bin_of(counts, place)[0]).view(np.float32))


def quantile_bytes(n_numbers: int) -> int:
    """Return what `streamed_quantile` holds: numbers that are kept and a copy, and counts."""
    return 8 * min(n_numbers, _KEPT) + 24 * 2**_HALF


def _bits(numbers: np.ndarray) -> np.ndarray:
    return (numbers + np.float32(0)).view(np.uint32)  # -0.0 becomes 0.0


def _bin_of(counts: np.ndarray, place: int) -> tuple[int, int]:
    """Return the bin of the number at a place, and its place among those of the bin."""
    ends = np.cumsum(counts)
    found = int(np.searchsorted(ends, place, side="right"))
    return found, place - int(ends[found] - counts[found])
