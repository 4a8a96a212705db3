"""Models saved in a file: features and classifier of one scene, to be applied to others."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.blocks import BlockClassifier
from diffclass.classifier import DiffusionClassifier
from diffclass.exceptions import DataError
from diffclass.mapped_pages import release_pages
from diffclass.output import replacing
from diffclass_hyperspectral.features.scene_features import SceneFeatures
from diffclass_hyperspectral.io.class_table import ClassTable
from diffclass_hyperspectral.io.readers.blocks import BlockArray
from diffclass_hyperspectral.io.scenes import Scene

Classifier = DiffusionClassifier | BlockClassifier

_KIND = "diffclass scene model 2"
_BLOCK_PIXELS = 50_000


@dataclass(frozen=True)
class SceneModel:
    """What is needed to classify another scene.

    Attributes
    ----------
    features : SceneFeatures
        Fitted; best without positions, which mean nothing in another scene.
    classifier : DiffusionClassifier or BlockClassifier
        Fitted to the valid pixels of the training scene. Only the first can be applied to others.
    wavelengths : ndarray of shape (bands,) or None
        Of the training scene, in nanometres.
    table : ClassTable
    """

    features: SceneFeatures
    classifier: Classifier
    wavelengths: np.ndarray | None
    table: ClassTable

    def posteriors(self, scene: Scene) -> np.ndarray:
        """Return the posteriors of a scene's pixels, as the walk has them: not calibrated.

        Parameters
        ----------
        scene : Scene
            With the training scene's bands, found by wavelength, or, if either has no
            wavelengths, just as many bands.

        Returns
        -------
        ndarray of shape (rows * columns, n_classes)
            NaN for missing pixels.

        Raises
        ------
        DataError
            Where a band is missing.
        """
        bands = matching_bands(self, scene)
        points, valid = self.features.transform_points(_with_bands(scene, bands))
        out = np.full((valid.size, len(self.classifier.classes_)), np.nan, dtype=np.float32)
        places = np.flatnonzero(valid)
        for start in range(0, len(points), _BLOCK_PIXELS):
            chunk = slice(start, start + _BLOCK_PIXELS)
            out[places[chunk]] = self.classifier.raw_predict_proba(points[chunk])
        return out

    def working_bytes(self, n_pixels: int, n_features: int) -> int:
        """Return the bytes that `posteriors` holds besides the model: features, result, a block."""
        edges = min(n_pixels, _BLOCK_PIXELS) * self.classifier.n_neighbors
        held = 4 * n_pixels * (n_features + len(self.classifier.classes_))
        return held + 60 * edges


def save_model(path: str | os.PathLike[str], model: SceneModel, *, overwrite: bool = False) -> Path:
    """Write a model to a file (by joblib; load only files whose origin you trust)."""
    import joblib

    with replacing(path, overwrite=overwrite) as temporary:
        joblib.dump({"kind": _KIND, "model": model}, temporary, compress=1)
    return Path(path)


def load_model(path: str | os.PathLike[str]) -> SceneModel:
    """Read a model that `save_model` wrote.

    Loading runs code that the file contains: load only files whose origin you trust.

    Raises
    ------
    DataError
        Where the file is missing, damaged or not a model.
    """
    import joblib

    if not Path(path).is_file():
        raise DataError(f"{path}: no such model file; make one with classify --save")
    try:
        content: Any = joblib.load(path)
    except Exception as error:  # a damaged pickle can raise anything
        raise DataError(
            f"{path}: cannot be read as a model ({type(error).__name__}); name a file of classify "
            "--save, or save it again"
        ) from error
    if not (isinstance(content, dict) and content.get("kind") == _KIND):
        raise DataError(f"{path}: is not a model of this version of diffclass; save it again")
    return content["model"]


def matching_bands(model: SceneModel, scene: Scene) -> np.ndarray:
    """Return, for each band of the model, the number of the scene's band that matches it.

    A band matches if its centre is within half the distance to the model band's own neighbour.

    Raises
    ------
    DataError
        Where a band in use has no match, or counts differ and wavelengths are unknown.
    """
    used = model.features.bands_
    if model.wavelengths is None or scene.wavelengths is None:
        if scene.n_bands != len(used):
            raise DataError(
                f"{scene.path}: has {scene.n_bands} bands, the model {len(used)}, and wavelengths "
                "to match them by are missing; give a scene with the same bands"
            )
        return np.arange(scene.n_bands)
    distances = np.abs(model.wavelengths[:, None] - scene.wavelengths[None, :])
    nearest = distances.argmin(axis=1)
    missing = used & (distances.min(axis=1) > _half_spacing(model.wavelengths))
    if missing.any():
        lacking = ", ".join(f"{w:.1f}" for w in model.wavelengths[missing][:5])
        raise DataError(
            f"{scene.path}: has no band at {lacking} nm ({np.count_nonzero(missing)} of the "
            "model's bands are missing); give a scene of the same spectral range"
        )
    return nearest


def _half_spacing(wavelengths: np.ndarray) -> np.ndarray:
    if len(wavelengths) < 2:
        return np.full(len(wavelengths), 1.0)
    order = np.argsort(wavelengths)
    gaps = np.diff(wavelengths[order])
    nearest_gap = np.minimum(np.r_[gaps, np.inf], np.r_[np.inf, gaps])
    half = np.empty(len(wavelengths))
    # half a band, plus a little for rounding in headers
    half[order] = nearest_gap / 2 + 1e-6
    return half


def _with_bands(scene: Scene, bands: np.ndarray) -> Scene:
    if len(bands) == scene.n_bands and (bands == np.arange(scene.n_bands)).all():
        return scene
    wavelengths = None if scene.wavelengths is None else scene.wavelengths[bands]
    return replace(
        scene,
        data=_by_rows(scene)[..., bands],  # of an array that would be a copy of the whole scene
        band_mask=scene.band_mask[bands],
        wavelengths=wavelengths,
        band_names=None,
    )


def _by_rows(scene: Scene) -> BlockArray:
    if isinstance(scene.data, BlockArray):
        return scene.data

    def read(start: int, stop: int) -> np.ndarray:
        block = np.array(scene.data[start:stop])
        release_pages(scene.data)
        return block

    return BlockArray(scene.shape, scene.data.dtype, read_rows=read, path=scene.path)
