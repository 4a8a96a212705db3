"""Spectra to draw: at a pixel, and mean and spread of each class's labelled pixels."""

from __future__ import annotations

import numpy as np

from diffclass_hyperspectral import Scene
from diffclass_relabel.protocol import ClassSpectrum

_MOST_PIXELS = 200  # of a class
_SPREAD = (10, 90)  # percentiles


def drawn_bands(scene: Scene) -> np.ndarray:
    """Return the bands to draw, bool of shape (bands,): good and not empty."""
    return scene.band_mask & ~scene.empty_bands


def spectrum_at(scene: Scene, pixel: int) -> list[float | None]:
    """Return the reflectances of a pixel, None in bands that are not drawn and without data."""
    row, column = divmod(pixel, scene.shape[1])
    drawn = drawn_bands(scene)
    values = scene.spectra(slice(row, row + 1), bands=drawn)[column]
    return _listed(values, drawn)


def class_spectra(scene: Scene, ids: np.ndarray) -> list[ClassSpectrum]:
    """Return mean and spread of each class's labelled pixels.

    Parameters
    ----------
    scene : Scene
    ids : ndarray of int of shape (rows, columns)
        Class of each labelled pixel, 0 elsewhere.

    Returns
    -------
    list of ClassSpectrum
        By class id. The mean, and between which values 80 % of the pixels are in each band; of a
        class with more than 200 pixels 100 to 200, evenly spread over them.
    """
    drawn = drawn_bands(scene)
    flat = ids.ravel()
    present = np.unique(flat)
    chosen = {int(i): _spread(np.flatnonzero(flat == i)) for i in present[present > 0]}
    parts: dict[int, list[np.ndarray]] = {i: [] for i in chosen}
    columns = scene.shape[1]
    rows = sorted({int(row) for pixels in chosen.values() for row in pixels // columns})
    for row in rows:  # each row of the scene is read once for all its classes
        spectra = scene.spectra(slice(row, row + 1), bands=drawn)
        for i, pixels in chosen.items():
            parts[i].append(spectra[pixels[pixels // columns == row] % columns])
    return [_class_spectrum(i, np.concatenate(some), drawn) for i, some in parts.items()]


def _class_spectrum(class_id: int, spectra: np.ndarray, drawn: np.ndarray) -> ClassSpectrum:
    low, high = np.percentile(spectra, _SPREAD, axis=0)
    return {
        "class": class_id,
        "count": len(spectra),
        "mean": _listed(spectra.mean(axis=0, dtype=np.float64), drawn),
        "low": _listed(low, drawn),
        "high": _listed(high, drawn),
    }


def _spread(pixels: np.ndarray) -> np.ndarray:
    step = -(-len(pixels) // _MOST_PIXELS)
    return pixels[::step]


def _listed(values: np.ndarray, drawn: np.ndarray) -> list[float | None]:
    out: list[float | None] = [None] * len(drawn)
    for band, value in zip(np.flatnonzero(drawn).tolist(), values.tolist(), strict=True):
        out[band] = round(value, 6) if np.isfinite(value) else None
    return out
