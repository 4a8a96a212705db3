"""Spectra to draw: at a pixel, and the mean of each class's labelled pixels."""

from __future__ import annotations

import numpy as np

from diffclass_hyperspectral import Scene

# At most this many labelled pixels of a class, evenly spread over them, make its mean.
_MOST_PIXELS = 200


def drawn_bands(scene: Scene) -> np.ndarray:
    """Return the bands to draw, bool of shape (bands,): good and not empty."""
    return scene.band_mask & ~scene.empty_bands


def spectrum_at(scene: Scene, pixel: int) -> list[float | None]:
    """Return the reflectances of a pixel, None in bands that are not drawn and without data."""
    row, column = divmod(pixel, scene.shape[1])
    drawn = drawn_bands(scene)
    values = scene.spectra(slice(row, row + 1), bands=drawn)[column]
    return _listed(values, drawn)


def class_means(scene: Scene, ids: np.ndarray) -> dict[int, list[float | None]]:
    """Return the mean spectrum of each class.

    Parameters
    ----------
    scene : Scene
    ids : ndarray of int of shape (rows, columns)
        Class of each labelled pixel, 0 elsewhere.

    Returns
    -------
    dict of int to list
        As `spectrum_at`, by class id.
    """
    drawn = drawn_bands(scene)
    flat = ids.ravel()
    present = np.unique(flat)
    chosen = {int(i): _spread(np.flatnonzero(flat == i)) for i in present[present > 0]}
    sums = {i: np.zeros(int(drawn.sum())) for i in chosen}
    columns = scene.shape[1]
    rows = sorted({int(row) for pixels in chosen.values() for row in pixels // columns})
    for row in rows:  # each row of the scene is read once for all its classes
        spectra = scene.spectra(slice(row, row + 1), bands=drawn)
        for i, pixels in chosen.items():
            sums[i] += spectra[pixels[pixels // columns == row] % columns].sum(axis=0)
    return {i: _listed(total / len(chosen[i]), drawn) for i, total in sums.items()}


def _spread(pixels: np.ndarray) -> np.ndarray:
    step = -(-len(pixels) // _MOST_PIXELS)
    return pixels[::step]


def _listed(values: np.ndarray, drawn: np.ndarray) -> list[float | None]:
    out: list[float | None] = [None] * len(drawn)
    for band, value in zip(np.flatnonzero(drawn).tolist(), values.tolist(), strict=True):
        out[band] = round(value, 6) if np.isfinite(value) else None
    return out
