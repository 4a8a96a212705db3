"""The main job: a scene and some labels in, a class map with posteriors and margins out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from diffclass.classifier import DiffusionClassifier
from diffclass.exceptions import DataError
from diffclass.label_diffusion import Decision, LabelDiffusion, decide
from diffclass.point_graph import REACH
from diffclass.progress import stage
from diffclass_hyperspectral.features.scene_features import SceneFeatures
from diffclass_hyperspectral.io.labels import ClassTable, LabelImage, label_regions
from diffclass_hyperspectral.io.rasters import ComputedRaster, PointPicture
from diffclass_hyperspectral.io.scenes import Scene
from diffclass_hyperspectral.workflows.classification.cleanup import Cleanup, CleanupReport
from diffclass_hyperspectral.workflows.classification.models import Classifier, SceneModel
from diffclass_hyperspectral.workflows.parameters import check_classifier

UNCLASSIFIED = 0
_EXPECTED_BEYOND = 0.01  # of a scene like the one that the model was fitted to


@dataclass(frozen=True)
class SceneClassification:
    """A classified scene.

    Attributes
    ----------
    class_map : ndarray of int of shape (rows, columns)
        Class ids; 0 where the scene has no data or no label can reach.
    raw_posteriors : PointPicture of shape (rows, columns, n_classes)
        Of the walk, in the order of ``class_ids``, read in rows, as ``raw_posteriors[:]``; NaN
        where the scene has no data.
    margin : ndarray of shape (rows, columns)
        Of the walk, 0 to 1; NaN where the scene has no data.
    class_ids : ndarray of int of shape (n_classes,)
    table : ClassTable
    n_missing, n_unreached : int
        Pixels without data, and pixels with data that no label can reach.
    model : SceneModel
        Features and classifier, fitted or given.
    novelty : ndarray of shape (rows, columns) or None
        Of a model that was given: distance of each pixel to its training neighbours in units of
        their own; NaN where the scene has no data. Above 5 a pixel
        lies beyond their reach.
    """

    class_map: np.ndarray
    raw_posteriors: PointPicture
    margin: np.ndarray
    class_ids: np.ndarray
    table: ClassTable
    n_missing: int
    n_unreached: int
    model: SceneModel
    novelty: np.ndarray | None = None

    @property
    def names(self) -> dict[int, str]:
        """Names of the classes by id."""
        return {entry.id: entry.name for entry in self.table}

    @property
    def probabilities(self) -> ComputedRaster:
        """Calibrated probabilities of the classes, otherwise as ``raw_posteriors``."""
        calibration, raw = self.model.classifier.calibration_, self.raw_posteriors
        return ComputedRaster(raw.shape, np.float32, lambda rows: calibration.apply(raw[rows]))

    @property
    def beyond_reach(self) -> np.ndarray:
        """Pixels beyond the reach of the training pixels, bool of shape (rows, columns)."""
        if self.novelty is None:
            return np.zeros(self.class_map.shape, dtype=bool)
        return self.novelty > REACH  # NaN, without data, is not above

    @cached_property
    def posteriors(self) -> np.ndarray:
        """The same as an array in memory."""
        return self.probabilities[:]

    def set_sizes(self, *, level: float) -> np.ndarray:
        """Return how many classes may be each pixel's own, at a stated level.

        Parameters
        ----------
        level : float
            Share of the sets, between 0 and 1, that are to hold the true class; see
            `diffclass.DiffusionClassifier.predict_set`.

        Returns
        -------
        ndarray of int of shape (rows, columns)
            From 1, for a pixel that is not in doubt; 0 where the scene has no data.

        Raises
        ------
        ParameterError
            If the level is not between 0 and 1.
        """
        sets = self.model.classifier.calibration_.sets(self.posteriors, level=level)
        return sets.sum(axis=-1)

    def part(self, rows: slice, columns: slice) -> SceneClassification:
        """Return the classification of a part of the picture.

        Parameters
        ----------
        rows, columns : slice
            With both ends.
        """
        margin = self.margin[rows, columns]
        picture = self.raw_posteriors[rows][:, columns]
        valid = np.ascontiguousarray(self.raw_posteriors.valid[rows, columns])
        class_map = self.class_map[rows, columns]
        unreached = valid & (class_map == UNCLASSIFIED) & ~self.beyond_reach[rows, columns]
        return replace(
            self,
            class_map=class_map,
            raw_posteriors=PointPicture(picture[valid], valid, fill=np.nan),
            margin=margin,
            n_missing=int(np.count_nonzero(~valid)),
            n_unreached=int(np.count_nonzero(unreached)),
            novelty=None if self.novelty is None else self.novelty[rows, columns],
        )


@dataclass(frozen=True)
class ScenePoints:
    """The pixels of a scene that have data, as points.

    Attributes
    ----------
    points : ndarray of float32 of shape (n, p)
    valid : ndarray of bool of shape (rows * columns,)
        Which pixels these are.
    features : SceneFeatures
        Fitted to the scene.
    """

    points: np.ndarray
    valid: np.ndarray
    features: SceneFeatures


def classify_scene(
    scene: Scene,
    labels: LabelImage,
    *,
    fit_on: np.ndarray | None = None,
    features: SceneFeatures | None = None,
    classifier: Classifier | None = None,
) -> SceneClassification:
    """Diffuse the labels of some pixels over all pixels of a scene.

    Labelled pixels of a class that touch count as one label; see
    `diffclass_hyperspectral.workflows.classification.scene_classification`.

    Parameters
    ----------
    scene : Scene
    labels : LabelImage
        Of the scene's rows and columns.
    fit_on : ndarray of bool of shape (rows, columns), optional
        Which labelled pixels to use; all by default.
    features : SceneFeatures, optional
        Fitted here; spectral components by default.
    classifier : DiffusionClassifier or BlockClassifier, optional
        Fitted here.

    Returns
    -------
    SceneClassification

    Raises
    ------
    DataError
        For labels of another size, fewer than two classes, or no label on a pixel with data.
    ParameterError
        For at least as many neighbours as pixels, and as the features and the classifier.
        Everything except the number of pixels without data is checked before the scene is read.
    """
    features = SceneFeatures() if features is None else features
    classifier = DiffusionClassifier(random_state=0) if classifier is None else classifier
    labels = checked_labels(scene, labels, features, classifier)
    found = scene_points(scene, labels, features, fit_on=fit_on)
    return classify_points(scene, labels, found, classifier, fit_on=fit_on)


def scene_points(
    scene: Scene, labels: LabelImage, features: SceneFeatures, *, fit_on: np.ndarray | None = None
) -> ScenePoints:
    """Fit features to a scene; they do not depend on its labels.

    Parameters
    ----------
    scene, labels, fit_on
        As in `classify_scene`. Labels are only checked, before the scene is read.
    features : SceneFeatures
        Fitted here.

    Returns
    -------
    ScenePoints

    Raises
    ------
    DataError
        As `classify_scene`.
    """
    with stage("features"):
        if scene.valid.any():  # else the features say what is wrong
            _check_labels(_ids_of(labels, fit_on)[scene.valid.ravel()], labels)
        points, valid = features.fit_transform_points(scene)
        return ScenePoints(points, valid.ravel(), features)


def classify_points(
    scene: Scene,
    labels: LabelImage,
    found: ScenePoints,
    classifier: Classifier,
    *,
    fit_on: np.ndarray | None = None,
) -> SceneClassification:
    """Diffuse labels over the points of a scene; otherwise as `classify_scene`."""
    valid, ids = found.valid, _ids_of(labels, fit_on)
    _check_labels(ids[valid], labels)
    check_classifier(classifier, len(found.points))
    regions = label_regions(ids.reshape(scene.shape[:2])).ravel()
    y = np.where(ids[valid] > 0, ids[valid], -1)
    classifier.fit(found.points, y, groups=regions[valid])
    model = SceneModel(found.features, classifier, scene.wavelengths, labels.table)
    posteriors = classifier.raw_label_distributions_
    return _assembled(scene, valid, posteriors, classifier.diffusion_, model)


def apply_model(
    scene: Scene, model: SceneModel, *, check_units: bool = True, classify_all: bool = False
) -> SceneClassification:
    """Classify the pixels of another scene with a model.

    Parameters
    ----------
    scene : Scene
        With the model's bands; see `SceneModel.answers`.
    model : SceneModel
    check_units : bool, default=True
        Whether other units than those of the training scene are an error; a warning if not.
    classify_all : bool, default=False
        Whether pixels beyond the reach of their training neighbours get a class too, that of the
        nearest.

    Returns
    -------
    SceneClassification
        Every other pixel with data has a class.

    Raises
    ------
    DataError
        Where a band is missing, the units are others, or no pixel has data.

    Warns
    -----
    UserWarning
        Where more than one pixel in a hundred lies beyond the reach.
    """
    with stage("prediction"):
        posteriors, novelty = model.answers(scene, check_units=check_units)
    valid = np.isfinite(posteriors[:, 0])
    if not valid.any():
        raise DataError(f"{scene.path}: no pixel has data in the bands that the model uses")
    decision = decide(posteriors[valid], np.ones(posteriors.shape[1]), dtype=np.float32)
    result = _assembled(scene, valid, posteriors[valid], decision, model)
    result = replace(result, novelty=novelty.reshape(scene.shape[:2]))
    far = result.beyond_reach
    share = np.count_nonzero(far) / np.count_nonzero(valid)
    if share > _EXPECTED_BEYOND:
        what = "have the class of the nearest" if classify_all else "are left unclassified"
        warnings.warn(
            f"{scene.path}: {share:.1%} of the pixels lie beyond the reach of those that the model "
            f"was fitted to and {what}; --novelty FILE shows how far",
            UserWarning,
            stacklevel=2,
        )
    if classify_all:
        return result
    return replace(result, class_map=np.where(far, UNCLASSIFIED, result.class_map))


def cleaned(
    result: SceneClassification, cleanup: Cleanup
) -> tuple[SceneClassification, CleanupReport]:
    """Return the classification with a cleaned map, posteriors and margins as they were."""
    class_map, report = cleanup.apply(result.class_map, result.margin)
    return replace(result, class_map=class_map), report


def checked_labels(
    scene: Scene, labels: LabelImage, features: SceneFeatures, classifier: Classifier
) -> LabelImage:
    """Return the labels of the scene's pixels; see `LabelImage.on`.

    Raises what `classify_scene` would raise, as far as can be told without reading the scene.

    Raises
    ------
    DataError
        For labels of another size or place, or fewer than two classes.
    ParameterError
        For parameters out of range.
    """
    labels = labels.on(scene)
    labels.check_trainable()
    features.check_parameters()
    check_classifier(classifier, scene.shape[0] * scene.shape[1])
    return labels


def _ids_of(labels: LabelImage, fit_on: np.ndarray | None) -> np.ndarray:
    return labels.ids.ravel() if fit_on is None else np.where(fit_on, labels.ids, 0).ravel()


def _check_labels(ids: np.ndarray, labels: LabelImage) -> None:
    if len(np.unique(ids[ids > 0])) < 2:
        raise DataError(
            f"{labels.path}: fewer than two classes lie on pixels with data; label more pixels"
        )


def _assembled(
    scene: Scene,
    valid: np.ndarray,
    posteriors: np.ndarray,
    decision: LabelDiffusion | Decision,
    model: SceneModel,
) -> SceneClassification:
    rows, columns, _ = scene.shape
    class_ids = model.classifier.classes_
    class_map = np.zeros(rows * columns, dtype=np.int32)
    class_map[valid] = np.append(class_ids, UNCLASSIFIED)[decision.codes]
    margin = np.full(rows * columns, np.nan, dtype=np.float32)
    margin[valid] = decision.margin
    single = posteriors.astype(np.float32, copy=False)
    return SceneClassification(
        class_map=class_map.reshape(rows, columns),
        raw_posteriors=PointPicture(single, valid.reshape(rows, columns), fill=np.nan),
        margin=margin.reshape(rows, columns),
        class_ids=class_ids,
        table=model.table,
        n_missing=int(np.count_nonzero(~valid)),
        n_unreached=int(np.count_nonzero(decision.codes < 0)),
        model=model,
    )
