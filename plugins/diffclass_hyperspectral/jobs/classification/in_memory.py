"""Where a scene is worked on whose points and graph fit into memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from diffclass.classifier import DiffusionClassifier
from diffclass.graph import PointGraph
from diffclass.system.costs import Forecast
from diffclass_hyperspectral.features.scene_features import SceneFeatures
from diffclass_hyperspectral.io.labels import LabelImage
from diffclass_hyperspectral.io.scenes import Scene
from diffclass_hyperspectral.jobs.classification.classifying import LabelledPoints, labelled_points
from diffclass_hyperspectral.jobs.classification.forecasts import forecast_classification


class InMemory:
    """The memory of this process; `BlockRun`, with the same methods, is the other place."""

    has_graph = True  # for hints, and models that are saved

    def forecast(
        self,
        scene: Scene,
        features: SceneFeatures,
        classifier: DiffusionClassifier,
        n_classes: int,
        **repeated: Any,
    ) -> Forecast:
        """Say what a classification will need; see `forecast_classification`."""
        return forecast_classification(scene, features, classifier, n_classes, **repeated)

    def points(self, scene: Scene, labels: LabelImage, features: SceneFeatures) -> LabelledPoints:
        """Fit features to a scene."""
        return labelled_points(scene, labels, features)

    def classifier(self, model: DiffusionClassifier) -> DiffusionClassifier:
        """Return what works here with the parameters of a classifier."""
        return model

    def second_classifier(self, model: DiffusionClassifier) -> DiffusionClassifier:
        """Return one whose graph is another."""
        return model

    def kept(self, class_map: np.ndarray) -> np.ndarray:
        """Return the map of the second classifier, to be compared later."""
        return class_map

    def graph_of(self, classifier: DiffusionClassifier) -> PointGraph | None:
        """Return the graph of a fitted classifier, which the next fit can take over."""
        return classifier.graph_


MEMORY = InMemory()
