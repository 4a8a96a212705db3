"""Directions of spectra that are worth keeping, from evenly spaced rows of a scene.

Which rows are taken follows from the scene's shape alone, so that the result does not depend on how
many are read at a time.

The minimum noise fraction (MNF) transform takes noise from the differences of neighbouring pixels
and orders directions by signal-to-noise ratio: with signal covariance S and noise covariance N it
solves S v = l N v, v' N v = 1, so that noise has variance 1 in every component (A. Green et al.
1988; J. Lee, A. Woodyatt and M. Berman 1990). It is solved as the symmetric problem that it is:
`spectral.mnf` solves a general one, whose vectors become complex where N is nearly singular.

The leading directions of unit spectra keep all but 1/10,000 of their spread, and with it their
distances.
"""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

from diffclass.exceptions import DataError
from diffclass.progress import stage
from diffclass_hyperspectral.features.moments import Moments
from diffclass_hyperspectral.features.unit_spectra import unit_rows, with_direction
from diffclass_hyperspectral.io.scenes import Scene

_MOST_PIXELS = 30_000  # for covariances: over a hundred times the bands


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


_NOISE_FLOOR = 1e-6  # of the mean noise variance, so that a noiseless band cannot divide by zero
_LOST_SPREAD = 1e-4  # of unit spectra: distances change by a hundredth at most, on average
_ROUNDING = 1e-12  # of squares of unit spectra, which are single


def noise_adjusted_directions(
    scene: Scene, bands: np.ndarray, n_components: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the mean spectrum, the vectors v by falling l, and the l of these.

    Parameters
    ----------
    scene : Scene
    bands : ndarray of bool of shape (bands,)
        Bands in use.
    n_components : int
        Vectors wanted; no more than there are bands in use are found.

    Returns
    -------
    mean : ndarray of shape (n_used_bands,)
    directions : ndarray of shape (n_used_bands, k)
    ratios : ndarray of shape (k,)

    Raises
    ------
    DataError
        Where no two pixels with data touch, or all that do are equal.
    """
    from scipy.linalg import eigh

    with threadpool_limits(1, user_api="blas"):  # matrices too small for threads to pay
        with stage("features: covariances"):
            mean, signal, noise = signal_and_noise(scene, bands)
        n_bands = len(signal)
        noise += _NOISE_FLOOR * np.trace(noise) / n_bands * np.eye(n_bands)
        kept = [n_bands - min(n_components, n_bands), n_bands - 1]
        with stage("features: directions"):
            ratios, vectors = eigh(signal, noise, subset_by_index=kept)
    return mean, vectors[:, ::-1], ratios[::-1]


def unit_directions(
    scene: Scene, bands: np.ndarray, n_components: int | None, *, metric: str
) -> np.ndarray:
    """Return the leading directions of unit spectra, of shape (n_used_bands, k), orthonormal.

    Parameters
    ----------
    scene : Scene
    bands : ndarray of bool of shape (bands,)
        Bands in use.
    n_components : int or None
        Directions wanted at most.
    metric : {"angle", "correlation"}
        Whether spectra are taken as they are or without their mean over the bands.

    Raises
    ------
    DataError
        Where no spectrum has a direction.
    """
    from scipy.linalg import eigh

    with threadpool_limits(1, user_api="blas"):  # as above
        with stage("features: covariances"):
            moments = _unit_moments(scene, bands, metric)
        with stage("features: directions"):
            squares, vectors = eigh(moments.mean_products)
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
