"""Components of a scene's spectra: the directions worth keeping, and spectra along them.

Directions are found from evenly spaced rows; which ones follows from the scene's shape alone.

The minimum noise fraction (MNF) transform takes noise from the differences of neighbouring pixels
and orders directions by signal-to-noise ratio: with signal covariance S and noise covariance N it
solves S v = l N v, v' N v = 1 (A. Green et al. 1988; J. Lee, A. Woodyatt and M. Berman 1990). It is
solved as a symmetric problem: the vectors of a general one become complex where N is nearly
singular.

The spectral angle a of two spectra ignores how bright they are, their correlation r an offset too.
Unit spectra u = x / |x|, and u of x minus its mean over the bands, turn both into distances:

    |u(x) - u(y)| = 2 sin(a / 2),    |u(x) - u(y)| = (2 - 2 r)^(1/2)

(F. Kruse et al. 1993; O. de Carvalho and P. Meneses 2000). The leading directions of unit spectra
keep all but 1/10,000 of their spread.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from threadpoolctl import threadpool_limits

from diffclass.exceptions import DataError
from diffclass.system.mapped_files import release_pages
from diffclass.system.progress import in_parts, stage
from diffclass_hyperspectral.features.block_statistics import Moments
from diffclass_hyperspectral.io.rasters import ComputedRaster, PointPicture, row_blocks
from diffclass_hyperspectral.io.scenes import Scene

_FLAT = 1e-5  # of a spectrum's length; below it what is left is rounding
_MOST_PIXELS = 30_000  # for covariances: over a hundred times the bands
_NOISE_FLOOR = 1e-6  # of a band's noise variance, so that one copied cannot divide by zero
_LOST_SPREAD = 1e-4  # of unit spectra: distances change by a hundredth at most, on average
_ROUNDING = 1e-12  # of squares of unit spectra, which are single
_BLOCK_ROWS = 64


def lengths_of(spectra: np.ndarray) -> np.ndarray:
    """Return the length of each row, in double precision."""
    # in double precision: squares of digital numbers soon pass what single can tell apart
    return np.sqrt(np.einsum("ij,ij->i", spectra, spectra, dtype=np.float64))


def unit_rows(spectra: np.ndarray) -> np.ndarray:
    """Scale the rows to length 1, in place; rows of zeros stay."""
    lengths = lengths_of(spectra)
    spectra /= np.where(lengths > 0, lengths, 1).astype(spectra.dtype)[:, None]
    return spectra


def with_direction(spectra: np.ndarray, metric: str) -> np.ndarray:
    """Make what a metric's directions are applied to, in place; NaN where there is no direction."""
    if metric == "euclidean":
        return spectra
    length = lengths_of(spectra)
    if metric == "correlation":
        spectra -= spectra.mean(axis=1, keepdims=True)
    spectra[lengths_of(spectra) <= _FLAT * length] = np.nan
    return spectra


def sampled_rows(shape: tuple[int, int, int]) -> range:
    """Return the numbers of evenly spaced rows of a scene."""
    rows, columns, _ = shape
    return range(0, rows, -(-rows * columns // _MOST_PIXELS))


def signal_and_noise(scene: Scene, bands: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return mean, signal and noise covariance: noise from differences to the right and below."""
    columns, n_bands = scene.shape[1], int(bands.sum())
    spectra, differences, shift = Moments(n_bands), Moments(n_bands), None
    for row in sampled_rows(scene.shape):  # one at a time: sums do not depend on blocks
        pair = scene.spectra(slice(row, row + 2), bands=bands).reshape(-1, columns, n_bands)
        pixels = finite_rows(pair[0]).astype(np.float64)
        if shift is None and len(pixels):
            shift = pixels.mean(axis=0)  # what is squared below should be small
        spectra.add(pixels if shift is None else pixels - shift)
        for axis, lines in ((1, pair[:1]), (0, pair)):
            differences.add(finite_rows(np.diff(lines, axis=axis)))
    if not differences.n_points:
        raise DataError(f"{scene.path}: no two pixels with data touch; noise cannot be estimated")
    if not differences.mean_products.any():
        raise DataError(
            f"{scene.path}: pixels that touch are all equal; there is no noise to estimate"
        )
    return spectra.mean + shift, spectra.covariance, differences.mean_products / 2


def finite_rows(values: np.ndarray) -> np.ndarray:
    """Return the rows of the last axis that are finite throughout, as a table."""
    table = values.reshape(-1, values.shape[-1])
    return table[np.isfinite(table).all(axis=1)]


def noise_adjusted_directions(
    scene: Scene, bands: np.ndarray, n_components: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the mean spectrum (b,), at most b vectors v (b, k) by falling l, and their l (k,).

    `DataError`: no two pixels with data touch, or all that do are equal.
    """
    with threadpool_limits(1, user_api="blas"):  # matrices too small for threads to pay
        with stage("features: covariances"):
            mean, signal, noise = signal_and_noise(scene, bands)
        n_bands, units = len(signal), _units(signal, noise)
        signal, noise = (one / np.outer(units, units) for one in (signal, noise))
        noise += _NOISE_FLOOR * np.eye(n_bands)
        kept = [n_bands - min(n_components, n_bands), n_bands - 1]
        with stage("features: directions"):
            ratios, vectors = scipy.linalg.eigh(signal, noise, subset_by_index=kept)
    return mean, vectors[:, ::-1] / units[:, None], ratios[::-1]


def _units(signal: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Return each band's deviation of noise, of signal where it has no noise."""
    variances = np.where(np.diag(noise) > 0, np.diag(noise), np.diag(signal))
    return np.sqrt(np.where(variances > 0, variances, 1))


def unit_directions(
    scene: Scene, bands: np.ndarray, n_components: int | None, *, metric: str
) -> np.ndarray:
    """Return the leading directions (b, k) of unit spectra, orthonormal; angle or correlation."""
    with threadpool_limits(1, user_api="blas"):  # as above
        with stage("features: covariances"):
            moments = _unit_moments(scene, bands, metric)
        with stage("features: directions"):
            squares, vectors = scipy.linalg.eigh(moments.mean_products)
    spread = np.trace(moments.covariance)
    lost = np.cumsum(squares)  # ascending: without the first j directions, lost[j - 1] is
    n_left_out = int(np.searchsorted(lost, max(_LOST_SPREAD * spread, _ROUNDING)))
    n_kept = max(1, len(squares) - n_left_out)
    k = n_kept if n_components is None else min(n_components, n_kept)
    return vectors[:, : -k - 1 : -1]


def _unit_moments(scene: Scene, bands: np.ndarray, metric: str) -> Moments:
    """Return the moments of unit spectra over a sample of rows."""
    moments = Moments(int(bands.sum()))
    for row in sampled_rows(scene.shape):  # one at a time: sums do not depend on blocks
        spectra = scene.spectra(slice(row, row + 1), bands=bands)
        moments.add(unit_rows(finite_rows(with_direction(spectra, metric))))
    if moments.n_points == 0:
        raise DataError(
            f"{scene.path}: every spectrum is {'flat' if metric == 'correlation' else 'zero'}, "
            f"none has a direction for metric={metric!r}; use metric='euclidean'"
        )
    return moments


@dataclass(frozen=True, eq=False)
class Components:
    """A scene's spectra along directions."""

    scene: Scene
    metric: str
    bands: np.ndarray  # in use, bool (bands,)
    directions: np.ndarray  # (n_used_bands, k)
    mean: np.ndarray | None  # taken off before, if anything

    def pixels(self) -> np.ndarray:
        """Return which pixels have finite spectra with a direction, bool (rows, columns)."""
        scene = self.scene
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

    def picture(self) -> ComputedRaster:
        """Return the picture of the components, projected where it is read."""
        scene = self.scene
        with np.errstate(over="ignore"):  # found where they are written
            directions = self.directions.astype(np.float32)
            centre = None if self.mean is None else (self.mean @ self.directions).astype(np.float32)
        k = directions.shape[1]

        def read(rows: slice) -> np.ndarray:
            spectra = with_direction(scene.spectra(rows, bands=self.bands), self.metric)
            with np.errstate(over="ignore", invalid="ignore"):
                found = spectra @ directions
            if centre is not None:
                found -= centre
            return found.reshape(-1, scene.shape[1], k)

        return ComputedRaster((*scene.shape[:2], k), np.float32, read)

    def write(self, picture: PointPicture, *, is_unit: bool) -> None:
        """Write the components to the first columns of a picture's points, of length 1 if asked."""
        rows, columns, bands = self.scene.shape
        components = self.picture()
        blocks = row_blocks(rows, columns * bands, most_rows=_BLOCK_ROWS)
        for block in in_parts("features: projection", blocks):
            found = components[block][picture.valid[block]]
            if not np.isfinite(found).all():
                raise DataError(
                    f"{self.scene.path}: holds values too large or too small for single "
                    "precision; give them a scale factor"
                )
            if is_unit:
                found = unit_rows(found)
            picture.points[picture.numbers(block), : self.directions.shape[1]] = found
            release_pages(picture)
