"""Models in a file: features and classifier of one scene, to be applied to others."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from diffclass import __version__
from diffclass.exceptions import DataError, warn_user
from diffclass.jobs import Classifier
from diffclass.label_diffusion import RESULT_BYTES
from diffclass.model_files import CLASSIFIER, read_model, write_model
from diffclass.options import check_options
from diffclass.system.costs import Cost, Forecast
from diffclass.system.forms import (
    Array,
    Choice,
    Flag,
    Form,
    Listed,
    Maybe,
    Number,
    OneOf,
    Record,
    Whole,
)
from diffclass.system.mapped_files import release_pages
from diffclass_hyperspectral.features.feature_costs import feature_costs, scene_size
from diffclass_hyperspectral.features.scene_features import SceneFeatures
from diffclass_hyperspectral.features.smoothing import GaussianSmoothing, GridDiffusion
from diffclass_hyperspectral.io.labels import ClassEntry, ClassTable
from diffclass_hyperspectral.io.rasters import BlockArray
from diffclass_hyperspectral.io.scenes import Scene, factor_text, round_factor
from diffclass_hyperspectral.options import METRICS, OPTIONS

_KIND = "diffclass scene model"
_BLOCK_PIXELS = 50_000

# Letters of sizes: b bands, u of them in use, k components at s scales.
_SIGMA = Number(0, 10_000)
_SCALE = OneOf({
    "sigma": _SIGMA,
    "Gaussian": Record(GaussianSmoothing, {"sigma": _SIGMA}),
    "diffusion": Record(GridDiffusion, {
        "n_steps": Whole(1, 100_000), "sigma": _SIGMA, "quantile": Number(0, 1),
    }),
})  # fmt: skip

_PARAMETERS: dict[str, Form] = {
    "n_components": Maybe(Whole(1)),
    "metric": Choice({name: name for name in METRICS}),
    "spatial": Flag(),
    "scales": Listed(_SCALE, "s", make=tuple),
    "field_power": Number(0),
    "position_weight": Number(0),
}

_FOUND: dict[str, Form] = {
    "bands_": Array(("b",), "b"),
    "directions_": Array(("u", "k")),
    "n_components_": Whole(1),
    "mean_": Maybe(Array(("u",))),
    "signal_to_noise_": Maybe(Array(("k",))),
    "levels_": Maybe(Array((2, "u"))),
    "weights_": Maybe(Array(("s", "k", "k"))),
    "scales_": Maybe(Array(("s",))),
}


def _features(**values: Any) -> SceneFeatures:
    found = {name: values.pop(name) for name in _FOUND}
    features = SceneFeatures(**values)
    features.check_parameters()
    for name, value in found.items():
        if value is not None:
            setattr(features, name, value)
    is_whole = (
        np.count_nonzero(features.bands_) == len(features.directions_)
        and features.n_components_ == features.directions_.shape[1]
        and (features.metric != "euclidean" or hasattr(features, "mean_"))
        and (
            not features.spatial or (hasattr(features, "scales_") and hasattr(features, "weights_"))
        )
    )
    if not is_whole:
        raise ValueError("the features lack a part")
    return features


FEATURES = Record(SceneFeatures, _PARAMETERS | _FOUND, _features)

_ENTRY = Record(ClassEntry, {"color": Listed(Whole(0, 255), 3, make=tuple)})

TABLE = Record(ClassTable, {"entries": Listed(_ENTRY, make=tuple)})


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

    Examples
    --------
    >>> from diffclass.datasets import make_tissue_scene
    >>> from diffclass_hyperspectral import LabelImage, Scene, classify_scene
    >>> tissue, other = make_tissue_scene(48, 48), make_tissue_scene(48, 60, random_state=1)
    >>> labels = LabelImage.from_array(tissue.labels)
    >>> model = classify_scene(Scene.from_array(tissue.cube), labels).result.model
    >>> posteriors, novelty = model.answers(Scene.from_array(other.cube))
    >>> posteriors.shape, novelty.shape
    ((2880, 3), (2880,))
    """

    features: SceneFeatures
    classifier: Classifier
    wavelengths: np.ndarray | None
    table: ClassTable

    def answers(self, scene: Scene, *, check_units: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """Return the posteriors of a scene's pixels, as the walk has them, and their novelty.

        Parameters
        ----------
        scene : Scene
            With the training scene's bands, found by wavelength, or, if either has no
            wavelengths, just as many bands.
        check_units : bool, default=True
            Whether other units than those of the training scene are an error; a warning if not.

        Returns
        -------
        posteriors : ndarray of float32 of shape (rows * columns, n_classes)
            Not calibrated; NaN for missing pixels.
        novelty : ndarray of float32 of shape (rows * columns,)
            Distance to the training neighbours in units of their own; NaN for missing pixels.

        Raises
        ------
        DataError
            Where a band is missing, or the units are others.
        """
        same = _with_bands(scene, matching_bands(self, scene))
        self._compare_units(same, is_error=check_units)
        points, valid = self.features.transform_points(same)
        out = np.full((valid.size, len(self.classifier.classes_)), np.nan, dtype=np.float32)
        novelty = np.full(valid.size, np.nan, dtype=np.float32)
        places = np.flatnonzero(valid)
        for start in range(0, len(points), _BLOCK_PIXELS):
            chunk = slice(start, start + _BLOCK_PIXELS)
            if not np.isfinite(points[chunk]).all():
                raise DataError(
                    f"{scene.path}: its features by this model are beyond what numbers can hold; "
                    "check its units, or save the model again"
                )
            posteriors, distances = self.classifier.raw_predict_with_novelty(points[chunk])
            out[places[chunk]] = posteriors
            novelty[places[chunk]] = np.minimum(distances, np.finfo(np.float32).max)
        return out, novelty

    def _compare_units(self, scene: Scene, *, is_error: bool) -> None:
        factor = self.features.unit_factor(scene)
        if factor is None:
            return
        said = (
            f"{scene.path}: its values are {factor_text(factor)} than those that the model was "
            "fitted to, in nearly all bands, so its units are others"
        )
        if is_error:
            raise DataError(
                f"{said}; multiply them with --scale {round_factor(1 / factor).replace(',', '')} "
                "(in Python scene.scaled), or take them as they are with --scale 1 "
                "(check_units=False)"
            )
        warn_user(said, UserWarning)

    def forecast(self, scene: Scene) -> Forecast:
        """Say what classifying a scene will need besides the loaded model."""
        size, n_classes = scene_size(scene, self.features), len(self.classifier.classes_)
        edges = min(size.points, _BLOCK_PIXELS) * self.classifier.n_neighbors
        held = 4 * size.points * (size.features + n_classes + 1)  # features, result, a block
        answering = {"prediction": Cost(held + 60 * edges)}
        writing = {"writing": Cost(RESULT_BYTES * size.points * n_classes)}
        return Forecast.of(feature_costs(scene, self.features, 0) | answering | writing)


def _scene_model(**parts: Any) -> SceneModel:
    model = SceneModel(**parts)
    n_features = model.features._n_features_out
    if model.classifier.n_features_in_ != n_features:
        raise ValueError(f"its classifier is not one of {n_features} features")
    if not set(model.classifier.classes_.tolist()) <= set(model.table.ids):
        raise ValueError("its classes are not those of its table")
    return model


_FORM = Record(
    SceneModel,
    {
        "features": FEATURES,
        "classifier": CLASSIFIER,
        "wavelengths": Maybe(Array(("b",))),
        "table": TABLE,
    },
    _scene_model,
)


def save_model(path: str | os.PathLike[str], model: SceneModel, *, overwrite: bool = False) -> Path:
    """Write a model to a file.

    Parameters
    ----------
    path : path-like
    model : SceneModel
        Of a `DiffusionClassifier`. Kept is what new pixels need; what `fit` found of the training
        pixels is not.
    overwrite : bool, default=False
        Whether a file that exists may be replaced.

    Raises
    ------
    ParameterError
        Where the model has a part that no file can hold, such as a function of the user's own, or
        nothing can be written there.

    See Also
    --------
    diffclass.model_files.write_model : For classifiers of other things than scenes.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from diffclass.datasets import make_tissue_scene
    >>> from diffclass_hyperspectral import LabelImage, Scene, classify_scene
    >>> from diffclass_hyperspectral import load_model, save_model
    >>> tissue = make_tissue_scene(48, 48)
    >>> found = classify_scene(Scene.from_array(tissue.cube), LabelImage.from_array(tissue.labels))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = save_model(Path(folder) / "tissue.model", found.result.model)
    ...     load_model(path).table.ids
    (1, 2, 3)
    """
    check_options(OPTIONS, overwrite=overwrite)
    write_model(path, model, _FORM, kind=_KIND, version=__version__, overwrite=overwrite)
    return Path(path)


def load_model(path: str | os.PathLike[str]) -> SceneModel:
    """Read a model that `save_model` wrote.

    Nothing of the file is executed, and what it claims is checked before it is believed. The
    neighbour search is indexed anew, which takes what it took in the fit.

    Raises
    ------
    DataError
        Where the file is missing, damaged or not a model.

    See Also
    --------
    classify_with_model : Classifies a scene with it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from diffclass.datasets import make_tissue_scene
    >>> from diffclass_hyperspectral import LabelImage, Scene, classify_scene
    >>> from diffclass_hyperspectral import load_model, save_model
    >>> tissue = make_tissue_scene(48, 48)
    >>> found = classify_scene(Scene.from_array(tissue.cube), LabelImage.from_array(tissue.labels))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model = load_model(save_model(Path(folder) / "tissue.model", found.result.model))
    >>> model.classifier.classes_
    array([1, 2, 3], dtype=int32)
    """
    if not Path(path).is_file():
        raise DataError(f"{path}: no such model file; make one with classify --save")
    return read_model(path, _FORM, kind=_KIND)


def matching_bands(model: SceneModel, scene: Scene) -> np.ndarray:
    """Return, for each band of the model, the number of the scene's band that matches it.

    A band matches if its centre is within half the distance to the model band's own neighbour; of
    several bands of one wavelength, as where detectors overlap, the first matches the first.
    `DataError`: a band in use has no match, or counts differ and wavelengths are unknown.
    """
    bands = _matching_bands(model, scene)
    bad = model.features.bands_ & ~scene.band_mask[bands]
    if bad.any():
        shown = ", ".join(str(band + 1) for band in bands[bad][:5])
        warn_user(
            f"{scene.path}: its header or --bands calls {np.count_nonzero(bad)} bands bad that the "
            f"model was fitted to (band {shown}{', ...' if bad.sum() > 5 else ''}); they are used",
            UserWarning,
        )
    return bands


def _matching_bands(model: SceneModel, scene: Scene) -> np.ndarray:
    used = model.features.bands_
    if model.wavelengths is None or scene.wavelengths is None:
        if scene.n_bands != len(used):
            raise DataError(
                f"{scene.path}: has {scene.n_bands} bands, the model {len(used)}, and wavelengths "
                "to match them by are missing; give a scene with the same bands"
            )
        return np.arange(scene.n_bands)
    distances = np.abs(model.wavelengths[:, None] - scene.wavelengths[None, :])
    nearest = _nearest(model.wavelengths, distances)
    missing = used & (distances.min(axis=1) > _half_spacing(model.wavelengths))
    if missing.any():
        lacking = ", ".join(f"{w:.1f}" for w in model.wavelengths[missing][:5])
        raise DataError(
            f"{scene.path}: has no band at {lacking} nm ({np.count_nonzero(missing)} of the "
            "model's bands are missing); give a scene of the same spectral range"
        )
    return nearest


def _nearest(wavelengths: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Return the scene's nearest band for each of the model's, by distances (model, scene)."""
    nearest = distances.argmin(axis=1)
    for i, own in enumerate(nearest):
        rank = int(np.count_nonzero(wavelengths[:i] == wavelengths[i]))
        same = np.flatnonzero(distances[i] == distances[i, own])
        nearest[i] = same[min(rank, len(same) - 1)]
    return nearest


def _half_spacing(wavelengths: np.ndarray) -> np.ndarray:
    apart, which = np.unique(wavelengths, return_inverse=True)
    if len(apart) < 2:
        return np.full(len(wavelengths), 1.0)
    gaps = np.diff(apart)
    nearest_gap = np.minimum(np.r_[gaps, np.inf], np.r_[np.inf, gaps])
    # half a band, plus a little for rounding in headers
    return (nearest_gap / 2 + 1e-6)[which]


def _with_bands(scene: Scene, bands: np.ndarray) -> Scene:
    if len(bands) == scene.n_bands and (bands == np.arange(scene.n_bands)).all():
        return scene
    wavelengths = None if scene.wavelengths is None else scene.wavelengths[bands]
    return replace(
        scene,
        data=_by_rows(scene)[..., bands],  # of an array that would be a copy of the whole scene
        band_mask=scene.band_mask[bands],
        wavelengths=wavelengths,
        widths=None if scene.widths is None else scene.widths[bands],
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
