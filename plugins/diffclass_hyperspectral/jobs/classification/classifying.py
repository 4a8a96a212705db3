"""The two ways to a classified scene: its own labels diffused, or the model of another applied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from diffclass.classifier import DiffusionClassifier
from diffclass.evaluation import match_classes
from diffclass.exceptions import DataError, ParameterError, warn_user
from diffclass.graph import PointGraph
from diffclass.jobs import MEMORY, InBlocks, InMemory, check_classifier, check_two_classes
from diffclass.label_diffusion import decide
from diffclass.system.progress import stage
from diffclass_hyperspectral.features.scene_features import SceneFeatures
from diffclass_hyperspectral.io.labels import LabelImage, label_regions
from diffclass_hyperspectral.io.scenes import Scene
from diffclass_hyperspectral.jobs.classification.models import SceneModel
from diffclass_hyperspectral.jobs.classification.scene_classification import (
    UNCLASSIFIED,
    SceneClassification,
)
from diffclass_hyperspectral.pixels import Pixels

_EXPECTED_BEYOND = 0.01  # of a scene like the one that the model was fitted to


@dataclass(frozen=True, eq=False)
class LabelledPixels:
    """Pixels of a scene and its labels, to be classified in memory or in blocks."""

    pixels: Pixels
    labels: LabelImage  # of the scene's rows and columns
    hints: LabelImage | None = None  # another map of the scene's rows and columns
    score_accuracy: float | None = None  # of the hints, where it is known
    place: InMemory | InBlocks = MEMORY

    def classified(
        self,
        classifier: DiffusionClassifier,
        *,
        fit_on: np.ndarray | None = None,
        grouping: Callable[[np.ndarray], np.ndarray] = label_regions,
        graph: PointGraph | None = None,
        second: bool = False,
    ) -> SceneClassification:
        """Diffuse the labels over the pixels; of those in ``fit_on`` alone, if given.

        ``grouping`` takes the ids of the labels and returns the group that each belongs to.
        ``graph`` is that of an earlier fit, ``second`` as for `InMemory.fit`.
        """
        pixels, labels = self.pixels, self.labels
        valid = pixels.valid
        ids = _chosen_ids(labels, fit_on)
        check_two_classes(_n_classes(ids[valid]), labels.path, pixels.noun)
        y = np.where(ids > 0, ids, -1)[valid]
        groups, hints = grouping(ids)[valid], self._scores(ids)
        accuracy = None if hints is None else self.score_accuracy
        fitted = self.place.fit(
            classifier, pixels, y, groups=groups, hints=hints, score_accuracy=accuracy,
            graph=graph, second=second,
        )  # fmt: skip
        model = SceneModel(pixels.features, fitted, pixels.scene.wavelengths, labels.table)
        posteriors = fitted.raw_label_distributions_
        return SceneClassification.of_points(posteriors, fitted.diffusion_, valid, model)

    def _scores(self, ids: np.ndarray) -> np.ndarray | None:
        """Return the scores that the hints are: 1 for the class of each pixel, of those of ids."""
        if self.hints is None:
            return None
        valid = self.pixels.valid
        known, given = hints_of(self.hints, self.labels, ids)[valid], ids[valid]
        classes = np.unique(given[given > 0])
        scores = (known[:, None] == classes).astype(np.float32)
        scores[~scores.any(axis=1)] = np.nan
        return None if np.isnan(scores).all() else scores


def hints_of(known: LabelImage, labels: LabelImage, ids: np.ndarray | None = None) -> np.ndarray:
    """Return another map's classes as ids of labels; 0 for none of theirs.

    They are matched by names or ids, else by where the two agree: by ``ids`` (rows, columns), the
    labels that are fitted on, all by default.
    """
    match = match_classes(
        known.ids.ravel(),
        (labels.ids if ids is None else ids).ravel(),
        given_names=known.table.given_names,
        own_names=labels.table.given_names,
        sides="the map and the labels",
    )
    found = np.zeros(known.ids.shape, dtype=np.int32)
    for given, own in match.assignment.items():
        found[known.ids == given] = own
    if not found.any():
        raise DataError(
            f"{known.path}: none of its classes is one of {labels.path}; name them alike"
        )
    return found


def apply_model(
    scene: Scene, model: SceneModel, *, check_units: bool = True, classify_all: bool = False
) -> SceneClassification:
    """Classify the pixels of another scene, with the model's bands, with a model.

    With ``check_units`` other units than those of the training scene are an error, otherwise a
    warning. Pixels beyond the reach of their training neighbours get no class, or with
    ``classify_all`` that of the nearest.
    """
    with stage("prediction"):
        posteriors, novelty = model.answers(scene, check_units=check_units)
    valid = np.isfinite(posteriors[:, 0]).reshape(scene.shape[:2])
    if not valid.any():
        raise DataError(f"{scene.path}: no pixel has data in the bands that the model uses")
    posteriors = posteriors[valid.ravel()]
    decision = decide(posteriors, np.ones(posteriors.shape[1]), dtype=np.float32)
    result = SceneClassification.of_points(posteriors, decision, valid, model)
    result = replace(result, novelty=novelty.reshape(scene.shape[:2]))
    far = result.beyond_reach
    share = np.count_nonzero(far) / np.count_nonzero(valid)
    if share > _EXPECTED_BEYOND:
        what = "have the class of the nearest" if classify_all else "are left unclassified"
        warn_user(
            f"{scene.path}: {share:.1%} of the pixels lie beyond the reach of those that the model "
            f"was fitted to and {what}; --novelty FILE shows how far",
            UserWarning,
        )
    if classify_all:
        return result
    return replace(result, class_map=np.where(far, UNCLASSIFIED, result.class_map))


def checked_labels(
    scene: Scene, labels: LabelImage, features: SceneFeatures, classifier: DiffusionClassifier
) -> LabelImage:
    """Return the labels of the scene's pixels, or raise what `classify_scene` would."""
    labels = labels.on(scene)
    labels.check_trainable()
    features.check_parameters()
    check_classifier(classifier, scene.shape[0] * scene.shape[1])
    if classifier.kept_classes is not None:
        raise ParameterError(
            "kept_classes is for rows of hundreds of classes; a scene keeps all: leave it out"
        )
    return labels


def check_labels_with_data(scene: Scene, labels: LabelImage, fit_on: np.ndarray | None) -> None:
    """Raise `DataError` before features are made where labels on data are of too few classes."""
    with stage("features"):
        if scene.valid.any():  # else the features say what is wrong
            n = _n_classes(_chosen_ids(labels, fit_on)[scene.valid])
            check_two_classes(n, labels.path, Pixels.noun)


def _chosen_ids(labels: LabelImage, fit_on: np.ndarray | None) -> np.ndarray:
    """Return the ids of the labels to fit on, 0 elsewhere."""
    return labels.ids if fit_on is None else np.where(fit_on, labels.ids, 0)


def _n_classes(ids: np.ndarray) -> int:
    """Return how many classes have ids."""
    return len(np.unique(ids[ids > 0]))
