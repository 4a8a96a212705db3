"""A scene of any size for a given class map, for measurements and tests at scale."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from diffclass.datasets import FloatArray, Seed, smooth_field

IntArray = NDArray[np.integer]


def make_hyperspectral_scene(
    class_map: ArrayLike,
    *,
    n_bands: int = 204,
    noise: float = 0.02,
    random_state: Seed = 0,
) -> FloatArray:
    """Make synthetic spectra for a given class map, for tests at scale.

    Every class has its own smooth reflectance near a common one. Within a class a smooth drift over
    the picture and an offset per field (connected region) bend the spectrum, a blur mixes border
    pixels, the background is a changing mixture of four spectra, and neighbouring bands share part
    of the noise. The cube is a product of low rank, ``weights (pixels, r) @ basis (r, bands)``, so
    that no second cube is held.

    Parameters
    ----------
    class_map : array-like of shape (rows, columns), int, at least 0
        Class ids; 0 is background.
    n_bands : int, default=204
        Number of bands, at least 4.
    noise : float, default=0.02
        Standard deviation of the noise, in units of reflectance. At least 0.
    random_state : int, Generator or None, default=0
        Seed.

    Returns
    -------
    ndarray of shape (rows, columns, n_bands), float32
        Reflectance, about 0 to 1.

    Notes
    -----
    Memory: the cube, and 2 * n_classes + 5 pictures of float32.
    """
    fields = np.asarray(class_map)
    rng = np.random.default_rng(random_state)
    ids = [int(i) for i in np.unique(fields) if i > 0]
    weights = np.concatenate([_background_weights(fields, rng), _class_weights(fields, ids, rng)])
    basis = reflectances(4, len(ids), n_bands=n_bands, rng=rng)
    light = np.float32(1.0) + np.float32(0.04) * smooth_field(fields.shape, 25.0, rng)
    cube = np.tensordot(weights * light, basis, axes=(0, 0))
    add_correlated_noise(cube, noise, rng)
    return cube


def _background_weights(fields: IntArray, rng: np.random.Generator) -> FloatArray:
    """Share the background among four spectra by smooth fields; (4, rows, columns)."""
    scores = np.stack([smooth_field(fields.shape, 10.0, rng) for _ in range(4)])
    shares = np.exp(1.5 * scores)
    shares *= abundance(fields, 0) / shares.sum(axis=0)
    return shares


def _class_weights(fields: IntArray, ids: list[int], rng: np.random.Generator) -> FloatArray:
    """Weigh each class's mean and its direction of change; (2 * n_classes, rows, columns)."""
    weights = np.empty((2 * len(ids), *fields.shape), dtype=np.float32)
    for place, i in enumerate(ids):
        numbered, n_regions = ndimage.label(fields == i)
        offsets = rng.standard_normal(n_regions + 1).astype(np.float32)
        change = smooth_field(fields.shape, 15.0, rng) + 0.7 * offsets[numbered]
        weights[2 * place] = abundance(fields, i)
        weights[2 * place + 1] = weights[2 * place] * change
    return weights


def abundance(fields: IntArray, i: int) -> FloatArray:
    """Blur a class's indicator by the instrument's point spread, which reaches two pixels.

    Sums to 1 over the classes; of shape (rows, columns).
    """
    return ndimage.gaussian_filter((fields == i).astype(np.float32), 0.6)


def reflectances(
    n_background: int, n_classes: int, *, n_bands: int, rng: np.random.Generator
) -> FloatArray:
    """Draw the spectra that the weights mix; (n_background + 2 * n_classes, n_bands)."""

    def smooth(scale: float) -> NDArray[np.float64]:
        return ndimage.gaussian_filter1d(rng.standard_normal(3 * n_bands), scale * n_bands)[
            n_bands : 2 * n_bands
        ] * np.sqrt(2.0 * np.sqrt(np.pi) * scale * n_bands)

    common = 0.4 + 0.08 * smooth(0.15)
    rows = [common + 0.06 * smooth(0.06) for _ in range(n_background)]
    for _ in range(n_classes):
        rows += [common + 0.018 * smooth(0.06), 0.018 * smooth(0.08)]
    return np.asarray(rows, dtype=np.float32)


def add_correlated_noise(cube: FloatArray, noise: float, rng: np.random.Generator) -> None:
    """Add noise in place; neighbouring bands share half of its variance."""
    for row in cube:
        white = rng.standard_normal(row.shape, dtype=np.float32)
        shared = ndimage.gaussian_filter1d(
            rng.standard_normal(row.shape, dtype=np.float32), 1.5, axis=1
        )
        # The filter shrinks white noise to a variance of 1 / (2 sqrt(pi) * 1.5).
        shared *= np.sqrt(2.0 * np.sqrt(np.pi) * 1.5)
        row += np.float32(noise * np.sqrt(0.5)) * (white + shared)
