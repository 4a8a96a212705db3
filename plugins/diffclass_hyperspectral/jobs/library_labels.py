"""Labels from a spectral library: the pixels that are most like its spectra.

Likeness is the spectral angle (Kruse et al. 1993, The Spectral Image Processing System), which
brightness and units of a factor do not change.
"""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np

from diffclass.exceptions import DataError, ParameterError
from diffclass.targets import MOST_CLASSES
from diffclass_hyperspectral.io.labels import LabelImage, is_pixel_list
from diffclass_hyperspectral.io.rasters import row_blocks
from diffclass_hyperspectral.io.readers import (
    SpectralLibrary,
    is_library,
    read_library,
    resampled,
)
from diffclass_hyperspectral.io.scenes import Scene
from diffclass_hyperspectral.io.tiles import TiledScene, read_tile_labels

N_PIXELS = 10
_FEWEST_BANDS = 3


def labels_of_library(
    scene: Scene, path: str | os.PathLike[str], *, n_pixels: int = N_PIXELS
) -> LabelImage:
    """Label the ``n_pixels`` of smallest angle to each spectrum of a library; the nearest one wins.

    Spectra of one name are one class, in their order. They are resampled to the scene's bands;
    bands where a spectrum has no value do not count. `DataError`: fewer than three bands are in
    common. `ParameterError`: too many classes, or wavelengths that either lacks.
    """
    library = read_library(path)
    names = list(dict.fromkeys(library.names))
    if len(names) > MOST_CLASSES:
        raise ParameterError(f"{path}: {len(names)} classes, more than {MOST_CLASSES}")
    bands, spectra = _on_bands(library, scene, path)
    cosines, pixels = _nearest(scene, bands, spectra, n_pixels)
    ids = np.zeros(scene.shape[0] * scene.shape[1], dtype=np.int32)
    owners = np.array([1 + names.index(name) for name in library.names])
    order = np.argsort(cosines, axis=None, kind="stable")  # the nearest comes last, and wins
    found = np.isfinite(cosines.ravel()[order])
    ids[pixels.ravel()[order][found]] = np.repeat(owners, cosines.shape[1])[order][found]
    labels = LabelImage.from_array(
        ids.reshape(scene.shape[:2]), names=dict(enumerate(names, start=1)), path=path
    )
    return replace(labels, map_info=scene.map_info)


def read_scene_labels(
    tiles: TiledScene, path: str | os.PathLike[str], *, variable: str | None = None
) -> LabelImage:
    """Return labels of pixels from an image, shapes, a list of pixels or a spectral library."""
    if is_library(path) and not is_pixel_list(path):
        return labels_of_library(tiles.scene, path)
    return read_tile_labels(path, tiles, variable=variable)


def _on_bands(
    library: SpectralLibrary, scene: Scene, path: str | os.PathLike[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the bands to compare, bool (bands,), and the spectra there."""
    usable = scene.usable_bands()
    given, own = library.wavelengths, scene.wavelengths
    if given is None or own is None:
        if library.spectra.shape[1] != scene.n_bands:
            lacking = path if given is None else scene.path
            raise ParameterError(
                f"{lacking}: has no wavelengths, and {path} has {library.spectra.shape[1]} bands, "
                f"not the scene's {scene.n_bands}; state them in its file"
            )
        spectra = library.spectra
    else:
        spectra = np.array([resampled(one, given, own, scene.widths) for one in library.spectra])
    bands = usable & np.isfinite(spectra).all(axis=0)
    if np.count_nonzero(bands) < _FEWEST_BANDS:
        raise DataError(
            f"{path}: {np.count_nonzero(bands)} bands in common with {scene.path}; spectra are "
            f"compared in at least {_FEWEST_BANDS}"
        )
    return bands, spectra[:, bands]


def _nearest(
    scene: Scene, bands: np.ndarray, spectra: np.ndarray, n_pixels: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return cosines, -inf for none, and numbers of the nearest pixels: (spectra, n_pixels)."""
    rows, columns, _ = scene.shape
    units = spectra / np.linalg.norm(spectra, axis=1, keepdims=True)
    best = np.full((len(spectra), n_pixels), -np.inf)
    where = np.zeros((len(spectra), n_pixels), dtype=np.int64)
    for some in row_blocks(rows, columns * len(bands)):
        values = scene.spectra(some, bands=bands).astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            cosines = (values @ units.T) / np.linalg.norm(values, axis=1)[:, None]
        cosines = np.where(np.isfinite(cosines), cosines, -np.inf).T
        numbers = np.arange(cosines.shape[1]) + range(rows)[some].start * columns
        together = np.concatenate([best, cosines], axis=1)
        places = np.concatenate([where, np.broadcast_to(numbers, cosines.shape)], axis=1)
        kept = np.argpartition(-together, n_pixels - 1, axis=1)[:, :n_pixels]
        best = np.take_along_axis(together, kept, axis=1)
        where = np.take_along_axis(places, kept, axis=1)
    return best, where
