"""Which pixels to label next: those of a scene that is classified with its labels so far."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from diffclass.classifier import DiffusionClassifier
from diffclass.jobs import SuggestionReport, suggest_points
from diffclass.options import check_options
from diffclass.system.costs import Forecast
from diffclass_hyperspectral.features.scene_features import SceneFeatures
from diffclass_hyperspectral.io.labels import LabelImage, label_regions
from diffclass_hyperspectral.io.scenes import Scene
from diffclass_hyperspectral.jobs.classification import checked_labels
from diffclass_hyperspectral.options import OPTIONS
from diffclass_hyperspectral.pixels import Pixels


def suggest_for_scene(
    scene: Scene,
    labels: LabelImage,
    n_points: int = 10,
    *,
    rule: str = "coverage",
    min_distance: float = 0.0,
    features: SceneFeatures | None = None,
    classifier: DiffusionClassifier | None = None,
    random_state: int = 0,
    before: Callable[[Forecast], object] | None = None,
) -> SuggestionReport:
    """Classify a scene from all its labels and choose pixels to label next.

    Parameters
    ----------
    scene : Scene
    labels : LabelImage
    n_points, rule, min_distance
        As for `diffclass.suggest`, in pixels.
    features, classifier
        As for `classify_scene`.
    random_state : int, default=0
        Of the choice, where there are more than 2,000 pixels.
    before : callable, optional
        Called with the forecast of memory before the scene is read.

    Returns
    -------
    SuggestionReport

    Raises
    ------
    DataError, ParameterError
        As `classify_scene` and `diffclass.suggest`.

    See Also
    --------
    diffclass.jobs.suggest_points : Where nothing is labelled yet.
    validation_design : Pixels to measure the map by, not to improve it.
    diffclass.suggest : For points of any kind.

    Examples
    --------
    >>> from diffclass.datasets import make_tissue_scene
    >>> from diffclass_hyperspectral import LabelImage, Scene, suggest_for_scene
    >>> tissue = make_tissue_scene(48, 48)
    >>> labels = LabelImage.from_array(tissue.labels)
    >>> found = suggest_for_scene(Scene.from_array(tissue.cube), labels, 3)
    >>> [(pixel.rank, pixel.current_class) for pixel in found.suggestions]
    [(1, 3), (2, 2), (3, 3)]
    """
    given = {"n_points": n_points, "rule": rule, "min_distance": min_distance}
    check_options(OPTIONS, **given, random_state=random_state)
    features = SceneFeatures() if features is None else features
    classifier = (
        DiffusionClassifier(random_state=random_state) if classifier is None else classifier
    )
    labels = checked_labels(scene, labels, features, classifier)
    return suggest_points(
        Pixels(scene, features),
        np.where(labels.ids > 0, labels.ids, -1),
        n_points,
        rule=rule,
        min_distance=min_distance,
        classifier=classifier,
        groups=label_regions(labels.ids),
        names={entry.id: entry.name for entry in labels.table},
        random_state=random_state,
        before=before,
    )
