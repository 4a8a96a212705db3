"""Signal and noise covariance of a scene, from evenly spaced rows.

Which rows are taken follows from the scene's shape alone, so that the result does not depend on how
many are read at a time.
"""

from __future__ import annotations

import numpy as np

from diffclass.exceptions import DataError
from diffclass_hyperspectral.features.moments import Moments
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
